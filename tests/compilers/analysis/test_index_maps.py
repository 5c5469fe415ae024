"""Index maps: where views look, as affine functions of a nest's axes."""

import itertools

import numpy as np
import pytest

from graph_comparison.compiled_graphs import inputs, make, spec
from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.compilers.analysis import index_maps
from nxkernel.shapes import unnamed


def view(of, primitive, /, **params):
    (x,) = inputs(spec("s64", *of))
    return make(primitive, x, **params)


def broadcast(shape, wide, axes):
    return view(shape, p.broadcast, shape=wide, axes=axes, names=unnamed(wide))


def reshape(shape, other):
    return view(shape, p.reshape, shape=other, names=unnamed(other))


def slice_(shape, starts, lengths, strides):
    return view(shape, p.slice_, starts=starts, lengths=lengths, strides=strides)


VIEWS = {
    "a row in every row": broadcast((4,), (3, 4), (1,)),
    "a column in every column": broadcast((3,), (3, 4), (0,)),
    "an axis of one that widens": broadcast((3, 1), (3, 4), (0, 1)),
    "a scalar": broadcast((), (3, 4), ()),
    "turned": view((3, 4), p.transpose, axes=(1, 0)),
    "three axes turned": view((2, 3, 4), p.transpose, axes=(2, 0, 1)),
    "a slice": slice_((5, 6), (1, 2), (3, 4), (2, 1)),
    "a slice backwards": slice_((5, 6), (4, 5), (5, 3), (-2, -1)),
    "new axes": reshape((3, 4), (1, 3, 1, 4)),
    "dropped axes": reshape((1, 3, 1, 4), (3, 4)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_another_map_of_its_operand(name):
    node = VIEWS[name]
    (operand,) = node.operands
    assert index_maps.is_view(node)
    numbers = np.arange(np.prod(operand.shape)).reshape(operand.shape)
    expected = MEANING[node.primitive](node.spec, numbers, **node.params)
    offset, steps = index_maps.linear(
        index_maps.through(node, index_maps.identity(node.shape)), index_maps.row_strides(operand.shape)
    )
    for place in itertools.product(*map(range, node.shape)):
        assert offset + sum(steps.get(axis, 0) * index for axis, index in enumerate(place)) == expected[place]


def test_a_reshape_that_moves_elements_is_no_view():
    assert not index_maps.is_view(reshape((3, 4), (4, 3)))
    assert not index_maps.is_view(reshape((3, 4), (12,)))
    assert index_maps.keeps_axes(reshape((3, 4), (3, 1, 4)))


def test_views_of_views():
    (x,) = inputs(spec("s64", 4, 6))
    turned = make(p.transpose, x, axes=(1, 0))
    part = make(p.slice_, turned, starts=(5, 0), lengths=(6, 2), strides=(-2, 1))
    map_ = index_maps.through(turned, index_maps.through(part, index_maps.identity(part.shape)))
    assert map_ == ((0, ((1, 1),)), (5, ((0, -2),)))
    assert index_maps.linear(map_, index_maps.row_strides(x.shape)) == (5, {1: 6, 0: -2})
    assert index_maps.axes_of(map_) == {0, 1}


def test_axes_of_one_stand_still():
    assert index_maps.identity((3, 1)) == ((0, ((0, 1),)), (0, ()))
    assert index_maps.identity((3, 1), (5, 7)) == ((0, ((5, 1),)), (0, ()))


def test_strides_of_rows():
    assert index_maps.row_strides((2, 3, 4)) == (12, 4, 1)
    assert index_maps.row_strides(()) == ()
    assert index_maps.row_strides((3, 0)) == (0, 1)
