"""What a person's functions have given to one call: a trace that asks for its numbers, and each program that runs for
it, goes on with that instead of calling them again.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from nxkernel.graph import tracing
from nxkernel.scoped_settings import ScopedSetting, kept

#: In a trace's memory, that its program calls functions of the user's.
_MADE = "calls of Python functions"


def note_call(run: tracing.Trace) -> None:
    """Note that the program that is traced calls a function of Python's that may give something else each time."""
    run.outermost.memory[_MADE] = True


def are_asked_for(run: tracing.Trace) -> bool:
    """Whether what was traced calls such functions when it runs."""
    return run.outermost.memory.get(_MADE, False)


class HostResults:
    """The results of one call of a definition, by function and arguments, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._made: dict[Hashable, list[Callable[[], list[Any]]]] = {}
        self._taken: collections.Counter[Hashable] = collections.Counter()

    def from_the_beginning(self) -> ScopedSetting:
        """A context in which all is computed anew for the call."""
        self._taken.clear()
        return ScopedSetting(_scope, "results", self)

    def next(self, key: Hashable, call: Callable[[], list[Any]]) -> list[Any]:
        """The next result for a key, made where there is none yet; an error is raised again."""
        made = self._made.setdefault(key, [])
        place, self._taken[key] = self._taken[key], self._taken[key] + 1
        if place == len(made):
            # What a definition computes that is called from there is none of this call's.
            with ScopedSetting(_scope, "results", None):
                made.append(_outcome(call))
        return made[place]()


class _Scope(threading.local):
    results: HostResults | None = None


_scope = kept(_Scope())


def of(function: Hashable, values: Sequence[np.ndarray], call: Callable[[], list[Any]]) -> list[Any]:
    """What a function gives for arrays: what it gave before, where this is computed again for one call."""
    results = _scope.results
    if results is None:
        return call()
    return results.next((function, *((value.dtype, value.shape, value.tobytes()) for value in values)), call)


def _outcome(call: Callable[[], list[Any]]) -> Callable[[], list[Any]]:
    """What gives the results of a call that is made now, each time copies, or raises its error."""
    try:
        found = _copies(call())
    except Exception as error:
        failed = error

        def fail() -> list[Any]:
            raise failed

        return fail
    return lambda: _copies(found)


def _copies(values: Sequence[Any]) -> list[Any]:
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]
