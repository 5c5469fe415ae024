"""floor, ceil, trunc, rint, round, and the remainder fmod."""

from __future__ import annotations

import math

from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import Lanes, by_lane, fma, where

__all__ = ["ceil", "floor", "fmod", "rint", "round", "trunc"]


def floor(x: Lanes) -> Lanes:
    """The greatest integer not above."""
    return x.intrinsic("floor")


def ceil(x: Lanes) -> Lanes:
    """The least integer not below."""
    return x.intrinsic("ceil")


def trunc(x: Lanes) -> Lanes:
    """The integer without the fraction."""
    return x.intrinsic("trunc")


def rint(x: Lanes) -> Lanes:
    """The nearest integer, half to even."""
    return x.intrinsic("rint")


def round(x: Lanes) -> Lanes:
    """The nearest integer, half away from zero."""
    return x.intrinsic("round")


def fmod(x: Lanes, y: Lanes) -> Lanes:
    """The remainder of x by y, exactly, with the sign of x.

    ``|x| - q |y|`` is a number of the format, so that one fused step is exact, whenever q is the integer quotient or
    one off; it is where the rounded quotient has no more digits than an integer can have.
    """
    dividend, divisor = abs(x), abs(y)
    quotient = dividend / divisor
    rest = fma(-quotient.intrinsic("trunc"), divisor, dividend)
    rest = where(rest < 0.0, rest + divisor, rest)
    rest = where(dividend < divisor, dividend, rest)
    great = (quotient >= 2.0**x.format.digits) & (dividend < math.inf) & (divisor > 0.0)
    return by_lane("fmodf" if x.format.width == 32 else "fmod", great, rest.copysign(x), x, y)
