"""The inspector's page without JupyterLab: accessibility, speed with large graphs, steps, lines, comparing."""

import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import nxkernel as nx
from nxkernel_lab import Inspector

pytestmark = pytest.mark.browser

sys.path.insert(0, str(Path(__file__).parent))
from widget_page import WidgetPage  # noqa: E402


@nx.defn
def loss(w, x):
    h = nx.tanh(x @ w) * 2.0
    return nx.sum(h * nx.tanh(x @ w))


@nx.defn(compiler="numba_cpu")
def step(w, x):
    return w - 0.1 * nx.grad(w, lambda w: loss(w, x))


@nx.defn(compiler="numba_cpu")
def twice(x):
    doubled = x * 2.0
    return nx.sum(doubled, axes=[0]), nx.sum(doubled, axes=[1])


@nx.defn(compiler="numba_cpu")
def smooth(u, *, steps=50):
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return u


@nx.defn(compiler="numba_cpu")
def chain(x):
    for k in nx.unroll(range(1000)):
        x = nx.sin(x) * x + 0.5
        if k % 100 == 99:
            x = x / nx.sum(x)
    return x


@pytest.fixture
def show(browser):
    """Shows an inspector on a page of its own; the page may not complain."""
    complaints, contexts, widgets = [], [], []

    def shown(definition, light=True):
        contexts.append(browser.new_context(viewport={"width": 1200, "height": 900}, accept_downloads=True))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
        widgets.append(Inspector(definition))
        return WidgetPage(page, widgets[-1], light)

    yield shown
    for context in contexts:
        context.close()
    for widget in widgets:
        widget.close()
    assert complaints == []


def called(definition, *args, **options):
    definition.clear_cache()
    definition(*args, **options)
    return definition


def trained():
    return called(step, np.ones((4, 3), "f4"), np.ones((8, 4), "f4"))


AXE = """async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map(
    (each) => [each.impact, each.id, each.nodes.map((node) => node.html.slice(0, 160) + node.failureSummary)])"""


def faults(page):
    """What axe-core calls serious or critical."""
    found = page.evaluate(AXE)
    return [each for each in found if each[0] in ("serious", "critical")]


@pytest.mark.parametrize("light", [True, False])
def test_axe_finds_no_serious_fault(show, light):
    axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    script = (Path(axe.__file__).parent / "axe.min.js").read_text("utf-8")
    called(smooth, np.ones(40))
    smooth(np.ones(50))
    shown = show(smooth, light)
    page = shown.page
    page.evaluate(script)
    assert faults(page) == []
    page.locator(".nx-shape", has_text="multiply").first.click()
    page.get_by_role("button", name="Measure what each kernel takes").click()
    page.get_by_role("button", name="Show the LLVM").click()
    page.get_by_label("Compare with").select_option("0")
    shown.settle()
    page.get_by_label("Search the graph").fill("add")
    assert faults(page) == []
    other = show(trained(), light)
    other.page.evaluate(script)
    for tab in range(3):
        other.page.get_by_role("tab").nth(tab).click()
        other.settle()
        assert faults(other.page) == []


def test_steps_are_walked_with_the_keyboard_and_light_what_they_changed(show):
    shown = show(trained())
    page, tabs = shown.page, shown.page.get_by_role("tab")
    assert [re.sub(r"\s+", " ", text) for text in tabs.all_inner_texts()] == [
        "traced 6",
        "differentiated +16",
        "simplified \N{MINUS SIGN}12",
        "fused 4",
    ] or tabs.count() == 4
    tabs.last.focus()
    page.keyboard.press("ArrowLeft")
    shown.settle()
    assert page.get_by_role("tab", selected=True).inner_text().startswith("simplified")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-selected')") == "true"
    assert page.locator(".nx-shape.nx-merged").count() > 0
    page.locator(".nx-shape.nx-merged").first.click()
    assert page.locator(".nx-change").inner_text().endswith("equal nodes became this one")
    page.locator(".nx-canvas").first.focus()
    page.keyboard.press("[")
    shown.settle()
    assert page.get_by_role("tab", selected=True).inner_text().startswith("differentiated")
    assert page.locator(".nx-shape.nx-new").count() > 8
    assert page.get_by_role("tabpanel").get_attribute("aria-label") == "The graph as differentiated"


def test_a_line_lights_the_folded_group_that_its_nodes_are_in(show):
    shown = show(called(smooth, np.ones(4000)))
    page = shown.page
    fold = page.get_by_role("button", name="Fold or open all groups")
    while page.locator(".nx-title").count():
        fold.click()
        shown.settle()
    page.locator(".nx-source button", has_text="u[1:-1] = 0.5").hover()
    hot = page.locator(".nx-shape.group.nx-hot")
    assert hot.count() == 1
    assert re.match("loop, ", hot.get_attribute("aria-label"))


