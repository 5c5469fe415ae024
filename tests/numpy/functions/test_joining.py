"""Arrays joined, split, moved along an axis and padded, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import assert_same
from numpy_comparison.traced_functions import check

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])

ROWS = {
    "concatenate": lambda np, m: (
        np.concatenate([m, m[:1]]),
        np.concatenate((m, m), axis=1),
        np.append(m[0], 7),
        np.append(m, m, 0),
    ),
    "stack": lambda np, m: (
        np.stack([m[0], m[1]]),
        np.stack([m[0], m[1]], axis=1),
        np.vstack([m, m[0]]),
        np.hstack([m[0], m[1]]),
    ),
    "columns": lambda np, m: (np.column_stack([m[0], m[1]]), np.dstack([m, m]), np.block([[m, m], [m, m]])),
    "mixed types": lambda np, m: (np.concatenate([m[0], np.arange(2)]), np.stack([m[0], np.ones(4, np.float32)])),
    "split": lambda np, m: (*np.split(m, 2, axis=1), *np.array_split(m[0], 3), *np.hsplit(m, [1]), *np.vsplit(m, 3)),
    "delete and insert": lambda np, m: (np.delete(m, 1, axis=1), np.insert(m[0], 2, 9), np.delete(m[0], [0, 2])),
    "insert several": lambda np, m: (
        np.insert(m[0], [1, 3, 3, -1], 7),
        np.insert(m[0], [2, 0], m[1, :2]),
        np.insert(m, np.repeat([1, 3], 2), 0, axis=1),
        np.insert(m, [1], [[7], [8], [9]], axis=1),
        np.insert(m, 1, m[:, 0], axis=1),
        np.insert(m, slice(0, 3, 2), m[0], axis=0),
        np.insert(m[0], 2, m[1]),
        np.insert(m, [], 5),
    ),
    "moved": lambda np, m: (np.roll(m, 1), np.roll(m, -1, axis=1), np.roll(m, (1, 2), axis=(0, 1))),
    "borders": lambda np, m: (
        np.pad(m, 1),
        np.pad(m, ((0, 1), (2, 0)), constant_values=7),
        np.pad(m[0], 2, mode="edge"),
        np.pad(m, 1, mode="mean"),
        np.pad(m[0], (2, 1), mode="maximum"),
    ),
    "slices": lambda np, m: (*np.unstack(m), *np.unstack(m, axis=-1), *np.unstack(m, axis=(1,))),
    "at least": lambda np, m: (np.atleast_1d(m[0, 0]), np.atleast_2d(m[0]), np.atleast_3d(m)),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)


DELETED = {
    "mask": lambda x, m: (np.delete(x, x < 0), np.delete(m, m[0] > 2, axis=1), np.delete(m, m[:, 1] > 4, 0)),
    "places": lambda x, m: (
        np.delete(x, np.where(x < 0)[0]),
        np.delete(x, np.nonzero(x < 0)),
        np.delete(m, np.where(m.ravel() > 4)),
    ),
    "sorted": lambda x, m: (np.delete(x, np.argsort(x)[:3]), np.delete(x, [np.argmax(x), 0])),
    "one": lambda x, m: (np.delete(x, np.argmin(x)), np.delete(x, -1 - np.argmin(x)), np.delete(m, m[0].argmax(), 1)),
    "slice": lambda x, m: np.delete(x, slice(1, np.argmax(x))),
    "none": lambda x, m: (np.delete(x, x > 99), np.delete(x, []), np.delete(x, np.zeros(8, bool))),
    "again": lambda x, m: np.delete(np.delete(x, x < 0), 0),
}


@pytest.mark.parametrize("function", DELETED.values(), ids=DELETED)
def test_what_the_values_say_is_deleted(function):
    x = np.array([0.3, -1, 2, 0.1, 5, -3, 0.2, 0.4])
    if function is DELETED["mask"] or function is DELETED["places"]:
        many = np.random.default_rng(1).standard_normal(500)
        assert_same(nx.jit(function)(many, M), function(many, M))
    assert_same(nx.jit(function)(x, M), function(x, M))


def test_a_mask_of_another_length_deletes_nothing():
    with pytest.raises(ValueError, match=r"^boolean array argument obj to delete must be one dimensional and match"):
        nx.jit(lambda x: np.delete(x, x[:2] > 1))(np.ones(3))


def test_insert_beyond_the_end_is_numpys_error():
    for function in (nx.jit(lambda m: np.insert(m, 9, 1)), lambda m: np.insert(m, 9, 1)):
        with pytest.raises(IndexError, match=r"^index 9 is out of bounds for axis 0 with size 4"):
            function(M[0])


@pytest.mark.parametrize("function", [lambda m, k: np.insert(m, k, 5), np.delete], ids=["insert", "delete"])
def test_where_a_mask_is_true(function):
    mask = np.array([True, False, False, True])
    for one in (lambda m: function(m, mask), lambda m: function(m, m > 2)):
        np.testing.assert_array_equal(nx.jit(one)(M[0]), one(M[0]))
