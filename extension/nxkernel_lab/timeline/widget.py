"""The timeline: a widget of compilations with reasons and costs, and of cache contents, live."""

from __future__ import annotations

from functools import partial
from typing import Any

import anywidget
import traitlets
from IPython.core.getipython import get_ipython

from nxkernel_lab.messaging.comm import hear
from nxkernel_lab.messaging.limits import VIEWS
from nxkernel_lab.messaging.page_requests import CloseView, unharmed
from nxkernel_lab.messaging.page_updates import EventsRequest, Page, PageHub, read_request
from nxkernel_lab.messaging.static_twins import Bundle, with_twins
from nxkernel_lab.messaging.widget_replacement import ReplaceableWidget
from nxkernel_lab.records.cache_clearing import ClearRequest, UndoRequest
from nxkernel_lab.records.view_data import of_function, snapshot
from nxkernel_lab.static_files import script, style
from nxkernel_lab.timeline.html_tables import caches_table, timeline_table
from nxkernel_lab.timeline.text import programs_text, timeline_text

#: The views that it has.
PAGES = ("timeline", "functions", "cells", "caches", "device")
#: How many events a widget begins with, and how many are in the text that stands where no widget can.
FIRST, TOLD = 200, 20


def read_message(content: object) -> EventsRequest | CloseView | ClearRequest | UndoRequest | None:
    """Parse a message from a page.

    Parameters
    ----------
    content : object
        What came out of the comm: anything that JSON can say.

    Returns
    -------
    EventsRequest, CloseView, ClearRequest, UndoRequest or None
        None for what is not understood.

    Examples
    --------
    >>> read_message({"kind": "more", "view": "v1", "since": 12})
    EventsRequest(since=12, view='v1')
    >>> read_message({"kind": "more", "view": "v1", "since": "12"})
    """
    match content:
        case {"kind": "close", "view": str(view)}:
            return CloseView(view)
    return read_request(content)


class Timeline(ReplaceableWidget, anywidget.AnyWidget):
    """Events by cell, sums of costs, and caches, as a widget; as text where there are no widgets.

    Parameters
    ----------
    page : str, optional
        What it shows first: ``"timeline"``, ``"functions"``, ``"cells"``, ``"caches"`` or ``"device"``.
    function : str, optional
        The name of the only function to show; the reader can choose others.
    """

    _esm = script("timeline_widget.js")
    _css = style("palette.css", "timeline.css")

    state = traitlets.Dict().tag(sync=True)
    page = traitlets.Enum(PAGES, "timeline").tag(sync=True)
    function = traitlets.Unicode().tag(sync=True)

    def __init__(self, page: str = "timeline", function: str = "") -> None:
        self._desk = PageHub(get_ipython(), snapshot)
        self._views: dict[str, Page] = {}
        super().__init__(page=page, function=function, state=snapshot(limit=FIRST))
        hear(self.comm, self._handle_msg)
        self.on_msg(self._receive)
        self.settle()

    def close(self) -> None:
        """Remove the widget and stop following events."""
        self._desk.close_all()
        super().close()

    def is_shown(self) -> bool:
        """Whether a page shows it, as far as pages report it."""
        return any(page.following for page in self._views.values())

    def empty_out(self) -> None:
        """Release the records when it is closed."""
        self.state = {}

    def fill(self) -> None:
        """Reread the latest records."""
        self.state = snapshot(limit=FIRST)

    def _send_to(self, view: str, message: dict[str, Any]) -> None:
        self.send({"view": view, **message})

    @unharmed
    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
        match read_message(content):
            case EventsRequest(since, view) if view in self._views:
                self._desk.more(self._views[view], since)
            case EventsRequest(since, view):
                # Views that left without a word, as those of a page that was loaded anew, do not come back.
                self._views = {name: page for name, page in self._views.items() if page.following}
                while len(self._views) >= VIEWS:
                    self._desk.close(self._views.pop(next(iter(self._views))))
                self._views[view] = self._desk.open(partial(self._send_to, view), since)
            case CloseView(view) if view in self._views:
                self._desk.close(self._views.pop(view))
                self.leave()
            case ClearRequest() | UndoRequest() as request:
                self._desk.clear(request, partial(self._send_to, ""))

    def _repr_mimebundle_(self, **kwargs: Any) -> Bundle | None:
        data = of_function(self.function, TOLD) if self.function else snapshot(limit=TOLD)
        if self.page == "caches":
            held = data["caches"]
            text, table = programs_text(held, self.function), caches_table(held, self.function)
        else:
            text, table = timeline_text(data, times=False), timeline_table(data)
        return with_twins(super()._repr_mimebundle_(**kwargs), {"text/plain": text, "text/html": table})
