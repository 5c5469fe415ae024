"""Functions applied in place at indices, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import check

M = np.arange(12.0).reshape(3, 4)

AT = {
    "add": lambda np, x: np.add.at(x, [0, 0, 2], 1.5),
    "subtract": lambda np, x: np.subtract.at(x, ([0, 0], [1, 1]), [1, 2]),
    "maximum": lambda np, x: np.maximum.at(x, [1, 1, 2], np.array([[100], [3], [4]])),
    "minimum at elements": lambda np, x: np.minimum.at(x, ([1, 2, 1], [0, 3, 0]), [3, 4, -1]),
    "multiply again and again": lambda np, x: np.multiply.at(x, (slice(None), [1, 1, 1]), 2),
    "multiply by columns": lambda np, x: np.multiply.at(x, (slice(None), [3, 1]), [3, 2]),
    "indices apart": lambda np, x: np.multiply.at(x[None], ([0, 0], slice(None), [1, 1]), 3),
    "of one array": lambda np, x: np.negative.at(x, [0, 1, 0]),
    "a slice": lambda np, x: np.multiply.at(x, slice(0, 2), 3),
    "divide": lambda np, x: np.divide.at(x, [2, 2], 2),
    "in two axes": lambda np, x: np.multiply.at(
        x, (np.array([[0], [2]]), np.array([[1, 1]])), np.array([[2, 3], [4, 5]])
    ),
}


@pytest.mark.parametrize("function", AT.values(), ids=AT)
def test_values(function):
    def changed(np, x):
        function(np, x)
        return x

    check(changed, M)


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_traced_indices(compiler):
    def largest(values, bins):
        found = np.full(4, -np.inf)
        np.maximum.at(found, bins, values)
        return found

    rng = np.random.default_rng(1)
    values, bins = rng.normal(size=200), rng.integers(-4, 4, 200)
    found = nx.defn(largest, compiler=compiler)(values, bins)
    np.testing.assert_array_equal(np.asarray(found), largest(values, bins))
