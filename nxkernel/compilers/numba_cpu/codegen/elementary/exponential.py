"""exp and what is made of it: exp2, expm1, sigmoid, and the hyperbolic functions.

``x = n ln 2 + r`` with an integer ``n`` and ``|r| <= ln(2)/2``, by two fused steps (Cody and Waite 1980); then
``e^x = 2^n (1 + r + r² P(r))``. ``P`` is a minimax polynomial, made for this module by Remez' exchange algorithm
with coefficients rounded one after the other.
"""

from __future__ import annotations

import math

from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import (
    Lanes,
    fast_two_sum,
    fma,
    polynomial,
    where,
)
from nxkernel.element_types import FloatFormat

__all__ = ["cosh", "exp", "exp2", "expm1", "sigmoid", "sinh", "tanh"]

#: (e^r - 1 - r) / r².
_EXPONENTIAL = {
    "float": (0.4999999701976776, 0.16666537523269653, 0.04166772589087486, 0.008367246948182583, 0.001384109491482377),
    "double": (
        0.5,
        0.1666666666666668,
        0.04166666666666672,
        0.008333333333318937,
        0.0013888888888842368,
        0.00019841269893331365,
        2.480158742743255e-05,
        2.7557236773262525e-06,
        2.755717831890822e-07,
        2.5111648664912804e-08,
        2.094461629170433e-09,
    ),
}
#: ln 2 as the sum of two numbers of the format, for all that a product with it may need.
LN2 = {
    "float": (0.6931471824645996, -1.9046542121259336e-09),
    "double": (0.6931471805599453, 2.3190468138462996e-17),
}
#: Below and above, e^x is zero and infinity.
_LIMITS = {"float": (-105.0, 90.0), "double": (-750.0, 710.5)}


#: (sinh x - x) / x³ for |x| <= 1, of x².
_SINH = {
    "float": (0.16666719317436218, 0.00833014864474535, 0.00020383804803714156),
    "double": (
        0.16666666666666669,
        0.008333333333332912,
        0.00019841269841593058,
        2.7557319107028663e-06,
        2.505213092599898e-08,
        1.6056667280465608e-10,
        7.776277767491314e-13,
    ),
}
#: Numerator and denominator of (tanh x - x) / x for |x| <= 0.55, of x².
_TANH = {
    "float": ((0.0, -0.823771059513092, -0.0038314478006213903), (2.4713141918182373, 1.0)),
    "double": (
        (0.0, -1613.5209733210925, -99.2312136464765, -0.9643770059698838),
        (4840.562919963278, 2233.9188089247177, 112.75046754664217, 1.0),
    ),
}


def _split(x: Lanes, scale: float = 1 / math.log(2)) -> tuple[Lanes, Lanes]:
    """``x * scale`` rounded to an integer: in the low bits of a float's representation, and as a float."""
    # The offset makes the integer in the low bits 2 bias + n, so that its halves are exponents as they are stored.
    shifter = x.format.shifter + 2 * x.format.bias
    shifted = fma(x, scale, shifter)
    return shifted.bits(), shifted - shifter


def scale(y: Lanes, stored: Lanes) -> Lanes:
    """``y * 2^n`` for the n of `reduce`, in two steps, so that subnormal results round once and large ones overflow."""
    half = stored >> 1
    digits = y.format.digits
    return y * (half << digits).floats() * ((stored - half) << digits).floats()


def reduce(x: Lanes, low: Lanes | None = None) -> tuple[Lanes, Lanes, Lanes]:
    """Argument reduction of exp: ``x + low = n ln 2 + r`` with a small r.

    Parameters
    ----------
    x : Lanes
        The exponent, bounded by `bounded`.
    low : Lanes, optional
        A correction to be added to it, for more digits than one number holds.

    Returns
    -------
    stored, r, rest : Lanes
        ``e^x = 2^n (1 + r + rest)`` where `rest` is smaller than r, and the low bits of `stored` are ``n + 2 bias``.
    """
    stored, n = _split(x)
    ln2, ln2_low = LN2[x.element]
    exact = fma(n, -ln2, x)
    if low is None:
        r = fma(n, -ln2_low, exact)
        error = fma(n, -ln2_low, exact - r)
    else:
        r, error = fast_two_sum(exact, fma(n, -ln2_low, low))
    return stored, r, fma(r * r, polynomial(r, _EXPONENTIAL[x.element]), error)


