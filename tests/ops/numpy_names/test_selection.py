"""Indices of elements that are not 0, with room for a known number of them."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError


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
