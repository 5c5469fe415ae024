"""The timeline and the caches as text."""

import pytest

from nxkernel_lab.timeline.text import caches_text, columns, disk_line, event_lines, timeline_text

AT = 1_700_000_000.0


def event(**changes):
    ms = {"trace": 1.4, "lower": 2.0, "native": 34.6, "total": 38.0}
    made = {
        "id": 3, "time": AT, "kind": "compiled", "again": False, "what": "compiled", "function": "smooth",
        "where": "cell 4", "cell": "cell 4", "cell_id": "",
        "reason": ["first call"], "advice": "", "notes": [], "ms": ms,
        "kernels": {"compiled": 1, "memory": 0, "disk": 2}, "calls": 0,
    }  # fmt: skip
    return {**made, **changes}


AGAIN = event(
    again=True,
    what="compiled again",
    cell="cell 5",
    where="cell 4",
    reason=["option steps: 100 → 200"],
    advice="Pass it.",
    notes=["cell 4, line 3: written out"],
)
HITS = event(
    kind="hits",
    what="12 hits",
    reason=[],
    ms=dict.fromkeys(("trace", "lower", "native", "total"), 0.0),
    kernels=dict.fromkeys(("compiled", "memory", "disk"), 0),
    calls=12,
)


@pytest.fixture
def data():
    row = {
        "compiled": 2, "loaded": 0, "traced": 1, "again": 1, "hits": 12, "errors": 0, "evicted": 0, "cleared": 0,
        "ms": event()["ms"], "kernels": {"compiled": 2, "memory": 0, "disk": 4}, "last": AT,
    }  # fmt: skip
    return {
        "events": [event(), AGAIN, HITS],
        "left_out": 0,
        "functions": [{"name": "smooth", "label": "smooth", "programs": 2, **row}],
        "cells": [{"cell": "cell 4", "cell_id": "", "again_last": [], **row}],
    }


def test_events_and_costs(data):
    lines = timeline_text(data).splitlines()
    spent = "38 ms: trace 1.4 ms, lowering 2.0 ms, native 35 ms · 1 kernel compiled · 2 kernels from disk"
    assert [line[8:] for line in lines if line[2:3] == ":"] == [
        f"  cell 4  smooth  compiled  {spent}",
        f"  cell 5  smooth  compiled again  {spent}",
        "  cell 4  smooth  12 hits",
    ]
    assert lines[3:6] == ["    option steps: 100 → 200", "    Pass it.", "    cell 4, line 3: written out"]
    assert lines[7:] == [
        "",
        "function  compiled  from disk  traced  again  hits  errors   time   trace  lowering  native",
        "smooth           2          0       1      1    12       0  38 ms  1.4 ms    2.0 ms   35 ms",
        "",
        "cell    compiled  from disk  traced  again  hits  errors   time   trace  lowering  native",
        "cell 4         2          0       1      1    12       0  38 ms  1.4 ms    2.0 ms   35 ms",
    ]


def test_without_what_differs_from_run_to_run(data):
    assert timeline_text(data, times=False).splitlines() == [
        "cell 4  smooth  traced",
        "    first call",
        "cell 5  smooth  traced again",
        "    option steps: 100 → 200",
        "    Pass it.",
        "    cell 4, line 3: written out",
        "cell 4  smooth  12 hits",
    ]


def test_what_had_no_room_is_counted(data):
    assert timeline_text({**data, "left_out": 7}, times=False).startswith("7 earlier events left out\ncell 4")


def test_nothing_yet(data):
    assert timeline_text({**data, "events": []}) == "Nothing has been compiled yet: call a definition once."


def test_an_event_outside_of_cells_stands_where_its_code_does():
    assert event_lines(event(cell="", where="train.py, line 3"), times=False)[0] == "train.py, line 3  smooth  traced"
    assert event_lines(event(cell="", where=""), times=False)[0] == "smooth  traced"


def disk(**changes):
    made = {
        "on": True, "folder": "~/.cache/nxkernel", "kernels": 3, "kernel_bytes": 12_000, "records": 0,
        "record_bytes": 0, "others": 0, "other_bytes": 0, "bytes": 12_000, "limit": 512 << 20,
        "whole": True, "oldest": AT - 7300, "latest": AT,
    }  # fmt: skip
    return {**made, **changes}


def test_caches():
    memory = {"kernels": 6, "programs": 2, "bytes": 14_032, "oldest": AT - 130, "latest": AT}
    held = {"functions": [{"programs": 3}, {"programs": 1}], "memory": memory, "disk": disk(), "processors": 2}
    assert caches_text(held, AT).splitlines() == [
        "programs in memory: 4 of 2 functions",
        "native code in memory: 6 kernels and 2 programs, 14.0 kB of code, the first loaded 2 minutes ago",
        "on disk: 3 kernels 12.0 kB, limit 536.9 MB, the oldest was used 2 hours ago, in ~/.cache/nxkernel",
    ]
    empty = {**held, "functions": [], "memory": {**memory, "kernels": 0, "programs": 0}}
    assert caches_text(empty, AT).splitlines()[:2] == [
        "programs in memory: 0 of 0 functions",
        "native code in memory: none",
    ]


def test_a_disk():
    assert disk_line(disk(on=False), AT) == (
        "nothing is kept there (NXKERNEL_CACHE_DIR is off, or its folder cannot be used)"
    )
    full = disk(records=1, record_bytes=800, others=40, other_bytes=2_000_000, whole=False)
    assert disk_line(full, AT) == (
        "3 kernels 12.0 kB, 1 program 800 B, 40 files 2.0 MB of other versions, and more files, which are not counted, "
        "limit 536.9 MB, the oldest was used 2 hours ago, in ~/.cache/nxkernel"
    )
    assert disk_line(disk(whole=False, oldest=0), AT) == (
        "3 kernels 12.0 kB, and more files, which are not counted, limit 536.9 MB, in ~/.cache/nxkernel"
    )


def test_columns():
    assert columns([("a", "bb"), ("ccc", "d")]) == ["a    bb", "ccc   d"]


def test_long_texts_are_cut_and_what_is_not_seen_is_written_out():
    head, reason = event_lines(event(function="\u202ef", reason=["y" * 10_000]), times=False)
    assert head == "cell 4  \\u202ef  traced"
    assert reason == "    " + "y" * 399 + "…"
    assert columns([("x" * 10_000, "1"), ("\x1b[31m", "2")]) == ["x" * 79 + "…  1", "\\x1b[31m".ljust(80) + "  2"]
