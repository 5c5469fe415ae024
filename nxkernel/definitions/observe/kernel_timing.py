"""Measuring the kernels of a program, on the arrays of a call or on made-up inputs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
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

#: The most bytes of made-up inputs.
MOST = 1 << 30
_ON_A_CALL = "Measure it on a call of yours: f.measure(...), or %nx inspect f(...) in a notebook."
#: The most runs, and the seconds after which no other one begins.
RUNS, LONG = 15, 0.4


def measured(executable: Executable, arrays: Sequence[Any] | None = None) -> Measurement:
    """Run a program with a clock around each kernel, on given or made-up inputs.

    Parameters
    ----------
    executable : Executable
        The program; it is not changed.
    arrays : sequence of (numpy.ndarray or DeviceArray), optional
        The inputs of a call, which are not changed; made-up inputs by default. Results are dropped.

    Returns
    -------
    Measurement
        Of the run with the median time.

    Raises
    ------
    NxValueError
        If the program cannot be measured on made-up inputs.
    """
    graph: Graph = executable.graph
    clock = executable.clock()
    inputs = clock.placed(_made_up(executable) if arrays is None else arrays)
    runs, begin = [], time.perf_counter()
    while True:
        # Each run gets fresh copies of the arguments that it assigns into.
        fresh = list(inputs)
        for position, _ in graph.updates:
            fresh[position] = device_programs.duplicate(inputs[position])
        runs.append(clock.run(fresh))
        if len(runs) > RUNS or time.perf_counter() - begin > LONG:
            break
    # The first run touches memory that is new to it.
    timed = runs[1:] or runs
    middle = min(timed, key=lambda run: abs(run.seconds - statistics.median(each.seconds for each in timed)))
    kind = "made-up inputs" if arrays is None else "your call"
    on = "made-up inputs of the same types and shapes" if arrays is None else "the inputs of your call"
    how = f"the median of {counted(len(timed), 'run')} in a row on {on}, {clock.note}"
    bandwidth, arithmetic = clock.machine()
    kernels = {number: KernelTime(*time_) for number, time_ in middle.kernels.items()}
    return Measurement(middle.seconds, kernels, how, bandwidth, arithmetic, kind)


def grouped(measurement: Measurement, group_of: Sequence[int]) -> Measurement:
    """A measurement with the times of merged kernels added up.

    Parameters
    ----------
    measurement : Measurement
        The times of a program's kernels.
    group_of : sequence of int
        The second result of :func:`~nxkernel.definitions.observe.launch_groups.joined`.

    Returns
    -------
    Measurement
    """
    together: dict[int, KernelTime] = {}
    for index, each in measurement.kernels.items():
        before = together.get(group_of[index], KernelTime(0.0, each.runs))
        together[group_of[index]] = KernelTime(before.seconds + each.seconds, before.runs)
    return replace(measurement, kernels=together)


def _made_up(executable: Executable) -> list[np.ndarray]:
    """Made-up inputs; refused for programs whose time depends on the values."""
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
    """Made-up numbers on which every operation is defined: from 0.1 to 1; integers are 0, a valid index."""
    dtype, shape = node.type.dtype, node.shape
    if dtype.kind in "iub":
        return np.zeros(shape, dtype)
    return np.random.default_rng(0).uniform(0.1, 1.0, shape).astype(dtype)
