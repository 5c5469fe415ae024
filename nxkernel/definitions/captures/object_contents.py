"""The contents of objects that are not functions (containers, iterators, C types), so that changes are noticed.

The list of classes is closed: objects of others may hold what cannot be compared, such as the position in a file, and
functions that read them are traced at each call.
"""

from __future__ import annotations

import abc
import contextvars
import datetime
import functools
import gc
import operator
import os
import pathlib
import random
import re
import sys
import threading
import types
from collections.abc import Callable, Hashable, Iterator
from typing import Any, NamedTuple

import numpy as np

from nxkernel.container_classes.declarations import HEAP_TYPE
from nxkernel.definitions.captures.impure_functions import is_impure
from nxkernel.definitions.keys.static_values import (
    MISSING,
    ByIdentity,
    by_value,
    constant,
    contents_of,
    generator_state,
    keys_state,
)

#: Bits of ``__flags__``: cannot be called to make an object; cannot be changed.
_CLOSED, _FIXED = 1 << 7, 1 << 8


#: Functions with more keys and results in their caches count as not comparable: each call would go through all.
_MOST_ENTRIES = 256


class Held(NamedTuple):
    """The contents of an object, beside its attributes, as a snapshot compares them.

    Parameters
    ----------
    state : hashable
        The contents as a part of the key.
    watched : sequence of (callable, object)
        Checks for each call: a function, and what it returns as long as nothing has changed.
    inside : sequence of (str, object, callable or None)
        Values inside: the suffix of the path to it, the value, and a function that reads it again at a later call.
    drawn : (object, object), optional
        A generator of random numbers, and its state.
    """

    state: Hashable
    watched: tuple[tuple[Callable[[], Any], Any], ...] = ()
    inside: tuple[tuple[str, Any, Callable[[], Any] | None], ...] = ()
    drawn: tuple[Any, Any] | None = None


def origin(kind: type) -> type:
    """The nearest base class implemented in C, which decides what an object holds beside its attributes.

    Examples
    --------
    >>> class Text(str):
    ...     pass
    >>> origin(Text), origin(type("Plain", (), {}))
    (<class 'str'>, <class 'object'>)
    """
    for base in kind.__mro__:
        flags = base.__flags__
        new = getattr(base, "__new__", None)
        own = isinstance(new, types.BuiltinFunctionType) and new.__self__ is base
        if own or not flags & HEAP_TYPE or flags & (_CLOSED | _FIXED):
            return base
    return object


def held(value: Any) -> Held | None:
    """The contents of an object beside its attributes; None if they cannot be compared."""
    kind = type(value)
    base = np.dtype if issubclass(kind, np.dtype) else kind if is_all_held(kind) else origin(kind)
    if base is object:
        return None if is_impure(kind) else Held((ByIdentity(value),) if kind is object else ())
    find = _HELD.get(base) or _of_other_modules(base)
    if find is None and issubclass(base, BaseException) and base.__basicsize__ == BaseException.__basicsize__:
        find = _exception
    return None if find is None else find(value)


def is_all_held(kind: type) -> bool:
    """Whether :func:`held` includes the attributes of objects of this class."""
    return kind in _HELD or _of_other_modules(kind) is not None


def _of_other_modules(kind: type) -> Callable[[Any], Held | None] | None:
    """What reads an object of a class whose module many programs never import."""
    find = _BY_NAME.get(f"{kind.__module__}.{kind.__name__}")
    return find if find and getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind else None


def _is_itself(value: Any) -> Held:
    """For immutable objects that are compared by identity."""
    return Held(ByIdentity(value))


def _by_value(value: Any) -> Held:
    """For immutable objects that Python compares by value."""
    return Held((by_value(value), repr(value)))


def _base_value(read: Callable[[Any], Any]) -> Callable[[Any], Held]:
    """For objects of the user's subclasses of numbers and texts: their value as one of the base class."""
    return lambda value: Held(constant(read(value)))


def _exception(value: BaseException) -> Held:
    return Held((), (), ((".args", value.args, functools.partial(getattr, value, "args")),))


_NAMES = re.compile(":[^:]*:")
#: The characters for addresses in the format of a buffer.
_ADDRESSES = frozenset("&PzZOX")


