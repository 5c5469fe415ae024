"""What causes tracing and compiling: `why` before a call, its event, the counts, and what really happened agree.

What really happened is counted apart from all records: how often the Python body of the function ran, and how many
object codes LLVM made.
"""

import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import gc
import os
import re
import subprocess
import sys
import threading
import types
from contextlib import contextmanager

import numpy as np
import pytest
from llvmlite.binding.targets import TargetMachine

import nxkernel as nx
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.numba_cpu.runtime import code_store
from nxkernel.definitions.calls.graph_cache import PROGRAMS
from recompilation.causes import CAUSES, Cause, X

#: The names of kernels and programs, which are hashes of what they do.
NAME = re.compile(r"nx[kp]_[0-9a-f]{40}")

SPACE = {
    each.__name__: each
    for each in (collections, copy, dataclasses, datetime, decimal, enum, fractions, functools, gc, threading, types)
} | {"nx": nx, "np": np, "PROGRAMS": PROGRAMS}


@contextmanager
def bodies_run(function):
    """Count how often Python runs the code of a function's body, whatever file or twin it is of."""
    plain = function.__nx_function__
    while isinstance(plain, functools.partial):
        plain = plain.func
    plain = getattr(plain, "__func__", plain)
    code = getattr(plain, "__code__", None) or type(plain).__call__.__code__
    count = [0]

    def met(frame, event, _argument):
        own = frame.f_code
        if event == "call":
            count[0] += (own.co_filename, own.co_name) == (code.co_filename, code.co_name)

    sys.setprofile(met)
    try:
        yield count
    finally:
        sys.setprofile(None)


def arguments(text, space):
    return eval(f"(lambda *args, **options: (args, options))({text})", space)


@pytest.mark.sampled(every=12)
@pytest.mark.sampled(every=3, lane="fuzz")
@pytest.mark.parametrize("number", range(len(CAUSES)))
def test_what_is_said_is_what_happens(number, run):
    cause = CAUSES[number]
    space = run(cause.cell, SPACE | {"__name__": "a_cell"})
    args, options = arguments(cause.first, space)
    space["f"](*args, **options)
    run(cause.change, space, "change.py")
    args, options = arguments(cause.then or cause.first, space)
    f = space["f"]
    before, known = f.cache_info(), len(nx.events(f, "miss"))
    said = f.why(*args, **options)
    assert f.cache_info() == before
    with bodies_run(f) as ran:
        f(*args, **options)
    after, told = f.cache_info(), nx.events(f, "miss")[known:]
    assert said.difference == cause.reason
    assert (said.hit, bool(ran[0]), len(told)) == (not cause.reason, bool(cause.reason), bool(cause.reason))
    assert (after.hits - before.hits, after.misses - before.misses) == (said.hit, not said.hit)
    for event in told:
        assert (event.reason, event.advice, event.notes) == (said.difference, said.advice, said.notes)
        assert event.advice == cause.advice
        assert event.compiled == after.compiled - before.compiled
        assert "not kept" in event.advice or f.compilations()[-1].reason == event.reason


#: Of each program what its function computes with, and whether it has loops or choices of its own.
PROGRAMS_OF = {
    "a map": ("x: nx.tanh(x) + 1", X, False),
    "rows": ("x: nx.sum(nx.tanh(x), axes=[1])", "np.ones((40, 30))", False),
    "rows and a map": ("x: (nx.sum(x), nx.atan(x))", X, False),
    "two loops that are alike": ("x: nx.sort(nx.sort(x) + 1)", "np.ones(200)", False),
    "a product": ("x: x @ x", "np.ones((20, 20))", False),
    "a product by a library": ("x: x @ x", "np.ones((300, 300))", False),
    "routines": ("x: nx.linalg.qr(nx.cumulative_sum(x))[1]", "np.ones((9, 9))", False),
    "one number": ("x: x * 3 + 0.25", "1.5", False),
    "a gradient": ("x: nx.grad(lambda v: nx.sum(nx.sin(v) * v))(x)", X, False),
    "vectorized": ("x: nx.acosh(x)", "nx.vectorize(np.full((2, 3), 2.0), 'n')", False),
    "a loop of numbers": (
        "@nx.defn\ndef f(x):\n    count = 0\n    while x > 1:\n        x = x // 2 if x % 2 == 0 else 3 * x + 1\n"
        "        count += 1\n    return count\n", "9", True,
    ),
    "a loop over an array": (
        "@nx.defn\ndef f(x):\n    while nx.sum(x) < 50.0:\n        x = x * 1.5 + nx.atanh(x / 1000.0)\n    return x\n",
        X, True,
    ),
    "a counted loop": ("@nx.defn\ndef f(x):\n    for i in range(9):\n        x = x * 0.5 + i\n    return x\n", X, True),
    "a choice": (
        "@nx.defn\ndef f(x):\n    if nx.sum(x) > 1.0:\n        x = nx.sin(x)\n    else:\n        x = nx.cos(x) * 2\n"
        "    return nx.sum(x)\n", X, True,
    ),
    "loops on all threads": (
        "import numpy as np\n@nx.defn\ndef f(x):\n    y = np.zeros_like(x)\n    for i in range(x.shape[0]):\n"
        "        for j in range(1, x.shape[1]):\n            y[i, j] = y[i, j - 1] * 0.5 + x[i, j]\n    return y\n",
        "np.ones((300, 400))", True,
    ),
}  # fmt: skip


