"""What a function reads besides its arguments, as it is now: the survey that a call is looked up by.

Arrays and tensors become implicit arguments, whose values are read at every call. Numbers, text, containers and the
user's own functions and objects count by their contents, which are compared at every call; anything else counts by its
identity. Functions of the user's are followed into what they read themselves; installed packages are not.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types
from collections.abc import Callable, Sequence
from operator import getitem
from typing import Any

import numpy as np

from nxkernel.defn import fingerprint, reads, subjects
from nxkernel.defn.captured import ON_DEVICE, Captured
from nxkernel.defn.leaf import is_array, spec_of
from nxkernel.defn.stand_ins import replaceable, slots
from nxkernel.defn.states import (
    CONTAINERS,
    GENERATORS,
    MISSING,
    SETS,
    Same,
    by_value,
    constant,
    describe,
    drawn,
    installed,
    members,
)
from nxkernel.errors import NxError
from nxkernel.tensor.device import DeviceTensor
from nxkernel.tensor.tensor import Tensor

#: Up to how many numbers and texts of a container are compared one by one.
_FEW = 4
#: How often a survey begins anew.
_ATTEMPTS = 100


class Survey:
    """What a value, most often a function, depends on, as it was when the survey was made.

    Attributes
    ----------
    ident : tuple
        Hashable; equal for surveys between which no answer can differ but by the values of arrays.
    arrays : tuple of Captured
    parts : dict
        The same as `ident` for people: ``"captured lr"`` to what it is, and how that is written.
    leads : dict
        By identity, the functions, containers and objects through which arrays are reached.
    shortcuts : dict
        What a definition remembers for as long as the survey is current.
    """

    __slots__ = ("_aliases", "_arrays", "_equal", "_same", "arrays", "ident", "leads", "parts", "shortcuts")

    def __init__(self, walk: Walk) -> None:
        self._same, self._equal, self._aliases = tuple(walk.same), tuple(walk.equal), tuple(walk.aliases)
        self.arrays, self.leads = tuple(walk.arrays), walk.leads
        self.ident, self.parts = tuple(walk.states), walk.parts
        self.shortcuts: dict[tuple, Any] = {}
        self._arrays = [(a.read, *a.expected) for a in self.arrays]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that could change."""
        return not (self._same or self._equal or self._arrays)

    def fetch(self) -> list[Any] | None:
        """The arrays as they are now, in order; None when anything else than their values has changed."""
        found = []
        try:
            for read, expected in self._same:
                if read() is not expected:
                    return None
            for read, expected in self._equal:
                if read() != expected:
                    return None
            for read, spec, shape, dtype in self._arrays:
                value = read()
                if type(value) is Tensor:
                    if value.spec != spec:
                        return None
                elif type(value) is DeviceTensor:
                    if (ON_DEVICE, value.spec) != spec:
                        return None
                elif value.shape != shape or (value.dtype is not dtype and spec_of(value) != spec):
                    return None
                found.append(value)
        except Exception:
            # What is gone now, such as an attribute or an element of a list, is a change like any other.
            return None
        for place, first in self._aliases:
            if found[place] is not found[first]:
                return None
        return found


def survey(value: Any) -> tuple[Survey, list[Any]]:
    """Survey a function that is called for its own sake: its default arguments belong to the call.

    Returns
    -------
    Survey
    list
        The arrays that it captures.
    """
    for attempt in reversed(range(_ATTEMPTS)):
        walk = Walk()
        try:
            walk.value(value, "", None)
            walk.settle()
            break
        except (LookupError, RuntimeError) as error:
            # Most likely another thread has changed a container while it was walked.
            if isinstance(error, NxError | RecursionError) or attempt == 0:
                raise
    return Survey(walk), walk.values


