"""`root`: SciPy's roots, gradients of roots, and what it says where there is none."""

import numpy as np
import pytest
from scipy import optimize as scipy_optimize

import nxkernel as nx
from nxkernel import optimize
from nxkernel.errors import NxTypeError, NxValueError


def equations(x):
    return [x[0] + 0.5 * (x[0] - x[1]) ** 3 - 1.0, 0.5 * (x[1] - x[0]) ** 3 + x[1]]


def tridiagonal(x):
    """Broyden's function, of any number of variables."""
    left = np.concatenate([np.zeros(1), x[:-1]])
    right = np.concatenate([x[1:], np.zeros(1)])
    return (3 - 2 * x) * x - left - 2 * right + 1


@pytest.mark.parametrize("method", ["hybr", pytest.param("lm", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("function", "start"),
    [(equations, np.zeros(2)), pytest.param(tridiagonal, -np.ones(7), marks=pytest.mark.slow)],
)
def test_roots_are_scipys(method, function, start):
    found = optimize.root(function, start, method=method, tol=1e-12)
    # SciPy's own lm stops at another point of the first one.
    expected = scipy_optimize.root(function, start, tol=1e-12)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)
    np.testing.assert_allclose(found.fun, 0, atol=1e-12)
    assert (found.success, found.status, found.message) == (True, 1, "The solution converged.")


@pytest.mark.slow
def test_a_jacobian_of_the_persons():
    found = optimize.root(
        lambda x, a: x**3 - a, [1, 1], args=(np.array([8.0, 27.0]),), jac=lambda x, a: np.diag(3 * x**2)
    )
    np.testing.assert_allclose(found.x, [2, 3], rtol=1e-9)


@pytest.mark.slow
def test_where_there_is_none():
    found = optimize.root(lambda x: x**2 + 1, [3.0])
    assert (found.success, found.status) == (False, 4)
    assert found.message.startswith("The iteration is not making good progress")
    assert optimize.root(tridiagonal, -np.ones(3), options={"maxfev": 2}).status == 2
    assert optimize.root(lambda x: np.sqrt(x), [-1.0]).message == "The function or its Jacobian is NaN or infinite."


@pytest.mark.slow
def test_gradients_and_entries():
    def solved(a):
        return optimize.root(lambda x: [x[0] ** 2 + x[1] - a[0], x[0] - x[1] ** 3 - a[1]], np.ones(2), tol=1e-12).x

    a, step = np.array([2.0, 0.1]), 1e-6
    sides = [(solved(a + step * unit) - solved(a - step * unit)) / (2 * step) for unit in np.eye(2)]
    np.testing.assert_allclose(nx.jacobian(solved)(a), np.stack(sides, 1), rtol=1e-6)
    many = nx.vmap(lambda a: optimize.root(lambda x: x**3 - a, np.ones(2)).x)(np.array([[1.0, 8.0], [27.0, 64.0]]))
    np.testing.assert_allclose(many, [[1, 2], [3, 4]], rtol=1e-8)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: optimize.root(lambda x: x[:1], [1, 2]), NxValueError, "as many numbers as x has elements, 2, got f64"),
        (lambda: optimize.root(equations, [1, 2], method="broyden1"), NxValueError, "'hybr', 'lm', got 'broyden1'"),
        (lambda: optimize.root(equations, [1, 2], jac=True), NxTypeError, "jac is a function, got True"),
        (lambda: optimize.root(equations, [1, 2], options={"eps": 1}), NxTypeError, "hybr has no option 'eps'"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
