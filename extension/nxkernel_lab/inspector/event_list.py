"""The live list of a definition's events, and its cache statistics."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from nxkernel.definitions.calls.graph_cache import CacheInfo
from nxkernel.definitions.observe.events import Event, is_of, stream
from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import duration
from nxkernel_lab.records.event_follower import EventFollower

#: How many rows are kept for display.
ROWS = 100


class EventFeed:
    """The events of one definition, sent to a widget as they happen.

    Parameters
    ----------
    definition : definition
        Whose events to follow.
    tell : callable
        Called without arguments when something is new.
    shell : InteractiveShell, optional
        Whose cells' ends are waited for.
    """

    def __init__(self, definition: Any, notify: Callable[[], None], shell: Any = None) -> None:
        self._definition, self._tell = definition, notify
        self._rows: deque[dict[str, Any]] = deque(maxlen=ROWS)
        self._last = 0
        self._seen: CacheInfo | None = None
        self._follower = EventFollower(self._look, shell, wanted=lambda event: _is_shown(event, definition))

    @property
    def running(self) -> bool:
        """Whether it is subscribed."""
        return self._follower.running

    def start(self) -> None:
        """Subscribe to new events; earlier ones are read from the stream's memory."""
        if self.running:
            return
        self._rows.clear()
        self._last, self._seen = 0, None
        self._follower.start()
        self._follower.tell()

    def stop(self) -> None:
        """Unsubscribe."""
        self._follower.stop()

    def rows(self) -> list[dict[str, Any]]:
        """The latest events as rows for display, oldest first."""
        if self.running:
            self._read()
        return list(self._rows)

    def counts(self) -> str:
        """The definition's cache statistics, in one line."""
        return counts_line(self._definition.cache_info())

    def _look(self) -> None:
        new, counts = self._read(), self._definition.cache_info()
        if new or counts != self._seen:
            self._seen = counts
            self._tell()

    def _read(self) -> bool:
        """Read new events from the stream; returns whether there were any."""
        news = stream.since(self._last)
        if news:
            self._last = news[-1][0]
        new = [row(event) for _, event in news if _is_shown(event, self._definition)]
        self._rows.extend(new)
        return bool(new)


def _is_shown(event: Event, definition: Any) -> bool:
    return event.kind not in ("hit", "hits", "kernel") and is_of(event, definition)


_WORDS = {"error": "error", "evict": "forgotten", "clear": "cleared"}


def row(event: Event) -> dict[str, Any]:
    """An event as a row of the list.

    Parameters
    ----------
    event : Event
        A miss, an error, an eviction or a clearing.

    Returns
    -------
    dict
        ``time`` in seconds since the epoch, and the texts ``where``, ``what``, ``spent``, ``why``, ``advice`` and
        ``notes``.
    """
    what = event.verb if event.kind == "miss" else _WORDS.get(event.kind, event.kind)
    why = [*event.reason, *event.kernels()]
    return {
        "time": event.time,
        "where": event.where,
        "what": what,
        "spent": duration(event.total_ms) if event.total_ms else "",
        # An error is shown in the lines that it has.
        "why": ("\n" if event.kind == "error" else "; ").join(why),
        "advice": event.advice,
        "notes": "; ".join(event.notes),
    }


def counts_line(info: CacheInfo) -> str:
    """Cache statistics in one line.

    Parameters
    ----------
    info : CacheInfo
        A definition's counts.

    Returns
    -------
    str

    Examples
    --------
    >>> counts_line(CacheInfo(hits=12, misses=2, compiled=1, memory=1, disk=0, entries=2))
    '12 calls answered from the cache, 2 traced · kernels: 1 compiled, 1 from memory, 0 from disk · 2 programs kept'
    """
    calls = f"{counted(info.hits, 'call')} answered from the cache, {info.misses} traced"
    kernels = f"kernels: {info.compiled} compiled, {info.memory} from memory, {info.disk} from disk"
    return f"{calls} · {kernels} · {counted(info.entries, 'program')} kept"
