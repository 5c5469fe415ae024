"""Peak memory of running a program that is already compiled, beyond its inputs, each library in its own process."""

from __future__ import annotations

import functools

import numpy as np

import nxkernel as nx
from benchmarks.measuring import children, process_memory, timing
from benchmarks.measuring.work import Goal, Outcome, Settings, Work
from benchmarks.peers.libraries import jax
from benchmarks.works import contraction, reductions
from benchmarks.works.contest import Program

_PROGRAMS = {
    "softmax": reductions.SOFTMAX,
    "layer norm": reductions.LAYER_NORM,
    "pairwise distances": contraction.DISTANCES,
}


def growth(name: str, library: str) -> float:
    """Megabytes by which this process grows at its peak while a program runs, its result included."""
    program = _PROGRAMS[name]
    arguments = program.arguments()
    expected = program.numpy()(*arguments) if library == "NumPy" else None
    call = _compiled(program, library, arguments)
    process_memory.forget_peak()
    before = process_memory.resident()
    result = call()
    grown = process_memory.peak() - before
    if expected is None:
        expected = program.numpy()(*arguments)
    timing.check(f"peak memory of {name}, {library}", result, expected, program.tolerance)
    return grown


def _compiled(program: Program, library: str, arguments: tuple[np.ndarray, ...]):
    """A call that has been compiled, and whose library has been started, but that has not run at this size."""
    small = tuple(argument[:8] if argument.ndim > 1 else argument for argument in arguments)
    if library == "nxkernel":
        program.definition(*small).to_numpy()
        tensors = [nx.tensor(argument) for argument in arguments]
        compiled = nx.compile(program.definition, [nx.template(t.shape, t.type) for t in tensors])
        return functools.partial(compiled, *tensors)
    if library == "JAX":
        np.asarray(program.jax()(*small))
        placed = [jax().numpy.asarray(argument) for argument in arguments]
        compiled = program.jax().lower(*placed).compile()
        return lambda: jax().block_until_ready(compiled(*placed))
    return functools.partial(program.numpy(), *arguments)


def _measure(name: str, work: Work, settings: Settings) -> list[Outcome]:
    libraries = ["nxkernel", *(["JAX"] if jax() else []), "NumPy"]
    runs = max(1, settings.repeats // 2)
    figures = {
        library: min(children.call(__name__, "growth", name, library) for _ in range(runs)) for library in libraries
    }
    return [work.outcome(figures, "MB")]


WORKS = [Work(f"peak memory of {name}", (Goal(1.1),), functools.partial(_measure, name)) for name in _PROGRAMS]
