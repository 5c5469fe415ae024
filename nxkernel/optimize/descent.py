"""Minimization by directions of descent: BFGS, L-BFGS and Newton-CG, which differ in the direction alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

import nxkernel as nx
from nxkernel.optimize.line_search import Point, line_search

RUNNING, CONVERGED, LIMIT, PRECISION, NOT_A_NUMBER = -1, 0, 1, 2, 3


class Direction(Protocol):
    """How a method finds the direction of a step, with what it remembers of earlier steps."""

    def begin(self, x: Any) -> Any:
        """What it remembers at first."""
        ...

    def along(self, memory: Any, x: Any, gradient: Any) -> tuple[Any, Any]:
        """The direction, and how often it needed the Hessian for it."""
        ...

    def after(self, memory: Any, step: Any, change: Any) -> Any:
        """What it remembers after a step, from that and the change of the gradient."""
        ...


class Stop(NamedTuple):
    """When a descent ends.

    Parameters
    ----------
    gtol : tensor
        The norm of the gradient.
    order : tensor
        Of that norm.
    ftol : tensor
        By what part the value fell in the last step; below 0 for never.
    xtol : tensor
        The mean size of the elements of the last step; below 0 for never.
    xrtol : tensor
        The norm of the last step beside that of `x`.
    maxiter, maxfun : tensor
        Iterations, and calls of the function.
    """

    gtol: Any
    order: Any
    ftol: Any
    xtol: Any
    xrtol: Any
    maxiter: Any
    maxfun: Any


class State(NamedTuple):
    """Where a descent is."""

    x: Any
    value: Any
    gradient: Any
    memory: Any
    iterations: Any
    calls: Any
    hessians: Any
    status: Any


def descend(
    function: Callable[[Any], tuple[Any, Any]], x: Any, direction: Direction, stop: Stop, c1: float, c2: float
) -> State:
    """Go down from a vector until the gradient is small.

    Parameters
    ----------
    function : callable
        Of a vector; gives the value and the gradient.
    x : tensor
    direction : Direction
    stop : Stop
    c1, c2 : float
        Of the line search.
    """

    def turn(now: State) -> State:
        along, hessians = direction.along(now.memory, now.x, now.gradient)
        slope = nx.dot(along, now.gradient)
        # An inverse Hessian that has lost its sign is forgotten for this step.
        downhill = slope < 0
        along = nx.select(nx.broadcast(downhill, along.shape), along, -now.gradient)
        slope = nx.select(downhill, slope, -nx.dot(now.gradient, now.gradient))
        size = nx.sqrt(nx.dot(now.gradient, now.gradient))
        first = nx.select((now.iterations == 0) & (hessians == 0), nx.min(1.0, 1.0 / size), nx.ones((), x.type))
        begin = Point(nx.zeros((), x.type), now.value, slope, now.gradient)
        point, calls = line_search(function, now.x, begin, along, first, c1, c2)
        step = point.length * along
        after = now.x + step
        memory = direction.after(now.memory, step, point.gradient - now.gradient)
        state = State(
            after, point.value, point.gradient, memory, now.iterations + 1, now.calls + calls,
            now.hessians + hessians, now.status,
        )  # fmt: skip
        return state._replace(status=_status(state, now, step, stop))

    value, gradient = function(x)
    zero = nx.tensor(0)
    begun = State(x, value, gradient, direction.begin(x), zero, zero + 1, zero, zero + RUNNING)
    small = _norm(gradient, stop.order) <= stop.gtol
    status = nx.select(small & (stop.xtol < 0), CONVERGED, nx.select(_finite(value, gradient), RUNNING, NOT_A_NUMBER))
    begun = begun._replace(status=nx.as_type(status, "s64"))
    return nx.while_(lambda now: now.status == RUNNING, turn, begun)


def _status(state: State, before: State, step: Any, stop: Stop) -> Any:
    scale = nx.max(nx.max(nx.abs(before.value), nx.abs(state.value)), 1.0)
    moved = nx.any(step != 0)
    converged = (_norm(state.gradient, stop.order) <= stop.gtol) | (
        moved & (before.value - state.value <= stop.ftol * scale)
    )
    converged = converged | (nx.mean(nx.abs(step)) <= stop.xtol)
    converged = converged | (moved & (_norm(step, 2.0) <= stop.xrtol * (stop.xrtol + _norm(state.x, 2.0))))
    exhausted = (state.iterations >= stop.maxiter) | (state.calls >= stop.maxfun)
    status = nx.select(exhausted, LIMIT, RUNNING)
    status = nx.select(moved, status, PRECISION)
    status = nx.select(_finite(state.value, state.gradient), status, NOT_A_NUMBER)
    return nx.as_type(nx.select(converged, CONVERGED, status), "s64")


def _finite(value: Any, gradient: Any) -> Any:
    return (nx.abs(value) < np.inf) & nx.all(nx.abs(gradient) < np.inf)


def _norm(vector: Any, order: Any) -> Any:
    """The norm of a vector; the greatest element for an order of infinity."""
    greatest = nx.reduce_max(nx.abs(vector))
    finite = nx.select(order < np.inf, order, 1.0)
    scale = nx.select(greatest > 0, greatest, 1.0)
    # The powers are of numbers up to 1, so that they do not leave their range.
    sized = scale * nx.sum((nx.abs(vector) / scale) ** finite) ** (1.0 / finite)
    return nx.select(order < np.inf, sized, greatest)
