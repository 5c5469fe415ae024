"""Sorting, the indices that sort, and the greatest few."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import nxkernel as nx
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError

floats = hnp.arrays(np.float32, hnp.array_shapes(max_dims=3, max_side=5), elements=st.floats(width=32))


@settings(max_examples=50, deadline=None)
@given(floats, st.data())
def test_sort_is_numpys(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    ascending = np.sort(x, axis=axis)
    np.testing.assert_array_equal(nx.sort(x, axis=axis), ascending)
    np.testing.assert_array_equal(nx.sort(x, axis=axis, direction="desc"), np.flip(ascending, axis))
    order = nx.argsort(x, axis=axis)
    np.testing.assert_array_equal(order, np.argsort(x, axis=axis, kind="stable"))
    np.testing.assert_array_equal(nx.take_along_axis(x, order, axis=axis), ascending)


def test_equal_elements_keep_their_order():
    assert nx.argsort([1, 0, 1, 0], direction="desc", stable=True).to_list() == [0, 2, 1, 3]
    assert nx.argsort([1, 0, 1, 0]).to_list() == [1, 3, 0, 2]


def test_types_and_names_stay():
    t = nx.tensor([[2, 1]], type="bf16", names=["x", "y"])
    assert nx.sort(t, axis="y").spec == t.spec
    assert nx.argsort(t, axis="y", type="u8").spec == nx.template((1, 2), "u8", names=["x", "y"]).spec
    assert nx.sort(np.array([True, False])).to_list() == [False, True]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nx.sort(1), NxIndexError, "axis 0 is out of range for the shape [] (a scalar)."),
        (lambda: nx.sort([1j]), NxTypeError, "sort takes no complex numbers, got c64."),
        (lambda: nx.argsort([1], direction="up"), NxValueError, 'argsort: direction is "asc" or "desc", got \'up\''),
        (lambda: nx.argsort([1], type="f32"), NxTypeError, "argsort gives whole numbers, got type=f32; nx.as_type"),
        (lambda: nx.top_k(1), NxValueError, "top_k looks along the last axis, and a scalar has none"),
        (
            lambda: nx.top_k([1, 2], k=3),
            NxValueError,
            "top_k: k is from 1 to the size of the last axis, got k=3 for s64[2].",
        ),
        (lambda: nx.top_k([1, 2], k=0), NxValueError, "top_k: k is from 1 to the size of the last axis, got k=0"),
        (
            lambda: nx.top_k([1, 2], k=1.5),
            NxTypeError,
            "k must be a whole number that is known when the graph is built",
        ),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        call()


def test_top_k():
    x = np.random.default_rng(0).integers(0, 9, (3, 7)).astype("f4")
    x[1, 2] = np.nan
    values, indices = nx.top_k(nx.tensor(x, names=["r", "c"]), k=4)
    order = np.stack([sorted(range(7), key=lambda i: (not np.isnan(row[i]), -row[i]))[:4] for row in x])
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))
    assert (values.names, indices.type) == (("r", "c"), "s64")


def test_traced_agrees():
    x = np.random.default_rng(1).integers(0, 5, (4, 6))
    for function in (
        lambda t: nx.sort(t, direction="desc"),
        lambda t: nx.top_k(t, k=3),
        lambda t: nx.argsort(t, axis=1),
    ):
        found, wanted = nx.jit(function, compiler="evaluator")(x), function(x)
        for got, want in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(got, want)
