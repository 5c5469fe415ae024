"""The panel, the status item and the marks in a real JupyterLab, from the launcher to a kernel that finds its files."""

import os
import re
import shutil

import pytest

pytestmark = pytest.mark.browser

IMPORT = "import numpy as np, nxkernel as nx"
SOFTMAX = """\
%%defn
def softmax(t, *, axis=-1):
    e = nx.exp(t - nx.reduce_max(t, axes=[axis], keep_axes=True))
    return e / nx.sum(e, axes=[axis], keep_axes=True)"""
ROWS, COLUMNS = "softmax(np.ones((4, 10), 'f4'));", "softmax(np.ones((4, 10), 'f4'), axis=0);"
REASON = "option axis: -1 → 0"
#: Whether the layout, which JupyterLab saves a little later than it changes, has the panel and as many pages.
SAVED = """async pages => {
    const name = new URL(location.href).pathname.match(/workspaces\\/([^/]+)/)[1];
    const { data } = await window.jupyterapp.serviceManager.workspaces.fetch(name);
    const layout = data["layout-restorer:data"];
    return layout?.right?.current === "nxkernel-panel" && layout.main?.dock?.widgets?.length === pages;
}"""
#: A page that was loaded anew opens the notebook of its address once more, seconds after it has restored it.
FOLLOW = """(() => {
    const waiting = setInterval(() => {
        if (!window.jupyterapp) return;
        clearInterval(waiting);
        window.jupyterapp.commands.commandExecuted.connect((_, { id, result }) => {
            if (id === "filebrowser:open-path") void result.then(() => { window.addressOpened = true; });
        });
    }, 5);
})()"""
#: How far a mark is below the number of its cell, in one step: between two, the page may scroll.
BELOW = """mark => {
    const number = document.createRange();
    number.selectNodeContents(mark.closest(".jp-Cell").querySelector(".jp-InputPrompt"));
    return mark.getBoundingClientRect().top - number.getBoundingClientRect().bottom;
}"""
FIND = "() => window.jupyterapp.hasPlugin('nxkernel-lab:plugin')"


@pytest.fixture
def launched(lab, opened):
    """A notebook that was begun with the kernel of nxkernel, which has no programs on disk from other tests."""
    address, notebooks = lab
    shutil.rmtree(notebooks.parent / "cache", ignore_errors=True)
    opened.launch(address, "Nx (Python 3)")
    if not opened.page.evaluate(FIND):
        pytest.skip("the JupyterLab extension is not built here: `pip install .` builds it")
    return opened


def panel(opened):
    return opened.page.locator("#nxkernel-panel")


def status(opened):
    return opened.page.locator(".nx-lab-status button")


def event(opened, *texts):
    """The rows of the timeline that have all these texts, once there is one."""
    rows = panel(opened).locator(".nx-rows li")
    for text in texts:
        rows = rows.filter(has_text=text)
    rows.first.wait_for(timeout=20_000)
    return rows


def contrast(locator):
    """How the text of an element stands out from what is behind it, as accessibility counts it."""
    return locator.evaluate(
        """element => {
            const numbers = text => (text.match(/[\\d.]+/g) ?? []).map(Number);
            const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
            const light = text => {
                const [r, g, b] = numbers(text).map(c => linear(c / 255));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
            };
            let behind = element;
            while (numbers(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
            const pair = [light(getComputedStyle(element).color), light(getComputedStyle(behind).backgroundColor)];
            return Math.max(...pair) / Math.min(...pair);
        }"""
    )


def wait_until_saved(opened, pages):
    for _ in range(100):
        if opened.page.evaluate(SAVED, pages):
            return
        opened.page.wait_for_timeout(100)
    raise AssertionError("the layout is not saved")


def shoot(opened, name):
    if folder := os.environ.get("NXKERNEL_SCREENSHOTS"):
        opened.page.screenshot(path=f"{folder}/{name}.png")


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_from_the_launcher_to_kernels_on_disk(launched, expect, theme):
    launched.theme(theme)
    for index, text in enumerate([IMPORT, SOFTMAX, ROWS, "%nx inspect softmax"]):
        launched.write(index, text)
    launched.cell(3).locator(".nx-shape").first.wait_for()
    status(launched).filter(has_text="1 compiled").wait_for()
    status(launched).click()
    event(launched, "softmax", "compiled")

    launched.write(4, COLUMNS)
    again = event(launched, "compiled again", REASON)
    expect(again).to_have_count(1)
    mark = launched.cell(4).locator(".nx-lab-mark")
    expect(mark).to_have_attribute("title", f"another program of softmax\n  {REASON}")
    expect(launched.page.locator(".nx-lab-mark")).to_have_count(1)
    # A number of three digits would be covered beside it.
    assert mark.evaluate(BELOW) >= 0
    shoot(launched, f"again-{theme}")
    for quiet in (".nx-why span", "time", ".nx-rows b", ".nx-lab-kernel"):
        assert contrast(panel(launched).locator(quiet).first) >= 4.5

    launched.run(4)
    event(launched, "softmax", "1 hit")
    mark.wait_for(state="detached")
    status(launched).filter(has_text="2 compiled · 0 from disk · 1 hit").wait_for()

    launched.restart()
    status(launched).filter(has_text="0 compiled").wait_for(timeout=30_000)
    launched.wait_idle()
    for index in (0, 1, 2, 4):
        launched.run(index)
    event(launched, "softmax", "loaded from disk")
    status(launched).filter(has_text="0 compiled · 2 from disk").wait_for()
    shoot(launched, f"disk-{theme}")


