"""Reads at places known when the program runs: every index is clamped, and one load serves all lanes that agree."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, make, nests, spec
from nxkernel import primitives as p
from nxkernel import types

INTEGERS = ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"]

T = np.arange(50 * 70, dtype="f4").reshape(50, 70)


def places(type_, size):
    """Indices of a type: before, within and beyond an axis of that size, and the ends of the type."""
    type_ = types.normalize(type_)
    low, high = types.limits(type_)
    numbers = [low, high, high // 2 + 1, -1, 0, 1, size - 1, size, size + 1]
    return np.array([number for number in numbers if low <= number <= high], type_.dtype)


def reads(function, *specs):
    """The names of the instructions of a single nest that read its first operand."""
    (nest,) = nests(function, *specs)
    return [op.name for op in nest.ops() if op.name in ("load", "gather") and op.args]


@pytest.mark.parametrize("type_", INTEGERS)
def test_gathers_clamp_indices_of_every_type(type_):
    rows, columns = places(type_, 50), places(type_, 70)
    found = agree(
        lambda t, i, j: (
            make(p.gather, t, i, axes=(0,)) * 2,
            make(p.gather, t, j, axes=(1,)) * 2,
            make(p.gather, t, i, i, axes=(0, 1)),
        ),
        T,
        rows,
        columns,
    )
    inside = [min(max(int(i), 0), 49) for i in rows]
    assert found[0].tolist() == (2 * T[inside]).tolist()


@pytest.mark.parametrize("type_", INTEGERS)
def test_slices_clamp_starts_of_every_type(type_):
    starts = places(type_, 50)

    def function(t, starts):
        parts = []
        for place in range(starts.shape[0]):
            start = make(p.reshape, starts[place : place + 1], shape=(), names=())
            parts.append(make(p.dynamic_slice, t, start, start, lengths=(9, 13), strides=(1, 1)))
        return nx.concatenate(parts, axis=0)

    (found,) = agree(function, T, starts)
    for place, start in enumerate(map(int, starts)):
        row, column = min(max(start, 0), 41), min(max(start, 0), 57)
        assert (found[9 * place : 9 * place + 9] == T[row : row + 9, column : column + 13]).all()


def test_slices_with_strides_are_clamped_by_what_they_span():
    for start in (-3, 0, 7, 45, 99):
        (found,) = agree(
            lambda t, i: make(p.dynamic_slice, t, i, i, lengths=(9, 13), strides=(4, 5)) + 1, T, np.int64(start)
        )
        row, column = min(max(start, 0), 41), min(max(start, 0), 57)
        assert (found == T[row : row + 9 : 4, column : column + 13 : 5] + 1).all()


def test_a_slice_of_what_is_computed():
    agree(
        lambda t, i: nx.sum(make(p.dynamic_slice, t * 2 + 1, i, i + 1, lengths=(9, 13), strides=(1, 1)), axes=[0]),
        T,
        np.int32(44),
    )


TABLE, ROWS = spec("f32", 50, 70), spec("s64", 40)


def test_rows_are_loaded_and_columns_gathered():
    assert reads(lambda t, i: make(p.gather, t, i, axes=(0,)) * 2, TABLE, ROWS) == ["load"]
    assert reads(lambda t, i: make(p.gather, t, i, axes=(1,)) * 2, TABLE, ROWS) == ["load"]
    assert reads(lambda t, i: make(p.gather, t, i, i, axes=(0, 1)) * 2, TABLE, ROWS) == ["gather"]
    assert reads(lambda t, i: make(p.gather, t, i, axes=(0,)) * 2, spec("f32", 50), ROWS) == ["gather"]


def test_lanes_decide_between_loads_and_gathers():
    turned = [1, 0]
    assert reads(lambda t, i: nx.transpose(make(p.gather, t, i, axes=(0,)), axes=turned) * 2, TABLE, ROWS) == ["gather"]
    assert reads(lambda t, i: nx.sum(make(p.gather, t, i, i, axes=(0, 1))), TABLE, ROWS) == ["gather"]


def test_starts_are_loaded_once_for_all_elements():
    (nest,) = nests(
        lambda t, i: make(p.dynamic_slice, t, i, i, lengths=(9, 13), strides=(1, 1)) * 2, TABLE, spec("s64")
    )
    loads = [(nest_pass.level, len(op.args)) for nest_pass in nest.passes for op in nest_pass.code if op.name == "load"]
    assert loads == [("row", 0), ("full", 1)]


def test_only_indices_above_what_s64_holds_are_compared_unsigned():
    def compared(type_):
        (nest,) = nests(lambda t, i: make(p.gather, t, i, axes=(0,)), spec("f32", 50), spec(type_, 40))
        return [(op.name, op.type) for op in nest.ops() if op.name in ("max", "min")]

    signed = [("max", types.s64), ("min", types.s64)]
    assert compared("u64") == [("min", types.u64), *signed]
    assert compared("u32") == compared("s8") == compared("s64") == signed


GATHERS = {
    "computed table": lambda t, i, j: make(p.gather, t * 1.5, i, axes=(1,)) * 2,
    "computed indices": lambda t, i, j: nx.sum(make(p.gather, t, i, j + 1, axes=(0, 1))),
    "rows summed": lambda t, i, j: nx.sum(make(p.gather, t, i, axes=(0,)), axes=[0]),
    "indices of a gather": lambda t, i, j: make(p.gather, t, make(p.gather, i, j, axes=(0,)), axes=(0,)),
    "turned": lambda t, i, j: nx.transpose(make(p.gather, nx.transpose(t), i, axes=(0,))) + 1,
    "kept as it is": lambda t, i, j: make(p.gather, t, i, axes=(0,)),
}


@pytest.mark.parametrize("name", GATHERS)
def test_gathers(name):
    rng = np.random.default_rng(0)
    agree(GATHERS[name], T % 17, rng.integers(-3, 80, 40), rng.integers(-3, 80, 40).astype("i4"))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("shape", [(), (7, 5), (0,), (3, 1)], ids=str)
def test_axes_and_shapes_of_indices(axes, shape):
    rng = np.random.default_rng(0)
    indices = [rng.integers(-2, 8, shape) for _ in axes]
    t = rng.integers(0, 99, (5, 6, 20)).astype("i2")
    agree(lambda t, *indices: make(p.gather, t, *indices, axes=axes), t, *indices)
