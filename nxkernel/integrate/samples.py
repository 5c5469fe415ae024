"""Integrals of samples: `trapezoid`, `simpson` and `cumulative_trapezoid`."""

from __future__ import annotations

from typing import Any

import nxkernel as nx
from nxkernel import types
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.definitions.tracing import whose_rules
from nxkernel.errors import NxValueError, message
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.shapes import static_int
from nxkernel.solvers import programs, user_functions


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate samples by the trapezoidal rule, as :func:`scipy.integrate.trapezoid`.

    Parameters
    ----------
    y : array
        The samples.
    x : array, optional
        Where they are: of the length of the axis, or of the shape of `y`.
    dx : number, optional
        How far they are apart, without `x`.
    axis : int, optional

    Returns
    -------
    array
        Without the axis. Integers and lists are computed in f64; of NumPy's arrays it is NumPy's, of tensors a tensor.

    Examples
    --------
    >>> nx.integrate.trapezoid([1, 2, 3], dx=0.5)
    np.float64(2.0)
    """
    return _of_samples(_trapezoid, "trapezoid", y, x, dx, axis)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate samples by Simpson's rule, as :func:`scipy.integrate.simpson`.

    Parameters
    ----------
    y, x, dx, axis
        As :func:`trapezoid` takes them. With an even number of samples, the last interval has the parabola through the
        last three [1]_; with two, it is the trapezoidal rule.

    Returns
    -------
    array
        As that of :func:`trapezoid`.

    References
    ----------
    .. [1] K. V. Cartwright, "Simpson's rule cumulative integration with MS Excel and irregularly-spaced data", 2017.

    Examples
    --------
    >>> nx.integrate.simpson([0, 1, 4, 9, 16])
    np.float64(21.333333333333332)
    """
    return _of_samples(_simpson, "simpson", y, x, dx, axis)


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: float | None = None) -> Any:
    """Integrate samples up to each, by the trapezoidal rule, as :func:`scipy.integrate.cumulative_trapezoid`.

    Parameters
    ----------
    y, x, dx, axis
        As :func:`trapezoid` takes them.
    initial : 0, optional
        Whether the integral up to the first sample is there, too.

    Returns
    -------
    array
        One sample less along the axis, or as many with ``initial=0``.

    Examples
    --------
    >>> nx.integrate.cumulative_trapezoid([1, 2, 3], initial=0)
    array([0. , 1.5, 4. ])
    """
    if initial is not None and initial != 0:
        raise NxValueError(f"cumulative_trapezoid: initial is None or 0, got {initial!r}.")
    return _of_samples(_running if initial is None else _running_from_zero, "cumulative_trapezoid", y, x, dx, axis)


def _of_samples(program: Any, name: str, y: Any, x: Any, dx: Any, axis: int) -> Any:
    y = user_functions.start(y, f"{name}: y", complex_=True)
    rank = len(y.shape)
    place = static_int(axis, f"{name}: axis")
    if not -rank <= place < rank or not y.shape[place]:
        raise NxValueError(
            message(
                f"{name}: y has no samples along axis {axis}, its shape is {tuple(y.shape)}.",
                "axis= names one of its axes.",
            )
        )
    steps = programs.number(dx) if x is None else user_functions.start(x, f"{name}: x")
    if x is not None and tuple(steps.shape) not in ((y.shape[place],), tuple(y.shape)):
        raise NxValueError(
            f"{name}: x has as many elements as y along axis {axis}, {y.shape[place]}, "
            f"got the shape {tuple(steps.shape)}."
        )
    found = programs.run(program, (x is not None, place % rank), (y, steps))
    dialect = whose_rules.of_values((y, steps)) or whose_rules.NUMPY
    return programs.as_array(found) if programs.gives_arrays(dialect, (y, steps)) else found


def _along(is_placed: bool, axis: int, y: Any, steps: Any) -> tuple[Any, Any]:
    """Samples along the last axis, and the distances between them."""
    y, steps = operand(y), operand(steps)
    steps = convert(steps, types.to_real(y.type))
    if is_placed and steps.rank > 1:
        steps = nx.swapaxes(steps, axis, -1)
    if is_placed:
        steps = steps[..., 1:] - steps[..., :-1]
    else:
        steps = nx.broadcast(steps, (y.shape[axis] - 1,))
    return nx.swapaxes(y, axis, -1), steps


@transform("trapezoid")
def _trapezoid(is_inner: bool, is_placed: bool, axis: int, y: Any, steps: Any) -> Any:
    y, steps = _along(is_placed, axis, y, steps)
    return nx.sum(steps * (y[..., 1:] + y[..., :-1]) / 2, axes=[-1])


@transform("cumulative_trapezoid")
def _running(is_inner: bool, is_placed: bool, axis: int, y: Any, steps: Any) -> Any:
    y, steps = _along(is_placed, axis, y, steps)
    return nx.swapaxes(nx.cumulative_sum(steps * (y[..., 1:] + y[..., :-1]) / 2, axis=-1), axis, -1)


@transform("cumulative_trapezoid")
def _running_from_zero(is_inner: bool, is_placed: bool, axis: int, y: Any, steps: Any) -> Any:
    found = _running(is_inner, is_placed, axis, y, steps)
    padding = [(1 if place == axis else 0, 0, 0) for place in range(found.rank)]
    return nx.pad(found, 0, padding)


@transform("simpson")
def _simpson(is_inner: bool, is_placed: bool, axis: int, y: Any, steps: Any) -> Any:
    y, steps = _along(is_placed, axis, y, steps)
    count = y.shape[-1]
    if count <= 2:
        return nx.sum(steps * (y[..., 1:] + y[..., :-1]) / 2, axes=[-1])
    whole = count - 1 if count % 2 == 0 else count
    first, second = steps[..., : whole - 1 : 2], steps[..., 1 : whole - 1 : 2]
    both = first + second
    left, middle, right = y[..., : whole - 2 : 2], y[..., 1 : whole - 1 : 2], y[..., 2:whole:2]
    parts = left * (2 - second / first) + middle * (both * both / (first * second)) + right * (2 - first / second)
    total = nx.sum(both / 6 * parts, axes=[-1])
    if whole == count:
        return total
    before, last = steps[..., -2], steps[..., -1]
    ends = (2 * last * last + 3 * before * last) / (6 * (before + last))
    inner = (last * last + 3 * before * last) / (6 * before)
    return total + ends * y[..., -1] + inner * y[..., -2] - last**3 / (6 * before * (before + last)) * y[..., -3]
