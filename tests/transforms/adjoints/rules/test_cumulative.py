"""Gradients along an axis against central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.central_differences import check, close_to_wide, numbers

FUNCTIONS = (nx.cumulative_sum, nx.cumulative_product, nx.cumulative_max, nx.cumulative_min)


@st.composite
def along(draw):
    shape = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    return shape, draw(st.integers(0, len(shape) - 1)), draw(st.booleans())


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@given(case=along())
@settings(max_examples=12, deadline=None, derandomize=True)
def test_directions(function, case):
    shape, axis, reverse = case
    check(lambda x: function(x, axis=axis, reverse=reverse), numbers(*shape), order=2)


@pytest.mark.parametrize("function", [nx.cumulative_sum, nx.cumulative_product])
def test_complex_numbers(function):
    check(lambda x: function(x, axis=0), numbers(5, 2, complex_=True), order=2)


@pytest.mark.parametrize("reverse", [False, True])
def test_products_with_zeros(reverse):
    for zeros in ([0], [2], [1, 3], [4], range(5)):
        x = numbers(5)
        x[list(zeros)] = 0
        check(lambda x: nx.cumulative_product(x, reverse=reverse), x, order=2)


def test_of_equal_elements_the_first_has_it():
    x, weights = np.array([1.0, 3.0, 3.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    found = nx.grad(lambda x: nx.sum(nx.cumulative_max(x) * weights))(x)
    assert found.to_list() == [1.0, 30.0, 0.0, 0.0, 0.0]
    found = nx.grad(lambda x: nx.sum(nx.cumulative_max(x, reverse=True) * weights))(x)
    assert found.to_list() == [0.0, 0.0, 0.0, 0.0, 31.0]
    found = nx.grad(lambda x: nx.sum(nx.cumulative_min(x) * weights))(x)
    assert found.to_list() == [31.0, 0.0, 0.0, 0.0, 0.0]


def test_infinite_first_elements():
    found = nx.grad(lambda x: nx.sum(nx.cumulative_max(x)))(np.array([-np.inf, -np.inf, 1.0]))
    assert found.to_list() == [2.0, 0.0, 1.0]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("axis", [0, 1])
def test_sort(axis, direction):
    check(lambda x: nx.sort(x, axis=axis, direction=direction) ** 2, numbers(4, 5), order=2)


def test_elements_in_the_order_of_others():
    def function(x, y):
        return nx.take_along_axis(x, nx.argsort(y, axis=1), axis=1) * y

    check(function, numbers(3, 4), numbers(3, 4, seed=1), order=2)


def test_what_sorting_is_used_for():
    x = numbers(3, 5)
    check(lambda x: nx.median(x, axis=1), x)
    check(lambda x: nx.top_k(x, k=2)[0], x)


def test_whole_numbers():
    found = nx.grad(lambda x: nx.sum(nx.sort(x) * np.array([1.0, 2.0, 3.0])))(np.array([5, 1, 3]))
    assert (str(found.type), found.to_list()) == ("f32", [3.0, 1.0, 2.0])


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("function", [*FUNCTIONS, nx.sort], ids=lambda f: f.__name__)
def test_few_elements(function):
    for shape in ((0,), (1,), (3, 0), (0, 3)):
        assert nx.grad(lambda x: nx.sum(function(x, axis=0)))(np.ones(shape)).shape == shape


@pytest.mark.parametrize(("type_", "rtol"), [("f32", 1e-4), ("bf16", 0.1)])
def test_narrow_types(type_, rtol):
    for function in (*FUNCTIONS, nx.sort):
        x = nx.tensor(numbers(6), type=type_)
        close_to_wide(function, nx.as_type(x, "f64").to_numpy(), type_=type_, rtol=rtol)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("function", [*FUNCTIONS, nx.sort], ids=lambda f: f.__name__)
def test_names(function):
    x = nx.tensor(numbers(2, 3), names=["a", "b"])
    assert nx.grad(lambda x: nx.sum(function(x, axis="b") ** 2))(x).names == ("a", "b")
