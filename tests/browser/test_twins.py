"""What stands in the place of widgets: in a notebook that is not trusted, and in one of another session."""

import json
import os

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.observe.events import stream
from nxkernel_lab import Inspector, Timeline

pytestmark = pytest.mark.browser


def scaled(x, *, by="<img src=x onerror=alert(1)>"):
    return nx.tanh(x) * len(by)


@pytest.fixture
def saved(lab, document):
    """A notebook that somebody else has saved, with the widgets of a session that is gone."""
    graph_cache.clear()
    stream.clear()
    definition = nx.jit(scaled, compiler="evaluator")
    definition(np.ones(3, "f4"))
    definition(np.ones(3, "f4"), by="<b>bold</b>")
    _, folder = lab
    name = document(folder, "inspect", "timeline", "cache")
    whole = json.loads((folder / name).read_text())
    for widget, cell in zip((Inspector(definition), Timeline(), Timeline("caches")), whole["cells"], strict=True):
        data, metadata = widget._repr_mimebundle_()
        widget.close()
        output = {"output_type": "execute_result", "data": data, "metadata": metadata, "execution_count": 1}
        cell.update(outputs=[output], execution_count=1)
    (folder / name).write_text(json.dumps(whole))
    return name


def shoot(opened, name):
    if folder := os.environ.get("NXKERNEL_SCREENSHOTS"):
        opened.page.screenshot(path=f"{folder}/{name}.png")


def test_a_notebook_that_is_not_trusted_shows_tables_and_text(lab, opened, saved, expect):
    opened.open(lab[0], saved)
    text, events, programs = (opened.cell(index).locator(".jp-OutputArea") for index in range(3))
    expect(text).to_contain_text("tanh", use_inner_text=True)
    reason = "option by: '<img src=x onerror=alert(1)>' → '<b>bold</b>'"
    expect(events).to_contain_text(reason, use_inner_text=True)
    expect(programs.locator("tbody th")).to_have_text(["scaled"], use_inner_text=True)
    expect(programs).to_contain_text("scaled(x: f32[3], by='<b>bold</b>')", use_inner_text=True)
    for output in (text, events, programs):
        expect(output.locator("img, b, script")).to_have_count(0)
    for theme in ("Light", "Dark"):
        opened.theme(theme)
        shoot(opened, f"twins-{theme}")


def test_a_trusted_one_whose_kernel_does_not_know_the_widgets(lab, opened, saved, expect):
    opened.open(lab[0], saved)
    if not opened.page.evaluate("() => window.jupyterapp.hasPlugin('nxkernel-lab:plugin')"):
        pytest.skip("the JupyterLab extension is not built here: `pip install .` builds it")
    opened.command("notebook:trust")
    opened.page.locator(".jp-Dialog button.jp-mod-warn").click()
    picture, events, programs = (opened.cell(index).locator(".jp-OutputArea") for index in range(3))
    picture.locator(".jp-RenderedSVG img").wait_for()
    events.locator("td", has_text="option by: '<img src=x onerror=alert(1)>' → '<b>bold</b>'").wait_for()
    programs.locator("th", has_text="scaled").wait_for()
    expect(opened.page.get_by_text("Error displaying widget")).to_have_count(0)
    for output in (events, programs):
        expect(output.locator("img, b")).to_have_count(0)
    assert not opened.page.evaluate("window.jupyterapp.shell.currentWidget.content.model.dirty")
    shoot(opened, "trusted")
    # The manager of widgets says that it does not find them, once for each.
    opened.complaints[:] = [each for each in opened.complaints if "widget model not found" not in each]
