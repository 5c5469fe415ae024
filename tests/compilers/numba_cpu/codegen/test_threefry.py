"""Threefry as instructions: the bits that the evaluator gives, and rounds that two words share."""

import numpy as np
import pytest

from graph_comparison.compiled_graphs import agree, graph_of, nests, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.display.nest_source import render
from nxkernel.compilers.numba_cpu.codegen.lower_nest import lower
from nxkernel.graph.expr import constant
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.transforms.simplify import simplify


def both_words(*operands):
    return [apply(p.threefry2x32, *operands, word=word) for word in (0, 1)]


@pytest.mark.parametrize("size", [1, 7, 16, 1000, 40_003])
def test_bits_are_those_of_the_meaning(size):
    random = np.random.default_rng(size)
    operands = [random.integers(0, 2**32, size, dtype=np.uint32) for _ in range(4)]
    agree(both_words, *operands)


def test_scalars():
    agree(both_words, *[np.uint32(word) for word in (1, 2, 3, 0xFFFFFFFF)])


def turns(function, shape):
    """How many times the kernels of a function turn bits."""
    return sum(
        str(lower(nest)).count("call <16 x i32> @llvm.fshl") for nest in nests(function, *[spec("u32", *shape)] * 4)
    )


def test_two_words_of_a_block_share_its_rounds():
    one = turns(lambda *operands: apply(p.threefry2x32, *operands, word=0), (64,))
    assert one % 20 == 0
    assert turns(lambda *operands: both_words(*operands), (64,)) == one


def test_blocks_of_different_counters_share_nothing():
    def function(k0, k1, x0, x1):
        return both_words(k0, k1, x0, x1)[0] + both_words(k0, k1, x1, x0)[1]

    one = turns(lambda *operands: apply(p.threefry2x32, *operands, word=0), (64,))
    assert turns(function, (64,)) == 2 * one


def test_blocks_of_constants_are_folded():
    words = [constant(0, types.u32, (2,))] * 4
    graph = simplify(graph_of(lambda: apply(p.threefry2x32, *words, word=0)))
    assert graph.outputs[0].params["value"] == 0x6B200159


def test_readable_source():
    (nest,) = nests(lambda *operands: apply(p.threefry2x32, *operands, word=1), *[spec("u32", 64)] * 4)
    assert "threefry2x32(e[j0], d[j0], b[j0], a[j0])[1]" in render(nest)


@pytest.mark.parametrize("type_", ["u8", "s16", "u32", "s64", "f32"])
def test_places_of_all_elements_follow_slices_and_transposes(type_):
    def function(x):
        place = apply(p.iota, type=types.normalize(type_), shape=(5, 4, 70), names=(None,) * 3, axis=None)
        return x + place[1:4, ::2].transpose(axes=[1, 0, 2])

    agree(function, np.zeros((2, 3, 70), types.normalize(type_).dtype))