def bounded(x: Lanes) -> Lanes:
    """An exponent clamped to the range outside of which exp is 0 or infinity."""
    low, high = _LIMITS[x.element]
    return x.at_most(high).at_least(low)


def exp(x: Lanes) -> Lanes:
    """e^x."""
    stored, n = _split(x := bounded(x))
    ln2, ln2_low = LN2[x.element]
    r = fma(n, -ln2_low, fma(n, -ln2, x))
    return scale(1.0 + fma(r * r, polynomial(r, _EXPONENTIAL[x.element]), r), stored)


def exp2(x: Lanes) -> Lanes:
    """2^x."""
    low, high = (-152.0, 130.0) if x.element == "float" else (-1080.0, 1030.0)
    stored, n = _split(x := x.at_most(high).at_least(low), 1.0)
    r = (x - n) * math.log(2)
    return scale(1.0 + fma(r * r, polynomial(r, _EXPONENTIAL[x.element]), r), stored)


def sigmoid(x: Lanes) -> Lanes:
    """1 / (1 + e^-x), by way of e^-|x|, which does not overflow where the result is tiny.

    With ``t = e / (1 + e)`` it is ``1 - t`` or ``e - e t``: the rounding of ``1 + e`` weighs less than in a quotient.
    """
    e = exp(-abs(x))
    base = where(x < 0.0, e, 1.0)
    return fma(-base, e / (1.0 + e), base)


def _power(stored: Lanes, form: FloatFormat, halvings: int) -> Lanes:
    """``2^(n - halvings)`` for the n of `reduce`; it has to be a normal number."""
    return ((stored - (form.bias + halvings)) << form.digits).floats()


def expm1_negative(x: Lanes, low: Lanes) -> Lanes:
    """``e^(x + low) - 1`` for x <= 0; x is clamped where the result is -1."""
    stored, r, rest = reduce(x, low)
    power = _power(stored, x.format, 0)
    return fma(power, r + rest, power - 1.0)


#: Below, e^x - 1 rounds to -1; above, it is infinity.
_EXPM1_LIMITS = {"float": (-20.0, 89.0), "double": (-40.0, 710.0)}


def expm1(x: Lanes) -> Lanes:
    """e^x - 1."""
    low, high = _EXPM1_LIMITS[x.element]
    stored, r, rest = reduce(x.at_most(high).at_least(low))
    # Half the power is finite wherever the result is.
    power = _power(stored, x.format, 1)
    result = fma(power, r + rest, power - 0.5) * 2.0
    return where(abs(x) < 2.0 ** (-2 - x.format.digits), x, result)


#: Above, sinh and cosh are infinity.
_HYPERBOLIC_LIMIT = {"float": 89.5, "double": 710.5}


def _quarter(x: Lanes) -> Lanes:
    """``e^|x| / 4``, which does not overflow where sinh and cosh do not."""
    stored, r, rest = reduce(abs(x).at_most(_HYPERBOLIC_LIMIT[x.element]))
    power = _power(stored, x.format, 2)
    return fma(power, r + rest, power)


def sinh(x: Lanes) -> Lanes:
    """The hyperbolic sine: ``(u - 1/u) / 2`` with ``u = e^|x|``, or a polynomial near 0, where that cancels."""
    z = x * x
    near = fma(z * x, polynomial(z, _SINH[x.element]), x)
    quarter = _quarter(x)
    far = (quarter - 0.0625 / quarter) * 2.0
    return where(abs(x) < 1.0, near, far).copysign(x)


def cosh(x: Lanes) -> Lanes:
    """The hyperbolic cosine: ``(u + 1/u) / 2`` with ``u = e^|x|``."""
    quarter = _quarter(x)
    return (quarter + 0.0625 / quarter) * 2.0


#: Above, tanh rounds to 1.
_TANH_LIMIT = {"float": 10.0, "double": 20.0}


def tanh(x: Lanes) -> Lanes:
    """The hyperbolic tangent: ``1 - 2 / (e^2|x| + 1)``, or ``x + x P(x²) / Q(x²)`` near 0, where that cancels."""
    size = abs(x).at_most(_TANH_LIMIT[x.element])
    numerator, denominator = _TANH[x.element]
    z = size * size
    near = size < 0.55
    quotient = where(near, polynomial(z, numerator), -2.0) / where(
        near, polynomial(z, denominator), exp(size * 2.0) + 1.0
    )
    base = where(near, size, 1.0)
    return fma(base, quotient, base).copysign(x)
