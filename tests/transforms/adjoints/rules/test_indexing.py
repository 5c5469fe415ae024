"""Gradients of what reads and writes at indices, with random parameters, against central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.central_differences import check, close_to_wide, numbers
from nxkernel import primitives as p
from nxkernel.ops.machinery.dispatch import apply

EXAMPLES = settings(max_examples=10, deadline=None, derandomize=True)


@st.composite
def indexed(draw):
    """A shape, axes of it, and for each of these indices of one shape, some beyond the ends."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    axes = tuple(draw(st.permutations(range(len(shape))))[: draw(st.integers(1, len(shape)))])
    found = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    generator = np.random.default_rng(draw(st.integers(0, 9)))
    indices = [generator.integers(-1, shape[axis] + 1, found) for axis in axes]
    rest = tuple(size for axis, size in enumerate(shape) if axis not in axes)
    return shape, axes, indices, found + rest


@given(indexed())
@EXAMPLES
def test_gather(case):
    shape, axes, indices, _ = case
    check(lambda x, *i: apply(p.gather, x, *i, axes=axes) ** 2, numbers(*shape), *indices)


@pytest.mark.parametrize("combine", ["add", "put"])
@given(case=indexed())
@EXAMPLES
def test_scatter(combine, case):
    shape, axes, indices, part = case

    def function(x, u, *i):
        return apply(p.scatter, x, u, *i, axes=axes, combine=combine) ** 2

    check(function, numbers(*shape), numbers(*part, seed=1), *indices)


@st.composite
def put_parts(draw):
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    return shape, tuple(draw(st.integers(0, size)) for size in shape), [draw(st.integers(-2, 5)) for _ in shape]


@given(put_parts())
@EXAMPLES
def test_put_slice(case):
    shape, part, starts = case
    check(lambda x, u, *s: apply(p.put_slice, x, u, *s) ** 2, numbers(*shape), numbers(*part, seed=1), *starts)


@st.composite
def put_strides(draw):
    axes = []
    for _ in range(draw(st.integers(1, 3))):
        count, stride = draw(st.integers(1, 3)), draw(st.integers(1, 3))
        axes.append(((count - 1) * stride + 1 + draw(st.integers(0, 2)), count, stride, draw(st.integers(-2, 5))))
    return tuple(zip(*axes, strict=True))


@given(put_strides())
@EXAMPLES
def test_put_strided(case):
    shape, part, strides, starts = case

    def function(x, u, *s):
        return apply(p.put_strided, x, u, *s, strides=strides) ** 2

    check(function, numbers(*shape), numbers(*part, seed=1), *starts)


@pytest.mark.parametrize("complex_", [False, True])
def test_second_derivatives(complex_):
    x, y = numbers(4, 3, complex_=complex_), numbers(3, 3, seed=1, complex_=complex_)
    rows = np.array([2, 0, 2])
    check(lambda x, i: nx.take(x, i) ** 3, x, rows, order=2)
    check(lambda x, y, i: nx.indexed_add(x, nx.new_axis(i, -1), y) ** 2, x, y, rows, order=2)
    check(lambda x, y, i: nx.indexed_put(x, nx.new_axis(i, -1), y) ** 2, x, y, rows, order=2)
    check(lambda x, y, i: apply(p.put_slice, x, y, i, i) ** 2, x, y[:2], np.int64(1), order=2)


def test_of_several_updates_of_one_place_the_last_stays():
    def loss(x, u):
        return nx.sum(nx.indexed_put(x, [[1], [0], [1]], u) * np.array([1.0, 10.0, 100.0]))

    x, u = nx.grad(loss, argnums=(0, 1))(np.zeros(3), np.zeros(3))
    assert (x.to_list(), u.to_list()) == ([0.0, 0.0, 100.0], [0.0, 1.0, 10.0])


def test_indices_are_constant():
    found = nx.grad(lambda x, i: nx.sum(nx.take(x, i) * i), argnums=(0, 1))(
        np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2])
    )
    assert [part.to_list() for part in found] == [[0.0, 0.0, 4.0], [1.0, 4.0, 4.0]]


def test_indices_that_are_computed():
    def function(x):
        return x[nx.argmax(x)] ** 2 + nx.sum(nx.take(x, nx.argsort(x)[:2]))

    check(function, numbers(5), order=2)


def test_no_elements():
    found = nx.grad(lambda x: nx.sum(nx.take(x, nx.reshape(nx.iota((1,))[:0], (0,)))))(np.ones(3))
    assert found.to_list() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("type_", "rtol"), [("f32", 1e-5), ("bf16", 0.05)])
def test_narrow_types(type_, rtol):
    rows = np.array([2, 0, 2, 2])
    close_to_wide(lambda x, i: nx.take(x, i) ** 2, np.array([1.5, 2.0, -3.0]), rows, type_=type_, rtol=rtol)


def test_names():
    x = nx.tensor(numbers(2, 3), names=["rows", "columns"])
    found = nx.grad(
        lambda x: nx.sum(nx.take(x, [2, 0, 2], axis="columns")) + nx.sum(nx.put_slice(x, [0, 1], [[5.0]]) ** 2)
    )(x)
    assert found.names == ("rows", "columns")
    expected = 2 * x.to_numpy() + np.array([1, 0, 2])
    expected[0, 1] = 0
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12)


def test_vectorized_indices():
    x, i = numbers(3, 4), np.array([3, 0, 3])

    def loss(x):
        each = nx.vectorize(x, "entries")
        return nx.sum(nx.devectorize(each[nx.vectorize(i, "entries")]) ** 2)

    expected = np.zeros((3, 4))
    expected[range(3), i] = 2 * x[range(3), i]
    np.testing.assert_allclose(nx.grad(loss)(x).to_numpy(), expected)
