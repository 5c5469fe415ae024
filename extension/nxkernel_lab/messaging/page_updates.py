"""The desk at which pages hear what happens in this process, each as fast as it takes it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nxkernel.definitions.observe.events import NO_CELL, stream
from nxkernel_lab.messaging.limits import LONGEST
from nxkernel_lab.records import cache_clearing
from nxkernel_lab.records.cache_clearing import Forget, Undo
from nxkernel_lab.records.event_follower import Follower, Pace
from nxkernel_lab.records.view_data import snapshot

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

#: A page that has left so many batches unanswered gets none until it speaks again: it may be gone.
UNANSWERED = 8


@dataclass(frozen=True, slots=True)
class More:
    """Send what is new since the event of a number, to a view on the page if it has several."""

    since: int
    view: str = ""


def read_request(content: object) -> More | Forget | Undo | None:
    """Understand what a page asks for.

    Parameters
    ----------
    content : object
        What came out of a comm: anything that JSON can say.

    Returns
    -------
    More or Forget or Undo or None
        None for what is not understood.

    Examples
    --------
    >>> read_request({"kind": "more", "since": 12})
    More(since=12, view='')
    >>> read_request({"kind": "more", "since": -1})
    """
    match content:
        case {"kind": "more", "since": int(since), **rest} if type(since) is int and since >= 0:
            view = rest.get("view", "")
            return More(since, view) if type(view) is str and len(view) <= LONGEST else None
    return cache_clearing.read_request(content)


class Page:
    """One that is told what is new.

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
        self._pace = Pace(clock=clock)
        self._follower = Follower(self._look, shell, self._pace)
        self._follower.start()
        self._follower.tell()

    @property
    def following(self) -> bool:
        """Whether it is told what happens."""
        return self._follower.running

    def more(self, since: int) -> None:
        """The page has drawn what it got, up to an event."""
        with self._follower.lock:
            self._unanswered, self._pace.factor = 0, 1
            self._since = min(since, stream.kept)
        self._follower.start()
        if self._since != stream.kept and (stream.cell == NO_CELL or self._pace.ready()):
            self._follower.tell()

    def refresh(self) -> None:
        """Tell it how things are, whether something happened or not."""
        self._stale = True
        self._follower.tell()

    def close(self) -> None:
        """The page has gone."""
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


class Desk:
    """The pages that are told, and what they may ask for.

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
        """A page has come, which knows the events up to one: it gets what it lacks."""
        page = Page(send, since, self._shell, self._snapshot, self._clock)
        # Those that left without a word have stopped following; one that only was slow comes back when it speaks.
        self._pages = [*(each for each in self._pages if each.following), page]
        return page

    def more(self, page: Page, since: int) -> None:
        """A page has drawn what it got, up to an event."""
        if page not in self._pages:
            self._pages.append(page)
        page.more(since)

    def close(self, page: Page) -> None:
        """A page has gone."""
        page.close()
        self._pages = [each for each in self._pages if each is not page]

    def close_all(self) -> None:
        """All pages have gone."""
        for page in self._pages:
            self.close(page)

    def clear(self, request: Forget | Undo, send: Callable[[dict[str, Any]], None]) -> None:
        """Do what a page asks for, say what became of it, and tell all pages."""
        send({"kind": "done", **cache_clearing.clearing.perform(request)})
        for page in self._pages:
            if page.following:
                page.refresh()
