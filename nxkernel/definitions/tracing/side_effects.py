"""Side effects of a trace on Python objects: undone before a retrace, refused where they would store traced values.

A trace runs once for many calls. Numbers and texts that it stores are compared before the next call; a traced value in
an attribute, a dict or a global name would be none of the numbers that NumPy would have stored there.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from nxkernel.definitions.flow.values import variable_leaves
from nxkernel.definitions.flow.values.object_changes import ObjectWatch
from nxkernel.definitions.keys import bytecode_reads, callables, source_locations
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import SourceLocation, TracedValue
from nxkernel.messages.grammar import a
from nxkernel.operand import Proxy

_NONE = object()
#: How deep traced values are looked for in what is stored.
_DEEPEST = 3


class Stored:
    """The Python objects that a function reaches, as they are before it is traced.

    Parameters
    ----------
    function : callable
    options : mapping
        What it gets by keyword.
    """

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        self._watch = ObjectWatch((), [("self", function), *options.items()])
        plain = callables.plain(function)
        #: Names of the function's that it may bind anew: global ones, and those of functions around it.
        self._globals: dict[str, Any] = {}
        self._cells: list[tuple[str, types.CellType, Any]] = []
        self._code: types.CodeType | None = getattr(plain, "__code__", None)
        if isinstance(plain, types.FunctionType):
            self._space = plain.__globals__
            self._globals = {
                name: self._space.get(name, _NONE) for name in bytecode_reads.of_code(plain.__code__).written
            }
            cells = zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True)
            self._cells = [(name, cell, _content(cell)) for name, cell in cells]

    def undo(self) -> None:
        """Put everything back."""
        self._watch.undo()
        for name, before in self._globals.items():
            if before is _NONE:
                self._space.pop(name, None)
            else:
                self._space[name] = before
        for _, cell, before in self._cells:
            if before is not _NONE and _content(cell) is not before:
                cell.cell_contents = before

    def refuse_traced(self, function: str, read: Collection[int]) -> None:
        """Refuse traced values where something else was before.

        Parameters
        ----------
        function : str
        read : collection of int
            By identity, the containers that the function looks into.

        Raises
        ------
        NxTypeError
        """
        for place, key, value in self._new(read):
            if _holds_traced(value):
                self.undo()
                raise NxTypeError(
                    message(
                        f"{function} stores a traced value in {place}, where it would have no data.",
                        *source_locations.line_of(_line(self._code, key)),
                        f"Return it from {function}, and store it where {function} is called.",
                    )
                )

    def refuse_counts(self, function: str, read: Collection[int]) -> None:
        """Refuse counters, which would count traces and not calls.

        Raises
        ------
        NxTypeError
        """
        counted = bytecode_reads.of_code(self._code).counted if self._code is not None else ()
        for place, key, _ in self._new(read):
            if key in counted:
                self.undo()
                raise NxTypeError(
                    message(
                        f"{function} counts up {place}: it is traced once, so that later calls would not be counted.",
                        *source_locations.line_of(_line(self._code, key)),
                        f"Count where {function} is called.",
                    )
                )

    def _new(self, read: Collection[int]) -> Iterator[tuple[str, Any, Any]]:
        """What is not what it was: its place for people, the name or key that it is stored under, and what it is."""
        for name, before in self._globals.items():
            if self._space.get(name, _NONE) is not before:
                yield f"the global name `{name}`", name, self._space.get(name)
        for name, cell, before in self._cells:
            if _content(cell) is not before:
                yield f"`{name}`, a name of the function around it", name, _content(cell)
        for name, held, copy in self._watch.differences():
            if isinstance(held, set) or (isinstance(held, list) and len(held) != len(copy) and id(held) not in read):
                # A list that is only filled is a log, whose traced values say by themselves that they are dead.
                continue
            for key, now in _changed(held, copy):
                yield _place(name, held, key), key, now


def refuse_lost(function: str, code: types.CodeType | None, arguments: ObjectWatch, result: Any) -> None:
    """Refuse changes of the caller's containers that it would not see: those that are not returned.

    Parameters
    ----------
    function : str
    code : code, optional
        Of the function.
    arguments : ObjectWatch
        Of what the function was called with: containers of its own, which stand for the caller's.
    result : Any
        What it returned.

    Raises
    ------
    NxTypeError
    """
    returned = {id(inner) for inner in variable_leaves.containers(result)}
    for name, held, copy in arguments.differences():
        if id(held) in returned:
            continue
        key = next((key for key, _ in _changed(held, copy)), None)
        raise NxTypeError(
            message(
                f"{function} changes {name}, {a(type(held).__name__)}: the one that the caller passed stays as it is.",
                *source_locations.line_of(None if key is None else _line(code, key)),
                f"Return {name}, or what changes of it, and assign it where {function} is called.",
            )
        )


def _changed(held: Any, copy: Any) -> list[tuple[Any, Any]]:
    """The keys, places or attributes under which something else is than before, and what that is."""
    if isinstance(held, set):
        return []
    if isinstance(held, list):
        return [(key, now) for key, now in enumerate(held) if key >= len(copy) or copy[key] is not now]
    contents = held if isinstance(held, dict) else vars(held)
    return [(key, now) for key, now in contents.items() if copy.get(key, _NONE) is not now]


def _place(name: str, held: Any, key: Any) -> str:
    return f"{name}[{key!r}]" if isinstance(held, list | dict) else f"`{key}` of {a(type(held).__name__)}"


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _NONE


def _holds_traced(value: Any, depth: int = 0) -> bool:
    """Whether there is a traced value in something."""
    if isinstance(value, TracedValue | Proxy):
        return True
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return depth <= _DEEPEST and any(_holds_traced(member, depth + 1) for member in members)


def _line(code: types.CodeType | None, key: Any) -> SourceLocation | None:
    """The first line of code that stores something under a name or key; None where that is not in it."""
    before = None
    for step in dis.get_instructions(code) if code is not None else ():
        named = step.opname in ("STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF") and step.argval == key
        if named or (step.opname == "STORE_SUBSCR" and before is not None and before.argval == key):
            return SourceLocation(code.co_filename, step.positions.lineno, code.co_name)
        before = step
    return None
