"""The timeline on a page of its own: what a reader is at stays while news arrive, and nothing is left behind."""

import time

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.numba_cpu.runtime import code_store
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.observe.events import NotebookCell, stream
from nxkernel_lab.timeline.widget import Timeline
from tests.browser.widget_page import WidgetPage

pytestmark = pytest.mark.browser

#: Many events, so that the list is longer than its room.
MANY = 40


@pytest.fixture
def doubled(monkeypatch):
    graph_cache.clear()
    stream.clear()
    monkeypatch.setattr(stream, "cell", NotebookCell("cell 3"))
    doubled = nx.jit(lambda t: t * 2, compiler="evaluator")
    doubled.__name__ = "doubled"
    for size in range(1, MANY):
        doubled(np.ones(size))
    yield doubled
    graph_cache.clear()
    stream.clear()


@pytest.fixture
def shown(browser, expect, doubled):
    page = browser.new_page(viewport={"width": 1150, "height": 700})
    shown = WidgetPage(page, Timeline())
    expect(rows(shown)).to_have_count(MANY - 1)
    yield shown
    page.close()


def rows(shown):
    return shown.page.locator(".nx-rows li")


def happen(shown, doubled, size, cell="cell 3"):
    """Something happens in Python, and the page hears of it."""
    stream.cell = NotebookCell(cell)
    doubled(np.ones(size))
    before = rows(shown).count()
    for page in shown.widget._views.values():
        page.refresh()
    shown.settle()
    shown.page.wait_for_function(f"() => document.querySelectorAll('.nx-rows li').length > {before}")


def test_the_end_is_shown_until_the_reader_goes_elsewhere(shown, doubled):
    body = shown.page.locator(".nx-page")
    left = "each => each.scrollHeight - each.clientHeight - each.scrollTop"
    shown.page.wait_for_function("() => document.querySelector('.nx-page').scrollTop > 0")
    assert body.evaluate(left) < 2
    happen(shown, doubled, MANY)
    assert body.evaluate(left) < 2
    body.evaluate("each => { each.scrollTop = 300; }")
    happen(shown, doubled, MANY + 1)
    assert body.evaluate("each => each.scrollTop") == 300


def test_focus_and_selection_stay_while_news_arrive(shown, expect, doubled):
    row = rows(shown).nth(4)
    row.focus()
    row.evaluate("""each => {
        const range = document.createRange();
        range.selectNodeContents(each.querySelector(".nx-why"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        each.mine = true;
    }""")
    selected = shown.page.evaluate("() => getSelection().toString()")
    assert "f64[4] → f64[5]" in selected
    for index, cell in enumerate(("cell 3", "cell 4", "cell 4")):
        happen(shown, doubled, MANY + index, cell)
    assert shown.page.evaluate("() => getSelection().toString()") == selected
    assert row.evaluate("each => each.mine && each === document.activeElement")
    expect(shown.page.locator("h3")).to_have_text(["cell 3", "cell 4"], use_inner_text=True)
    shown.page.keyboard.press("ArrowDown")
    expect(shown.page.locator(":focus")).to_contain_text("f64[5] → f64[6]", use_inner_text=True)


def test_filters_leave_what_fits(shown, expect):
    kept = rows(shown).nth(20)
    kept.evaluate("each => { each.mine = true; }")
    shown.page.get_by_label("Search events").fill("f64[21]")
    expect(rows(shown)).to_have_count(2)
    assert rows(shown).evaluate_all("all => all.map(each => each.mine ?? false)") == [True, False]
    shown.page.get_by_label("Search events").fill("")
    expect(rows(shown)).to_have_count(MANY - 1)
    texts = [text.split("\t")[-1] for text in rows(shown).all_inner_texts()]
    assert "f64[1] → f64[2]" in texts[1]
    assert f"→ f64[{MANY - 1}]" in texts[-1]


def test_advice_is_given_once_in_a_row_and_names_turn_only_themselves(shown, expect, doubled):
    scaled = nx.jit(lambda t, *, by: t * by, compiler="evaluator")
    scaled.__name__ = "scaled"
    for turn in range(4):
        stream.cell = NotebookCell("cell 4" if turn < 3 else "cell 5")
        scaled(np.ones(3), by=1.5 + turn)
    happen(shown, doubled, MANY, "cell 6")
    expect(rows(shown)).to_have_count(MANY + 4)
    for index, advised in enumerate((0, 1, 0, 1), MANY - 1):
        expect(rows(shown).nth(index).locator(".nx-advice")).to_have_count(advised)
    name = rows(shown).last.locator(".nx-function")
    assert name.evaluate("each => getComputedStyle(each).unicodeBidi") == "isolate"


def test_code_of_programs_alone_is_counted_and_can_be_forgotten(browser, expect, doubled, monkeypatch):
    for name, text, buttons in (
        (f"nxp_{0:040x}", "0 kernels and 1 program, 2.0 kB of code, the first loaded just now", 1),
        ("nxk_runtime_pool", "none", 0),
    ):
        monkeypatch.setattr(code_store, "loaded", lambda name=name: {name: (2_000, time.time())})
        page = browser.new_page(viewport={"width": 1150, "height": 700})
        WidgetPage(page, Timeline("caches"))
        expect(page.locator("h3:has-text('Native code in memory') + p")).to_have_text(text, use_inner_text=True)
        expect(page.get_by_role("button", name="Forget the kernels in memory")).to_have_count(buttons)
        page.close()


def test_opened_details_stay_open(shown, expect, doubled):
    shown.page.get_by_role("tab", name="Caches").click()
    details = shown.page.locator("details")
    details.locator("summary").click()
    doubled(np.ones(MANY))
    for page in shown.widget._views.values():
        page.refresh()
    shown.settle()
    shown.page.locator("td", has_text=f"{MANY} of 256").wait_for()
    expect(details).to_have_js_property("open", True)
    expect(details.locator("summary")).to_be_focused()


def test_opening_and_closing_leaves_nothing_behind(browser, doubled):
    page = browser.new_page()
    shown = WidgetPage(page, Timeline())
    devtools = page.context.new_cdp_session(page)
    devtools.send("Performance.enable")

    def held():
        devtools.send("HeapProfiler.collectGarbage")
        found = {each["name"]: each["value"] for each in devtools.send("Performance.getMetrics")["metrics"]}
        return found["Nodes"], found["JSEventListeners"]

    def open_and_close(times):
        for _ in range(times):
            page.evaluate(
                "() => { window.end = window.render(document.body.appendChild(document.createElement('div'))); }"
            )
            shown.settle()
            page.evaluate("() => { window.end(); document.body.lastChild.remove(); window.end = null; }")
            shown.settle()

    open_and_close(3)
    page.wait_for_timeout(300)
    before = held()
    open_and_close(100)
    for _ in range(20):
        after = held()
        if after == before:
            break
        # The browser lets go of the last one when it has drawn the page without it.
        page.wait_for_timeout(100)
    assert after == before
    assert len(shown.widget._views) == 1
    page.close()
