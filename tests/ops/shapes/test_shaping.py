"""Changing shapes."""

import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError

X = np.arange(24).reshape(2, 3, 4)
NAMED = nx.iota((2, 3), names=["a", "b"])


def test_reshape():
    np.testing.assert_array_equal(nx.reshape(X, (4, "auto")), X.reshape(4, 6))
    assert nx.reshape(X, -1).shape == (24,)
    assert nx.reshape(NAMED, (3, 2)).names == (None, None)
    assert nx.reshape(NAMED, (3, 2), names=["c", "d"]).names == ("c", "d")
    assert nx.reshape([1, 2], nx.tensor([[0], [0]], names=["r", None])).names == ("r", None)
    with pytest.raises(NxValueError) as error:
        nx.reshape(X, (5, 5))
    assert str(error.value) == (
        'cannot reshape 24 elements to [5][5], which has 25.\n  One size may be left open as "auto".'
    )
    with pytest.raises(NxTypeError, match="a size in a shape must be a whole number"):
        nx.reshape(X, (2.0, 12))


def test_a_traced_value_is_no_shape(record):
    with pytest.raises(NxTypeError, match="a shape is a tuple of whole numbers, got None"):
        record(lambda x: nx.reshape(x, None), nx.template((2,), "f32"))
    with pytest.raises(NxTypeError, match=re.escape("A static whole number (a shape, an axis, range())")):
        record(lambda x, n: nx.reshape(x, (n, 1)), nx.template((2,), "f32"), nx.template((), "s64"))


def test_flatten():
    assert nx.flatten(NAMED).to_list() == [0, 1, 2, 3, 4, 5]
    assert nx.flatten(X, axes=[1, 2]).shape == (2, 12)
    assert nx.flatten(nx.iota((2, 3, 4), names=["a", "b", "c"]), axes=["a", "b"]).names == (None, "c")
    assert nx.flatten(5).to_list() == [5]
    assert nx.flatten(NAMED, axes=[]) is NAMED
    with pytest.raises(NxValueError, match=re.escape("flatten joins axes that follow each other, got axes=[0, 2]")):
        nx.flatten(X, axes=[0, 2])


def test_rename():
    assert nx.rename(NAMED, [None, "c"]).names == (None, "c")
    assert nx.rename(NAMED, ["a", "b"]) is NAMED


def test_new_axis_and_squeeze():
    assert nx.new_axis(NAMED, 1, "n").spec == nx.template((2, 1, 3), "s64", names=["a", "n", "b"]).spec
    assert nx.new_axis(NAMED, -1).shape == (2, 3, 1)
    assert nx.squeeze(nx.new_axis(NAMED, 0)).spec == NAMED.spec
    assert nx.squeeze(nx.iota((1, 2, 1)), axes=[0]).shape == (2, 1)
    with pytest.raises(
        NxValueError, match=re.escape("squeeze removes axes of size 1, axis 0 of s64[a: 2][b: 3] has 2")
    ):
        nx.squeeze(NAMED, axes=["a"])
    with pytest.raises(NxIndexError, match="axis 5 is out of range"):
        nx.new_axis(NAMED, 5)
    with pytest.raises(NxValueError, match="the name 'a' stands for two axes"):
        nx.new_axis(NAMED, 0, "a")


def test_broadcast():
    np.testing.assert_array_equal(nx.broadcast([1, 2], (3, 2)), [[1, 2]] * 3)
    np.testing.assert_array_equal(nx.broadcast([1, 2], (2, 3), axes=[0]), [[1] * 3, [2] * 3])
    assert nx.broadcast(0.0, (2, 2)).type == "f32"
    assert nx.broadcast(NAMED, (4, 2, 3)).names == (None, None, None)
    assert nx.broadcast(1, NAMED).names == ("a", "b")
    assert nx.broadcast(NAMED, (2, 3), names=["c", "d"]).names == ("c", "d")


@pytest.mark.parametrize(
    ("shape", "options", "text"),
    [
        ((2, 4), {}, "cannot broadcast [2][3] to [2][4].\n  Axes are aligned from the last one;"),
        ((3,), {}, "cannot broadcast [2][3] to [3]."),
        ((2, 3, 4), {"axes": [0]}, "broadcast needs an axis for each of s64[a: 2][b: 3], got axes=[0]"),
    ],
)
def test_broadcast_refuses(shape, options, text):
    with pytest.raises(NxValueError, match="^" + re.escape(text)):
        nx.broadcast(NAMED, shape, **options)


