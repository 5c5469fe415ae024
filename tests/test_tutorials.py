"""The tutorials run from top to bottom, give the outputs that are committed, and are clean documents."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).resolve().parent.parent / "tutorials"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def test_there_are_tutorials():
    assert [path.name for path in NOTEBOOKS] == ["00-first-steps.ipynb", "01-gradients.ipynb", "02-training.ipynb"]


@pytest.fixture(scope="module")
def matplotlib_is_ready():
    # Building its list of fonts, once for each machine, prints a line that is no output of the notebook.
    done = subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@each_notebook
def test_runs_and_gives_the_committed_outputs(path, tmp_path, matplotlib_is_ready):
    command = [sys.executable, "-m", "pytest", "--nbval", "--nbval-sanitize-with", str(FOLDER / "sanitize.cfg")]
    done = subprocess.run(
        [*command, "-q", "-p", "no:cacheprovider", "--override-ini", "addopts=", str(path)],
        cwd=FOLDER,
        env={**os.environ, "NXKERNEL_CACHE_DIR": str(tmp_path), "PY_COLORS": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert f"{len(code_cells(path))} passed" in done.stdout


@each_notebook
def test_was_run_in_order(path):
    counts = [cell.execution_count for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1))


@each_notebook
def test_fails_only_where_it_says_so(path):
    failing = [cell for cell in code_cells(path) if any(output.output_type == "error" for output in cell.outputs)]
    assert failing == [cell for cell in code_cells(path) if "raises-exception" in tags(cell)]


@each_notebook
def test_is_a_clean_document(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert "widgets" not in notebook.metadata
    assert path.stat().st_size < 1_000_000
    outputs = str([cell.outputs for cell in code_cells(path)])
    assert re.findall(r"/(?:home|root|Users|work)/[\w./-]*", outputs) == []


@each_notebook
def test_explains_before_it_computes(path):
    cells = read(path).cells
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    assert sum(cell.cell_type == "markdown" for cell in cells) >= len(cells) / 3


def rerun_module():
    spec = importlib.util.spec_from_file_location("rerun", FOLDER / "rerun.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def failed_cell(*tags):
    error = nbformat.v4.new_output(
        "error", ename="E", evalue="no", traceback=["Cell In[1]", "File /x/nxkernel/a.py:1", "E: no"]
    )
    return nbformat.v4.new_code_cell(
        "f()", outputs=[error], metadata={"tags": list(tags), "execution": {"busy": "now"}}
    )


def test_rerun_cleans_what_differs_between_machines():
    notebook = nbformat.v4.new_notebook(cells=[failed_cell("raises-exception")], metadata={"widgets": {"state": 1}})
    rerun_module().clean(notebook)
    assert notebook.metadata == {"language_info": {"name": "python"}}
    assert notebook.cells[0].metadata == {"tags": ["raises-exception"]}
    assert notebook.cells[0].outputs[0].traceback == ["Cell In[1]", "E: no"]


def test_rerun_refuses_an_unexpected_failure():
    with pytest.raises(RuntimeError, match=r"^E: no\nin the cell\nf"):
        rerun_module().clean(nbformat.v4.new_notebook(cells=[failed_cell()]))
