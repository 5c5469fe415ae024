"""Buffers written in pieces: where each piece goes, and that programs write them so."""

import itertools

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, inputs, make, nests, spec
from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.backends import MEANING
from nxkernel.compilers.schedule import piecewise_buffers
from nxkernel.compilers.schedule.loop_nest import StoreMode


def pieces_of(primitive, *specs, **params):
    """The stores of a node of parameters, and these."""
    operands = inputs(*specs)
    return piecewise_buffers.stores(make(primitive, *operands, **params)), operands


def where(stores):
    """Offset and strides of each store."""
    return [(store.offset, store.strides) for store in stores]


def test_parts_of_a_concatenation_follow_each_other():
    stores, operands = pieces_of(p.concatenate, spec("f32", 2, 3), spec("f32", 2, 1), spec("f32", 2, 4), axis=1)
    assert where(stores) == [(0, (8, 1)), (3, (8, 1)), (4, (8, 1))]
    assert [store.value for store in stores] == operands
    stores, _ = pieces_of(p.concatenate, spec("f32", 2, 3), spec("f32", 0, 3), spec("f32", 4, 3), axis=0)
    assert where(stores) == [(0, (3, 1)), (6, (3, 1)), (6, (3, 1))]


#: Configurations of a padding of a matrix [4, 5], with the offset and strides of the operand, and what is kept of it.
PADDINGS = {
    "around": (((1, 2), (3, 0)), (0, 0), 1 * 8 + 3, (8, 1), (4, 5)),
    "between": (((0, 0), (0, 0)), (1, 2), 0, (2 * 13, 3), (4, 5)),
    "both": (((1, 0), (2, 1)), (1, 0), 8 + 2, (16, 1), (4, 5)),
    "less before": (((-1, 0), (0, -2)), (0, 0), 0, (3, 1), (3, 3)),
    "less of what is between": (((-1, 0), (0, 0)), (2, 0), 2 * 5, (15, 1), (3, 5)),
    "nothing left": (((-4, 1), (0, 0)), (0, 0), 0, (5, 1), (0, 5)),
}


@pytest.mark.parametrize("name", PADDINGS)
def test_paddings(name):
    edges, between, offset, strides, kept = PADDINGS[name]
    config = tuple((low, high, inner) for (low, high), inner in zip(edges, between, strict=True))
    (*filled, stored), (operand, value) = pieces_of(p.pad, spec("s64", 4, 5), spec("s64"), config=config)
    for store in filled:
        assert store.value.primitive is p.broadcast
        assert store.value.operands == (value,)
        assert (store.offset, store.strides) == (0, (store.target.shape[1], 1))
    # What is cropped alone has nothing around it.
    assert len(filled) == (0 if name == "less before" else 1)
    assert (stored.offset, stored.strides, stored.value.shape) == (offset, strides, kept)
    assert (stored.value is operand) == (kept == operand.shape)
    agree(
        lambda t, value: make(p.pad, t, value, config=config),
        np.arange(20).reshape(4, 5),
        np.int64(-1),
    )


MARGINS = {
    "rows": ((4, 5), ((1, 2), (0, 0)), [(0, (1, 5)), (25, (2, 5))]),
    "long rows": ((4, 200), ((1, 0), (2, 3)), [(0, (1, 205)), (205, (4, 2)), (407, (4, 3))]),
    "short rows": ((4, 100), ((1, 0), (2, 3)), [(0, (5, 105))]),
    "a crop beside": ((4, 200), ((-1, 1), (0, -3)), [(3 * 197, (1, 197))]),
    "more than is kept": ((4, 200), ((6, 0), (0, 0)), [(0, (10, 200))]),
}


@pytest.mark.parametrize("name", MARGINS)
def test_padding_lies_around_what_is_kept(name):
    shape, edges, expected = MARGINS[name]
    config = tuple((low, high, 0) for low, high in edges)
    (*filled, _), _ = pieces_of(p.pad, spec("s64", *shape), spec("s64"), config=config)
    assert [(store.offset, store.value.shape) for store in filled] == expected
    agree(
        lambda t, value: make(p.pad, t, value, config=config),
        np.arange(np.prod(shape)).reshape(shape),
        np.int64(-1),
    )


def test_a_slice_is_put_at_starts_that_leave_room_for_it():
    stores, (target, part, row, column) = pieces_of(
        p.put_slice, spec("f32", 6, 7), spec("f32", 2, 3), spec("s64"), spec("s64")
    )
    assert [store.value for store in stores] == [target, part]
    assert where(stores) == [(0, (7, 1)), (0, (7, 1))]
    assert [store.places for store in stores] == [
        (),
        (piecewise_buffers.DynamicOffset(row, 4, 7), piecewise_buffers.DynamicOffset(column, 4, 1)),
    ]
    assert not any(store.in_order for store in stores)


def test_updates_go_where_indices_say():
    stores, (target, updates, rows, columns) = pieces_of(
        p.scatter,
        spec("f32", 5, 6, 7),
        spec("f32", 4, 6),
        spec("s32", 4),
        spec("s32", 4),
        axes=(0, 2),
        combine="add",
    )
    assert [(store.value, store.mode, store.in_order) for store in stores] == [
        (target, StoreMode.PUT, False),
        (updates, StoreMode.ADD, True),
    ]
    assert where(stores) == [(0, (42, 7, 1)), (0, (0, 7))]
    assert stores[1].places == (
        piecewise_buffers.DynamicOffset(rows, 4, 42),
        piecewise_buffers.DynamicOffset(columns, 6, 1),
    )


