"""Convolutions as nests: along what vectors run, what is copied for that, and into how many parts sums are cut."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, graph_of, nests, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.rewrite import convolutions
from nxkernel.compilers.rewrite.loop_nest_rewrites import prepare
from nxkernel.compilers.schedule.loop_nest import BufferRole, LaneAxis, Stride
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import apply

LAST = {"input_permutation": [0, 3, 1, 2], "kernel_permutation": [3, 2, 0, 1], "output_permutation": [0, 3, 1, 2]}


def same(x, kernel):
    return nx.conv(x, kernel, padding="same")


def last(x, kernel):
    return nx.conv(x, kernel, padding="same", **LAST)


def of_kernel(x, gain):
    """As the gradient of a kernel is: batch and channels have changed places."""
    x, gain = (nx.transpose(value, axes=[1, 0, 2, 3]) for value in (x, gain))
    return nx.transpose(nx.conv(x, gain, padding=[(1, 1), (1, 1)]), axes=[1, 0, 2, 3])


def numbers(*shape, type_="f4"):
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(type_)


#: Functions with the shapes of what they take, and for the nest that multiplies: its tile, and at the axis along which
#: vectors run the steps of what it reads.
NESTS = {
    "space": (same, (2, 3, 20, 32), (24, 3, 3, 3), (8, 2, 16), [Stride.UNIT, Stride.NONE]),
    "features, as space is short": (same, (2, 3, 5, 5), (24, 3, 3, 3), (4, 2, 16), [Stride.NONE, Stride.UNIT]),
    "features, as channels are last": (last, (2, 20, 32, 3), (3, 3, 3, 24), (8, 2, 16), [Stride.NONE, Stride.UNIT]),
    "space, as features are few": (last, (2, 20, 32, 3), (3, 3, 3, 2), None, None),
    "one pixel": (last, (2, 9, 8, 20), (1, 1, 20, 32), (8, 2, 16), [Stride.NONE, Stride.UNIT]),
    "the gradient of a kernel": (of_kernel, (6, 9, 12, 12), (6, 16, 12, 12), (8, 1, 16), [Stride.NONE, Stride.UNIT]),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", NESTS)
def test_along_what_vectors_run(name):
    function, x, kernel, tile, steps = NESTS[name]
    found = [nest for nest in nests(function, spec("f32", *x), spec("f32", *kernel)) if nest.inner]
    if tile is not None:
        (nest,) = [nest for nest in found if nest.lanes is LaneAxis.TILE]
        reads = [access.strides[nest.outer - 1] for access in nest.buffers if access.role is BufferRole.READ]
        assert nest.tile == tile
        assert sorted(reads) == sorted(steps)
    agree(function, numbers(*x), numbers(*kernel))


def made_of(function, *shapes):
    """The shapes of the sums that a function becomes."""
    outputs, _ = prepare(graph_of(function, *[spec("f32", *shape) for shape in shapes]).outputs, frozenset([types.f32]))
    return [node.operands[0].shape for node in post_order(outputs) if node.primitive is p.sum_]


@pytest.mark.parametrize(
    ("samples", "least", "expected"),
    [
        (20, 256, [(1, 3, 1, 1, 3, 3, 16, 20, 12, 12)]),
        (30, 256, [(3, 3, 1, 1, 3, 3, 16, 10, 12, 12), (3, 3, 1, 1, 3, 3, 16)]),
        (31, 256, [(1, 3, 1, 1, 3, 3, 16, 31, 12, 12)]),
        (31, 100, [(31, 3, 1, 1, 3, 3, 16, 1, 12, 12), (31, 3, 1, 1, 3, 3, 16)]),
    ],
)
def test_long_sums_are_cut(samples, least, expected, monkeypatch):
    monkeypatch.setattr(convolutions, "LEAST_PART", least)
    shapes = (samples, 3, 12, 12), (samples, 16, 12, 12)
    assert made_of(of_kernel, *shapes) == expected
    agree(of_kernel, *[numbers(*shape) for shape in shapes])


def test_sums_over_small_windows_are_not_cut():
    assert made_of(same, (2, 1000, 20, 32), (24, 1000, 3, 3)) == [(1, 2, 1, 1, 24, 20, 32, 1000, 3, 3)]


@pytest.mark.slow
@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", ["f4", "f8", "c8"])
@pytest.mark.parametrize(("parts", "groups"), [(1, 1), (2, 1), (1, 3), (2, 3)])
def test_groups_strides_and_dilations(parts, groups, type_):
    x, kernel = numbers(2, 9, 10, 6, type_=type_), numbers(2, 3, 6 // groups, 60, type_=type_)
    for how in (
        {},
        {"strides": (2, 1), "padding": ((1, 0), (2, 1))},
        {"input_dilation": (1, 2), "kernel_dilation": (2, 1), "padding": ((0, -1), (1, 1))},
    ):
        params = {"strides": (1, 1), "input_dilation": (1, 1), "kernel_dilation": (1, 1), "padding": ((0, 0), (0, 0))}
        params |= {**how, "feature_groups": groups, "batch_groups": parts}

        def function(x, kernel, params=params):
            x, kernel = apply(p.transpose, x, axes=(0, 3, 1, 2)), apply(p.transpose, kernel, axes=(3, 2, 0, 1))
            return apply(p.conv, x, kernel, **params)

        agree(function, x, kernel)
        agree(lambda x, kernel, function=function: nx.transpose(function(x, kernel) + 1, axes=[0, 2, 3, 1]), x, kernel)


def test_narrow_floats_and_names():
    x, kernel = nx.tensor(numbers(2, 3, 5, 5), names=["b", "c", "y", "x"], type="bf16"), numbers(24, 3, 3, 3)
    found = nx.jit(same)(x, kernel)
    assert found.names == ("b", "c", "y", "x")
    np.testing.assert_array_equal(found.to_numpy(), same(x, kernel).to_numpy())