@pytest.fixture
def made(monkeypatch, tmp_path):
    """The names of the functions of all object codes that LLVM makes; there is nothing on disk at first."""
    nx.jit(lambda x: x + 1, compiler="numba_cpu")(1.0)  # what all programs call
    names = []
    emit = TargetMachine.emit_object

    def emitted(machine, module):
        names.extend(each.name for each in module.functions if NAME.fullmatch(each.name) and not each.is_declaration)
        return emit(machine, module)

    monkeypatch.setattr(TargetMachine, "emit_object", emitted)
    monkeypatch.setenv("NXKERNEL_CACHE_DIR", str(tmp_path / "cache"))
    disk_cache.reset()
    code_store.forget()
    yield names
    disk_cache.reset()
    code_store.forget()


@pytest.mark.sampled(every=5)
@pytest.mark.parametrize("program", PROGRAMS_OF)
def test_code_that_is_said_to_be_compiled_was_made(program, run, made):
    source, given, has_loops = PROGRAMS_OF[program]
    nx.global_default_options(compiler="numba_cpu")
    cause = Cause(source, given)
    space = run(cause.cell, SPACE | {"__name__": "a_cell"})
    args, _ = arguments(given, space)
    f = space["f"]
    pieces = set()
    for origin in ("compiled", "memory", "disk"):
        f.clear_cache()
        made.clear()
        if origin == "disk":
            code_store.forget()
        said = f.why(*args)
        f(*args)
        (told,) = nx.events(f, "miss")[-1:]
        info, kernels = f.cache_info(), [where for _, where in said.kernels]
        counted = sum(name.startswith("nxk_") or has_loops for name in made)
        assert (told.compiled, info.compiled, kernels.count("compiled")) == (counted, counted, counted)
        assert (told.disk, info.disk) == (kernels.count("disk"), kernels.count("disk"))
        shown = len(kernels) - kernels.count("program")
        assert (told.compiled + told.reused, info.compiled + info.memory + info.disk) == (shown, shown)
        assert bool(made) == (origin == "compiled")
        assert (
            told.verb == {"compiled": "compiled", "memory": "traced", "disk": "loaded from disk"}[origin] or not counted
        )
        events = [event for event in nx.events(f, "kernel") if event.origin == origin]
        assert bool(events) == (origin in kernels)
        pieces.add(shown)
    assert len(pieces) == 1


@pytest.mark.slow
def test_a_new_process_says_that_loops_came_from_disk(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import nxkernel as nx\n" + PROGRAMS_OF["a loop of numbers"][0]
        + "said = f.why(9).kernels\nf(9)\n(told,) = nx.events(f, 'miss')\n"
        "print([where for _, where in said], told.verb, told.kernels(), f.cache_info())\n"
    )  # fmt: skip
    environment = os.environ | {"NXKERNEL_CACHE_DIR": str(tmp_path / "cache")}
    said = [
        subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert said == [
        "['compiled'] compiled ['1 kernel compiled'] "
        "CacheInfo(hits=0, misses=1, compiled=1, memory=0, disk=0, entries=1)\n",
        "['disk'] loaded from disk ['1 kernel from disk'] "
        "CacheInfo(hits=0, misses=1, compiled=0, memory=0, disk=1, entries=1)\n",
    ]
