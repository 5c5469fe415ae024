"""What the README shows is so: its code runs, its links lead somewhere, its figures are the recorded ones."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
TABLE = re.compile(r"<!-- table: (\S+) -->\n(.*?)<!-- end of table -->", re.DOTALL)

RUN_CELLS = """\
import json, sys
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config
settings = Config()
settings.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=settings)
for cell in json.loads(sys.argv[1]):
    result = shell.run_cell(cell, store_history=True)
    result.raise_error()
"""


def cells():
    return re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_names_the_two_commands():
    assert "    pip install '.[lab]' && jupyter lab tutorials\n" in README
    assert "    pip install '.[test]' && pytest\n" in README


def test_code_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", RUN_CELLS, json.dumps(cells())],
        cwd=tmp_path,
        env={**os.environ, "NXKERNEL_CACHE_DIR": str(tmp_path / "cache"), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "np.float64(512.0)" in done.stdout
    assert "argument t: f64[512][64] → f64[100][64]" in done.stdout
    assert "softmax would compile: argument t: f64[100][64] → f32[512][64]" in done.stdout
    assert "kernel 1" in done.stdout
    assert "<fitted in 30 epochs, 240 steps: all epochs are done; loss 0.0" in done.stdout


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!https?:)([^)#]+)\)", README))))
def test_link_leads_to_a_file(link):
    assert (ROOT / link).is_file()


def test_pictures_are_small():
    for picture in (ROOT / "docs").glob("*.png"):
        assert picture.stat().st_size < 300_000


def test_table_is_the_recorded_one():
    (table,) = TABLE.finditer(README)
    recorded = [line for line in (ROOT / table[1]).read_text().splitlines() if line.startswith("|")]
    assert table[2].strip().splitlines() == recorded


def test_ci_runs_the_test_command():
    assert "pip install '.[test]' && pytest" in (ROOT / ".ci" / "run").read_text()
