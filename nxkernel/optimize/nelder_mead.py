"""Minimization without derivatives, by a simplex (Nelder-Mead)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import nxkernel as nx
from nxkernel.optimize.descent import CONVERGED, LIMIT, RUNNING

#: By how much the corners of a first simplex differ from the start: as a part of its elements, and where they are 0.
_PART, _OF_ZERO = 0.05, 0.00025


class Simplex(NamedTuple):
    """Corners, the best one first, and their values."""

    corners: Any
    values: Any
    iterations: Any
    calls: Any
    status: Any


def first_simplex(x: Any) -> Any:
    """Corners around a start."""
    by = nx.select(x == 0, _OF_ZERO, _PART * x)
    count = x.shape[0]
    moved = nx.new_axis(x, 0) + nx.eye(count, type=x.type) * nx.new_axis(by, 0)
    return nx.concatenate([nx.new_axis(x, 0), moved])


def nelder_mead(
    function: Callable[[Any], Any], corners: Any, xatol: Any, fatol: Any, maxiter: Any, maxfun: Any, adaptive: bool
) -> Simplex:
    """Move a simplex until its corners are close together, and their values, too.

    Parameters
    ----------
    function : callable
        Of a vector.
    corners : tensor
        ``n + 1`` rows of ``n`` elements.
    xatol, fatol : tensor
        How far corners and values may be from the best.
    maxiter, maxfun : tensor
    adaptive : bool
        Whether its steps depend on ``n``.

    References
    ----------
    J. A. Nelder and R. Mead, "A simplex method for function minimization", 1965; F. Gao and L. Han, "Implementing the
    Nelder-Mead simplex algorithm with adaptive parameters", 2012.
    """
    count = corners.shape[1]
    stretch, narrow, shrink = (1 + 2 / count, 0.75 - 0.5 / count, 1 - 1 / count) if adaptive else (2.0, 0.5, 0.5)

    def of_all(rows: Any) -> Any:
        def one(row: Any, values: Any) -> Any:
            return nx.put_slice(values, [row], nx.reshape(function(rows[row]), (1,)))

        return nx.fori(0, count + 1, one, nx.zeros((count + 1,), rows.type))

    def turn(now: Simplex) -> Simplex:
        best, worst = now.values[0], now.values[count]
        center = nx.sum(now.corners[:count], axes=[0]) / count
        away = center - now.corners[count]
        reflected = function(center + away)

        def at(length: Any) -> tuple[Any, Any, Any]:
            return center + length * away, function(center + length * away), nx.tensor(2)

        def as_reflected() -> tuple[Any, Any, Any]:
            return center + away, reflected, nx.tensor(1)

        def farther() -> tuple[Any, Any, Any]:
            point, value, calls = at(stretch)
            better = value < reflected
            point = nx.select(nx.broadcast(better, point.shape), point, center + away)
            return point, nx.select(better, value, reflected), calls

        def nearer() -> tuple[Any, Any, Any]:
            outside = reflected < worst
            point, value, calls = at(nx.select(outside, narrow, -narrow) * nx.ones((), now.corners.type))
            limit = nx.select(outside, reflected, worst)
            fails = nx.select(outside, ~(value <= limit), ~(value < limit))
            return point, nx.select(fails, float("inf"), value), calls

        def middle() -> tuple[Any, Any, Any]:
            return nx.cond(reflected < now.values[count - 1], as_reflected, nearer)

        point, value, calls = nx.cond(reflected < best, farther, middle)
        kept = value < float("inf")

        def replaced() -> tuple[Any, Any, Any]:
            row = nx.new_axis(point, 0)
            one = nx.reshape(value, (1,))
            return nx.put_slice(now.corners, [count, 0], row), nx.put_slice(now.values, [count], one), calls

        def shrunk() -> tuple[Any, Any, Any]:
            rows = now.corners[:1] + shrink * (now.corners - now.corners[:1])
            return rows, nx.put_slice(of_all(rows), [0], now.values[:1]), calls + count

        rows, values, calls = nx.cond(kept, replaced, shrunk)
        return checked(ordered(rows, values), now.iterations + 1, now.calls + calls)

    def ordered(rows: Any, values: Any) -> tuple[Any, Any]:
        order = nx.argsort(values, stable=True)
        return nx.take(rows, order, axis=0), nx.take(values, order)

    def checked(pair: tuple[Any, Any], iterations: Any, calls: Any) -> Simplex:
        rows, values = pair
        close = nx.reduce_max(nx.abs(rows[1:] - rows[:1])) <= xatol
        close = close & (nx.reduce_max(nx.abs(values[1:] - values[:1])) <= fatol)
        limit = (iterations >= maxiter) | (calls >= maxfun)
        status = nx.select(close, CONVERGED, nx.select(limit, LIMIT, RUNNING))
        return Simplex(rows, values, iterations, calls, nx.as_type(status, "s64"))

    begun = checked(ordered(corners, of_all(corners)), nx.tensor(1), nx.tensor(count + 1))
    return nx.while_(lambda now: now.status == RUNNING, turn, begun)
