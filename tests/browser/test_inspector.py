"""The inspector in a real JupyterLab: what a person does with it, in light and in dark."""

import re

import pytest

pytestmark = pytest.mark.browser

LOAD = "%load_ext nxkernel\nimport numpy as np, nxkernel as nx"
SOFTMAX = """\
%%defn
def softmax(t, *, axis=-1):
    e = nx.exp(t - nx.reduce_max(t, axes=[axis], keep_axes=True))
    return e / nx.sum(e, axes=[axis], keep_axes=True)"""
CALL = "softmax(np.ones((4, 10), 'f4'));"
CHAIN = """\
%%defn
def chain(x):
    for _ in nx.unroll(range(80)):
        x = nx.sin(x) * x
    return x / nx.sum(x)"""
#: Where an element is, and others in it, in one step: between two, the page may scroll.
PLACES = """(each, others) =>
    [each, ...each.querySelectorAll(others)].map(box => box.getBoundingClientRect().toJSON())"""


def inspect(notebook, name, *before):
    opened = notebook(LOAD, *before, f"%nx inspect {name}", "softmax(np.ones((8, 10), 'f4'));", "")
    for index in range(len(before) + 1):
        opened.run(index)
    widget = opened.run(len(before) + 1).locator(".nx-inspector")
    widget.locator(".nx-shape").first.wait_for()
    return opened, widget


def text_of(locator, wanted):
    """Wait until some text is there."""
    locator.filter(has_text=wanted).first.wait_for()


@pytest.mark.parametrize("theme", ["Light", "Dark"])
def test_from_a_cell_to_the_code_of_its_kernel(notebook, expect, theme):
    opened, widget = inspect(notebook, "softmax", SOFTMAX, CALL)
    opened.theme(theme)
    expect(widget).to_have_attribute("data-nx-theme", theme.lower())
    expect(widget.locator(".nx-name")).to_have_text("softmax(t: f32[4][10], axis=-1)", use_inner_text=True)

    widget.locator(".nx-shape", has_text=re.compile("^exp")).first.click()
    pane = widget.locator(".nx-pane")
    expect(pane.locator(".nx-spec")).to_have_text("f32[4][10]", use_inner_text=True)
    expect(pane.locator(".nx-place")).to_have_text("cell 2, line 3", use_inner_text=True)
    code = "e = nx.exp(t - nx.reduce_max(t, axes=[axis], keep_axes=True))"
    expect(pane.locator(".nx-code")).to_have_text(re.compile(f"^{re.escape(code)}$"), use_inner_text=True)
    expect(pane.locator("h4")).to_have_text(re.compile("^kernel 1 · "), use_inner_text=True)

    pane.get_by_role("button", name="Show the LLVM").click()
    text_of(pane.locator(".nx-text pre"), "define ")
    pane.get_by_role("button", name="Show the assembly").click()
    text_of(pane.locator(".nx-text pre"), "ret")
    expect(pane.locator(".nx-text pre")).to_have_count(1)

    opened.run(4)
    text_of(widget.locator(".nx-events li"), "argument t: f32[4][10] → f32[8][10]")
    expect(widget.locator(".nx-events li").last).to_contain_text("cell 5", use_inner_text=True)
    counts = re.compile("^0 calls answered from the cache, 2 traced")
    expect(widget.locator(".nx-counts")).to_have_text(counts, use_inner_text=True)
    choice = widget.get_by_label("Compilation", exact=True)
    both = ["softmax(t: f32[4][10], axis=-1)", "softmax(t: f32[8][10], axis=-1)"]
    expect(choice.locator("option")).to_have_text(both, use_inner_text=True)
    choice.select_option(index=1)
    text_of(widget.locator(".nx-shape"), "f32[8][10]")


