"""Which way nests are walked: along which axis vectors run, and which results stay in registers."""

import itertools

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, make, nests, spec
from nxkernel import primitives as p
from nxkernel.compilers.schedule import axis_roles
from nxkernel.compilers.schedule.loop_nest import BufferRole, LaneAxis, Stride


def windows(t, window, strides=None, dilations=None):
    ones = (1,) * len(window)
    return make(p.windows, t, window=window, strides=strides or ones, dilations=dilations or ones)


def pooled(t):
    return nx.reduce_max(windows(t, (2, 3), strides=(1, 2)), axes=[2, 3])


def conv(t, kernel, strides=(1, 1), groups=1):
    return make(
        p.conv,
        t,
        kernel,
        padding=((0, 0), (0, 0)),
        strides=strides,
        input_dilation=(1, 1),
        kernel_dilation=(1, 1),
        feature_groups=groups,
        batch_groups=1,
    )


def fold(t, axes):
    return nx.reduce(t, 0.5, lambda x, acc: acc * 0.5 + x, axes=axes)


def terms(x):
    for k in range(8):
        x = x * x + float(k)
    return x


#: Functions with the types of what they take, and how the nest that does the work is walked.
WALKS = {
    "elements": (lambda x: x + 1, ["f32 30 40"], ("inner", ())),
    "rows": (lambda x: nx.sum(x, axes=[1]), ["f32 30 40"], ("inner", ())),
    "columns": (lambda x: nx.sum(x, axes=[0]), ["f32 30 40"], ("tile", (1, 4, 16))),
    "columns of doubles": (lambda x: nx.sum(x, axes=[0]), ["f64 30 40"], ("tile", (1, 4, 8))),
    "many columns": (lambda x: nx.sum(x, axes=[0]), ["f32 30 257"], ("outer", ())),
    "few columns": (lambda x: nx.sum(x, axes=[0]), ["f32 30 16"], ("tile", (1, 1, 16))),
    "columns of long terms": (lambda x: nx.sum(terms(x), axes=[0]), ["f32 30 40"], ("tile", (1, 2, 16))),
    "a vector and a matrix": (lambda x, v: nx.dot(v, x), ["f32 30 40", "f32 30"], ("tile", (1, 4, 16))),
    "everything": (lambda x: nx.sum(x), ["f32 30 40"], ("inner", ())),
    "few short rows": (lambda x: nx.sum(x, axes=[1]), ["f32 63 8"], ("inner", ())),
    "many short rows": (lambda x: nx.sum(x, axes=[1]), ["f32 64 8"], ("tile", (1, 4, 16))),
    "rows that are not so short": (lambda x: nx.sum(x, axes=[1]), ["f32 64 9"], ("inner", ())),
    "a small product": (nx.dot, ["f32 8 5", "f32 5 16"], ("tile", (8, 1, 16))),
    "a small product of doubles": (nx.dot, ["f64 8 5", "f64 5 16"], ("tile", (8, 2, 8))),
    "a product of integers": (nx.dot, ["s64 33 17", "s64 17 29"], ("tile", (8, 2, 8))),
    "few rows": (nx.dot, ["s64 3 17", "s64 17 29"], ("tile", (2, 2, 8))),
    "more rows": (nx.dot, ["s64 7 17", "s64 17 29"], ("tile", (4, 2, 8))),
    "narrow integers": (nx.dot, ["u8 33 17", "u8 17 29"], ("tile", (8, 2, 16))),
    "a convolution": (conv, ["f32 4 6 20 37", "f32 8 6 3 3"], ("tile", (8, 2, 16))),
    "a convolution with strides": (
        lambda x, k: conv(x, k, strides=(2, 2)),
        ["f32 4 6 20 37", "f32 5 6 3 3"],
        ("tile", (4, 2, 16)),
    ),
    "pooling": (pooled, ["f32 40 50"], ("tile", (1, 2, 16))),
    "a fold of rows": (lambda x: fold(x, [1]), ["f32 7 30"], ("tile", (1, 1, 16))),
    "a fold of columns": (lambda x: fold(x, [0]), ["f32 7 30"], ("tile", (1, 2, 16))),
    "a fold of everything": (lambda x: fold(x, [0, 1]), ["f32 7 30"], ("tile", (1, 1, 16))),
}


