"""The widgets as VS Code and Colab show them: in a frame, without JupyterLab but with light values of its variables."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import nxkernel as nx
from nxkernel_lab import Inspector, Timeline

pytestmark = pytest.mark.browser

sys.path.insert(0, str(Path(__file__).parent))
from widget_page import WidgetPage  # noqa: E402

#: What the widgets' own style sheet says in both, in light and in dark.
LIGHT_VARIABLES = """() => {
    const style = document.documentElement.style;
    for (const [name, value] of Object.entries({ "layout-color0": "white", "layout-color2": "#eeeeee",
        "content-font-color1": "black", "content-font-color2": "#555555", "border-color2": "#e0e0e0" }))
        style.setProperty(`--jp-${name}`, value);
    document.documentElement.removeAttribute("theme");
    document.body.removeAttribute("class");
    delete document.body.dataset.jpThemeLight;
    delete document.body.dataset.vscodeThemeKind;
}"""
SAYS = {
    "colab light": ("() => document.documentElement.setAttribute('theme', 'light')", "light"),
    "colab dark": ("() => document.documentElement.setAttribute('theme', 'dark')", "dark"),
    "code light": ("() => document.body.classList.add('vscode-light')", "light"),
    "code dark": ("() => document.body.classList.add('vscode-dark')", "dark"),
    "code contrast": ("() => (document.body.dataset.vscodeThemeKind = 'vscode-high-contrast')", "dark"),
    "code contrast light": ("() => (document.body.dataset.vscodeThemeKind = 'vscode-high-contrast-light')", "light"),
    "unknown": ("() => {}", "light"),
}
GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}


@nx.defn(compiler="evaluator")
def scaled(x, *, by=2.0):
    return nx.tanh(x) * by


@pytest.fixture
def frame(browser):
    """A frame that may run scripts and save files, and no more; the page may not complain, or ask for anything."""
    complaints = []
    context = browser.new_context(viewport={"width": 1000, "height": 800}, accept_downloads=True)
    context.route("**/*", lambda route: (complaints.append(route.request.url), route.abort()))
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.set_content(
        "<body style='background:#1f1f1f'><iframe sandbox='allow-scripts allow-downloads' srcdoc='<p>'"
        " style='width:960px;height:760px;border:0'></iframe>"
    )
    yield page.frames[1]
    context.close()
    assert complaints == []


@pytest.fixture
def widgets():
    scaled.clear_cache()
    scaled(np.ones(3, "f4"))
    scaled(np.ones(3, "f4"), by=3.0)
    made = Inspector(scaled), Timeline()
    yield made
    for widget in made:
        widget.close()


@pytest.mark.parametrize("which", [0, 1], ids=["inspector", "timeline"])
def test_the_theme_is_the_pages(frame, widgets, expect, which):
    shown = WidgetPage(frame, widgets[which], width=900)
    shown.settle()
    view, turn = frame.locator(".nx-view"), frame.get_by_role("button", name="Light or dark")
    for says, (tell, theme) in SAYS.items():
        frame.evaluate(LIGHT_VARIABLES)
        frame.evaluate(tell)
        expect(view, says).to_have_attribute("data-nx-theme", theme)
        expect(view, says).to_have_css("background-color", GROUND[theme])
        if folder := os.environ.get("NXKERNEL_SCREENSHOTS"):
            view.screenshot(path=f"{folder}/{says.replace(' ', '-')}-{which}.png")
        turn.click()
        expect(view, says).to_have_css("background-color", GROUND["light" if theme == "dark" else "dark"])
        turn.click()


def test_everything_works_in_a_frame_without_rights(frame, widgets):
    shown = WidgetPage(frame, widgets[0], width=900)
    frame.evaluate(LIGHT_VARIABLES)
    frame.locator(".nx-shape", has_text="tanh").first.click()
    frame.locator(".nx-source button", has_text="nx.tanh").hover()
    shown.settle()
    for kind in ("SVG", "PNG", "DOT"):
        with frame.page.expect_download() as saved:
            frame.get_by_role("button", name=f"Save as {kind}").click()
            shown.settle()
        assert saved.value.suggested_filename == f"scaled.{kind.lower()}"
        assert Path(saved.value.path()).stat().st_size > 100


def test_code_that_may_not_be_copied_is_selected(frame):
    definition = nx.jit(scaled, compiler="numba_cpu")
    definition(np.ones(3, "f4"))
    widget = Inspector(definition)
    shown = WidgetPage(frame, widget, width=900)
    frame.locator(".nx-shape", has_text="tanh").first.click()
    frame.get_by_role("button", name="Show the LLVM").click()
    shown.settle()
    copy = frame.get_by_role("button", name="Copy the LLVM")
    copy.click()
    copy.filter(has_text="Selected: press Ctrl+C").wait_for()
    assert "define " in frame.evaluate("() => getSelection().toString()")
    widget.close()