def test_transpose():
    np.testing.assert_array_equal(nx.transpose(X), X.T)
    np.testing.assert_array_equal(nx.transpose(X, axes=[1, -1, 0]), X.transpose(1, 2, 0))
    assert nx.transpose(NAMED, axes=["b", "a"]).names == ("b", "a")
    assert nx.transpose(NAMED, axes=[0, 1]) is NAMED
    with pytest.raises(
        NxValueError, match=re.escape("transpose needs every axis of s64[a: 2][b: 3] once, got axes=[0]")
    ):
        nx.transpose(NAMED, axes=[0])


@pytest.mark.parametrize("repetitions", [[2], [2, 1], [2, 3, 1, 2], [1, 1, 1], 3])
def test_tile(repetitions):
    np.testing.assert_array_equal(nx.tile(X, repetitions), np.tile(X, repetitions))


def test_pad():
    np.testing.assert_array_equal(
        nx.pad(X[0], 7, [(1, 0, 0), (0, 2, 0)]), np.pad(X[0], ((1, 0), (0, 2)), constant_values=7)
    )
    assert nx.pad(nx.u8([1]), 0.5, [(1, 0, 0)]).to_list() == [0.5, 1.0]
    assert nx.pad(NAMED, 0, [(0, 0, 0), (0, 0, 0)]) is NAMED
    assert nx.pad(NAMED, 0, [(1, 0, 0), (0, 0, 0)]).names == ("a", "b")


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            [(0, 0, 0)],
            "pad needs one (low, high, interior) for each of the 2 axes of s64[a: 2][b: 3], got [(0, 0, 0)].\n"
            "  To leave all as they are, write [(0, 0, 0), (0, 0, 0)]; one on each side is [(1, 1, 0), (1, 1, 0)].",
        ),
        (
            [(1, 1), (0, 0)],
            "the padding of an axis is (low, high, interior), got (1, 1).\n"
            "  Write (1, 1, 0); interior is what goes between elements.",
        ),
        (
            [1, 1],
            "the padding of an axis is (low, high, interior), got 1.\n"
            "  Write (1, 1, 0); interior is what goes between elements.",
        ),
        ([(0, 0, -1), (0, 0, 0)], "the interior padding is at least 0, got -1 in (0, 0, -1)"),
    ],
)
def test_pad_refuses(config, text):
    with pytest.raises(NxValueError, match="^" + re.escape(text)):
        nx.pad(NAMED, 0, config)
    with pytest.raises(NxValueError, match=re.escape("pad_value is one number, got s64[1]")):
        nx.pad(NAMED, [1], [(0, 0, 0)] * 2)


def test_reverse():
    np.testing.assert_array_equal(nx.reverse(X), np.flip(X))
    np.testing.assert_array_equal(nx.reverse(X, axes=[1]), np.flip(X, 1))
    assert nx.reverse(1).to_list() == 1


def test_concatenate():
    np.testing.assert_array_equal(nx.concatenate([X, X[:, :1]], axis=1), np.concatenate([X, X[:, :1]], 1))
    assert nx.concatenate((nx.u8([1]), nx.f16([2]))).type == "f16"
    assert nx.concatenate({"b": nx.tensor([2]), "a": [nx.tensor([1])]}).to_list() == [2, 1]
    assert nx.concatenate([NAMED, nx.rename(NAMED, [None, None])], axis="b").names == ("a", "b")


@pytest.mark.parametrize(
    ("tensors", "error", "text"),
    [
        ([], NxValueError, "concatenate needs at least one tensor, got []"),
        (
            NAMED,
            NxTypeError,
            "concatenate takes a list of tensors, got a tensor (s64[2][3]).\n  Write nx.concatenate([a, b]).",
        ),
        (
            [NAMED, nx.iota((2, 4))],
            NxValueError,
            "cannot concatenate s64[a: 2][b: 3] and s64[2][4] (the tensor at 1) along axis 0.",
        ),
    ],
)
def test_concatenate_refuses(tensors, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        nx.concatenate(tensors)


def test_stack():
    np.testing.assert_array_equal(nx.stack([nx.tensor(X), nx.tensor(X)], axis=-1), np.stack([X, X], -1))
    assert nx.stack([1, 2.5], name="x").names == ("x",)
    with pytest.raises(NxValueError, match=re.escape("stack needs tensors of one shape, got s64[2] and s64[3].")):
        nx.stack([nx.iota(2), nx.iota(3)])
