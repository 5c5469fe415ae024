"""The widgets' scripts as one module each, the types of their sources, and their formatter of numbers."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import ago, amount, duration
from nxkernel_lab.static_files import script, style

LAB = Path(__file__).parents[2] / "extension" / "lab"
STATIC = LAB.parent / "nxkernel_lab" / "static"


@pytest.mark.parametrize("name", ["timeline_widget.js", "inspector.js"])
def test_a_widget_is_one_module_that_imports_nothing(name):
    text = script(name)
    assert re.findall(r"^(?:import|export)\b.*", text, re.MULTILINE)[1:] == []
    assert text.count("export default {") == 1
    assert "@param" not in text
    names = re.findall(r"^(?:async )?(?:const|function|class|let) (\w+)", text, re.MULTILINE)
    assert len(names) == len(set(names))
    # What is needed stands before what needs it, and only once.
    assert text.index("const html = ") < text.index("class Theme") < text.index("export default")


def test_styles_stand_one_after_the_other():
    assert style("palette.css", "timeline.css").startswith((STATIC / "palette.css").read_text("utf-8"))


@pytest.mark.parametrize(
    ("checker", "options"),
    [
        ("typescript/bin/tsc", ["--noEmit", "--project", "lab"]),
        ("eslint/bin/eslint.js", ["--config", "lab/eslint.config.mjs", "lab/src", "nxkernel_lab/static"]),
    ],
    ids=["types", "lint"],
)
def test_front_end_types_and_lint_hold(checker, options):
    program = LAB / "node_modules" / checker
    if not program.exists():
        pytest.skip(f"{program.stem} is not installed here: `npm ci` in extension/lab installs it")
    command = ["node", program, *options]
    checked = subprocess.run(command, cwd=LAB.parent, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, "")


def test_python_and_pages_say_numbers_alike():
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no Node here to run the pages' formatter")
    times = [0, 0.0004, 0.0009994, 0.0009996, 0.012, 0.9996, 1.44, 9.96, 41.2, 999.4, 999.6, 2300]
    sizes = [0, 12, 999, 1000, 4_194_304, 2_500_000_000, 3 * 10**12]
    ages = [0.2, 1, 40, 60, 600, 7300, 200_000]
    ask = f"{times}.map(duration), {sizes}.map(bytes), {ages}.map(ago), [0, 1, 2].map((n) => counted(n, 'hit'))"
    program = script("quantities.js") + f"\nconsole.log(JSON.stringify([{ask}]));"
    said = subprocess.run([node, "-e", program], capture_output=True, text=True, check=True).stdout
    assert json.loads(said) == [
        [duration(each) for each in times],
        [f"{amount(each)}B" for each in sizes],
        [ago(each) for each in ages],
        [counted(each, "hit") for each in (0, 1, 2)],
    ]
