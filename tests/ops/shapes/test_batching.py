"""Batches, and what heat maps take."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError, TracedValueError

T = nx.iota((5, 2), names=["row", None])


def test_the_last_batch_is_filled_from_the_first_rows():
    batches = nx.to_batched(T, 2)
    assert [b.to_list() for b in batches] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [0, 1]]]
    assert {b.spec for b in batches} == {nx.iota((2, 2), names=["row", None]).spec}
    assert [b.to_list() for b in nx.to_batched(nx.iota((3,)), 3)] == [[0, 1, 2]]


def test_or_left_out():
    assert [b.to_list() for b in T.to_batched(2, leftover="discard")] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


def test_batches_are_a_sequence():
    batches = T.to_batched(2)
    assert len(batches) == 3
    assert batches[-1].to_list() == batches[2].to_list()
    assert [b.to_list() for b in batches] == [b.to_list() for b in batches]
    assert repr(batches) == "3 batches of s64[row: 2][2]"
    for place in (3, -4):
        with pytest.raises(IndexError, match="there are 3 batches, numbered from 0"):
            batches[place]


def test_no_copy_where_rows_follow_each_other():
    assert np.shares_memory(T.to_batched(2)[1].to_numpy(), T.to_numpy())


def test_the_first_vectorized_axis_is_split():
    tensor = nx.vectorize(nx.iota((3, 2, 2)), ["x", "y"])
    batches = nx.to_batched(tensor, 2)
    assert [b.vectorized_axes for b in batches] == [(("x", 2), ("y", 2))] * 2
    assert batches[1].to_list() == [[[8, 9], [10, 11]], [[0, 1], [2, 3]]]
    assert [b.to_list() for b in nx.to_batched(nx.vectorize(nx.iota((3,)), "x"), 2)] == [[0, 1], [2, 0]]


@pytest.mark.parametrize(
    ("tensor", "size", "options", "text"),
    [
        (nx.tensor(1), 1, {}, "to_batched takes a tensor with axes, got s64."),
        (T, 6, {}, r"batch_size is from 1 to 5, the rows of s64\[row: 5\]\[2\]; got 6"),
        (T, 0, {}, "batch_size is from 1 to 5"),
        (T, 1.5, {}, "batch_size must be a whole number"),
        (T, 2, {"leftover": "keep"}, 'leftover is "repeat" or "discard", got \'keep\''),
    ],
)
def test_what_makes_no_batches(tensor, size, options, text):
    with pytest.raises((NxTypeError, NxValueError), match=text):
        nx.to_batched(tensor, size, **options)


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (nx.tensor(1), "to_heatmap takes a tensor with axes, got s64"),
        (nx.c64([1]), r"to_heatmap takes real numbers, got c64\[1\]\.\n  Take nx\.abs\(t\) or nx\.phase\(t\)"),
        (nx.broadcast(0, (0, 2)), r"to_heatmap takes a tensor with elements, got s64\[0\]\[2\]"),
        (nx.template((2,), "f32"), r"template f32\[2\] has no data"),
    ],
)
def test_what_has_no_map(tensor, text):
    with pytest.raises((NxTypeError, NxValueError), match=text):
        nx.to_heatmap(tensor)


@pytest.mark.parametrize("ask", [lambda x: nx.to_batched(x, 1), nx.to_heatmap, lambda x: x.to_batched(1)])
def test_traced_values_have_no_data(ask, record):
    with pytest.raises(TracedValueError, match=r"asks for the data of a traced value of type f32"):
        record(ask, nx.template((2, 2), "f32"))
