"""Elementary functions of complex numbers, made of the real ones.

Errors are a few units in the last place of the modulus. Infinities, NaN and the signs of zeros on branch cuts follow
Annex G of the C standard. Where a function is another one turned by a right angle, as ``sin z = -i sinh iz``, the parts
change places on the way in and on the way out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from nxkernel.compilers.numba_cpu.elementary.arithmetic import Lanes, fma, where
from nxkernel.compilers.numba_cpu.elementary.exponential import LN2
from nxkernel.compilers.numba_cpu.elementary.logarithm import split

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cpu.operations import Emitter


class Complex(NamedTuple):
    """A vector of complex numbers."""

    re: Lanes
    im: Lanes

    def swapped(self) -> Complex:
        """The parts in each other's place."""
        return Complex(self.im, self.re)


def choose(condition: Lanes, then: Complex, otherwise: Complex) -> Complex:
    """Lane by lane, one of two complex values."""
    return Complex(*(where(condition, left, right) for left, right in zip(then, otherwise, strict=True)))


def call(e: Emitter, name: str, *operands: Lanes) -> Lanes:
    """A real elementary function."""
    return Lanes(e.b, e.elementary(name, None, *(operand.value for operand in operands)))


def one(like: Complex) -> Complex:
    """One in every lane."""
    return Complex(like.re.constant(1.0), like.re.constant(0.0))


def is_zero(z: Complex) -> Lanes:
    """Where both parts are zero."""
    return (z.re == 0.0) & (z.im == 0.0)


def _is_infinite(z: Complex) -> Lanes:
    """Where a part is infinite, whatever the other is."""
    return (abs(z.re) == math.inf) | (abs(z.im) == math.inf)


def _is_wild(x: Lanes) -> Lanes:
    """Where a number is infinite or NaN."""
    return ~(abs(x) < math.inf)


def _by_size(z: Complex) -> tuple[Lanes, Lanes]:
    """The greater and the lesser magnitude of the parts."""
    x, y = abs(z.re), abs(z.im)
    return where(x > y, x, y), where(x > y, y, x)


def _power(stored: Lanes) -> Lanes:
    """Two to a power, given as its exponent is stored."""
    return (stored << (23 if stored.element == "i32" else 52)).floats()


# Arithmetic and roots --------------------------------------------------------------------------------------------


def product(left: Complex, right: Complex) -> Complex:
    """The product."""
    return Complex(
        fma(left.re, right.re, -(left.im * right.im)),
        fma(left.re, right.im, left.im * right.re),
    )


def divide(e: Emitter, left: Complex, right: Complex) -> Complex:
    """The quotient by way of that of the divisor's parts, so that nothing overflows on the way.

    Source: R. L. Smith (1962), Algorithm 116: Complex division, Communications of the ACM 5.
    """
    steep = ~(abs(right.re) >= abs(right.im))
    large, small = where(steep, right.im, right.re), where(steep, right.re, right.im)
    first, second = where(steep, left.im, left.re), where(steep, left.re, left.im)
    ratio = small / large
    scale = 1.0 / fma(small, ratio, large)
    # The imaginary part is second - first * ratio, and its opposite where the parts have changed places.
    im = fma(where(steep, first, -first), ratio, where(steep, -second, second))
    quotient, size = Complex(fma(second, ratio, first) * scale, im * scale), abs(right.re)
    return choose(is_zero(right), Complex(left.re / size, left.im / size), quotient)


def absolute(e: Emitter, z: Complex) -> Lanes:
    """The modulus. Parts are scaled by a power of two, so that no square overflows or vanishes."""
    large, small = _by_size(z)
    form = large.format
    stored = large.bits() >> form.digits
    # The inverse of the lowest exponent's power is none that can be stored; that of the next serves.
    stored = where(stored < 2, stored.constant(2), stored)
    down, up = _power((2 * form.bias + 1) - stored), _power(stored - 1)
    large, small = large * down, small * down
    size = fma(large, large, small * small).intrinsic("sqrt") * up
    return where(_is_infinite(z), math.inf, size)


