"""Elements that are not 0, different ones, and those of a mask, with room for a known number of them."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 2), (0,), (0, 3)])
@pytest.mark.parametrize("size", [0, 1, 3, 20])
def test_nonzero_with_room(shape, size):
    array = np.random.default_rng(0).integers(0, 2, shape)

    def call(x):
        return nx.nonzero(x, size=size, fill_value=-1)

    for found in (call(nx.tensor(array)), nx.jit(call)(nx.tensor(array))):
        assert len(found) == array.ndim
        for mine, theirs in zip(found, np.nonzero(array), strict=True):
            count = min(size, len(theirs))
            assert (mine.type, mine.to_list()) == ("s64", [*theirs[:count].tolist(), *[-1] * (size - count)])


def test_nonzero_without_room_says_how_to_have_it():
    with pytest.raises(NxTypeError) as raised:
        nx.jit(lambda x: x.nonzero())(nx.tensor([1, 0]))
    assert str(raised.value).split("\n")[2:] == [
        "  Sizes are fixed when a program is compiled: nx.nonzero(t, size=n) makes room for n of them, and "
        "nx.where(mask, t, 0) keeps the shape.",
        "  Outside of definitions it takes tensors without vectorized axes.",
    ]
    assert nx.jit(lambda x: x.nonzero(size=2)[0])(nx.tensor([0.5, 0.0, 2.0])).to_list() == [0, 2]


@pytest.mark.parametrize("size", [2, 4, 6])
def test_unique_with_a_size(size):
    given = np.array([[3.0, 1, 3, 2], [1.0, np.nan, np.nan, 3]])
    theirs = np.unique(given, return_index=True, return_inverse=True, return_counts=True)
    options = {"return_index": True, "return_inverse": True, "return_counts": True}
    found = nx.jit(lambda t: nx.unique(t, **options, size=size, fill_value=-9.0))(given)
    for place, fill in ((0, -9.0), (1, 0), (3, 0)):
        expected = np.full(size, fill, float)
        expected[: theirs[place].size] = theirs[place][:size]
        np.testing.assert_array_equal(found[place].to_numpy(), expected)
    np.testing.assert_array_equal(found[2].to_numpy(), theirs[2])
    for one, other in zip(nx.unique(given, **options), theirs, strict=True):
        np.testing.assert_array_equal(one.to_numpy(), other)


def test_unique_of_little():
    assert nx.unique(np.zeros(0), size=2).to_list() == [0.0, 0.0]
    assert nx.unique([2, 1], size=4).to_list() == [1, 2, 1, 1]
    assert nx.vmap(lambda t: nx.unique(t, size=2))(nx.tensor([[1, 1], [2, 1]])).to_list() == [[1, 1], [1, 2]]
    with pytest.raises(NxTypeError, match=r"^how many elements unique gives only the running program knows") as raised:
        nx.jit(nx.unique)(nx.tensor([1, 2]))
    assert "nx.unique(t, size=n) makes room for n of them" in str(raised.value)


def test_masks_with_a_size():
    t = nx.iota((3, 4))
    assert nx.jit(lambda t: t.compress(t % 2 == 0, size=8, fill_value=-1))(t).to_list() == [0, 2, 4, 6, 8, 10, -1, -1]
    rows = nx.jit(lambda t: t.compress(nx.sum(t, axes=[1]) > 10, axis=0, size=1))(t)
    assert rows.to_list() == [[4, 5, 6, 7]]
    assert nx.grad(lambda t: nx.sum(t.compress(t > 1, size=2)))(nx.tensor([1.0, 2.0, 3.0, 4.0])).to_list() == [
        0,
        1,
        1,
        0,
    ]
    assert nx.tensor(np.zeros((0, 2))).compress([], axis=0, size=2).to_list() == [[0, 0], [0, 0]]
    with pytest.raises(NxTypeError) as raised:
        nx.jit(lambda t: t[t > 2])(t)
    assert "t.compress(mask, size=n) makes room for n of them" in str(raised.value)
    with pytest.raises(
        NxValueError, match=r"^compress: the condition is for 5 slices, axis 0 of s64\[3\]\[4\] has fewer"
    ):
        t.compress([True] * 5, axis=0, size=2)
