"""Comparisons, logic, choice and bits."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

X = np.array([-1.0, 0.0, 2.0, np.nan])


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("equal", np.equal),
        ("not_equal", np.not_equal),
        ("less", np.less),
        ("less_equal", np.less_equal),
        ("greater", np.greater),
        ("greater_equal", np.greater_equal),
        ("logical_and", np.logical_and),
        ("logical_or", np.logical_or),
        ("logical_xor", np.logical_xor),
    ],
)
def test_predicates_are_bools(name, function):
    found = getattr(nx, name)(X[:, None], X)
    assert found.type == "bool"
    np.testing.assert_array_equal(found, function(X[:, None], X))


def test_complex_numbers_are_equal_or_not_but_have_no_order():
    assert nx.equal(nx.tensor([1j, 2]), 1j).to_list() == [True, False]
    with pytest.raises(NxTypeError, match="less takes no complex numbers, got c64"):
        nx.less(1j, 2)


def test_tests():
    assert nx.is_nan(X).to_list() == [False, False, False, True]
    assert nx.is_infinity([1.0, -np.inf]).to_list() == [False, True]
    integers = nx.is_nan(nx.tensor([1, 2], names=["x"]))
    assert (integers.type, integers.names, integers.to_list()) == ("bool", ("x",), [False, False])
    assert nx.logical_not(X[:3]).to_list() == [False, True, False]


def test_select_takes_elements():
    mask = nx.greater(nx.iota((2, 2)), 1)
    assert nx.select(mask, nx.iota((2, 2)), -1).to_list() == [[-1, -1], [2, 3]]
    assert nx.select(mask, [10, 20], 0).to_list() == [[0, 0], [10, 20]]
    assert nx.select(1, [[1], [2]], [3, 4]).to_list() == [[1, 1], [2, 2]]
    assert nx.select(nx.f32([0.5, 0.0]), 1, 2).to_list() == [1, 2]


def test_the_numbers_of_select_are_not_weak():
    assert nx.select([1], nx.u8([1]), 0).type == "s64"
    assert nx.select([1], nx.u8([1]), 0.0).type == "f32"


def test_select_does_not_spread_its_condition():
    with pytest.raises(NxValueError) as error:
        nx.select([1, 0], nx.iota((2, 2)), 0)
    assert str(error.value) == (
        "select: on_true has the shape [2][2], which does not fit that of the condition, [2].\n"
        "  Spread the condition first: nx.broadcast(pred, shape)."
    )


def test_bits():
    left, right = np.array([12, -1], np.int8), np.array([10, 7], np.int8)
    np.testing.assert_array_equal(nx.bitwise_and(left, right), left & right)
    np.testing.assert_array_equal(nx.bitwise_or(left, right), left | right)
    np.testing.assert_array_equal(nx.bitwise_xor(left, right), left ^ right)
    assert nx.bitwise_not(nx.u8([0, 5])).to_list() == [255, 250]
    assert nx.bitwise_not(nx.tensor(np.array([True]))).to_list() == [False]
    assert nx.population_count(nx.s8([-1, 5])).to_list() == [8, 2]
    assert nx.count_leading_zeros(nx.u16([1, 0])).to_list() == [15, 16]


def test_shifts():
    assert nx.left_shift(nx.u8([255]), 1).to_list() == [254]
    assert nx.right_shift(nx.s8([-8]), 1).to_list() == [-4]
    assert nx.right_shift(nx.u8([248]), 3).to_list() == [31]
    with pytest.raises(NxValueError) as error:
        nx.left_shift([1], -1)
    assert str(error.value) == (
        "left_shift takes a distance of at least 0, got -1.\n  nx.right_shift goes the other way."
    )


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"])
def test_bits_are_of_integers(name):
    with pytest.raises(NxTypeError, match=f"{name} takes integers, got f32"):
        getattr(nx, name)([1.0], 2)