def test_one_update_is_in_no_order():
    stores, _ = pieces_of(p.scatter, spec("f32", 5, 6), spec("f32", 6), spec("s64"), axes=(0,), combine="put")
    assert where(stores) == [(0, (6, 1)), (0, (1,))]
    assert stores[1].in_order is False


@pytest.mark.parametrize(("axes", "shape"), [((0,), (3, 4)), ((1,), (3, 4)), ((0, 1), (3, 4)), ((1,), (2, 3, 2))])
def test_stores_are_what_primitives_mean(axes, shape):
    rng = np.random.default_rng(0)
    rest = tuple(n for axis, n in enumerate(shape) if axis not in axes)
    arrays = [np.zeros(shape), rng.random((9, *rest)), *(rng.integers(-2, shape[axis] + 2, 9) for axis in axes)]
    operands = inputs(*arrays)
    node = make(p.scatter, *operands, axes=axes, combine="put")
    known = dict(zip(operands, arrays, strict=True))
    buffer = np.full(np.prod(shape), np.nan)
    for store in piecewise_buffers.stores(node):
        value = known[store.value]
        for index in itertools.product(*map(range, value.shape)):
            place = store.offset + sum(i * step for i, step in zip(index, store.strides, strict=True))
            for at in store.places:
                where_ = known[at.index][index[: len(at.index.shape)]]
                place += int(np.clip(where_, 0, at.most)) * at.stride
            buffer[place] = value[index]
    expected = MEANING[p.scatter](node.spec, *arrays, **node.params)
    np.testing.assert_array_equal(buffer.reshape(shape), expected)


@pytest.mark.parametrize(("combine", "type_"), [("put", "s8"), ("put", "f32"), ("add", "u8"), ("add", "f16")])
def test_scatters_with_many_updates_of_one_place(combine, type_):
    rng = np.random.default_rng(0)

    def numbers(*shape):
        return rng.integers(0, 5, shape).astype(types.normalize(type_).dtype)

    places = rng.integers(-3, 60, 300)
    agree(lambda t, u, i: make(p.scatter, t, u, i, axes=(0,), combine=combine) * 2, numbers(50), numbers(300), places)
    agree(
        lambda t, u, i: make(p.scatter, t + 1, u, i, axes=(0,), combine=combine),
        numbers(50, 7),
        numbers(300, 7),
        places.astype("i4"),
    )
    agree(
        lambda t, u, i: make(p.scatter, t, u + 1, i, axes=(1,), combine=combine),
        numbers(7, 50),
        numbers(300, 7),
        places.astype("i2"),
    )
    agree(
        lambda t, u, i, j: make(p.scatter, t, u, i, j, axes=(0, 1), combine=combine),
        numbers(7, 50),
        numbers(300),
        places % 9 - 1,
        places,
    )


@pytest.mark.parametrize("starts", [(0, 0), (1, 2), (-5, 9), (48, 60), (2**62, -(2**62))])
def test_slices_are_put(starts):
    rng = np.random.default_rng(0)
    agree(
        lambda t, part, i, j: make(p.put_slice, t * 2, part + 1, i, j) - 1,
        rng.integers(0, 99, (50, 70)).astype("f4"),
        rng.integers(0, 99, (5, 7)).astype("f4"),
        *map(np.int64, starts),
    )


def test_values_are_computed_where_they_are_stored():
    found = nests(lambda x, y: nx.concatenate([nx.exp(x), y * 2], axis=0), spec("f32", 30, 40), spec("f32", 5, 40))
    assert [[op.name for op in nest.ops()] for nest in found] == [["load", "exp"], ["const", "load", "multiply"]]
    arrays = [np.ones((30, 40), "f4"), np.ones((5, 40), "f4")]
    agree(lambda x, y: nx.concatenate([nx.exp(x), y * 2], axis=0), *arrays, rtol=1e-6)


@pytest.mark.parametrize("shapes", [((0, 3), (2, 3)), ((0, 3), (0, 3)), ((2, 0), (1, 0))])
def test_pieces_without_elements(shapes):
    agree(lambda x, y: nx.concatenate([x + 1, y], axis=0), *[np.ones(shape, "f4") for shape in shapes])


def test_no_updates_are_the_target():
    (found,) = agree(
        lambda t, u, i: make(p.scatter, t, u, i, axes=(0,), combine="add"),
        np.arange(6.0),
        np.zeros(0),
        np.zeros(0, "i8"),
    )
    assert found.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("config", [((1, -4, 0), (0, 0, 0)), ((2, 1, 0), (3, -19, 0)), ((-4, 1, 0), (-16, 0, 0))])
def test_a_padding_of_which_nothing_is_left_writes_nothing(config):
    stores, _ = pieces_of(p.pad, spec("f32", 3, 16), spec("f32"), config=config)
    assert [shapes.size(store.value.shape) for store in stores] == [0, 0]
