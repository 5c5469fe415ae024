"""Side effects of a trace on Python objects: undone before a retrace, refused where they would store traced values.

A trace runs once for many calls. Numbers and text that it stores are compared before the next call; but a traced value
that it stores in an attribute, a dict or a global name has no data, where NumPy would have stored numbers.
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from nxkernel.definitions.flow.values import variable_leaves
from nxkernel.definitions.flow.values.object_changes import ObjectWatch, holds_traced
from nxkernel.definitions.keys import bytecode_reads, callables, source_locations
from nxkernel.definitions.keys.static_values import MISSING, contents_of
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import SourceLocation
from nxkernel.messages.grammar import a


class SideEffects:
    """The Python objects that a function reaches, as they were before it was traced.

    Parameters
    ----------
    function : callable
    options : mapping
        Its keyword arguments.
    """

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        self._watch = ObjectWatch((), [("self", function), *options.items()])
        plain = callables.plain(function)
        #: The values of global names and closure variables that the function may rebind.
        self._globals: dict[str, Any] = {}
        self._cells: list[tuple[str, types.CellType, Any]] = []
        self._code: types.CodeType | None = getattr(plain, "__code__", None)
        if isinstance(plain, types.FunctionType):
            self._space = plain.__globals__
            self._globals = {
                name: self._space.get(name, MISSING) for name in bytecode_reads.of_code(plain.__code__).written
            }
            cells = zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True)
            self._cells = [(name, cell, contents_of(cell)) for name, cell in cells]

    def undo(self) -> None:
        """Restore all objects and names to what they were."""
        self._watch.undo()
        for name, before in self._globals.items():
            if before is MISSING:
                self._space.pop(name, None)
            else:
                self._space[name] = before
        for _, cell, before in self._cells:
            if before is not MISSING and contents_of(cell) is not before:
                cell.cell_contents = before

    def reaches(self, value: Any) -> bool:
        """Whether an object was there before the trace."""
        return self._watch.reaches(value)

    def refuse_traced(self, function: str, read: Collection[int], logs: bool) -> None:
        """Refuse a trace that has stored a traced value in an object or a global name.

        Parameters
        ----------
        function : str
        read : collection of int
            The identities of containers that the function reads.
        logs : bool
            Whether lists that are only appended to may get them: in Nx's dialect people log traced values, and using
            one later raises its own error.

        Raises
        ------
        NxTypeError
        """
        for where, held, key, value in self._new():
            is_log = isinstance(held, list) and id(held) not in read
            if holds_traced(value) and not (logs and is_log):
                self.undo()
                raise NxTypeError(
                    message(
                        f"{function} stores a traced value in {where}, where it would have no data.",
                        *source_locations.line_of(_line(self._code, key)),
                        f"Return it from {function}, and store it where {function} is called.",
                    )
                )

    def refuse_counts(self, function: str) -> None:
        """Refuse counters, which would make each call trace the function.

        Raises
        ------
        NxTypeError
        """
        for where, _, key, _ in self._new():
            if key in self._watch.counted:
                self.undo()
                raise NxTypeError(
                    message(
                        f"{function} counts up {where}: it is traced once, so that later calls would not be counted.",
                        *source_locations.line_of(_line(self._code, key)),
                        f"Count where {function} is called.",
                    )
                )

    def changed_places(self) -> tuple[str, ...]:
        """Descriptions of where the trace has changed something."""
        return tuple(dict.fromkeys([where for where, *_ in self._new()]))

    def _new(self) -> Iterator[tuple[str, Any, Any, Any]]:
        """What the trace has changed: a description of where, the object, the name or key in it, the new value."""
        for name, before in self._globals.items():
            if self._space.get(name, MISSING) is not before:
                yield f"the global name `{name}`", self._space, name, self._space.get(name)
        for name, cell, before in self._cells:
            if contents_of(cell) is not before:
                yield f"`{name}`, a name of the function around it", cell, name, contents_of(cell)
        for name, held, changes in self._watch.differences():
            for key, now in changes:
                yield _place(name, held, key), held, key, now
            if not changes:
                yield f"`{name}`, {a(type(held).__name__)}", held, None, None


def refuse_lost(function: str, code: types.CodeType | None, arguments: ObjectWatch, result: Any) -> None:
    """Refuse a trace that has changed the caller's containers and does not return them.

    Parameters
    ----------
    function : str
    code : code, optional
        Of the function.
    arguments : ObjectWatch
        A watch on the containers that the function was called with, which are copies of the caller's.
    result : Any
        What it returned.

    Raises
    ------
    NxTypeError
    """
    returned = {id(inner) for inner in variable_leaves.containers(result)}
    for name, held, changes in arguments.differences():
        if id(held) in returned:
            continue
        key = next((key for key, _ in changes), None)
        raise NxTypeError(
            message(
                f"{function} changes {name}, {a(type(held).__name__)}: the one that the caller passed stays as it is.",
                *source_locations.line_of(None if key is None else _line(code, key)),
                f"Return {name}, or what changes of it, and assign it where {function} is called.",
            )
        )


def _place(name: str, held: Any, key: Any) -> str:
    if isinstance(held, type):
        return f"`{key}` of the class {name}"
    return f"{name}[{key!r}]" if isinstance(held, list | dict) else f"`{key}` of {a(type(held).__name__)}"


def _line(code: types.CodeType | None, key: Any) -> SourceLocation | None:
    """The first line of code that assigns to a name or key; None where there is none."""
    before = None
    for step in dis.get_instructions(code) if code is not None else ():
        named = step.opname in ("STORE_ATTR", "STORE_GLOBAL", "STORE_DEREF") and step.argval == key
        if named or (step.opname == "STORE_SUBSCR" and before is not None and before.argval == key):
            return SourceLocation(code.co_filename, step.positions.lineno, code.co_name)
        before = step
    return None
