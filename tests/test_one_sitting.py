"""The page that takes a function from a cell to machine code runs, prints what it shows, and names what there is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "one-sitting.rst"
TEXT = PAGE.read_text()
#: The forms that a function has on its way, in their order.
FORMS = (
    "The cell", "The rewritten source", "The graph", "The simplified graph", "The loop nests", "The plan",
    "The LLVM IR", "The machine code", "The call", "The same by a call",
)  # fmt: skip


@pytest.mark.slow
def test_prints_what_it_shows(tmp_path):
    command = next(line for line in TEXT.splitlines() if line.startswith("    python "))
    done = subprocess.run(
        [sys.executable, *command.split()[1:]],
        cwd=ROOT,
        env={**os.environ, "NXKERNEL_CACHE_DIR": "off", "IPYTHONDIR": str(tmp_path), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout[-3000:] + done.stderr[-3000:]


def test_shows_each_form_in_one_sitting():
    titles = re.findall(r"^\d+\. (.+)\n-+$", TEXT, re.MULTILINE)
    assert tuple(titles) == FORMS
    assert len(TEXT.splitlines()) <= 300


@pytest.mark.parametrize("form", FORMS)
def test_each_step_says_what_it_needs_and_guarantees(form):
    step = re.split(r"^\d+\. ", TEXT.partition(f" {form}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
    prose = re.sub(r"^(?:>>>|\.\.\.).*", "", step, flags=re.MULTILINE)
    assert "need" in prose
    assert "guarantee" in prose
    assert re.search(r"``(?:nxkernel|magics)/[\w/]+(?:\.py)?``", prose)


def test_names_files_that_are_there():
    named = set(re.findall(r"``((?:nxkernel|magics|docs)/[\w./-]+)``", TEXT))
    assert len(named) > 10
    assert {name for name in named if not (ROOT / name).exists()} == set()
