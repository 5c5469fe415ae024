"""The median, the mode and the covariance."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.vectorized_axes import check_entries
from nxkernel.errors import NxTypeError, NxValueError

X = np.random.default_rng(0).normal(size=(3, 4, 5))
COUNTS = np.random.default_rng(1).integers(-2, 3, (4, 3, 7))
NAMED = nx.tensor([[1, 5, 5], [2, 2, 9]], names=["row", "column"])


def traced(function, *arrays):
    return nx.jit(function, compiler="evaluator")(*arrays)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_median_is_numpys(axis, keep):
    expected = np.median(X, axis=axis, keepdims=keep)
    found = nx.median(X, axis=axis, keep_axes=keep)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert found.shape == np.shape(expected)
    np.testing.assert_array_equal(traced(lambda x: nx.median(x, axis=axis, keep_axes=keep), X), found)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_mode_is_scipys(axis, keep):
    expected = scipy.stats.mode(COUNTS, axis=axis, keepdims=keep).mode
    found = nx.mode(COUNTS, axis=axis, keep_axes=keep)
    np.testing.assert_array_equal(found, expected)
    assert found.shape == np.shape(expected)
    np.testing.assert_array_equal(traced(lambda x: nx.mode(x, axis=axis, keep_axes=keep), COUNTS), expected)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_mode_counts(values):
    assert nx.mode(values).to_list() == min(values, key=lambda value: (-values.count(value), value))


def test_types_of_medians():
    assert nx.median(nx.tensor([3, 1, 2], type="u8")).spec == nx.template((), "u8").spec
    assert nx.median(nx.tensor([3, 1], type="u8")).spec == nx.template((), "f32").spec
    assert nx.median(nx.tensor([60000.0, 65000.0], type="f16")).to_list() == 62496
    assert nx.median(nx.tensor([True, False, True])).spec == nx.template((), "bool").spec


def test_types_of_modes():
    assert nx.mode(nx.tensor([1.5, 2.0, 2.0], type="bf16")).spec == nx.template((), "bf16").spec
    assert nx.mode(nx.tensor([255, 255, 0], type="u8")).to_list() == 255


def test_names():
    for function in (nx.median, nx.mode):
        assert function(NAMED, axis="column").names == ("row",)
        assert function(NAMED, axis="row", keep_axes=True).names == ("row", "column")
        assert function(NAMED, keep_axes=True).shape == (1, 1)
    assert nx.mode(NAMED, axis="column").to_list() == [5, 2]


def test_nan():
    assert nx.median([math.nan, 1.0, 2.0]).to_list() == 2
    assert nx.mode([math.nan, 1.0, math.nan, 1.0]).to_list() == 1
    assert nx.mode([math.inf, math.inf, 1.0]).to_list() == math.inf


@pytest.mark.parametrize("function", [nx.median, nx.mode])
def test_what_has_no_answer(function):
    name = function.__name__
    with pytest.raises(NxValueError) as error:
        function(nx.broadcast(1, (2, 0)), axis=1)
    assert str(error.value) == f"{name} of s64[2][0]: axis 1 has no elements, so there is no answer"
    with pytest.raises(NxTypeError, match=f"{name} takes no complex numbers, got c64"):
        function([1j])


@pytest.mark.parametrize("ddof", [0, 1])
def test_covariance_is_numpys(ddof):
    expected = np.cov(X[0], rowvar=False, ddof=ddof)
    np.testing.assert_allclose(nx.covariance(X[0], ddof=ddof), expected, rtol=1e-12)
    np.testing.assert_allclose(traced(lambda x: nx.covariance(x, ddof=ddof), X[0]), expected, rtol=1e-12)


def test_covariance_of_batches():
    found = nx.covariance(nx.tensor(X, names=["batch", "time", "sensor"]))
    np.testing.assert_allclose(found, [np.cov(x, rowvar=False, ddof=0) for x in X], rtol=1e-12)
    assert found.names == ("batch", None, None)
    shared = nx.covariance(X, X.mean(axis=(0, 1)))
    distance = X - X.mean(axis=(0, 1))
    np.testing.assert_allclose(shared, np.einsum("bni,bnj->bij", distance, distance) / 4, rtol=1e-12)
    of_each = nx.covariance(X[0], X.mean(axis=1))
    assert of_each.shape == (3, 5, 5)
    np.testing.assert_allclose(of_each[0], np.cov(X[0], rowvar=False, ddof=0), rtol=1e-12)


def test_covariance_of_complex_numbers():
    z = X[0] + 1j * X[1]
    np.testing.assert_allclose(nx.covariance(z), np.cov(z, rowvar=False, ddof=0), rtol=1e-12)


def test_types_of_covariances():
    assert nx.covariance([[1, 2], [3, 4]]).type == "f32"
    assert nx.covariance([[1, 2], [3, 4]], nx.tensor([2.0, 3.0], type="f64")).type == "f64"
    found = nx.covariance(nx.tensor([[1000.0], [1001.0]], type="f16"))
    assert (found.type, found.to_list()) == ("f16", [[0.25]])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: nx.covariance([1, 2]),
            "covariance takes observations in rows, [..., observations, variables], got s64[2].\n"
            "  Of a single variable: nx.variance(t), or nx.new_axis(t, -1) for a matrix of one column.",
        ),
        (lambda: nx.covariance([[1, 2]], ddof=-1), "ddof is at least 0, got -1"),
        (
            lambda: nx.covariance([[1, 2]], [1, 2, 3]),
            "covariance of s64[1][2]: the mean has one element for each of 2 variables, got s64[3]",
        ),
    ],
)
def test_covariance_refuses(call, text):
    with pytest.raises(NxValueError) as error:
        call()
    assert str(error.value) == text


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("function", [nx.median, nx.mode])
def test_entries(function, axis):
    check_entries(lambda t: function(t, axis=axis, keep_axes=True), COUNTS)


def test_entries_of_covariances():
    check_entries(lambda t: nx.covariance(t, ddof=1), COUNTS)
    check_entries(lambda t: nx.covariance(t, t[0]), COUNTS)
