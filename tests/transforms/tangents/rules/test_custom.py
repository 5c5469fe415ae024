"""Forward mode through gradients that people say themselves, and through checkpoints."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

X, V = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.25, -2.0])


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def cube(x):
    return x**3


@nx.defn
def cubed(x):
    return nx.custom_grad(nx.host_call(cube, x, x), [x], lambda g: [g * 3 * x * x])


def test_a_gradient_is_transposed_and_the_value_is_not_looked_through():
    value, tangent = nx.jvp(cubed, (X,), (V,))
    same(value, X**3)
    same(tangent, 3 * X**2 * V)
    same(nx.jacfwd(cubed)(X), np.diag(3 * X**2))
    same(nx.jvp(nx.grad(lambda x: nx.sum(cubed(x))), (X,), (V,))[1], 6 * X * V)


def test_a_gradient_that_mixes_elements():
    turned = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 5.0], [1.0, 0.0, 0.0]])

    def function(x):
        return nx.custom_grad((x * 1, nx.sum(x)), [x], lambda g: [nx.dot(g[0], turned) + g[1]])

    _, (first, second) = nx.jvp(function, (X,), (V,))
    same(first, turned @ V)
    same(second, V.sum())


def test_a_gradient_that_is_not_linear_in_a_way_that_can_be_transposed():
    def function(x):
        return nx.custom_grad(x * 1, [x], lambda g: [nx.host_call(cube, g, g)])

    told = (
        r"custom_grad of .*test_custom.py, line(.*\n)+.*cube of f64\[3\] has no gradient(.*\n)+.*nx.custom_jvp says how"
    )
    with pytest.raises(NxTypeError, match=told):
        nx.jvp(function, (X,), (V,))
    same(nx.jacobian(function)(X), np.eye(3))


def test_a_checkpoint_is_gone_through_as_what_it_is():
    def function(x):
        return nx.checkpoint(lambda x: nx.sin(nx.tanh(x)))(x) * 2

    graph = repr(nx.debug_expr(lambda x: nx.jvp(function, (x,), (x,))[1])(X))
    assert graph.count("= tanh") == 1
    assert "after" not in graph
    same(nx.jvp(function, (X,), (V,))[1], 2 * np.cos(np.tanh(X)) * (1 - np.tanh(X) ** 2) * V)


def test_only_what_is_asked_for_needs_a_derivative():
    def function(x):
        return x * 2, nx.host_call(cube, x, x)

    _, tangent, other = nx.jvp(function, (X,), (V,), has_aux=True)
    same(tangent, 2 * V)
    same(other, X**3)
    # Singular values alone are determined, whatever the vectors beyond them are.
    matrix = np.vander(X, 4)
    assert nx.jvp(lambda a: nx.linalg.svd(a)[1], (matrix,), (matrix,))[1].shape == (3,)
