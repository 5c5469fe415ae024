"""Functions of complex numbers, as formulas over their real and imaginary parts.

They are formulas of numbers with the operators of :class:`nxkernel.compilers.rewrite.graph_builder.Number`, which is a
node of a graph. Vectors of lanes have them, too (:mod:`nxkernel.compilers.numba_cpu.codegen.complex.numbers`), and
round once where they multiply and add.

Errors are a few units in the last place of the modulus. Infinities, NaN and the signs of zeros on branch cuts follow
Annex G of the C standard. Where a function is another one turned by a right angle, as ``sin z = -i sinh iz``, the parts
change places on the way in and on the way out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.rewrite.graph_builder import Number, Truth, where
from nxkernel.element_types import FloatFormat
from nxkernel.primitives import Primitive


class Complex(NamedTuple):
    """Complex nodes as a pair of real ones: the real and the imaginary part."""

    re: Number
    im: Number

    def swapped(self) -> Complex:
        """The number with its real and imaginary parts exchanged."""
        return Complex(self.im, self.re)


def choose(condition: Truth, then: Complex, otherwise: Complex) -> Complex:
    """Element by element, the one value where a condition holds and the other elsewhere."""
    return Complex(*(where(condition, left, right) for left, right in zip(then, otherwise, strict=True)))


def one(like: Complex) -> Complex:
    """One in every element."""
    return Complex(like.re.constant(1.0), like.re.constant(0.0))


def is_zero(z: Complex) -> Truth:
    """Where both parts are zero."""
    return (z.re == 0.0) & (z.im == 0.0)


def is_true(z: Complex) -> Truth:
    """Where any part is not zero."""
    return (z.re != 0.0) | (z.im != 0.0)


def is_nan(z: Complex) -> Truth:
    """Where a part is NaN."""
    return (z.re != z.re) | (z.im != z.im)


def is_infinite(z: Complex) -> Truth:
    """Where a part is infinite, whatever the other is."""
    return (abs(z.re) == math.inf) | (abs(z.im) == math.inf)


def _is_wild(x: Number) -> Truth:
    """Where a real number is infinite or NaN."""
    return ~(abs(x) < math.inf)


def _by_size(z: Complex) -> tuple[Number, Number]:
    """The larger and the smaller magnitude of the two parts."""
    x, y = abs(z.re), abs(z.im)
    return where(x > y, x, y), where(x > y, y, x)


def _power(stored: Number, form: FloatFormat) -> Number:
    """The float 2^n, given n as the exponent field of a float stores it."""
    return (stored << form.digits).floats()


# Arithmetic and roots ------------------------------------------------------------------------------------------------


def product(left: Complex, right: Complex) -> Complex:
    """The product."""
    return Complex(left.re.fms(right.re, left.im * right.im), left.re.fma(right.im, left.im * right.re))


def divide(left: Complex, right: Complex) -> Complex:
    """The quotient by Smith's method: by the quotient of the divisor's parts, so that nothing overflows in between.

    Source: R. L. Smith (1962), Algorithm 116: Complex division, Communications of the ACM 5.
    """
    steep = ~(abs(right.re) >= abs(right.im))
    large, small = where(steep, right.im, right.re), where(steep, right.re, right.im)
    first, second = where(steep, left.im, left.re), where(steep, left.re, left.im)
    ratio = small / large
    scale = 1.0 / small.fma(ratio, large)
    # The imaginary part is second - first * ratio, and its opposite where the parts have changed places.
    im = where(steep, first, -first).fma(ratio, where(steep, -second, second))
    quotient, size = Complex(second.fma(ratio, first) * scale, im * scale), abs(right.re)
    return choose(is_zero(right), Complex(left.re / size, left.im / size), quotient)


def absolute(z: Complex) -> Number:
    """The modulus. Parts are scaled by a power of two, so that no square overflows or vanishes."""
    large, small = _by_size(z)
    form = large.format
    stored = large.bits() >> form.digits
    # The inverse of the lowest exponent's power is none that can be stored; that of the next serves.
    stored = where(stored < 2, 2, stored)
    down, up = _power((2 * form.bias + 1) - stored, form), _power(stored - 1, form)
    large, small = large * down, small * down
    size = large.fma(large, small * small).call(p.sqrt) * up
    return where(is_infinite(z), math.inf, size)


def phase(z: Complex) -> Number:
    """The angle."""
    return z.im.call(p.atan2, z.re)


def sqrt(z: Complex) -> Complex:
    """The square root, that of its parts first which has no cancellation; scaled, as the modulus is."""
    large, _ = _by_size(z)
    form = large.format
    stored = large.bits() >> form.digits
    half = (where(stored == 0, 1, stored) + 1) >> 1
    down, up = _power((2 * form.bias + 1) - (half << 1), form), _power(half + (form.bias - 1) // 2, form)
    x, y = abs(z.re) * down, abs(z.im) * down
    size = x.fma(x, y * y).call(p.sqrt)
    first = ((x + size) * 0.5).call(p.sqrt)
    second = y / (first * 2.0)
    first, second = first * up, second * up
    infinite = abs(z.re) == math.inf
    first = where(infinite, math.inf, first)
    second = where(is_zero(z), 0.0, where(infinite, where(z.im != z.im, z.im, 0.0), second))
    left = z.re < 0.0
    root = Complex(where(left, second, first), where(left, first, second).copysign(z.im))
    return choose(abs(z.im) == math.inf, Complex(abs(z.im), z.im), root)


def rsqrt(z: Complex) -> Complex:
    """One over the square root."""
    return divide(one(z), sqrt(z))


def cbrt(z: Complex) -> Complex:
    """The cube root with the least angle."""
    size, angle = absolute(z).call(p.cbrt), phase(z) * (1 / 3)
    zero = size == 0.0
    # An infinity times the sine of 0 would be NaN.
    im = where(angle == 0.0, angle, size * angle.call(p.sin))
    return Complex(where(zero, 0.0, size * angle.call(p.cos)), where(zero, 0.0, im))


# Exponentials --------------------------------------------------------------------------------------------------------

#: Beyond, powers are taken as squares: their product with a sine may be finite where they are not.
_LARGE = {32: 80.0, 64: 700.0}


def _cis(angle: Number) -> Complex:
    """``cos angle + i sin angle``."""
    return Complex(angle.call(p.cos), angle.call(p.sin))


def exp(z: Complex, cis: Complex | None = None) -> Complex:
    """``e^x (cos y + i sin y)``; `cis` is the latter factor, if it is known."""
    cis = _cis(z.im) if cis is None else cis
    large = z.re > _LARGE[z.re.format.width]
    power = where(large, z.re * 0.5, z.re).call(p.exp)
    more = where(large, power, 1.0)
    wild = _is_wild(z.im)
    gone = wild & (z.re == -math.inf)
    re = where(gone, 0.0, where(wild & (z.re == math.inf), z.re, power * cis.re * more))
    im = where(gone, 0.0, where(z.im == 0.0, z.im, power * cis.im * more))
    return Complex(re, im)


def expm1(z: Complex) -> Complex:
    """``e^z - 1``, of which the real part is ``(e^x - 1) cos y - 2 sin²(y / 2)``."""
    cis = _cis(z.im)
    far, half = exp(z, cis), (z.im * 0.5).call(p.sin)
    near = z.re.call(p.expm1).fms(cis.re, half * half * 2.0)
    return Complex(where(abs(z.re) < 1.0, near, far.re - 1.0), far.im)


def sigmoid(z: Complex) -> Complex:
    """``1 / (1 + e^-z)``, to the left ``e^z / (1 + e^z)``: of the two powers the one that does not overflow."""
    left = z.re < 0.0
    power = exp(Complex(-abs(z.re), where(left, z.im, -z.im)))
    return divide(choose(left, power, one(z)), Complex(power.re + 1.0, power.im))


def _hyperbolic(x: Number) -> tuple[Number, Number, Number]:
    """``s, c, more``: sinh x is ``s * more`` and cosh x is ``c * more``, for large x as products of their halves'."""
    large = abs(x) > _LARGE[x.format.width]
    half = where(large, x * 0.5, x)
    cosine = half.call(p.cosh)
    return half.call(p.sinh), cosine, where(large, cosine * 2.0, 1.0)


