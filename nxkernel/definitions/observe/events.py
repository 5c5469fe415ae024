"""The event log: one immutable record for each trace, hit, miss, kernel, error and eviction.

Widgets, magics, logs, tests and ``f.why`` read this one stream. Hits are only counted, by the definition itself, unless
a listener wants them; the hits of a cell become one event at its end
(:func:`nxkernel.definitions.calls.graph_cache.report_hits`).
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from nxkernel import fork_safety
from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import duration

#: How many records are kept; older ones are forgotten.
KEPT = 10_000


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """The notebook cell that is running; no name where there is none.

    Parameters
    ----------
    name : str
        Such as ``"cell 7"``.
    id : str
        The cell's id in the notebook document, if known.
    """

    name: str = ""
    id: str = ""


NO_CELL = NotebookCell()


@dataclass(frozen=True, slots=True)
class Event:
    """One event: a trace, a hit or miss of the graph cache, a compiled kernel, an error or an eviction.

    Parameters
    ----------
    kind : str
        ``"hit"`` (a call answered by the graph cache), ``"miss"`` (a call that was traced and made into a program),
        ``"kernel"`` (one kernel of that program), ``"error"`` (a trace, compilation or run that raised), ``"evict"``,
        ``"hits"`` (the hits of a cell, at its end), ``"clear"`` (programs that the user dropped).
    function : str
        The definition's name.
    where : str
        The notebook cell or file and line that called, such as ``"cell 7"``.
    reason : tuple of str
        For a miss, why: the lines of difference from the closest earlier key, or ``("first call",)``; the lines of an
        error.
    rules : str
        For a miss, whose rules of types hold, and what says so.
    advice : str
        What the user could change, if there is something.
    notes : tuple of str
        For a miss, notes on the trace, such as on unrolled loops.
    trace_ms, lower_ms, native_ms : float
        Milliseconds spent tracing, making loop nests out of the graph, and getting native code.
    origin : str
        For a kernel: ``"compiled"``, ``"memory"`` or ``"disk"``; ``"program"`` or ``"library"`` where it has no code of
        its own.
    kernel : str
        For a kernel, its symbol.
    compiled, reused : int
        For a miss, how many kernels were compiled and how many came from memory or disk. All loops and branches of a
        program together are one kernel.
    disk : int
        How many of those that were reused came from disk.
    calls : int
        For ``"hits"``, how many calls were answered; for ``"clear"``, how many programs were dropped.
    time : float
        The time of the event, in seconds since the epoch.
    cell : NotebookCell
        The cell that was running; `where` is the place of the calling code, which may be another cell.
    identity : str
        Tells functions of one name apart; the same for all versions of a function.
    """

    kind: str
    function: str
    where: str = ""
    reason: tuple[str, ...] = ()
    rules: str = ""
    advice: str = ""
    notes: tuple[str, ...] = ()
    trace_ms: float = 0.0
    lower_ms: float = 0.0
    native_ms: float = 0.0
    origin: str = ""
    kernel: str = ""
    compiled: int = 0
    reused: int = 0
    disk: int = 0
    calls: int = 0
    time: float = field(default_factory=time.time)
    cell: NotebookCell = field(default_factory=lambda: stream.cell)
    identity: str = field(default="", compare=False, repr=False)

    @property
    def total_ms(self) -> float:
        """The milliseconds of all steps together."""
        return self.trace_ms + self.lower_ms + self.native_ms

    def __repr__(self) -> str:
        """The fields that say something, without those that are as they are where nothing is to be said."""
        told: dict[str, Any] = {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if each.repr and getattr(self, each.name) != each.default
        }
        if self.cell == NO_CELL or self.cell.name == self.where:
            del told["cell"]
        shown = [f"{name}={round(value, 3) if type(value) is float else value!r}" for name, value in told.items()]
        return f"Event({', '.join(shown)})"

    def __str__(self) -> str:
        kernels = ", ".join(self.kernels()) if self.kind == "miss" else ""
        told = [self.headline(), kernels, *self.reason, self.rules, self.advice, *self.notes]
        return "\n  ".join(filter(None, told))

    def headline(self) -> str:
        """What happened, where and how long it took, in one line."""
        where = f" ({self.where})" if self.where else ""
        if self.kind == "miss":
            return (
                f"{self.function} {self.verb}{where}: {duration(self.trace_ms)} trace, "
                f"{duration(self.lower_ms)} lowering, {duration(self.native_ms)} native"
            )
        if self.kind == "kernel":
            return f"{self.function}{where}: kernel {self.kernel} from {self.origin}, {duration(self.native_ms)}"
        return f"{self.function} {self.verb}{where}"

    @property
    def again(self) -> bool:
        """Whether this is a miss of a function that had been compiled before."""
        return self.kind == "miss" and self.reason[:1] != ("first call",)

    @property
    def verb(self) -> str:
        """What happened, in a word or two, such as ``compiled``."""
        if self.kind == "miss":
            if self.compiled:
                return "compiled again" if self.again else "compiled"
            return "loaded from disk" if self.disk else "traced"
        if self.kind == "clear":
            return f"was cleared of {counted(self.calls, 'program')}"
        if self.kind == "hits":
            return f"answered {counted(self.calls, 'call')} from the cache"
        return _VERBS.get(self.kind, self.kind)

    def kernels(self) -> list[str]:
        """How many kernels were compiled, and how many came from memory or disk, as text."""
        counts = [(self.compiled, "compiled"), (self.reused - self.disk, "from memory"), (self.disk, "from disk")]
        return [f"{counted(count, 'kernel')} {what}" for count, what in counts if count]


_VERBS = {
    "hit": "was answered from the cache",
    "error": "raised an error",
    "evict": "dropped a program",
}


class EventStream:
    """The events of this process, and the listeners that are called with new ones."""

    def __init__(self, kept: int = KEPT) -> None:
        self._records: deque[Event] = deque(maxlen=kept)
        self._listeners: tuple[tuple[Callable[[Event], None], bool], ...] = ()
        self._lock = fork_safety.rlock()
        #: The number of events recorded so far, which numbers them, and how often all were cleared.
        self.kept = self.cleared = 0
        #: The cell that is running, which events are recorded with.
        self.cell = NO_CELL
        #: Whether any listener wants hits; a plain attribute, as each call that hits reads it.
        self.listening = False

    def emit(self, event: Event) -> None:
        """Record an event and call the listeners; one that raises is dropped, so that no call fails for it.

        Hits go to listeners and are not recorded: they would push out what people look for later.
        """
        if event.kind != "hit":
            with self._lock:
                self._records.append(event)
                self.kept += 1
        for listener, hits in self._listeners:
            if event.kind == "hit" and not hits:
                continue
            try:
                listener(event)
            except Exception:
                self.unsubscribe(listener)

    def subscribe(self, listener: Callable[[Event], None], hits: bool = True) -> Callable[[], None]:
        """Call `listener` with each new event, or with all but hits; returns a function that ends it.

        While no listener wants hits, a call that hits makes no event and costs nothing more.
        """
        with self._lock:
            self._listen((*self._listeners, (listener, hits)))
        return lambda: self.unsubscribe(listener)

    def unsubscribe(self, listener: Callable[[Event], None]) -> None:
        """Call a listener no longer."""
        with self._lock:
            self._listen(tuple(known for known in self._listeners if known[0] != listener))

    def _listen(self, listeners: tuple[tuple[Callable[[Event], None], bool], ...]) -> None:
        self._listeners = listeners
        self.listening = any(hits for _, hits in listeners)

    def records(self, function: object = None, kind: str | None = None) -> list[Event]:
        """The recorded events, oldest first, of one function or name, and of one kind if given."""
        return [
            event
            for event in list(self._records)
            if (function is None or is_of(event, function)) and (kind is None or event.kind == kind)
        ]

    def since(self, number: int) -> list[tuple[int, Event]]:
        """The events after a number, oldest first, each with its number; numbers start at 1 and only grow."""
        with self._lock:
            new = min(max(self.kept - number, 0), len(self._records))
            latest = list(itertools.islice(reversed(self._records), new))
            return list(enumerate(reversed(latest), self.kept - new + 1))

    def clear(self) -> None:
        """Forget the recorded events; listeners stay."""
        with self._lock:
            self._records.clear()
            self.cleared += 1


def is_of(event: Event, function: object) -> bool:
    """Whether an event belongs to a definition, or to any function of a name.

    Parameters
    ----------
    event : Event
    function : definition or str
    """
    entry_group = getattr(function, "_entry_group", None)
    if entry_group is None:
        return event.function == getattr(function, "__name__", function)
    return event.identity == entry_group.identity


#: The stream of this process.
stream = EventStream()


def events(function: object = None, kind: str | None = None) -> list[Event]:
    """The events so far, oldest first: traces, cache hits and misses, compilations, errors, evictions.

    Parameters
    ----------
    function : str or definition, optional
        Only events of this definition, or of all functions of this name.
    kind : str, optional
        Only events of this kind: ``"miss"``, ``"kernel"``, ``"hits"``, ``"error"``, ``"evict"`` or ``"clear"``.

    Returns
    -------
    list of Event

    Examples
    --------
    >>> def seventh(t):
    ...     return t / 7
    >>> _ = nx.jit(seventh)(1.0)
    >>> [event.kind for event in events("seventh", "miss")]
    ['miss']
    """
    return stream.records(function, kind)
