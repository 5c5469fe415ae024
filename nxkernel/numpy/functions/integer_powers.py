"""Negative powers of integers: a float for Python's ints, refused for integer arrays, as in NumPy."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.numpy.arrays import subscripts
from nxkernel.numpy.arrays.array import Scalar
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, is_number, operand


def of_numbers(base: Any, exponent: Any) -> Operand | None:
    """A power of two Python integers, at least one of them traced, by Python's rules; None for other operands.

    Parameters
    ----------
    base, exponent : anything that has a power

    Returns
    -------
    traced value or None
        A float where the exponent is negative; None where NumPy's rules give the same number as Python's.

    Raises
    ------
    TracedValueError
        Where only the running program knows whether the exponent is negative.
    """
    if not (_is_whole(base) and _is_whole(exponent)) or (is_number(base) and abs(base) == 1):
        return None
    low, high = integer_bounds.interval(exponent if is_number(exponent) else operand(exponent))
    if low is not None and low >= 0:
        return None
    if high is None or high > 0:
        raise subscripts.needed(
            exponent,
            "a whole number to the power of another one is an int or a float in Python, by the sign of the exponent, "
            "which only the running program knows.",
            "A base that is a float makes it one always: 10.0**-i.",
            "An exponent that is not negative makes it an int: 2 ** max(k, 0).",
        )
    return apply(p.power, *(convert(operand(number), types.f64) for number in (base, exponent)))


def _is_whole(value: Any) -> bool:
    """Whether a value is a Python int or a traced number that stands for one."""
    if is_number(value):
        return isinstance(value, int)
    value = value.node if isinstance(value, Scalar) else value
    return type(value) is Expr and not value.shape and value.type.is_integer and tracing.weak(value)


def check(base: Any, exponent: Any) -> None:
    """Refuse a negative power of integers if the exponent is known, as NumPy does.

    Raises
    ------
    NxValueError
    """
    if not is_number(exponent) or not isinstance(exponent, int) or exponent >= 0:
        return
    type_ = types.infer(base) if is_number(base) else base.type
    if type_.is_integer:
        raise NxValueError(
            message(
                f"integers ({type_}) to the power {exponent} would be fractions.",
                f"Write the exponent as a float: x ** {exponent}.0.",
            )
        )
