"""Sums of what happened, by function and by cell."""

from dataclasses import replace

import pytest

from nxkernel.definitions.observe import history as history_module
from nxkernel.definitions.observe.events import NO_CELL, Event, EventStream, NotebookCell
from nxkernel.definitions.observe.history import History, Sums

FIRST, SECOND = NotebookCell("cell 4", "a"), NotebookCell("cell 5", "b")


@pytest.fixture
def source():
    return EventStream()


@pytest.fixture
def history(source):
    made = History(source)
    made.start()
    return made


def miss(function="f", cell=FIRST, reason=("first call",), **fields):
    return Event("miss", function, reason=reason, cell=cell, **fields)


def test_what_calls_that_were_new_cost(source, history):
    source.emit(miss(compiled=2, trace_ms=1.0, lower_ms=2.0, native_ms=30.0, time=5.0))
    source.emit(miss(reused=3, disk=1, trace_ms=0.5, time=6.0))
    source.emit(miss(reused=1, reason=("option k: 1 → 2",), time=7.0))
    source.emit(Event("kernel", "f", cell=FIRST, native_ms=30.0))
    assert history.functions() == {
        "f": Sums(
            compiled=1, loaded=1, traced=1, again=1, trace_ms=1.5, lower_ms=2.0, native_ms=30.0, kernels=2,
            from_memory=3, from_disk=1, last=7.0,
        )
    }  # fmt: skip
    assert history.functions()["f"].total_ms == 33.5
    assert history.cells() == {FIRST: history.functions()["f"]}


def test_other_kinds_are_counted(source, history):
    for event in (
        Event("hits", "f", calls=12),
        Event("error", "f"),
        Event("evict", "f"),
        Event("clear", "f", calls=3),
    ):
        source.emit(replace(event, cell=SECOND, time=1.0))
    assert history.functions()["f"] == Sums(hits=12, errors=1, evicted=1, cleared=3, last=1.0)
    assert list(history.cells()) == [SECOND]


def test_it_reads_what_the_stream_remembers_and_goes_on_when_that_is_gone():
    source = EventStream(kept=2)
    source.emit(miss(compiled=1))
    history = History(source)
    history.start()
    for _ in range(5):
        source.emit(miss(compiled=1))
    assert history.functions()["f"].compiled == 6
    history.stop()
    source.emit(miss(compiled=1))
    assert history.functions()["f"].compiled == 7


def test_a_cleared_stream_begins_anew(source, history):
    source.emit(miss())
    source.clear()
    assert history.functions() == history.cells() == {}
    source.emit(miss("g"))
    assert list(history.functions()) == ["g"]


def test_the_busy_ones_come_last(source, history):
    for name in "fgf":
        source.emit(miss(name))
    assert list(history.functions()) == ["g", "f"]


def test_a_cell_that_runs_again_is_one_cell_with_a_new_last_run(source, history):
    source.emit(miss(compiled=1))
    source.emit(miss(compiled=1, reason=("option k: 1 → 2",)))
    (run,) = history.last_runs()
    assert (run.cell, run.sums.compiled, list(run.again)) == (FIRST, 2, ["f"])
    assert run.again["f"].reason == ("option k: 1 → 2",)
    later = NotebookCell("cell 9", "a")
    history.begin(later)
    assert [(run.cell, run.sums, run.again) for run in history.last_runs()] == [(later, Sums(), {})]
    source.emit(miss("g", later, reused=1))
    assert history.cells().keys() == {later}
    assert history.cells()[later].compiled == 2
    assert history.last_runs()[0].sums.traced == 1


def test_cells_without_an_identity_are_told_by_their_number(source, history):
    source.emit(miss(cell=NotebookCell("cell 4")))
    source.emit(miss(cell=NotebookCell("cell 5")))
    source.emit(miss(cell=NO_CELL))
    assert [cell.name for cell in history.cells()] == ["cell 4", "cell 5"]


def test_only_so_many_sums_are_kept(source, history, monkeypatch):
    monkeypatch.setattr(history_module, "KEPT", 2)
    for number in range(4):
        source.emit(miss(f"f{number}", NotebookCell(f"cell {number}")))
    assert list(history.functions()) == ["f2", "f3"]
    assert [run.cell.name for run in history.last_runs()] == ["cell 2", "cell 3"]
