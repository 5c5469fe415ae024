"""Vectorized axes of several operands, and operands brought to them."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxValueError
from nxkernel.ops.machinery import axis_alignment

A = nx.vectorize(nx.iota((2, 3, 4), type="f32"), ["x", "y"])
B = nx.vectorize(nx.iota((5, 1, 4), type="f32"), ["z", "x"])


def test_axes_are_in_the_order_in_which_they_are_met():
    assert axis_alignment.union([A, B]) == (("x", 2), ("y", 3), ("z", 5))
    assert axis_alignment.union([B, A]) == (("z", 5), ("x", 2), ("y", 3))
    assert axis_alignment.union([nx.f32([1])]) == ()


def test_operands_have_all_axes_or_none():
    axes = axis_alignment.union([A, B])
    found = axis_alignment.aligned(B, axes)
    assert found.spec == nx.template((2, 3, 5, 4), "f32").spec
    np.testing.assert_array_equal(found.data, np.broadcast_to(B.data.transpose(1, 0, 2)[:, None], (2, 3, 5, 4)))
    assert axis_alignment.aligned(A, A.vectorized_axes).data is A.data
    plain = nx.f32([1])
    assert axis_alignment.aligned(plain, axes) is plain
    assert axis_alignment.broadcast(plain, (("x", 2),)).to_list() == [[1], [1]]


def test_entries_in_another_order_are_transposed(record):
    def swapped(t):
        return axis_alignment.broadcast(nx.vectorize(t, ["x", "y"]), (("y", 3), ("x", 2)))

    found = record(swapped, nx.template((2, 3), "f32"))
    assert found.vectorized_axes == (("y", 3), ("x", 2))
    assert "b = transpose a, axes=[1, 0]   f32[3][2]" in repr(found)


def test_constants_stay_constants(record):
    """Numbers and the literals of a function are not stored entry by entry."""
    found = repr(record(lambda t: nx.vectorize(t, "x") * 2 + nx.iota(3) * 0, nx.template((2, 3), "f32")))
    assert "multiply a, 2.0 " in found
    assert found.count("broadcast") == 1


def test_sizes():
    assert axis_alignment.sized({"x": 2}) == (("x", 2),)
    assert axis_alignment.names_and_sizes(["x", ("y", 2)]) == [("x", None), ("y", 2)]
    with pytest.raises(NxValueError, match="the vectorized axis 'x' needs a size: write"):
        axis_alignment.sized("x")