def sinh(z: Complex) -> Complex:
    """``sinh x cos y + i cosh x sin y``."""
    (s, c, more), cis = _hyperbolic(z.re), _cis(z.im)
    ends = (abs(z.re) == math.inf) | (z.re == 0.0)
    re = where(_is_wild(z.im) & ends, z.re, s * cis.re * more)
    return Complex(re, where(z.im == 0.0, z.im, c * cis.im * more))


def cosh(z: Complex) -> Complex:
    """``cosh x cos y + i sinh x sin y``."""
    (s, c, more), cis = _hyperbolic(z.re), _cis(z.im)
    wild = _is_wild(z.im)
    re = where(wild & (abs(z.re) == math.inf), math.inf, c * cis.re * more)
    zero = (z.im == 0.0) | (wild & (z.re == 0.0))
    signed = z.im.constant(0.0).copysign((z.re.bits() ^ z.im.bits()).floats())
    return Complex(re, where(zero, signed, s * cis.im * more))


#: Beyond, tanh x is one, and the square of sinh x near the end of the range.
_TANH_LIMIT = {32: 40.0, 64: 350.0}


def tanh(z: Complex) -> Complex:
    """``(sinh x cosh x + i sin y cos y) / (sinh² x + cos² y)``."""
    cis = _cis(z.im)
    s = abs(z.re).at_most(_TANH_LIMIT[z.re.format.width]).call(p.sinh)
    square = s * s
    below = cis.re.fma(cis.re, square)
    re = s * (square + 1.0).call(p.sqrt) / below
    im = cis.re * cis.im / below
    infinite, wild = abs(z.re) == math.inf, _is_wild(z.im)
    re = where(infinite, 1.0, where(wild & (z.re == 0.0), 0.0, re)).copysign(z.re)
    im = where(infinite, where(wild, 0.0, im * 0.0), im)
    return Complex(re, where(z.im == 0.0, z.im, im))


