"""Placeholders: while a function is traced, each array that it captures is replaced by a traced value.

The function itself would hand NumPy the array that a name is bound to, and what NumPy makes of it would stay in the
program for good. So a copy of the function runs instead, in which names, attributes and members of containers lead to
nodes of the graph. What it assigns while it is traced goes back to where it belongs.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

from nxkernel.definitions.keys import bytecode_reads
from nxkernel.definitions.keys.static_values import definition_of, installed
from nxkernel.graph.expr import Expr

_NONE = object()
#: What makes an object without looking at arguments.
_PLAIN = (object.__new__, types.SimpleNamespace.__new__)


def replaceable(value: Any) -> bool:
    """Whether a copy of something can stand in for it; arrays in anything else count by their contents."""
    kind = type(value)
    if issubclass(kind, types.FunctionType | types.MethodType | functools.partial | types.ModuleType):
        return True
    if kind in (list, tuple, dict):
        return True
    if issubclass(kind, tuple):
        return hasattr(kind, "_fields")
    if definition_of(value) is not None:
        return value.on_conflict == "reuse"
    if issubclass(kind, type) or kind.__new__ not in _PLAIN:
        return False
    # What methods of an installed package do with its arrays is theirs: there is no node for them.
    return kind is types.SimpleNamespace or not installed(kind)


def slots(class_: type) -> list[str]:
    """The names of the attributes of a class's objects that are not in their ``__dict__``."""
    found: list[str] = []
    for parent in class_.__mro__:
        names = parent.__dict__.get("__slots__", ())
        for name in [names] if isinstance(names, str) else names:
            private = name.startswith("__") and not name.endswith("__")
            found.append(f"_{parent.__name__.lstrip('_')}{name}" if private else name)
    return [name for name in found if name not in ("__dict__", "__weakref__")]


class Placeholders:
    """Copies functions, containers and objects with their captured arrays replaced by traced nodes.

    Parameters
    ----------
    node : callable
        Gives the node for an array, or None for an array that is not captured.
    leads : mapping
        By identity, what arrays are reached through; everything else stays itself.
    by_dialect : callable, optional
        Gives those for a face: in the function of another definition, arrays are what that one sees.
    """

    def __init__(
        self,
        node: Callable[[Any], Expr | None],
        leads: Mapping[int, Any],
        by_dialect: Callable[[str], Placeholders] | None = None,
    ) -> None:
        self._node, self._leads, self._by_face = node, leads, by_dialect
        self._made: dict[int, Any] = {}
        self._spaces: dict[int, dict[str, Any]] = {}
        #: What is to be filled in, once what is around it is made: so a chain of any length takes no depth.
        self._unfilled: list[Callable[[], None]] = []
        self._deep = 0
        #: (original, copy, the copy as it was made, the names of interest) of each namespace that a trace may write to.
        self._copies: list[tuple[dict, dict, dict, frozenset[str] | None]] = []

    def of(self, value: Any) -> Any:
        """The copy of a value with placeholders; the value itself if it reaches no array."""
        node = self._node(value)
        if node is not None:
            return node
        if id(value) not in self._leads:
            return value
        if id(value) not in self._made:
            self._deep += 1
            self._made[id(value)] = self._make(value)
            while self._deep == 1 and self._unfilled:
                self._unfilled.pop()()
            self._deep -= 1
        return self._made[id(value)]

    def write_back(self) -> None:
        """Hand over what was assigned during the trace."""
        for original, copy, placed, names in self._copies:
            for name in list(copy) if names is None else names:
                now = copy.get(name, _NONE)
                if now is not _NONE and now is not placed.get(name, _NONE):
                    original[name] = now

    def _make(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return types.MethodType(self.of(value.__func__), self.of(value.__self__))
        if isinstance(value, functools.partial):
            keywords = {name: self.of(inner) for name, inner in value.keywords.items()}
            return functools.partial(self.of(value.func), *map(self.of, value.args), **keywords)
        if isinstance(value, tuple):
            members = map(self.of, value)
            return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
        if isinstance(value, list):
            made: list[Any] = []
            self._unfilled.append(lambda: made.extend(map(self.of, value)))
            return made
        if isinstance(value, dict):
            return self._mapping(value, {}, id(value))
        if isinstance(value, types.ModuleType):
            made = types.ModuleType(value.__name__)
            self._mapping(value.__dict__, made.__dict__, id(value), made)
            return made
        return self._object(value)

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        code, space = function.__code__, function.__globals__
        names = self._spaces.get(id(space))
        if names is None:
            names = self._spaces[id(space)] = dict(space)
        cells = tuple(types.CellType() if self._is_replaced(cell) else cell for cell in function.__closure__ or ())
        made = types.FunctionType(code, names, function.__name__, None, cells or None)
        made.__qualname__, made.__module__ = function.__qualname__, function.__module__
        self._unfilled.append(lambda: self._fill(function, made, cells))
        return made

    def _fill(self, function: types.FunctionType, made: types.FunctionType, cells: tuple) -> None:
        """Give the copy of a function what the function has."""
        code, space, names = function.__code__, function.__globals__, made.__globals__
        made.__dict__.update((name, self.of(inner)) for name, inner in function.__dict__.items())
        made.__defaults__ = tuple(map(self.of, function.__defaults__)) if function.__defaults__ else None
        if function.__kwdefaults__:
            made.__kwdefaults__ = {name: self.of(value) for name, value in function.__kwdefaults__.items()}
        for cell, own in zip(function.__closure__ or (), cells, strict=True):
            if own is not cell:
                own.cell_contents = self.of(cell.cell_contents)
        read = bytecode_reads.of_code(code)
        for path in read.paths:
            if path.root == "global" and path.names[0] in space:
                names[path.names[0]] = self.of(space[path.names[0]])
        if read.written:
            self._copies.append((space, names, {name: names.get(name, _NONE) for name in read.written}, read.written))

    def _is_replaced(self, cell: types.CellType) -> bool:
        try:
            value = cell.cell_contents
        except ValueError:
            return False
        return id(value) in self._leads or self._node(value) is not None

    def _mapping(self, value: dict, made: dict, key: int, owner: Any = None) -> dict:
        self._made[key] = made if owner is None else owner

        def fill() -> None:
            made.update((name, self.of(inner)) for name, inner in value.items())
            self._copies.append((value, made, dict(made), None))

        self._unfilled.append(fill)
        return made

    def _object(self, value: Any) -> Any:
        made = type(value).__new__(type(value))
        self._made[id(value)] = made
        if definition_of(value) is not None:
            made.__dict__.update(value.__dict__)
            inside = self if self._by_face is None else self._by_face(value.face)
            made.__nx_function__ = inside.of(value.__nx_function__)
            return made
        if hasattr(value, "__dict__"):
            self._mapping(value.__dict__, made.__dict__, id(value), made)
        for name in slots(type(value)):
            if hasattr(value, name):
                object.__setattr__(made, name, self.of(getattr(value, name)))
        return made