def arguments(texts):
    found = []
    for text in texts:
        type_, *shape = text.split()
        found.append(spec(type_, *map(int, shape)))
    return found


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", WALKS)
def test_walks(name):
    function, texts, expected = WALKS[name]
    specs = arguments(texts)
    nest = nests(function, *specs)[-1]
    assert (nest.lanes, nest.tile) == expected
    rng = np.random.default_rng(0)
    agree(function, *[rng.integers(0, 5, s.shape).astype(s.type.dtype) for s in specs])


def test_tiles_are_no_wider_than_what_there_is():
    for columns, vectors in ((15, 1), (16, 1), (17, 2), (32, 2), (100, 2)):
        (nest,) = nests(lambda x: fold(x, [0]), spec("f32", 9, columns))
        assert nest.tile == (1, vectors, axis_roles.VECTOR // 4)


def test_rows_of_a_tile_share_what_vectors_read():
    (nest,) = nests(lambda a, b: nx.dot(a, b), spec("s64", 33, 17), spec("s64", 17, 29))
    assert nest.outer == 2
    right, left, result = nest.buffers
    assert (left.strides[:2], right.strides[:2]) == ((Stride.DYNAMIC, Stride.NONE), (Stride.NONE, Stride.UNIT))
    assert (result.role, result.strides[:2]) == (BufferRole.WRITE, (Stride.DYNAMIC, Stride.UNIT))


@pytest.mark.parametrize("shape", [(0, 30), (7, 0), (0, 0)], ids=str)
def test_nothing_to_walk(shape):
    (nest,) = nests(lambda x: nx.sum(x + 1, axes=[0]), spec("f32", *shape)) or [None]
    assert nest is None or nest.lanes is not LaneAxis.TILE
    x = np.zeros(shape, "f4")
    for axes in ([0], [1], [0, 1]):
        agree(lambda x, axes=axes: nx.sum(x + 1, axes=axes), x)
        agree(lambda x, axes=axes: fold(x, axes), x)


def test_sums_of_blocks_are_columns():
    found = nests(lambda x: nx.sum(x, axes=[1]), spec("f32", 3, 300_000))
    assert [nest.lanes for nest in found] == [LaneAxis.INNER, LaneAxis.TILE]


def test_columns_of_much_are_read_in_order_and_their_sums_held_in_registers():
    found = nests(lambda x: nx.sum(x, axes=[0]), spec("f32", 3000, 50))
    assert [nest.lanes for nest in found] == [LaneAxis.OUTER, LaneAxis.TILE]


WINDOWS = {
    "overlapping": lambda t: nx.sum(windows(t, (3, 3)), axes=[2, 3]),
    "dilated": lambda t: nx.sum(windows(t, (3, 3), dilations=(2, 3)), axes=[2, 3]),
    "apart": lambda t: nx.sum(windows(t, (3, 3), strides=(3, 3)), axes=[2, 3]),
    "computed": lambda t: nx.reduce_max(windows(t * 2, (2, 3), strides=(1, 2)), axes=[2, 3]) + 1,
    "predicates": lambda t: nx.any(windows(t, (3, 3), strides=(2, 2)), axes=[2, 3]),
    "places": lambda t: nx.argmax(windows(t, (1, 4), strides=(1, 2))[:, :, 0], axis=2),
    "no reduction": lambda t: windows(t, (2, 2)) + 1,
}


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    t = np.random.default_rng(0).integers(-4, 5, (40, 50)).astype("f4")
    agree(WINDOWS[name], t)


GROUPS = {"groups": ((6, 2, 3, 3), 3), "each channel": ((6, 1, 3, 3), 6), "one pixel": ((5, 6, 1, 1), 1)}


@pytest.mark.parametrize("name", GROUPS)
def test_convolutions(name):
    shape, groups = GROUPS[name]
    rng = np.random.default_rng(0)
    t, kernel = (rng.integers(-4, 5, shape).astype("f4") for shape in ((2, 6, 9, 19), shape))
    for strides in itertools.islice(itertools.product((1, 2), repeat=2), 0, 4, 3):
        agree(lambda t, k, strides=strides: nx.max(conv(t, k, strides, groups) + 1, 0), t, kernel)


def test_the_number_of_rows_is_no_part_of_a_kernel():
    def standardized(x):
        return (x - nx.mean(x, axes=[0])) / (nx.standard_deviation(x, axes=[0]) + 1.0)

    keys = {tuple(nest.key for nest in nests(standardized, spec("f32", rows, 64))) for rows in (10, 100, 1797)}
    assert len(keys) == 1
