"""Widgets of a cell that is run again."""

import pytest

from nxkernel.definitions.observe.events import NotebookCell, stream
from nxkernel_lab import Timeline, inspect
from nxkernel_lab.messaging import widget_replacement


@pytest.fixture
def in_cell(monkeypatch):
    monkeypatch.setattr(widget_replacement, "_made", {})
    widgets, cells = [], {}

    def make(number, function, identity="a"):
        monkeypatch.setattr(stream, "cell", cells.setdefault(number, NotebookCell(f"cell {number}", identity)))
        widgets.append(function())
        return widgets[-1]

    yield make
    for widget in widgets:
        widget.close()


def ask(widget, kind, view="v1", **more):
    widget._receive(widget, {"kind": kind, "view": view, **more}, [])


def test_what_an_earlier_run_made_is_closed(definition, in_cell):
    first = in_cell(1, lambda: inspect(definition))
    beside = in_cell(1, lambda: inspect(definition))
    elsewhere = in_cell(2, lambda: inspect(definition), "b")
    last = in_cell(3, lambda: inspect(definition))
    assert [widget.comm is None for widget in (first, beside, elsewhere, last)] == [True, True, False, False]
    assert (first.graph, first._compiled, first.layout.comm) == ({}, [], None)


@pytest.mark.parametrize("identity", ["", "a"])
def test_what_no_run_came_after_stays(definition, in_cell, identity):
    first = in_cell(1, lambda: inspect(definition), identity)
    in_cell(2, lambda: inspect(definition), identity and "b")
    assert first.comm is not None


def test_what_a_page_shows_goes_with_the_page(definition, in_cell):
    first = in_cell(1, lambda: inspect(definition))
    ask(first, "open")
    ask(first, "open", "v2")
    in_cell(2, lambda: inspect(definition))
    ask(first, "close")
    assert first.comm is not None
    ask(first, "close", "v2")
    assert first.comm is None


def test_a_timeline_goes_with_its_page_too(in_cell):
    first = in_cell(1, Timeline)
    ask(first, "more", since=0)
    in_cell(2, Timeline)
    assert first.comm is not None
    ask(first, "close")
    assert (first.comm, first.state) == (None, {})


def test_what_is_displayed_once_more_comes_back(definition, in_cell):
    first = in_cell(1, lambda: inspect(definition))
    timeline = in_cell(1, Timeline)
    in_cell(2, lambda: inspect(definition))
    assert first.comm is timeline.comm is None
    data, _ = first._repr_mimebundle_()
    assert first.comm.comm_id == data["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert first.graph["signature"] == "softmax(t: f32[4][10], axis=-1)"
    assert timeline._repr_mimebundle_() is not None
    assert timeline.state["caches"]
    in_cell(3, Timeline)
    assert first.comm is not None


def test_nothing_is_kept_of_what_is_gone(definition, in_cell):
    for number in range(1, 5):
        in_cell(number, lambda: inspect(definition))
    assert [len(each) for each in widget_replacement._made.values()] == [1]