def sin(z: Complex) -> Complex:
    """``-i sinh iz``."""
    return sinh(z.swapped()).swapped()


def cos(z: Complex) -> Complex:
    """``cosh iz``."""
    return cosh(Complex(-z.im, z.re))


def tan(z: Complex) -> Complex:
    """``-i tanh iz``."""
    return tanh(z.swapped()).swapped()


# Logarithms ----------------------------------------------------------------------------------------------------------


def _log_size(z: Complex, near: Truth | None = None, excess: Number | None = None) -> Number:
    """The logarithm of the modulus: ``n ln 2 + log1p(|w|² - 1) / 2`` for ``z = 2^n w``.

    Parameters
    ----------
    z : Complex
    near, excess : optional
        Where ``|z|² - 1`` is known better than from z, and what it is there.
    """
    large, small = _by_size(z)
    n, f = large.split()
    # In two steps: the inverse of the power itself may be too great or too small.
    half = (n * 0.5).call(p.round_half_even)
    for step in (half, n - half):
        small = small * step.inverse_power()
    square = f.fma(f + 2.0, small * small)
    if near is not None:
        square, n = where(near, excess, square), where(near, 0.0, n)
    high, low = large.ln2
    size = n.fma(high, n.fma(low, square.call(p.log1p) * 0.5))
    size = where(is_zero(z), -math.inf, where((large < math.inf) & (small < math.inf), size, math.nan))
    return where(is_infinite(z), math.inf, size)


def log(z: Complex) -> Complex:
    """The logarithm of the modulus, and the angle."""
    return Complex(_log_size(z), phase(z))


def log1p(z: Complex) -> Complex:
    """``log(1 + z)``."""
    moved = Complex(z.re + 1.0, z.im)
    near = (abs(z.re) < 0.5) & (abs(z.im) < 0.5)
    excess = z.im.fma(z.im, z.re * (z.re + 2.0))
    return Complex(_log_size(moved, near, excess), phase(moved))


def _log_to(base: float) -> Callable[[Complex], Complex]:
    def function(z: Complex) -> Complex:
        return Complex(*(part * (1 / math.log(base)) for part in log(z)))

    return function


# Inverses of the trigonometric and hyperbolic functions --------------------------------------------------------------


def _roots(z: Complex) -> tuple[Complex, Complex]:
    """The square roots of ``1 - z`` and ``1 + z``."""
    return sqrt(Complex(1.0 - z.re, -z.im)), sqrt(Complex(z.re + 1.0, z.im))


def asin(z: Complex) -> Complex:
    """With a, b the roots of 1 - z and 1 + z: ``atan(x / Re(a b)) + i asinh(Im(conj(a) b))``, of which no term cancels.

    Source: W. Kahan (1987), Branch cuts for complex elementary functions.
    """
    a, b = _roots(z)
    infinite = is_infinite(z)
    below = where(infinite, abs(z.im), a.re.fms(b.re, a.im * b.im))
    re = where(z.re == 0.0, z.re, z.re.call(p.atan2, below))
    im = a.re.fms(b.im, a.im * b.re).call(p.asinh)
    return Complex(re, where(infinite, math.inf, im).copysign(z.im))


def acos(z: Complex) -> Complex:
    """With the roots of `asin`: ``2 atan(Re a / Re b) + i asinh(Im(conj(b) a))``."""
    a, b = _roots(z)
    infinite = is_infinite(z)
    angle = where(infinite, abs(z.im), a.re).call(p.atan2, where(infinite, z.re, b.re))
    angle = where(infinite, angle, angle * 2.0)
    upright = (z.re == 0.0) & (z.im != z.im)
    im = b.re.fms(a.im, b.im * a.re).call(p.asinh)
    return Complex(where(upright, math.pi / 2, angle), where(infinite, math.inf, im).copysign(-z.im))


def acosh(z: Complex) -> Complex:
    """``± i acos z``, in the right half plane."""
    turned = acos(z)
    return Complex(abs(turned.im), turned.re.copysign(z.im))


#: Nearer to 1 than this, z has no real part but 1, and its distance is scaled by the second number.
_NEAR = {32: (2.0**-60, 24), 64: (2.0**-500, 60)}


