"""All works, in the order of the table, and what runs them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from benchmarks.measuring.work import Outcome, Settings, Work
from benchmarks.works import (
    compile_time,
    contraction,
    dispatch,
    elementwise,
    learning,
    learning_first,
    loops,
    memory,
    moving,
    notebook,
    numerics,
    reductions,
    solvers,
    startup,
)

WORKS: list[Work] = [
    *elementwise.WORKS[:1],
    *reductions.WORKS,
    *elementwise.WORKS[1:],
    *contraction.WORKS,
    *moving.WORKS,
    *numerics.WORKS,
    *loops.WORKS,
    *solvers.WORKS,
    *learning.WORKS,
    *learning_first.WORKS,
    *compile_time.WORKS[:-1],
    *startup.WORKS[1:],
    *dispatch.WORKS,
    *compile_time.WORKS[-1:],
    *memory.WORKS,
    *notebook.WORKS,
    *startup.WORKS[:1],
]


def chosen(pattern: str | None) -> list[Work]:
    """The works whose names a regular expression finds; all without one."""
    return [work for work in WORKS if pattern is None or re.search(pattern, work.name)]


def run(works: Iterable[Work], settings: Settings, tell: Callable[[str], None]) -> list[Outcome]:
    """Measure works one after the other.

    A work that raises becomes a row that says so, so that the others are still measured.

    Parameters
    ----------
    works : iterable of Work
    settings : Settings
    tell : callable
        Is told the name of each work before it starts.
    """
    rows: list[Outcome] = []
    for work in works:
        tell(work.name)
        try:
            rows += work.measure(work, settings)
        except Exception as error:
            text = f"{type(error).__name__}: {error}".strip().splitlines()
            rows.append(work.outcome({}, note=f"failed: {text[0][:200]}"))
    return rows
