"""What happened is known by the cell that was running."""

from types import SimpleNamespace

import nxkernel
from nxkernel.definitions.observe.events import NO_CELL, NotebookCell, stream
from nxkernel.definitions.observe.history import history
from nxkernel_magics.running_cell import RunningCells

DEFINE = "%%defn\ndef scale(x, *, k=2.0):\n    return x * k\n"


def cells(kind):
    return [(event.cell.name, event.where) for event in stream.records("scale", kind)]


def test_events_have_the_cell_that_ran_and_the_one_whose_code_called(shell):
    shell.run(DEFINE + "\ndef helper(x):\n    return scale(x)")
    shell.run("def helper(x):\n    return scale(x)")
    shell.run("helper(1.0)")
    assert cells("miss") == [("cell 3", "cell 2")]
    assert stream.cell == NO_CELL


def test_hits_become_one_record_at_the_end_of_the_cell(shell):
    shell.run(DEFINE)
    shell.run("for _ in range(5):\n    scale(1.0)")
    shell.run("1 + 1")
    shell.run("scale(2.0); scale(3.0)")
    hits = [(event.cell.name, event.calls) for event in stream.records("scale", "hits")]
    assert hits == [("cell 2", 4), ("cell 4", 2)]


def test_a_cell_within_a_cell_is_part_of_it(shell):
    shell.run(DEFINE)
    shell.run("get_ipython().run_cell('scale(1.0)')\nscale(nx.tensor([1.0]))")
    assert {event.cell.name for event in stream.records("scale", "miss")} == {"cell 2"}


def test_a_cell_that_fails_ends_too(shell):
    shell.run(DEFINE)
    shell.run("scale(1.0)\nscale(1.0)\n1 / 0")
    assert stream.cell == NO_CELL
    assert [event.calls for event in stream.records("scale", "hits")] == [1]


def test_the_cell_of_a_document_keeps_its_identity(shell):
    shell.run(DEFINE)
    for number in (1, 2):
        shell.ip.run_cell(f"scale(1.0, k={number}.5)", store_history=True, cell_id="ab-c")
    assert [event.cell for event in stream.records("scale", "miss")] == [
        NotebookCell("cell 2", "ab-c"),
        NotebookCell("cell 3", "ab-c"),
    ]
    ours = {cell: sums for cell, sums in history.cells().items() if cell.id == "ab-c"}
    assert list(ours) == [NotebookCell("cell 3", "ab-c")]
    assert [list(run.again) for run in history.last_runs() if run.cell.id == "ab-c"] == [["scale"]]
    shell.ip.run_cell("scale(1.0, k=2.5)", store_history=True, cell_id="ab-c")
    assert [list(run.again) for run in history.last_runs() if run.cell.id == "ab-c"] == [[]]


class Counting:
    """A shell that counts a cell after it has run, as older versions of IPython do."""

    execution_count = 4

    def run(self, marks, identity="x"):
        marks.begin(SimpleNamespace(cell_id=identity, store_history=True))
        seen = stream.cell
        number = self.execution_count
        self.execution_count += 1
        marks.end(SimpleNamespace(execution_count=number))
        return seen


def test_cells_that_are_counted_after_they_have_run_have_their_number_too():
    shell = Counting()
    marks = RunningCells(shell)
    shell.execution_count = 5
    marks.end(SimpleNamespace(execution_count=4))
    assert [shell.run(marks) for _ in range(2)] == [NotebookCell("cell 5", "x"), NotebookCell("cell 6", "x")]
    assert stream.cell == NO_CELL


def test_it_ends_with_the_magics(shell):
    nxkernel.unload_ipython_extension(shell.ip)
    shell.run("1 + 1")
    assert stream.cell == NO_CELL
