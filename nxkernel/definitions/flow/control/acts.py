"""What an expression does besides giving a value, found and undone: what it changes, assigns into, or says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from nxkernel.definitions.flow.control import checks
from nxkernel.definitions.flow.values.object_changes import ObjectWatch
from nxkernel.graph import deferred_calls, tracing
from nxkernel.graph.tracing import BodyTrace


class Acts:
    """What code does from now on, besides giving a value.

    Parameters
    ----------
    function : callable
        What is called.
    values : iterable of (str, object)
        What it is called with.
    """

    def __init__(self, function: Callable[..., Any], values: Iterable[tuple[str, Any]] = ()) -> None:
        self._run: Any = tracing.current()
        self._watch = ObjectWatch((function,), values)
        self._later = deferred_calls.entries(self._run)
        self._count = len(self._later)
        self._forget_checks = checks.forget_later(self._run)
        self._cells = dict(self._run.cells)
        self._written = set(self._run.written) if isinstance(self._run, BodyTrace) else set()

    def are_there(self) -> bool:
        """Whether it has changed objects, assigned into arrays, or had something said or checked."""
        return len(self._later) > self._count or bool(self._assigned()) or bool(self._watch.changed())

    def undo(self) -> None:
        """Have none of it done."""
        self._watch.undo()
        del self._later[self._count :]
        for cell, before in self._assigned():
            self._run.cells[cell] = before
        if isinstance(self._run, BodyTrace):
            self._run.written &= self._written
        self._forget_checks()

    def _assigned(self) -> list[tuple[Any, Any]]:
        """The cells of before that hold something else now, and what they held; new ones are the expression's own."""
        entered = self._run.entered if isinstance(self._run, BodyTrace) else {}
        held = [(cell, self._cells.get(cell, entered.get(cell)), now) for cell, now in self._run.cells.items()]
        return [(cell, before) for cell, before, now in held if before is not None and now is not before]