def _buffer(value: Any) -> Held | None:
    state = _memory(value)
    if _ADDRESSES & set(_NAMES.sub("", state[0])):
        return None
    return Held(state, ((functools.partial(_memory, value), state),))


def _memory(value: Any) -> tuple:
    with memoryview(value) as view:
        return (view.format, view.shape, view.tobytes())


def _array(value: np.ndarray) -> Held | None:
    """An array of something else than plain numbers: records, text, dates or objects, or a subclass of ndarray."""
    if value.dtype.kind == "O":
        head = (value.shape, value.strides)
        return Held(
            ("objects", value.shape),
            ((functools.partial(_shape, value), head),),
            tuple([(str(list(index)), value.item(*index), functools.partial(value.item, *index))
                   for index in np.ndindex(value.shape)]),
        )  # fmt: skip
    if value.dtype.hasobject:
        return None
    state = elements(value)
    return Held(state, ((functools.partial(elements, value), state),))


def _shape(value: np.ndarray) -> tuple:
    return (value.shape, value.strides)


def elements(value: np.ndarray | np.generic) -> tuple:
    """The elements of an array or record as bytes, with dtype and shape, to be compared."""
    if isinstance(value, np.ma.MaskedArray):
        # Its own bytes are filled, and it keeps with what.
        return (value.dtype, value.shape, np.asarray(value).tobytes(), np.ma.getmaskarray(value).tobytes())
    return (value.dtype, value.shape, value.tobytes())


def _record(value: np.void) -> Held | None:
    if value.dtype.hasobject:
        return None
    state = elements(value)
    return Held(state, ((functools.partial(elements, value), state),))


def _variable(value: contextvars.ContextVar) -> Held:
    read = functools.partial(_now, value)
    return Held((), (), ((".get()", read(), read),))


def _now(variable: contextvars.ContextVar) -> Any:
    try:
        return variable.get()
    except LookupError:
        return MISSING


def _mapping(value: Any) -> Held:
    keys = keys_state(value)
    items = [(f"[{key!r}]", value[key], functools.partial(operator.getitem, value, key)) for key in value]
    return Held(keys, ((functools.partial(keys_state, value), keys),), tuple(items))


def _view(value: Any) -> Held:
    return Held((), (), (("", value.mapping, None),))


def _slice(value: slice) -> Held:
    return Held((), (), tuple([(f".{name}", getattr(value, name), None) for name in ("start", "stop", "step")]))


def _range(value: range) -> Held:
    return Held((value.start, value.stop, value.step))


def _namespace(value: Any) -> Held:
    """For objects that hold nothing but attributes; a ``threading.local`` is read in the thread that calls."""
    keys = _own_names(value)
    reads = [(f".{key}", vars(value)[key], functools.partial(getattr, value, key)) for key in keys]
    return Held(keys, ((functools.partial(_own_names, value), keys),), tuple(reads))


def _own_names(value: Any) -> tuple:
    return tuple(vars(value))


def _bound(value: Any) -> Held:
    """A method implemented in C: the object that it belongs to counts."""
    owner = value.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        return Held(ByIdentity(value))
    return Held((value.__name__,), (), ((".__self__", owner, None),))


def _part(name: str) -> Callable[[Any], Held]:
    return lambda value: Held((), (), ((f".{name}", getattr(value, name), functools.partial(getattr, value, name)),))


def _path(value: pathlib.PurePath) -> Held:
    return Held(str(value))


def _property(value: property) -> Held:
    return Held((), (), tuple([(f".{name}", getattr(value, name), None) for name in ("fget", "fset", "fdel")]))


def _cell(value: types.CellType) -> Held:
    return Held((), (), (("", contents_of(value), functools.partial(contents_of, value)),))


def _decimal(value: Any) -> Held:
    """A decimal number, and the thread's decimal context, on which results depend."""
    return Held((repr(value), decimal_context()), ((decimal_context, decimal_context()),))


def decimal_context() -> tuple:
    """What results of decimal numbers depend on, beside those: precision, rounding and what raises errors."""
    now = sys.modules["decimal"].getcontext()
    return now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, tuple(now.traps.items())


