"""Definitions that come and go: memory, mappings and what programs are made of are what they were.

``NXKERNEL_STRESS_DEFINITIONS`` says how many.
"""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from stress_testing.stressing import many

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="this system does not tell memory so")

TEXT = """
    import collections, gc, json
    import numpy as np
    import nxkernel as nx
    from nxkernel.compilers.numba_cpu.runtime import loader, code_store
    from nxkernel.definitions.calls import graph_cache

    graph_cache.FUNCTIONS, graph_cache.PROGRAMS, graph_cache._LEAVING, code_store.KEPT = 20, 6, 2, 30_000
    NAMES = ["exp", "tanh", "sin", "cos", "sqrt", "log1p", "abs", "negate"]
    #: What there is a bounded number of otherwise: records of what happened, and what is known of texts.
    BOUNDED = {{"Event", "Reads", "Path", "Change", "Cell", "Source"}}
    x = np.linspace(1, 2, 16)

    def define(number):
        one, other = NAMES[number % 8], NAMES[number // 8 % 8]
        body = f"    y = nx.{{one}}(nx.{{other}}(x)) * by\\n    return y + {{number % 300}}"
        text = f"def f{{number}}(x, *, by=1.0):\\n{{body}}"
        space = {{"nx": nx}}
        exec(compile(text, f"<cell {{number}}>", "exec"), space)
        return nx.defn(space[f"f{{number}}"])

    def figures():
        gc.collect()
        counts = collections.Counter()
        for each in gc.get_objects():
            kind = type(each)
            if str(kind.__module__).startswith("nxkernel") and kind.__name__ not in BOUNDED:
                counts[kind.__name__] += 1
        with open("/proc/self/maps") as file:
            mappings = sum(1 for _ in file)
        resident = int(open("/proc/self/statm").read().split()[1]) * 4096
        taken = 0
        if loader.OWN:
            from nxkernel.compilers.numba_cpu.runtime import executable_memory
            taken = executable_memory.taken()[1]
        return dict(counts=sum(counts.values()), code=len(code_store.loaded()), taken=taken, mappings=mappings,
                    resident=resident, most=counts.most_common(3))

    for number in range({count}):
        definition = define(number)
        for kind in ("f4", "i4"):
            definition(x.astype(kind))
        definition(x, by=2.0)
        if number % 20 == 0:
            nx.grad(lambda x: nx.sum(definition(x)))(x)
        if number % 10 == 0:
            definition.clear_cache()
        if (number + 1) % {every} == 0:
            print(json.dumps(figures()), flush=True)
"""


def run(count, times, tmp_path):
    """The figures, so many times, of a process that makes so many definitions."""
    text = textwrap.dedent(TEXT).format(count=count, every=count // times)
    environment = os.environ | {"NXKERNEL_CACHE_DIR": str(tmp_path), "NUMBA_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore::ResourceWarning", "-c", text]
    child = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (child.returncode, child.stderr) == (0, "")
    return [json.loads(line) for line in child.stdout.splitlines()]


def check(found):
    """What is there does not grow with the number of definitions; a mapping or two come and go with the allocator's."""
    first, rest = found[0], found[1:]
    for now in rest:
        assert now["counts"] <= 1.1 * first["counts"] + 50, (first, now)
        assert now["code"] <= 1.3 * first["code"] + 20, (first, now)
        assert now["taken"] <= 1.5 * first["taken"] + 100_000, (first, now)
        assert now["mappings"] <= first["mappings"] + 12, (first, now)


@pytest.mark.slow
def test_definitions_come_and_go(tmp_path):
    check(run(100, 4, tmp_path))


@pytest.mark.stress
def test_a_day_of_definitions(tmp_path, say):
    count, times = many("DEFINITIONS", 20_000), 20
    found = run(count, times, tmp_path)
    for number, now in enumerate(found):
        say(f"{(number + 1) * count // times} definitions: {now}")
    # Records and texts that are kept are as many as there may be after a fifth.
    check(found[times // 5 :])
    grown = found[-1]["resident"] - found[times // 5]["resident"]
    assert grown < 24 << 20, f"{grown / 2**20:.1f} MiB"
