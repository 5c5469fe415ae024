"""Tighter bounds of reductions: a sum whose terms are zero outside of a range loops over that range only."""

from __future__ import annotations

from typing import NamedTuple

from nxkernel import primitives as p
from nxkernel.compilers.analysis import scalars
from nxkernel.graph.expr import Expr


class ReductionBounds(NamedTuple):
    """The range of an axis outside of which a value is zero.

    Parameters
    ----------
    mask : Expr
        What says so: a comparison of the places along the axis.
    start, stop : Expr or None
        Single integers; None for the beginning of the axis.
    """

    mask: Expr
    start: Expr | None
    stop: Expr


def of(value: Expr, axis: int) -> ReductionBounds | None:
    """The bounds along an axis outside of which a value is zero; None if none are evident."""
    mask = _zero_outside(value)
    if mask is None:
        return None
    parts = mask.operands if mask.primitive is p.logical_and else (mask,)
    start = stop = None
    for part in parts:
        limits = _compared(part, axis)
        if limits is None:
            return None
        low, high = limits
        if (low is not None and start is not None) or (high is not None and stop is not None):
            return None
        start, stop = low if start is None else start, high if stop is None else stop
    return None if stop is None else ReductionBounds(mask, start, stop)


def _zero_outside(value: Expr) -> Expr | None:
    """The mask outside of which a value is zero, whatever other operands hold; None if there is none."""
    if value.primitive is p.select:
        mask, _, otherwise = value.operands
        return mask if otherwise.primitive is p.constant and otherwise.params["value"] == 0 else None
    if value.primitive is p.multiply:
        # Of both factors: zero times infinity is no number.
        left, right = map(_zero_outside, value.operands)
        return left if left is right else None
    if value.primitive in (p.as_type, p.negate, p.conjugate):
        return _zero_outside(value.operands[0])
    return None


def _compared(part: Expr, axis: int) -> tuple[Expr | None, Expr | None] | None:
    """The (lower, upper) limit that a comparison of the index along an axis sets, one of them None."""
    if part.primitive not in (p.less, p.greater_equal):
        return None
    index, bound = part.operands
    if index.primitive is not p.iota or index.params["axis"] != axis:
        return None
    number = _single(bound)
    if number is None:
        return None
    return (None, number) if part.primitive is p.less else (number, None)


def _single(value: Expr) -> Expr | None:
    """The single integer that a broadcast spreads; None for other values."""
    if value.primitive is p.broadcast and scalars.is_single(value.operands[0]):
        return value.operands[0]
    return None
