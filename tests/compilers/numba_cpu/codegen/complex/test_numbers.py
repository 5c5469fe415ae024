"""Functions of complex numbers: their error against mpmath, and what they give at infinities, NaN and branch cuts."""

import itertools

import mpmath
import numpy as np
import pytest

from graph_comparison.compiled_graphs import both
from graph_comparison.complex_numbers import COMPLEX, EPSILON, EXACT, GRID, INF, NAN, NUMBERS, OPEN, ordinary, same
from nxkernel import primitives as p


@pytest.mark.sampled(every=36)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("primitive", EXACT, ids=str)
def test_errors_are_small_beside_the_modulus(primitive, type_, numbers):
    z = numbers(np.random.default_rng(0), 40, type_).astype(type_.dtype)
    found, _ = both(primitive, z)
    info = np.finfo(type_.dtype)
    with mpmath.workprec(160):
        for point, got in zip(z.tolist(), found.tolist(), strict=True):
            exact = EXACT[primitive](mpmath.mpmathify(point))
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


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("primitive", [*EXACT, p.phase], ids=str)
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
