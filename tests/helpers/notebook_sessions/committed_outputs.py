"""Runs a notebook in a kernel of its own and tells which cells give other outputs than the file has."""

import os
import re
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient

import quick_modules

#: What nbval loses on the way: outputs that are written by other cells, cleared, or changed later.
INTERACTION = re.compile(r"\b(ipywidgets|interact|clear_output|update_display|display_id)\b")
#: What is looked at, not compared: pictures of plots, and widgets, which live in the kernel.
_UNCOMPARED = ("image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json")
_SHOWN = 5


@dataclass(frozen=True)
class Difference:
    """A cell, by the number that a notebook shows beside it, and how its output differs."""

    cell: int
    text: str


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def needs_nbclient(path):
    """Whether a cell does what nbval does not follow."""
    return any(INTERACTION.search(cell.source) for cell in code_cells(path))


def differences(path, sanitizers, cache):
    """Run a notebook with its disk cache in the folder `cache`, and compare its outputs with the committed ones."""
    run = _by_nbclient if needs_nbclient(path) else _by_nbval
    return run(path, sanitizers, {**os.environ, "NXKERNEL_CACHE_DIR": str(cache), "PY_COLORS": "0"})


def report(path, found):
    """What to tell of a notebook with differences."""
    numbers = ", ".join(f"[{difference.cell}]" for difference in found)
    lines = [f"{path.name} is stale: other outputs than the committed ones came from {numbers}."]
    for difference in found[:_SHOWN]:
        lines += [f"\ncell [{difference.cell}]:", difference.text]
    if len(found) > _SHOWN:
        lines.append(f"\n… and {len(found) - _SHOWN} more.")
    lines += ["\nIf the new outputs are right, keep them, and look at what changed before you commit:"]
    lines += [f"    python tutorials/rerun.py {path.stem}"]
    return "\n".join(lines)


def _by_nbval(path, sanitizers, environment):
    results = f"{environment['NXKERNEL_CACHE_DIR']}.xml"
    # Of pytest's other plugins it needs none, and each takes time to load.
    environment = {**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    nbval = ["-p", "nbval.plugin", "--nbval", "--nbval-current-env", "--nbval-sanitize-with", sanitizers]
    plain = ["-q", "--color=no", "-p", "no:cacheprovider", "--override-ini", "addopts="]
    done = subprocess.run(
        quick_modules.command("pytest", *nbval, *plain, f"--junitxml={results}", path),
        cwd=path.parent,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    cells = ET.parse(results).getroot().findall(".//testcase") if os.path.exists(results) else []
    if len(cells) != len(code_cells(path)):
        raise RuntimeError(f"nbval did not run {path.name}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    failed = [(cell, cell.find(kind)) for cell in cells for kind in ("failure", "error") if cell.find(kind) is not None]
    # nbval counts from 0.
    return [Difference(int(cell.get("name").split()[-1]) + 1, _told(failure.text or "")) for cell, failure in failed]


def _told(text):
    return re.sub(r"\ANotebook cell execution failed\nCell \d+: ", "", text).strip()


def _by_nbclient(path, sanitizers, environment):
    notebook = read(path)
    committed = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}})
    client.allow_errors = True
    client.execute(env=environment)
    patterns = _patterns(sanitizers)
    found = []
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, (cell, outputs) in enumerate(zip(cells, committed, strict=True), 1):
        had, has = _comparable(outputs, patterns), _comparable(cell.outputs, patterns)
        if had != has:
            lost = [f"- {part}" for part in had if part not in has]
            found.append(Difference(number, "\n".join(lost + [f"+ {part}" for part in has if part not in had])))
    return found


def _patterns(sanitizers):
    # As nbval reads the file.
    found = re.findall(r"^regex: (.*)\nreplace: (.*)$", Path(sanitizers).read_text(), re.MULTILINE)
    return [(re.compile(pattern), replacement) for pattern, replacement in found]


def _comparable(outputs, patterns):
    """The outputs as kinds and texts, streams in one piece each and with the last state of what is overwritten."""
    streams, others = {}, []
    for output in outputs:
        if output.output_type == "stream":
            streams[output.name] = streams.get(output.name, "") + output.text
        elif output.output_type == "error":
            others.append(("error", f"{output.ename}: {output.evalue}"))
        else:
            others += [(kind, str(value)) for kind, value in sorted(output.data.items()) if kind not in _UNCOMPARED]
    texts = [(name, re.sub(r"[^\n]*\r(?!\n)", "", text)) for name, text in sorted(streams.items())]
    return [(kind, _sanitized(text, patterns)) for kind, text in texts + others]


def _sanitized(text, patterns):
    for pattern, replacement in patterns:
        text = pattern.sub(replacement, text)
    return text
