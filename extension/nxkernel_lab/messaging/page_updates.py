"""Sends events to the connected pages, each as fast as it acknowledges them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nxkernel.definitions.observe.events import NO_CELL, stream
from nxkernel_lab.messaging.limits import LONGEST
from nxkernel_lab.records import cache_clearing
from nxkernel_lab.records.cache_clearing import ClearRequest, UndoRequest
from nxkernel_lab.records.event_follower import EventFollower, PaceLimit
from nxkernel_lab.records.view_data import snapshot

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

#: A page that has left so many batches unanswered gets none until it speaks again: it may be gone.
UNANSWERED = 8


@dataclass(frozen=True, slots=True)
class EventsRequest:
    """Request for events newer than `since`."""

    since: int
    view: str = ""


def read_request(content: object) -> EventsRequest | ClearRequest | UndoRequest | None:
    """Parse a request from a page.

    Parameters
    ----------
    content : object
        What came out of a comm: anything that JSON can say.

    Returns
    -------
    EventsRequest or ClearRequest or UndoRequest or None
        None for what is not understood.

    Examples
    --------
    >>> read_request({"kind": "more", "since": 12})
    EventsRequest(since=12, view='')
    >>> read_request({"kind": "more", "since": -1})
    """
    match content:
        case {"kind": "more", "since": int(since), **rest} if type(since) is int and since >= 0:
            view = rest.get("view", "")
            return EventsRequest(since, view) if type(view) is str and len(view) <= LONGEST else None
    return cache_clearing.read_request(content)


class Page:
    """A connected page that receives events.

    It asks for more when it has drawn what it got, and gets it when there is more. Kernels without subshells hear
    nobody during a cell: they send on, with pauses that double until they are answered, and at the cell's end. Others
    hear pages in a thread of their own.

    Parameters
    ----------
    send : callable
        Takes a message to the page.
    since : int
        The last event that the page knows.
    shell : InteractiveShell, optional
        Whose cells' ends are waited for.
    snapshot : callable, optional
        Takes the number of the last event known, and gives what to send.
    clock : callable, optional
        Seconds that only go forward.
    """

    def __init__(
        self,
        send: Callable[[dict[str, Any]], None],
        since: int,
        shell: InteractiveShell | None = None,
        snapshot: Callable[[int], dict[str, Any]] = snapshot,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._send, self._since, self._snapshot = send, min(since, stream.kept), snapshot
        self._unanswered, self._stale = 0, True
        self._pace = PaceLimit(clock=clock)
        self._follower = EventFollower(self._look, shell, self._pace)
        self._follower.start()
        self._follower.tell()

    @property
    def following(self) -> bool:
        """Whether it still receives events."""
        return self._follower.running

    def more(self, since: int) -> None:
        """The page has drawn the events up to `since` and is ready for more."""
        with self._follower.lock:
            self._unanswered, self._pace.factor = 0, 1
            self._since = min(since, stream.kept)
        self._follower.start()
        if self._since != stream.kept and (stream.cell == NO_CELL or self._pace.ready()):
            self._follower.tell()

    def refresh(self) -> None:
        """Send the current state, whether or not there are new events."""
        self._stale = True
        self._follower.tell()

    def close(self) -> None:
        """Disconnect the page."""
        self._follower.stop()

    def _look(self) -> None:
        if not self._stale and self._since == stream.kept:
            return
        news = self._snapshot(self._since)
        self._send({"kind": "news", **news})
        self._since, self._stale = news["last"], False
        self._pace.factor = 2**self._unanswered
        self._unanswered += 1
        if self._unanswered == UNANSWERED:
            self._follower.stop()


class PageHub:
    """The connected pages, and the requests that they may send.

    Parameters
    ----------
    shell : InteractiveShell, optional
        Whose cells' ends are waited for.
    snapshot, clock : callable, optional
        As those of a :class:`Page`.
    """

    def __init__(
        self,
        shell: InteractiveShell | None = None,
        snapshot: Callable[[int], dict[str, Any]] = snapshot,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shell, self._snapshot, self._clock = shell, snapshot, clock
        self._pages: list[Page] = []

    def open(self, send: Callable[[dict[str, Any]], None], since: int = 0) -> Page:
        """Connect a page that knows the events up to `since`."""
        page = Page(send, since, self._shell, self._snapshot, self._clock)
        # Those that left without a word have stopped following; one that only was slow comes back when it speaks.
        self._pages = [*(each for each in self._pages if each.following), page]
        return page

    def more(self, page: Page, since: int) -> None:
        """A page has drawn the events up to `since` and is ready for more."""
        if page not in self._pages:
            self._pages.append(page)
        page.more(since)

    def close(self, page: Page) -> None:
        """Disconnect a page."""
        page.close()
        self._pages = [each for each in self._pages if each is not page]

    def close_all(self) -> None:
        """Disconnect all pages."""
        for page in self._pages:
            self.close(page)

    def clear(self, request: ClearRequest | UndoRequest, send: Callable[[dict[str, Any]], None]) -> None:
        """Carry out a clear or undo request, report the outcome, and refresh all pages."""
        send({"kind": "done", **cache_clearing.clearing.perform(request)})
        for page in self._pages:
            if page.following:
                page.refresh()
