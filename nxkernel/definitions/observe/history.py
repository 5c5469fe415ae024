"""Event history summed up by function and by cell: counts, and where the time went."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nxkernel import fork_safety
from nxkernel.definitions.observe.events import Event, EventStream, NotebookCell, stream

#: Functions and cells of which sums are kept; those that were quiet for longest go first.
KEPT = 1000


@dataclass(slots=True)
class Sums:
    """Event totals of one function or one cell.

    Parameters
    ----------
    compiled, loaded, traced : int
        Calls that were new: whose kernels were compiled, came from disk, or were all in memory.
    again : int
        How many of those were for a function that had been compiled before, for other calls.
    hits, errors, evicted, cleared : int
        Calls that were answered from the cache; calls that raised; programs that were dropped, or cleared away.
    trace_ms, lower_ms, native_ms : float
        Milliseconds spent tracing, making loop nests out of graphs, and getting native code.
    kernels, from_memory, from_disk : int
        Kernels that were compiled, and those that were there.
    last : float
        When something happened last, in seconds since the epoch.
    """

    compiled: int = 0
    loaded: int = 0
    traced: int = 0
    again: int = 0
    hits: int = 0
    errors: int = 0
    evicted: int = 0
    cleared: int = 0
    trace_ms: float = 0.0
    lower_ms: float = 0.0
    native_ms: float = 0.0
    kernels: int = 0
    from_memory: int = 0
    from_disk: int = 0
    last: float = 0.0

    @property
    def total_ms(self) -> float:
        """Milliseconds of all that was not running."""
        return self.trace_ms + self.lower_ms + self.native_ms

    def add(self, event: Event) -> None:
        """Count an event; those of single kernels and single hits are parts of others."""
        self.last = event.time
        if event.kind == "miss":
            if event.compiled:
                self.compiled += 1
            elif event.disk:
                self.loaded += 1
            else:
                self.traced += 1
            self.again += event.again
            self.trace_ms += event.trace_ms
            self.lower_ms += event.lower_ms
            self.native_ms += event.native_ms
            self.kernels += event.compiled
            self.from_memory += event.reused - event.disk
            self.from_disk += event.disk
        elif event.kind == "hits":
            self.hits += event.calls
        elif event.kind == "error":
            self.errors += 1
        elif event.kind == "evict":
            self.evicted += 1
        elif event.kind == "clear":
            self.cleared += event.calls


@dataclass(slots=True)
class CellRun:
    """What the last run of a cell compiled, loaded or evicted.

    Parameters
    ----------
    cell : NotebookCell
    sums : Sums
    again : dict
        Function to its last recompilation, for those that were compiled again.
    """

    cell: NotebookCell
    sums: Sums = field(default_factory=Sums)
    again: dict[str, Event] = field(default_factory=dict)


class History:
    """Sums by function, by cell, and of each cell's last run, kept up to date by a stream.

    A stream remembers so many records; sums go on when those are forgotten. A cell is one cell however often it ran,
    where the notebook says which it is.

    Parameters
    ----------
    source : EventStream
    """

    def __init__(self, source: EventStream) -> None:
        self._source, self._lock = source, fork_safety.rlock()
        self._stop: Callable[[], None] | None = None
        self._read = 0
        self._forget()

    def start(self) -> None:
        """Follow the stream from now on, and read what it remembers."""
        if self._stop is None:
            self._stop = self._source.subscribe(self._hear, hits=False)

    def stop(self) -> None:
        """Follow it no longer."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    def functions(self) -> dict[str, Sums]:
        """The sums of each function by name; what was quiet for longest comes first."""
        with self._lock:
            self._catch_up()
            return {name: replace(sums) for name, sums in self._functions.items()}

    def cells(self) -> dict[NotebookCell, Sums]:
        """The sums of each cell; what was quiet for longest comes first."""
        with self._lock:
            self._catch_up()
            return {self._runs[key].cell: replace(sums) for key, sums in self._cells.items()}

    def last_runs(self) -> list[CellRun]:
        """What the last run of each cell did."""
        with self._lock:
            self._catch_up()
            return [replace(run, sums=replace(run.sums), again=dict(run.again)) for run in self._runs.values()]

    def begin(self, cell: NotebookCell) -> None:
        """A cell runs: what it did when it ran before is its last run no more."""
        with self._lock:
            self._catch_up()
            if (key := _key(cell)) in self._runs:
                self._runs[key] = CellRun(cell)

    def _forget(self) -> None:
        self._functions: OrderedDict[str, Sums] = OrderedDict()
        self._cells: OrderedDict[str, Sums] = OrderedDict()
        self._runs: dict[str, CellRun] = {}
        self._cleared = self._source.cleared

    def _hear(self, event: Event) -> None:
        if event.kind != "kernel":
            with self._lock:
                self._catch_up()

    def _catch_up(self) -> None:
        if self._cleared != self._source.cleared:
            self._forget()
        for number, event in self._source.since(self._read):
            self._read = number
            if event.kind != "kernel":
                self._add(event)

    def _add(self, event: Event) -> None:
        _latest(self._functions, event.function).add(event)
        if not event.cell.name:
            return
        key = _key(event.cell)
        _latest(self._cells, key).add(event)
        run = self._runs.get(key)
        if run is None or run.cell != event.cell:
            run = self._runs[key] = CellRun(event.cell)
        run.sums.add(event)
        if event.again:
            run.again[event.function] = event
        if len(self._runs) > len(self._cells):
            self._runs = {kept: run for kept, run in self._runs.items() if kept in self._cells}


def _key(cell: NotebookCell) -> str:
    return cell.id or cell.name


def _latest(table: OrderedDict[str, Sums], key: str) -> Sums:
    """The sums of a name, put at the end."""
    found = table.setdefault(key, Sums())
    table.move_to_end(key)
    if len(table) > KEPT:
        table.popitem(last=False)
    return found


#: The history of this process; it follows the stream from when the magics are loaded, or a view asks for it.
history = History(stream)
