"""A real JupyterLab and a real Chromium to drive it, both of which leave nothing behind."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

import quick_modules

ROOT = Path(__file__).parents[2]
#: What `pip install` builds.
BUILT = ROOT / "extension" / "lab" / "labextension"
PAGE = ".jp-NotebookPanel:not(.lm-mod-hidden)"
CELLS = "window.jupyterapp.shell.currentWidget.content.model.cells"
#: The page calls itself idle before its kernel is connected, and loses a Shift+Enter pressed then: ask the application.
IDLE = """() => {
    const session = window.jupyterapp?.shell?.currentWidget?.sessionContext, kernel = session?.session?.kernel;
    return !!(session?.isReady && kernel?.connectionStatus === "connected" && kernel?.status === "idle");
}"""

VIEWPORT = {"width": 1400, "height": 1000}
LEAVE = """async () => {
    const { shell, serviceManager } = window.jupyterapp;
    for (const widget of [...shell.widgets("main")]) widget.dispose();
    await serviceManager.sessions.shutdownAll();
}"""

#: Places are compared in one step: between two, the page may scroll, or an output above may grow.
LIT = """async row => {
    const near = (one, other) => Math.abs(one - other) < 1, end = performance.now() + 10000;
    for (;;) {
        const lights = [...document.querySelectorAll(".nx-lab-line")].map(each => each.getBoundingClientRect());
        const [lit] = lights, line = row.getBoundingClientRect();
        if (lights.length === 1 && near(lit.top, line.top) && near(lit.height, line.height)) return;
        if (performance.now() > end) throw new Error(`lit: ${JSON.stringify(lights)}; line: ${JSON.stringify(line)}`);
        await new Promise(resolve => setTimeout(resolve, 50));
    }
}"""

#: When the kernel said that it had done the cell, and when what is waited for was there, in milliseconds.
WATCH = """selector => {
    window.times = {};
    const session = window.jupyterapp.shell.currentWidget.sessionContext;
    session.iopubMessage.connect((_, message) => {
        if (message.header.msg_type === "status" && message.content.execution_state === "idle"
            && message.parent_header.msg_type === "execute_request") window.times.done ??= performance.now();
    });
    const watcher = new MutationObserver(() => {
        if (document.querySelector(selector)) {
            window.times.shown ??= performance.now();
            watcher.disconnect();
        }
    });
    watcher.observe(document.body, { childList: true, subtree: true });
}"""


def chromium_path():
    """Where Chromium is: one that playwright has installed, or the system's."""
    from playwright.sync_api import sync_playwright

    named = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if named:
        return named
    with sync_playwright() as playwright:
        installed = playwright.chromium.executable_path
    return installed if Path(installed).exists() else None


