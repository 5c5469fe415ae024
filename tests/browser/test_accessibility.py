"""What axe finds in the panel, the status item, the marks and the inspector, in light and in dark."""

from importlib.resources import files

import pytest

pytestmark = pytest.mark.browser

axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
AXE = files(axe) / "axe.min.js"
SOFTMAX = """\
%%defn
def softmax(t, *, axis=-1):
    e = nx.exp(t - nx.reduce_max(t, axes=[axis], keep_axes=True))
    return e / nx.sum(e, axes=[axis], keep_axes=True)"""
CELLS = [
    "import numpy as np, nxkernel as nx",
    SOFTMAX,
    "softmax(np.ones((4, 10)));",
    "%nx inspect softmax",
    "softmax(np.ones((4, 10)), axis=0);",
]
RUN = """async place => {
    const found = await axe.run(place, { resultTypes: ["violations"] });
    const bad = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    return bad.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
}"""


def test_no_serious_faults(lab, opened, expect):
    address, _ = lab
    opened.launch(address, "Nx (Python 3)")
    for index, text in enumerate(CELLS):
        opened.write(index, text)
    opened.command("nxkernel:open-panel")
    opened.cell(3).locator(".nx-shape").first.wait_for()
    opened.cell(4).locator(".nx-lab-mark").wait_for()
    panel = opened.page.locator("#nxkernel-panel")
    panel.locator(".nx-rows li").nth(1).wait_for()
    opened.page.add_script_tag(path=AXE)
    for theme in ("Light", "Dark"):
        opened.theme(theme)
        opened.page.wait_for_timeout(300)
        for place in (".nx-lab-status", ".nx-lab-mark", ".nx-inspector"):
            assert opened.page.evaluate(RUN, place) == [], (theme, place)
        for tab in panel.get_by_role("tab").all():
            tab.click()
            expect(tab).to_have_attribute("aria-selected", "true")
            assert opened.page.evaluate(RUN, "#nxkernel-panel") == [], (theme, tab.inner_text())
