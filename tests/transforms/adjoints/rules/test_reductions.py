"""Gradients of reductions against central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.central_differences import check, close_to_wide, numbers
from nxkernel import primitives as p
from nxkernel.ops.machinery.dispatch import apply

REDUCTIONS = (p.sum_, p.product, p.reduce_max, p.reduce_min)


@st.composite
def axes(draw):
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    chosen = draw(st.lists(st.sampled_from(range(len(shape))), unique=True, max_size=len(shape)))
    return shape, {"axes": tuple(sorted(chosen)), "keep_axes": draw(st.booleans())}


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("primitive", REDUCTIONS, ids=str)
@given(case=axes())
@settings(max_examples=12, deadline=None, derandomize=True)
def test_axes(primitive, case):
    shape, params = case
    check(lambda x: apply(primitive, x, **params) ** 2, numbers(*shape), order=2)


@pytest.mark.parametrize("primitive", [p.sum_, p.product], ids=str)
def test_complex_numbers(primitive):
    check(lambda x: apply(primitive, x, axes=(1,), keep_axes=False), numbers(2, 3, complex_=True), order=2)


def test_products_with_zeros():
    x = np.array([[1.5, 0.0, 2.0, -1.0], [0.0, 3.0, 0.0, 2.0], [0.0] * 4, [1.0, 2.0, 3.0, 0.0]])
    check(lambda x: nx.product(x, axes=[1]), x, order=2)
    slope = nx.grad(lambda x: nx.sum(nx.product(x, axes=[1])))(x).to_list()
    assert slope == [[0.0, -3.0, 0.0, 0.0], [0.0] * 4, [0.0] * 4, [0.0, 0.0, 0.0, 6.0]]
    check(nx.product, x[:1], order=2)


def test_equal_elements_share():
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    found = nx.grad(lambda x: nx.sum(nx.reduce_max(x, axes=[1])))(x)
    np.testing.assert_allclose(found.to_numpy(), [[0, 0.5, 0.5], [1 / 3] * 3])
    found = nx.grad(lambda x: nx.sum(nx.reduce_min(x, axes=[1], keep_axes=True)))(x)
    np.testing.assert_allclose(found.to_numpy(), [[1, 0, 0], [1 / 3] * 3])


def test_infinite_extremes():
    found = nx.grad(nx.reduce_max)(np.array([-np.inf, -np.inf]))
    assert found.to_list() == [0.5, 0.5]


def test_places_are_constant():
    check(lambda x: x[nx.argmax(x)] * x[nx.argmin(x)] + nx.sum(x) * nx.any(x > 0), numbers(5), order=2)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("function", [nx.mean, nx.variance, nx.standard_deviation, nx.logsumexp, nx.covariance])
def test_what_reductions_are_used_for(function):
    check(function, numbers(4, 3), order=2)


def test_no_elements():
    for shape, axes in (((0,), [0]), ((0, 3), [0]), ((3, 0), [1]), ((3, 0), [0])):
        for function in (nx.sum, nx.product):
            check(lambda x, f=function, a=axes: f(x, axes=a), np.empty(shape))


@pytest.mark.parametrize(("type_", "rtol"), [("f32", 1e-5), ("bf16", 0.1)])
def test_narrow_types(type_, rtol):
    x = np.array([[1.5, 0.5, -2.0], [0.25, 3.0, 1.0]])
    for function in (nx.sum, nx.product, nx.reduce_max, nx.mean):
        close_to_wide(lambda x, f=function: f(x, axes=[1]) ** 2, x, type_=type_, rtol=rtol)


def test_names():
    x = nx.tensor(numbers(2, 3), names=["rows", "columns"])
    for function in (nx.sum, nx.product, nx.reduce_max):
        found = nx.grad(differences_of(function))(x)
        assert found.names == ("rows", "columns")


def differences_of(function):
    return lambda x: nx.sum((x - function(x, axes=["columns"], keep_axes=True)) ** 2)


def test_vectorized_axes():
    x = numbers(3, 4)

    def loss(x):
        each = nx.vectorize(x, "entries")
        return nx.sum(nx.devectorize(nx.product(each) * nx.reduce_max(each)))

    found = nx.grad(loss)(x).to_numpy()
    expected = [nx.grad(lambda row: nx.product(row) * nx.reduce_max(row))(row).to_numpy() for row in x]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