def test_the_keyboard_is_enough(notebook, expect):
    opened, widget = inspect(notebook, "softmax", SOFTMAX, CALL)
    canvas, press = widget.locator(".nx-canvas"), opened.page.keyboard.press
    selected = widget.locator(".nx-selected")
    opened.focus(canvas)
    press("ArrowDown")
    expect(selected).to_have_attribute("aria-label", "t, f32[4][10]")
    press("ArrowDown")
    readers = ("reduce_max, f32[4][1]", "reduce_max, f32[4]", "subtract, f32[4][10]")
    expect(selected).to_have_attribute("aria-label", re.compile(f"^({'|'.join(map(re.escape, readers))})$"))
    expect(canvas).to_have_attribute("aria-activedescendant", selected.get_attribute("id"))
    press("ArrowUp")
    expect(selected).to_have_attribute("aria-label", "t, f32[4][10]")

    press("/")
    opened.page.keyboard.type("exp")
    text_of(widget.locator(".nx-matches"), re.compile(r"[1-9]\d* found"))
    press("Enter")
    expect(selected).to_have_attribute("aria-label", re.compile(r"^exp, f32\[4\]\[10\]"))
    press("Escape")
    press("g")
    widget.locator(".nx-shape.group").wait_for()
    expect(selected).to_have_attribute("aria-expanded", "false")
    press("Enter")
    widget.locator(".nx-title").first.wait_for()

    other = {"light": "dark", "dark": "light"}[widget.get_attribute("data-nx-theme")]
    widget.get_by_role("button", name="Light or dark").click()
    expect(widget).to_have_attribute("data-nx-theme", other)
    opened.focus(canvas)
    world = canvas.locator("> g")
    before = world.get_attribute("transform")
    press("+")
    expect(world).not_to_have_attribute("transform", before)
    near = world.get_attribute("transform")
    # Outside the widget, 0 0 asks whether to restart the kernel.
    press("0")
    press("0")
    expect(world).not_to_have_attribute("transform", near)
    expect(opened.page.locator(".jp-Dialog")).to_have_count(0)


def test_a_large_graph_opens_folded(notebook, expect):
    opened, widget = inspect(notebook, "chain", SOFTMAX + CHAIN.removeprefix("%%defn"), "chain(np.ones(100));")
    expect(widget.locator(".nx-title")).to_have_count(0)
    folded = widget.locator(".nx-shape.group").first
    folded.locator(".nx-fold").click()
    widget.locator(".nx-title").wait_for()
    expect(widget.locator(".nx-shape").nth(120)).to_be_attached()
    widget.get_by_role("button", name="Fold or open all groups").click()
    widget.locator(".nx-shape.group").last.wait_for()
    assert opened.complaints == []


def test_pictures_can_be_saved(notebook):
    opened, widget = inspect(notebook, "softmax", SOFTMAX, CALL)
    begins = {"SVG": b"<svg ", "PNG": b"\x89PNG", "DOT": b"// softmax"}
    for kind, begin in begins.items():
        with opened.page.expect_download() as download:
            widget.get_by_role("button", name=f"Save as {kind}").click()
        assert download.value.suggested_filename == f"softmax.{kind.lower()}"
        assert download.value.path().read_bytes().startswith(begin)


def test_names_with_markup_stay_text(notebook, expect):
    cell = "f = nx.defn(lambda t: t + 1)\nf.__name__ = '<img src=x onerror=alert(1)>'\nf(1.0);"
    _, widget = inspect(notebook, "f", cell)
    expect(widget.locator(".nx-name")).to_contain_text("<img src=x onerror=alert(1)>", use_inner_text=True)
    expect(widget.locator("img")).to_have_count(0)


def test_a_definition_that_was_not_called_yet_appears_when_it_is(notebook):
    opened = notebook(LOAD, SOFTMAX, "%nx inspect softmax", CALL)
    for index in range(3):
        opened.run(index)
    widget = opened.cell(2).locator(".nx-inspector")
    text_of(widget.locator(".nx-pane"), "Not compiled yet")
    opened.run(3)
    widget.locator(".nx-shape", has_text="exp").first.wait_for()
    text_of(widget.locator(".nx-events li"), "first call")


def test_a_widget_that_has_left_the_page_listens_no_longer(notebook, expect):
    kind = "from nxkernel_lab import Inspector\nimport gc\n"
    count = kind + "[each._feed.running for each in gc.get_objects() if Inspector in type(each).__mro__]"
    opened = notebook(LOAD, SOFTMAX, CALL, "%nx inspect softmax", count, "")
    for index in range(4):
        opened.run(index)
    opened.cell(3).locator(".nx-shape").first.wait_for()
    opened.run(3)
    opened.cell(3).locator(".nx-shape").first.wait_for()
    expect(opened.run(4)).to_have_text(re.compile(r"\[(True, False|False, True)\]$"), use_inner_text=True)


