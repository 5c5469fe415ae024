"""Functions of ``scipy.integrate`` on traced arrays: integrals of samples."""

from __future__ import annotations

from typing import Any

from nxkernel import types
from nxkernel.errors import NxValueError
from nxkernel.numpy.arrays.array import ArrayValue, as_value
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions.cumulative import cumsum, trapezoid
from nxkernel.numpy.functions.joining import pad
from nxkernel.numpy.functions.shaping import moveaxis

__all__ = ["cumulative_trapezoid", "trapezoid"]


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> ArrayValue:
    """The integrals up to each sample, as :func:`scipy.integrate.cumulative_trapezoid`."""
    value = as_value(y)
    if initial not in (None, 0):
        raise NxValueError(f"cumulative_trapezoid: initial is None or 0, got {initial!r}")
    result = cumsum(_areas(value, x, dx, axis), axis=-1)
    if initial is not None:
        result = pad(result, [(0, 0)] * (result.ndim - 1) + [(1, 0)])
    return moveaxis(result, -1, axis)


def _areas(value: ArrayValue, x: Any, dx: Any, axis: int) -> ArrayValue:
    """The areas between neighbours, along the last axis."""
    value = moveaxis(value.astype(types.to_floating(value.type).dtype), axis, -1)
    if x is not None:
        places = as_value(x)
        places = places if places.ndim == 1 else moveaxis(places, axis, -1)
        dx = e.subtract(places[..., 1:], places[..., :-1])
    return e.divide(e.multiply(dx, e.add(value[..., 1:], value[..., :-1])), 2.0)
