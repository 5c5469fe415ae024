"""Event history summed up by function and by cell: counts, and where the time went."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nxkernel import fork_safety
from nxkernel.definitions.observe.events import Event, EventStream, NotebookCell, stream

#: The number of functions and cells with sums; those unused for longest are dropped.
KEPT = 1000


@dataclass(slots=True)
class Sums:
    """Event totals of one function or one cell.

    Parameters
    ----------
    compiled, loaded, traced : int
        Misses: whose kernels were compiled, came from disk, or were all in memory.
    again : int
        How many of them were of a function that had been compiled before.
    hits, errors, evicted, cleared : int
        Hits; calls that raised; programs that were evicted or cleared.
    trace_ms, lower_ms, native_ms : float
        Milliseconds spent tracing, making loop nests out of graphs, and getting native code.
    kernels, from_memory, from_disk : int
        Kernels that were compiled, and those from memory and disk.
    last : float
        The time of the last event, in seconds since the epoch.
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
        """The milliseconds of all compilation steps."""
        return self.trace_ms + self.lower_ms + self.native_ms

    def add(self, event: Event) -> None:
        """Count an event; single kernels and hits are counted with their calls."""
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
    """What one run of a cell compiled, loaded or evicted.

    Parameters
    ----------
    cell : NotebookCell
    sums : Sums
    again : dict
        For each function that was compiled again, its last miss.
    """

    cell: NotebookCell
    sums: Sums = field(default_factory=Sums)
    again: dict[str, Event] = field(default_factory=dict)


class History:
    """Sums by function and by cell, and of each cell's last run, updated from an event stream.

    A stream keeps a limited number of events; the sums also count older ones. All runs of a cell are counted together
    if the notebook tells its id.

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
        """Follow the stream from now on, and count what it has recorded."""
        if self._stop is None:
            self._stop = self._source.subscribe(self._hear, hits=False)

    def stop(self) -> None:
        """Stop following the stream."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    def functions(self) -> dict[str, Sums]:
        """The sums of each function by name, the longest unused first."""
        with self._lock:
            self._catch_up()
            return {name: replace(sums) for name, sums in self._functions.items()}

    def cells(self) -> dict[NotebookCell, Sums]:
        """The sums of each cell, the longest unused first."""
        with self._lock:
            self._catch_up()
            return {self._runs[key].cell: replace(sums) for key, sums in self._cells.items()}

    def last_runs(self) -> list[CellRun]:
        """The last run of each cell."""
        with self._lock:
            self._catch_up()
            return [replace(run, sums=replace(run.sums), again=dict(run.again)) for run in self._runs.values()]

    def begin(self, cell: NotebookCell) -> None:
        """Start counting a new run of a cell."""
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
    """The sums of a name, moved to the end."""
    sums = table.setdefault(key, Sums())
    table.move_to_end(key)
    if len(table) > KEPT:
        table.popitem(last=False)
    return sums


#: The history of this process; it follows the stream from when the magics are loaded, or a view asks for it.
history = History(stream)
