"""Placeholders: while a function is traced, each array that it captures is replaced by a traced value.

If the function itself ran, NumPy would compute with a captured array, and the result would become a constant of the
program. So a copy of the function is traced, whose names, attributes and items of containers are traced values. What
the copy assigns during the trace is assigned to the originals afterwards.
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
#: Constructors that ignore arguments.
_PLAIN = (object.__new__, types.SimpleNamespace.__new__)


def replaceable(value: Any) -> bool:
    """Whether a copy with placeholders can replace this value; otherwise arrays in it count by their contents."""
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
    # Methods of installed packages may not be able to work on traced values.
    return kind is types.SimpleNamespace or not installed(kind)


def slots(class_: type) -> list[str]:
    """The names of the slots of a class, as attributes of its objects."""
    attributes: list[str] = []
    for parent in class_.__mro__:
        names = parent.__dict__.get("__slots__", ())
        for name in [names] if isinstance(names, str) else names:
            private = name.startswith("__") and not name.endswith("__")
            attributes.append(f"_{parent.__name__.lstrip('_')}{name}" if private else name)
    return [name for name in attributes if name not in ("__dict__", "__weakref__")]


class Placeholders:
    """Makes copies of functions, containers and objects, with traced values in place of captured arrays.

    Parameters
    ----------
    node : callable
        Returns the traced value for an array, or None for an array that is not captured.
    leads : mapping
        By identity, the functions, containers and objects that lead to arrays; all others are not copied.
    by_dialect : callable, optional
        Gives the placeholders of another dialect, for the functions of definitions that have one of their own.
    """

    def __init__(
        self,
        node: Callable[[Any], Expr | None],
        leads: Mapping[int, Any],
        by_dialect: Callable[[str], Placeholders] | None = None,
    ) -> None:
        self._node, self._leads, self._by_dialect = node, leads, by_dialect
        self._copy_of: dict[int, Any] = {}
        self._spaces: dict[int, dict[str, Any]] = {}
        #: Copies to be filled in after those around them are made, so that long chains need no recursion.
        self._unfilled: list[Callable[[], None]] = []
        self._deep = 0
        #: For each namespace that the trace may assign to: original, copy, the copy as it was made, and the names.
        self._copies: list[tuple[dict, dict, dict, frozenset[str] | None]] = []

    def of(self, value: Any) -> Any:
        """The copy of a value with placeholders; the value itself if it leads to no array."""
        node = self._node(value)
        if node is not None:
            return node
        if id(value) not in self._leads:
            return value
        if id(value) not in self._copy_of:
            self._deep += 1
            self._copy_of[id(value)] = self._make(value)
            while self._deep == 1 and self._unfilled:
                self._unfilled.pop()()
            self._deep -= 1
        return self._copy_of[id(value)]

    def original(self, value: Any) -> Any:
        """What a copy was made of; any other value itself."""
        made_of = next((key for key, copy in self._copy_of.items() if copy is value), None)
        return self._leads.get(made_of, value) if made_of is not None else value

    def write_back(self) -> None:
        """Assign to the originals what the trace assigned to their copies."""
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
            copy: list[Any] = []
            self._unfilled.append(lambda: copy.extend(map(self.of, value)))
            return copy
        if isinstance(value, dict):
            return self._mapping(value, {}, id(value))
        if isinstance(value, types.ModuleType):
            copy = types.ModuleType(value.__name__)
            self._mapping(value.__dict__, copy.__dict__, id(value), copy)
            return copy
        return self._object(value)

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        code, space = function.__code__, function.__globals__
        names = self._spaces.get(id(space))
        if names is None:
            names = self._spaces[id(space)] = dict(space)
        cells = tuple(types.CellType() if self._is_replaced(cell) else cell for cell in function.__closure__ or ())
        copy = types.FunctionType(code, names, function.__name__, None, cells or None)
        copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
        self._unfilled.append(lambda: self._fill(function, copy, cells))
        return copy

    def _fill(self, function: types.FunctionType, copy: types.FunctionType, cells: tuple) -> None:
        """Copy a function's attributes, defaults, closure and globals to its copy, with placeholders."""
        code, space, names = function.__code__, function.__globals__, copy.__globals__
        copy.__dict__.update((name, self.of(inner)) for name, inner in function.__dict__.items())
        copy.__defaults__ = tuple(map(self.of, function.__defaults__)) if function.__defaults__ else None
        if function.__kwdefaults__:
            copy.__kwdefaults__ = {name: self.of(value) for name, value in function.__kwdefaults__.items()}
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

    def _mapping(self, value: dict, copy: dict, key: int, owner: Any = None) -> dict:
        self._copy_of[key] = copy if owner is None else owner

        def fill() -> None:
            copy.update((name, self.of(inner)) for name, inner in value.items())
            self._copies.append((value, copy, dict(copy), None))

        self._unfilled.append(fill)
        return copy

    def _object(self, value: Any) -> Any:
        copy = type(value).__new__(type(value))
        self._copy_of[id(value)] = copy
        if definition_of(value) is not None:
            copy.__dict__.update(value.__dict__)
            # One whose text leaves it open has the dialect of what calls it.
            of_dialect = self._by_dialect if value.dialect is not None else None
            inside = self if of_dialect is None else of_dialect(value.dialect)
            copy.__nx_function__ = inside.of(value.__nx_function__)
            return copy
        if hasattr(value, "__dict__"):
            self._mapping(value.__dict__, copy.__dict__, id(value), copy)
        for name in slots(type(value)):
            if hasattr(value, name):
                object.__setattr__(copy, name, self.of(getattr(value, name)))
        return copy
