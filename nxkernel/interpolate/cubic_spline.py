"""Cubic splines: `CubicSpline`."""

from __future__ import annotations

from typing import Any

import nxkernel as nx
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.interpolate.piecewise import PPoly, for_caller
from nxkernel.interpolate.points import checked_points
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.solvers import options as checks
from nxkernel.solvers import programs

_ENDS = ("not-a-knot", "natural", "clamped")


class CubicSpline(PPoly):
    """The cubic spline through points, as :class:`scipy.interpolate.CubicSpline`.

    It is computed by compiled programs; in definitions its points may be traced, and there are gradients by them.

    Parameters
    ----------
    x : array
        Where the points are, in order: at least two.
    y : array
        Their values, along an axis.
    axis : int, optional
        Which one.
    bc_type : {"not-a-knot", "natural", "clamped"}, optional
        What holds at the ends: that the first two and the last two pieces are one polynomial, that the second
        derivative is 0, or that the first one is.
    extrapolate : bool, optional
        Whether the first and the last polynomial hold outside of the points, too; else values are NaN there.

    Raises
    ------
    NxValueError
        For points that are not in order, or fewer than two.

    Examples
    --------
    >>> x = np.linspace(0, 3, 7)
    >>> spline = nx.interpolate.CubicSpline(x, x**3)
    >>> round(float(spline(1.2)), 12), round(float(spline(1.2, 1)), 12), round(float(spline.integrate(0, 2)), 12)
    (1.728, 4.32, 4.0)
    """

    def __init__(
        self, x: Any, y: Any, axis: int = 0, bc_type: str = "not-a-knot", extrapolate: bool | None = None
    ) -> None:
        ends = checks.choice("CubicSpline", "bc_type", bc_type, _ENDS)
        x, y, place = checked_points("CubicSpline", x, y, axis)
        found = programs.run(_coefficients, (ends, place), (x, y))
        super().__init__(for_caller(found, (x, y)), x, extrapolate is not False, place)


@transform("CubicSpline")
def _coefficients(is_inner: bool, ends: str, axis: int, x: Any, y: Any) -> Any:
    y = operand(y)
    x = convert(operand(x), y.type)
    order = [axis, *[place for place in range(y.rank) if place != axis]]
    y = nx.transpose(y, axes=order)
    shape, count = y.shape, y.shape[0]
    y = nx.reshape(y, (count, -1))
    widths = nx.new_axis(x[1:] - x[:-1], 1)
    slopes = (y[1:] - y[:-1]) / widths
    slope = _solved(*_equations(ends, count, nx.squeeze(widths, axes=[1]), slopes))
    excess = (slope[:-1] + slope[1:] - 2 * slopes) / widths
    rows = nx.stack([excess / widths, (slopes - slope[:-1]) / widths - excess, slope[:-1], y[:-1]])
    return nx.reshape(rows, (4, count - 1, *shape[1:]))


def _equations(ends: str, count: int, h: Any, slopes: Any) -> tuple[Any, Any, Any, Any]:
    """The three diagonals and the right sides for the first derivatives at the points."""
    one = nx.ones((1,), h.type)
    zero = nx.zeros((1,), h.type)
    last = count - 2
    wide = nx.new_axis(h, 1)
    inner = 3 * (wide[1:] * slopes[:-1] + wide[:-1] * slopes[1:])

    def end(near: int, next_: int) -> tuple[Any, Any, Any]:
        """The diagonal, what is beside it, and the right side at an end."""
        first, slope = h[near : near + 1], slopes[near : near + 1]
        if ends == "clamped":
            return one, zero, nx.zeros(slope.shape, h.type)
        if ends == "natural":
            return 2 * first, first, 3 * nx.new_axis(first, 1) * slope
        if count == 2:
            return one, zero, slope
        if count == 3:
            return one, one, 2 * slope
        second = h[next_ : next_ + 1]
        both = first + second
        tall = [nx.new_axis(part, 1) for part in (first, second, both)]
        right = (tall[0] + 2 * tall[2]) * tall[1] * slope + tall[0] * tall[0] * slopes[next_ : next_ + 1]
        return second, both, right / tall[2]

    begin, finish = end(0, 1), end(last, last - 1)
    below = nx.concatenate([zero, h[1:], finish[1]])
    diagonal = nx.concatenate([begin[0], 2 * (h[1:] + h[:-1]), finish[0]])
    above = nx.concatenate([begin[1], h[:-1], zero])
    return below, diagonal, above, nx.concatenate([begin[2], inner, finish[2]])


def _solved(below: Any, diagonal: Any, above: Any, right: Any) -> Any:
    """The solution of equations with three diagonals, by elimination from the first to the last."""

    def forth(held: tuple[Any, Any], row: tuple[Any, ...]) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        left, middle, beyond, side = row
        pivot = middle - left * held[0]
        found = (beyond / pivot, (side - left * held[1]) / pivot)
        return found, found

    zeros = (nx.zeros((), right.type), nx.zeros(right.shape[1:], right.type))
    _, (factors, sides) = nx.scan(forth, zeros, (below, diagonal, above, right))

    def back(after: Any, row: tuple[Any, Any]) -> tuple[Any, Any]:
        found = row[1] - row[0] * after
        return found, found

    return nx.scan(back, zeros[1], (factors, sides), reverse=True)[1]
