"""States of mutable Python objects (elements, attributes, slots): read, compared, and put back.

A table of kinds says for each how its state is read and written. What an object holds is the states of all kinds that
its class has: a subclass of a list with attributes has two.
"""

from __future__ import annotations

import array
import collections
import contextlib
import functools
import io
import itertools
import operator
import os
import random
import threading
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from nxkernel.definitions.captures.object_contents import origin
from nxkernel.definitions.keys.static_values import (
    MISSING,
    attributes_of,
    contents_of,
    generator_state,
    installed,
    numpys_generators,
    own_class,
)
from nxkernel.dict_metadata import items_of

#: What never changes, and holds nothing that does.
PLAIN = frozenset({str, bytes, int, float, complex, bool, type(None), range, slice, type(...), types.CodeType})
#: Modules of Python's own whose objects have attributes that programs change as those of their own objects.
_OF_PYTHON = frozenset({"collections", "types", "argparse", "dataclasses", "functools", "string"})


class Kind(NamedTuple):
    """How the state of one kind of object is read and written.

    Parameters
    ----------
    read : callable
        Of the object; gives a list or dict of members, which are compared by identity, or anything that is compared
        by ``==``.
    write : callable
        Of the object and an earlier state.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any, Any], None]


def states_of(value: Any, of_libraries: bool = False) -> list[tuple[Kind, Any]] | None:
    """The current states of an object, one for each kind; None for an object that is not known to hold anything.

    Parameters
    ----------
    value : object
    of_libraries : bool
        Whether attributes count of objects that libraries change for themselves, and what belongs to the process.
    """
    class_ = own_class(type(value))
    kinds = _kinds(class_)
    if of_libraries and not kinds:
        kinds = _of_process(value)
    if attributes_of(value) is not None and (of_libraries or _has_attributes(class_)):
        kinds = (*kinds, _ATTRIBUTES)
    return [(kind, kind.read(value)) for kind in kinds] or None


def stored_names(owner: Any, names: Iterable[str] | None = None) -> tuple[Kind, Any]:
    """What is stored by name in a module, class or function, or in a dict of names: all of it, or under some names."""
    kind = _names(owner, None if names is None else tuple(names))
    return kind, kind.read(owner)


def put_back(value: Any, states: Iterable[tuple[Kind, Any]]) -> None:
    """Give an object what it held before; what cannot be put back, such as a generator, stays changed."""
    for kind, then in states:
        if not same(kind.read(value), then):
            kind.write(value, then)


def members(states: Iterable[tuple[Kind, Any]]) -> list[Any]:
    """The objects in some states, without those that never change."""
    found: list[Any] = []
    for _, state in states:
        if isinstance(state, dict):
            inner = [*state, *state.values()]
        elif isinstance(state, np.ndarray):
            inner = state.ravel().tolist() if state.dtype.hasobject else []
        else:
            inner = state if isinstance(state, list | set) else []
        found += [each for each in inner if not _never_changes(each)]
    return found


def same(now: Any, then: Any) -> bool:
    """Whether a state is what it was; members are compared by identity."""
    if isinstance(then, list):
        return len(now) == len(then) and all(map(operator.is_, now, then))
    if isinstance(then, dict):
        return list(now) == list(then) and all(map(operator.is_, now.values(), then.values()))
    if isinstance(then, set):
        # 1 and True are equal, and other objects.
        return len(now) == len(then) and set(map(id, now)) == set(map(id, then))
    if isinstance(then, np.ndarray):
        return now.shape == then.shape and now.tobytes() == then.tobytes()
    return now == then


def changes(now: Any, then: Any) -> list[tuple[Any, Any]]:
    """The keys, positions or attributes under which something else is than before, and what that is."""
    if isinstance(then, list):
        return [(key, each) for key, each in enumerate(now) if key >= len(then) or then[key] is not each]
    if isinstance(then, dict):
        return [(name_of(key), each) for key, each in now.items() if then.get(key, MISSING) is not each]
    return []


def name_of(key: Any) -> Any:
    """The name of a slot, without the class that has it; any other key as it is."""
    return key[1] if type(key) is tuple and len(key) == 2 and isinstance(key[0], type) else key


def _never_changes(value: Any) -> bool:
    """Whether a value never changes, and neither does what is in it."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if type(each) is tuple:
            waiting += each
        elif not (type(each) in PLAIN or isinstance(each, np.generic | np.dtype)):
            return False
    return True


