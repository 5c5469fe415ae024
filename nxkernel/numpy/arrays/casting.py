"""Type conversions by NumPy's rules: nonzero is true, integers wrap around in narrower types.

What a float means that no integer of 32 or 64 bits is near depends on the processor in NumPy. It is what x86-64 gives:
the smallest integer, for NaN and infinities, too.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nxkernel import primitives, types
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.types import Type


def cast(value: Operand, type_: Type) -> Operand:
    """An operand converted to another type as NumPy does: floats go through 32- or 64-bit integers and keep the low
    bits.

    Parameters
    ----------
    value : tensor or traced value
    type_ : Type

    Examples
    --------
    >>> import nxkernel as nx
    >>> cast(nx.tensor([-1.5, 300.7]), nx.types.u8).to_list()
    [255, 44]
    >>> cast(nx.tensor([float("nan"), 1e20]), nx.types.s32).to_list()
    [-2147483648, -2147483648]
    """
    if type_ is types.bool_ and value.type is not type_:
        return apply(primitives.not_equal, value, filled(0, value.type, value.shape))
    if not type_.is_integer or value.type.is_integer:
        return convert(value, type_)
    if type(value) is Expr and value.primitive is primitives.constant:
        return filled_as(value.params["value"], type_, value.shape)
    if value.type.is_complex:
        value = apply(primitives.real, value)
    if type_ is types.u64:
        return _unsigned(value)
    return convert(_cut(value, types.s64 if type_ in (types.s64, types.u32) else types.s32), type_)


def _cut(value: Operand, type_: Type) -> Operand:
    """A float truncated to a signed integer; NaN and what is out of range give the smallest integer."""
    least, most = types.limits(type_)
    # Conversions saturate, so that what is too small is the smallest one already.
    fits = apply(primitives.less, value, filled(float(most + 1), value.type, value.shape))
    return apply(primitives.select, fits, convert(value, type_), filled(least, type_, value.shape))


def _unsigned(value: Operand) -> Operand:
    """A float as u64: negative numbers wrap around; numbers from 2⁶³ on are converted less 2⁶³."""
    half = filled(2.0**63, value.type, value.shape)
    upper = apply(primitives.greater_equal, value, half)
    low = convert(_cut(value, types.s64), types.u64)
    high = convert(_cut(apply(primitives.subtract, value, half), types.s64), types.u64)
    high = apply(primitives.bitwise_xor, high, filled(1 << 63, types.u64, value.shape))
    return apply(primitives.select, upper, high, low)


def filled_as(number: Any, type_: Type, shape: tuple[int, ...]) -> Operand:
    """An array of one number in a type that may not hold it exactly; converted as NumPy converts array elements."""
    if isinstance(number, float | complex) and type_.is_integer and type_ is not types.bool_:
        number = _whole(number.real, type_)
    return filled(number, type_, shape)


def _whole(number: float, type_: Type) -> int:
    """A Python float as an int, by the rules for converting array elements."""
    upper = type_ is types.u64 and number >= 2.0**63
    wide = types.s64 if type_.bits == 64 or type_ is types.u32 else types.s32
    least, most = types.limits(wide)
    number -= 2.0**63 if upper else 0.0
    whole = int(number) if math.isfinite(number) and least <= int(number) <= most else least
    bits = 1 << type_.bits
    whole = (whole + (1 << 63 if upper else 0)) % bits
    return whole - (bits if whole > types.limits(type_)[1] else 0)


def type_of(dtype: Any, otherwise: Type) -> Type:
    """The type for a ``dtype=`` argument, in which Python's ``float`` is f64; `otherwise` for None."""
    if dtype is None:
        return otherwise
    if isinstance(dtype, type | str | np.dtype) and not isinstance(dtype, Type):
        return types.normalize(np.dtype(dtype))
    return types.normalize(dtype)


def is_same_kind(source: Type, into: Type) -> bool:
    """Whether NumPy writes results of one type into arrays of another: no floats into integers, say."""
    order = {"bool": 0, "u": 1, "s": 2, "bf": 3, "f": 3, "c": 4}
    return order[source.kind] <= order[into.kind]
