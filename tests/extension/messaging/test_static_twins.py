"""What stands beside a widget in an output."""

import base64
import re

import nbformat
import pytest

import nxkernel as nx
from nxkernel_lab import Inspector, Timeline
from nxkernel_lab.messaging.static_twins import MARK, with_twins


def test_twins_take_the_place_of_what_stood_there_and_leave_the_rest():
    widget = ({"text/plain": "Timeline()", "view": {"model_id": "1"}}, {"colab": 1})
    assert with_twins(widget, {"text/plain": "told", "text/html": "<table>", "image/svg+xml": ""}) == (
        {"text/plain": "told", "view": {"model_id": "1"}, "text/html": "<table>"},
        {"colab": 1, MARK: True},
    )
    assert widget[1] == {"colab": 1}


def test_no_widget_no_twin():
    assert with_twins(None, {"text/plain": "told"}) is None


def test_the_page_looks_for_the_same_mark(request):
    source = request.config.rootpath / "extension" / "lab" / "src" / "twins.ts"
    assert f"const TWIN = '{MARK}';" in source.read_text("utf-8")


@pytest.mark.parametrize("which", ["timeline", "caches", "inspector"])
def test_pages_made_of_notebooks_show_them(which):
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    definition = nx.jit(lambda x: nx.tanh(x), compiler="evaluator")
    definition(1.0)
    widget = Inspector(definition) if which == "inspector" else Timeline(which)
    data, metadata = widget._repr_mimebundle_()
    widget.close()
    output = nbformat.v4.new_output("execute_result", data, metadata=metadata)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=[output])])
    page = nbconvert.HTMLExporter().from_notebook_node(notebook)[0].partition("<body")[2]
    if which == "inspector":
        picture = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)[1]
        assert b">tanh</text>" in base64.b64decode(picture)
    else:
        assert "<table><caption>" in page
        assert "&lt;lambda&gt;" in page
    assert "widget-view" not in page
