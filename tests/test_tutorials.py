"""Tutorials and the gallery run from top to bottom, give the outputs that are committed, and are clean documents."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from notebook_sessions.committed_outputs import code_cells, differences, needs_nbclient, read, report

FOLDER = Path(__file__).resolve().parent.parent / "tutorials"
#: How the check of an exercise begins; the cell above it is the one to change.
CHECK = "# The check: run this cell after each change\n"
SANITIZERS = FOLDER / "sanitize.cfg"
LESSONS = sorted(FOLDER.glob("*.ipynb"))
GALLERY = sorted(FOLDER.glob("gallery/*.ipynb"))


def each_of(paths):
    return pytest.mark.parametrize("path", paths, ids=[path.stem for path in paths])


each_notebook = each_of(LESSONS + GALLERY)


def tags(cell):
    return cell.metadata.get("tags", [])


def folded(cell):
    return cell.cell_type == "code" and cell.metadata.get("jupyter", {}).get("source_hidden", False)


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.get("name") == "stdout")


@pytest.fixture(scope="module")
def matplotlib_is_ready():
    # Building its list of fonts, once for each machine, prints a line that is no output of the notebook.
    done = subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.notebooks
@each_notebook
def test_runs_and_gives_the_committed_outputs(path, tmp_path, matplotlib_is_ready):
    # A disk cache of its own, empty at first: what was compiled and what came from the disk is part of outputs.
    found = differences(path, SANITIZERS, tmp_path / path.stem)
    if found:
        pytest.fail(report(path, found), pytrace=False)


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
    assert path.stat().st_size < (300_000 if path in GALLERY else 1_000_000)
    outputs = str([cell.outputs for cell in code_cells(path)])
    assert re.findall(r"/(?:home|root|Users|work)/[\w./-]*", outputs) == []


@each_notebook
def test_explains_before_it_computes(path):
    cells = read(path).cells
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    assert sum(cell.cell_type == "markdown" for cell in cells) >= len(cells) / 4


@each_of(LESSONS)
def test_exercises_say_not_yet_and_then_right(path):
    """Each has an answer to change, a check below it, and an answer to compare; both of these are folded."""
    cells = read(path).cells
    checks = [number for number, cell in enumerate(cells) if cell.source.startswith(CHECK)]
    answers = [number for number, cell in enumerate(cells) if cell.source.startswith("# One answer\n")]
    tasks = [cell for cell in cells if cell.cell_type == "markdown" and re.search(r"^\*\*\d\.\*\*", cell.source, re.M)]
    assert answers == [number + 1 for number in checks]
    assert len(checks) == len(tasks) >= (0 if path.stem == "index" else 2)
    for number in checks:
        stub, check, answer = cells[number - 1 : number + 2]
        assert not folded(stub)
        assert folded(check)
        assert folded(answer)
        assert printed(check).startswith("Not yet: "), check.source
        assert printed(answer).startswith("Right"), answer.source


@each_notebook
def test_links_lead_to_files(path):
    texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    links = re.findall(r"\]\((?!https?:|#|attachment:)([^)#\s]+)", "\n".join(texts))
    # JupyterLab that is started in the folder of the tutorials shows nothing beyond it.
    found = [(link, (path.parent / link).resolve()) for link in links]
    assert [link for link, target in found if not target.is_relative_to(FOLDER) or not target.exists()] == []


@each_notebook
def test_the_index_leads_to_it(path):
    texts = [cell.source for cell in read(FOLDER / "index.ipynb").cells if cell.cell_type == "markdown"]
    assert path.stem == "index" or f"]({path.relative_to(FOLDER).as_posix()})" in "\n".join(texts)


@pytest.fixture
def stale(tmp_path):
    """Makes a notebook whose cells are said to have printed what is given."""

    def make(*cells):
        made = [
            nbformat.v4.new_code_cell(
                source, outputs=[nbformat.v4.new_output("stream", text=text)], execution_count=number
            )
            for number, (source, text) in enumerate(cells, 1)
        ]
        path = tmp_path / "lessons" / "03-stale.ipynb"
        path.parent.mkdir()
        nbformat.write(nbformat.v4.new_notebook(cells=made), path)
        return path

    return make


@pytest.mark.slow
def test_a_stale_cell_is_named_with_what_refreshes_it(stale, tmp_path):
    path = stale(("print(1)", "1\n"), ("print('took 3 ms')", "took 8 ms\n"), ("print(2)", "3\n"))
    assert not needs_nbclient(path)
    found = differences(path, SANITIZERS, tmp_path / "cache")
    assert [difference.cell for difference in found] == [3]
    text = report(path, found)
    assert text.startswith(
        "03-stale.ipynb is stale: other outputs than the committed ones came from [3].\n\ncell [3]:\n"
    )
    assert "mismatch 'stdout'" in text
    assert text.endswith("before you commit:\n    python tutorials/rerun.py 03-stale")


@pytest.mark.slow
def test_interaction_is_followed_by_nbclient(stale, tmp_path):
    shown = "from IPython.display import display, HTML\nhandle = display(HTML('a'), display_id='x')\nprint('7 ms')"
    path = stale((shown, "8 ms\n"), ("handle.update(HTML('b'))\nprint('b\\rc')", "c\n"), ("1 / 0", "0\n"))
    notebook = read(path)
    display = nbformat.v4.new_output(
        "display_data", {"text/html": "b", "text/plain": "<IPython.core.display.HTML object>"}
    )
    notebook.cells[0].outputs.append(display)
    nbformat.write(notebook, path)
    assert needs_nbclient(path)
    (found,) = differences(path, SANITIZERS, tmp_path / "cache")
    assert found.cell == 3
    assert found.text == "- ('stdout', '0\\n')\n+ ('error', 'ZeroDivisionError: division by zero')"


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


def test_rerun_joins_pieces_of_a_stream():
    pieces = [("stdout", "a"), ("stdout", "b"), ("stderr", "c"), ("stdout", "d")]
    outputs = [nbformat.v4.new_output("stream", name=name, text=text) for name, text in pieces]
    outputs.insert(2, nbformat.v4.new_output("display_data", {"text/plain": "p"}))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("f()", outputs=outputs)])
    rerun_module().clean(notebook)
    (cell,) = notebook.cells
    assert [output.get("text") for output in cell.outputs] == ["ab", None, "c", "d"]


def test_rerun_drops_progress_bars():
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}}
    texts = ["  0%|          | 0/440 [00:00<?, ?batch/s]", "f(x: f32)"]
    outputs = [nbformat.v4.new_output("display_data", {**view, "text/plain": text}) for text in texts]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("f()", outputs=outputs)])
    rerun_module().clean(notebook)
    assert [output.data["text/plain"] for output in notebook.cells[0].outputs] == ["f(x: f32)"]


def test_rerun_refuses_an_unexpected_failure():
    with pytest.raises(RuntimeError, match=r"^E: no\nin the cell\nf"):
        rerun_module().clean(nbformat.v4.new_notebook(cells=[failed_cell()]))


def test_rerun_takes_lessons_and_the_gallery_by_their_beginnings():
    module = rerun_module()
    assert module.chosen([]) == LESSONS + GALLERY
    assert module.chosen(["01", "tutorials/04-keywords.ipynb"]) == [LESSONS[1], LESSONS[4]]
    assert module.chosen(["gallery"]) == GALLERY
    for path in GALLERY:
        for name in [path.stem, f"gallery/{path.stem}", f"tutorials/gallery/{path.name}"]:
            assert module.chosen([name]) == [path]
    with pytest.raises(SystemExit, match=r"^no tutorial begins with 99 or nothing$"):
        module.chosen(["99", "01", "nothing"])