def test_caches_are_cleared_and_put_back(launched, expect):
    for index, text in enumerate([IMPORT, SOFTMAX, ROWS, COLUMNS]):
        launched.write(index, text)
    launched.command("nxkernel:open-panel")
    event(launched, "softmax", REASON)
    tabs, press = panel(launched).get_by_role("tab"), launched.page.keyboard.press
    expect(tabs).to_have_text(["Timeline", "Functions", "Cells", "Caches", "Device"], use_inner_text=True)

    launched.focus(tabs.first)
    press("ArrowRight")
    table = panel(launched).locator("table")
    totals = table.locator("tbody tr")
    expect(totals.locator("th")).to_have_text(["softmax"], use_inner_text=True)
    heads = table.locator("thead th").all_inner_texts()
    counts = dict(zip(heads[1:], totals.locator("td").all_inner_texts(), strict=True))
    assert (counts["again"], counts["hits"], counts["Programs"]) == ("1", "0", "2")
    assert sum(int(counts.get(kind, "0")) for kind in ("compiled", "from disk", "traced")) == 2
    shoot(launched, "functions")
    press("ArrowRight")
    shoot(launched, "cells")

    press("ArrowRight")
    expect(panel(launched).get_by_role("tab", selected=True)).to_have_text("Caches", use_inner_text=True)
    shoot(launched, "caches")
    cached = panel(launched).locator("tbody tr", has_text="softmax")
    expect(cached).to_contain_text("2 of 256", use_inner_text=True)
    cached.locator("summary").click()
    signatures = ["softmax(t: f32[4][10], axis=-1)", "softmax(t: f32[4][10], axis=0)"]
    expect(cached.locator("li")).to_have_text(signatures, use_inner_text=True)
    panel(launched).get_by_role("button", name="Forget the programs of softmax").click()
    said = panel(launched).locator(".nx-message")
    said.filter(has_text="Forgot 2 programs of softmax.").wait_for()
    cached.wait_for(state="detached")
    said.get_by_role("button", name="Put the programs back").click()
    said.filter(has_text="Put back 2 programs.").wait_for()
    cached.wait_for()
    panel(launched).get_by_role("button", name="Remove the files from disk").click()
    panel(launched).locator(".nx-ask .nx-danger").click()
    said.filter(has_text="from disk").wait_for()

    launched.focus(tabs.nth(3))
    press("End")
    expect(panel(launched).locator("dl")).to_contain_text("numba_cpu", use_inner_text=True)
    shoot(launched, "device")


def test_a_reload_and_several_kernels(launched, expect):
    texts = "def tell(x, *, how='<img src=x onerror=alert(1)>'):\n    return x * len(how)"
    for index, text in enumerate([IMPORT, f"%%defn\n{texts}", "tell(1.0);", "tell(1.0, how='<b>other</b>');"]):
        launched.write(index, text)
    launched.command("nxkernel:open-panel")
    reason = event(launched, "option how").locator(".nx-why > span")
    told = "option how: '<img src=x onerror=alert(1)>' → '<b>other</b>'"
    assert reason.evaluate("each => each.firstChild.data") == told
    expect(panel(launched).locator("img, .nx-why b")).to_have_count(0)
    expect(launched.cell(3).locator(".nx-lab-mark")).to_have_attribute("title", re.compile("<b>other</b>"))

    launched.page.evaluate("async () => { await window.jupyterapp.shell.currentWidget.context.save(); }")
    wait_until_saved(launched, 1)
    launched.page.add_init_script(FOLLOW)
    launched.page.reload(wait_until="domcontentloaded")
    launched.page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=60_000)
    launched.wait_idle()
    event(launched, "option how")
    expect(panel(launched).locator(".nx-rows li")).to_have_count(2)
    launched.cell(3).locator(".nx-lab-mark").wait_for()

    launched.page.wait_for_function("() => window.addressOpened")
    first = launched.page.evaluate("window.jupyterapp.shell.currentWidget.id")
    launched.command("notebook:create-new", kernelName="python3")
    tabs = launched.page.locator("#jp-main-dock-panel .lm-TabBar-tab")
    launched.page.wait_for_function("id => window.jupyterapp.shell.currentWidget.id !== id", arg=first)
    launched.wait_idle()
    launched.cell(1).wait_for(state="detached")
    panel(launched).get_by_text("nxkernel is not loaded in this kernel.").wait_for()
    expect(status(launched)).to_be_hidden()
    launched.write(0, "%load_ext nxkernel")
    panel(launched).get_by_text("Nothing has been compiled yet").wait_for()
    launched.write(1, f"{IMPORT}\nnx.jit(lambda x: x * 3 + 1.0)(1.0)")
    event(launched, "lambda")
    expect(panel(launched).locator(".nx-rows li")).to_have_count(1)
    tabs.first.click()
    event(launched, "option how")


