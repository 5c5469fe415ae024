"""NumPy's rules of types: what two types become together, and a type beside a Python number."""

from __future__ import annotations

import builtins
import functools
from typing import Any

import numpy as np

from nxkernel.element_types import BY_DTYPE, Type, bool_, c64, c128, f64, refuse_outside, s64
from nxkernel.errors import NxTypeError


def type_of(number: Any) -> Type:
    """The type of a Python number.

    Examples
    --------
    >>> type_of(True), type_of(1), type_of(1.5), type_of(1j)
    ('bool', 's64', 'f64', 'c128')
    """
    if isinstance(number, bool | np.bool_):
        return bool_
    if isinstance(number, int):
        return s64
    if isinstance(number, builtins.float):
        return f64
    if isinstance(number, builtins.complex):
        return c128
    raise NxTypeError(f"{number!r} is no number")


@functools.cache
def merge(left: Type, right: Type) -> Type:
    """The type that two types promote to.

    Examples
    --------
    >>> from nxkernel.element_types import f32
    >>> merge(s64, f32), merge(bool_, f32)
    ('f64', 'f32')
    """
    return BY_DTYPE[np.promote_types(left.dtype, right.dtype)]


def merge_weak(type_: Type, weak: Type) -> Type:
    """The type of an array beside a Python number, of whose type only the kind counts.

    Examples
    --------
    >>> from nxkernel.element_types import f32, s8
    >>> merge_weak(f32, f64), merge_weak(s8, f64), merge_weak(s8, s64), merge_weak(f32, c128)
    ('f32', 'f64', 's8', 'c64')
    """
    if weak.is_complex:
        return type_ if type_.is_complex else c128 if type_.is_integer or type_ is f64 else c64
    if weak.is_float:
        return f64 if type_.is_integer else type_
    return s64 if type_ is bool_ and weak is not bool_ else type_


#: What to do about a Python number that an array's type does not hold.
TAKES_TYPE = "By NumPy's rules a Python number takes the array's type; convert the array first."


def merge_number(type_: Type, number: Any) -> Type:
    """The type of an array beside a Python number, which has to be in its range.

    Raises
    ------
    NxTypeError
        For a whole number that is not.

    Examples
    --------
    >>> from nxkernel.element_types import u8
    >>> merge_number(u8, 7), merge_number(u8, 0.5)
    ('u8', 'f64')
    """
    type_of_both = merge_weak(type_, type_of(number))
    if type_of_both.is_integer and type_of_both is not bool_:
        refuse_outside(type_of_both, number, TAKES_TYPE)
    return type_of_both
