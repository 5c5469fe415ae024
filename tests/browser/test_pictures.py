"""The pictures of the README, taken of a real JupyterLab: what they show is there.

``python docs/pictures.py`` puts them into docs/, where a plain test keeps them to itself.
"""

import io
import os
import re
from pathlib import Path

import pytest
from PIL import Image

pytestmark = pytest.mark.browser

LOAD = "%load_ext nxkernel\nimport numpy as np, nxkernel as nx"
SOFTMAX = """\
%%defn
def softmax(t, *, axis=-1):
    e = nx.exp(t - nx.reduce_max(t, axes=[axis], keep_axes=True))
    return e / nx.sum(e, axes=[axis], keep_axes=True)"""
# Of another type than in the other picture, whose kernels would be found on disk.
SCORES = "x = np.float32(np.sin(np.add.outer(np.arange(2000.0), np.arange(480.0)) / 4) * 3)\nsoftmax(x);"
WAVES = "x = np.sin(np.add.outer(np.arange(20.0), np.arange(48.0)) / 4) * 3"
CALL = "softmax(x, axis=-1)"
PANEL = "nxkernel:open-panel"
LARGEST = 300_000


@pytest.fixture
def folder(tmp_path):
    return Path(os.environ.get("NXKERNEL_PICTURES", tmp_path))


@pytest.fixture
def lesson(lab, opened, document):
    """Opens a notebook as people like to see it: in light, with its own name, the panel beside it and nothing else."""

    def open_with(name, size, *sources):
        opened.open(lab[0], document(lab[1], *sources))
        page = opened.page
        if not page.evaluate("name => window.jupyterapp.commands.hasCommand(name)", PANEL):
            pytest.skip("the JupyterLab extension is not installed: `pip install .` builds it")
        page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        opened.theme("Light")
        page.evaluate("name => { void window.jupyterapp.shell.currentWidget.context.rename(name); }", f"{name}.ipynb")
        page.evaluate(
            "() => { window.jupyterapp.shell.mode = 'single-document'; window.jupyterapp.shell.collapseLeft(); }"
        )
        page.evaluate("name => { void window.jupyterapp.commands.execute(name); }", PANEL)
        page.locator(".nx-lab-panel").wait_for()
        return opened

    return open_with


def shot(opened, caret="hide"):
    # Nothing that is still fading in.
    opened.page.wait_for_timeout(250)
    return Image.open(io.BytesIO(opened.page.screenshot(animations="disabled", caret=caret))).convert("RGB")


def test_a_notebook_with_the_inspector(lesson, folder, expect):
    opened = lesson("softmax", (1400, 1140), LOAD, SOFTMAX, SCORES, "%nx inspect softmax")
    for index in range(4):
        opened.run(index)
    widget = opened.cell(3).locator(".nx-inspector")
    widget.get_by_role("button", name="Measure what each kernel takes").click()
    widget.locator(".nx-measured", has_text="One run takes").wait_for()
    widget.locator(".nx-shape", has_text="exp").first.click()
    expect(widget.locator(".nx-pane .nx-place")).to_have_text("cell 2, line 3", use_inner_text=True)
    opened.page.mouse.move(0, 0)
    opened.cell(1).evaluate("cell => cell.scrollIntoView({ block: 'start' })")
    picture, path = shot(opened), folder / "notebook.png"
    picture.quantize(160, dither=Image.Dither.NONE).save(path, optimize=True)
    assert path.stat().st_size < LARGEST


def test_a_recompilation_that_is_explained(lesson, folder, expect):
    opened = lesson("options", (1200, 640), LOAD, SOFTMAX, WAVES, CALL)
    page, panel = opened.page, opened.page.locator(".nx-lab-panel")
    for index in range(4):
        opened.run(index)
    panel.locator(".nx-rows li").first.wait_for()
    frames = [(shot(opened), 2000)]
    opened.cell(3).locator(".cm-content").click()
    for key in ("End", "ArrowLeft", "Backspace", "Backspace", "0"):
        page.keyboard.press(key)
        frames.append((shot(opened, "initial"), 350))
    opened.run(3)
    told = panel.locator(".nx-why > span", has_text="axis")
    expect(told).to_have_text(re.compile("^option axis: -1 → 0"), use_inner_text=True)
    frames.append((shot(opened), 4500))
    palette = frames[-1][0].quantize(160, dither=Image.Dither.NONE)
    first, *others = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame, _ in frames]
    path = folder / "recompilation.gif"
    first.save(path, save_all=True, append_images=others, duration=[time for _, time in frames], loop=0, optimize=True)
    assert path.stat().st_size < LARGEST
