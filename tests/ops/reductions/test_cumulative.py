"""What accumulates along an axis, and differences."""

import math

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.vectorized_axes import check_entries
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError

X = np.random.default_rng(0).normal(size=(2, 3, 4))
FUNCTIONS = {
    "cumulative_sum": np.cumsum, "cumulative_product": np.cumprod, "cumulative_max": np.maximum.accumulate,
    "cumulative_min": np.minimum.accumulate,
}  # fmt: skip


def traced(function, *arrays):
    return nx.jit(function, compiler="evaluator")(*arrays)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_numpys(name, axis):
    function = getattr(nx, name)
    np.testing.assert_array_equal(function(X, axis=axis), FUNCTIONS[name](X, axis=axis))
    reverse = np.flip(FUNCTIONS[name](np.flip(X, axis), axis=axis), axis)
    np.testing.assert_array_equal(function(X, axis=axis, reverse=True), reverse)
    np.testing.assert_array_equal(traced(lambda x: function(x, axis=axis, reverse=True), X), reverse)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_first_axis_is_the_default(name):
    np.testing.assert_array_equal(getattr(nx, name)(X), FUNCTIONS[name](X, axis=0))
    assert getattr(nx.tensor([1, 2]), name)().shape == (2,)


def test_axes_have_names():
    named = nx.tensor([[1, 2], [3, 4]], names=["row", "column"])
    found = nx.cumulative_sum(named, axis="column")
    assert (found.to_list(), found.names) == ([[1, 3], [3, 7]], ("row", "column"))
    with pytest.raises(NxValueError, match="no axis is named 'x'"):
        nx.cumulative_sum(named, axis="x")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("type_", ["u8", "s16", "bf16"])
def test_types_stay(name, type_):
    assert getattr(nx, name)(nx.tensor([1, 0, 1], type=type_)).type == type_


def test_truth_values_are_counted_or_stay():
    truths = nx.tensor([True, False, True])
    assert (nx.cumulative_sum(truths).type, nx.cumulative_sum(truths).to_list()) == ("s64", [1, 1, 2])
    assert (nx.cumulative_product(truths).type, nx.cumulative_product(truths).to_list()) == ("s64", [1, 0, 0])
    assert nx.cumulative_max(truths).to_list() == [True, True, True]
    assert (nx.cumulative_min(truths).type, nx.cumulative_min(truths).to_list()) == ("bool", [True, False, False])


def test_integers_wrap():
    assert nx.cumulative_sum(nx.tensor([200, 100, 7], type="u8")).to_list() == [200, 44, 51]


def test_nan_stays():
    np.testing.assert_array_equal(nx.cumulative_max([1.0, math.nan, 3.0]), [1, math.nan, math.nan])
    np.testing.assert_array_equal(nx.cumulative_min([1.0, math.nan, 3.0], reverse=True), [math.nan, math.nan, 3])


def test_what_has_no_answer():
    with pytest.raises(NxIndexError, match="axis 0 is out of range for the shape"):
        nx.cumulative_sum(5)
    with pytest.raises(NxTypeError, match="cumulative_max takes no complex numbers, got c64"):
        nx.cumulative_max([1j])
    assert nx.cumulative_product([1j, 1j]).to_list() == [1j, -1]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("order", [0, 1, 2, 3, 4])
def test_diff_is_numpys(order, axis):
    found = nx.diff(X, order=order, axis=axis)
    np.testing.assert_array_equal(found, np.diff(X, n=order, axis=axis))
    np.testing.assert_array_equal(traced(lambda x: nx.diff(x, order=order, axis=axis), X), found)


def test_diff_beyond_all_elements_is_empty():
    assert nx.diff([1, 2], order=5).shape == (0,)
    assert nx.diff(nx.broadcast(1, (0, 2)), axis=0).shape == (0, 2)


def test_diff_keeps_types_and_names():
    named = nx.tensor([[3, 1]], type="u8", names=["row", "column"])
    found = nx.diff(named, axis="column")
    assert (found.to_list(), found.type, found.names) == ([[254]], "u8", ("row", "column"))


def test_diff_undoes_a_running_sum():
    np.testing.assert_allclose(nx.diff(nx.cumulative_sum(X, axis=2)), X[..., 1:], rtol=1e-12)


def test_diff_refuses():
    with pytest.raises(NxValueError) as error:
        nx.diff(5)
    assert str(error.value) == "diff goes along an axis, got the scalar s64.\n  Scalars have no axes."
    with pytest.raises(NxValueError, match="the order of diff is at least 0, got -1"):
        nx.diff([1, 2], order=-1)
    with pytest.raises(NxTypeError, match=r"the order of diff must be a whole number .*, got 1\.5\."):
        nx.diff([1, 2], order=1.5)


@pytest.mark.parametrize("name", [*FUNCTIONS, "diff"])
def test_entries(name):
    x = np.random.default_rng(2).integers(-3, 4, (3, 4, 5))
    check_entries(lambda t: getattr(nx, name)(t, axis=0), x)
    check_entries(lambda t: getattr(nx, name)(t, axis=-1), x)
