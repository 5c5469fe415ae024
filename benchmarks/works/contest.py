"""Throughput: one program written for nxkernel and for the array libraries, timed on data of its size."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

import nxkernel as nx
from benchmarks.measuring import timing
from benchmarks.measuring.work import Goal, Outcome, Settings, Work
from benchmarks.peers.libraries import jax


@dataclass(frozen=True)
class Program:
    """The same program in both spellings.

    Parameters
    ----------
    definition : callable
        For nxkernel.
    with_arrays : callable
        For NumPy and JAX: takes the module (``numpy`` or ``jax.numpy``), the module of special functions, and the
        arguments.
    inputs : callable
        Takes a random generator and gives the arguments as NumPy arrays.
    tolerance : float
        How far results may lie apart, relative to the largest value; infinite where each library draws its own.
    with_jax : callable, optional
        Where JAX has another spelling: takes JAX and the arguments.
    """

    definition: Callable[..., Any]
    with_arrays: Callable[..., Any]
    inputs: Callable[[np.random.Generator], tuple[np.ndarray, ...]]
    tolerance: float = 1e-5
    with_jax: Callable[..., Any] | None = None

    def arguments(self) -> tuple[np.ndarray, ...]:
        """The arguments, the same in every run."""
        return self.inputs(np.random.default_rng(7))

    def numpy(self) -> Callable[..., Any]:
        """The program over NumPy arrays."""
        return functools.partial(self.with_arrays, np, scipy.special)

    def jax(self) -> Callable[..., Any]:
        """The program over JAX arrays, under jit."""
        if self.with_jax is not None:
            return jax().jit(functools.partial(self.with_jax, jax()))
        return jax().jit(functools.partial(self.with_arrays, jax().numpy, jax().scipy.special))


def contest(name: str, program: Program, *goals: Goal, why: str = "") -> Work:
    """The work of running a program again and again on arguments that are where each library wants them."""
    return Work(name, goals, functools.partial(_measure, program), why)


def _measure(program: Program, work: Work, settings: Settings) -> list[Outcome]:
    arguments = program.arguments()
    calls = _calls(program, arguments)
    expected = calls["NumPy"]()
    for name, call in calls.items() if program.tolerance < float("inf") else ():
        timing.check(name, call(), expected, program.tolerance)
    return [work.outcome(timing.interleaved(calls, settings))]


def _calls(program: Program, arguments: tuple[np.ndarray, ...]) -> dict[str, Callable[[], Any]]:
    tensors = [nx.tensor(argument) for argument in arguments]
    calls = {
        "nxkernel": functools.partial(program.definition, *tensors),
        "NumPy": functools.partial(program.numpy(), *arguments),
    }
    if jax():
        placed = [jax().numpy.asarray(argument) for argument in arguments]
        compiled = program.jax()
        calls["JAX"] = lambda: jax().block_until_ready(compiled(*placed))
    return calls
