"""Builtins of what a mask picks."""

import numpy as np
import pytest

import nxkernel as nx

X = np.array([3.0, -1.0, 4.0, -1.5, 5.0])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sum(x[x > 0]),
        lambda x: sum(x[x > 0], 0.5),
        lambda x: min(x[x > 0]),
        lambda x: max(x[x < 0]),
        lambda x: max(np.nonzero(x > 0)[0]),
        lambda x: min(x[: np.argmax(x)]),
        lambda x: np.argmin(x[x > 0]),
        lambda x: x[x > 0].argmax(),
    ],
)
@pytest.mark.parametrize("type_", [np.float64, np.float32, np.int64])
def test_sums_and_extremes(function, type_):
    x = X.astype(type_)
    expected, result = function(x), nx.defn(function)(x)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == expected.dtype


def test_nan_counts_only_as_the_first_element():
    function = nx.defn(lambda x: min(x[x != 4]))
    for x in ([3, np.nan, 1, 4], [np.nan, 1, 4], [4, np.nan, 3]):
        x = np.array(x)
        np.testing.assert_array_equal(function(x), min(x[x != 4]))


def test_sums_of_rows_and_truth_values():
    rows = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(nx.defn(lambda x: sum(x[x[:, 0] > 0]))(rows), sum(rows[rows[:, 0] > 0]))
    assert nx.defn(lambda x: sum((x > 3)[x > 0]))(X).dtype == np.int64
    assert int(nx.defn(lambda x: sum((x > 3)[x > 0]))(X)) == 2