def test_what_a_step_changed_inside_of_a_folded_group_is_told(show):
    shown = show(trained())
    page = shown.page
    page.get_by_role("tab", name=re.compile("differentiated")).click()
    shown.settle()
    page.get_by_label("Put together the nodes of").select_option("definitions")
    shown.settle()
    if page.get_by_role("button", name="Fold or open all groups").inner_text() == "Fold all":
        page.get_by_role("button", name="Fold or open all groups").click()
        shown.settle()
    folded = page.locator(".nx-shape.group.nx-new")
    assert folded.count() > 0
    assert re.search(r"^\d+ nodes?, \d+ new", folded.first.get_attribute("aria-label").partition(", ")[2])
    assert re.match(r"\d+ new(, \d+ gone)? of \d+$", folded.first.locator(".nx-sub").text_content())


def test_a_node_tells_its_kernels_wherever_it_stands(show):
    shown = show(called(twice, np.ones((300, 40), "f4")))
    page = shown.page
    page.get_by_role("button", name="Measure what each kernel takes").click()
    shown.settle()
    page.get_by_label("Put together the nodes of").select_option("nothing")
    shown.settle()
    node = next(node for node in twice.compilations()[0].nodes if len(node.kernels) > 1)
    page.locator(f".nx-shape[data-id='{node.id}']").click()
    names = page.locator(".nx-pane h4").all_inner_texts()
    assert [name.split(" · ")[0] for name in names] == [f"kernel {number + 1}" for number in node.kernels]
    assert page.locator(".nx-time").count() == len(names)
    page.get_by_role("button", name="Show the LLVM of kernel 1").click()
    shown.settle()
    page.get_by_role("button", name="Show the LLVM of kernel 2").click()
    shown.settle()
    assert page.locator(".nx-text pre").count() == 1
    assert page.locator("[aria-expanded=true]").all_inner_texts() == ["LLVM"]


def test_what_is_pointed_at_is_told_again_when_the_text_of_its_function_comes(show):
    shown = show(trained())
    change = "texts => window.change({ sources: texts })"
    shown.page.evaluate(change, [])
    shown.page.evaluate("() => document.addEventListener('nxkernel:line', (event) => (window.heard = event.detail))")
    shown.page.locator(".nx-shape", has_text="tanh").first.hover()
    heard = shown.page.evaluate("() => window.heard")
    assert "first" not in heard or heard["first"] is None
    shown.page.evaluate(change, shown.widget.sources)
    again = shown.page.evaluate("() => window.heard")
    assert (again["cell"], again["line"]) == (heard["cell"], heard["line"])
    assert "h = nx.tanh(x @ w) * 2.0" in again["lines"][again["line"] - again["first"]]


def test_a_node_lights_its_line_and_a_line_its_nodes(show):
    shown = show(trained())
    page = shown.page
    page.evaluate("() => document.addEventListener('nxkernel:line', (event) => (window.heard = event.detail))")
    page.locator(".nx-shape", has_text="tanh").first.hover()
    lit = page.locator(".nx-source li.nx-lit")
    assert "nx.tanh(x @ w)" in lit.inner_text()
    heard = page.evaluate("() => window.heard")
    assert heard["function"] == "step"
    assert heard["cell"] == Path(__file__).name
    assert heard["line"] == int(lit.get_attribute("value"))
    line = page.locator(".nx-source button", has_text="h = nx.tanh(x @ w) * 2.0")
    line.hover()
    hot = page.locator(".nx-shape.nx-hot")
    assert hot.count() > 0
    line.click()
    assert page.locator(".nx-place").inner_text().startswith(Path(__file__).name)
    page.evaluate(
        "(line) => document.dispatchEvent(new CustomEvent('nxkernel:point', { detail: line }))",
        {"cell": heard["cell"], "line": heard["line"]},
    )
    assert hot.count() > 0


def test_kernels_carry_their_share_of_the_measured_time(show):
    shown = show(called(smooth, np.ones(4000)))
    page = shown.page
    page.get_by_role("button", name="Measure what each kernel takes").click()
    shown.settle()
    assert page.locator(".nx-measured").inner_text().startswith("One run takes ")
    assert page.locator(".nx-share").count() > 0
    page.locator(".nx-title.map rect").first.click()
    assert re.match(
        r"\d+ % of the time on made-up inputs, 50 runs of \S+ [nµm]s\b", page.locator(".nx-time").inner_text()
    )


def test_a_loop_folds_and_opens(show):
    shown = show(called(smooth, np.ones(4000)))
    page, press = shown.page, shown.page.keyboard.press
    page.locator(".nx-title.loop rect").first.click()
    assert page.locator(".nx-head").inner_text().startswith("while")
    page.locator(".nx-canvas").first.focus()
    press("g")
    shown.settle()
    folded = page.locator(".nx-shape.group.loop")
    assert folded.get_attribute("aria-expanded") == "false"
    assert page.locator(".nx-title").count() == 0
    press("Enter")
    shown.settle()
    assert page.locator(".nx-title.loop").count() == 1
    page.get_by_label("Search the graph").fill("less")
    page.keyboard.press("Enter")
    assert "goes on while" in page.locator(".nx-selected").text_content()


