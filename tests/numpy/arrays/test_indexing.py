"""What a key shows of an array, and what is assigned there, as in NumPy."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import check

M = np.arange(24.0).reshape(4, 6)
T = np.arange(60).reshape(3, 4, 5)

KEYS = {
    "int": lambda np: 2,
    "negative": lambda np: -1,
    "slice": lambda np: np.s_[1:3] if hasattr(np, "s_") else slice(1, 3),
    "steps": lambda np: (slice(None, None, 2), slice(5, None, -2)),
    "empty": lambda np: slice(3, 1),
    "rows and columns": lambda np: (slice(1, -1), slice(1, -1)),
    "new axis": lambda np: (slice(None), None, 1),
    "dots": lambda np: (..., 0),
    "dots alone": lambda np: ...,
    "element with dots": lambda np: (1, 2, ...),
    "list": lambda np: [2, 0, -1, 2],
    "array": lambda np: np.array([[0, 1], [2, 3]]),
    "columns": lambda np: (slice(None), [0, 5, 1]),
    "pairs": lambda np: ([0, 1, 3], [5, 4, 3]),
    "grid": lambda np: (np.array([[0], [2]]), np.array([1, 3, 5])),
    "int and list": lambda np: (1, [0, 2]),
    "list and int": lambda np: ([0, 2], -1),
    "slice and list": lambda np: (slice(0, 4, 2), [0, 2]),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_reading(key):
    check(lambda np, x: x[key(np)], M)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("value", [7, "own", "number"])
def test_assigning(key, value):
    def f(np, x):
        if value == "number":
            x[key(np)] *= 2
        else:
            x[key(np)] = x[key(np)] * 2 + 1 if value == "own" else value
        return x

    check(f, M)


TRIPLES = {
    "front": lambda np: (0, slice(None), [1, 2]),
    "apart": lambda np: ([0, 1], slice(None), [1, 2]),
    "together": lambda np: (slice(None), [0, 1], [1, 2]),
    "last": lambda np: (..., [1, 2]),
    "new": lambda np: (None, [1, 2], 2),
}


@pytest.mark.parametrize("key", TRIPLES.values(), ids=TRIPLES)
def test_where_the_axes_of_indices_go(key):
    check(lambda np, x: x[key(np)], T)

    def f(np, x):
        x[key(np)] += 100
        return x

    check(f, T)


KNOWN_KEYS = [
    lambda x: x[[True, False, True, True]],
    lambda x: x[np.array([True, False, True, True])],
    lambda x: x[np.arange(len(x)) != 1],
    lambda x: x[np.arange(len(x)) % 2 == 0, 1:],
    lambda x: x[:, np.arange(3) > 0],
    lambda x: x[..., np.array([True, False, True])],
    lambda x: x[np.arange(12).reshape(4, 3) > 5],
    lambda x: x[np.nonzero(np.arange(4) > 1)],
    lambda x: x[np.flatnonzero([1, 0, 1, 0])],
    lambda x: x[:, (0, 2)],
    lambda x: x[(0, 2), :],
    lambda x: x[(0, 2), (1, 1)],
    lambda x: x[([0, 2],)],
]


@pytest.mark.parametrize("key", range(len(KNOWN_KEYS)))
def test_masks_that_are_known_pick_a_known_number(key):
    function, x = KNOWN_KEYS[key], np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(nx.defn(lambda x: np.cumsum(function(x)))(x), np.cumsum(function(x)))
    np.testing.assert_array_equal(nx.defn(function)(x), function(x))
