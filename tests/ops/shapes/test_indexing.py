"""Slices, splits and t[...]."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp

import nxkernel as nx
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError

X = np.arange(24).reshape(2, 3, 4)
T = nx.tensor(X, names=["a", "b", "c"])


@settings(max_examples=60, deadline=None)
@given(hnp.basic_indices(X.shape, allow_newaxis=True, allow_ellipsis=True))
def test_brackets_are_numpys(key):
    found = T[key]
    np.testing.assert_array_equal(found, X[key])
    assert found.shape == X[key].shape


def test_names_follow_their_axes():
    assert T[0].names == ("b", "c")
    assert T[:, 1, None].names == ("a", None, "c")
    assert T[..., 0].names == ("a", "b")
    assert T[{"c": 1}].names == ("a", "b")
    np.testing.assert_array_equal(T[{"c": slice(1, 3), "a": -1}], X[-1, :, 1:3])


def test_nothing_happens_for_all():
    assert T[...] is T
    assert T[:, ::1] is T


@pytest.mark.parametrize(("place", "taken"), [(1, 1), (7, 2), (-1, 0)])
def test_tensors_as_indices_are_clamped(place, taken):
    np.testing.assert_array_equal(T[:, nx.tensor(place)], X[:, taken])
    np.testing.assert_array_equal(T[0, nx.tensor(place), ::-1], X[0, taken, ::-1])
    np.testing.assert_array_equal(T[nx.tensor(0), nx.u16([1])[0], 1:], X[0, 1, 1:])


def test_numpy_numbers_are_static():
    np.testing.assert_array_equal(T[np.int64(-1)], X[-1])
    np.testing.assert_array_equal(T[np.array(1)], X[1])
    np.testing.assert_array_equal(T[np.array(-1, "i1")], X[-1])


def test_arrays_are_known_numbers():
    np.testing.assert_array_equal(T[np.array([-1, 0])], X[[-1, 0]])
    long = np.arange(300)
    assert nx.tensor(long)[np.array([-1], "i1")].to_list() == [299]
    assert nx.tensor(long)[np.array([200], "u2")].to_list() == [200]
    with pytest.raises(NxIndexError, match=re.escape("index -3 is out of bounds for axis 0 of [a: 2][b: 3][c: 4].")):
        T[np.array([0, -3])]
    with pytest.raises(NxIndexError, match=re.escape("index 18446744073709551615 is out of bounds for axis 0")):
        T[np.array([2**64 - 1], "u8")]


def test_arrays_in_definitions():
    made = nx.jit(lambda t: (t[np.array([-1, 0])], t[np.array(-2)], t[np.array([1], "u4")]), promotion="nx")
    for found, expected in zip(made(X), (X[[-1, 0]], X[-2], X[[1]]), strict=True):
        np.testing.assert_array_equal(found, expected)
    # By Nx's rules, what a definition takes or captures are tensors, whatever they were.
    places = np.array([-1, 0])
    np.testing.assert_array_equal(nx.jit(lambda t, i: t[i])(nx.tensor(X), places), X[[0, 0]])
    np.testing.assert_array_equal(nx.jit(lambda t: t[places])(nx.tensor(X)), X[[0, 0]])
    # By NumPy's rules they are arrays.
    np.testing.assert_array_equal(nx.jit(lambda t, i: t[i])(X, places), X[[-1, 0]])
    np.testing.assert_array_equal(nx.jit(lambda t: t[places])(X), X[[-1, 0]])


def test_the_greatest_unsigned_numbers_are_the_last_places():
    last = nx.tensor(2**64 - 1, type="u64")
    take = lambda t, i: (t[i], nx.slice(t, [i, 0, 0], [1, 3, 4]), nx.put_slice(t, [i, 0, 0], [[[7]]])[1, 0, 0])  # noqa: E731
    for run in (take, nx.jit(take), nx.jit(take, compiler="evaluator")):
        one, part, put = run(nx.tensor(X), last)
        np.testing.assert_array_equal(one, X[1])
        np.testing.assert_array_equal(part, X[1:])
        assert put.to_list() == 7


@pytest.mark.parametrize("wrap", [lambda f: f, nx.jit, lambda f: nx.jit(f, compiler="evaluator")])
def test_an_empty_axis_has_nothing_to_take(wrap):
    empty = nx.tensor(np.zeros((0, 3), np.float32))
    expected = re.escape("t[...]: axis 0 of f32[0][3] has no elements to take")
    for place in (nx.tensor(0), nx.vectorize(nx.tensor([0, 1]), "v")):
        with pytest.raises(NxIndexError, match=expected):
            wrap(lambda t, i: t[i])(empty, place)
    with pytest.raises(NxIndexError, match=re.escape("take: axis 0 of f32[0][3] has no elements to take")):
        wrap(lambda t, i: t[i])(empty, nx.s32([0]))
    with pytest.raises(NxIndexError, match=re.escape("axis 0 of vectorized[v: 2] f32[0][3] has no elements to take")):
        wrap(lambda t, i: t[i])(nx.vectorize(nx.tensor(np.zeros((2, 0, 3), np.float32)), "v"), nx.tensor(0))
    with pytest.raises(NxIndexError, match=re.escape("slice: the length 1 does not fit axis 0 of f32[0][3]")):
        wrap(lambda t, i: nx.slice(t, [i, 0], [1, 3]))(empty, nx.tensor(0))
    assert wrap(lambda t, i: t[:, i])(empty, nx.tensor(9)).shape == (0,)


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (2, NxIndexError, "index 2 is out of bounds for axis 0 of [a: 2][b: 3][c: 4].\n  It goes from -2 to 1."),
        ((0, -4), NxIndexError, "index -4 is out of bounds for axis 1 of [a: 2][b: 3][c: 4].\n  It goes from -3 to 2."),
        ((0, 0, 0, 0), NxIndexError, "4 indices for 3 axes: the tensor is s64[a: 2][b: 3][c: 4]"),
        ((..., ...), NxIndexError, "an index has at most one `...`"),
        (True, NxTypeError, "an index is a whole number, a slice, None, `...`, a tensor or a list, got True."),
        ("a", NxTypeError, "an index is a whole number, a slice, None, `...`, a tensor or a list, got 'a'."),
        (1.0, NxTypeError, "an index is a whole number, a slice, None, `...`, a tensor or a list, got 1.0."),
        ([0, 2], NxIndexError, "index 2 is out of bounds for axis 0 of [a: 2][b: 3][c: 4].\n  It goes from -2 to 1."),
        ([0.0], NxTypeError, "t[...]: indices are whole numbers, got f32[1]."),
        (([0], [1]), NxTypeError, "an index has at most one tensor or list with axes.\n  nx.gather takes"),
        (nx.tensor(1.0), NxTypeError, "an index is a scalar of an integer type, got f32"),
        (slice(0, 1.5), NxTypeError, "a bound of a slice must be a whole number that is known when the graph is built"),
        (slice(0, 2, 0), NxValueError, "the step of a slice cannot be 0"),
        ({"d": 0}, NxValueError, "no axis is named 'd' in [a: 2][b: 3][c: 4]."),
        ({"a": None}, NxTypeError, "an index of the axis 'a' is a number, a slice, a tensor or a list, got None."),
        ({"a": ...}, NxTypeError, "an index of the axis 'a' is a number, a slice, a tensor or a list, got `...`."),
        ({"a": 0, -3: 1}, NxIndexError, "an index has two entries for axis 0 of s64[a: 2][b: 3][c: 4], the second"),
        (nx.tensor(True), NxTypeError, "t[...] takes indices, got a mask: bool."),
        (np.array(True), NxTypeError, "t[...] takes indices, got a mask: bool."),
    ],
)  # fmt: skip
def test_brackets_refuse(key, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        T[key]


def test_one_tensor_or_list_takes():
    np.testing.assert_array_equal(T[[1, 0, -1]], X[[1, 0, -1]])
    np.testing.assert_array_equal(T[:, [[0, -1], [2, 0]]], X[:, [[0, -1], [2, 0]]])
    np.testing.assert_array_equal(T[1, np.array([2, 0]), ::-1], X[1, [2, 0], ::-1])
    np.testing.assert_array_equal(T[..., nx.s32([3, 9, -1])], X[..., [3, 3, 0]])
    np.testing.assert_array_equal(T[None, nx.tensor(0), :, nx.tensor([3])], X[None, 0, :, [3]].reshape(1, 3, 1))
    assert T[[]].shape == (0, 3, 4)
    assert T[:, [0, 1]].names == ("a", "b", "c")
    assert nx.iota((2, 3))[:, nx.tensor([0], names=["n"])].names == (None, "n")


def test_recorded_indices(record):
    found = record(lambda x, i: x[0, i, ::-2], nx.template((2, 3, 4), "f32"), nx.template((), "u16"))
    assert repr(found).splitlines()[4:-1] == [
        "  parameter a:0                                                          f32[2][3][4]",
        "  parameter c:1                                                          u16",
        "  b = slice a, starts=[0, 0, 3], lengths=[1, 3, 3], strides=[1, 1, -2]   f32[1][3][2]",
        '  d = as_type c, type="s64"                                              s64',
        "  e = dynamic_slice b, 0, d, 0, lengths=[1, 1, 2], strides=[1, 1, 1]     f32[1][1][2]",
        "  f = reshape e, shape=(2,)                                              f32[2]",
    ]


def test_slice():
    np.testing.assert_array_equal(nx.slice(X, [0, 1, 0], [2, 2, 4], strides=[1, 1, 3]), X[:, 1:, ::3])
    np.testing.assert_array_equal(nx.slice(X, [nx.tensor(5), 1, 0], [1, 2, 4]), X[1:, 1:])
    assert nx.slice(T, [0, 0, 0], [2, 3, 4]) is T


@pytest.mark.parametrize(
    ("starts", "lengths", "strides", "error", "text"),
    [
        ([0, 2], [2, 2], 1, NxIndexError, "slice: 2 elements from 2 leave axis 1 of s64[2][3]."),
        ([0, 0], [2, 4], 1, NxIndexError, "slice: the length 4 does not fit axis 1 of s64[2][3]"),
        ([0], [2, 2], 1, NxValueError, "slice: start_indices has 1 entries, s64[2][3] has 2 axes"),
        (0, [2, 2], 1, NxTypeError, "slice: start_indices is a list with an entry for each axis, got 0"),
        ([0, 0], [2, 2], 0, NxValueError, "slice: a stride is at least 1, got 0 for axis 0; see nx.reverse"),
        ([nx.tensor(0.5), 0], [2, 2], 1, NxTypeError, "an index is a scalar of an integer type, got f32"),
        ([nx.tensor([0]), 0], [2, 2], 1, NxTypeError, "an index is a scalar of an integer type, got s64[1]"),
    ],
)  # fmt: skip
def test_slice_refuses(starts, lengths, strides, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        nx.slice(X[0, :, :2].T, starts, lengths, strides=strides)


def test_slice_along_axis():
    np.testing.assert_array_equal(nx.slice_along_axis(T, 1, 3, axis="c", strides=2), X[:, :, 1:4:2])
    np.testing.assert_array_equal(nx.slice_along_axis(T, nx.tensor(9), 2, axis=1), X[:, 1:])


@pytest.mark.parametrize(("place", "axis", "first"), [(1, 0, 1), (-1, 2, 3), (0.5, 1, 2), (0.25, "c", 1)])
def test_split(place, axis, first):
    head, tail = nx.split(T, place, axis=axis)
    where = "abc".index(axis) if isinstance(axis, str) else axis
    parts = np.split(X, [first], axis=where)
    np.testing.assert_array_equal(head, parts[0])
    np.testing.assert_array_equal(tail, parts[1])


@pytest.mark.parametrize("place", [0, 2, 1.0, -2, 5, float("nan"), float("inf")])
def test_split_leaves_no_part_empty(place):
    with pytest.raises(NxValueError, match=re.escape(f"split {place!r} of axis 0 with size 2 leaves a part empty.")):
        nx.split(T, place)


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_compiled_slices_are_put(compiler):
    run = nx.jit(lambda t, part, start: nx.put_slice(t, [0, start, 0], part), compiler=compiler)
    for start, first in ((0, 0), (1, 1), (9, 2), (-3, 0)):
        expected = X.copy()
        expected[:, first : first + 1] = -1
        np.testing.assert_array_equal(run(X, np.full((2, 1, 4), -1), start), expected)


def test_put_slice():
    expected = X.copy()
    expected[1:, 1:3, 2:4] = 7
    np.testing.assert_array_equal(nx.put_slice(T, [1, 1, 2], np.full((1, 2, 2), 7)), expected)
    np.testing.assert_array_equal(nx.put_slice(X, [nx.tensor(5), 1, nx.u8(200)], np.full((1, 2, 2), 7)), expected)
    assert nx.put_slice(nx.u8([1, 2]), [1], [0.5]).type == "f32"
    assert nx.put_slice(nx.iota((2, 2), names=["a", None]), [0, 0], nx.tensor([[1]], names=[None, "b"])).names == (
        "a",
        "b",
    )


@pytest.mark.parametrize(
    ("starts", "part", "error", "text"),
    [
        ([0], [[1]], NxValueError, "put_slice: the part s64[1][1] does not fit into s64[3].\n  It has as many axes"),
        ([0], [1, 2, 3, 4], NxValueError, "put_slice: the part s64[4] does not fit into s64[3]."),
        (
            [2],
            [1, 2],
            NxIndexError,
            "put_slice: 2 elements from 2 leave axis 0 of s64[3].\n  The start is from 0 to 1.",
        ),
        ([-1], [1], NxIndexError, "put_slice: 1 elements from -1 leave axis 0 of s64[3]."),
        ([0, 0], [1], NxValueError, "put_slice: start_indices has 2 entries, s64[3] has 1 axes"),
        ([nx.tensor(0.5)], [1], NxTypeError, "an index is a scalar of an integer type, got f32"),
    ],
)
def test_put_slice_refuses(starts, part, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        nx.put_slice([1, 2, 3], starts, part)
