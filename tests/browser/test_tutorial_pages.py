"""The tutorials as they are committed, opened in a real JupyterLab: what is drawn is shown, and nothing complains."""

import shutil
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.browser

FOLDER = Path(__file__).parents[2] / "tutorials"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: Opens a notebook beside the kernel of the one that is open, which runs nothing: what is shown is what the file has.
OPEN = """path => {
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    void window.jupyterapp.commands.execute('docmanager:open', { path, factory: 'Notebook', kernel: kernel.model });
}"""
SHOWN = """path => {
    const { context, sessionContext } = window.jupyterapp.shell.currentWidget ?? {};
    return context?.path === path && context.isReady && !!sessionContext?.session?.kernel;
}"""
#: Cells that are far from what is seen are not drawn: go from one to the next.
LOOK = """async ([index, count]) => {
    const notebook = window.jupyterapp.shell.currentWidget.content, cell = notebook.widgets[index];
    await notebook.scrollToItem(index);
    await cell.ready;
    // On a busy machine a widget takes seconds.
    for (const end = performance.now() + 20_000; performance.now() < end; ) {
        const shown = [...cell.node.querySelectorAll('.jp-OutputArea-output')];
        if (shown.length >= count && shown.every(each => each.childElementCount > 0)) break;
        await new Promise(requestAnimationFrame);
    }
    const pictures = [...cell.node.querySelectorAll('img')];
    await Promise.allSettled(pictures.map(each => each.decode()));
    return {
        text: [...cell.node.querySelectorAll('.jp-OutputArea-output')].map(each => each.innerText).join('\\n'),
        outputs: cell.node.querySelectorAll('.jp-OutputArea-output > *').length,
        broken: pictures.filter(each => each.naturalWidth === 0).length,
    };
}"""
#: The command says that it is done at the first cell that fails, and the others run on.
RAN = """count => Array.from(window.jupyterapp.shell.currentWidget.content.model.cells)
    .filter(each => each.executionCount && each.executionState === 'idle').length === count"""
COMPLAINTS = ("Error displaying widget", "Loading widget", "Javascript Error", "Error rendering")


def drawn(cell):
    """Whether a front end does more with what a cell shows than to print it or to show its pixels."""
    shown = {kind for output in cell.get("outputs", []) for kind in output.get("data", {})}
    return bool(shown - {"text/plain", "image/png"}) or "![" in cell.source or "<img" in cell.source


def faults(page, path):
    """What a reader of a notebook would stumble over."""
    for index, cell in enumerate(nbformat.read(path, as_version=4).cells):
        if not drawn(cell):
            continue
        # Streams of one kind that follow each other are shown as one.
        wanted = 1 if cell.get("outputs") else 0
        seen = page.evaluate(LOOK, [index, wanted])
        may_fail = "raises-exception" in cell.metadata.get("tags", [])
        if "Traceback (most recent call last)" in seen["text"] and not may_fail:
            yield f"{path.name}, cell {index} shows an error: {seen['text'][-200:]}"
        for complaint in COMPLAINTS:
            if complaint in seen["text"]:
                yield f"{path.name}, cell {index} shows {complaint!r}"
        if seen["outputs"] < wanted:
            yield f"{path.name}, cell {index} shows no output"
        if seen["broken"]:
            yield f"{path.name}, cell {index} has a picture that is not shown"


def test_tutorials_are_shown_whole(lab, notebook):
    _, folder = lab
    paths = [path for path in NOTEBOOKS if any(map(drawn, nbformat.read(path, as_version=4).cells))]
    for path in paths:
        shutil.copy(path, folder)
    page = notebook("").page
    found = []
    for path in paths:
        page.evaluate(OPEN, path.name)
        page.wait_for_function(SHOWN, arg=path.name)
        found += faults(page, path)
    assert found == []


def test_all_cells_are_run_although_some_are_meant_to_fail(lab, opened, expect):
    address, folder = lab
    tutorial = nbformat.read(FOLDER / "04-keywords.ipynb", as_version=4)
    code = [index for index, cell in enumerate(tutorial.cells) if cell.cell_type == "code"]
    for index in code:
        tutorial.cells[index].update(outputs=[], execution_count=None)
    nbformat.write(tutorial, folder / "not-run.ipynb")
    opened.open(address, "not-run.ipynb")
    opened.page.evaluate("() => { void window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
    opened.page.wait_for_function(RAN, arg=len(code), timeout=120_000)
    expect(opened.cell(code[-1]).locator(".jp-OutputArea")).to_contain_text("Right: 4.", use_inner_text=True)
