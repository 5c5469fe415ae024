"""Strides and flags of arrays in programs are those of NumPy."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

A = np.arange(24.0).reshape(4, 6)
FLAGS = ("c_contiguous", "f_contiguous", "contiguous", "owndata", "writeable", "aligned", "behaved", "carray", "fnc",
          "forc", "writebackifcopy")  # fmt: skip
VIEWS = {
    "itself": lambda a: a, "transposed": lambda a: a.T, "slice": lambda a: a[1:3, ::2], "row": lambda a: a[2],
    "column": lambda a: a[:, 1], "new": lambda a: a + 1, "turned copy": lambda a: a.T + 1,
    "reversed": lambda a: a[::-1], "small": lambda a: a.astype("f4"),
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_as_numpy(view):
    def f(a):
        b = VIEWS[view](a)
        return b.strides, [getattr(b.flags, name) for name in FLAGS], b.flags["C"], b.flags["F_CONTIGUOUS"]

    expected = (VIEWS[view](A.copy()).strides, [getattr(VIEWS[view](A.copy()).flags, name) for name in FLAGS])
    strides, flags, is_c, is_f = nx.jit(f)(A.copy())
    assert strides == expected[0]
    assert dict(zip(FLAGS, flags, strict=True)) == dict(zip(FLAGS, expected[1], strict=True))
    assert (is_c, is_f) == (expected[1][0], expected[1][1])


def test_of_what_the_caller_passes():
    f = nx.jit(lambda a: a if a.flags.c_contiguous else a * 0)
    assert f(A) is not None
    with pytest.raises(NxTypeError, match="do not lie in order"):
        f(A[:, ::2])
    with pytest.raises(KeyError, match="Unknown flag"):
        nx.jit(lambda a: a.flags["Z"])(A)


STRIDED = {
    "windows": lambda a: np.lib.stride_tricks.as_strided(a[0], shape=(5, 2), strides=(8, 8)),
    "blocks": lambda a: np.lib.stride_tricks.as_strided(a, (2, 2, 2, 3), (96, 24, 48, 8)),
    "by its own": lambda a: np.lib.stride_tricks.as_strided(a, (3, 5, 2, 2), a.strides * 2).sum(axis=(2, 3)),
    "repeated": lambda a: np.lib.stride_tricks.as_strided(a[1], (3, 6), (0, 8)),
}


@pytest.mark.parametrize("name", STRIDED)
def test_other_strides(name):
    np.testing.assert_array_equal(nx.jit(STRIDED[name])(A), STRIDED[name](A))


def test_strides_that_are_refused():
    strided = np.lib.stride_tricks.as_strided
    with pytest.raises(
        NxValueError, match=r"^as_strided: strides of \(8, 8\) bytes lead out of an array of 6 elements"
    ):
        nx.jit(lambda a: strided(a[0], (6, 2), (8, 8)))(A)
    with pytest.raises(NxTypeError, match="takes an array in C order"):
        nx.jit(lambda a: strided(a.T, (2, 2), (8, 8)))(A)


def test_arrays_that_are_said_to_be_read_only():
    def f(x):
        y = x.copy()
        y.setflags(write=False)
        view = y[1:]
        try:
            y[0] = 9.0
        except ValueError:
            x = x + 1
        try:
            view[0] = 9.0
        except ValueError:
            x = x + 1
        y.flags.writeable = True
        y[0] = 5.0
        y.flags["WRITEABLE"] = False
        return x, y * 1, y.flags.writeable

    found, expected = nx.jit(f)(np.ones(3)), f(np.ones(3))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda x: x.setflags(write=False), "an array of the caller's keeps its flags: a program does not set them."),
        (
            lambda x: np.broadcast_to(x + 1, (2, 3)).setflags(write=True),
            "this array cannot be made writeable: its elements are shared.",
        ),
    ],
)
def test_flags_that_are_not_set(act, text):
    def f(x):
        act(x)
        return x * 2

    with pytest.raises((NxTypeError, NxValueError)) as caught:
        nx.jit(f)(np.ones(3))
    assert str(caught.value).split("\n")[0] == text