class Walk:
    """Collects what a survey holds.

    Attributes
    ----------
    values : list
        The arrays that were met.
    """

    def __init__(self) -> None:
        self.same: list[tuple[Callable[[], Any], Any]] = []
        self.equal: list[tuple[Callable[[], Any], Any]] = []
        self.arrays: list[Captured] = []
        self.values: list[Any] = []
        self.aliases: list[tuple[int, int]] = []
        self.states: list[Any] = []
        self.parts: dict[str, tuple[Any, str]] = {}
        self.leads: dict[int, Any] = {}
        self._around: list[Any] = []
        self._seen: dict[Any, int] = {}
        self._met: list[Any] = []
        self._waiting: list[tuple[tuple, Any]] = []
        self._read: set[tuple] = set()
        self._kept: list[Any] = []

    # Values ----------------------------------------------------------------------------------------------------

    def value(self, value: Any, name: str, read: Callable[[], Any] | None) -> None:
        """Take a value in; `read` gives it at a later call, where it may be another one."""
        if is_array(value):
            self._array(value, name, read or functools.partial(_itself, value))
            return
        if read is not None:
            # Looking up a method makes a new object each time, which is equal.
            (self.equal if isinstance(value, types.MethodType) else self.same).append((read, value))
        state = constant(value)
        if state is not None:
            self._add(state, name, describe(value))
        elif not self._met_before(id(value), value):
            self._around.append(value)
            self._compound(value, name)
            self._around.pop()

    def _add(self, state: Any, name: str, text: str) -> None:
        self.states.append(state)
        if name:
            label = name if name.startswith("option ") else f"captured {name}"
            self.parts.setdefault(label, (state, text))

    def _met_before(self, key: Any, value: Any) -> bool:
        """Whether something was taken in already; then only that is noted."""
        number = self._seen.setdefault(key, len(self._met))
        if number == len(self._met):
            self._met.append(value)
            return False
        self.states.append(("again", number))
        self._wait_for(value)
        return True

    def _lead(self) -> None:
        self.leads.update((id(owner), owner) for owner in self._around)

    def _wait_for(self, value: Any) -> None:
        """What is around leads to an array if this does, which may be found only later: functions call each other."""
        self._waiting.append((tuple(self._around), value))

    def settle(self) -> None:
        """Find what leads to arrays by way of something that had been met before."""
        found = -1
        while found != len(self.leads):
            found = len(self.leads)
            for around, value in self._waiting:
                if id(value) in self.leads:
                    self.leads.update((id(owner), owner) for owner in around)

    def _array(self, value: Any, name: str, read: Callable[[], Any]) -> None:
        spec = spec_of(value)
        if read() is not value or not all(map(replaceable, self._around)):
            # Made anew each time that somebody looks, such as the array of a table's column, or out of a trace's reach.
            state = ("contents", spec, _contents_of(value))
            self.equal.append((lambda: _contents_of(read()), state[2]))
            self._add(state, name, str(spec))
            return
        self._lead()
        first = next((place for place, known in enumerate(self.values) if known is value), None)
        if first is not None:
            self.aliases.append((len(self.arrays), first))
        on_device = type(value) is DeviceTensor
        self.arrays.append(Captured(name.removeprefix("option "), spec, read, on_device))
        self.values.append(value)
        self._add(("array", spec, first, on_device), name, f"{spec} on a device" if on_device else str(spec))

    def _compound(self, value: Any, name: str) -> None:
        if isinstance(value, types.FunctionType) and not installed(value):
            self._function(value, name)
        elif "__nx_function__" in getattr(value, "__dict__", ()) and not isinstance(value, types.FunctionType):
            given = tuple([(hook, Same(function)) for hook, function in vars(value).get("hooks", {}).items()])
            self.states.append(("definition", value.on_conflict, value.compiler, given))
            self.value(value.__nx_function__, name, None)
        elif isinstance(value, types.MethodType):
            self._method(value, name)
        elif isinstance(value, functools.partial):
            self._partial(value, name)
        elif isinstance(value, CONTAINERS) and not _is_users(value):
            self._container(value, name)
        elif isinstance(value, type):
            self._add(Same(value), name, describe(value))
            if not installed(value):
                self._class(value)
        elif _is_users(value):
            self._object(value, name)
        elif isinstance(value, GENERATORS):
            # What draws from it while it is traced changes it, so that the next call draws again.
            self._add((Same(value), drawn(value)), name, describe(value))
            self.equal.append((functools.partial(drawn, value), drawn(value)))
        else:
            self._add(by_value(value), name, describe(value))
            wrapped = getattr(value, "__wrapped__", None) if callable(value) else None
            if wrapped is not None:
                self.value(wrapped, name, None)

    def _partial(self, value: functools.partial, name: str) -> None:
        """A function with arguments given, which go by the names of its parameters."""
        keys = tuple(value.keywords)
        self.states.append(("partial", len(value.args), keys))
        self.equal.append((functools.partial(tuple, value.keywords), keys))
        self.value(value.func, name, None)
        around = f"{name}." if name else ""
        for label, item in zip(subjects.given(value), value.args, strict=True):
            self.value(item, around + label, None)
        for key in keys:
            self.value(value.keywords[key], around + key, functools.partial(getitem, value.keywords, key))

    def _container(self, value: Any, name: str) -> None:
        """A list, tuple, dict or set: its type, its size or keys, and what is in it."""
        fixed = isinstance(value, tuple)
        if isinstance(value, SETS):
            self._add((type(value), members(value)), name, describe(value))
            self.equal.append((functools.partial(members, value), members(value)))
            return
        if isinstance(value, dict):
            keys = tuple(value)
            self.states.append((type(value), tuple(map(by_value, keys))))
            self.equal.append((functools.partial(tuple, value), keys))
        else:
            keys = tuple(range(len(value)))
            self.states.append((type(value), len(value)))
            if not fixed:
                self.equal.append((functools.partial(len, value), len(value)))
        items = [value[key] for key in keys]
        states = [None if is_array(item) else constant(item) for item in items]
        plain = [place for place, state in enumerate(states) if state is not None]
        if plain and not fixed and len(plain) <= _FEW:
            self.same += [(functools.partial(getitem, value, keys[place]), items[place]) for place in plain]
        elif plain and not fixed:
            watched = [keys[place] for place in plain], [items[place] for place in plain]
            self.equal.append((functools.partial(_still, value, *watched), True))
        if len(plain) == len(items):
            self._add((type(value), *states), name, describe(value))
            return
        fields = getattr(value, "_fields", None)
        for place, (key, item) in enumerate(zip(keys, items, strict=True)):
            label = f"{name}.{fields[place]}" if fields else f"{name}[{key!r}]"
            if states[place] is not None:
                self._add(states[place], label, describe(item))
            else:
                self.value(item, label, None if fixed else functools.partial(getitem, value, key))

    # Functions -------------------------------------------------------------------------------------------------

    def _function(self, function: types.FunctionType, name: str, subject: Any = MISSING) -> None:
        code = function.__code__
        self._add(("function", fingerprint.of_code(code)), name, describe(function))
        if name:
            names = code.co_varnames[: code.co_argcount]
            defaults = function.__defaults__ or ()
            pairs = [*zip(names[len(names) - len(defaults) :], defaults, strict=True)]
            for argument, default in [*pairs, *sorted((function.__kwdefaults__ or {}).items())]:
                self.value(default, f"{argument} of {function.__name__}", None)
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        for path in reads.of_code(code).paths:
            root = path.names[0]
            if path.root == "global":
                space = function.__globals__
                self._path(path, functools.partial(space.get, root, MISSING), space)
            elif path.root == "free":
                self._path(path, functools.partial(_inside, cells[root]), cells[root])
            elif subject is not MISSING:
                self._path(path, functools.partial(_itself, subject), subject)

    def _path(self, path: reads.Path, read: Callable[[], Any], space: Any) -> None:
        """What a dotted name leads to: its last value counts, or the last one before its attributes are no data."""
        value, name, place = read(), path.names[0], (id(space), path.names[0])
        if path.fills and isinstance(_along(value, path.names[1:-1]), CONTAINERS):
            return
        if value is MISSING and hasattr(builtins, name):
            # A name of Python's own, until somebody defines it.
            self.same.append((read, MISSING))
            self.states.append(("builtin", name))
            return
        before = len(self._around)
        for attribute in path.names[1:]:
            if _ends_at(value):
                break
            method = _from_class(value, attribute)
            inner = _attribute(value, attribute) if method is None else method
            if inner is MISSING or (_is_outside(inner) and not isinstance(value, types.ModuleType | type)):
                break
            self._around.append(value)
            if place not in self._read:
                self._read.add(place)
                self._kept.append(value)
                self.same.append((read, value))
            name = f"{name}.{attribute}"
            if method is not None:
                owner = type(value)
                self.states.append(Same(owner))
                self.equal.append((functools.partial(_attribute, owner, attribute), _attribute(owner, attribute)))
                self._bound(method, name, value)
                del self._around[before:]
                return
            place = (id(value), attribute)
            value, read = inner, functools.partial(getattr, value, attribute, MISSING)
        if ("whole", place) not in self._read:
            self._read.add(("whole", place))
            self.value(value, name, read)
        elif is_array(value):
            self._lead()
        else:
            self._wait_for(value)
        del self._around[before:]

    def _method(self, method: types.MethodType, name: str) -> None:
        if isinstance(method.__func__, types.FunctionType):
            self._bound(method.__func__, name, method.__self__)
        else:
            self.value(method.__func__, name, None)
            self.value(method.__self__, f"{name}.__self__", None)

    def _bound(self, function: types.FunctionType, name: str, subject: Any) -> None:
        if self._met_before((id(function), id(subject)), function):
            return
        self._kept.append(subject)
        self._around += (function, subject)
        if installed(function):
            self.value(subject, name, None)
        else:
            self._function(function, name, subject)
        del self._around[-2:]

    # Objects ---------------------------------------------------------------------------------------------------

    def _object(self, value: Any, name: str) -> None:
        """An object of a class of the user's: its attributes, and the code of its class."""
        self.value(type(value), "", None)
        self._add(("object",), name, describe(value))
        if isinstance(value, CONTAINERS):
            self._container(value, name)
        for slot in slots(type(value)):
            self.value(_attribute(value, slot), f"{name}.{slot}", functools.partial(_attribute, value, slot))
        attributes = getattr(value, "__dict__", None)
        if attributes is not None:
            keys = tuple(attributes)
            self.states.append(keys)
            self.equal.append((functools.partial(tuple, attributes), keys))
            for key in keys:
                self.value(attributes[key], f"{name}.{key}", functools.partial(getitem, attributes, key))

    def _class(self, value: type) -> None:
        for parent in value.__mro__:
            if installed(parent):
                continue
            keys = tuple(vars(parent))
            self.equal.append((functools.partial(tuple, vars(parent)), keys))
            for key in keys:
                inner = _unwrapped(vars(parent)[key])
                if isinstance(inner, types.FunctionType):
                    self.equal.append((functools.partial(_still, vars(parent), [key], [vars(parent)[key]]), True))
                    self.value(inner, f"{parent.__name__}.{key}", None)
                elif not key.startswith("__") and not inspect.isdatadescriptor(inner):
                    self.value(inner, f"{parent.__name__}.{key}", functools.partial(_attribute, parent, key))


