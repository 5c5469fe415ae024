"""Tells the event stream which cell is running, so that events are attributed to cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.observe.events import NO_CELL, NotebookCell, stream
from nxkernel.definitions.observe.history import history


class RunningCells:
    """The stack of running cells of a shell; a cell run by another counts as part of that.

    Parameters
    ----------
    shell : InteractiveShell
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._open: list[NotebookCell] = []
        # Some versions of IPython count a cell before they run it, others afterwards: cells that end tell.
        self._seen, self._ahead = shell.execution_count, 1

    def begin(self, info: Any) -> None:
        """A cell starts; one that is run by another cell counts as part of that."""
        if not self._open:
            # What threads and widgets have called since the last cell is none of this one's.
            graph_cache.report_hits()
        identity = getattr(info, "cell_id", None)
        if self._open:
            self._open.append(self._open[0])
            return
        self._seen = self._shell.execution_count
        number = self._seen - (self._ahead if getattr(info, "store_history", True) else 0)
        stream.cell = NotebookCell(f"cell {number}", identity if isinstance(identity, str) else "")
        self._open.append(stream.cell)
        history.begin(stream.cell)

    def end(self, result: Any) -> None:
        """A cell ends, and its cache hits become records."""
        number = getattr(result, "execution_count", None)
        if isinstance(number, int) and len(self._open) < 2:
            self._ahead = max(0, min(self._seen - number, 1))
        if not self._open:
            return  # the one that has loaded nxkernel
        self._open.pop()
        if not self._open:
            graph_cache.report_hits(stream.cell.name)
            stream.cell = NO_CELL


def install(shell: InteractiveShell) -> Callable[[], None]:
    """Register with a shell; returns a function that unregisters.

    Parameters
    ----------
    shell : InteractiveShell
        Whose cells are meant.

    Returns
    -------
    callable
    """
    marks = RunningCells(shell)
    history.start()
    shell.events.register("pre_run_cell", marks.begin)
    shell.events.register("post_run_cell", marks.end)

    def remove() -> None:
        shell.events.unregister("pre_run_cell", marks.begin)
        shell.events.unregister("post_run_cell", marks.end)
        stream.cell = NO_CELL

    return remove
