"""What the widget and the panel read: every field of it, from real calls."""

import json

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.backends.cuda import availability
from nxkernel.definitions.calls import content_identity, graph_cache
from nxkernel.definitions.observe.events import NO_CELL, Event, NotebookCell, stream
from nxkernel.definitions.observe.history import history
from nxkernel_lab.records.view_data import kind, snapshot, what


@pytest.fixture(autouse=True)
def _fresh():
    graph_cache.clear()
    stream.clear()
    yield
    stream.cell = NO_CELL
    graph_cache.clear()
    stream.clear()


@pytest.fixture
def scaled():
    @nx.defn(compiler="numba_cpu")
    def scaled(t, *, k=2.0):
        return nx.tanh(t) * k - 1

    return scaled


def test_what_there_is_before_anything_happened():
    found = snapshot(stream.kept)
    assert (found["events"], found["functions"], found["cells"]) == ([], [], [])
    assert found["caches"]["functions"] == []
    assert found["status"]["hits"] == 0
    assert found["status"]["line"].startswith("0 compiled · 0 from disk · 0 hits · ")


def test_the_events_of_a_recompilation(scaled):
    begin = stream.kept
    scaled(np.ones(3))
    stream.cell = NotebookCell("cell 7", "ab")
    scaled(np.ones(3), k=2.5)
    first, again = snapshot(begin)["events"]
    assert (first["function"], first["again"], first["reason"], first["cell"]) == ("scaled", False, ["first call"], "")
    assert (again["cell"], again["cell_id"], again["again"]) == ("cell 7", "ab", True)
    assert again["reason"] == ["option k: 2.0 → 2.5"]
    assert again["advice"].startswith(
        "k is a number, and each new one makes a program of its own: if it keeps changing, declare it before `*` and"
    )
    assert again["kind"] in ("compiled", "loaded", "traced")
    assert again["ms"]["total"] == pytest.approx(
        sum(again["ms"][part] for part in ("trace", "lower", "native")), abs=0.01
    )
    assert sum(again["kernels"].values()) == 1
    assert (first["id"], again["id"]) == (begin + 2, begin + 4)


def test_only_what_is_new(scaled):
    scaled(np.ones(3))
    before = snapshot()
    scaled(np.ones(4))
    scaled(np.ones(4))
    after = snapshot(before["last"])
    assert (after["session"], after["cleared"], after["since"]) == (
        before["session"],
        before["cleared"],
        before["last"],
    )
    assert [event["what"] for event in after["events"]] == ["traced", "1 hit"]
    assert after["events"][1]["calls"] == 1
    assert snapshot(after["last"])["events"] == []
    stream.clear()
    assert snapshot(after["last"])["cleared"] == before["cleared"] + 1


def test_only_so_many_events(scaled):
    for size in range(1, 6):
        scaled(np.ones(size))
    found = snapshot(limit=2)
    assert (found["left_out"], len(found["events"])) == (3, 2)
    assert found["events"][-1]["reason"] == ["argument t: f64[4] → f64[5]"]
    assert found["functions"][0]["again"] == 4


def test_hits_of_a_running_cell_wait_for_its_end(scaled):
    stream.cell = NotebookCell("cell 7")
    scaled(np.ones(3))
    scaled(np.ones(3))
    assert [event["kind"] == "hits" for event in snapshot()["events"]] == [False]
    graph_cache.report_hits("cell 7")
    assert snapshot()["events"][-1]["what"] == "1 hit"


def test_the_sums(scaled):
    stream.cell = NotebookCell("cell 7", "ab")
    for k in (2.0, 2.5, 2.5):
        scaled(np.ones(3), k=k)
    graph_cache.report_hits("cell 7")
    content_identity.forget()
    found = snapshot()
    (function,) = found["functions"]
    assert (function["name"], function["again"], function["hits"], function["cleared"]) == ("scaled", 1, 1, 2)
    assert function["compiled"] + function["loaded"] + function["traced"] == 2
    assert function["programs"] == 0
    assert function["ms"]["total"] > 0
    (cell,) = found["cells"]
    assert (cell["cell"], cell["cell_id"], cell["hits"]) == ("cell 7", "ab", 1)
    (again,) = cell["again_last"]
    assert (again["function"], again["reason"]) == ("scaled", ["option k: 2.0 → 2.5"])
    assert again["advice"]
    history.begin(NotebookCell("cell 8", "ab"))
    (cell,) = snapshot()["cells"]
    assert (cell["cell"], cell["again_last"]) == ("cell 8", [])


def test_the_state_of_things(scaled, monkeypatch):
    scaled(np.ones(3))
    status = snapshot()["status"]
    assert (status["programs"], status["compiler"], status["device"]) == (1, "numba_cpu", "CPU")
    assert status["threads"] == nx.get_threads()
    assert status["line"].endswith(f"{nx.get_threads()} thread{'s' * (nx.get_threads() != 1)} · CPU")
    for name, compiler, device in [
        ("evaluator", "evaluator", "CPU"),
        ("numba_cuda:1", "numba_cuda:1", "cuda:1, CPU"),
        ("auto", "numba_cuda", "cuda:0, CPU"),
    ]:
        monkeypatch.setattr(availability, "is_available", lambda: True)
        with nx.default_options(compiler=name):
            status = snapshot()["status"]
        assert (status["compiler"], status["device"]) == (compiler, device)
        assert status["line"].endswith(f" · {device}")


def test_one_hit_is_no_hits_and_a_device_that_a_definition_names_is_told(scaled, monkeypatch):
    scaled(np.ones(3))
    scaled(np.ones(3))
    (program,) = graph_cache.entry_groups()[-1].programs()
    monkeypatch.setattr(program, "compiler", "numba_cuda:1")
    line = snapshot()["status"]["line"]
    assert " · 1 hit · " in line
    assert line.endswith(" · CPU, cuda:1")


def test_it_is_json_and_texts_stay_texts():
    f = nx.jit(lambda t: t + 1)
    f.__name__ = "<img src=x>"
    f(1.0)
    found = json.loads(json.dumps(snapshot()))
    assert found["events"][0]["function"] == "<img src=x>"
    assert found["version"] == 1


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Event("miss", "f", compiled=1, reason=("first call",)), ("compiled", "compiled")),
        (Event("miss", "f", compiled=1, reused=2, disk=2, reason=("option k: 1 → 2",)), ("compiled", "compiled again")),
        (Event("miss", "f", reused=2, disk=1, reason=("first call",)), ("loaded", "loaded from disk")),
        (Event("miss", "f", reused=2, reason=("first call",)), ("traced", "traced")),
        (Event("hits", "f", calls=1), ("hits", "1 hit")),
        (Event("hits", "f", calls=20), ("hits", "20 hits")),
        (Event("error", "f"), ("error", "error")),
        (Event("evict", "f"), ("evicted", "forgotten")),
        (Event("clear", "f", calls=2), ("cleared", "cleared")),
    ],
)
def test_kinds_and_words(event, expected):
    assert (kind(event), what(event)) == expected
