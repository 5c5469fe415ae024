"""Gradients of folds against central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.central_differences import check, close_to_wide, numbers


@st.composite
def axes(draw):
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    chosen = draw(st.lists(st.sampled_from(range(len(shape))), unique=True, max_size=len(shape)))
    return shape, chosen, draw(st.booleans())


@pytest.mark.slow
@given(axes())
@settings(max_examples=8, deadline=None, derandomize=True)
def test_axes(case):
    shape, chosen, keep = case

    def function(x, start, c):
        return nx.reduce(x, start, lambda e, acc: nx.sin(e) * acc + c * e, axes=chosen, keep_axes=keep)

    check(function, numbers(*shape), np.float64(0.4), np.float64(0.8))


def test_second_derivatives():
    check(
        lambda x, c: nx.reduce(x, 1.0, lambda e, acc: acc * nx.cos(e * c), axes=[0]),
        numbers(3, 2),
        np.float64(0.5),
        order=2,
    )


def test_what_is_used_twice_gains_twice():
    def function(x):
        first = x[0, 0]
        return nx.reduce(x, first, lambda e, acc: acc * nx.cos(e * first), axes=[1])

    check(function, numbers(2, 3), order=2)


def test_choices_and_products():
    check(lambda x: nx.reduce(x, -9.0, lambda e, acc: nx.select(e > acc, e, acc)), numbers(5))
    x = np.array([1.5, 0.0, 2.0])
    found = nx.grad(lambda x: nx.reduce(x, 1.0, lambda e, acc: acc * e))(x)
    assert found.to_list() == [0.0, 3.0, 0.0]


def test_no_elements():
    found = nx.grad(lambda x, s: nx.sum(nx.reduce(x, s, lambda e, acc: e * acc, axes=[0])), argnums=(0, 1))
    x, start = found(np.empty((0, 3)), np.float64(2.0))
    assert (x.shape, float(start)) == ((0, 3), 3.0)


@pytest.mark.parametrize(("type_", "rtol"), [("f32", 1e-5), ("bf16", 0.1)])
def test_narrow_types(type_, rtol):
    close_to_wide(
        lambda x: nx.reduce(x, 1.0, lambda e, acc: acc * e + e), np.array([0.5, 1.5, 2.0]), type_=type_, rtol=rtol
    )


def test_names():
    x = nx.tensor(numbers(2, 3), names=["rows", "columns"])
    found = nx.grad(lambda x: nx.sum(nx.reduce(x, 0.0, lambda e, acc: acc + e * e, axes=["columns"])))(x)
    assert found.names == ("rows", "columns")
    np.testing.assert_allclose(found.to_numpy(), 2 * x.to_numpy())


def test_map():
    check(lambda x: nx.map(x, lambda e: nx.sin(e) * e), numbers(2, 3), order=2)
