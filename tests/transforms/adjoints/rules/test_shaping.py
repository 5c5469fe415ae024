"""Gradients of what moves elements, with random parameters, against central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.central_differences import check, close_to_wide, numbers
from nxkernel import primitives as p
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.shapes import unnamed
from nxkernel.transforms.adjoints.rules import shaping

EXAMPLES = settings(max_examples=10, deadline=None, derandomize=True)
SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)


def squared(x):
    """A function with a gradient that is another one in every place."""
    return x * x


@pytest.fixture(params=[0, 1 << 12], ids=["parts", "whole"])
def small(request, monkeypatch):
    monkeypatch.setattr(shaping, "SMALL", request.param)


@st.composite
def slices(draw):
    shape, starts, lengths, strides = draw(SIZES), [], [], []
    for size in shape:
        first, last = sorted(draw(st.lists(st.integers(0, size), min_size=2, max_size=2)))
        stride = draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
        starts.append(first if stride > 0 else max(last - 1, 0))
        lengths.append(last - first)
        strides.append(stride)
    return shape, {"starts": tuple(starts), "lengths": tuple(lengths), "strides": tuple(strides)}


@given(slices())
@EXAMPLES
def test_slices(case):
    shape, params = case
    check(lambda x: squared(apply(p.slice_, x, **params)), numbers(*shape))


@pytest.mark.usefixtures("small")
def test_several_slices_of_one_array():
    def function(x):
        return x[0, :2] * x[1, 1:] + x[-1, ::-2] + nx.sin(x[0, 0]) * x[2, 2]

    check(function, numbers(4, 3), order=2)


@st.composite
def dynamic_slices(draw):
    shape = draw(SIZES)
    lengths = tuple(draw(st.integers(0, size)) for size in shape)
    strides = tuple(draw(st.integers(1, 3)) for _ in shape)
    return shape, lengths, strides, [draw(st.integers(-2, 6)) for _ in shape]


@given(dynamic_slices())
@EXAMPLES
def test_dynamic_slices(case):
    shape, lengths, strides, starts = case

    def function(x, *starts):
        return squared(apply(p.dynamic_slice, x, *starts, lengths=lengths, strides=strides))

    check(function, numbers(*shape), *starts)


@st.composite
def paddings(draw):
    shape, config = draw(SIZES), []
    for size in shape:
        inner = draw(st.integers(0, 2))
        whole = size + max(size - 1, 0) * inner
        low = draw(st.integers(-whole, 3))
        high = draw(st.integers(max(-whole, -whole - low), 3))
        config.append((low, high, inner))
    return shape, tuple(config)


@given(paddings())
@EXAMPLES
def test_pad(case):
    shape, config = case
    check(lambda x, v: squared(apply(p.pad, x, v, config=config)), numbers(*shape), np.float64(0.7))


@given(st.permutations(range(3)))
@EXAMPLES
def test_transpose(axes):
    check(lambda x: squared(apply(p.transpose, x, axes=tuple(axes))), numbers(2, 3, 4))


@st.composite
def broadcasts(draw):
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4).map(tuple))
    axes = draw(st.permutations(range(len(shape))))[: draw(st.integers(0, len(shape)))]
    before = tuple(draw(st.sampled_from([1, shape[axis]])) for axis in axes)
    return before, shape, tuple(axes)


@given(broadcasts())
@EXAMPLES
def test_broadcast(case):
    before, shape, axes = case
    check(lambda x: squared(apply(p.broadcast, x, shape=shape, axes=axes, names=unnamed(shape))), numbers(*before))


def test_reverse_and_reshape():
    check(lambda x: squared(nx.reverse(x, axes=[0, 2])), numbers(2, 3, 4), order=2)
    check(lambda x: squared(nx.reshape(x, (4, 6))), numbers(2, 3, 4), order=2)


@pytest.mark.parametrize("axis", [0, 1])
def test_concatenate(axis):
    shapes = [(2, 3), (2, 3), (2, 3)]
    arrays = [numbers(*shape, seed=k) for k, shape in enumerate(shapes)]
    check(lambda x, y, z: squared(nx.concatenate([x, y, x, z], axis=axis)), *arrays, order=2)


def test_concatenate_with_nothing():
    check(lambda x: squared(nx.concatenate([x, nx.broadcast(nx.f64(0.0), (0, 3))], axis=0)), numbers(2, 3))


@pytest.mark.parametrize("complex_", [False, True])
def test_second_derivatives(complex_):
    def function(x):
        y = nx.pad(x[1:, ::2], 0.5, [(1, 2, 1), (0, -1, 0)])
        return y * y * nx.transpose(nx.stack([y, y]), axes=[0, 1, 2])

    check(function, numbers(3, 6, complex_=complex_), order=2)


def test_parts_at_places_that_vary():
    def function(x, k):
        return x[k] * x[k + 1] + nx.sum(apply(p.dynamic_slice, x, k, lengths=(3,), strides=(1,)) ** 3)

    check(function, numbers(7), np.int64(2), order=2)


def test_no_elements():
    found = nx.grad(lambda x: nx.sum(nx.transpose(x)[:, :0]) + nx.sum(x[:0]))(np.ones((2, 3)))
    assert found.to_list() == [[0.0] * 3] * 2
    check(lambda x: apply(p.pad, x, filled(1.0, x.type, ()), config=((2, 1, 3),)), np.empty(0))


def test_narrow_types():
    for type_, rtol in (("f32", 1e-5), ("bf16", 0.05)):
        close_to_wide(lambda x: squared(nx.pad(x[1:], 0.5, [(1, 1, 1)])), np.arange(1.0, 6.0), type_=type_, rtol=rtol)


def test_names():
    x = nx.tensor(numbers(2, 3), names=["rows", "columns"])
    found = nx.grad(lambda x: nx.sum(nx.transpose(x)[0] * x[0, 1]) + nx.sum(nx.reshape(x, (6,)) ** 2))(x)
    assert found.names == ("rows", "columns")
    v = x.to_numpy()
    expected = 2 * v + np.array([[v[0, 1], v[0, 0] + v[1, 0], 0], [v[0, 1], 0, 0]])
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-12)
