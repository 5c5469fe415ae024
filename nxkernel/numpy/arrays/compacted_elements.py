"""Compacting masked elements: moved to the front of an axis, with a count that the program computes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr
from nxkernel.numpy.arrays import fancy_indexing, integer_bounds, memory_order
from nxkernel.numpy.arrays.array import Array
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice
from nxkernel.numpy.arrays.subscripts import Stretch
from nxkernel.numpy.arrays.views import Along, Index, Reshape, Shape, ViewStep, reshaped
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, spread
from nxkernel.shapes import unnamed
from nxkernel.types import s64


@dataclass(frozen=True, eq=False)
class InARow(ViewStep):
    """The elements along an axis where a mask holds, at the beginning of the axis; after them it is any elements.

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
        """The elements where the mask holds, then others."""
        return fancy_indexing.read(whole, {self.axis: self.places}, False) if self.shape[self.axis] else whole

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The value with other elements where the mask holds."""
        if not self.shape[self.axis]:
            return whole
        before = apply(p.maximum, _picked_before(self.mask), filled(0, s64, self.mask.shape))
        ones = [1] * len(self.shape)
        ones[self.axis] = self.shape[self.axis]
        mask = spread(reshaped(self.mask, tuple(ones)), self.shape)
        return apply(p.select, mask, fancy_indexing.read(part, {self.axis: before}, False), whole)

    def strides(self, strides: Shape) -> Shape:
        """Those of a new array."""
        return memory_order.c_order(self.shape)


def _picked_before(mask: Operand) -> Operand:
    """For each element where a mask holds how many there are before it."""
    total = apply(p.cumulative_sum, convert(mask, s64), axis=0, reverse=False)
    return apply(p.subtract, total, filled(1, s64, mask.shape))


def _places(mask: Operand) -> Operand:
    """The places where a mask holds, in order and then anything."""
    (size,) = mask.shape
    if not size:
        return convert(mask, s64)
    # What is not picked goes to one place more, which is cut off again.
    places = apply(p.select, mask, _picked_before(mask), filled(size, s64, (size,)))
    numbers = apply(p.iota, type=s64, shape=(size,), names=unnamed((size,)), axis=0)
    longer = fancy_indexing.put(filled(0, s64, (size + 1,)), {0: places}, False, numbers)
    return Index((size + 1,), (Along(0, size),), (0,)).read(longer)


def compacted(base: Array, mask: Operand, axis: int) -> DynamicSlice:
    """What a mask picks, seen at the beginning of an axis.

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
    stretches = tuple([Stretch(0, _count(mask)) if k == axis else None for k in range(len(flat))])
    return DynamicSlice(base.through(InARow(flat, axis, mask, _places(mask))), stretches)


def _count(mask: Operand) -> Operand:
    """How many elements of a mask hold."""
    count = apply(p.sum_, convert(mask, s64), axes=(0,), keep_axes=False)
    if type(count) is Expr:
        integer_bounds.assume(count, 0, mask.shape[0])
    return count


def with_shape(part: DynamicSlice, shape: Any) -> DynamicSlice:
    """A part in another shape, where that only adds or removes axes of size 1."""
    wanted = list(shape) if isinstance(shape, tuple | list) else [shape]
    ones = [isinstance(size, int) and size == 1 for size in wanted]
    sizes = list(zip(part.stretches, part.base.shape, strict=True))
    kept = [(stretch, size) for stretch, size in sizes if stretch or size != 1]
    if len(kept) > 1 or ones.count(False) != 1:
        part._refuse("a reshape")
    ((stretch, size),) = kept
    base = part.base.through(Reshape(part.base.shape, tuple([1 if one else size for one in ones])))
    return DynamicSlice(base, tuple([None if one else stretch for one in ones]))
