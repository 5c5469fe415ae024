"""Changes of Python objects (lists, dicts, attributes) while a body is traced: detected and undone."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from nxkernel.definitions.captures.name_lookup import unwrapped
from nxkernel.definitions.flow.values.unassigned_variables import Unassigned
from nxkernel.definitions.keys import bytecode_reads
from nxkernel.definitions.keys.static_values import attributes_of, definition_of, installed
from nxkernel.operand import Operand, Proxy

#: How many objects are looked at, and how deep they lie; beyond, changes go unnoticed. Functions are all looked at.
_MOST, _DEEPEST = 4096, 8
_SKIPPED = (str, bytes, int, float, complex, type(None), type, types.ModuleType, Operand, Proxy, Unassigned)


class ObjectWatch:
    """The lists, dicts, sets and objects that functions reach, and NumPy's arrays among variables, as they are now.

    Parameters
    ----------
    functions : iterable of callable
        Their closures, defaults and the globals that they name are watched.
    values : iterable of (str, object)
        Watched too, under these names.
    """

    def __init__(self, functions: Iterable[Callable[..., Any]], values: Iterable[tuple[str, Any]] = ()) -> None:
        #: Each object with its name and a copy of what is in it.
        self._kept: dict[int, tuple[str, Any, Any]] = {}
        self._seen: set[int] = set()
        self._room = _MOST
        #: Whether arrays are looked at: those that a function has made, and none of globals, which may be large.
        self._with_arrays = True
        #: How many functions are being looked into, one by way of the other, and those that are left for later.
        self._deep = 0
        self._later: collections.deque[types.FunctionType] = collections.deque()
        for name, value in values:
            self._add(name, value, 0)
        for function in functions:
            self._add_function(function)
        while self._later:
            self._look_into(self._later.popleft())

    def changed(self) -> list[tuple[str, Any]]:
        """The objects whose contents are not what they were, with the names that they go by."""
        return [(name, held) for name, held, _ in self.differences()]

    def differences(self) -> list[tuple[str, Any, Any]]:
        """The same, each with what was in it."""
        return [(name, held, copy) for name, held, copy in self._kept.values() if not _as_before(held, copy)]

    def undo(self) -> None:
        """Put back what was in them."""
        for _, held, copy in self.differences():
            _restore(held, copy)

    def _add_function(self, function: Any) -> None:
        function = getattr(function, "__func__", function)
        if not isinstance(function, types.FunctionType) or id(function) in self._seen:
            return
        self._seen.add(id(function))
        if self._deep == _DEEPEST:
            self._later.append(function)
            return
        self._deep += 1
        self._look_into(function)
        self._deep -= 1

    def _look_into(self, function: types.FunctionType) -> None:
        code = function.__code__
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                value = cell.cell_contents
            except ValueError:
                continue
            if not name.startswith("__nx_"):
                self._add(name, value, 0)
        defaults = function.__defaults__ or ()
        for name, value in zip(code.co_varnames[code.co_argcount - len(defaults) :], defaults, strict=False):
            self._add(name, value, 0)
        before, self._with_arrays = self._with_arrays, False
        for name in {path.names[0]: None for path in bytecode_reads.of_code(code).paths if path.root == "global"}:
            if name in function.__globals__:
                self._add(name, function.__globals__[name], 0)
        self._with_arrays = before

    def _add_methods(self, kind: type) -> None:
        """What the methods and properties of a class of the user's reach, which code calls by way of its objects."""
        if id(kind) in self._seen:
            return
        self._seen.add(id(kind))
        for parent in kind.__mro__:
            if not installed(parent):
                for found in list(vars(parent).values()):
                    self._add_function(unwrapped(found))

    def _add(self, name: str, value: Any, depth: int) -> None:
        if isinstance(value, type):
            self._add_methods(value)
        if isinstance(value, _SKIPPED) or id(value) in self._seen or depth > _DEEPEST or self._room <= 0:
            return
        value = definition_of(value) or value
        if isinstance(value, functools.partial):
            value = value.func
        if isinstance(value, types.FunctionType | types.MethodType):
            if not installed(value):
                self._add_function(value)
            if isinstance(value, types.MethodType):
                self._add(name, value.__self__, depth)
            return
        self._seen.add(id(value))
        self._room -= 1
        self._add_methods(type(value))
        if isinstance(value, np.ndarray):
            if self._with_arrays:
                self._kept[id(value)] = (name, value, value.copy())
            return
        if isinstance(value, list):
            self._kept[id(value)] = (name, value, list(value))
            members = value
        elif isinstance(value, dict):
            self._kept[id(value)] = (name, value, dict(value))
            members = list(value.values())
        elif isinstance(value, set):
            self._kept[id(value)] = (name, value, set(value))
            return
        elif isinstance(value, tuple):
            members = value
        elif attributes_of(value) is not None and not installed(value):
            attributes = attributes_of(value)
            self._kept[id(value)] = (name, value, dict(attributes))
            members = list(attributes.values())
        else:
            return
        for member in members:
            self._add(name, member, depth + 1)


def _as_before(held: Any, copy: Any) -> bool:
    if isinstance(held, list):
        return len(held) == len(copy) and all(now is then for now, then in zip(held, copy, strict=True))
    if isinstance(held, set):
        return held == copy
    if isinstance(held, np.ndarray):
        return held.shape == copy.shape and held.tobytes() == copy.tobytes()
    now = held if isinstance(held, dict) else attributes_of(held)
    return list(now) == list(copy) and all(now[key] is value for key, value in copy.items())


def _restore(held: Any, copy: Any) -> None:
    if isinstance(held, list):
        held[:] = copy
        return
    if isinstance(held, np.ndarray):
        held[...] = copy
        return
    contents = held if isinstance(held, dict | set) else attributes_of(held)
    contents.clear()
    contents.update(copy)
