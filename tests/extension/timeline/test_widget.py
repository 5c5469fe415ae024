"""The timeline's Python side, without a page: what it sends, what it hears, and when it rests."""

import gc
import weakref

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.observe.events import NO_CELL, NotebookCell, stream
from nxkernel_lab.messaging.page_requests import CloseView
from nxkernel_lab.messaging.page_updates import UNANSWERED, EventsRequest
from nxkernel_lab.records.cache_clearing import ClearRequest, UndoRequest
from nxkernel_lab.timeline import widget as timeline_module
from nxkernel_lab.timeline.widget import Timeline, read_message

pytestmark = pytest.mark.usefixtures("little_garbage")


@pytest.fixture(autouse=True)
def kernel(shell, monkeypatch):
    monkeypatch.setattr(timeline_module, "get_ipython", lambda: shell)


@pytest.fixture
def widget(shell, monkeypatch):
    graph_cache.clear()
    stream.clear()
    made = Timeline()
    made.sent = []
    monkeypatch.setattr(made, "send", made.sent.append)
    yield made
    made.close()
    graph_cache.clear()
    stream.clear()


@pytest.fixture
def doubled():
    return nx.jit(lambda t: t * 2, compiler="evaluator")


def say(widget, **content):
    widget._receive(widget, content, [])


def news(widget):
    return [[event["what"] for event in message["events"]] for message in widget.sent if message["kind"] == "news"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"kind": "more", "view": "v", "since": 3}, EventsRequest(3, "v")),
        ({"kind": "close", "view": "v"}, CloseView("v")),
        ({"kind": "forget", "view": "v", "what": "programs", "function": "f"}, ClearRequest("programs", "f")),
        ({"kind": "undo", "view": "v", "number": 1}, UndoRequest(1)),
        ({"kind": "close", "view": 1}, None),
        ({"kind": "more", "view": "v", "since": -1}, None),
        ({"kind": "eval", "code": "1"}, None),
        (None, None),
    ],
)
def test_what_a_page_may_say(content, message):
    assert read_message(content) == message


def test_it_begins_with_what_happened(widget, doubled):
    doubled(1.0)
    shown = Timeline("caches", "f")
    assert [event["what"] for event in shown.state["events"]] == ["traced"]
    assert (shown.page, shown.function) == ("caches", "f")
    shown.close()


def test_only_while_it_is_on_a_page_it_follows(widget, doubled, shell):
    doubled(1.0)
    assert widget.sent == []
    say(widget, kind="more", view="v", since=widget.state["last"])
    assert news(widget) == [["traced"]]
    assert widget.sent[0]["view"] == "v"
    doubled(np.ones(2))
    shell.end_cell()
    assert news(widget) == [["traced"], ["traced"]]
    say(widget, kind="more", view="w", since=stream.kept)
    say(widget, kind="close", view="v")
    assert shell.callbacks
    say(widget, kind="close", view="w")
    assert shell.callbacks == []
    del widget.sent[:]
    doubled(np.ones(3))
    assert widget.sent == []


def test_a_burst_is_told_in_parts_and_whole_at_the_end_of_the_cell(widget, doubled, shell):
    say(widget, kind="more", view="v", since=stream.kept)
    stream.cell = NotebookCell("cell 3")
    for size in range(1, 30):
        doubled(np.ones(size))
        doubled(np.ones(size))
    assert len(news(widget)) < 10
    stream.cell = NO_CELL
    shell.end_cell()
    told = [what for each in news(widget) for what in each]
    assert (told.count("traced"), told[-1]) == (29, "29 hits")
    before = len(widget.sent)
    shell.end_cell()
    assert len(widget.sent) == before


def test_views_that_left_without_a_word_are_left_alone_and_forgotten(widget, doubled, shell):
    say(widget, kind="more", view="v", since=stream.kept)
    for size in range(1, 20):
        doubled(np.ones(size))
        shell.end_cell()
    assert len(widget.sent) == UNANSWERED
    assert shell.callbacks == []
    for view in "wxyz":
        say(widget, kind="more", view=view, since=stream.kept)
    assert list(widget._views) == ["w", "x", "y", "z"]
    del widget.sent[:]
    say(widget, kind="more", view="v", since=stream.kept - 1)
    assert news(widget) == [["traced"]]


def test_caches_are_cleared(widget, doubled):
    doubled(1.0)
    say(widget, kind="more", view="v", since=stream.kept)
    say(widget, kind="forget", view="v", what="programs", function="<lambda>")
    assert doubled.compilations() == []
    assert [message["kind"] for message in widget.sent] == ["news", "done", "news"]
    done = widget.sent[1]
    assert (done["view"], done["text"]) == ("", "Forgot 1 program of <lambda>.")
    assert news(widget)[1] == ["cleared"]
    say(widget, kind="undo", view="v", number=done["undo"])
    assert len(doubled.compilations()) == 1


def test_what_is_not_understood_is_ignored(widget):
    for content in (None, "x", {"kind": "forget", "what": "everything"}, {"kind": "open"}):
        widget._receive(widget, content, [])
    assert widget.sent == []


def test_a_page_that_cannot_be_told_breaks_no_call(widget, doubled, monkeypatch, caplog, shell):
    say(widget, kind="more", view="v", since=0)

    def fail(message):
        raise RuntimeError("the page has gone")

    monkeypatch.setattr(widget, "send", fail)
    assert doubled(2.0).to_number() == 4.0
    shell.end_cell()
    assert [record.message for record in caplog.records] == ["a view of nxkernel shows nothing new any more"]


def test_a_closed_widget_is_collected(shell, doubled):
    shown = Timeline()
    say(shown, kind="more", view="v", since=0)
    assert shell.callbacks
    shown.close()
    assert shell.callbacks == []
    gone = weakref.ref(shown)
    del shown
    gc.collect()
    assert gone() is None


def test_where_no_widget_can_live_it_is_a_text(widget, doubled):
    doubled(1.0)
    bundle = widget._repr_mimebundle_()
    assert bundle[0]["text/plain"].splitlines()[0].endswith("<lambda>  traced")
    named = Timeline(function="nobody")
    assert named._repr_mimebundle_()[0]["text/plain"] == "Nothing has been compiled yet: call a definition once."
    named.close()


def test_there_is_a_table_for_pages_that_show_no_widget(widget, doubled):
    doubled(1.0)
    assert "<caption>What was traced, and why</caption>" in widget._repr_mimebundle_()[0]["text/html"]
    caches = Timeline("caches", "<lambda>")
    data = caches._repr_mimebundle_()[0]
    assert "&lt;lambda&gt;(t: f32)" in data["text/html"]
    assert data["text/plain"].splitlines() == [
        "function  programs  calls answered  arrays held",
        "<lambda>         1               0          0 B",
    ]
    caches.close()
    graph_cache.clear()
    nothing = Timeline("caches")
    data = nothing._repr_mimebundle_()[0]
    assert data["text/plain"] == "There are no programs in memory: call a definition once."
    assert "text/html" not in data
    nothing.close()


def test_it_is_small():
    assert len(Timeline._esm) + len(Timeline._css) < 40_000
    assert "innerHTML" not in Timeline._esm
    assert "http" not in Timeline._esm.replace("http://www.w3.org/2000/svg", "")