def _write_dict(value: dict, state: dict) -> None:
    base = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
    base.clear(value)
    for key, each in state.items():
        base.__setitem__(value, key, each)


def _write_set(value: set, state: set) -> None:
    set.clear(value)
    set.update(value, state)


def _write_deque(value: collections.deque, state: list) -> None:
    collections.deque.clear(value)
    collections.deque.extend(value, state)


def _write_numbers(value: array.array, state: bytes) -> None:
    if len(value) * value.itemsize == len(state):
        # In place, since others may look at its memory.
        with memoryview(value) as view, view.cast("B") as numbers:
            numbers[:] = state
        return
    del value[:]
    value.frombytes(state)


def _write_array(value: np.ndarray, state: np.ndarray) -> None:
    if value.shape != state.shape:
        value.shape = state.shape
    value[...] = state


def _write_attributes(value: Any, state: dict) -> None:
    attributes = attributes_of(value)
    if attributes is not None:
        attributes.clear()
        attributes.update(state)


def _write_environment(value: Any, state: frozenset[tuple[str, str]]) -> None:
    for name in value.keys() - dict(state).keys():
        del value[name]
    value.update(state - set(value.items()))


def _write_cell(value: types.CellType, state: list) -> None:
    (content,) = state
    if content is MISSING:
        del value.cell_contents
    else:
        value.cell_contents = content


def _read_memory(value: Any) -> bytes:
    with memoryview(value) as view:
        return view.tobytes()


def _write_memory(value: Any, state: bytes) -> None:
    with memoryview(value) as view:
        view.cast("B")[:] = state


class _Drawn:
    """Where a generator of random numbers stands: what is compared, and what is put back."""

    def __init__(self, generator: Any) -> None:
        self.drawn, self.state = generator_state(generator), _state(generator)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Drawn) and self.drawn == other.drawn

    __hash__ = None


def _state(generator: Any) -> Any:
    for name in ("getstate", "get_state"):
        if hasattr(generator, name):
            return getattr(generator, name)()
    return generator.bit_generator.state


def _draw_again(generator: Any, before: _Drawn) -> None:
    for name in ("setstate", "set_state"):
        if hasattr(generator, name):
            getattr(generator, name)(before.state)
            return
    generator.bit_generator.state = before.state


def _text_state(value: Any) -> Any:
    return None if value.closed else value.__getstate__()[:3]


def _write_text(value: Any, state: Any) -> None:
    if state is not None:
        value.__setstate__((*state, None))


def _remaining(iterator: Any) -> int:
    """How many elements an iterator has left."""
    return operator.length_hint(iterator)


def _begin_again(iterator: Any, state: int) -> None:
    """Move an iterator back, where it has not come to its end."""
    parts = iterator.__reduce__()
    if len(parts) != 3 or not hasattr(iterator, "__setstate__"):
        return
    # That of a list from its end counts down.
    is_reversed = isinstance(iterator, type(reversed([])))
    iterator.__setstate__(state - 1 if is_reversed else parts[2] + _remaining(iterator) - state)


def _where(generator: Any) -> Any:
    """At which instruction a generator stands, with the values of its names."""
    frame = generator.gi_frame
    return None if frame is None else (frame.f_lasti, tuple(map(id, frame.f_locals.values())))


def _keep(value: Any, state: Any) -> None:
    """For what cannot be put back."""


