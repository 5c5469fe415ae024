"""Tiles of results in registers agree with the evaluator, for sizes around the edges of tiles."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, make, nests
from nxkernel import primitives as p
from nxkernel.compilers.schedule.loop_nest import LaneAxis

SIZES = [*range(1, 18), 31, 32, 33]


def numbers(shape, type_="f4", seed=0):
    """Small whole numbers, whose sums and products are exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(type_)


def tiled(function, *arrays):
    """Whether the nest that runs last keeps results in a tile."""
    return nests(function, *arrays)[-1].lanes is LaneAxis.TILE


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("columns", SIZES)
def test_products_of_every_width(columns):
    for rows in (1, 2, 3, 4, 7, 8, 9, 17):
        agree(lambda a, b: nx.dot(a, b) + b[0], numbers((rows, 5)), numbers((5, columns), seed=1))


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("rows", SIZES)
def test_products_of_every_height(rows):
    for depth in (1, 2, 33):
        agree(nx.dot, numbers((rows, depth), "i8"), numbers((depth, 9), "i8", 1))


@pytest.mark.parametrize("type_", ["u1", "i2", "i4", "u8", "f2", "f4", "f8", "c8"])
def test_types(type_):
    a, b = (abs(numbers(shape, seed=seed)).astype(type_) for seed, shape in enumerate([(11, 7), (7, 19)]))
    agree(lambda a, b: nx.dot(a, b) + b[0], a, b)


EPILOGUES = {
    "a row": lambda a, b: nx.max(nx.dot(a, b) + b[0], 0),
    "a column": lambda a, b: nx.dot(a, b) * nx.new_axis(a[:, 0], 1),
    "both factors turned": lambda a, b: nx.dot(nx.transpose(b), nx.transpose(a)) - 1,
    "computed factors": lambda a, b: nx.dot(a * 2 + 1, b - 3),
    "two results": lambda a, b: (nx.dot(a, b), nx.dot(a, b) * 2),
    "parts": lambda a, b: nx.dot(a[:5], b[:, :3]) + 1.5,
}


@pytest.mark.parametrize("name", EPILOGUES)
def test_what_follows_a_product(name):
    agree(EPILOGUES[name], numbers((17, 6)), numbers((6, 33), seed=1))


def folded(t, w, axes):
    return nx.reduce(t, 1.0, lambda x, acc: nx.remainder(acc * w + x, 7.0), axes=axes)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("size", SIZES)
def test_folds_of_every_size_with_a_number_from_outside(size):
    w = np.float32(2)
    assert tiled(lambda t, w: folded(t, w, [0]), numbers((5, size)), w)
    agree(lambda t, w: folded(t, w, [0]), numbers((5, size)), w)
    agree(lambda t, w: folded(t, w, [1]), numbers((size, 5)), w)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("axes", [[0], [1], [2], [0, 2], [1, 2], [0, 1, 2]], ids=str)
def test_folds_of_any_axes(axes):
    agree(lambda t, w: folded(t + 1, w, axes) * 2, numbers((7, 30, 41)), np.float32(3))


def test_folds_with_computed_numbers_from_outside():
    x, u = numbers((7, 30)), numbers((3, 4), seed=1)

    def function(t, u):
        low, total = nx.reduce_min(u), nx.sum(u)
        return nx.reduce(t, total, lambda x, acc: nx.remainder(acc * low + x + total, 11.0), axes=[1])

    agree(function, x, u)
    agree(lambda t, u: nx.reduce(t, u[1, 2] * 2, lambda x, acc: nx.max(x, acc - 1), axes=[0]), x, u)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (0, 40)], ids=str)
def test_folds_of_nothing_are_what_they_start_with(shape):
    for axes in ([0], [1], [0, 1]):
        (found,) = agree(lambda t, w, axes=axes: folded(t, w, axes), np.zeros(shape, "f4"), np.float32(2))
        assert (found == 1).all()


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("columns", [1, 15, 16, 17, 32, 33, 50])
def test_several_accumulators(columns):
    """Of one nest, beside a fold; and of windows."""

    def plain(t, axes):
        return [make(r, t, axes=axes, keep_axes=False) for r in (p.sum_, p.product, p.reduce_max, p.any_)]

    def beside(t):
        return [nx.reduce(t, 0.0, lambda x, acc: x - acc, axes=[0]), *plain(t, (0,))]

    def of_windows(t):
        return plain(make(p.windows, t, window=(1, 3), strides=(1, 1), dilations=(1, 1)), (2, 3))

    t = numbers((9, columns + 2))
    (nest,) = nests(beside, t)
    assert nest.lanes is LaneAxis.TILE
    assert [reduce.name for nest_pass in nest.passes for reduce in nest_pass.reduces] == [
        "reduce",
        "sum",
        "product",
        "reduce_max",
        "any",
    ]
    agree(beside, t)
    agree(of_windows, t)


@pytest.mark.parametrize("tie", ["low", "high"])
def test_places_in_windows(tie):
    def function(t):
        found = make(p.windows, t, window=(1, 4), strides=(1, 2), dilations=(1, 1))
        return nx.argmax(found[:, :, 0], axis=2, tie_break=tie)

    agree(function, numbers((40, 50)))
