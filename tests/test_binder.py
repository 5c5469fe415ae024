"""The environment that Binder serves: its files fit, and what they build from nothing opens on the tutorials."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BINDER = ROOT / "binder"
#: What a clone does not have.
BUILT = (
    ".git",
    "node_modules",
    "labextension",
    "lib",
    "build",
    "dist",
    "__pycache__",
    "*.egg-info",
    ".*cache",
    ".venv",
)


def first_page():
    return re.search(r"^first=/lab/tree/(\S+)$", (BINDER / "start").read_text(), re.MULTILINE)[1]


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_scripts_can_be_run(name):
    assert os.access(BINDER / name, os.X_OK)
    assert (BINDER / name).read_text().startswith("#!/usr/bin/env bash\n")


def test_python_is_one_that_nxkernel_takes():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = re.fullmatch(r"python-(3\.\d+)", (BINDER / "runtime.txt").read_text().strip())[1]
    assert f"Programming Language :: Python :: {version}" in settings["classifiers"]
    jupyterlab = (BINDER / "requirements.txt").read_text().strip()
    assert jupyterlab in settings["optional-dependencies"]["lab"]


def test_the_first_page_is_there():
    assert (ROOT / first_page()).is_file()


@pytest.mark.packaging
@pytest.mark.skipif("NXKERNEL_BINDER" not in os.environ, reason="takes minutes: NXKERNEL_BINDER=1 asks for it")
def test_builds_from_nothing_and_opens_on_the_tutorials(tmp_path):
    clone, venv = tmp_path / "clone", tmp_path / "venv"
    shutil.copytree(ROOT, clone, ignore=shutil.ignore_patterns(*BUILT))
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment |= {"PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}

    def run(*command):
        done = subprocess.run(
            command, cwd=clone, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    run(sys.executable, "-m", "venv", venv)
    run("python", "-m", "pip", "install", "-q", "-r", clone / "binder" / "requirements.txt")
    run(clone / "binder" / "postBuild")
    assert "nxkernel" in run("jupyter", "kernelspec", "list")
    assert (venv / "share" / "jupyter" / "labextensions" / "nxkernel-lab" / "package.json").is_file()
    run("jupyter", "execute", "--kernel_name=nxkernel", clone / first_page())
    assert first_page() in served(clone, environment)


def served(clone, environment, seconds=60):
    """Where somebody lands who opens the server's address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [clone / "binder" / "start", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token="]
    server = subprocess.Popen(command, cwd=clone, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end and server.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5) as answer:
                    return answer.url
            except OSError:
                time.sleep(0.2)
        return f"nothing within {seconds} s"
    finally:
        server.terminate()
        server.wait(15)