def atanh(z: Complex) -> Complex:
    """``log1p(4x / |1 - z|²) / 4`` for x >= 0, and half of the angle of ``(1 + z) / (1 - z)``.

    Source: W. Kahan (1987), Branch cuts for complex elementary functions.
    """
    x, y = abs(z.re), abs(z.im)
    right = 1.0 - x
    gap = abs(right)
    large, small = where(gap > y, gap, y), where(gap > y, y, gap)
    inverse = 1.0 / large
    slope = small * inverse
    ratio = x * inverse * inverse * 4.0 / slope.fma(slope, 1.0)
    limit, bits = _NEAR[x.format.width]
    near = (gap < limit) & (y < limit)
    size = where(near, 2.0 ** (1 - bits) / y, ratio).call(p.log1p)
    re = where(near, (size + bits * math.log(2)) * 0.5, size * 0.25)
    angle = z.im.call(p.atan2, right.fms(x + 1.0, y * y) * 0.5) * 0.5
    infinite = is_infinite(z)
    re = where(infinite | (z.re == 0.0), 0.0, re).copysign(z.re)
    end = where(z.im != z.im, z.im, angle.constant(math.pi / 2).copysign(z.im))
    return Complex(re, where(infinite, end, angle))


def asinh(z: Complex) -> Complex:
    """``-i asin iz``."""
    return asin(z.swapped()).swapped()


def atan(z: Complex) -> Complex:
    """``-i atanh iz``."""
    return atanh(z.swapped()).swapped()


# Powers --------------------------------------------------------------------------------------------------------------

#: Below this size whole exponents are powers by squaring, as they are in NumPy; and how many bits they have.
_SMALL, _BITS = 100.0, 7


def power(base: Complex, exponent: Complex) -> Complex:
    """The power; zero to one whose real part is not positive has no value, but for zero to the zeroth, which is 1."""
    n = exponent.re
    is_integer = (exponent.im == 0.0) & (abs(n) < _SMALL) & (n.call(p.round_half_even) == n)
    bits = where(is_integer, abs(n), 0.0).to(types.u32)
    result = _by_squaring(base, lambda bit: ((bits >> bit) & 1) != 0)
    result = choose(n < 0.0, divide(one(base), result), result)
    return _at_zero(base, exponent, choose(is_integer, result, exp(product(exponent, log(base)))))


def power_by(base: Complex, number: complex, exponent: Complex) -> Complex:
    """The power with an exponent that is known: of both ways, the one that it takes."""
    n = number.real
    if number.imag == 0 and abs(n) < _SMALL and n == int(n):
        result = _by_squaring(base, lambda bit: bool(int(abs(n)) >> bit & 1))
        result = divide(one(base), result) if n < 0 else result
    else:
        result = exp(product(exponent, log(base)))
    return _at_zero(base, exponent, result)


def _at_zero(base: Complex, exponent: Complex, otherwise: Complex) -> Complex:
    gone = where(exponent.re > 0.0, 0.0, base.re.constant(math.nan))
    return choose(is_zero(base) & is_true(exponent), Complex(gone, gone), otherwise)


def _by_squaring(base: Complex, is_set: Callable[[int], Truth | bool]) -> Complex:
    """The product of those of a number's powers 1, 2, 4, … that a predicate of their places chooses."""
    result, square, nothing = one(base), base, None
    for bit in range(_BITS):
        odd = is_set(bit)
        if bit:
            square = product(square, square)
        if isinstance(odd, bool):
            if odd:
                result = square if nothing is None else product(result, square)
                nothing = False
            continue
        # The first factor is taken as it is: a product with one would make NaN of infinity.
        taken = square if nothing is None else choose(nothing, square, product(result, square))
        result = choose(odd, taken, result)
        nothing = ~odd if nothing is None else nothing & ~odd
    return result


#: What each primitive becomes, as a function of its operands.
FUNCTIONS: dict[Primitive, Callable[..., Complex | Number | Truth]] = {
    p.divide: divide,
    p.power: power,
    p.absolute: absolute,
    p.phase: phase,
    p.is_nan: is_nan,
    p.is_infinity: is_infinite,
    p.sqrt: sqrt,
    p.rsqrt: rsqrt,
    p.cbrt: cbrt,
    p.exp: exp,
    p.expm1: expm1,
    p.sigmoid: sigmoid,
    p.sinh: sinh,
    p.cosh: cosh,
    p.tanh: tanh,
    p.sin: sin,
    p.cos: cos,
    p.tan: tan,
    p.log: log,
    p.log1p: log1p,
    p.log2: _log_to(2),
    p.log10: _log_to(10),
    p.asin: asin,
    p.acos: acos,
    p.acosh: acosh,
    p.asinh: asinh,
    p.atanh: atanh,
    p.atan: atan,
}
