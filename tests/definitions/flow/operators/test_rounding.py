"""round() of traced numbers, compared with Python's and NumPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel.definitions.flow.operators.rounding import to_even
from nxkernel.ops.tensors.creation import tensor

HALVES = [0.5, 1.5, 2.5, -0.5, -1.5, 0.49999999999999994, 4503599627370497.0, -4503599627370497.0, 2.0**52 + 2]
DECIMALS = [2.675, 1.005, 0.15, 0.25, -2.675, 1e22, 123456789.125, 5e-324, 0.0, 1.7976931348623157e308, 2.5e15 + 0.125]


@nx.defn(promotion="numpy")
def tenths(x):
    return round(x, 1), round(x, 2), round(x, 5)


def test_whole_numbers_stay_and_halves_go_to_even():
    assert to_even(tensor(HALVES, type="f64")).to_list() == [float(round(x)) for x in HALVES]
    assert to_even(tensor([3, 4])).to_list() == [3, 4]


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_of_numbers_it_is_exact_as_pythons(compiler):
    with nx.default_options(compiler=compiler):
        for number in DECIMALS:
            assert [float(x) for x in tenths(number)] == [round(number, digits) for digits in (1, 2, 5)]


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.floats(-1e9, 1e9), st.integers(-(10**6), 10**6).map(lambda n: n / 1000)))
def test_of_any_numbers(number):
    assert [float(x) for x in tenths(number)] == [round(number, digits) for digits in (1, 2, 5)]


def test_of_elements_it_is_numpys():
    @nx.defn(promotion="numpy")
    def f(a):
        return round(a[0], 2), round(a[1], 2), round(a[1], -1), round(a[2])

    a = np.array([2.675, 1.005, 4503599627370497.0])
    assert [float(x) for x in f(a)] == [float(round(a[0], 2)), float(round(a[1], 2)), 0.0, 4503599627370497.0]


def test_zeros_in_place_of_digits():
    @nx.defn(promotion="numpy")
    def f(x, n):
        return round(x, -2), round(n, -1)

    assert [float(x) for x in f(1250.0, 15)] == [1200.0, 20.0]
