"""log, log1p, log2, log10, and the inverses of the hyperbolic functions.

``x = 2^n (1 + f)`` with ``sqrt(1/2) <= 1 + f < sqrt(2)``, exactly; then ``log x = n ln 2 + f + rest(f)``. In float64,
``rest`` is that of fdlibm (Sun Microsystems 1993), by way of ``s = f / (2 + f)``; in float32 a polynomial of f.
The coefficients are minimax, made for this module by Remez' exchange algorithm.
"""

from __future__ import annotations

import math

from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import (
    Lanes,
    fast_two_sum,
    fma,
    polynomial,
    two_product,
    two_sum,
    where,
)
from nxkernel.compilers.numba_cpu.codegen.elementary.exponential import LN2

__all__ = ["acosh", "asinh", "atanh", "log", "log1p", "log2", "log10"]

#: (log(1 + f) - f + f²/2) / f³.
_OF_F = (
    0.3333331346511841,
    -0.2500002682209015,
    0.2000204473733902,
    -0.1666749268770218,
    0.14220644533634186,
    -0.12395083159208298,
    0.118588887155056,
    -0.1184433177113533,
    0.07120929658412933,
)
#: (2 artanh(s) - 2s) / s³, of s².
_OF_S = (
    0.6666666666666735,
    0.3999999999940875,
    0.28571428743911503,
    0.22222198399902832,
    0.18183574074741007,
    0.15313784244072512,
    0.14798770221474167,
)
_SQRT_HALF = {"float": 0x3F3504F3, "double": 0x3FE6A09E667F3BCD}
#: 1 / ln 2, log10(e) and log10(2) as sums of two numbers of the format.
_LOG2_E = {"float": (1.4426950216293335, 1.925963033500011e-08), "double": (1.4426950408889634, 2.0355273740931033e-17)}
_LOG10_E = {
    "float": (0.4342944920063019, -1.0103049952192578e-08),
    "double": (0.4342944819032518, 1.098319650216765e-17),
}
_LOG10_2 = {
    "float": (0.3010300099849701, -1.432098883924482e-08),
    "double": (0.3010299956639812, -2.8037281277851704e-18),
}


def split(x: Lanes, *, subnormal: bool = True) -> tuple[Lanes, Lanes, Lanes]:
    """Split a positive finite number into exponent and mantissa.

    Parameters
    ----------
    x : Lanes
        Positive numbers.
    subnormal : bool
        Whether any may be subnormal.

    Returns
    -------
    n, f, stored : Lanes
        ``x = 2^n (1 + f)`` with ``sqrt(1/2) <= 1 + f < sqrt(2)``; and, of normal numbers, n as an exponent is stored.
    """
    form = x.format
    implied = 2.0**form.digits + form.bias
    if subnormal:
        tiny = x < form.smallest_normal
        x = where(tiny, x * 2.0**form.digits, x)
        implied = where(tiny, x.constant(implied + form.digits), implied)
    shifted = x.bits() + ((form.bias << form.digits) - _SQRT_HALF[x.element])
    stored = shifted >> form.digits
    fraction = ((shifted & ((1 << form.digits) - 1)) + _SQRT_HALF[x.element]).floats()
    # An integer becomes a float as its low bits: before AVX-512 there is no conversion of vectors of i64.
    n = (stored | ((form.bias + form.digits) << form.digits)).floats() - implied
    return n, fraction - 1.0, stored


def rest(f: Lanes) -> Lanes:
    """``log(1 + f) - f``."""
    half = f * f * 0.5
    if f.element == "float":
        return fma(f * f * f, polynomial(f, _OF_F), -half)
    s = f / (f + 2.0)
    z = s * s
    return fma(s, fma(z, polynomial(z, _OF_S), half), -half)


def _ends(x: Lanes, result: Lanes) -> Lanes:
    """`result`, with the logarithms of zero, negative numbers, infinity and NaN put in."""
    result = where(x < math.inf, result, x)
    return where(x <= 0.0, where(x == 0.0, x.constant(-math.inf), math.nan), result)


