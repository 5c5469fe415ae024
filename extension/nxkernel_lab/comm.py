"""The kernel's side of the panel in JupyterLab: what happened, in batches, as fast as each page takes them."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from nxkernel.defn.events import Event, stream

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from nxkernel_lab.clearing import Forget, Undo

#: What the comm is for, here and in lab/src/sessions.ts.
TARGET = "nxkernel"
#: Seconds between two batches during a cell, at the least, and how many times its own length a batch keeps still.
PAUSE = 0.25
REST = 20
#: A page that has left so many batches unanswered gets none until it speaks again: it may be gone.
UNANSWERED = 8


class Comm(Protocol):
    """What is asked of a comm."""

    def send(self, data: dict[str, Any]) -> None:
        """Send a message to the page."""

    def on_msg(self, callback: Callable[[dict[str, Any]], None]) -> None:
        """Say who hears the page."""

    def on_close(self, callback: Callable[[dict[str, Any]], None]) -> None:
        """Say who hears that the page has gone."""


@dataclass(frozen=True, slots=True)
class More:
    """Send what is new since the event of a number."""

    since: int


def read_request(content: object) -> More | Forget | Undo | None:
    """Understand what a page asks for.

    Parameters
    ----------
    content : object
        What came out of the comm: anything that JSON can say.

    Returns
    -------
    More or Forget or Undo or None
        None for what is not understood.

    Examples
    --------
    >>> read_request({"kind": "more", "since": 12})
    More(since=12)
    >>> read_request({"kind": "more", "since": -1})
    """
    from nxkernel_lab import clearing

    match content:
        case {"kind": "more", "since": int(since)} if type(since) is int and since >= 0:
            return More(since)
    return clearing.read_request(content)


@dataclass(slots=True, eq=False)
class Page:
    """A page that has opened the comm.

    Parameters
    ----------
    comm : Comm
    since : int
        The last event that was sent.
    unanswered : int
        How many batches were sent since it spoke.
    quiet_until : float
        When the next one may be sent during a cell.
    """

    comm: Comm
    since: int = 0
    unanswered: int = 0
    quiet_until: float = 0.0


def latest(since: int) -> dict[str, Any]:
    """What there is to tell after an event; see :func:`nxkernel_lab.history.snapshot`."""
    # What looks into the caches brings the compiler with it: `%load_ext nxkernel` does not wait for that.
    from nxkernel_lab import history

    return history.snapshot(since)


class Desk:
    """Tells pages what happens in this process, and does what they ask for.

    A page asks for more when it has drawn what it got, and gets it when there is more. Kernels without subshells hear
    nobody during a cell: they send on, with pauses that double until they are answered, and at the cell's end. Others
    hear pages in a thread of their own.

    Parameters
    ----------
    snapshot : callable, optional
        Takes the number of the last event known, and gives what to send.
    clock : callable, optional
        Seconds that only go forward.
    """

    def __init__(
        self,
        snapshot: Callable[[int], dict[str, Any]] = latest,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._snapshot, self._clock = snapshot, clock
        self._pages: list[Page] = []
        self._lock = threading.RLock()
        self._sending = False

    def opened(self, comm: Comm, _message: dict[str, Any]) -> None:
        """A page has opened a comm: it gets what is remembered."""
        page = Page(comm)
        comm.on_msg(lambda message: self._receive(page, message))
        comm.on_close(lambda message: self._gone(page))
        with self._lock:
            self._pages.append(page)
            self._send(page)

    def hear(self, event: Event) -> None:
        """Something happened: tell pages that are not to be left in peace for now."""
        # Other threads than that of cells leave it to the end of the cell, and so do calls while a page is answered.
        if event.kind == "kernel" or threading.current_thread() is not threading.main_thread():
            return
        if not self._lock.acquire(blocking=False):
            return
        try:
            now = self._clock()
            for page in list(self._pages):
                if not self._sending and now >= page.quiet_until and page.unanswered < UNANSWERED:
                    self._send(page)
        finally:
            self._lock.release()

    def end_cell(self, _result: object = None) -> None:
        """A cell has ended: tell what was not told yet."""
        with self._lock:
            for page in list(self._pages):
                if page.since != stream.kept and page.unanswered < UNANSWERED:
                    self._send(page)

    def _receive(self, page: Page, message: dict[str, Any]) -> None:
        request = read_request(message.get("content", {}).get("data"))
        if request is None:
            return
        from nxkernel_lab import clearing

        with self._lock:
            page.unanswered = 0
            if isinstance(request, More):
                page.quiet_until = min(page.quiet_until, self._clock() + PAUSE)
                page.since = min(request.since, stream.kept)
                if page.since != stream.kept:
                    self._send(page)
                return
            page.comm.send({"kind": "done", **clearing.clearing.perform(request)})
            for each in list(self._pages):
                self._send(each)

    def _send(self, page: Page) -> None:
        begin, self._sending = self._clock(), True
        # A page that cannot be told must not take the cell with it.
        try:
            news = self._snapshot(page.since)
            page.comm.send({"kind": "news", **news})
        except Exception:
            logging.getLogger(__name__).warning("a page of JupyterLab could not be told any more", exc_info=True)
            self._gone(page)
            return
        finally:
            self._sending = False
        page.since = news["last"]
        end = self._clock()
        page.quiet_until = end + max(PAUSE, REST * (end - begin)) * 2**page.unanswered
        page.unanswered += 1

    def _gone(self, page: Page) -> None:
        if page in self._pages:
            self._pages.remove(page)


def install(shell: InteractiveShell) -> Callable[[], None]:
    """Let pages open a comm to a shell's kernel; the function that is returned ends that.

    Nothing is sent to pages that do not ask, so that nothing is missed where there is no panel.

    Parameters
    ----------
    shell : InteractiveShell
        Whose cells' ends are waited for. One that is no kernel's has no pages.

    Returns
    -------
    callable
    """
    if getattr(shell, "kernel", None) is None:
        return lambda: None
    from comm import create_comm, get_comm_manager

    manager, desk = get_comm_manager(), Desk()
    manager.register_target(TARGET, desk.opened)
    # Pages look for a comm of this target; this one was never opened by a message, and nobody is at its other end.
    sign = create_comm(target_name=TARGET, primary=False)
    manager.register_comm(sign)
    stop = stream.subscribe(desk.hear, hits=False)
    shell.events.register("post_run_cell", desk.end_cell)

    def remove() -> None:
        shell.events.unregister("post_run_cell", desk.end_cell)
        stop()
        manager.unregister_comm(sign)
        manager.unregister_target(TARGET, desk.opened)

    return remove