SAY = """\
from comm import get_comm_manager
from nxkernel_lab.records.view_data import snapshot
page = [each for each in get_comm_manager().comms.values() if each.target_name == "nxkernel"][-1]
for message in ({MESSAGES}):
    page.send(message)"""


def test_what_a_reader_is_at_stays_and_what_is_not_understood_is_not_shown(launched, expect):
    for index, text in enumerate([IMPORT, SOFTMAX, ROWS]):
        launched.write(index, text)
    launched.command("nxkernel:open-panel")
    first = event(launched, "softmax", "compiled")
    first.evaluate("each => { each.mine = true; }")
    launched.write(3, COLUMNS)
    event(launched, REASON)
    odd = [
        "None, [], 'news', {'kind': 'news'}, {'kind': 'eval', 'text': '1'}, {'kind': 'done', 'text': 1, 'undo': 0}",
        "{'kind': 'news', **snapshot(), 'events': [{'id': 10**6}]}",
        "{'kind': 'news', **snapshot(), 'since': 10**6, 'last': 10**6, 'events': []}",
    ]
    launched.write(4, SAY.replace("{MESSAGES}", ", ".join(odd)))
    launched.write(5, "softmax(np.ones((8, 12), 'f4'));")
    event(launched, "argument t: f32[4][10] → f32[8][12]")
    expect(panel(launched).locator(".nx-rows li")).to_have_count(3)
    assert panel(launched).locator(".nx-rows li").first.evaluate("each => each.mine")
    stranger = panel(launched).get_by_text("another version of nxkernel")
    # News of this version that the page has asked for late may come after it: then it is sent once more.
    for _ in range(5):
        launched.write(6, SAY.replace("{MESSAGES}", "{'kind': 'news', 'version': 99},"))
        launched.page.wait_for_timeout(500)
        if stranger.is_visible():
            break
    expect(stranger).to_be_visible()
    expect(status(launched)).to_be_hidden()


def test_options_are_completed_and_lines_are_lit(launched):
    for index, text in enumerate([IMPORT, SOFTMAX, ROWS, "%nx inspect softmax"]):
        launched.write(index, text)
    keys, offered = launched.page.keyboard, launched.page.locator(".jp-Completer-item")
    launched.cell(4).locator(".jp-InputArea-editor").click()
    keys.type("%%defn --co")
    keys.press("Tab")
    offered.filter(has_text="--compiler").wait_for()
    keys.press("Enter")
    offered.wait_for(state="hidden")
    keys.type(" ")
    keys.press("Tab")
    offered.filter(has_text="evaluator").wait_for()
    shoot(launched, "completion")
    keys.press("Escape")

    tell = """(element, detail) => {
        element.dispatchEvent(new CustomEvent('nxkernel:line', { bubbles: true, composed: true, detail }));
    }"""
    inspector, light = launched.page.locator(".nx-inspector"), launched.page.locator(".nx-lab-line")
    inspector.evaluate(tell, {"cell": "cell 2", "line": 3})
    launched.wait_lit(1, line=3)
    for nothing in (None, {"cell": "cell 2", "line": "3"}, {"cell": "cell 99", "line": 1}):
        inspector.evaluate(tell, {"cell": "cell 2", "line": 3})
        light.wait_for(state="attached")
        inspector.evaluate(tell, nothing)
        light.wait_for(state="detached")

    box = launched.page.locator(".nx-inspector .nx-shape", has_text="exp").first
    box.hover()
    launched.wait_lit(1, line=3)
    launched.page.evaluate(
        "() => { document.addEventListener('nxkernel:point', event => { window.pointed = event.detail; }); }"
    )
    launched.cell(1).locator(".cm-line").nth(3).hover()
    pointed = launched.page.wait_for_function("() => window.pointed?.line === 4 && window.pointed").json_value()
    assert (pointed["cell"], pointed["line"], pointed["text"]) == ("cell 2", 4, SOFTMAX.split("\n"))
