"""The timeline and the caches as plain tables."""

import re
from html.parser import HTMLParser

import pytest

from nxkernel_lab.timeline.html_tables import caches_table, table, timeline_table

MARKUP = "</td></table><img src=x onerror=alert(1)><script>alert('1')</script>\"${x}"


def event(**changes):
    made = {
        "kind": "compiled", "again": False, "what": "compiled", "function": "smooth", "where": "a.py, line 2",
        "cell": "cell 4", "reason": ["first call"], "advice": "", "notes": [],
    }  # fmt: skip
    return {**made, **changes}


def sums(name):
    return {"name": name, "compiled": 2, "loaded": 3, "traced": 1, "again": 4, "hits": 12, "errors": 0}


def data(*events, names=("smooth",), left_out=0):
    return {"events": list(events), "left_out": left_out, "functions": [sums(name) for name in names]}


def held(*names, signature="smooth(t: f32[8])"):
    row = {"programs": 2, "limit": 256, "hits": 7, "bytes": 4096, "signatures": [signature, signature]}
    return {"functions": [{"name": name, "label": name, **row} for name in names]}


class Cells(HTMLParser):
    """The texts of a table's cells, and the names of all elements."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag in ("th", "td", "caption"):
            self.cells.append("")
        elif tag == "br":
            self.cells[-1] += "\n"

    def handle_data(self, data):
        self.cells[-1] += data


def test_events_tell_what_is_the_same_in_every_run():
    again = event(again=True, kind="loaded", what="loaded from disk", reason=["option n: 1 → 2"], advice="Pass it.")
    outside = event(kind="hits", what="12 hits", cell="", reason=[])
    assert Cells(timeline_table(data(event(), again, outside))).cells == [
        "What was traced, and why",
        "cell", "function", "what", "why, and what avoids it",
        "cell 4", "smooth", "traced", "first call",
        "cell 4", "smooth", "traced again", "option n: 1 → 2\nPass it.",
        "a.py, line 2", "smooth", "12 hits", "",
        "Calls by function",
        "function", "traced", "again", "answered from the cache", "errors",
        "smooth", "6", "4", "12", "0",
    ]  # fmt: skip
    assert timeline_table(data(event())) == timeline_table(data(event(kind="traced", what="traced")))


def test_what_had_no_room_is_counted():
    assert "<caption>What was traced, and why; 7 earlier events left out</caption>" in timeline_table(
        data(event(), left_out=7)
    )


def test_programs():
    assert Cells(caches_table(held("smooth", "other"))).cells[5:] == [
        "calls that they answer",
        "smooth", "2 of 256", "7", "4.1 kB", "smooth(t: f32[8])\nsmooth(t: f32[8])",
        "other", "2 of 256", "7", "4.1 kB", "smooth(t: f32[8])\nsmooth(t: f32[8])",
    ]  # fmt: skip
    assert Cells(caches_table(held("smooth", "other"), "other")).cells[6::5] == ["other"]


def test_nothing_is_empty():
    assert timeline_table(data()) == ""
    assert caches_table(held("smooth"), "other") == caches_table(held()) == ""


@pytest.mark.parametrize("text", [MARKUP, "a&lt;b", "line\nline"])
def test_texts_stay_text(text):
    told = event(cell=text, function=text, what=text, kind="hits", reason=[text], advice=text, notes=[text])
    for made in (
        timeline_table(data(told, names=[text])),
        caches_table(held(text, signature=text)),
        table(text, [], []),
    ):
        found = Cells(made)
        assert found.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "br"}
        assert text in found.cells
        assert not re.search(r"[<'\"]", re.sub(r"<[^<>]*>", "", made))


def test_long_texts_are_cut():
    cells = Cells(timeline_table(data(event(function="x" * 10_000, reason=["y" * 10_000])))).cells
    assert cells[6] == "x" * 399 + "…"
    assert max(map(len, cells)) == 400


def test_characters_that_are_not_seen_are_written_out():
    assert Cells(table("\u202eabc\x1b", [], [])).cells == ["\\u202eabc\\x1b"]
