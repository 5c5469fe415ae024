"""``sum``, ``min`` and ``max`` of parts whose length only the running program knows, such as what a mask picks."""

from __future__ import annotations

import math
from typing import Any

from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice
from nxkernel.numpy.arrays.masked_elements import MaskedElements
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.selection import where


def is_part(value: Any) -> bool:
    """Whether a value has a length that only the running program knows.

    Parameters
    ----------
    value : object
        Anything at all.
    """
    return isinstance(value, DynamicSlice | MaskedElements)


def sum(part: Any, start: Any) -> Any:
    """The sum of the rows of a part and a start value, in the type of the elements: truth values are counted."""
    total = reductions.sum(part, axis=0, dtype=None if part.dtype == bool else part.dtype)
    return total if isinstance(start, int | float) and start == 0 else total + start


def extreme(part: Any, *, greatest: bool) -> Any:
    """The least or the greatest element of a part of one axis, as Python finds it: NaN counts only as the first one."""
    of_all = reductions.max if greatest else reductions.min
    if not part.type.is_float:
        return of_all(part)
    counted = where(e.isnan(part), part.dtype.type(-math.inf if greatest else math.inf), part)
    first = part[0]
    return where(e.isnan(first), first, of_all(counted))
