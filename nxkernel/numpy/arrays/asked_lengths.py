"""Parts of traced length, in traces that ask for numbers of the running program, as arrays of a size."""

from __future__ import annotations

from typing import Any

from nxkernel.graph import values_of_call
from nxkernel.numpy.arrays.array import Array
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice, compact_part
from nxkernel.numpy.arrays.views import AxisSlice, Index
from nxkernel.ops.machinery.dispatch import operand


def sized(value: Any) -> Any:
    """What a mask or a slice gives, as an array of the length that it has for the call, where that may be asked for.

    Parameters
    ----------
    value : object
        A part of traced length; anything else comes back as it is.
    """
    if not values_of_call.are_told():
        return value
    part = compact_part(value)
    if not isinstance(part, DynamicSlice):
        return value
    lengths = [stretch and values_of_call.number(stretch.length) for stretch in part.stretches]
    if any(length is None for length, stretch in zip(lengths, part.stretches, strict=True) if stretch):
        return value
    along = [AxisSlice(stretch.offset, length) if stretch else AxisSlice(0, size)
             for size, length, stretch in zip(part.base.shape, lengths, part.stretches, strict=True)]  # fmt: skip
    found = part.base.through(Index(part.base.shape, tuple(along), tuple(range(len(along)))))
    # What a mask picks is a copy.
    return found if part is value else Array.of(operand(found))
