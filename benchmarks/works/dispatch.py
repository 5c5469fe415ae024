"""What a call costs beyond its arithmetic: three elements, NumPy arrays in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import nxkernel as nx
from benchmarks.measuring import timing
from benchmarks.measuring.work import Goal, Outcome, Settings, Work
from benchmarks.peers.libraries import jax

_CALLS = 2000


@nx.defn
def scaled_sum(x, y):
    return x * y + 1


def _repeated(call: Callable[..., Any], x: np.ndarray, y: np.ndarray, wait: Callable[[Any], Any]) -> Callable[[], Any]:
    """Many calls in a row; the last result is waited for, so that no library is billed for a wait per call."""

    def run() -> Any:
        result = None
        for _ in range(_CALLS):
            result = call(x, y)
        return wait(result)

    return run


def _measure(work: Work, settings: Settings) -> list[Outcome]:
    x, y = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)
    calls = {
        "nxkernel": _repeated(scaled_sum, x, y, lambda result: result),
        "NumPy": _repeated(lambda x, y: x * y + 1, x, y, lambda result: result),
    }
    if jax():
        calls["JAX"] = _repeated(jax().jit(lambda x, y: x * y + 1), x, y, jax().block_until_ready)
    for name, call in calls.items():
        timing.check(f"{work.name}, {name}", call(), x * y + 1, 1e-6)
    return [work.outcome({name: best / _CALLS for name, best in timing.interleaved(calls, settings).items()})]


_RATE, _SHIFT = 1.0, np.array([1, 1, 1], np.float32)


def captured_sum(x, y):
    return x * y * _RATE + _SHIFT


def _captures(rules: str, work: Work, settings: Settings) -> list[Outcome]:
    """What two captures that do not change, an array and a number, add to a call."""
    x, y = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)
    calls = {
        name: _repeated(nx.defn(function, promotion=rules), x, y, lambda result: result)
        for name, function in (("without", scaled_sum.__nx_function__), ("with", captured_sum))
    }
    for name, call in calls.items():
        timing.check(f"{work.name}, {name}", call(), x * y + 1, 1e-6)
    best = {name: best / _CALLS for name, best in timing.interleaved(calls, settings).items()}
    note = f"{1e6 * best['without']:.2f} µs without captures, {1e6 * best['with']:.2f} µs with a number and an array"
    return [work.outcome({"nxkernel": max(0.0, best["with"] - best["without"])}, note=note)]


WORKS = [
    Work("call of a compiled function on 3 elements, NumPy arrays in", (Goal(0.6),), _measure),
    *(
        Work(f"what unchanged captures add to a call by {whose} rules", (Goal(1e-6, ""),), partial(_captures, rules))
        for rules, whose in (("nx", "Nx's"), ("numpy", "NumPy's"))
    ),
]
