"""The timeline: a widget that shows what was compiled and why, what it cost, and what the caches hold, live."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakMethod

import anywidget
import traitlets
from IPython.core.getipython import get_ipython

from nxkernel.defn.events import Event, stream
from nxkernel_lab import clearing
from nxkernel_lab.history import of_function, snapshot
from nxkernel_lab.listing import timeline_text

_HERE = Path(__file__).parent
#: The views that it has.
PAGES = ("timeline", "functions", "cells", "caches")
#: How many events a widget begins with, and how many are in the text that stands where no widget can.
FIRST, TOLD = 200, 20
#: Seconds between two updates during a cell, at the least, and how many times its own length an update keeps still.
PAUSE, REST = 0.2, 20


@dataclass(frozen=True, slots=True)
class Open:
    """A view of the widget has appeared on a page, which knows the events up to a number."""

    view: str
    since: int


@dataclass(frozen=True, slots=True)
class Close:
    """A view has gone."""

    view: str


def read_message(content: object) -> Open | Close | clearing.Forget | clearing.Undo | None:
    """Understand what a page sent.

    Parameters
    ----------
    content : object
        What came out of the comm: anything that JSON can say.

    Returns
    -------
    Open, Close, Forget, Undo or None
        None for what is not understood.

    Examples
    --------
    >>> read_message({"kind": "open", "view": "v1", "since": 12})
    Open(view='v1', since=12)
    >>> read_message({"kind": "open", "view": "v1", "since": "12"})
    """
    match content:
        case {"kind": "open", "view": str(view), "since": int(since)} if type(since) is int and since >= 0:
            return Open(view, since)
        case {"kind": "close", "view": str(view)}:
            return Close(view)
    return clearing.read_request(content)


class Timeline(anywidget.AnyWidget):
    """What happened in this process, cell by cell, the sums of it, and the caches; a text where no widget can live.

    Parameters
    ----------
    page : str, optional
        What it shows first: ``"timeline"``, ``"functions"``, ``"cells"`` or ``"caches"``.
    function : str, optional
        The name of the only function to show; the reader can choose others.
    """

    _esm = "\n".join((_HERE / name).read_text("utf-8") for name in ("elements.js", "timeline.js"))
    _css = (_HERE / "timeline.css").read_text("utf-8")

    state = traitlets.Dict().tag(sync=True)
    page = traitlets.Enum(PAGES, "timeline").tag(sync=True)
    function = traitlets.Unicode().tag(sync=True)

    def __init__(self, page: str = "timeline", function: str = "") -> None:
        self._views: set[str] = set()
        self._stop: Callable[[], None] | None = None
        self._quiet_until = 0.0
        super().__init__(page=page, function=function, state=snapshot(limit=FIRST))
        self._last = self.state["last"]
        self.on_msg(self._receive)

    def close(self) -> None:
        """Take the widget off the page, and stop following events."""
        self._rest()
        super().close()

    def _follow(self) -> None:
        if self._stop is not None:
            return
        # Held weakly: a widget that nobody has any more does not stay for the sake of its events.
        hear, end, shell = WeakMethod(self._hear), WeakMethod(self._end_cell), get_ipython()

        def on_event(event: Event) -> None:
            if (call := hear()) is not None:
                call(event)

        def on_end(result: object) -> None:
            if (call := end()) is not None:
                call(result)

        stop = stream.subscribe(on_event, hits=False)
        if shell is not None:
            shell.events.register("post_run_cell", on_end)

        def rest() -> None:
            stop()
            if shell is not None:
                shell.events.unregister("post_run_cell", on_end)

        self._stop = rest

    def _rest(self) -> None:
        if self._stop is not None:
            self._stop()
            self._stop = None

    def _hear(self, event: Event) -> None:
        if event.kind == "kernel" or time.perf_counter() < self._quiet_until:
            return
        # Other threads leave it to the end of the cell: a widget is updated from the thread that made it.
        if threading.current_thread() is threading.main_thread():
            self._tell()

    def _end_cell(self, _result: object) -> None:
        if stream.kept != self._last:
            self._tell()

    def _tell(self) -> None:
        begin = time.perf_counter()
        self._last = self._send_news("", self._last)
        end = time.perf_counter()
        self._quiet_until = end + max(PAUSE, REST * (end - begin))

    def _send_news(self, view: str, since: int) -> int:
        news = snapshot(since)
        self.send({"kind": "news", "view": view, "data": news})
        return news["last"]

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        match read_message(content):
            case Open(view, since):
                self._views.add(view)
                self._follow()
                self._send_news(view, since)
            case Close(view):
                self._views.discard(view)
                if not self._views:
                    self._rest()
            case clearing.Forget() | clearing.Undo() as request:
                self.send({"kind": "done", "view": "", **clearing.clearing.perform(request)})
                self._tell()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        told = of_function(self.function, TOLD) if self.function else snapshot(limit=TOLD)
        return {**data, "text/plain": timeline_text(told, times=False)}, metadata
