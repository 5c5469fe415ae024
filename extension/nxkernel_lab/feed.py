"""The live list of what happened to one definition, at a cost that stays out of the way of its calls."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

from nxkernel.defn.events import Event, stream
from nxkernel.defn.report import CacheInfo
from nxkernel_lab.wording import count, duration

#: How many rows are kept for display.
ROWS = 100
#: Seconds between two updates during a cell, at the least, and how many times its own length an update keeps still.
PAUSE = 0.1
REST = 20


class Feed:
    """The events of one definition, told to a widget when there is something new.

    Events are told while a cell runs, with pauses, and at its end, when the counts of calls are read too: a call that
    is answered from the cache costs nothing here.

    Parameters
    ----------
    definition : definition
        Whose events to follow.
    tell : bound method
        Called without arguments when something is new. It is held weakly: the feed ends with its owner.
    shell : InteractiveShell, optional
        Whose cells' ends are waited for.
    """

    def __init__(self, definition: Any, tell: Callable[[], None], shell: Any = None) -> None:
        self._definition, self._tell, self._shell = definition, WeakMethod(tell), shell
        self._stop: Callable[[], None] | None = None
        self._rows: deque[dict[str, Any]] = deque(maxlen=ROWS)
        self._seen: CacheInfo | None = None
        self._new = False
        self._quiet_until = 0.0

    @property
    def running(self) -> bool:
        """Whether it listens."""
        return self._stop is not None

    def start(self) -> None:
        """Listen from now on; what happened before is read from the stream's memory."""
        if self.running:
            return
        self._rows.clear()
        self._rows.extend(row(event) for event in stream.records(self._definition.__name__) if _shown(event))
        self._stop = stream.subscribe(self._hear, hits=False)
        if self._shell is not None:
            self._shell.events.register("post_run_cell", self._after_cell)
        self._update()

    def stop(self) -> None:
        """Listen no longer."""
        if self._stop is None:
            return
        self._stop()
        self._stop = None
        if self._shell is not None:
            self._shell.events.unregister("post_run_cell", self._after_cell)

    def rows(self) -> list[dict[str, Any]]:
        """The latest events as rows for display, oldest first."""
        return list(self._rows)

    def counts(self) -> str:
        """How the definition's calls were answered, in one line."""
        return counts_line(self._definition.cache_info())

    def _hear(self, event: Event) -> None:
        if not _shown(event) or event.function != self._definition.__name__:
            return
        self._rows.append(row(event))
        self._new = True
        # Other threads leave it to the end of the cell: a widget is updated from the thread that made it.
        if time.perf_counter() >= self._quiet_until and threading.current_thread() is threading.main_thread():
            self._update()

    def _after_cell(self, _result: object) -> None:
        if self._new or self._definition.cache_info() != self._seen:
            self._update()

    def _update(self) -> None:
        tell = self._tell()
        if tell is None:
            self.stop()
            return
        start = time.perf_counter()
        self._new, self._seen = False, self._definition.cache_info()
        tell()
        end = time.perf_counter()
        self._quiet_until = end + max(PAUSE, REST * (end - start))


def _shown(event: Event) -> bool:
    return event.kind not in ("hit", "hits", "kernel")


_WORDS = {"error": "error", "evict": "forgotten", "clear": "cleared"}


def row(event: Event) -> dict[str, Any]:
    """An event as the widget lists it.

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
        "why": "; ".join(why),
        "advice": event.advice,
        "notes": "; ".join(event.notes),
    }


def counts_line(info: CacheInfo) -> str:
    """What the caches answered, in one line.

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
    calls = f"{count(info.hits, 'call')} answered from the cache, {info.misses} traced"
    kernels = f"kernels: {info.compiled} compiled, {info.memory} from memory, {info.disk} from disk"
    return f"{calls} · {kernels} · {count(info.entries, 'program')} kept"
