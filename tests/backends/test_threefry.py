"""Threefry gives the words that its authors published."""

import numpy as np
import pytest

from graph_comparison.compiled_graphs import spec
from nxkernel import primitives as p
from nxkernel.backends import MEANING

#: Key, counter and block, from the known answers of the authors' Random123.
KNOWN = [
    ((0x00000000, 0x00000000), (0x00000000, 0x00000000), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counter", "block"), KNOWN)
def test_known_blocks(key, counter, block):
    operands = [np.full((2, 3), word, np.uint32) for word in (*key, *counter)]
    for word in (0, 1):
        found = MEANING[p.threefry2x32](spec("u32", 2, 3), *operands, word=word)
        assert found.dtype == np.uint32
        np.testing.assert_array_equal(found, np.full((2, 3), block[word], np.uint32))


def test_long_operands_and_scalars_agree():
    random = np.random.default_rng(3)
    operands = [random.integers(0, 2**32, 20_001, dtype=np.uint32) for _ in range(4)]
    whole = MEANING[p.threefry2x32](spec("u32", 20_001), *operands, word=1)
    for place in (0, 8191, 8192, 20_000):
        one = MEANING[p.threefry2x32](spec("u32"), *[operand[place] for operand in operands], word=1)
        assert one.shape == ()
        assert one == whole[place]


def test_operands_are_not_written_to():
    operands = [np.arange(5, dtype=np.uint32) for _ in range(4)]
    MEANING[p.threefry2x32](spec("u32", 5), *operands, word=0)
    for operand in operands:
        np.testing.assert_array_equal(operand, np.arange(5))
