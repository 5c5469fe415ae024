"""Gradients of products with random axes against central differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.central_differences import check, close_to_wide, gradient_of, numbers
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel import primitives as p
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import apply


@st.composite
def products(draw):
    """Two shapes with the axes that they share."""
    batch, contracted, left, right = (draw(st.lists(st.integers(1, 3), max_size=2)) for _ in range(4))
    sides, places = [], []
    for free in (left, right):
        sizes = [*batch, *contracted, *free]
        order = draw(st.permutations(range(len(sizes))))
        at = [order.index(k) for k in range(len(sizes))]
        sides.append(tuple(sizes[k] for k in order))
        places.append((tuple(at[len(batch) : len(batch) + len(contracted)]), tuple(at[: len(batch)])))
    (contract_left, batch_left), (contract_right, batch_right) = places
    return sides, {"contract": (contract_left, contract_right), "batch": (batch_left, batch_right)}


@given(products())
@settings(max_examples=15, deadline=None, derandomize=True)
def test_axes(case):
    (left, right), params = case
    check(lambda x, y: apply(p.dot, x, y, **params), numbers(*left), numbers(*right, seed=1))


@pytest.mark.parametrize(
    ("left", "right"),
    [(False, False), (True, False), (False, True), (True, True)],
    ids=["a b", "aT b", "a bT", "aT bT"],
)
def test_gradients_lie_as_their_operands_do(left, right):
    def product(a, b):
        contract = [0 if left else 1], [1 if right else 0]
        return nx.dot(a, contract[0], b, contract[1])

    shapes = (4, 3) if left else (3, 4), (5, 4) if right else (4, 5), (3, 5)
    made = graph_of(gradient_of(product, 2), *[spec("f32", *shape) for shape in shapes])
    assert not [node for node in post_order(made.outputs) if node.primitive is p.transpose]


@pytest.mark.parametrize("complex_", [False, True])
def test_second_derivatives(complex_):
    x, y = numbers(2, 3, 4, complex_=complex_), numbers(2, 4, 3, seed=1, complex_=complex_)
    check(lambda x, y: nx.dot(x, [2, 1], [0], y, [1, 2], [0]) ** 2, x, y, order=2)
    check(lambda x: nx.dot(x, [2], [0], x, [2], [0]), x, order=2)


def test_large_products():
    x, y = numbers(40, 50), numbers(50, 60, seed=1)
    dx, dy = nx.grad(lambda x, y: nx.sum(nx.dot(x, y) ** 2), argnums=(0, 1))(x, y)
    np.testing.assert_allclose(dx.to_numpy(), 2 * (x @ y) @ y.T, rtol=1e-10)
    np.testing.assert_allclose(dy.to_numpy(), 2 * x.T @ (x @ y), rtol=1e-10)


def test_whole_numbers():
    found = nx.grad(lambda x, y: nx.sum(nx.dot(x, y)))(np.arange(3), np.array([2, 4, 6]))
    assert (str(found.type), found.to_list()) == ("f32", [2.0, 4.0, 6.0])


def test_no_elements():
    slope = nx.grad(lambda x, y: nx.sum(nx.dot(x, y)), argnums=(0, 1))
    found = slope(np.ones((2, 0)), np.ones((0, 3)))
    assert [part.shape for part in found] == [(2, 0), (0, 3)]
    found = slope(np.ones((0, 2)), np.ones((2, 3)))
    assert found[1].to_list() == [[0.0] * 3] * 2


@pytest.mark.parametrize(("type_", "rtol"), [("f32", 1e-5), ("bf16", 0.1)])
def test_narrow_types(type_, rtol):
    close_to_wide(nx.dot, numbers(3, 4), numbers(4, 2, seed=1), type_=type_, rtol=rtol)


def test_names():
    x = nx.tensor(numbers(2, 3), names=["rows", "inner"])
    y = nx.tensor(numbers(3, 4), names=["inner", "columns"])
    dx, dy = nx.grad(lambda x, y: nx.sum(nx.dot(x, y) ** 2), argnums=(0, 1))(x, y)
    assert (dx.names, dy.names) == (("rows", "inner"), ("inner", "columns"))


def test_what_products_are_used_for():
    check(lambda x, y: nx.outer(x, y) ** 2, numbers(3), numbers(4, seed=1))
    check(lambda m: nx.linalg.matrix_power(m, 3), numbers(3, 3), order=2)
