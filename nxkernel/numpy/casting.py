"""Conversions by NumPy's rules: what a narrow integer type does not hold wraps around, floats as well."""

from __future__ import annotations

import math
from typing import Any

from nxkernel import types
from nxkernel.operand import Operand
from nxkernel.ops.dispatch import convert, filled
from nxkernel.types import Type


def cast(value: Operand, type_: Type) -> Operand:
    """An operand in another type; floats that become narrow integers are cut to wider ones first, which wrap around.

    Parameters
    ----------
    value : tensor or traced value
    type_ : Type

    Examples
    --------
    >>> import nxkernel as nx
    >>> cast(nx.tensor([-1.5, 300.7]), nx.types.u8).to_list()
    [255, 44]
    """
    narrow = type_.is_integer and type_ is not types.bool_ and type_.bits < (64 if type_.kind == "u" else 32)
    if narrow and not value.type.is_integer:
        value = convert(value, types.s64 if type_.bits == 32 else types.s32)
    return convert(value, type_)


def filled_as(number: Any, type_: Type, shape: tuple[int, ...]) -> Operand:
    """One number in every element, in a type that may not hold it."""
    if isinstance(number, float) and math.isfinite(number) and type_.is_integer and type_ is not types.bool_:
        bits = 1 << type_.bits
        number = int(number) % bits
        number -= bits if number > types.limits(type_)[1] else 0
    return filled(number, type_, shape)