def _log(n: Lanes, f: Lanes) -> Lanes:
    high, low = LN2[f.element]
    return fma(n, high, f + fma(n, low, rest(f)))


def log(x: Lanes) -> Lanes:
    """The natural logarithm."""
    n, f, _ = split(x)
    return _ends(x, _log(n, f))


def _log_of_sum(total: Lanes, low: Lanes, n_more: Lanes | float = 0.0) -> Lanes:
    """``log(total + low) + n_more ln 2``, where `low` is the rounding error of `total`, a normal number."""
    form = total.format
    n, f, stored = split(total, subnormal=False)
    twice = ((2 * form.bias + 1 - stored) << form.digits).floats()
    return _ends(total, _log(n + n_more, fma(low * 0.5, twice, f)))


def log1p(x: Lanes) -> Lanes:
    """log(1 + x)."""
    return _log_of_sum(*two_sum(x.constant(1.0), x)).copysign(x)


def asinh(x: Lanes) -> Lanes:
    """The inverse of sinh, ``log1p(a + a² / (1 + sqrt(1 + a²)))`` for a = |x|, and log(2a) of great ones."""
    size = abs(x)
    great = size > 2.0 ** (x.format.digits // 2 + 4)
    a = where(great, 1.0, size)
    square = a * a
    sum_, sum_low = fast_two_sum(a, square / ((square + 1.0).intrinsic("sqrt") + 1.0))
    total, low = two_sum(x.constant(1.0), sum_)
    total, low = where(great, size, total), where(great, 0.0, low + sum_low)
    return _log_of_sum(total, low, where(great, x.constant(1.0), 0.0)).copysign(x)


def acosh(x: Lanes) -> Lanes:
    """The inverse of cosh, ``log1p(t + sqrt(t (t + 2)))`` for t = x - 1, and log(2x) of great ones."""
    great = x > 2.0 ** (x.format.digits // 2 + 4)
    t = where(great, 1.0, x - 1.0)
    square = fma(t, t, t * 2.0)
    root = square.intrinsic("sqrt")
    error = fma(t, t, fma(t, 2.0, -square)) + fma(-root, root, square)
    sum_, sum_low = fast_two_sum(root, t)
    total, low = two_sum(x.constant(1.0), sum_)
    low = low + (sum_low + error / (root * 2.0).at_least(x.format.smallest_normal))
    total, low = where(great, x, total), where(great, 0.0, low)
    return where(x < 1.0, math.nan, _log_of_sum(total, low, where(great, x.constant(1.0), 0.0)))


def atanh(x: Lanes) -> Lanes:
    """The inverse of tanh, ``log1p(2a / (1 - a)) / 2`` for a = |x|."""
    size = abs(x)
    below, below_low = two_sum(x.constant(1.0), -size)
    inverse = 1.0 / below
    twice = size * 2.0
    quotient = twice * inverse
    quotient_low = inverse * fma(-quotient, below_low, fma(-quotient, below, twice))
    total, low = two_sum(x.constant(1.0), quotient)
    result = _log_of_sum(total, low + quotient_low) * 0.5
    return where(size == 1.0, math.inf, result).copysign(x)


def _product(f: Lanes, factor: tuple[float, float]) -> tuple[Lanes, Lanes]:
    """``log(1 + f) * factor`` as a sum of two floats."""
    high, low = fast_two_sum(f, rest(f))
    product, error = two_product(high, factor[0])
    return product, fma(high, factor[1], fma(low, factor[0], error))


def log2(x: Lanes) -> Lanes:
    """The logarithm to base 2."""
    n, f, _ = split(x)
    high, low = _product(f, _LOG2_E[x.element])
    total, error = fast_two_sum(n, high)
    return _ends(x, total + (error + low))


def log10(x: Lanes) -> Lanes:
    """The logarithm to base 10."""
    n, f, _ = split(x)
    high, low = _product(f, _LOG10_E[x.element])
    shift, shift_error = two_product(n, _LOG10_2[x.element][0])
    total, error = fast_two_sum(shift, high)
    return _ends(x, total + (error + (low + fma(n, _LOG10_2[x.element][1], shift_error))))
