"""What each kernel of a program takes, measured on inputs made for it."""

from __future__ import annotations

import functools
import statistics
import time
from typing import Any

import numpy as np

from nxkernel.compilers.memory import bytes_of
from nxkernel.defn import places
from nxkernel.defn.report import KernelTime, Measurement
from nxkernel.graph.expr import Graph

#: Inputs of more bytes are not made for a measurement.
MOST = 1 << 30
#: Runs at the most, and seconds after which there is no other one.
RUNS, LONG = 15, 0.4


def measured(executable: Any) -> Measurement:
    """Run a program with a clock around each kernel, on numbers that are made for it.

    Parameters
    ----------
    executable : Executable
        It keeps what it has; no input of the person's is read or changed, and no result is kept.

    Returns
    -------
    Measurement
        Of the run that took as long as half of the others.

    Raises
    ------
    ValueError
        Where it cannot be measured this way, with the reason and what to do.
    """
    graph: Graph = executable.graph
    if not hasattr(executable, "plan"):
        raise ValueError("It has no kernels to measure: the evaluator computes node by node.")
    from nxkernel.compilers.numba_cpu.timing import Clock, waits_for_values

    loop = waits_for_values(executable.plan)
    if loop is not None:
        where = "; ".join(places.line_of(loop.node.source))
        raise ValueError(
            "How often its loop runs depends on values, so numbers made for a measurement would say nothing. "
            f"Time a call of it, %timeit f(...), instead. {where}".rstrip()
        )
    size = sum(map(bytes_of, graph.parameters))
    if size > MOST:
        raise ValueError(f"Its inputs are {size / 1e9:.1f} GB: no others are made beside them for a measurement.")
    inputs = [_made(node) for node in graph.parameters]
    clock, runs, begin = Clock(executable), [], time.perf_counter()
    while True:
        # What it assigns into is as new in every run.
        given = list(inputs)
        for place, _ in graph.updates:
            given[place] = inputs[place].copy()
        runs.append(clock.run(given))
        if len(runs) > RUNS or time.perf_counter() - begin > LONG:
            break
    # The first run touches memory that is new to it.
    kept = runs[1:] or runs
    middle = min(kept, key=lambda run: abs(run.seconds - statistics.median(each.seconds for each in kept)))
    how = (
        f"the median of {len(kept)} run{'s' if len(kept) > 1 else ''} in a row on made-up inputs of the same types and "
        "shapes, which caches may hold"
    )
    bandwidth, arithmetic = machine()
    kernels = {number: KernelTime(*found) for number, found in middle.kernels.items()}
    return Measurement(middle.seconds, kernels, how, bandwidth, arithmetic)


@functools.cache
def machine() -> tuple[float, float]:
    """What this machine reaches: bytes a second to and from memory, and operations a second in a product of f32.

    Measured once, in some 50 ms.
    """
    source = np.ones(1 << 23, np.float32)
    target = np.empty_like(source)
    copied = min(_seconds(lambda: np.copyto(target, source)) for _ in range(4))
    side = 768
    left = np.ones((side, side), np.float32)
    multiplied = min(_seconds(lambda: left @ left) for _ in range(4))
    return 2 * source.nbytes / copied, 2 * side**3 / multiplied


def _seconds(function: Any) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def _made(node: Any) -> np.ndarray:
    """Numbers that no operation is slow or ill-defined on: from 0.1 to 1; whole numbers are 0, which is an index."""
    dtype, shape = node.type.dtype, node.shape
    if dtype.kind in "iub":
        return np.zeros(shape, dtype)
    return np.random.default_rng(0).uniform(0.1, 1.0, shape).astype(dtype)
