"""What each kernel of a program takes, measured on the arrays of a call, or on numbers made for it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel.compilers.interface import Executable
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.definitions.devices import device_programs
from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.observe.compilation_report import KernelTime, Measurement
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Graph
from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import amount

#: Inputs of more bytes are not made for a measurement.
MOST = 1 << 30
_ON_A_CALL = "Measure it on a call of yours: f.measure(...), or %nx inspect f(...) in a notebook."
#: Runs at the most, and seconds after which there is no other one.
RUNS, LONG = 15, 0.4


def measured(executable: Executable, given: Sequence[Any] | None = None) -> Measurement:
    """Run a program with a clock around each kernel.

    Parameters
    ----------
    executable : Executable
        It keeps what it has.
    given : sequence of (numpy.ndarray or DeviceArray), optional
        What a call gives it, which is not changed; numbers made for it where there is no call. No result is kept.

    Returns
    -------
    Measurement
        Of the run that took as long as half of the others.

    Raises
    ------
    NxValueError
        Where it cannot be measured this way, with the reason and what to do.
    """
    graph: Graph = executable.graph
    clock = executable.clock()
    inputs = clock.placed(_made_up(executable) if given is None else given)
    runs, begin = [], time.perf_counter()
    while True:
        # What it assigns into is as new in every run.
        fresh = list(inputs)
        for place, _ in graph.updates:
            fresh[place] = device_programs.duplicate(inputs[place])
        runs.append(clock.run(fresh))
        if len(runs) > RUNS or time.perf_counter() - begin > LONG:
            break
    # The first run touches memory that is new to it.
    kept = runs[1:] or runs
    middle = min(kept, key=lambda run: abs(run.seconds - statistics.median(each.seconds for each in kept)))
    kind = "made-up inputs" if given is None else "your call"
    on = "made-up inputs of the same types and shapes" if given is None else "the inputs of your call"
    how = f"the median of {counted(len(kept), 'run')} in a row on {on}, {clock.note}"
    bandwidth, arithmetic = clock.machine()
    kernels = {number: KernelTime(*found) for number, found in middle.kernels.items()}
    return Measurement(middle.seconds, kernels, how, bandwidth, arithmetic, kind)


def _made_up(executable: Executable) -> list[np.ndarray]:
    """Inputs for a program, where numbers that are made up say what others would."""
    loop = executable.open_loop()
    if loop is not None:
        raise NxValueError(
            message(
                "How often its loop runs depends on values, so made-up inputs would say nothing.",
                *source_locations.line_of(loop.source),
                _ON_A_CALL,
            )
        )
    size = sum(map(bytes_of, executable.graph.parameters))
    if size > MOST:
        what = f"Its inputs are {amount(size)}B: no others are made up beside them."
        raise NxValueError(message(what, _ON_A_CALL))
    return [_made(node) for node in executable.graph.parameters]


def _made(node: Any) -> np.ndarray:
    """Numbers that no operation is slow or ill-defined on: from 0.1 to 1; whole numbers are 0, which is an index."""
    dtype, shape = node.type.dtype, node.shape
    if dtype.kind in "iub":
        return np.zeros(shape, dtype)
    return np.random.default_rng(0).uniform(0.1, 1.0, shape).astype(dtype)