@pytest.fixture(scope="session")
def chromium():
    """Starts Chromium with the options of a method of playwright's."""
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    pytest.importorskip("playwright", reason="playwright is not installed")
    path = chromium_path()
    if path is None:
        pytest.skip("no Chromium: `playwright install chromium` installs one")
    from playwright.sync_api import sync_playwright

    # Chromium's own sandbox needs rights that containers do not give; the pages are our own, and so are all addresses.
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    arguments.append("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    with sync_playwright() as playwright, ExitStack() as running:

        def start(method, *given, **options):
            launch = getattr(playwright.chromium, method)
            return running.enter_context(launch(*given, executable_path=path, args=arguments, **options))

        yield start


@pytest.fixture(scope="session")
def browser(chromium):
    return chromium("launch")


@pytest.fixture(scope="session")
def profile(chromium, tmp_path_factory):
    """Chromium as somebody has it: what it has loaded and translated for one page serves the next one."""
    folder = tmp_path_factory.mktemp("profile")
    return chromium("launch_persistent_context", folder, viewport=VIEWPORT, accept_downloads=True)


@pytest.fixture(scope="session")
def expect(browser):
    """Assertions about a page that look again until they hold, for as long as a slow machine may take."""
    from playwright.sync_api import expect

    expect.set_options(timeout=20_000)
    return expect


@pytest.fixture(scope="session")
def serve(tmp_path_factory, browser):
    """Starts servers of JupyterLab, and of Notebook where it is installed, with our extension enabled or not."""
    with ExitStack() as running:
        yield lambda extension: running.enter_context(served(tmp_path_factory.mktemp("lab"), extension))


@pytest.fixture(scope="session")
def lab(serve):
    """The address and the folder of a JupyterLab whose settings are its own."""
    return serve(extension=True)


@contextmanager
def served(home, extension):
    """A server whose files are all in a folder: its address, and where its notebooks are."""
    notebooks = home / "notebooks"
    notebooks.mkdir()
    quiet = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "NXKERNEL_CACHE_DIR": "cache",
        "JUPYTER_PATH": "share",
    }
    share_extension(home / "share")
    if not extension:
        disabled = home / "config" / "labconfig" / "page_config.json"
        disabled.parent.mkdir(parents=True)
        disabled.write_text(json.dumps({"disabledExtensions": {"nxkernel-lab": True}}))
    path = os.pathsep.join(
        [*(str(ROOT / room) for room in ("", "magics", "extension")), os.environ.get("PYTHONPATH", "")]
    )
    environment = {**os.environ, "PYTHONPATH": path, **{name: str(home / folder) for name, folder in folders.items()}}
    command = quick_modules.command("jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={port}")
    command += ["--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1", "--IdentityProvider.token="]
    command += [f"--ServerApp.root_dir={notebooks}", "--LabApp.expose_app_in_browser=True"]
    command += ["--JupyterNotebookApp.expose_app_in_browser=True"]
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=home)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address + "/api/status", server, home / "log")
        yield address, notebooks
    finally:
        server.terminate()
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def share_extension(share):
    """Let JupyterLab find the kernel's spec, and the extension where it was built in this tree."""
    found = {"kernels/nxkernel": ROOT / "extension/kernelspec", "labextensions/nxkernel-lab": BUILT}
    for place, folder in found.items():
        if folder.exists():
            (share / place).parent.mkdir(parents=True)
            (share / place).symlink_to(folder, target_is_directory=True)


def wait_for(address, server, log, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=1) as answer:
                answer.read()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("JupyterLab did not start:\n" + log.read_text())


class Notebook:
    """An open notebook, and what its page complained about."""

    def __init__(self, page):
        self.page = page
        self.complaints = []

    def enter(self, address, document=""):
        """Load JupyterLab, with a document or the launcher."""
        workspace = f"{address}/lab/workspaces/auto-{uuid4().hex}"
        self.page.goto(f"{workspace}/{document and 'tree/'}{document}?reset", wait_until="domcontentloaded")
        self.page.wait_for_function("() => window.jupyterapp?.restored.then(() => true)", timeout=60_000)
        self.page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=60_000)

    def open(self, address, name):
        self.enter(address, name)
        self._wait_open()

    def launch(self, address, kernel):
        """Begin a notebook from the launcher."""
        self.enter(address)
        self.page.locator(f".jp-LauncherCard[data-category='Notebook'][title^='{kernel}']").click()
        self._wait_open()

    def change_to(self, name):
        """Open a notebook in JupyterLab as it is loaded."""
        self.command("docmanager:open", path=name, factory="Notebook")
        self._wait_open()

    def leave(self):
        """Close all that is open, unsaved or not, and end the kernels."""
        self.page.evaluate(LEAVE)

    def _wait_open(self):
        self.page.locator(f"{PAGE} .jp-Notebook").wait_for(timeout=60_000)
        self.wait_idle()

    def wait_idle(self):
        self.page.wait_for_function(IDLE, timeout=60_000)

    def cell(self, index):
        return self.page.locator(f"{PAGE} .jp-Cell[data-windowed-list-index='{index}']")

    def run(self, index):
        """Run a cell with Shift+Enter; its output area when it has ended."""
        cell = self.cell(index)
        cell.scroll_into_view_if_needed()
        cell.locator(".jp-InputArea-editor").click()
        self.page.evaluate(f"index => {{ {CELLS}.get(index).executionCount = null; }}", index)
        self.page.keyboard.press("Shift+Enter")
        done = f"index => {CELLS}.get(index).executionCount !== null && {CELLS}.get(index).executionState === 'idle'"
        self.page.wait_for_function(done, arg=index, timeout=60_000)
        self.wait_idle()
        return cell.locator(".jp-OutputArea").first

    def outputs(self, index):
        """What a cell has put out, drawn or not yet: all of it once the cell has run."""
        return self.page.evaluate(f"index => {CELLS}.get(index).outputs.toJSON()", index)

    def wait_lit(self, index, line):
        """Wait until the extension's light lies on a line of a cell."""
        rows = self.cell(index).locator(".cm-line")
        rows.nth(line - 1).evaluate(LIT)

    def write(self, index, text):
        """Write into a cell and run it."""
        self.page.evaluate(f"([index, text]) => {{ {CELLS}.get(index).sharedModel.setSource(text); }}", [index, text])
        return self.run(index)

    def delay(self, index, selector):
        """Run a cell anew; the milliseconds from its end until something is on the page."""
        self.page.evaluate(f"index => {{ {CELLS}.get(index).sharedModel.setOutputs([]); }}", index)
        self.page.locator(selector).first.wait_for(state="detached")
        self.page.evaluate(WATCH, selector)
        self.run(index)
        self.page.wait_for_function("() => window.times.shown && window.times.done")
        return self.page.evaluate("() => window.times.shown - window.times.done")

    def focus(self, locator):
        """Give it the focus, and again where JupyterLab, which looks after a cell that has run, has taken it back."""
        for _ in range(20):
            locator.focus()
            self.page.wait_for_timeout(100)
            if locator.evaluate("each => each === document.activeElement"):
                return
        raise AssertionError("the focus does not stay")

    def restart(self):
        self.command("notebook:restart-kernel")
        self.page.locator(".jp-Dialog button.jp-mod-warn").click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")

    def command(self, name, **arguments):
        # Not awaited: a command's promise may be a dialog's, and evaluate() would wait for it without end.
        execute = "([name, given]) => { void window.jupyterapp.commands.execute(name, given); }"
        self.page.evaluate(execute, [name, arguments])

    def theme(self, name):
        self.command("apputils:change-theme", theme=f"JupyterLab {name}")
        light = "true" if name == "Light" else "false"
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{light}'")


