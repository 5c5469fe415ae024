"""The table of functions of SciPy's in ``docs/scipy.md``: ``python -m scipy_calls.table`` writes it anew."""

import json
import os
import subprocess
import sys
from pathlib import Path

from scipy_calls.calls import CALLS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "scipy.md"
BEGIN, END = "<!-- table: tests/helpers/scipy_calls -->", "<!-- end of table -->"


def outcomes(modules, *names):
    """By module and name, what came of each call compiled and at once, found in a process with SCIPY_ARRAY_API=1."""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "scipy_calls.run", ",".join(modules), *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def written(found):
    """The rows for what was found, and how many of all functions are compiled."""
    lines = ["| module | compiled | at once | which |", "|---|--:|--:|---|"]
    sums = [0, 0, 0]
    for module, results in found.items():
        counts = len(results), *[sum(not both[place] for both in results.values()) for place in (0, 1)]
        sums = [one + other for one, other in zip(sums, counts, strict=True)]
        marks = ["", " (at once alone)", " (compiled alone)", " (neither)"]
        which = [f"`{name}`{marks[bool(both[0]) + 2 * bool(both[1])]}" for name, both in sorted(results.items())]
        lines.append(f"| `{module}` | {counts[1]} of {counts[0]} | {counts[2]} | {', '.join(which)} |")
    lines.append(f"| all | {sums[1]} of {sums[0]} | {sums[2]} | |")
    return "\n".join(lines)


def shown():
    """The table as the page has it."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0].strip()


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{written(outcomes(CALLS))}\n{END}{rest.partition(END)[2]}")
