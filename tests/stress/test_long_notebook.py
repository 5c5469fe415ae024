"""A notebook of 500 cells that is run again and again in one kernel: memory, disk cache and time stay what they were.

``NXKERNEL_STRESS_CELLS`` says how many cells, ``NXKERNEL_STRESS_RUNS`` how often they run.
"""

import json
import re
import sys
import time

import pytest

from notebook_sessions.kernel_client import Kernel
from stress_testing import stressing

pytestmark = [
    pytest.mark.stress,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this system does not tell resident memory so"),
]

#: Cells about one function; a notebook is made of as many functions as fit.
_ABOUT_ONE = [
    "%%defn\ndef f{n}(x, *, by=2.0):\n    return nx.exp(-x * by) + {n} * nx.tanh(x)",
    "print(round(float(nx.sum(f{n}(np.ones({n} % 5 + 3)))), 6))",
    "f{n}(np.ones(({n} % 3 + 2, 4), 'f4'));\nprint(f{n}.why(np.ones(3, 'f4')).hit)",
    "%%defn\ndef f{n}(x, *, by=2.0):\n    t = x / 2\n    for _ in range({n} % 4 + 2):\n"
    "        t = t * by + nx.sin(x)\n    return t",
    "%jit f{n}(np.ones(64))\nprint(round(float(nx.sum(f{n}(np.ones(64), by={n} / 7))), 4))",
    "w{n} = np.arange({n} % 7 + 3.0)\ng{n} = nx.defn(lambda x: nx.sum(x * w{n}) / {n1})\n"
    "a = float(g{n}(w{n})); w{n} = w{n} + 1; print(round(a, 3), round(float(g{n}(w{n})), 3))",
    "print(np.round(np.asarray(nx.grad(lambda x: nx.sum(f{n}(x) ** 2))(np.ones(3))), 4))",
    "%nx inspect f{n}",
    "f{n}(np.ones(3), np.ones(4), 'text')",
    "%%jit\ny{n} = np.arange(12.0).reshape(3, 4) * {n}\nz{n} = (y{n} @ y{n}.T).sum(axis=0)",
]
#: In every tenth function's cells, in the place of the inspector.
_TIMELINE = "%nx timeline"
#: Cells that are to fail.
_FAILS = 8

# What IPython keeps of each cell that ever ran (In, Out and its outputs for a history) is not of this library.
_FIGURES = """
import gc, json, time
from nxkernel.compilers.numba_cpu.runtime import code_store
from nxkernel.definitions.calls.graph_cache import entry_groups
from nxkernel.definitions.observe.events import stream
import ipywidgets

def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) / 1024

whole, shell = resident(), get_ipython()
shell.displayhook.flush()
shell.history_manager.outputs.clear()
shell.history_manager.input_hist_parsed[:] = shell.history_manager.input_hist_raw[:] = [""]
gc.collect()
print(json.dumps(dict(spent=time.process_time(), whole=whole, resident=resident(), objects=len(gc.get_objects()),
    loaded=len(code_store.loaded()),
    programs=sum(len(group.programs()) for group in entry_groups()), records=stream.kept,
    widgets=len(ipywidgets.widgets.widget._instances))))
"""
#: Mebibytes that memory may grow between the second run and the last: what the allocator of C does not give back, and
#: a record of each thing that happened, of which 10,000 are kept.
SLACK, RECORD = 4, 1.5 / 1024


def notebook(count):
    """The texts of cells, and whether each is to fail."""
    cells = []
    for number in range(-(-count // len(_ABOUT_ONE))):
        for place, text in enumerate(_ABOUT_ONE):
            if place == _FAILS - 1 and number % 10 == 9:
                text = _TIMELINE
            cells.append((text.replace("{n1}", str(number + 1)).replace("{n}", str(number)), place == _FAILS))
    return cells[:count]


def test_a_long_notebook(tmp_path, say):
    cells, runs = notebook(stressing.many("CELLS", 500)), stressing.many("RUNS", 10)
    kernel, figures, outputs = Kernel(tmp_path / "cache"), [], []
    say(f"\n{len(cells)} cells, {runs} runs")
    try:
        assert kernel.run("%load_ext nxkernel\nimport numpy as np, nxkernel as nx")[1] == ""
        for turn in range(runs):
            begin, printed = time.perf_counter(), []
            for number, (text, fails) in enumerate(cells):
                said, error = kernel.run(text, f"cell-{number}")
                assert bool(error) == fails, (text, said, error)
                # What lines of %jit tell has times in it.
                printed.append([line for line in said.splitlines() if not re.search(r"\d (µs|ms|s)\b", line)])
            seconds = time.perf_counter() - begin
            outputs.append(printed)
            said, error = kernel.run(_FIGURES)
            assert error == ""
            now = json.loads(said)
            whole, temporary = stressing.kept(tmp_path / "cache")
            now |= {"files": len(whole), "bytes": sum(path.stat().st_size for path in whole)}
            now["seconds"] = now["spent"] - (figures[-1]["spent"] if figures else 0)
            figures.append(now)
            say(
                f"run {turn + 1}: {seconds:.1f} s, {now['seconds']:.1f} s of the kernel's processor; "
                f"{now['resident']:.1f} MiB resident ({now['whole']:.1f} with what IPython keeps), {now['objects']} "
                f"objects; {now['loaded']} functions loaded, {now['programs']} programs, {now['records']} records, "
                f"{now['widgets']} widgets; "
                f"{now['files']} files of {now['bytes'] / 1024:.0f} KiB"
            )
            assert temporary == []
    finally:
        kernel.close()
    for number, lines in enumerate(outputs[1]):
        assert lines == outputs[-1][number], cells[number][0]
    second, last = figures[1], figures[-1]
    # No function, program, widget or file is made again by cells that say what they said before.
    for name in ("loaded", "programs", "widgets", "files", "bytes"):
        assert [now[name] for now in figures[1:]] == [second[name]] * (runs - 1), name
    grown = last["resident"] - second["resident"]
    assert grown < SLACK + RECORD * (last["records"] - second["records"])
    # Processors are shared with others, so that the same takes longer at times.
    first, later = figures[1 : runs // 2 + 1], figures[runs // 2 + 1 :]
    assert min(now["seconds"] for now in later) < 1.3 * min(now["seconds"] for now in first)
