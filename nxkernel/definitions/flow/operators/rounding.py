"""``round`` of traced numbers: to whole ones, to decimals as Python does it, and as NumPy does."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.graph import tracing
from nxkernel.ops.arithmetic import comparison, elementwise
from nxkernel.ops.machinery.dispatch import apply, convert

#: Splits an f64 into two halves of which products are exact.
_SPLITTER = 2.0**27 + 1
#: Powers of ten up to this one are exact in f64.
_EXACT = 22


def to_even(value: Any) -> Any:
    """Round to the nearest integer, halves to the even one."""
    return value if value.type.is_integer else apply(p.round_half_even, value)


def to_digits(value: Any, digits: int) -> Any:
    """Round to a number of decimals, or of zeros if that is negative; the type stays.

    A Python number is rounded by its exact value, as Python does; others are scaled, rounded and scaled back, as
    NumPy does.
    """
    scale = 10.0 ** abs(digits)
    if digits < 0:
        return convert(elementwise.multiply(to_even(elementwise.divide(value, scale)), scale), value.type)
    scaled = elementwise.multiply(value, scale)
    if value.type is not types.f64 or digits > _EXACT or not tracing.weak(value):
        return elementwise.divide(to_even(scaled), scale)
    nearest, rest = to_even(scaled), _rest_of_product(value, scale, scaled)
    # Where what was cut off by scaling decides, the half was none.
    half = comparison.equal(elementwise.abs(elementwise.subtract(scaled, nearest)), 0.5)
    toward = elementwise.add(scaled, elementwise.multiply(elementwise.sign(rest), 0.5))
    decided = comparison.logical_and(half, comparison.not_equal(rest, 0))
    rounded = elementwise.divide(comparison.select(decided, toward, nearest), scale)
    small = comparison.less(elementwise.abs(scaled), 2.0**53)
    return comparison.select(small, rounded, value)


def _rest_of_product(value: Any, factor: float, product: Any) -> Any:
    """The exact rounding error of a product, by Dekker's method.

    Source: T. J. Dekker, A floating-point technique for extending the available precision, 1971.
    """
    wide = elementwise.multiply(value, _SPLITTER)
    high = elementwise.subtract(wide, elementwise.subtract(wide, value))
    low = elementwise.subtract(value, high)
    factor_high = factor * _SPLITTER - (factor * _SPLITTER - factor)
    factor_low = factor - factor_high
    rest = elementwise.subtract(elementwise.multiply(high, factor_high), product)
    rest = elementwise.add(rest, elementwise.multiply(high, factor_low))
    rest = elementwise.add(rest, elementwise.multiply(low, factor_high))
    return elementwise.add(rest, elementwise.multiply(low, factor_low))