def new_page(profile):
    """A notebook to be, whose page tells what it asked for beyond this machine, and what it complains about."""
    opened = Notebook(profile.new_page())

    def asked(request):
        if not re.match(r"(\w+://127\.0\.0\.1[:/]|data:|blob:|chrome)", request.url):
            opened.complaints.append(f"request to {request.url}")

    def heard(message):
        if message.type == "error":
            opened.complaints.append(f"console: {message.text} ({message.location.get('url', '')})")

    opened.page.on("request", asked)
    opened.page.on("console", heard)
    opened.page.on("pageerror", lambda error: opened.complaints.append(f"page: {error}"))
    return opened


@pytest.fixture
def opened(profile):
    """A notebook to be, on a page of its own; fails when the page asked for anything else, or complained."""
    opened = new_page(profile)
    yield opened
    opened.page.close()
    assert opened.complaints == []


@pytest.fixture
def document(request):
    """Writes a notebook with the given cells, none of which has run, into a folder; its name."""

    def write(folder, *sources):
        nothing = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        cells = [{**nothing, "id": f"cell{i}", "source": text} for i, text in enumerate(sources)]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        # A notebook that has the path of another one gets its kernel, too.
        name = re.sub(r"\W", "-", f"{request.path.stem}-{request.node.name}") + ".ipynb"
        whole = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
        (folder / name).write_text(json.dumps(whole))
        return name

    return write


@pytest.fixture(scope="session")
def jupyterlab(profile, lab):
    """A page with JupyterLab, in which one notebook is opened after the other."""
    opened = new_page(profile)
    opened.enter(lab[0])
    yield opened
    opened.page.close()


@pytest.fixture
def notebook(jupyterlab, lab, document):
    """Opens a notebook with the given cells in a JupyterLab where nothing else is open; the page may not complain."""

    def open_with(*sources):
        jupyterlab.page.set_viewport_size(VIEWPORT)
        jupyterlab.change_to(document(lab[1], *sources))
        return jupyterlab

    jupyterlab.complaints.clear()
    yield open_with
    complaints = [*jupyterlab.complaints]
    jupyterlab.leave()
    assert complaints == []
