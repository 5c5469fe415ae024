"""asin, acos, atan and atan2.

The coefficients are minimax, made for this module by Remez' exchange algorithm.
"""

from __future__ import annotations

import math

from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import Lanes, fast_two_sum, fma, polynomial, where
from nxkernel.compilers.numba_cpu.codegen.elementary.trigonometric import HALF_PI

__all__ = ["acos", "asin", "atan", "atan2"]

#: (atan(t) - t) / t³ for |t| <= sqrt(2) - 1, of t².
_ARCTANGENT = {
    "float": (
        -0.33333316445350647,
        0.19998525083065033,
        -0.14244294166564941,
        0.10598218441009521,
        -0.06087174266576767,
    ),
    "double": (
        -0.3333333333333319,
        0.19999999999952175,
        -0.14285714280059186,
        0.11111110777007371,
        -0.09090897556184711,
        0.07692055838513338,
        -0.0666304122928884,
        0.058473195878771735,
        -0.05036192633711094,
        0.03797140269744552,
        -0.017789993849724225,
    ),
}
#: (asin(x) - x) / x³ for |x| <= 1/2, of x².
_ARCSINE = {
    "float": (
        0.16666752099990845,
        0.07495306432247162,
        0.045470669865608215,
        0.024171194061636925,
        0.042191196233034134,
    ),
    "double": (
        0.1666666666666676,
        0.07499999999970819,
        0.04464285717468029,
        0.03038194270078997,
        0.022372215274323617,
        0.017351605478146778,
        0.013980913392630275,
        0.011398047453545291,
        0.01078562937809515,
        0.0036842785155531965,
        0.021765372992717472,
        -0.021086406045121135,
        0.03268639336115808,
    ),
}


def _small_arcsine(x: Lanes) -> tuple[Lanes, Lanes, Lanes, Lanes]:
    """``near, far, s, rest`` with ``asin s = s + rest``, where s is ``|x|`` up to 1/2, and ``sqrt((1 - |x|) / 2)``
    beyond.
    """
    size = abs(x)
    near = size <= 0.5
    z = where(near, x * x, (1.0 - size) * 0.5)
    s = where(near, size, z.intrinsic("sqrt"))
    return near, ~near, s, z * s * polynomial(z, _ARCSINE[x.element])


def asin(x: Lanes) -> Lanes:
    """The arcsine; beyond 1/2 it is ``π/2 - 2 asin(s)``."""
    near, _, s, rest = _small_arcsine(x)
    high, low, _ = HALF_PI[x.element]
    far, far_low = fast_two_sum(x.constant(high), s * -2.0)
    far = far - (fma(rest, 2.0, -low) - far_low)
    return where(near, s + rest, far).copysign(x)


def acos(x: Lanes) -> Lanes:
    """The arccosine: ``π/2 - asin(x)``, beyond 1/2 ``2 asin(s)``, and below -1/2 ``π - 2 asin(s)``."""
    near, far, s, rest = _small_arcsine(x)
    high, low, _ = HALF_PI[x.element]
    positive = far & (x > 0.0)
    s, rest = where(near, s.copysign(x), s), where(near, rest.copysign(x), rest)
    inner = s + where(positive, rest, rest - low)
    return where(positive, inner, high - inner) * where(near, x.constant(1.0), 2.0)


def _angle(numerator: Lanes, denominator: Lanes) -> tuple[Lanes, Lanes]:
    """``k, t``: the arctangent of a quotient in [0, 1] is ``k π/4 + t``, with k 0 or 1."""
    middle = numerator > denominator * (math.sqrt(2) - 1)
    total, total_low = fast_two_sum(denominator, numerator)
    difference, difference_low = fast_two_sum(-denominator, numerator)
    below = where(middle, total, denominator)
    t = where(middle, difference, numerator) / below
    error = (fma(-t, below, difference) + (difference_low - t * total_low)) / below
    z = t * t
    rest = fma(z * t, polynomial(z, _ARCTANGENT[t.element]), where(middle, error, 0.0))
    return where(middle, t.constant(1.0), 0.0), t + rest


def _sum(k: Lanes, t: Lanes) -> Lanes:
    """``k π/4 + t``."""
    high, low, _ = HALF_PI[t.element]
    return fma(k, high / 2, fma(k, low / 2, t))


def atan(x: Lanes) -> Lanes:
    """The arctangent."""
    size = abs(x)
    great = size > 1.0
    k, t = _angle(where(great, 1.0, size), where(great, size, 1.0))
    return _sum(where(great, 2.0 - k, k), where(great, -t, t)).copysign(x)


def atan2(y: Lanes, x: Lanes) -> Lanes:
    """The angle of the point (x, y), with the special cases of C's atan2."""
    height, width = abs(y), abs(x)
    steep, left = height > width, x.bits() < 0
    small, large = where(steep, width, height), where(steep, height, width)
    # Two sides of zero are taken for 0 and 1, and two that are infinite for 1 and 1.
    zero, infinite = large == 0.0, (small == math.inf) & (large == math.inf)
    # Huge sides are scaled, or else their sum would overflow.
    scale = where(large > 2.0 ** (x.format.bias - 3), x.constant(0.125), 1.0)
    k, t = _angle(where(infinite, 1.0, small) * scale, where(zero | infinite, 1.0, large) * scale)
    k = where(steep, 2.0 - k, k)
    return _sum(where(left, 4.0 - k, k), where(steep ^ left, -t, t)).copysign(y)