def sqrt(e: Emitter, z: Complex) -> Complex:
    """The square root, that of its parts first which has no cancellation; scaled, as the modulus is."""
    large, _ = _by_size(z)
    form = large.format
    stored = large.bits() >> form.digits
    half = (where(stored == 0, stored.constant(1), stored) + 1) >> 1
    down, up = _power((2 * form.bias + 1) - (half << 1)), _power(half + (form.bias - 1) // 2)
    x, y = abs(z.re) * down, abs(z.im) * down
    size = fma(x, x, y * y).intrinsic("sqrt")
    first = ((x + size) * 0.5).intrinsic("sqrt")
    second = y / (first * 2.0)
    first, second = first * up, second * up
    infinite = abs(z.re) == math.inf
    first = where(infinite, math.inf, first)
    second = where(is_zero(z), 0.0, where(infinite, where(z.im != z.im, z.im, 0.0), second))
    left = z.re < 0.0
    root = Complex(where(left, second, first), where(left, first, second).copysign(z.im))
    return choose(abs(z.im) == math.inf, Complex(abs(z.im), z.im), root)


def rsqrt(e: Emitter, z: Complex) -> Complex:
    """One over the square root."""
    return divide(e, one(z), sqrt(e, z))


def cbrt(e: Emitter, z: Complex) -> Complex:
    """The cube root with the least angle."""
    size, angle = call(e, "cbrt", absolute(e, z)), call(e, "atan2", z.im, z.re) * (1 / 3)
    zero = size == 0.0
    # An infinity times the sine of 0 would be NaN.
    im = where(angle == 0.0, angle, size * call(e, "sin", angle))
    return Complex(where(zero, 0.0, size * call(e, "cos", angle)), where(zero, 0.0, im))


# Exponentials ----------------------------------------------------------------------------------------------------

#: Beyond, powers are taken as squares: their product with a sine may be finite where they are not.
_LARGE = {"float": 80.0, "double": 700.0}


def _turn(e: Emitter, angle: Lanes) -> Complex:
    """``cos angle + i sin angle``."""
    return Complex(call(e, "cos", angle), call(e, "sin", angle))


def exp(e: Emitter, z: Complex, turn: Complex | None = None) -> Complex:
    """``e^x (cos y + i sin y)``; `turn` is the latter factor, if it is known."""
    turn = _turn(e, z.im) if turn is None else turn
    large = z.re > _LARGE[z.re.element]
    power = call(e, "exp", where(large, z.re * 0.5, z.re))
    more = where(large, power, 1.0)
    wild = _is_wild(z.im)
    gone = wild & (z.re == -math.inf)
    re = where(gone, 0.0, where(wild & (z.re == math.inf), z.re, power * turn.re * more))
    im = where(gone, 0.0, where(z.im == 0.0, z.im, power * turn.im * more))
    return Complex(re, im)


def expm1(e: Emitter, z: Complex) -> Complex:
    """``e^z - 1``, of which the real part is ``(e^x - 1) cos y - 2 sin²(y / 2)``."""
    turn = _turn(e, z.im)
    far, half = exp(e, z, turn), call(e, "sin", z.im * 0.5)
    near = fma(call(e, "expm1", z.re), turn.re, half * half * -2.0)
    return Complex(where(abs(z.re) < 1.0, near, far.re - 1.0), far.im)


def sigmoid(e: Emitter, z: Complex) -> Complex:
    """``1 / (1 + e^-z)``, to the left ``e^z / (1 + e^z)``: of the two powers the one that does not overflow."""
    left = z.re < 0.0
    power = exp(e, Complex(-abs(z.re), where(left, z.im, -z.im)))
    return divide(e, choose(left, power, one(z)), Complex(power.re + 1.0, power.im))


def _hyperbolic(e: Emitter, x: Lanes) -> tuple[Lanes, Lanes, Lanes]:
    """``s, c, more``: sinh x is ``s * more`` and cosh x is ``c * more``, for large x as products of their halves'."""
    large = abs(x) > _LARGE[x.element]
    half = where(large, x * 0.5, x)
    cosine = call(e, "cosh", half)
    return call(e, "sinh", half), cosine, where(large, cosine * 2.0, 1.0)


def sinh(e: Emitter, z: Complex) -> Complex:
    """``sinh x cos y + i cosh x sin y``."""
    (s, c, more), turn = _hyperbolic(e, z.re), _turn(e, z.im)
    ends = (abs(z.re) == math.inf) | (z.re == 0.0)
    re = where(_is_wild(z.im) & ends, z.re, s * turn.re * more)
    return Complex(re, where(z.im == 0.0, z.im, c * turn.im * more))


def cosh(e: Emitter, z: Complex) -> Complex:
    """``cosh x cos y + i sinh x sin y``."""
    (s, c, more), turn = _hyperbolic(e, z.re), _turn(e, z.im)
    wild = _is_wild(z.im)
    re = where(wild & (abs(z.re) == math.inf), math.inf, c * turn.re * more)
    zero = (z.im == 0.0) | (wild & (z.re == 0.0))
    signed = z.im.constant(0.0).copysign((z.re.bits() ^ z.im.bits()).floats())
    return Complex(re, where(zero, signed, s * turn.im * more))


#: Beyond, tanh x is one, and the square of sinh x near the end of the range.
_TANH_LIMIT = {"float": 40.0, "double": 350.0}


def tanh(e: Emitter, z: Complex) -> Complex:
    """``(sinh x cosh x + i sin y cos y) / (sinh² x + cos² y)``."""
    turn = _turn(e, z.im)
    s = call(e, "sinh", abs(z.re).at_most(_TANH_LIMIT[z.re.element]))
    square = s * s
    below = fma(turn.re, turn.re, square)
    re = s * (square + 1.0).intrinsic("sqrt") / below
    im = turn.re * turn.im / below
    infinite, wild = abs(z.re) == math.inf, _is_wild(z.im)
    re = where(infinite, 1.0, where(wild & (z.re == 0.0), 0.0, re)).copysign(z.re)
    im = where(infinite, where(wild, 0.0, im * 0.0), im)
    return Complex(re, where(z.im == 0.0, z.im, im))


def sin(e: Emitter, z: Complex) -> Complex:
    """``-i sinh iz``."""
    return sinh(e, z.swapped()).swapped()


def cos(e: Emitter, z: Complex) -> Complex:
    """``cosh iz``."""
    return cosh(e, Complex(-z.im, z.re))


def tan(e: Emitter, z: Complex) -> Complex:
    """``-i tanh iz``."""
    return tanh(e, z.swapped()).swapped()


# Logarithms ------------------------------------------------------------------------------------------------------


def _log_size(e: Emitter, z: Complex, near: Lanes | None = None, excess: Lanes | None = None) -> Lanes:
    """The logarithm of the modulus: ``n ln 2 + log1p(|w|² - 1) / 2`` for ``z = 2^n w``.

    Parameters
    ----------
    e : Emitter
    z : Complex
    near, excess : Lanes, optional
        Where ``|z|² - 1`` is known better than from z, and what it is there.
    """
    large, small = _by_size(z)
    form = large.format
    n, f, _ = split(large)
    # In two steps: the inverse of the power itself may be too great or too small.
    half = (n * 0.5).intrinsic("rint")
    for step in (half, n - half):
        small = small * _power(((form.shifter + form.bias) - step).bits())
    square = fma(f, f + 2.0, small * small)
    if near is not None:
        square, n = where(near, excess, square), where(near, 0.0, n)
    high, low = LN2[large.element]
    size = fma(n, high, fma(n, low, call(e, "log1p", square) * 0.5))
    size = where(is_zero(z), -math.inf, where((large < math.inf) & (small < math.inf), size, math.nan))
    return where(_is_infinite(z), math.inf, size)


def log(e: Emitter, z: Complex) -> Complex:
    """The logarithm of the modulus, and the angle."""
    return Complex(_log_size(e, z), call(e, "atan2", z.im, z.re))


def log1p(e: Emitter, z: Complex) -> Complex:
    """``log(1 + z)``."""
    moved = Complex(z.re + 1.0, z.im)
    near = (abs(z.re) < 0.5) & (abs(z.im) < 0.5)
    excess = fma(z.im, z.im, z.re * (z.re + 2.0))
    return Complex(_log_size(e, moved, near, excess), call(e, "atan2", moved.im, moved.re))


def _log_to(base: float) -> Callable[[Emitter, Complex], Complex]:
    def function(e: Emitter, z: Complex) -> Complex:
        return Complex(*(part * (1 / math.log(base)) for part in log(e, z)))

    return function


# Inverses of the trigonometric and hyperbolic functions ----------------------------------------------------------


def _roots(e: Emitter, z: Complex) -> tuple[Complex, Complex]:
    """The square roots of ``1 - z`` and ``1 + z``."""
    return sqrt(e, Complex(1.0 - z.re, -z.im)), sqrt(e, Complex(z.re + 1.0, z.im))


def asin(e: Emitter, z: Complex) -> Complex:
    """With a, b the roots of 1 - z and 1 + z: ``atan(x / Re(a b)) + i asinh(Im(conj(a) b))``, of which no term cancels.

    Source: W. Kahan (1987), Branch cuts for complex elementary functions.
    """
    a, b = _roots(e, z)
    infinite = _is_infinite(z)
    below = where(infinite, abs(z.im), fma(a.re, b.re, -(a.im * b.im)))
    re = where(z.re == 0.0, z.re, call(e, "atan2", z.re, below))
    im = call(e, "asinh", fma(a.re, b.im, -(a.im * b.re)))
    return Complex(re, where(infinite, math.inf, im).copysign(z.im))


def acos(e: Emitter, z: Complex) -> Complex:
    """With the roots of `asin`: ``2 atan(Re a / Re b) + i asinh(Im(conj(b) a))``."""
    a, b = _roots(e, z)
    infinite = _is_infinite(z)
    angle = call(e, "atan2", where(infinite, abs(z.im), a.re), where(infinite, z.re, b.re))
    angle = where(infinite, angle, angle * 2.0)
    upright = (z.re == 0.0) & (z.im != z.im)
    im = call(e, "asinh", fma(b.re, a.im, -(b.im * a.re)))
    return Complex(where(upright, math.pi / 2, angle), where(infinite, math.inf, im).copysign(-z.im))


def acosh(e: Emitter, z: Complex) -> Complex:
    """``± i acos z``, in the right half plane."""
    turned = acos(e, z)
    return Complex(abs(turned.im), turned.re.copysign(z.im))


#: Nearer to 1 than this, z has no real part but 1, and its distance is scaled by the second number.
_NEAR = {"float": (2.0**-60, 24), "double": (2.0**-500, 60)}


def atanh(e: Emitter, z: Complex) -> Complex:
    """``log1p(4x / |1 - z|²) / 4`` for x >= 0, and half of the angle of ``(1 + z) / (1 - z)``.

    Source: W. Kahan (1987), Branch cuts for complex elementary functions.
    """
    x, y = abs(z.re), abs(z.im)
    right = 1.0 - x
    gap = abs(right)
    large, small = where(gap > y, gap, y), where(gap > y, y, gap)
    inverse = 1.0 / large
    slope = small * inverse
    ratio = x * inverse * inverse * 4.0 / fma(slope, slope, 1.0)
    limit, places = _NEAR[x.element]
    near = (gap < limit) & (y < limit)
    size = call(e, "log1p", where(near, 2.0 ** (1 - places) / y, ratio))
    re = where(near, (size + places * math.log(2)) * 0.5, size * 0.25)
    angle = call(e, "atan2", z.im, fma(right, x + 1.0, -(y * y)) * 0.5) * 0.5
    infinite = _is_infinite(z)
    re = where(infinite | (z.re == 0.0), 0.0, re).copysign(z.re)
    end = where(z.im != z.im, z.im, angle.constant(math.pi / 2).copysign(z.im))
    return Complex(re, where(infinite, end, angle))


def asinh(e: Emitter, z: Complex) -> Complex:
    """``-i asin iz``."""
    return asin(e, z.swapped()).swapped()


def atan(e: Emitter, z: Complex) -> Complex:
    """``-i atanh iz``."""
    return atanh(e, z.swapped()).swapped()


#: By the name of a primitive: ``function(emitter, *operands)``.
FUNCTIONS: dict[str, Callable[..., Complex | Lanes]] = {
    "divide": divide,
    "abs": absolute,
    "sqrt": sqrt,
    "rsqrt": rsqrt,
    "cbrt": cbrt,
    "exp": exp,
    "expm1": expm1,
    "sigmoid": sigmoid,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "log": log,
    "log1p": log1p,
    "log2": _log_to(2),
    "log10": _log_to(10),
    "asin": asin,
    "acos": acos,
    "acosh": acosh,
    "asinh": asinh,
    "atanh": atanh,
    "atan": atan,
}
