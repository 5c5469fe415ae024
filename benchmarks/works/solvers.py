"""Solvers with a function in Python: nxkernel's compiled ones against SciPy's, which call it step by step."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, optimize

import nxkernel as nx
from benchmarks.measuring import timing
from benchmarks.measuring.work import Goal, Outcome, Settings, Work

WHY = "SciPy's solver in the place of NumPy"


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def powell(x):
    first = (x[0] + 10 * x[1]) ** 2 + 5 * (x[2] - x[3]) ** 2
    return first + (x[1] - 2 * x[2]) ** 4 + 10 * (x[0] - x[3]) ** 4


def van_der_pol(t, y, mu):
    return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]


def robertson(t, y):
    first, second, third = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [second - first, first - second - third, third]


def three_bodies(t, state):
    places = state[:6].reshape(3, 2)
    apart = places[None, :, :] - places[:, None, :]
    pull = (np.sum(apart * apart, axis=2) + np.eye(3)) ** -1.5
    return np.concatenate([state[6:], np.sum(apart * pull[:, :, None], axis=1).reshape(-1)])


def peaks(b, x, y):
    first = b[2] * np.exp(-((x - b[3]) ** 2) / b[4] ** 2)
    return b[0] * np.exp(-b[1] * x) + first + b[5] * np.exp(-((x - b[6]) ** 2) / b[7] ** 2) - y


#: An orbit of the form of an eight.
EIGHT = np.array(
    [0.97000436, -0.24308753, -0.97000436, 0.24308753, 0, 0]
    + [0.466203685, 0.43236573, 0.466203685, 0.43236573, -0.93240737, -0.86473146]
)


def minimum(library: Any, function: Callable[..., Any], start: list[float]) -> Any:
    return library.minimize(function, start, method="BFGS", tol=1e-8).x


def fitted(library: Any) -> Any:
    x = np.arange(1.0, 251.0)
    true = np.array([98.8, 0.0105, 100.5, 67.5, 23.1, 72.0, 179.0, 18.4])
    y = peaks(true, x, 0) + np.sin(1e3 * x)
    start = np.array([97.0, 0.009, 100.0, 65.0, 20.0, 70.0, 178.0, 16.5])
    return library.least_squares(peaks, start, method="lm", args=(x, y)).x


def at_end(library: Any, function: Callable[..., Any], span: tuple, start: Any, **options: Any) -> Any:
    return library.solve_ivp(function, span, start, rtol=1e-6, **options).y[:, -1]


def _solver(
    name: str, run: Callable[..., Any], ours: str, tolerance: float, *given: Any, limit: float = 0.3, **options: Any
) -> Work:
    theirs = {"optimize": optimize, "integrate": integrate}[ours]
    calls = {
        "nxkernel": lambda: run(getattr(nx, ours), *given, **options),
        "NumPy": lambda: run(theirs, *given, **options),
    }
    return Work(name, (Goal(limit, "NumPy"),), functools.partial(_measure, calls, tolerance), WHY)


def _measure(calls: dict[str, Callable[[], Any]], tolerance: float, work: Work, settings: Settings) -> list[Outcome]:
    if tolerance < float("inf"):
        timing.check("nxkernel", calls["nxkernel"](), calls["NumPy"](), tolerance)
    return [work.outcome(timing.interleaved(calls, settings))]


WORKS = [
    _solver(
        "solvers: BFGS on Rosenbrock's function of 5", minimum, "optimize", 1e-4, rosenbrock,
        [1.3, 0.7, 0.8, 1.9, 1.2],
    ),
    # At the minimum the second derivative is singular, so that iterations end anywhere around it.
    _solver(
        "solvers: BFGS on Powell's function of 4", minimum, "optimize", float("inf"), powell, [3.0, -1.0, 0.0, 1.0]
    ),
    _solver("solvers: least squares of two peaks, 8 parameters", fitted, "optimize", 1e-5, limit=1.0),
    _solver(
        "solvers: van der Pol's oscillator by RK45, 20 s", at_end, "integrate", 1e-4, van_der_pol, (0, 20.0),
        [2.0, 0.0], args=(1.0,),
    ),
    _solver(
        "solvers: Robertson's reaction by Radau, to 1e11 s", at_end, "integrate", 1e-4, robertson, (0, 1e11),
        [1.0, 0.0, 0.0], method="Radau", atol=1e-10,
    ),
    _solver(
        "solvers: three bodies by DOP853, 10 s", at_end, "integrate", 1e-4, three_bodies, (0, 10.0), EIGHT,
        method="DOP853",
    ),
]  # fmt: skip
