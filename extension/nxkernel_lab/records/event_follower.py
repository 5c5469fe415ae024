"""Follows the event stream at low cost: at intervals during a cell, and at its end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakMethod

from nxkernel import fork_safety
from nxkernel.definitions.observe.events import NO_CELL, Event, stream

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

#: Seconds between two looks during a cell, at the least, and how many times its own length is waited after one.
PAUSE, REST = 0.25, 60


class PaceLimit:
    """Limits the share of time that a repeated task takes.

    Parameters
    ----------
    pause : float, optional
        Seconds between two rounds, at the least.
    rest : float, optional
        How many times its own length is waited after a round.
    clock : callable, optional
        Seconds that only go forward.
    """

    def __init__(self, pause: float = PAUSE, rest: float = REST, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause, self._rest, self._clock = pause, rest, clock
        self._ended, self._still = float("-inf"), 0.0
        #: How many times longer than usual is waited.
        self.factor = 1

    def ready(self) -> bool:
        """Whether the next round may start."""
        return self._clock() >= self._ended + self._still * self.factor

    @contextmanager
    def round(self) -> Iterator[None]:
        """Context manager: measure one round."""
        begin = self._clock()
        try:
            yield
        finally:
            self._ended = self._clock()
            self._still = max(self._pause, self._rest * (self._ended - begin))

    def reset(self) -> None:
        """Allow the next round at once."""
        self._ended = float("-inf")


class EventFollower:
    """Calls a function when there are new events.

    That is during a cell, with pauses, and at its end, when the counts of calls are known too: a call that is answered
    from the cache costs nothing here.

    Parameters
    ----------
    look : bound method
        Called without arguments when something may be new. It is held weakly: following ends with its owner. It ends
        with an error of its own, too, which is logged, so that no cell fails for it.
    shell : InteractiveShell, optional
        Whose cells' ends are waited for.
    pace : PaceLimit, optional
        How often it looks during a cell.
    wanted : callable, optional
        Tells of an event whether it is worth a look.
    """

    def __init__(
        self,
        look: Callable[[], None],
        shell: InteractiveShell | None = None,
        pace: PaceLimit | None = None,
        wanted: Callable[[Event], bool] = lambda event: event.kind != "kernel",
    ) -> None:
        self._look, self._shell, self._wanted = WeakMethod(look), shell, wanted
        self._pace = PaceLimit() if pace is None else pace
        self._stop: Callable[[], None] | None = None
        #: Held during a look: pages are heard in threads of their own where kernels have subshells.
        self.lock = fork_safety.lock()
        # The page's connection is that of this process.
        fork_safety.in_child(self.stop)

    @property
    def running(self) -> bool:
        """Whether it is following."""
        return self._stop is not None

    def start(self) -> None:
        """Start following; a forked process does not follow."""
        if self.running:
            return
        self._stop = stream.subscribe(self._hear, hits=False)
        if self._shell is not None:
            self._shell.events.register("post_run_cell", self._end_cell)

    def stop(self) -> None:
        """Stop following."""
        if self._stop is None:
            return
        stop, self._stop = self._stop, None
        stop()
        if self._shell is not None:
            self._shell.events.unregister("post_run_cell", self._end_cell)

    def tell(self) -> None:
        """Call the function now."""
        with self.lock:
            self._tell()

    def _hear(self, event: Event) -> None:
        if not self._wanted(event) or not self._pace.ready():
            return
        # During a cell, other threads leave it to that of the cell, or to its end.
        if stream.cell != NO_CELL and threading.current_thread() is not threading.main_thread():
            return
        # What happens during a look, and because of it, is no reason for another.
        if self.lock.acquire(blocking=False):
            try:
                self._tell()
            finally:
                self.lock.release()

    def _end_cell(self, _result: object) -> None:
        self.tell()

    def _tell(self) -> None:
        look = self._look()
        if look is None:
            self.stop()
            return
        try:
            with self._pace.round():
                look()
        except Exception:
            self.stop()
            logging.getLogger(__name__).warning("a view of nxkernel shows nothing new any more", exc_info=True)
