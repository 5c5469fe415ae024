"""Streams of random words: the bits of other implementations, in any shape, eager and compiled."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import planned, spec
from nxkernel import types
from nxkernel.backends.threefry import _single
from nxkernel.errors import NxValueError
from nxkernel.random import bit_stream

KEY = nx.random.key(2**40 + 17)
SHAPES = [(), (1,), (2,), (3,), (17,), (4, 5), (3, 1, 7), (1000,), (333, 3), (73, 57), (2, 2048)]


def stream(count):
    """The words that the definition of a stream gives, one block at a time."""
    first, second = KEY.to_list()
    half = -(-count // 2)
    blocks = [_single(first, second, i, i + half if i + half < count else 0) for i in range(half)]
    return [block[0] for block in blocks] + [block[1] for block in blocks][: count - half]


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("type_", ["u8", "s16", "u32", "s32"])
def test_words_by_the_definition(shape, type_):
    expected = np.array(stream(int(np.prod(shape))), np.uint32).astype(types.normalize(type_).dtype).reshape(shape)
    drawn = nx.random.bits_split(KEY, shape=shape, type=type_)
    compiled = nx.jit(lambda key: nx.random.bits_split(key, shape=shape, type=type_))(KEY)
    for found in (drawn, compiled):
        assert (found.type, found.shape) == (type_, shape)
        np.testing.assert_array_equal(found.to_numpy(), expected)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_wide_words_by_the_definition(shape):
    count = int(np.prod(shape))
    low = stream(2 * count)
    expected = np.array([a << 32 | b for a, b in zip(low[:count], low[count:], strict=True)], np.uint64).reshape(shape)
    np.testing.assert_array_equal(nx.random.bits_split(KEY, shape=shape, type="u64").to_numpy(), expected)
    compiled = nx.jit(lambda key: nx.random.bits_split(key, shape=shape, type="s64"))(KEY)
    np.testing.assert_array_equal(compiled.to_numpy().view(np.uint64), expected)


def test_no_words():
    assert nx.random.bits_split(KEY, shape=(0, 3)).shape == (0, 3)


def test_two_halves_of_a_stream():
    for type_, whole in (("u16", types.u16), ("u32", types.u32), ("u64", types.u64)):
        both = nx.random.bits_split(KEY, shape=(2, 5), type=type_).to_numpy()
        halves = bit_stream.double_bits(bit_stream.pair_of(KEY), (5,), whole)
        np.testing.assert_array_equal([half.to_numpy() for half in halves], both)


def test_a_draw_is_one_loop_over_its_result():
    plan = planned(lambda key: nx.random.normal(key, shape=(64, 1000)), spec("u32", 2))
    large = [step.work for step in plan.steps if getattr(step.work, "elements", 0) >= 1000]
    assert [work.elements for work in large] == [64_000]


def test_too_many_words():
    with pytest.raises(NxValueError) as raised:
        nx.jit(lambda key: nx.random.bits_split(key, shape=(2**31,), type="u64"))(KEY)
    text = str(raised.value)
    assert text.startswith("one key gives less than 2**32 words of 32 bits; this takes 4294967296.\n")
    assert text.endswith("\n  Draw in parts with keys of their own: keys = nx.random.split(key, parts=n).")
