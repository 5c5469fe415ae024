"""pow, sqrt, rsqrt and cbrt."""

from __future__ import annotations

import math

from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import (
    Lanes,
    fast_two_sum,
    fma,
    polynomial,
    two_product,
    where,
)
from nxkernel.compilers.numba_cpu.codegen.elementary.exponential import LN2, bounded, reduce, scale
from nxkernel.compilers.numba_cpu.codegen.elementary.logarithm import split

__all__ = ["cbrt", "pow", "rsqrt", "sqrt"]

#: (2 artanh(s) - 2s - 2/3 s³) / s⁵, of s²: minimax, made for this module by Remez' exchange algorithm.
_ARTANH = {
    "float": (0.40000152587890625, 0.28547078371047974, 0.23420140147209167),
    "double": (
        0.4000000000000229,
        0.2857142857008278,
        0.22222222523059657,
        0.18181784082651983,
        0.15386770806286235,
        0.13256496900537632,
        0.13199362115419802,
    ),
}
#: 2/3 as the sum of two numbers of the format.
_TWO_THIRDS = {
    "float": (0.6666666865348816, -1.9868215517249155e-08),
    "double": (0.6666666666666666, 3.700743415417188e-17),
}

#: A first approximation of x^(-1/3) for sqrt(1/2) <= x < sqrt(2), good to 17 bits.
_CUBE_ROOT = (
    1.9991791801152086,
    -2.4858450577192652,
    2.7918354762694495,
    -1.8975502563184055,
    0.7003577056283826,
    -0.10797314553129383,
)


def _precise_log(x: Lanes) -> tuple[Lanes, Lanes]:
    """The logarithm of positive finite numbers as a sum of two floats, with about ten extra bits."""
    n, f, _ = split(x)
    # s = f / (2 + f), then log(1 + f) = 2s + s u with u = s² (2/3 + s² P(s²)); the trailing names are the low parts.
    below, below_ = fast_two_sum(x.constant(2.0), f)
    inverse = 1.0 / below
    s = f * inverse
    s_ = inverse * fma(-s, below_, fma(-s, below, f))
    z, z_ = two_product(s, s)
    z_ = fma(s * 2.0, s_, z_)
    third, third_ = _TWO_THIRDS[x.element]
    q, q_ = fast_two_sum(x.constant(third), z * polynomial(z, _ARTANH[x.element]))
    u, u_ = two_product(z, q)
    u_ = fma(z_, q, fma(z, q_ + third_, u_))
    v, v_ = two_product(s, u)
    v_ = fma(s_, u, fma(s, u_, v_))
    log, log_ = fast_two_sum(s * 2.0, v)
    shift, shift_ = two_product(n, LN2[x.element][0])
    total, total_ = fast_two_sum(shift, log)
    rest = fma(s_, 2.0, v_) + log_
    return total, total_ + (rest + fma(n, LN2[x.element][1], shift_))


def pow(x: Lanes, y: Lanes) -> Lanes:
    """``x^y`` as ``e^(y log |x|)``, with the sign and special cases of C's pow."""
    size = abs(x)
    high, low = _precise_log(size)
    high = where(size == 0.0, -math.inf, where(size < math.inf, high, size))
    exponent, error = two_product(high, y)
    # Beyond the bounds the correction is of no account, and may be infinity less infinity.
    limited = bounded(exponent)
    stored, r, rest = reduce(limited, where(limited == exponent, fma(low, y, error), 0.0))
    result = where((y == 0.0) | (size == 1.0), 1.0, scale(1.0 + (r + rest), stored))
    half = y * 0.5
    is_integer = y.intrinsic("rint") == y
    odd = is_integer & (half.intrinsic("rint") != half)
    signed = (result.bits() ^ where(odd, x.bits() & x.format.sign, 0)).floats()
    return where((x < 0.0) & (size < math.inf) & ~is_integer, math.nan, signed)


def sqrt(x: Lanes) -> Lanes:
    """The square root, correctly rounded."""
    return x.intrinsic("sqrt")


def rsqrt(x: Lanes) -> Lanes:
    """1 / sqrt(x)."""
    return 1.0 / sqrt(x)


def cbrt(x: Lanes) -> Lanes:
    """The cube root: ``|x| = 2^3q m``, then w = m^(-1/3) by one step of order 3, and ``m w²`` with its residual."""
    size, form = abs(x), x.format
    n, f, _ = split(size)
    q = fma(n, 1 / 3, form.shifter) - form.shifter
    k = fma(q, -3.0, n)
    m = f + 1.0
    w = polynomial(m, _CUBE_ROOT)
    # k is -1, 0 or 1 and goes into m, and its cube root into the approximation.
    m = m * where(k == 0.0, 1.0, where(k > 0.0, x.constant(2.0), 0.5))
    w = w * where(k == 0.0, 1.0, where(k > 0.0, x.constant(0.5 ** (1 / 3)), 2.0 ** (1 / 3)))
    residual = fma(w * w * w, -m, 1.0)
    w = fma(w * residual, fma(residual, 2 / 9, 1 / 3), w)
    y = m * w * w
    square, square_low = two_product(y, y)
    y = fma((fma(-square, y, m) - square_low * y) * (w * w), 1 / 3, y)
    power = ((q + (form.shifter + form.bias)).bits() << form.digits).floats()
    return where((size < math.inf) & (size > 0.0), y * power, size).copysign(x)
