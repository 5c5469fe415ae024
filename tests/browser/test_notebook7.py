"""The widgets in Notebook 7, with the panel and as plain widgets where the extension is disabled."""

import os

import pytest

pytestmark = pytest.mark.browser

CELLS = (
    "%load_ext nxkernel\nimport numpy as np, nxkernel as nx",
    "%%defn\ndef halved(t, *, by=2.0):\n    return nx.exp(t) / by",
    "halved(np.ones(8, 'f4')); halved(np.ones(8, 'f4'), by=4.0);",
    "%nx inspect halved",
    "%nx timeline",
    "%nx cache",
    "halved(np.ones(9, 'f4'));",
)
REASON = "option by: 2.0 → 4.0"
#: What Notebook 7.6 says for itself while it starts, with an empty notebook and without us.
THEIRS = (
    "page: Cannot read properties of undefined (reading 'schema')",
    "page: Command 'filebrowser:open-path' not registered.",
)


@pytest.fixture(scope="module", params=[True, False], ids=["panel", "plain"])
def classic(serve, request):
    """The address and the folder of a Notebook 7, and whether it has the extension."""
    pytest.importorskip("notebook", reason="Notebook is not installed")
    return *(request.getfixturevalue("lab") if request.param else serve(extension=False)), request.param


def test_widgets_appear_and_work(classic, opened, document, expect):
    address, folder, extension = classic
    page = opened.page
    page.goto(f"{address}/notebooks/{document(folder, *CELLS)}", wait_until="domcontentloaded")
    opened.wait_idle()
    assert page.evaluate("window.jupyterapp.name") == "Jupyter Notebook"
    built = page.evaluate("window.jupyterapp.hasPlugin('nxkernel-lab:plugin')")
    if extension and not built:
        pytest.skip("the extension is not built here: `pip install .` builds it")
    assert built == extension
    for index in range(6):
        opened.run(index)
    inspector = page.locator(".nx-inspector")
    timeline, caches = (opened.cell(index).locator(".nx-timeline") for index in (4, 5))
    timeline.locator(".nx-rows li", has_text=REASON).wait_for()
    expect(caches.locator("tbody th")).to_have_text(["halved"], use_inner_text=True)

    opened.run(6)
    timeline.locator(".nx-rows li", has_text="argument t: f32[8] → f32[9]").wait_for()
    inspector.locator(".nx-events li", has_text="argument t: f32[8] → f32[9]").wait_for()
    # Pointing at a box says which line it is of: nobody listens where there is no extension, and nothing breaks.
    inspector.get_by_label("Search the graph").fill("exp")
    caches.get_by_role("button", name="Forget the programs of halved").click()
    caches.get_by_text("Forgot 3 programs of halved.").wait_for()
    inspector.get_by_text("Programs forgotten: the cache was cleared.").wait_for()
    expect(inspector.get_by_label("Search the graph")).to_be_hidden()
    for theme in ("Light", "Dark"):
        opened.theme(theme)
        page.wait_for_function(
            "name => [...document.querySelectorAll('[data-nx-theme]')].every(each => each.dataset.nxTheme === name)",
            arg=theme.lower(),
        )
        ground = "rgb(255, 255, 255)" if theme == "Light" else "rgb(17, 17, 17)"
        for each in (inspector, timeline):
            expect(each).to_have_css("background-color", ground)
        if pictures := os.environ.get("NXKERNEL_SCREENSHOTS"):
            page.screenshot(path=f"{pictures}/notebook-{theme}.png")

    if extension:
        opened.command("nxkernel:open-panel")
        page.locator("#nxkernel-panel .nx-rows li", has_text=REASON).wait_for()
        expect(page.locator(".nx-lab-mark")).to_have_count(2)
    opened.complaints[:] = [complaint for complaint in opened.complaints if complaint not in THEIRS]
