"""Least squares within a trust region: Levenberg-Marquardt steps, and those of Powell's hybrid method for roots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import nxkernel as nx

RUNNING, LIMIT, GRADIENT, VALUE, STEP, BOTH, NOT_A_NUMBER = -1, 0, 1, 2, 3, 4, -2
#: The first trust region, beside the scaled start. MINPACK begins with 100, from where BoxBOD of NIST's is not found.
_FACTOR = 1.0
#: How often the parameter of a step is improved at most, and how near to the region's border is near enough.
_PARAMETERS, _NEAR = 10, 0.1


class Linear(NamedTuple):
    """Residuals near a point as a linear function: a singular value decomposition in scaled variables.

    With the Jacobian ``J`` and the scales ``D`` on a diagonal, ``J / D`` is ``U S V^T``.
    """

    #: ``U^T`` times the residuals.
    sides: Any
    values: Any
    right: Any


class State(NamedTuple):
    """Where an iteration is."""

    x: Any
    residuals: Any
    jacobian: Any
    linear: Linear
    scales: Any
    radius: Any
    parameter: Any
    iterations: Any
    calls: Any
    jacobians: Any
    status: Any


class Tolerances(NamedTuple):
    """When an iteration ends: by the value, the step and the gradient, each relative; and after how many calls."""

    ftol: Any
    xtol: Any
    gtol: Any
    most: Any


def solve(
    function: Callable[[Any], Any], jacobian: Callable[[Any], Any], x: Any, scales: Any, tolerances: Tolerances,
    hybrid: bool = False,
) -> State:  # fmt: skip
    """Find where residuals are least in squares.

    Parameters
    ----------
    function : callable
        Of a vector of ``n`` elements; gives ``m`` residuals.
    jacobian : callable
        Gives ``m`` rows of ``n`` elements.
    x : tensor
    scales : tensor or None
        Of each variable; None for those by the columns of the Jacobian, which grow.
    tolerances : Tolerances
    hybrid : bool
        Whether steps are Powell's (dogleg) in place of Levenberg's and Marquardt's.

    References
    ----------
    J. J. Moré, "The Levenberg-Marquardt algorithm: implementation and theory", 1978; M. J. D. Powell, "A hybrid method
    for nonlinear equations", 1970.
    """
    tiny = float(np.finfo(x.type.dtype).eps)

    def columns(matrix: Any) -> Any:
        norms = nx.sqrt(nx.sum(matrix * matrix, axes=[0]))
        return nx.select(norms > 0, norms, 1.0)

    def decomposed(matrix: Any, residuals: Any, sizes: Any) -> Linear:
        scaled = matrix / nx.new_axis(sizes, 0)
        # NaN would stop LAPACK; the status tells of it.
        scaled = nx.select(nx.abs(scaled) < np.inf, scaled, 0.0)
        left, values, right = nx.linalg.svd(scaled, full_matrices=False)
        return Linear(nx.dot(nx.transpose(left), residuals), values, right)

    def step(now: State) -> tuple[Any, Any]:
        """A step in scaled variables, and its parameter."""
        if hybrid:
            return _dogleg(now.linear, now.radius, tiny), now.parameter
        parameter = _parameter(now.linear, now.radius, now.parameter, tiny)
        return _damped(now.linear, parameter, tiny), parameter

    def turn(now: State) -> State:
        scaled, parameter = step(now)
        length = _norm(scaled)
        radius = nx.select(now.iterations == 0, nx.min(now.radius, length), now.radius)
        trial = now.x + scaled / now.scales
        residuals = function(trial)
        before, after = _norm(now.residuals), _norm(residuals)
        fell = nx.select(0.1 * after < before, 1 - (after / before) ** 2, -1.0)
        linear = _norm(now.linear.values * nx.dot(now.linear.right, scaled)) / before
        damping = nx.sqrt(parameter) * length / before
        if hybrid:
            expected = (
                1 - (_norm(now.linear.sides + now.linear.values * nx.dot(now.linear.right, scaled)) / before) ** 2
            )
            expected = nx.max(expected, 0.0)
        else:
            expected = linear * linear + 2 * damping * damping
        ratio = nx.select(expected > 0, fell / nx.select(expected > 0, expected, 1.0), 0.0)
        ratio = nx.select(ratio == ratio, ratio, -1.0)
        slope = -(linear * linear + damping * damping)
        narrowed = nx.select(fell >= 0, 0.5, 0.5 * slope / (slope + 0.5 * fell))
        narrowed = nx.select((0.1 * after < before) & (narrowed >= 0.1), narrowed, 0.1)
        poor, good = ratio <= 0.25, (ratio >= 0.75) | (parameter == 0)
        narrow = narrowed * nx.min(radius, 10 * length)
        radius = nx.select(poor, narrow, nx.select(good, 2 * length, radius))
        parameter = nx.select(poor, parameter / narrowed, nx.select(good, 0.5 * parameter, parameter))
        better = ratio >= 1e-4
        moved = now._replace(radius=radius, parameter=parameter, iterations=now.iterations + 1, calls=now.calls + 1)

        def accepted() -> State:
            matrix = jacobian(trial)
            sizes = nx.max(now.scales, columns(matrix)) if scales is None else now.scales
            return moved._replace(
                x=trial, residuals=residuals, jacobian=matrix, linear=decomposed(matrix, residuals, sizes),
                scales=sizes, jacobians=now.jacobians + 1,
            )  # fmt: skip

        after_step = nx.cond(better, accepted, lambda: moved)
        flat = (nx.abs(fell) <= tolerances.ftol) & (expected <= tolerances.ftol) & (ratio <= 2)
        still = radius <= tolerances.xtol * _norm(after_step.scales * after_step.x)
        return after_step._replace(status=status(after_step, flat, still))

    def status(now: State, flat: Any, still: Any) -> Any:
        size = _norm(now.residuals)
        # The cosine between the residuals and each column of the Jacobian.
        cosines = nx.abs(nx.dot(now.residuals, now.jacobian)) / columns(now.jacobian)
        level = nx.reduce_max(cosines) <= tolerances.gtol * size
        ended = nx.select(flat, VALUE, nx.select(still, STEP, nx.select(now.calls >= tolerances.most, LIMIT, RUNNING)))
        ended = nx.select(level, GRADIENT, nx.select(flat & still, BOTH, ended))
        known = (size < np.inf) & nx.all(nx.abs(now.jacobian) < np.inf)
        return nx.as_type(nx.select(known, ended, NOT_A_NUMBER), "s64")

    residuals, matrix = function(x), jacobian(x)
    sizes = columns(matrix) if scales is None else nx.broadcast(1.0 / scales, x.shape)
    begin = _norm(sizes * x)
    radius = _FACTOR * nx.select(begin > 0, begin, 1.0)
    zero, no = nx.tensor(0), nx.tensor(False)
    begun = State(
        x, residuals, matrix, decomposed(matrix, residuals, sizes), sizes, radius, nx.zeros((), x.type), zero, zero + 1,
        zero + 1, zero,
    )  # fmt: skip
    begun = begun._replace(status=status(begun, no, no))
    return nx.while_(lambda now: now.status == RUNNING, turn, begun)


def _norm(vector: Any) -> Any:
    return nx.sqrt(nx.dot(vector, vector))


def _damped(linear: Linear, parameter: Any, tiny: float) -> Any:
    """The step for a parameter; directions that change nothing have none."""
    squares = linear.values * linear.values + parameter
    counts = linear.values > tiny * linear.values[0]
    shares = nx.select(counts, linear.values / nx.select(counts, squares, 1.0), 0.0)
    return -nx.dot(shares * linear.sides, linear.right)


def _parameter(linear: Linear, radius: Any, guess: Any, tiny: float) -> Any:
    """The parameter whose step is as long as the radius; 0 where the step without is no longer."""
    counts = linear.values > tiny * linear.values[0]
    weighted = nx.select(counts, linear.values * linear.sides, 0.0)

    def excess(parameter: Any) -> tuple[Any, Any, Any]:
        """By how much the step is too long, its length, and what that changes with the parameter."""
        squares = nx.select(counts, linear.values * linear.values + parameter, 1.0)
        parts = weighted / squares
        length = _norm(parts)
        return length - radius, length, -nx.sum(parts * parts / squares) / length

    over, _, slope = excess(nx.zeros((), radius.type))
    lowest = nx.max(-over / slope, 0.0)
    highest = _norm(weighted) / radius
    first = nx.clip(guess, lowest, highest)
    first = nx.select(first > 0, first, nx.max(0.001 * highest, nx.sqrt(lowest * highest)))

    def turn(held: tuple) -> tuple:
        parameter, low, high, count, _ = held
        over, length, slope = excess(parameter)
        low = nx.max(low, nx.select(over > 0, nx.max(parameter, parameter - over / slope), low))
        high = nx.select(over < 0, nx.min(high, parameter), high)
        better = parameter - (over / slope) * (length / radius)
        inside = (better > low) & (better < high)
        better = nx.select(inside, better, nx.max(0.001 * high, nx.sqrt(low * high)))
        near = nx.abs(over) <= _NEAR * radius
        return nx.select(near, parameter, better), low, high, count + 1, near

    begun = (first, lowest, highest, nx.tensor(0), over <= _NEAR * radius)
    found, *_ = nx.while_(lambda held: ~held[4] & (held[3] < _PARAMETERS), turn, begun)
    return nx.select(over <= _NEAR * radius, 0.0, found)


def _dogleg(linear: Linear, radius: Any, tiny: float) -> Any:
    """The Newton step, or as far towards it by way of steepest descent as the radius allows."""
    newton = _damped(linear, nx.zeros((), radius.type), tiny)
    gradient = nx.dot(linear.values * linear.sides, linear.right)
    size = _norm(gradient)
    curved = _norm(linear.values * nx.dot(linear.right, gradient))
    share = nx.select(curved > 0, (size / nx.select(curved > 0, curved, 1.0)) ** 2, 0.0)
    cauchy = -share * gradient
    # Between the two points: the length of which part reaches the border.
    rest = newton - cauchy
    a, b, c = nx.dot(rest, rest), nx.dot(cauchy, rest), nx.dot(cauchy, cauchy) - radius * radius
    part = -c / (b + nx.sqrt(nx.max(b * b - a * c, 0.0)))
    between = cauchy + nx.clip(nx.select(part == part, part, 0.0), 0.0, 1.0) * rest
    short = -gradient * (radius / nx.select(size > 0, size, 1.0))
    beyond = _norm(cauchy) >= radius
    step = nx.select(nx.broadcast(beyond, newton.shape), short, between)
    return nx.select(nx.broadcast(_norm(newton) <= radius, newton.shape), newton, step)
