"""Dot and outer products."""

import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

A = np.arange(24.0).reshape(2, 3, 4)
B = np.arange(40.0).reshape(2, 4, 5)


@pytest.mark.parametrize(
    ("left", "right"),
    [(A[0], B[0]), (A, B), (A, B[0, :, 0]), (A[0, 0], B), (A[0, 0], A[0, 0]), (2.0, A), (A, np.float64(3))],
)
def test_two_arguments_are_numpys_dot(left, right):
    found = nx.dot(left, right)
    np.testing.assert_array_equal(found, np.dot(left, right))
    assert found.shape == np.dot(left, right).shape


def test_axes_can_be_named():
    left, right = nx.tensor(A[0], names=["a", "b"]), nx.tensor(A[0], names=["c", "b"])
    found = nx.dot(left, ["b"], right, ["b"])
    np.testing.assert_array_equal(found, A[0] @ A[0].T)
    assert found.names == ("a", "c")


def test_batches():
    found = nx.dot(A, [2], [0], B, [1], [0])
    np.testing.assert_array_equal(found, A @ B)


def test_types():
    assert nx.dot(nx.u8([16]), nx.u8([16])).to_list() == 0
    assert nx.dot(nx.s64([1]), nx.f16([1])).type == "f16"
    assert nx.dot(nx.as_type([1, 1], "bool"), nx.as_type([1, 1], "bool")).type == "s64"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((A[0], A[0]), NxValueError, "dot of f64[3][4] and f64[3][4]: the contracted axis 1 on the left has size 4,"),
        ((A[0], [0, 1], A[0], [0]), NxValueError, "dot contracts axes in pairs, got [0, 1] on the left and [0] on"),
        ((A, [2], [0], B, [1], []), NxValueError, "dot has 1 batch axes on the left and 0 on the right."),
        ((A, [2], [1], B, [1], [0]), NxValueError, "the batch axes of dot come first and in order: [0]; got [1]"),
        ((A, [2], [0], B, [0], [0]), NxValueError, "dot cannot both contract and batch axis 0 on the right"),
        ((A, None, B, [0]), NxTypeError, "dot takes lists of axes, got None; write [] for no axes"),
        ((A, [0], B), NxTypeError, "dot takes 2, 4 or 6 arguments, got 3."),
        ((A, "text"), NxTypeError, "expected a tensor, an array or a number for 'right', got 'text'."),
    ],
)  # fmt: skip
def test_dot_refuses(arguments, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        nx.dot(*arguments)


def test_outer():
    np.testing.assert_array_equal(nx.outer([1, 2], [[3, 4], [5, 6]]), np.outer([1, 2], [3, 4, 5, 6]))
    assert nx.outer([1j], [1j]).to_list() == [[1 + 0j]]
    x, y = nx.tensor([1, 2], names=["x"]), nx.tensor([3], names=["y"])
    assert nx.outer(x, y).names == ("x", "y")
    assert nx.outer(x, 3).names == ("x", None)
    with pytest.raises(NxValueError, match="outer would have two axes named 'x'; rename one side first"):
        nx.outer(x, x)
