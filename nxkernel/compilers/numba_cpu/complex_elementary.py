"""Elementary functions of complex numbers, made of the real ones.

Errors are a few units in the last place of the modulus. Infinities, NaN and the signs of zeros on branch cuts follow
Annex G of the C standard.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from nxkernel.compilers.numba_cpu.elementary.arithmetic import Lanes, fma, where
from nxkernel.compilers.numba_cpu.elementary.exponential import LN2
from nxkernel.compilers.numba_cpu.elementary.logarithm import split
from nxkernel.compilers.numba_cpu.elementary.trigonometric import HALF_PI

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cpu.operations import Emitter


class Complex(NamedTuple):
    """A vector of complex numbers."""

    re: Lanes
    im: Lanes


def choose(condition: Lanes, then: Complex, otherwise: Complex) -> Complex:
    """Lane by lane, one of two complex values."""
    return Complex(*(where(condition, left, right) for left, right in zip(then, otherwise, strict=True)))


def call(e: Emitter, name: str, *operands: Lanes) -> Lanes:
    """A real elementary function."""
    return Lanes(e.b, e.elementary(name, None, *(operand.value for operand in operands)))


def _is_nan(x: Lanes) -> Lanes:
    return x != x


def _is_finite(x: Lanes) -> Lanes:
    return abs(x) < math.inf


def _is_infinite(z: Complex) -> Lanes:
    """Where either part is infinite, whatever the other."""
    return (abs(z.re) == math.inf) | (abs(z.im) == math.inf)


def _greater(z: Complex) -> tuple[Lanes, Lanes]:
    """The greater and the lesser of the parts' magnitudes."""
    x, y = abs(z.re), abs(z.im)
    return where(x > y, x, y), where(x > y, y, x)


def _power(exponent: Lanes, like: Lanes) -> Lanes:
    """Two to a power, of the exponent as it is stored."""
    return (exponent << like.format.digits).floats()


# Arithmetic ------------------------------------------------------------------------------------------------------


def product(left: Complex, right: Complex) -> Complex:
    """The product as the definition has it."""
    return Complex(
        fma(left.re, right.re, -(left.im * right.im)),
        fma(left.re, right.im, left.im * right.re),
    )


def divide(e: Emitter, left: Complex, right: Complex) -> Complex:
    """The quotient by Smith's method (1962), which does not overflow where the result is finite.

    Source: R. L. Smith, Algorithm 116: Complex division, CACM 5.
    """
    steep = ~(abs(right.re) >= abs(right.im))
    large, small = where(steep, right.im, right.re), where(steep, right.re, right.im)
    first, second = where(steep, left.im, left.re), where(steep, left.re, left.im)
    ratio = small / large
    scale = 1.0 / fma(small, ratio, large)
    signed, minus = where(steep, first, -first), where(steep, -second, second)
    quotient = Complex(fma(second, ratio, first) * scale, fma(signed, ratio, minus) * scale)
    by_zero = (right.re == 0.0) & (right.im == 0.0)
    zero = abs(right.re)
    return choose(by_zero, Complex(left.re / zero, left.im / zero), quotient)


def absolute(e: Emitter, z: Complex) -> Lanes:
    """The modulus: parts are scaled by a power of two, so that no square overflows or vanishes."""
    large, small = _greater(z)
    form = large.format
    stored = large.bits() >> form.digits
    # The lowest exponent has no inverse's inverse; the next serves smaller numbers as well.
    stored = where(stored < 2, stored ^ stored ^ 2, stored)
    down, up = _power(((stored ^ -1) + (2 * form.bias + 2)), large), _power(stored - 1, large)
    large, small = large * down, small * down
    result = fma(large, large, small * small).intrinsic("sqrt") * up
    return where(_is_infinite(z), math.inf, result)


def sqrt(e: Emitter, z: Complex) -> Complex:
    """The square root in the right half plane, its parts by the one that has no cancellation."""
    x, y = abs(z.re), abs(z.im)
    large, _ = _greater(z)
    form = large.format
    stored = large.bits() >> form.digits
    half = (stored + where(stored == 0, stored ^ 2, 1)) >> 1
    # Scaled by an even power of two, the greater part is from 1 to 4.
    down = _power(((half << 1) ^ -1) + (2 * form.bias + 2), large)
    up = _power(half + (form.bias - 1) // 2, large)
    x, y = x * down, y * down
    size = fma(x, x, y * y).intrinsic("sqrt")
    first = ((x + size) * 0.5).intrinsic("sqrt")
    second = y / (first * 2.0)
    first, second = first * up, second * up
    # Zero, and infinite parts.
    infinite = abs(z.re) == math.inf
    second = where(large == 0.0, 0.0, where(infinite, where(_is_nan(z.im), z.im, 0.0), second))
    first = where(infinite, math.inf, first)
    left = z.re < 0.0
    root = Complex(where(left, second, first), where(left, first, second).copysign(z.im))
    return choose(abs(z.im) == math.inf, Complex(abs(z.im), z.im), root)


def rsqrt(e: Emitter, z: Complex) -> Complex:
    """One over the square root."""
    one = z.re.constant(1.0)
    return divide(e, Complex(one, one - one), sqrt(e, z))


# Exponentials ----------------------------------------------------------------------------------------------------

#: Beyond, e^x is taken as a square, which may be finite again once it is multiplied by a sine.
_LARGE = {"float": 80.0, "double": 700.0}


def exp(e: Emitter, z: Complex) -> Complex:
    """``e^x (cos y + i sin y)``."""
    large = z.re > _LARGE[z.re.element]
    power = call(e, "exp", where(large, z.re * 0.5, z.re))
    more = where(large, power, 1.0)
    re, im = (power * call(e, name, z.im) * more for name in ("cos", "sin"))
    wild = ~_is_finite(z.im)
    re = where(wild & (z.re == math.inf), z.re, where(wild & (z.re == -math.inf), 0.0, re))
    im = where(z.im == 0.0, z.im, where(wild & (z.re == -math.inf), 0.0, im))
    return Complex(re, im)


def expm1(e: Emitter, z: Complex) -> Complex:
    """``(e^x - 1) cos y - 2 sin²(y/2)`` and ``e^x sin y``."""
    far = exp(e, z)
    half = call(e, "sin", z.im * 0.5)
    near = fma(call(e, "expm1", z.re), call(e, "cos", z.im), half * half * -2.0)
    return Complex(where(abs(z.re) < 1.0, near, far.re - 1.0), far.im)


def sigmoid(e: Emitter, z: Complex) -> Complex:
    """``1 / (1 + e^-z)``, to the left ``e^z / (1 + e^z)``: of the two exponentials the one that does not overflow."""
    left = z.re < 0.0
    power = exp(e, Complex(-abs(z.re), where(left, z.im, -z.im)))
    one = z.re.constant(1.0)
    return divide(e, choose(left, power, Complex(one, one - one)), Complex(power.re + 1.0, power.im))


FUNCTIONS: dict[str, Callable[..., Complex | Lanes]] = {
    "divide": divide,
    "abs": absolute,
    "sqrt": sqrt,
    "rsqrt": rsqrt,
    "exp": exp,
    "expm1": expm1,
    "sigmoid": sigmoid,
}
