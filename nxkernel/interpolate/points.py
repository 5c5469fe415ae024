"""Checks of points that functions go through."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel.errors import NxValueError, message
from nxkernel.shapes import static_int
from nxkernel.solvers import programs, user_functions


def checked_points(name: str, x: Any, y: Any, axis: int, is_sorted: bool = True) -> tuple[Any, Any, int]:
    """Places, values and the axis of points.

    Raises
    ------
    NxValueError
        Where places are no row of at least two, values are not as many along the axis, or, as far as they are known,
        places are not in order.
    """
    x, y = user_functions.start(x, f"{name}: x"), user_functions.start(y, f"{name}: y")
    rank, place = len(y.shape), static_int(axis, f"{name}: axis")
    if len(x.shape) != 1 or x.shape[0] < 2:
        raise NxValueError(f"{name}: x is a row of at least two places, got the shape {tuple(x.shape)}.")
    if not -rank <= place < rank or y.shape[place] != x.shape[0]:
        raise NxValueError(
            message(
                f"{name}: y has {x.shape[0]} values along axis {axis}, as x has places, "
                f"got the shape {tuple(y.shape)}.",
                "axis= names another one.",
            )
        )
    if is_sorted and programs.is_known(x) and not np.all(np.diff(np.asarray(x)) > 0):
        raise NxValueError(message(f"{name}: x is not in order, each place above the last.", "np.argsort(x) gives it."))
    return x, y, place % rank
