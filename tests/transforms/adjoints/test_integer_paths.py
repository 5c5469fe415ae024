"""A loss that depends on its variables through whole numbers alone is refused; jumps give zeros."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

X = nx.f64([0.3, -1.2, 2.5])


def first_in_a_loop(x):
    s = nx.tensor(0)
    for _ in range(3):
        s = s + nx.as_type(x, "s64")
    return s


def chosen(x):
    return nx.cond(x > 0, lambda: nx.as_type(x, "s64"), lambda: nx.as_type(-x, "s64"))


@pytest.mark.parametrize(
    ("function", "argument", "operation"),
    [
        (lambda x: nx.as_type(x, "s64") * 2, 3.5, "as_type to s64 of f32"),
        (lambda x: nx.argmax(x), X, r"argmax of f64\[3\]"),
        (lambda x: nx.argmin(x) * 2.0, X, r"argmin of f64\[3\]"),
        (lambda x: nx.sum(nx.argsort(x) * 0.5), X, r"argsort of f64\[3\]"),
        (lambda x: nx.quotient(x, 2), 7, "quotient of s64, s64"),
        (lambda x: nx.bitwise_and(x, 3) * 1.5, 7, "bitwise_and of s64, s64"),
        (lambda x: nx.left_shift(x, 1), 7, "left_shift of s64, s64"),
        (lambda x: nx.population_count(x), 7, "population_count of s64"),
        (lambda x: nx.as_type(nx.bitcast(x, "s32"), "f32"), 1.5, "bitcast of f32"),
        (nx.defn(first_in_a_loop), 2.5, "as_type to s64 of f32"),
        (chosen, 2.5, "as_type to s64 of f32"),
    ],
)
def test_whole_numbers_are_refused(function, argument, operation):
    told = f"through whole numbers only, which have no gradient: {operation}.*{__file__.rpartition('/')[2]}, line"
    with pytest.raises(NxTypeError, match=told) as found:
        nx.grad(function)(argument)
    assert "nx.stop_grad(t) says that nothing is to flow through it" in str(found.value)
    with pytest.raises(NxTypeError, match=operation):
        nx.jacobian(function)(argument)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: nx.sum(nx.floor(x)), lambda x: nx.sum(nx.round(x)), lambda x: nx.sum(nx.ceil(x)),
        lambda x: nx.sum(nx.sign(x)), lambda x: nx.sum(nx.greater(x, 0.0)), lambda x: nx.f64(3.0),
        lambda x: nx.sum(nx.stop_grad(x)), lambda x: nx.select(nx.sum(x) > 0, 1.0, 2.0),
        lambda x: nx.sum(nx.floor(x)) + nx.argmax(x),
    ],
)  # fmt: skip
def test_jumps_give_zeros(function):
    np.testing.assert_array_equal(nx.grad(function)(X), [0, 0, 0])


def test_one_way_that_is_smooth_is_enough():
    np.testing.assert_array_equal(nx.grad(lambda x: x[nx.argmax(x)] * nx.as_type(nx.argmax(x), "f64"))(X), [0, 0, 2])
    np.testing.assert_array_equal(nx.grad(lambda x, n: nx.sum(x) * nx.quotient(n, 2), argnums=(0, 1))(X, 5)[1], 0)


def test_gradients_that_change_by_jumps_have_a_gradient_of_zeros():
    """What is refused of a loss is what its gradient may be: the order of sorted elements, for one."""
    weights = np.array([1.0, 2.0, 4.0])

    def ordered(x):
        return nx.sum(nx.sort(x) * weights)

    def ranked(x):
        return nx.sum(x * nx.as_type(nx.argsort(x), "f64"))

    for function in (ordered, ranked):
        np.testing.assert_array_equal(nx.hessian(function)(X), np.zeros((3, 3)))
        np.testing.assert_array_equal(nx.jvp(nx.grad(function), (X,), (X,))[1], np.zeros(3))
        rows = nx.stack([X, -X])
        found = nx.grad(lambda rows, *, function=function: nx.sum(nx.vmap(nx.grad(function))(rows) ** 2))(rows)
        np.testing.assert_array_equal(found, np.zeros((2, 3)))
    np.testing.assert_array_equal(nx.jvp(ordered, (X,), (X,))[1], np.dot(np.sort(X), weights))
    operations = [line.split()[2] for line in repr(nx.debug_expr(nx.grad(ordered))(X)).splitlines() if " = " in line]
    assert operations == ["argsort", "scatter"]
