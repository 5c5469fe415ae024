"""What a new process waits for: the import, and the first call with an empty and with a filled disk cache."""

from __future__ import annotations

import tempfile
import time

import nxkernel as nx
from benchmarks.measuring import children
from benchmarks.measuring.work import Goal, Outcome, Settings, Work
from benchmarks.peers.libraries import jax
from benchmarks.works import compile_time, programs

_IMPORT = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def first_call() -> float:
    """Seconds that the first call of a definition of 50 operations takes here."""
    inputs = compile_time.place("nxkernel", compile_time.data(1000))
    function = programs.build(programs.source("f", 50, 2000), nx, nx.select, "first call")
    start = time.perf_counter()
    nx.defn(function)(*inputs)
    return time.perf_counter() - start


def _imports(work: Work, settings: Settings) -> list[Outcome]:
    names = {"nxkernel": "nxkernel", **({"JAX": "jax"} if jax() else {}), "NumPy": "numpy"}
    best = dict.fromkeys(names, float("inf"))
    for _ in range(settings.repeats + 1):
        for library, name in names.items():
            best[library] = min(best[library], children.script(_IMPORT.format(name)))
    return [work.outcome(best)]


def _disk_cache(work: Work, settings: Settings) -> list[Outcome]:
    cold, warm = float("inf"), float("inf")
    for _ in range(max(1, settings.repeats // 2)):
        with tempfile.TemporaryDirectory() as folder:
            environment = {"NXKERNEL_CACHE_DIR": folder}
            cold = min(cold, children.call(__name__, "first_call", environment=environment))
            for _ in range(2):
                warm = min(warm, children.call(__name__, "first_call", environment=environment))
    note = f"{warm / cold:.2f} of its cold first call, {cold * 1e3:.0f} ms"
    return [work.outcome({"nxkernel": warm, "cold": cold}, note=note)]


WORKS = [
    Work("import", (Goal(0.6),), _imports),
    Work("first call in a new process, warm disk cache", (Goal(0.2, "cold"),), _disk_cache),
]
