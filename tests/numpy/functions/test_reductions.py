"""Sums, extremes, means and their places, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import check

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])

ROWS = {
    "sums": lambda np, m: (
        np.sum(m),
        m.sum(0),
        m.sum(axis=(0, 1)),
        np.sum(m, 1, keepdims=True),
        np.sum(m, dtype=np.float32),
    ),
    "products": lambda np, m: (np.prod(m[0]), m.prod(axis=1), np.prod(m[:, :0], axis=1)),
    "extremes": lambda np, m: (
        m.max(),
        m.min(0),
        np.ptp(m, 1),
        np.max(m, initial=7),
        np.min(m, where=m > 2, initial=9),
    ),
    "means": lambda np, m: (
        m.mean(),
        m.mean(0),
        np.average(m, 0),
        np.average(m[0], weights=m[1]),
        m.var(),
        np.std(m, 1, ddof=1),
    ),
    "places": lambda np, m: (m.argmax(), m.argmin(1), np.argmax(m, 0, keepdims=True)),
    "truth": lambda np, m: (np.all(m > 1, 0), (m > 8).any(), np.count_nonzero(m == 5), np.all(m[:, :0])),
    "of lists": lambda np, m: (np.sum([m[0, 0], 2]), np.max([m[0], m[1]], 0), np.mean((m[0, 0], m[1, 1]))),
    "through functions": lambda np, m: (np.add.reduce(m), np.multiply.reduce(m[0]), np.maximum.reduce(m, axis=None)),
}


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)


def by_threshold(x):
    """Reductions without NaN of what a mask picks, whose length only the running program knows."""
    found = np.zeros((3, 6))
    for k in range(3):
        y = x[(x > k) | np.isnan(x)]
        found[k] = [np.nanmax(y), np.nanmin(y), np.nansum(y), np.nanmean(y), np.nanstd(y), np.sum(y, where=y > 2)]
    return found


def test_without_nan_of_what_a_mask_picks():
    x = np.array([3, np.nan, 1, 5, np.nan, 2, 8, -1])
    np.testing.assert_allclose(nx.jit(by_threshold)(x), by_threshold(x), rtol=1e-14)


@pytest.mark.parametrize("function", [np.sum, np.max])
def test_an_axis_that_is_no_whole_number(function):
    for one in (nx.jit(lambda x: function(x, axis=0.0)), lambda x: function(x, axis=0.0)):
        with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
            one(np.ones((2, 3)))