_ITERATOR = Kind(_remaining, _begin_again)
#: Of iterators that only go through others.
_OF_OTHERS = Kind(lambda value: list(value.__reduce__()[1]), _keep)
_DRAWN = Kind(_Drawn, _draw_again)
_KINDS: dict[type, Kind] = {
    list: Kind(lambda value: list.copy(value), lambda value, state: list.__setitem__(value, slice(None), state)),
    dict: Kind(lambda value: dict(items_of(value)), _write_dict),
    set: Kind(lambda value: set(set.__iter__(value)), _write_set),
    frozenset: Kind(lambda value: list(frozenset.__iter__(value)), _keep),
    collections.deque: Kind(lambda value: [*collections.deque.__iter__(value)], _write_deque),
    bytearray: Kind(bytes, lambda value, state: bytearray.__setitem__(value, slice(None), state)),
    array.array: Kind(array.array.tobytes, _write_numbers),
    np.ndarray: Kind(np.ndarray.copy, _write_array),
    memoryview: Kind(lambda value: [value.obj], _keep),
    io.StringIO: Kind(_text_state, _write_text),
    io.BytesIO: Kind(_text_state, _write_text),
    types.GeneratorType: Kind(_where, _keep),
    **dict.fromkeys((enumerate, zip, map, filter), _OF_OTHERS),
    functools.partial: Kind(lambda value: [value.func, *value.args, *value.keywords.values()], _keep),
    tuple: Kind(lambda value: list(tuple.__iter__(value)), _keep),
    random.Random: _DRAWN,
    # It has no state: what it draws comes from the system.
    random.SystemRandom: Kind(lambda value: None, _keep),
    itertools.count: Kind(repr, _keep),
    **{
        type(iter(each)): _ITERATOR
        for each in ([], (), range(1), "", "\u00e9", b"", {}, {}.values(), {}.items(), set(), reversed([]))
    },
}
_ATTRIBUTES = Kind(lambda value: dict(attributes_of(value) or {}), _write_attributes)
#: What lies in memory that other code writes to as bytes, such as that of ctypes.
_MEMORY = Kind(_read_memory, _write_memory)
_OF_PROCESS: dict[type, Kind] = {
    type(os.environ): Kind(lambda value: frozenset(value.items()), _write_environment),
    types.CellType: Kind(lambda value: [contents_of(value)], _write_cell),
}


def _of_process(value: Any) -> tuple[Kind, ...]:
    """The kinds of the environment, a closure variable, variables of a thread, and memory; none for other objects."""
    if type(value) in _OF_PROCESS:
        return (_OF_PROCESS[type(value)],)
    if isinstance(value, threading.local):
        return (_names(value, None),)
    if origin(type(value)) is not object:
        with contextlib.suppress(TypeError, ValueError, BufferError), memoryview(value) as view:
            return () if view.readonly else (_MEMORY,)
    return ()


@functools.lru_cache(maxsize=4096)
def _kinds(kind: type) -> tuple[Kind, ...]:
    """The kinds that a class has of itself: that of the class in C that it comes from, and its slots."""
    base = next((_KINDS[each] for each in kind.__mro__ if each in _KINDS), None)
    if issubclass(kind, numpys_generators()):
        base = _DRAWN
    slots = {
        (each, name): descriptor
        for each in reversed(kind.__mro__)
        if "__slots__" in vars(each) and not installed(each)
        for name, descriptor in vars(each).items()
        if isinstance(descriptor, types.MemberDescriptorType)
    }
    return (*([] if base is None else [base]), *([_slots(slots)] if slots else []))


@functools.lru_cache(maxsize=4096)
def _has_attributes(kind: type) -> bool:
    """Whether attributes of objects of a class are changed by programs, and not by a library for itself."""
    return not installed(kind) or kind.__module__.partition(".")[0] in _OF_PYTHON


def _slots(descriptors: dict[tuple[type, str], Any]) -> Kind:
    """For attributes that have no dict."""

    def read(value: Any) -> dict[Any, Any]:
        found = {}
        for place, descriptor in descriptors.items():
            try:
                found[place] = descriptor.__get__(value)
            except AttributeError:
                continue
        return found

    def write(value: Any, state: dict[Any, Any]) -> None:
        for place in read(value).keys() - state.keys():
            descriptors[place].__delete__(value)
        for place, each in state.items():
            descriptors[place].__set__(value, each)

    return Kind(read, write)


def _names(owner: Any, names: tuple[str, ...] | None) -> Kind:
    """For what is stored by name in a module, class, function or `threading.local`, or in a dict of names."""
    is_dict = isinstance(owner, dict)
    put, remove = (operator.setitem, operator.delitem) if is_dict else (setattr, delattr)

    def read(value: Any) -> dict[str, Any]:
        space = value if is_dict else vars(value)
        return dict(space) if names is None else {name: space[name] for name in names if name in space}

    def write(value: Any, state: dict[str, Any]) -> None:
        now = read(value)
        for name in now.keys() - state.keys():
            remove(value, name)
        for name, each in state.items():
            if now.get(name, MISSING) is not each:
                put(value, name, each)

    return Kind(read, write)
