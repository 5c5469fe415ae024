"""Which operands of a product a library can read as they lie in memory."""

import pytest

from graph_comparison.compiled_graphs import inputs, make, spec
from nxkernel import primitives as p
from nxkernel.compilers.analysis import matrix_products
from nxkernel.shapes import unnamed


def sides(left, right, contract, batch=((), ())):
    """The axes of both operands and how each is read: (below, turned, step, batch_step), or None."""
    node = make(p.dot, left, right, contract=contract, batch=batch)
    found = []
    for operand, axes in zip(node.operands, matrix_products.axes_of(node), strict=True):
        matrix = matrix_products.readable(operand, axes)
        found.append(matrix and (matrix.base, matrix.turned, matrix.step, matrix.batch_step))
    return found


def test_axes():
    a, b = inputs(spec("f32", 2, 3, 4), spec("f32", 2, 4, 5))
    node = make(p.dot, a, b, contract=((2,), (1,)), batch=((0,), (0,)))
    assert matrix_products.axes_of(node) == (([0], [1], [2]), ([0], [2], [1]))


def test_rows_times_columns():
    a, b = inputs(spec("f32", 3, 4), spec("f32", 4, 5))
    # The right one is turned: the axis that is contracted is the slow one.
    assert sides(a, b, ((1,), (0,))) == [(a, False, 4, 0), (b, True, 5, 0)]


def test_what_is_transposed_is_read_where_it_lies():
    a, b = inputs(spec("f32", 4, 3), spec("f32", 5, 4))
    at, bt = (make(p.transpose, x, axes=(1, 0)) for x in (a, b))
    assert sides(at, bt, ((1,), (0,))) == [(a, True, 3, 0), (b, False, 4, 0)]


def test_new_axes_do_not_matter():
    (a,) = inputs(spec("f32", 3, 4))
    wide = make(p.reshape, a, shape=(3, 1, 4), names=unnamed((3, 1, 4)))
    assert sides(wide, wide, ((2,), (2,)))[0] == (a, False, 4, 0)


def test_several_axes_that_are_walked_as_one():
    a, b = inputs(spec("f32", 2, 3, 4, 5), spec("f32", 4, 5, 6))
    assert sides(a, b, ((2, 3), (0, 1))) == [(a, False, 20, 0), (b, True, 6, 0)]


def test_axes_in_another_order_are_not_readable():
    a, b = inputs(spec("f32", 2, 3, 4, 5), spec("f32", 5, 4, 6))
    assert sides(a, b, ((3, 2), (0, 1))) == [None, (b, True, 6, 0)]


def test_batches():
    a, b = inputs(spec("f64", 7, 3, 4), spec("f64", 7, 4, 5))
    assert sides(a, b, ((2,), (1,)), ((0,), (0,))) == [(a, False, 4, 12), (b, True, 5, 20)]


def test_a_batch_in_the_middle():
    a, b = inputs(spec("f64", 3, 7, 4), spec("f64", 7, 4, 5))
    assert sides(a, b, ((2,), (1,)), ((1,), (0,)))[0] == (a, False, 28, 4)


def test_neither_axis_consecutive():
    a, b = inputs(spec("f32", 3, 4, 7), spec("f32", 7, 4, 5))
    assert sides(a, b, ((1,), (1,)), ((2,), (0,)))[0] is None


@pytest.mark.parametrize("shape", [(1, 4), (3, 1)])
def test_one_row_or_one_contracted_element(shape):
    a, b = inputs(spec("f32", *shape), spec("f32", shape[1], 5))
    node = make(p.dot, a, b, contract=((1,), (0,)), batch=((), ()))
    found = matrix_products.product(node, lambda operand: operand)
    assert (found.batch, found.rows, found.columns, found.depth) == (1, shape[0], 5, shape[1])
    assert found.left.step >= (shape[0] if found.left.turned else shape[1])


def test_steps_beyond_the_integers_of_blas():
    a, b = inputs(spec("f32", 2, 2**31), spec("f32", 2**31, 2))
    assert sides(a, b, ((1,), (0,)))[0] is None
