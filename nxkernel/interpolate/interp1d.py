"""Interpolation by straight lines, or by a cubic spline: `interp1d`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nxkernel as nx
from nxkernel.definitions.autodiff.differentiated_variables import transform
from nxkernel.errors import NxValueError, message
from nxkernel.interpolate.cubic_spline import CubicSpline
from nxkernel.interpolate.piecewise import PPoly, for_caller
from nxkernel.interpolate.points import checked_points
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.solvers import options as checks
from nxkernel.solvers import programs, user_functions


def interp1d(
    x: Any, y: Any, kind: str = "linear", axis: int = -1, bounds_error: bool | None = None, fill_value: Any = None,
    assume_sorted: bool = False,
) -> Callable[[Any], Any]:  # fmt: skip
    """A function through points, as :func:`scipy.interpolate.interp1d`.

    Parameters
    ----------
    x : array
        Where the points are: at least two.
    y : array
        Their values, along an axis.
    kind : {"linear", "cubic"}, optional
        Straight lines, or the spline of :class:`CubicSpline`.
    axis : int, optional
        Which one.
    bounds_error : bool, optional
        Whether places outside of the points are an error. Unless given, they are where no `fill_value` is given; in
        definitions values are NaN there.
    fill_value : number or "extrapolate", optional
        The value outside of the points.
    assume_sorted : bool, optional
        Whether `x` is in order; else it is put in order.

    Returns
    -------
    callable
        Of places, an array; gives the values there.

    Raises
    ------
    NxValueError
        For fewer points than two; in a call outside of definitions, for places outside of the points.

    Examples
    --------
    >>> height = nx.interpolate.interp1d([0, 1, 3], [0, 2, 4])
    >>> height([0.5, 2.0]).tolist()
    [1.0, 3.0]
    """
    name = checks.choice("interp1d", "kind", kind, ("linear", "cubic"))
    x, y, place = checked_points("interp1d", x, y, axis, is_sorted=assume_sorted)
    if not assume_sorted:
        x, y = _in_order(x, y, place)
    beyond = isinstance(fill_value, str)
    if beyond and fill_value != "extrapolate":
        raise NxValueError(f'interp1d: fill_value is a number or "extrapolate", got {fill_value!r}.')
    if name == "cubic":
        inner: PPoly = CubicSpline(x, y, place, extrapolate=beyond)
    else:
        inner = PPoly(for_caller(programs.run(_lines, (place,), (x, y)), (x, y)), x, beyond, place)
    refuses = fill_value is None if bounds_error is None else bounds_error

    def interpolated(places: Any) -> Any:
        """The values at places."""
        places = user_functions.start(places, "interp1d: x")
        if refuses and not beyond and programs.is_known(places) and programs.is_known(inner.x):
            known, ends = np.asarray(places), np.asarray(inner.x)
            for is_out, where in ((known < ends[0], "below"), (known > ends[-1], "above")):
                if np.any(is_out):
                    raise NxValueError(
                        message(
                            f"interp1d: {known[is_out].flat[0]:g} is {where} the points, which are from {ends[0]:g} to "
                            f"{ends[-1]:g}.",
                            'fill_value="extrapolate", or a number, gives values there.',
                        )
                    )
        found = inner(places)
        if fill_value is None or beyond:
            return found
        filled = programs.run(_filled, (place,), (found, places, inner.x, fill_value))
        return for_caller(filled, (found,))

    return interpolated


def _in_order(x: Any, y: Any, axis: int) -> tuple[Any, Any]:
    """Points in the order of their places."""
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        order = np.argsort(x, kind="stable")
        return x[order], np.take(y, order, axis=axis)
    order = nx.argsort(operand(x), stable=True)
    return nx.take(operand(x), order), nx.take(operand(y), order, axis=axis)


@transform("interp1d")
def _filled(is_inner: bool, axis: int, found: Any, places: Any, x: Any, fill: Any) -> Any:
    """Values with another one outside of the points."""
    found, places, x = operand(found), operand(places), operand(x)
    out = (places < x[0]) | (places > x[x.shape[0] - 1])
    wide = nx.reshape(out, (*[1] * axis, *out.shape, *[1] * (found.rank - axis - out.rank)))
    return nx.select(nx.broadcast(wide, found.shape), convert(operand(fill), found.type), found)


@transform("interp1d")
def _lines(is_inner: bool, axis: int, x: Any, y: Any) -> Any:
    y = operand(y)
    x = convert(operand(x), y.type)
    y = nx.transpose(y, axes=[axis, *[place for place in range(y.rank) if place != axis]])
    widths = nx.reshape(x[1:] - x[:-1], (-1, *[1] * (y.rank - 1)))
    return nx.stack([(y[1:] - y[:-1]) / widths, y[:-1]])