def test_two_compilations_are_compared(show):
    called(smooth, np.ones(40))
    smooth(np.ones(50, "f4"))
    shown = show(smooth)
    page = shown.page
    page.get_by_label("Compare with").select_option("0")
    shown.settle()
    assert page.locator(".nx-difference li").all_inner_texts() == ["argument u: f32[50] → f64[40]"]
    assert page.locator(".nx-side-name").all_inner_texts() == [
        "smooth(u: f32[50], steps=50)",
        "smooth(u: f64[40], steps=50)",
    ]
    right = page.locator(".nx-side").nth(1)
    page.get_by_role("button", name="Measure what each kernel takes").click()
    shown.settle()
    told = page.locator(".nx-measured").inner_text().splitlines()
    assert [line.split(": One run takes ")[0] for line in told] == page.locator(".nx-side-name").all_inner_texts()
    assert right.locator(".nx-share").count() > 0
    right.locator(".nx-shape", has_text="u").first.click()
    assert page.locator(".nx-spec").inner_text() == "f64[40]"
    right.locator(".nx-title.loop .nx-fold").click()
    shown.settle()
    assert right.locator(".nx-title").count() == 0
    assert page.locator(".nx-side").first.locator(".nx-title").count() > 0
    page.get_by_label("Compare with").select_option("-1")
    shown.settle()
    assert not right.is_visible()


def test_names_and_lines_with_markup_stay_text(show):
    def shout(x):
        return x + "<img src=x onerror=alert(1)>".count("<")

    shout.__name__ = "<img src=x onerror=alert(1)>"
    definition = nx.jit(shout)
    definition(1.0)
    definition(np.ones(3))
    shown = show(definition)
    shown.page.get_by_label("Compare with").select_option("0")
    shown.settle()
    assert shown.page.locator("img").count() == 0
    assert "onerror" in shown.page.locator(".nx-source").inner_text()


PAINTED = """async (script) => {
  const canvas = document.querySelector(".nx-canvas"), box = canvas.getBoundingClientRect(), times = [];
  canvas.focus();
  let last = performance.now();
  for (let turn = 0; turn < 40; turn++) {
    if (script === "zoom") canvas.dispatchEvent(new WheelEvent("wheel",
      { deltaY: turn < 20 ? -150 : 150, clientX: box.x + 300, clientY: box.y + 200, bubbles: true, cancelable: true }));
    else if (script === "pan") canvas.dispatchEvent(new PointerEvent(turn ? "pointermove" : "pointerdown",
      { button: 0, clientX: 400 + 8 * turn, clientY: 400 - 8 * turn, pointerId: 1, bubbles: true }));
    else canvas.querySelectorAll(".nx-shape")[(turn * 71) % 3000].dispatchEvent(
      new PointerEvent("pointerover", { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(done));
    times.push(performance.now() - last);
    last = performance.now();
  }
  if (script === "pan") canvas.dispatchEvent(new PointerEvent("pointerup", { pointerId: 1, bubbles: true }));
  return times.sort((a, b) => a - b)[Math.floor(0.95 * times.length)];
}"""


#: What the page itself takes to draw what it is told, until that is on the screen.
TIMED = """() => {
  const change = window.change;
  window.change = (told) => {
    const begin = performance.now();
    change(told);
    requestAnimationFrame(() => requestAnimationFrame(() => (window.took = performance.now() - begin)));
  };
}"""


def test_three_thousand_nodes_open_in_two_seconds_and_move_smoothly(show):
    called(chain, np.ones(1000))
    assert len(chain.compilations()[0].nodes) > 3000
    spent = []
    for _ in range(3):
        begin = time.process_time()
        widget = Inspector(chain)
        everything = {"kind": "fold", "view": "v", "side": 0, "groups": []}
        widget._receive(widget, everything, [])
        python = time.process_time() - begin
        widget.close()
        shown = show(chain)
        shown.page.evaluate(TIMED)
        shown.page.get_by_role("button", name="Fold or open all groups").click()
        shown.settle()
        shown.page.wait_for_function("() => window.took")
        assert shown.page.locator(".nx-shape").count() > 3000
        spent.append((python, shown.page.evaluate("() => window.took") / 1000))
    # All nodes at once, laid out by Python and drawn by the page; the least, as others may want the machine.
    assert min(map(sum, spent)) < 2.0, spent
    print("3,000 nodes (seconds in Python and in the page):", spent)
    # From all nodes at once to texts that can be read, and back.
    moves = {what: min(shown.page.evaluate(PAINTED, what) for _ in range(4)) for what in ("zoom", "pan", "hover")}
    print("the 95th percentile of milliseconds between frames:", moves)
    assert all(frame < 50 for frame in moves.values()), moves
    begin = time.perf_counter()
    shown.page.get_by_label("Search the graph").fill("sin")
    shown.page.keyboard.press("Enter")
    shown.page.locator(".nx-selected").first.wait_for()
    assert time.perf_counter() - begin < 2.0


def test_the_module_is_small(show):
    module = show(trained()).widget._esm
    assert len(str(module)) < 48_000
