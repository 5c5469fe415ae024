"""Compacting masked elements: those where a mask holds are moved to the front of an axis and counted when the program
runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.numpy.arrays import fancy_indexing, memory_order
from nxkernel.numpy.arrays.array import Array
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice
from nxkernel.numpy.arrays.subscripts import AxisRange
from nxkernel.numpy.arrays.views import AxisSlice, Index, Reshape, Shape, ViewStep, reshaped
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, spread
from nxkernel.shapes import unnamed
from nxkernel.types import s64


@dataclass(frozen=True, eq=False)
class CompactedView(ViewStep):
    """The view that moves the elements where a mask holds to the front of an axis; the values behind them are
    arbitrary.

    Parameters
    ----------
    shape : tuple of int
    axis : int
    mask : operand
        Along the axis.
    places : operand
        Where it holds, in order, and then anything.
    """

    shape: Shape
    axis: int
    mask: Operand
    places: Operand

    def read(self, whole: Operand) -> Operand:
        """The elements where the mask holds, in order, then arbitrary ones."""
        return fancy_indexing.read(whole, {self.axis: self.places}, False) if self.shape[self.axis] else whole

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The whole value with the elements where the mask holds replaced by the first ones of `part`."""
        if not self.shape[self.axis]:
            return whole
        before = apply(p.maximum, _picked_before(self.mask), filled(0, s64, self.mask.shape))
        ones = [1] * len(self.shape)
        ones[self.axis] = self.shape[self.axis]
        mask = spread(reshaped(self.mask, tuple(ones)), self.shape)
        return apply(p.select, mask, fancy_indexing.read(part, {self.axis: before}, False), whole)

    def strides(self, strides: Shape) -> Shape:
        """The strides of the compacted elements, which are a new array in C order."""
        return memory_order.c_order(self.shape)


def _picked_before(mask: Operand) -> Operand:
    """For each element of a mask, the number of true elements before it."""
    total = apply(p.cumulative_sum, convert(mask, s64), axis=0, reverse=False)
    return apply(p.subtract, total, filled(1, s64, mask.shape))


def _indices(mask: Operand) -> Operand:
    """The indices where a mask holds, in order, padded with arbitrary ones to the length of the mask."""
    (size,) = mask.shape
    if not size:
        return convert(mask, s64)
    # What is not picked goes to one place more, which is cut off again.
    indices = apply(p.select, mask, _picked_before(mask), filled(size, s64, (size,)))
    numbers = apply(p.iota, type=s64, shape=(size,), names=unnamed((size,)), axis=0)
    longer = fancy_indexing.put(filled(0, s64, (size + 1,)), {0: indices}, False, numbers)
    return Index((size + 1,), (AxisSlice(0, size),), (0,)).read(longer)


def compacted(base: Array, mask: Operand, axis: int) -> DynamicSlice:
    """The elements that a mask selects, as a part of traced length at the beginning of an axis.

    Parameters
    ----------
    base : Array
    mask : operand
        Which elements; its axes are those of the array from `axis` on.
    axis : int
    """
    shape, own = base.shape, mask.shape
    mask = reshaped(mask, (math.prod(own),))
    flat = (*shape[:axis], *mask.shape, *shape[axis + len(own) :])
    base = base if flat == shape else base.through(Reshape(shape, flat))
    stretches = tuple([AxisRange(0, _count(mask)) if k == axis else None for k in range(len(flat))])
    return DynamicSlice(base.through(CompactedView(flat, axis, mask, _indices(mask))), stretches)


def _count(mask: Operand) -> Operand:
    """The number of true elements of a mask, as a traced number."""
    count = apply(p.sum_, convert(mask, s64), axes=(0,), keep_axes=False)
    if type(count) is Expr:
        integer_bounds.assume(count, 0, mask.shape[0])
    return count


def with_shape(part: DynamicSlice, shape: Any) -> DynamicSlice:
    """A part of traced length in another shape, which may only add or remove axes of size 1."""
    wanted = list(shape) if isinstance(shape, tuple | list) else [shape]
    ones = [isinstance(size, int) and size == 1 for size in wanted]
    sizes = list(zip(part.stretches, part.base.shape, strict=True))
    kept = [(stretch, size) for stretch, size in sizes if stretch or size != 1]
    if len(kept) > 1 or ones.count(False) != 1:
        part._refuse("a reshape")
    ((stretch, size),) = kept
    base = part.base.through(Reshape(part.base.shape, tuple([1 if one else size for one in ones])))
    return DynamicSlice(base, tuple([None if one else stretch for one in ones]))
