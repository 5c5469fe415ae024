"""Powers of complex numbers: whole ones by squaring, others by way of the logarithm, zero's and one's."""

import itertools
import math

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, both
from nxkernel import primitives as p
from nxkernel import types

COMPLEX = [types.c64, types.c128]
EPSILON = {types.c64: 2.0**-24, types.c128: 2.0**-53}


def numbers(type_, count, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=count) + 1j * rng.normal(size=count)).astype(type_.dtype)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 4, 7, 31, 99, -1, -2, -5])
def test_small_whole_exponents(type_, exponent):
    base = numbers(type_, 70)
    base /= np.abs(base) ** 0.9
    found, expected = both(p.power, base, np.full(70, exponent, type_.dtype))
    np.testing.assert_allclose(found, expected, rtol=4 * (1 + abs(exponent)) * EPSILON[type_])


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_whole_powers_on_the_axes_have_no_other_part(type_):
    base = np.array([1j, -1j, 2, -2, 2j], type_.dtype)
    for exponent, expected in {
        2: [-1, -1, 4, 4, -4],
        3: [-1j, 1j, 8, -8, -8j],
        -2: [-1, -1, 0.25, 0.25, -0.25],
    }.items():
        found, _ = both(p.power, base, np.full(5, exponent, type_.dtype))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_other_exponents(type_):
    base, exponent = numbers(type_, 500), numbers(type_, 500, 1)
    # Every third one is whole, so that lanes of one vector go both ways.
    exponent[::3] = np.arange(len(exponent[::3])) % 9 - 4
    found, expected = both(p.power, base, exponent)
    np.testing.assert_allclose(found, expected, rtol=60 * EPSILON[type_])


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_powers_of_zero_and_powers_with_zero(type_):
    points = [0, 1, 2, -1, 0.5, 1j, -1j, 1 + 1j, -1 + 1j]
    base, exponent = (
        np.array(column, type_.dtype) for column in zip(*itertools.product([0, 1, -2j], points), strict=True)
    )
    found, expected = both(p.power, base, exponent)
    np.testing.assert_allclose(found, expected, rtol=20 * EPSILON[type_], atol=20 * EPSILON[type_])
    nan = np.array([complex(math.nan, math.inf)], type_.dtype)
    np.testing.assert_array_equal(both(p.power, nan, np.zeros(1, type_.dtype))[0], [1])


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_an_exponent_beside_an_array(type_):
    base = numbers(type_, 45)
    for exponent in (2, 0.5, -1, 1j):
        agree(lambda x, exponent=exponent: x**exponent, base, rtol=40 * EPSILON[type_])
        agree(lambda x, exponent=exponent: nx.pow(exponent, x), base, rtol=40 * EPSILON[type_])
