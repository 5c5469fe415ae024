"""Programs with loops: NumPy's own text under nxkernel, against JAX's primitives and loops by hand in Numba."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import nxkernel as nx
from benchmarks.measuring import timing
from benchmarks.measuring.work import BETTER, Goal, Outcome, Settings, Work
from benchmarks.peers import loops_in_jax, loops_in_numba, loops_in_numpy
from benchmarks.peers.libraries import jax

#: Loops by hand without threads; the faster of the two counts.
ALONE = "Numba on one thread"


@dataclass(frozen=True)
class Loops:
    """A program of `loops_in_numpy` and its counterparts of the same name.

    Parameters
    ----------
    name : str
    inputs : callable
        Takes a random generator and gives the arguments.
    changes : tuple of int
        The places of the arguments that it writes into, and that are part of what it computes.
    tolerance : float
        How far results may lie apart, relative to the largest value.
    strays : float
        The share of a result's whole numbers that may differ: where rounding decides when a loop ends.
    """

    name: str
    inputs: Callable[[np.random.Generator], tuple[Any, ...]]
    changes: tuple[int, ...] = ()
    tolerance: float = 1e-8
    strays: float = 0.0

    def calls(self) -> dict[str, timing.Prepared]:
        """What each contender runs; each call has arguments of its own, copied before it."""
        arguments = self.inputs(np.random.default_rng(7))
        program = getattr(loops_in_numpy, self.name)
        by_hand = getattr(loops_in_numba, self.name)
        calls = {
            "nxkernel": self._in_place(nx.defn(program), arguments),
            "NumPy": self._in_place(program, arguments),
            "Numba": self._in_place(by_hand, arguments),
        }
        alone = loops_in_numba.on_one_thread(by_hand)
        if alone is not None:
            calls[ALONE] = self._in_place(alone, arguments)
        if jax():
            static = loops_in_jax.STATIC.get(self.name, ())
            compiled = jax().jit(getattr(loops_in_jax, self.name), static_argnums=static)
            placed = [
                argument if place in static else jax().numpy.asarray(argument)
                for place, argument in enumerate(arguments)
            ]
            calls["JAX"] = timing.Prepared(
                lambda: placed, lambda *values: jax().block_until_ready(compiled(*values)), _as_tuple
            )
        return calls

    def check(self, name: str, found: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
        """Raise AssertionError where a contender's results are not NumPy's."""
        if not self.strays:
            timing.check(name, found, expected, self.tolerance)
            return
        for ours, theirs in zip(found, expected, strict=True):
            share = float(np.mean(np.asarray(ours) != theirs))
            if share > self.strays:
                raise AssertionError(f"{name}: {share:.2%} of the numbers differ")

    def _in_place(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> timing.Prepared:
        def fresh() -> list[Any]:
            return [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]

        def results(returned: Any, values: list[Any]) -> tuple[Any, ...]:
            return *_as_tuple(returned), *(values[place] for place in self.changes)

        return timing.Prepared(fresh, function, results)


def _as_tuple(returned: Any, values: Any = None) -> tuple[Any, ...]:
    if returned is None:
        return ()
    return tuple(returned) if isinstance(returned, tuple) else (returned,)


def _measure(loops: Loops, work: Work, settings: Settings) -> list[Outcome]:
    calls = loops.calls()
    # In this order, so that peers have figures where nxkernel has none.
    expected = calls["NumPy"].outcome()
    notes = []
    for name in list(calls):
        try:
            loops.check(name, calls[name].outcome(), expected)
        except Exception as error:
            if name != "nxkernel":
                raise
            notes.append(f"failed: {type(error).__name__}: {error}".strip().splitlines()[0][:200])
            del calls[name]
    figures = timing.interleaved(calls, settings)
    if ALONE in figures:
        figures["Numba"] = min(figures["Numba"], figures.pop(ALONE))
    return [work.outcome(figures, note="; ".join(notes))]


def _loops(title: str, loops: Loops, why: str = "") -> Work:
    return Work(title, (Goal(1.0, BETTER),), functools.partial(_measure, loops), why)


def _plane(random: np.random.Generator) -> tuple[Any, ...]:
    return 20, random.random((1000, 1000)), random.random((1000, 1000))


def _cube(random: np.random.Generator) -> tuple[Any, ...]:
    return 10, random.random((120, 120, 120)), random.random((120, 120, 120))


def _field(random: np.random.Generator) -> tuple[Any, ...]:
    return random.random((260, 260, 64)), np.zeros((256, 256, 64)), random.random((256, 256, 64))


def _air(random: np.random.Generator) -> tuple[Any, ...]:
    shape = (128, 128, 80)
    stage, now, tendency, u = (random.random(shape) for _ in range(4))
    return stage, random.random((129, 128, 80)), now, tendency, u, 3.0 / 20.0


def _definite(random: np.random.Generator) -> tuple[Any, ...]:
    a = random.random((400, 400))
    return (a @ a.T + 400 * np.eye(400),)


def _bodies(random: np.random.Generator) -> tuple[Any, ...]:
    return np.full((100, 1), 0.2), random.standard_normal((100, 3)), random.standard_normal((100, 3)), 100, 0.01, 0.1


WORKS = [
    _loops("loops: 20 × 2 steps of jacobi, 1000 × 1000 float64", Loops("jacobi", _plane, (1, 2))),
    _loops("loops: 10 × 2 steps of heat, 120³ float64", Loops("heat", _cube, (1, 2))),
    _loops(
        "loops: horizontal diffusion, 256 × 256 × 64 float64",
        Loops("diffusion", _field, (1,)),
    ),
    _loops(
        "loops: vertical advection, 128 × 128 × 80 float64",
        Loops("advection", _air, (0,)),
    ),
    _loops(
        "loops: Cholesky of 400 × 400 float64",
        Loops("cholesky", _definite, (0,)),
    ),
    _loops(
        "loops: Gram–Schmidt of 400 × 300 float64",
        Loops("gram_schmidt", lambda random: (random.random((400, 300)),), (0,)),
    ),
    _loops("loops: 100 steps of 100 bodies", Loops("n_body", _bodies, (1, 2))),
    _loops(
        "loops: mandelbrot of 320 × 240 by pixels, 100 steps at most",
        Loops("mandelbrot", lambda random: (320, 240, 100), strays=0.002),
    ),
    _loops(
        "loops: a scalar while of a million steps",
        Loops("darts", lambda random: (42, 1_000_000)),
    ),
]