_WRAPPERS = (
    (property, "fget"),
    (functools.cached_property, "func"),
    (staticmethod, "__func__"),
    (classmethod, "__func__"),
)


def _unwrapped(value: Any) -> Any:
    """The function behind a property, method or definition in a class."""
    for kind, part in _WRAPPERS:
        if isinstance(value, kind):
            value = getattr(value, part)
    return getattr(value, "__nx_function__", value)


def _from_class(value: Any, attribute: str) -> types.FunctionType | None:
    """The function of the user's that answers for an attribute; None where the attribute is data."""
    if isinstance(value, type | types.ModuleType) or not _is_users(value):
        return None
    if attribute in getattr(value, "__dict__", ()):
        return None
    found = _unwrapped(inspect.getattr_static(type(value), attribute, None))
    return found if isinstance(found, types.FunctionType) else None


def _is_users(value: Any) -> bool:
    return isinstance(value, types.SimpleNamespace) or not installed(type(value))


def _ends_at(value: Any) -> bool:
    """Whether what a path says of a value is for the value itself to answer, so that all of it counts."""
    if value is MISSING or is_array(value) or constant(value) is not None:
        return True
    if isinstance(value, types.ModuleType | type):
        return installed(value)
    return isinstance(value, CONTAINERS) and not _is_users(value)


def _is_outside(value: Any) -> bool:
    """Whether an attribute is a function or class of an installed package: its owner counts instead."""
    return callable(value) and installed(value) and not hasattr(value, "__nx_function__")


def _along(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        value = _attribute(value, name)
    return value


def _attribute(value: Any, name: str) -> Any:
    try:
        return getattr(value, name, MISSING)
    except Exception:
        # A property may raise whatever it likes: so it will, in the person's own code, when that is traced.
        return MISSING


def _inside(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _itself(value: Any) -> Any:
    return value


def _still(owner: Any, keys: Sequence[Any], items: Sequence[Any]) -> bool:
    """Whether a container has the same objects under some of its keys."""
    for place, key in enumerate(keys):  # noqa: SIM110 - at each call; a generator would cost as much again
        if owner[key] is not items[place]:
            return False
    return True


def _contents_of(value: Any) -> tuple:
    return (spec_of(value), np.asarray(value).tobytes())
