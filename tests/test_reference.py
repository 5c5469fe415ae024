"""The reference is built from the docstrings without a warning, has every public name, and stands alone."""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nxkernel as nx

#: All of them read the pages that are built first.
pytestmark = pytest.mark.packaging
ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "nxkernel", "nxkernel.constants", "nxkernel.linalg", "nxkernel.random", "nxkernel.nn", "nxkernel.nn.losses",
    "nxkernel.nn.metrics", "nxkernel.nn.initializers", "nxkernel.optim", "nxkernel.training", "nxkernel.optimize",
    "nxkernel.integrate", "nxkernel.interpolate", "nxkernel_lab",
)  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "build.py", folder],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout == f"{folder}/html/index.html\n"
    return {path.stem: path.read_text() for path in (folder / "html").glob("*.html")}


def public_names():
    for package in PACKAGES:
        module = importlib.import_module(package)
        yield from (f"{package}.{name}" for name in module.__all__ if not inspect.ismodule(getattr(module, name)))


def test_every_public_name_is_on_a_page(pages):
    entries = set(re.findall(r'<dt class="sig[^>]* id="([\w.]+)"', "".join(pages.values())))
    assert [name for name in public_names() if name not in entries] == []


def test_pages_are_packages(pages):
    assert {"definitions", "vocabulary", "tensors", "linalg", "random", "nn", "optim", "training"} <= set(pages)
    assert "nxkernel.linalg.svd" in pages["linalg"]
    assert "Cumulative sums, products and extremes along an axis" in pages["vocabulary"]


def test_what_is_trusted_is_told(pages):
    text = re.sub(r"<[^>]+>|\s+", " ", pages["trust"])
    for part in ("disk cache", "Files and bytes", "Checkpoints", "Pickle", "Numba", "Notebooks", "Messages from pages"):
        assert part in text, part
    sources = "".join(path.read_text() for path in (ROOT / "nxkernel").rglob("*.py"))
    variables = set(re.findall(r"\b(?:NXKERNEL|XDG)_[A-Z_]+\b", text))
    assert {"NXKERNEL_CACHE_DIR", "NXKERNEL_CACHE_KEY"} <= variables
    assert {name for name in variables if f'"{name}"' not in sources} == set()


def test_names_of_numpy_are_listed(pages):
    text = re.sub(r"<[^>]+>", "", pages["numpy"])
    listed, refused = text.split("Not there", 1)[0], text.rsplit("which are refused by name:", 1)[1]
    for name in nx.numpy.__all__:
        assert name.startswith("_") or not hasattr(np, name) or re.search(rf"\b{name}\b", listed), name
    assert "numpy.busday_count" in refused
    assert "numpy.einsum," not in refused


def test_commands_are_told(pages):
    assert "%nx inspect" in pages["notebooks"]
    assert "%nx why" in pages["notebooks"]


def test_nothing_is_loaded_from_elsewhere(pages):
    loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]*)"', "".join(pages.values()))
    assert loaded == []