def cached(value: Any) -> Held | None:
    """The entries in the cache of a function, which its calls return whatever has changed since; None for many."""
    entries = _entries(value)
    if len(entries) > _MOST_ENTRIES:
        return None
    inside = [("", value.__wrapped__, functools.partial(getattr, value, "__wrapped__"))]
    return Held(
        (),
        ((functools.partial(_has_entries, value, entries), True),),
        (*inside, *[(" as cached", entry, None) for entry in entries]),
    )


def _entries(value: Any) -> list[Any]:
    """What a function with a cache holds: keys, each before its result, and classes of Python's."""
    entries = []
    for part in gc.get_referents(value):
        if type(part) is dict and part is not vars(value):
            # By key the results, or where in a list of entries that is bounded it is, which are parts themselves.
            entries += [each for item in part.items() for each in item if type(each).__module__ != "functools"]
        elif part is not vars(value) and part is not value.__wrapped__:
            entries.append(part)
    return entries


def _has_entries(value: Any, entries: list[Any]) -> bool:
    """Whether these are the entries, in any order: a bounded cache has what was asked for last at its end."""
    return frozenset(map(id, _entries(value))) == frozenset(map(id, entries))


def _drawn(value: Any) -> Held:
    return Held(ByIdentity(value), drawn=(value, generator_state(value)))


def registered(class_: type) -> frozenset[Any]:
    """The classes that an abstract base class was told of, whose instances count as its own."""
    registry, *_ = vars(abc)["_get_dump"](class_)
    return frozenset([ByIdentity(reference()) for reference in registry])


def _ufunc(value: np.ufunc) -> Held | None:
    """A ufunc, which never changes; not comparable if :func:`numpy.frompyfunc` made it of a function."""
    return None if all(set(types_) <= set("O->") for types_ in value.types) else Held(ByIdentity(value))


def _kinds() -> Iterator[tuple[type, Callable[[Any], Held | None]]]:
    yield from [(str, _base_value(str.__str__)), (int, _base_value(int.__int__)), (float, _base_value(float.__float__))]
    yield from [(complex, _base_value(complex.__complex__)), (bytes, _base_value(bytes.__bytes__))]
    yield from [(bytearray, _buffer), (memoryview, _buffer), (np.ndarray, _array), (np.void, _record), (range, _range)]
    yield from [(contextvars.ContextVar, _variable), (threading.local, _namespace), (types.SimpleNamespace, _namespace)]
    yield from [(types.MappingProxyType, _mapping), (type(os.environ), _mapping), (types.CellType, _cell)]
    yield from [(type(view), _view) for view in ({}.keys(), {}.values(), {}.items())]
    yield from [(slice, _slice), (np.ufunc, _ufunc), (property, _property)]
    yield from [(random.Random, _drawn), (random.Random.__base__, _drawn)]
    yield from [(staticmethod, _part("__func__")), (classmethod, _part("__func__"))]
    yield from [(types.BuiltinFunctionType, _bound), (types.MethodWrapperType, _bound)]
    yield from [(pathlib.PurePosixPath, _path), (pathlib.PureWindowsPath, _path)]
    for kind in (
        types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType, types.CodeType,
        types.GetSetDescriptorType, types.MemberDescriptorType, operator.attrgetter, operator.itemgetter,
        operator.methodcaller, types.GenericAlias, types.UnionType, type(None),
    ):  # fmt: skip
        yield kind, _is_itself
    for kind in (
        datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone, re.Pattern, np.dtype,
    ):  # fmt: skip
        yield kind, _by_value


_HELD: dict[type, Callable[[Any], Held | None]] = dict(_kinds())
#: By the names of module and class, where importing the module for each program would take too long.
_BY_NAME: dict[str, Callable[[Any], Held | None]] = {
    "decimal.Decimal": _decimal, "fractions.Fraction": _by_value, "uuid.UUID": _by_value,
    **dict.fromkeys(("numpy.random._generator.Generator", "numpy.random.mtrand.RandomState"), _drawn),
    # Classes whose memory holds numbers.
    **dict.fromkeys(("array.array", "mmap.mmap"), _buffer),
    **{f"_ctypes.{name}": _buffer for name in ("_SimpleCData", "Array", "Structure", "Union")},
}  # fmt: skip
