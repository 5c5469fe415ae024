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
    assert "    pip install '.[lab]' && jupyter lab tutorials/index.ipynb\n" in README
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
    for picture in (ROOT / "docs").glob("*.[pg][ni][gf]"):
        assert picture.stat().st_size < 300_000


def recorded():
    (table,) = TABLE.finditer(README)
    lines = [line for line in (ROOT / table[1]).read_text().splitlines() if line.startswith("|")]
    return [line for line in table[2].splitlines() if line.startswith("|")], lines


def test_rows_of_the_table_are_recorded_ones():
    shown, lines = recorded()
    assert shown == [line for line in lines if line in shown]


def test_goals_that_are_not_met_are_in_the_table():
    shown, lines = recorded()
    missed = [line for line in lines if "| no |" in line]
    met = [line for line in lines if "| yes |" in line]
    assert [line for line in missed if line not in shown] == []
    assert f"{len(met)} of {len(met) + len(missed)} goals met.\n" in README


#: As the README writes them.
WORDS = {10: "ten", 11: "eleven", 12: "twelve", 15: "fifteen", 16: "sixteen", 17: "seventeen"}


def test_what_is_counted_is_right():
    import numpy as np

    import nxkernel as nx
    from collection.catalogue import PROGRAMS
    from nxkernel import ops
    from nxkernel.optim import optimizers

    functions = len([*ops.__all__, *nx.linalg.__all__, *nx.random.__all__])
    others = {name for name in nx.optim.__all__ if hasattr(optimizers, name)} & {
        name for name, value in vars(optimizers).items() if getattr(value, "__module__", "") == optimizers.__name__
    }
    lessons = [path for path in (ROOT / "tutorials").glob("*.ipynb") if path.stem[:2].isdigit()]
    for statement in (
        f"about {round(len(set(nx.numpy.__all__) & set(dir(np))), -1)} of NumPy's names",
        f"{len(PROGRAMS)} programs written for NumPy alone",
        f"about {round(functions, -1)} functions: creation",
        f"adam, sgd and {WORDS[len(others) - 2]} others",
        f"{WORDS[len(lessons)]} lessons with exercises",
    ):
        assert statement in README


def test_comparison_names_its_sources():
    text = (ROOT / "docs" / "comparison.md").read_text()
    used = set(re.findall(r"\]\[([\w-]+)\]", text))
    given = dict(re.findall(r"^\[([\w-]+)\]: (https://\S+)$", text, re.MULTILINE))
    assert used == set(given)
    assert all((ROOT / "docs" / link).exists() for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text))


def test_ci_runs_the_test_command():
    assert "pip install '.[test]' && pytest" in (ROOT / ".ci" / "run").read_text()
