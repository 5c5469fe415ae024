"""Functions of complex numbers: their error against mpmath, and what they give at infinities, NaN and branch cuts."""

import functools
import itertools
import math

import mpmath
import numpy as np
import pytest

from compiling import both
from nxkernel import primitives as p
from nxkernel import types

INF, NAN = math.inf, math.nan


def wide(function):
    """With bits enough for the sum of 1 and the square of the least number."""
    return mpmath.workprec(2300)(function)


FUNCTIONS = {
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


@pytest.mark.parametrize("numbers", [ordinary, small, near_one, of_any_size, where_powers_overflow])
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("primitive", FUNCTIONS, ids=str)
def test_errors_are_small_beside_the_modulus(primitive, type_, numbers):
    z = numbers(np.random.default_rng(0), 40, type_).astype(type_.dtype)
    found, _ = both(primitive, z)
    info = np.finfo(type_.dtype)
    with mpmath.workprec(160):
        for point, got in zip(z.tolist(), found.tolist(), strict=True):
            exact = FUNCTIONS[primitive](mpmath.mpmathify(point))
            size = abs(exact)
            if size > float(info.max):
                continue
            assert abs(mpmath.mpmathify(got) - exact) <= 6 * EPSILON[type_] * size + float(info.smallest_subnormal)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_sigmoid(type_):
    z = ordinary(np.random.default_rng(0), 500, type_).astype(type_.dtype)
    found, expected = both(p.sigmoid, z)
    np.testing.assert_allclose(found, expected, rtol=40 * EPSILON[type_])
    ends = np.array([-1000 + 1j, 1000 + 1j, -INF + 2j, INF - 2j], type_.dtype)
    np.testing.assert_array_equal(both(p.sigmoid, ends)[0], [0, 1, 0, 1])


# Special operands ------------------------------------------------------------------------------------------------

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


def cfinite(z):
    return math.isfinite(z.real) and math.isfinite(z.imag)


def same(left, right, tolerance):
    """Whether two numbers are both NaN, the same infinity, zeros of one sign, or close."""
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    if math.isinf(left) or math.isinf(right) or left == right == 0:
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return abs(left - right) <= tolerance


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("primitive", [*FUNCTIONS, p.phase], ids=str)
def test_special_operands(primitive, type_):
    points = [z for z in GRID if primitive not in OPEN or not OPEN[primitive](z)]
    found, expected = both(primitive, np.array(points, type_.dtype))
    for point, got, want in zip(points, found.astype("c16"), expected.astype("c16"), strict=True):
        tolerance = 16 * EPSILON[type_]
        assert same(got.real, want.real, tolerance), (point, got, want)
        assert same(got.imag, want.imag, tolerance), (point, got, want)


def test_what_the_standard_says_where_numpy_says_less():
    def value(primitive, z):
        return both(primitive, np.array([z]))[0][0]

    np.testing.assert_equal(value(p.expm1, complex(INF, 0)), complex(INF, 0))
    np.testing.assert_equal(value(p.expm1, complex(-INF, INF)), complex(-1, 0))
    np.testing.assert_equal(value(p.exp, complex(-INF, NAN)), 0)
    np.testing.assert_equal(value(p.sinh, complex(0, INF)), complex(0, NAN))
    np.testing.assert_equal(value(p.cosh, complex(INF, NAN)), complex(INF, NAN))
    np.testing.assert_equal(value(p.tanh, complex(INF, NAN)), complex(1, 0))
    np.testing.assert_equal(value(p.cbrt, complex(0, 0)), 0)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_the_modulus_neither_overflows_nor_vanishes(type_):
    info = np.finfo(type_.dtype)
    sizes = [float(info.max) / 2, float(info.smallest_normal), float(info.smallest_subnormal) * 64, 1.0]
    z = np.array([complex(0.75 * size, size) for size in sizes], type_.dtype)
    np.testing.assert_allclose(both(p.absolute, z)[0], [1.25 * size for size in sizes], rtol=2 * EPSILON[type_])
    np.testing.assert_array_equal(both(p.absolute, np.array([3 - 4j, 5 + 12j], type_.dtype))[0], [5, 13])


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_quotients(type_):
    rng = np.random.default_rng(0)
    left, right = (ordinary(rng, 300, type_).astype(type_.dtype) for _ in range(2))
    found, expected = both(p.divide, left, right)
    np.testing.assert_allclose(found, expected, rtol=6 * EPSILON[type_])
    left, right = (np.array(column, type_.dtype) for column in zip(*itertools.product(GRID, repeat=2), strict=True))
    found, expected = both(p.divide, left, right)
    np.testing.assert_allclose(found, expected, rtol=6 * EPSILON[type_])
    great = np.array([complex(float(np.finfo(type_.dtype).max), 0) / 2], type_.dtype)
    np.testing.assert_allclose(both(p.divide, great, great * (1 + 1j))[0], [0.5 - 0.5j], rtol=4 * EPSILON[type_])
