"""The stream of what happens: one immutable record for each trace, hit, miss, kernel, error and eviction.

Widgets, magics, logs, tests and ``f.why`` read this one stream. A hit is only counted, by the definition itself, unless
somebody listens.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from nxkernel.wording import counted

#: How many records are kept; older ones are forgotten.
KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Parameters
    ----------
    kind : str
        ``"hit"`` (a call answered by the graph cache), ``"miss"`` (a call that was traced and made into a program),
        ``"kernel"`` (one kernel of that program), ``"error"`` (a trace, compilation or run that raised), ``"evict"``.
    function : str
        The definition's name.
    where : str
        The notebook cell or file and line that called, such as ``"cell 7"``.
    reason : tuple of str
        For a miss, why: the lines of difference from the closest earlier key, or ``("first call",)``.
    advice : str
        What the person could change, when there is something.
    notes : tuple of str
        For a miss, how the function was traced where that may surprise, such as loops that were written out.
    trace_ms, lower_ms, native_ms : float
        Milliseconds spent tracing, making loop nests out of the graph, and getting native code.
    origin : str
        For a kernel: ``"compiled"``, ``"memory"`` or ``"disk"``.
    kernel : str
        For a kernel, its symbol.
    compiled, reused : int
        For a miss, how many kernels were compiled and how many came from memory or disk.
    time : float
        When, in seconds since the epoch.
    """

    kind: str
    function: str
    where: str = ""
    reason: tuple[str, ...] = ()
    advice: str = ""
    notes: tuple[str, ...] = ()
    trace_ms: float = 0.0
    lower_ms: float = 0.0
    native_ms: float = 0.0
    origin: str = ""
    kernel: str = ""
    compiled: int = 0
    reused: int = 0
    time: float = field(default_factory=time.time)

    @property
    def total_ms(self) -> float:
        """Milliseconds for everything that the record covers."""
        return self.trace_ms + self.lower_ms + self.native_ms

    def __str__(self) -> str:
        return "\n  ".join([self.headline(), *self.reason, *([self.advice] if self.advice else []), *self.notes])

    def headline(self) -> str:
        """What happened, where and for how long, in one line."""
        where = f" ({self.where})" if self.where else ""
        if self.kind == "miss":
            first = self.reason[:1] == ("first call",)
            verb = ("compiled" if first else "compiled again") if self.compiled else "traced"
            return (
                f"{self.function} {verb}{where}: {self.trace_ms:.1f} ms trace, {self.lower_ms:.1f} ms lowering, "
                f"{self.native_ms:.1f} ms native{self._kernels()}"
            )
        if self.kind == "kernel":
            return f"{self.function}{where}: kernel {self.kernel} from {self.origin}, {self.native_ms:.1f} ms"
        return f"{self.function} {_VERBS.get(self.kind, self.kind)}{where}"

    def _kernels(self) -> str:
        counts = [(self.compiled, "compiled"), (self.reused, "reused")]
        shown = [f"{counted(count, 'kernel')} {what}" for count, what in counts if count]
        return f"; {', '.join(shown)}" if shown else ""


_VERBS = {"hit": "was answered from the cache", "error": "raised an error", "evict": "dropped a program"}


class Stream:
    """The records of this process, and who listens to them."""

    def __init__(self, kept: int = KEPT) -> None:
        self._records: deque[Event] = deque(maxlen=kept)
        self._listeners: tuple[tuple[Callable[[Event], None], bool], ...] = ()
        self._lock = threading.Lock()
        #: Whether anybody wants to be told of hits; a plain attribute, as each call that hits asks for it.
        self.listening = False

    def emit(self, event: Event) -> None:
        """Keep a record and tell the listeners; a listener that raises is dropped, so that no call fails for it.

        Hits are told and not kept: they would push out what people look for later.
        """
        if event.kind != "hit":
            self._records.append(event)
        for listener, hits in self._listeners:
            if event.kind == "hit" and not hits:
                continue
            try:
                listener(event)
            except Exception:
                self.unsubscribe(listener)

    def subscribe(self, listener: Callable[[Event], None], hits: bool = True) -> Callable[[], None]:
        """Call `listener` with each event from now on, or with all but hits; the function that is returned ends that.

        While no listener wants hits, a call that hits makes no record and costs what it costs alone.
        """
        with self._lock:
            self._listen((*self._listeners, (listener, hits)))
        return lambda: self.unsubscribe(listener)

    def unsubscribe(self, listener: Callable[[Event], None]) -> None:
        """Stop telling a listener."""
        with self._lock:
            self._listen(tuple(known for known in self._listeners if known[0] != listener))

    def _listen(self, listeners: tuple[tuple[Callable[[Event], None], bool], ...]) -> None:
        self._listeners = listeners
        self.listening = any(hits for _, hits in listeners)

    def records(self, function: str | None = None, kind: str | None = None) -> list[Event]:
        """The records kept, oldest first, of one function or kind if given."""
        return [
            event
            for event in list(self._records)
            if (function is None or event.function == function) and (kind is None or event.kind == kind)
        ]

    def clear(self) -> None:
        """Forget the records; listeners stay."""
        self._records.clear()


#: The stream of this process.
stream = Stream()


def events(function: object = None, kind: str | None = None) -> list[Event]:
    """What happened so far, oldest first.

    Parameters
    ----------
    function : str or definition, optional
        Only of this one.
    kind : str, optional
        Only of this kind: ``"miss"``, ``"kernel"``, ``"hit"``, ``"error"`` or ``"evict"``.

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
    name = getattr(function, "__name__", function)
    return stream.records(name, kind)