def test_the_cell_that_is_lit_is_the_one_with_the_functions_text(notebook, expect):
    decoy = SOFTMAX.replace("def softmax", "def decoy")
    opened = notebook(LOAD, decoy, SOFTMAX, CALL, "%nx inspect softmax", "")
    if not opened.page.evaluate("() => window.jupyterapp.commands.hasCommand('nxkernel:open-panel')"):
        pytest.skip("the JupyterLab extension is not built: `pip install .` builds it")
    opened.run(0)
    opened.run(1)
    opened.restart()
    opened.wait_idle()
    for index in (0, 2, 3, 4):
        opened.run(index)
    for index in (1, 2):
        expect(opened.cell(index).locator(".jp-InputPrompt")).to_have_text("[2]:", use_inner_text=True)
    inspector = opened.page.locator(".nx-inspector")
    box, hot = inspector.locator(".nx-shape", has_text="exp").first, inspector.locator(".nx-hot")

    box.hover()
    opened.wait_lit(2, line=3)
    opened.cell(2).locator(".cm-line").nth(2).hover()
    hot.first.wait_for()
    opened.cell(1).locator(".cm-line").nth(2).hover()
    hot.first.wait_for(state="detached")
    # Run again, unchanged, it has another number than when it was compiled.
    opened.run(2)
    expect(opened.cell(2).locator(".jp-InputPrompt")).to_have_text("[5]:", use_inner_text=True)
    box.hover()
    opened.wait_lit(2, line=3)
    opened.cell(2).locator(".cm-line").nth(2).hover()
    hot.first.wait_for()


RANKED = """\
%%defn
def ranked(t):
    decayed = nx.reduce(t, 0.0, lambda x, total: nx.sin(x) + total * 0.5 + nx.exp(-x) * 0.25, axes=[1])
    return nx.sort(t, axis=1), decayed"""


def test_folds_show_their_function_and_sorts_their_algorithm(notebook, expect):
    opened = notebook(LOAD, RANKED, "ranked(np.ones((3, 5000), 'f4'));", "%nx inspect ranked", "")
    for index in range(3):
        opened.run(index)
    widget = opened.run(3).locator(".nx-inspector")
    pane, canvas = widget.locator(".nx-pane"), widget.locator(".nx-canvas")
    widget.locator(".nx-shape", has_text="reduce").first.click()
    steps = pane.locator(".nx-body").inner_text().splitlines()
    assert [step.split()[2] for step in steps] == ["sin", "multiply", "add", "negate", "exp", "multiply", "add"]
    assert {step.split()[-1] for step in steps} == {"f32"}

    shown = widget.locator(".nx-shape", has_text="sort")
    expect(shown).to_have_count(1)
    shown.click()
    expect(pane.locator("h4")).to_have_text(re.compile(r"sort of 3 x 5000 .*, \d+ steps$"), use_inner_text=True)
    pane.get_by_role("button", name="Show the algorithm").click()
    text_of(pane.locator(".nx-text pre"), "def spread(source, item, notes):")
    _, copy, text = pane.evaluate(PLACES, ".nx-text button, .nx-text pre")
    assert copy["bottom"] <= text["top"]

    area, *frames = canvas.evaluate(PLACES, ".nx-frame")
    assert frames
    for box in frames:
        assert area["left"] <= box["left"] <= box["right"] <= area["right"]
        assert area["top"] <= box["top"] <= box["bottom"] <= area["bottom"]


def test_the_widget_appears_within_300_milliseconds(notebook):
    # The first one has anywidget's own module fetched; the least of all, as others share the machine.
    opened = notebook(LOAD, SOFTMAX, CALL, "%nx inspect softmax", "")
    for index in range(3):
        opened.run(index)
    waits = [opened.delay(3, ".nx-inspector .nx-shape") for _ in range(4)]
    print("milliseconds from the end of the cell to the graph:", waits)
    assert min(waits) < 300, waits
