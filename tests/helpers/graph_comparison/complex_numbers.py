"""Numbers on which functions of complex numbers are tested, and what these functions are."""

import functools
import itertools
import math

import mpmath

from nxkernel import primitives as p
from nxkernel import types

INF, NAN = math.inf, math.nan


def wide(function):
    """With bits enough for the sum of 1 and the square of the least number."""
    return mpmath.workprec(2300)(function)


#: By mpmath.
EXACT = {
    p.sqrt: mpmath.sqrt,
    p.rsqrt: lambda z: 1 / mpmath.sqrt(z),
    p.cbrt: lambda z: mpmath.exp(mpmath.log(z) / 3),
    p.exp: mpmath.exp,
    p.expm1: mpmath.expm1,
    p.log: mpmath.log,
    p.log1p: mpmath.log1p,
    p.log2: lambda z: mpmath.log(z) / mpmath.log(2),
    p.log10: lambda z: mpmath.log(z) / mpmath.log(10),
    p.sin: mpmath.sin,
    p.cos: mpmath.cos,
    p.tan: mpmath.tan,
    p.sinh: mpmath.sinh,
    p.cosh: mpmath.cosh,
    p.tanh: mpmath.tanh,
    p.asin: mpmath.asin,
    p.acos: mpmath.acos,
    p.atan: wide(mpmath.atan),
    p.asinh: mpmath.asinh,
    p.acosh: mpmath.acosh,
    p.atanh: wide(mpmath.atanh),
    p.absolute: abs,
}
COMPLEX = [types.c64, types.c128]
EPSILON = {types.c64: 2.0**-24, types.c128: 2.0**-53}


def ordinary(rng, count, type_):
    return 3 * (rng.normal(size=count) + 1j * rng.normal(size=count))


def small(rng, count, type_):
    return (rng.normal(size=count) + 1j * rng.normal(size=count)) * 10.0 ** rng.uniform(-20, 0, count)


def near_one(rng, count, type_):
    """Next to 1, -1, i and -i, where logarithms and inverse functions have their zeros and cuts."""
    near = (rng.normal(size=count) + 1j * rng.normal(size=count)) * 10.0 ** rng.uniform(-18, 0, count)
    return rng.choice([1, -1, 1j, -1j], count) + near


def of_any_size(rng, count, type_):
    low, high = (-37, 37) if type_ is types.c64 else (-300, 300)
    parts = [10.0 ** rng.uniform(low, high, count) * rng.choice([-1, 1], count) for _ in range(2)]
    return parts[0] + 1j * parts[1]


def where_powers_overflow(rng, count, type_):
    large = 89 if type_ is types.c64 else 709
    # Angles next to a multiple of a right one have a small sine or cosine.
    angles = rng.integers(0, 4, count) * math.pi / 2 + rng.normal(size=count) * 1e-3
    return large * rng.uniform(0.8, 1.05, count) * rng.choice([-1, 1], count) + 1j * angles


NUMBERS = [ordinary, small, near_one, of_any_size, where_powers_overflow]
GRID = [complex(*pair) for pair in itertools.product([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, INF, -INF, NAN], repeat=2)]
#: Where NumPy gives less than it could, or the C standard leaves a sign open.
OPEN = {
    p.expm1: lambda z: z.real == -INF and not math.isfinite(z.imag),
    p.exp: lambda z: z.real == -INF and not math.isfinite(z.imag),
    p.sqrt: lambda z: math.isnan(z.real) and z.imag == 0,
    p.sinh: lambda z: not math.isfinite(z.imag),
    p.cosh: lambda z: not math.isfinite(z.imag) or math.isnan(z.real),
    p.tanh: lambda z: not math.isfinite(z.imag),
}
OPEN |= {turned: functools.partial(lambda of, z: of(complex(z.imag, z.real)), OPEN[of]) for turned, of in
         [(p.sin, p.sinh), (p.cos, p.cosh), (p.tan, p.tanh)]}  # fmt: skip


def same(left, right, tolerance):
    """Whether two numbers are both NaN, the same infinity, zeros of one sign, or close."""
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    if math.isinf(left) or math.isinf(right) or left == right == 0:
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return abs(left - right) <= tolerance
