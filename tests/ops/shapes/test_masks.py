"""Masks between brackets, outside of definitions and in them."""

import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxIndexError, NxTypeError

X = np.arange(24).reshape(2, 3, 4) % 7
T = nx.tensor(X, names=["a", "b", "c"])
ROWS = np.array([False, True, True])


@pytest.mark.parametrize("mask", [ROWS, nx.tensor(ROWS), ROWS.tolist(), list(ROWS)])
def test_a_mask_picks_along_its_axis(mask):
    vector, matrix = nx.tensor([5, 6, 7]), nx.tensor(X[0], names=["b", "c"])
    assert vector[mask].to_list() == [6, 7]
    np.testing.assert_array_equal(matrix[mask], X[0][ROWS])
    assert matrix[mask].names == ("b", "c")
    np.testing.assert_array_equal(matrix[mask, 1], X[0][ROWS, 1])
    np.testing.assert_array_equal(T[:, mask], X[:, ROWS])
    np.testing.assert_array_equal(T[0, mask, ::-1], X[0][ROWS, ::-1])
    np.testing.assert_array_equal(T[..., mask, :], X[..., ROWS, :])
    np.testing.assert_array_equal(T[None, :, mask], X[None, :, ROWS])
    np.testing.assert_array_equal(T[{"b": mask}], X[:, ROWS])


@pytest.mark.parametrize("kind", [np.asarray, nx.tensor, np.ndarray.tolist])
def test_a_mask_of_several_axes_picks_from_all_of_them(kind):
    mask = X > 3
    assert T[kind(mask)].to_list() == X[mask].tolist()
    np.testing.assert_array_equal(T[..., kind(mask[0])], X[..., mask[0]])
    found = T[:, kind(mask[0])]
    np.testing.assert_array_equal(found, X[:, mask[0]])
    assert found.names == ("a", None)
    np.testing.assert_array_equal(T[kind(mask[:, :, 0]), ::2], X[mask[:, :, 0], ::2])
    np.testing.assert_array_equal(T[1, kind(mask[0])], X[1, mask[0]])


def test_what_a_mask_picks_is_of_any_number_and_type():
    t = nx.tensor([3, -1, 2])
    assert t[t > 0].to_list() == [3, 2]
    assert t[~(t > 0)].to_list() == [-1]
    assert (t[t > 9].shape, t[t < 9].shape) == ((0,), (3,))
    assert (t > 0)[t > 2].to_list() == [True]
    assert nx.bf16([1, 2, 3])[t > 0].spec == nx.template((2,), "bf16").spec
    assert nx.tensor([])[nx.tensor([], type="bool")].shape == (0,)


def test_a_mask_picks_in_each_entry_of_a_vectorized_axis():
    found = nx.vectorize(nx.tensor(X[0]), "v")[[True, False, False, True]]
    assert found.vectorized_axes == (("v", 3),)
    np.testing.assert_array_equal(nx.devectorize(found), X[0][:, [0, 3]])


def test_whole_numbers_are_positions():
    t = nx.tensor([5, 6, 7])
    assert t[nx.u8([0, 1, 0])].to_list() == [5, 6, 5]
    assert t[np.array([1, 0], np.uint8)].to_list() == [6, 5]
    assert t[nx.u8(2)].to_list() == 7
    assert nx.defn(lambda x, i: x[i])(t, nx.u8([1, 0, 1])).to_list() == [6, 5, 6]


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (
            [True, False, True],
            NxIndexError,
            "a mask of shape [3] does not fit a tensor of type s64[a: 2][b: 3][c: 4].\n"
            "  It has the shape of the axes that it picks from, here [2], as x[:, 0, 0] > 0 has.\n"
            "  x[:, mask] picks along axis 1.",
        ),
        ((0, nx.tensor([True])), NxIndexError, "a mask of shape [1] does not fit a tensor of type s64[a: 2][b: 3]"),
        (X[:, :2] > 1, NxIndexError, "a mask of shape [2][2][4] does not fit a tensor of type s64[a: 2][b: 3][c: 4]."),
        ((0, X > 1), NxIndexError, "a mask of shape [2][3][4] does not fit a tensor of type s64[a: 2][b: 3][c: 4]."),
        ({"c": ROWS}, NxIndexError, "a mask of shape [3] does not fit a tensor of type s64[a: 2][b: 3][c: 4]."),
        ({"b": X > 1}, NxIndexError, "a mask of shape [2][3][4] does not fit a tensor of type s64[a: 2][b: 3][c: 4]."),
        (([True, False], 3), NxIndexError, "index 3 is out of bounds for axis 1 of [a: 2][b: 3][c: 4]."),
        (([True, False], [0]), NxTypeError, "an index has at most one tensor or list with axes."),
        (
            nx.vectorize(nx.tensor([[True, False]]), "v"),
            NxTypeError,
            "a mask with vectorized axes picks other elements for each entry, got vectorized[v: 1] bool[2].\n"
            "  nx.select(mask, t, 0) keeps the shape.",
        ),
        (
            nx.tensor(True),
            NxTypeError,
            "t[...] takes indices, got a mask: bool.\n"
            "  What a mask picks has a size that only its values tell, and sizes are fixed when a graph is built.\n"
            "  nx.select(mask, t, 0) keeps the shape; outside of definitions, t[mask] picks.",
        ),
    ],
)
def test_masks_that_do_not_fit(key, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        T[key]


def test_a_mask_that_only_the_running_program_knows_is_refused():
    def text(function, *arguments):
        with pytest.raises(NxTypeError) as error:
            nx.jit(function)(*arguments)
        first, _, *rest = str(error.value).splitlines()
        return [first, *rest]

    expected = [
        "how many elements t[mask] has only the running program knows: it picks from s64[3].",
        "  Sizes are fixed when a program is compiled: nx.select(mask, t, 0) keeps the shape, and t.compress(mask, "
        "size=n) makes room for n of them.",
        "  Outside of definitions t[mask] gives the elements.",
    ]
    t = nx.tensor([3, -1, 2])
    assert text(lambda x: x[x > 0], t) == expected
    assert text(lambda x, mask: x[mask], t, ROWS) == expected
    assert text(lambda x: x[t > 0], t) == expected
    assert text(lambda x: nx.sum(t[x > 0]), t) == expected


def test_a_mask_that_is_written_in_a_definition_picks():
    assert nx.defn(lambda x: x[[True, False, True]] * 2)(nx.tensor([3, -1, 2])).to_list() == [6, 4]


def test_only_truth_values_are_masks_of_assignments():
    @nx.defn
    def changed(x, key):
        x[key] = 9
        return x

    x = nx.tensor([1, 2, 3])
    assert changed(x, x > 1).to_list() == [1, 9, 9]
    assert changed(x, nx.u8([0, 2, 0])).to_list() == [9, 2, 9]
