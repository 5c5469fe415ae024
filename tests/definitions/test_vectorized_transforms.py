"""Transformations of functions of values with vectorized axes: every lane gives what it gives alone."""

import itertools
import random

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

LANES = [(2.0, 5.0), (3.0, 7.0)]
X, Y = (nx.vectorize(nx.tensor(list(column), type="f64"), "lane") for column in zip(*LANES, strict=True))


def base(y):
    return lambda x: nx.sin(x) * x * y + x**3


def in_a_while(f, y):
    @nx.defn
    def turned(x):
        turn, total = 0, x * 1.0
        while turn < 3:
            total = total + f(x) * y
            turn += 1
        return total

    return turned


def in_a_choice(f, y):
    @nx.defn
    def chosen(x, *, flag=True):
        return f(x) * y if flag else x

    return chosen


#: Each takes a function of a scalar and what it closes over, to another function of a scalar.
AROUND = {
    "grad": lambda f, y: nx.grad(lambda x: f(x) * y),
    "value_and_grad": lambda f, y: lambda x: sum(nx.value_and_grad(lambda x: f(x) * y)(x)),
    "jacobian": lambda f, y: nx.jacobian(lambda x: f(x) * y),
    "jvp": lambda f, y: lambda x: nx.jvp(f, (x,), (x * y,))[1],
    "linearize": lambda f, y: lambda x: nx.linearize(f, x)[1](x * y),
    "jacfwd": lambda f, y: nx.jacfwd(lambda x: f(x) * y),
    "jacrev": lambda f, y: nx.jacrev(lambda x: f(x) * y),
    "vjp": lambda f, y: lambda x: nx.vjp(f, x)[1](f(x) * y)[0],
    "hessian": lambda f, y: nx.hessian(lambda x: f(x) * y),
    "vmap": lambda f, y: lambda x: nx.sum(nx.vmap(lambda s: f(x * s) * y)(nx.tensor([1.0, 2.0], type="f64"))),
    "checkpoint": lambda f, y: nx.checkpoint(lambda x: f(x) * y),
    "custom_grad": lambda f, y: lambda x: nx.custom_grad(f(x) * y, [x], lambda g: [g * nx.sin(x) * y]),
    "while": in_a_while,
    "choice": in_a_choice,
}
#: How many derivatives each takes.
ORDERS = {
    "grad": 1, "value_and_grad": 1, "jacobian": 1, "jacfwd": 1, "jacrev": 1, "jvp": 1, "linearize": 1, "vjp": 1,
    "hessian": 2,
}  # fmt: skip


def nested(names, y):
    function = base(y)
    for name in reversed(names):
        function = AROUND[name](function, y)
    return function


def assert_paired(names):
    whole = nx.devectorize(nested(names, Y)(X), keep_names=False).to_numpy()
    lanes = [nested(names, nx.tensor(y, type="f64"))(nx.tensor(x, type="f64")).to_number() for x, y in LANES]
    np.testing.assert_allclose(whole, lanes, rtol=1e-12, err_msg=str(names))


def nests(depth):
    for names in itertools.product(AROUND, repeat=depth):
        if sum(ORDERS.get(name, 0) for name in names) <= 3:
            yield names


@pytest.mark.parametrize("names", list(nests(1)), ids=" of ".join)
def test_lanes_stay_apart(names):
    assert_paired(names)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("names", random.Random(15).sample([*nests(2), *nests(3)], 30), ids=" of ".join)
def test_lanes_stay_apart_in_nests(names):
    assert_paired(names)


@pytest.mark.fuzz
@pytest.mark.parametrize("depth", [2, 3])
def test_lanes_stay_apart_in_all_nests(depth):
    for names in nests(depth):
        assert_paired(names)


def lanes_of(value):
    return nx.devectorize(value, keep_names=False).to_list()


def test_what_a_hessian_closes_over_is_paired():
    assert lanes_of(nx.hessian(lambda x: x**2 * Y)(X)) == [10.0, 14.0]
    assert lanes_of(nx.jacobian(nx.jacobian(lambda x: x**2 * Y))(X)) == [10.0, 14.0]


def test_what_a_checkpoint_takes_in_a_jacobian_is_paired():
    assert lanes_of(nx.jacobian(lambda y: nx.checkpoint(lambda t: t * t)(X) * y)(Y)) == [4.0, 9.0]


def test_what_a_gradient_of_the_users_takes_in_a_jacobian_is_paired():
    assert lanes_of(nx.jacobian(lambda y: nx.custom_grad(X * y, [y], lambda g: [g * X]))(Y)) == [2.0, 3.0]


def test_lanes_of_several_axes():
    rows = nx.vectorize(nx.tensor([1.0, 2.0, 3.0], type="f64"), "row")
    found = nx.hessian(lambda x: x**2 * rows * Y)(X)
    assert found.vectorized_axes == (("lane", 2), ("row", 3))
    assert lanes_of(found) == [[10.0, 20.0, 30.0], [14.0, 28.0, 42.0]]


def test_all_entries_are_there_where_they_are_asked_for():
    def summed(y):
        return nx.sum(y * nx.devectorize(X, keep_names=False))

    assert lanes_of(nx.jacobian(summed)(Y)) == lanes_of(nx.grad(summed)(Y)) == [5.0, 5.0]


def test_a_gradient_in_a_loop_that_nothing_is_traced_around():
    found = nx.fori(0, 2, lambda _, c: c * nx.hessian(lambda t: t**3)(nx.tensor(2.0)), nx.tensor(2.0))
    assert found.to_number() == 288.0


# Definitions by NumPy's rules ----------------------------------------------------------------------------------------


@nx.defn(promotion="numpy")
def put(x):
    y = x * 1.0
    y[0] = 2.0
    return y


@nx.defn(promotion="numpy")
def through_a_view(x):
    y = x * 1.0
    part = y[1:]
    part[0] = 5.0
    part += x[:2]
    return np.sin(y)


@nx.defn(promotion="numpy")
def into_an_argument(x):
    x[1:] = np.cumsum(x)[:2]
    return x


@nx.defn(promotion="numpy")
def into_another_array(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * i
    return y @ x


DEFINITIONS = [put, through_a_view, into_an_argument, into_another_array]
ROWS = np.arange(6.0).reshape(2, 3) / 4


def rows():
    return nx.vectorize(nx.tensor(ROWS), "row")


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("function", DEFINITIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(
    "around",
    [
        lambda function, x: function(x),
        lambda function, x: nx.jit(lambda x: function(x))(x),
        lambda function, x: nx.grad(function)(x),
        lambda function, x: nx.vjp(function, x)[0],
        lambda function, x: nx.vjp(function, x)[1](function(x))[0],
        lambda function, x: nx.jvp(function, (x,), (x,))[1],
        lambda function, x: nx.jacobian(function)(x),
    ],
    ids=["call", "jit", "grad", "value", "vjp", "jvp", "jacobian"],
)
def test_programs_of_numpy_take_lanes(function, around):
    whole = nx.devectorize(around(function, rows()), keep_names=False).to_numpy()
    lanes = [around(function, nx.tensor(row)).to_numpy() for row in ROWS]
    np.testing.assert_allclose(whole, lanes, rtol=1e-12)
    np.testing.assert_array_equal(lanes_of(rows()), ROWS)


def test_a_jacobian_over_what_is_vectorized_inside():
    def lanes(x):
        return nx.devectorize(put(nx.vectorize(x, "row")), keep_names=False)

    expected = np.einsum("ac,bd,b->abcd", np.eye(2), np.eye(3), [0, 1, 1])
    np.testing.assert_array_equal(nx.jacobian(lanes)(np.ones((2, 3))).to_numpy(), expected)
    np.testing.assert_array_equal(nx.grad(lambda x: nx.sum(lanes(x)))(np.ones((2, 3))).to_list(), [[0, 1, 1]] * 2)


@pytest.mark.usefixtures("ahead_of_calls")
def test_an_array_in_the_body_of_a_loop_has_no_lanes():
    @nx.defn(promotion="numpy")
    def turned(x, n):
        total = np.zeros(3)
        while n > 0:
            total += x
            n -= 1
        return total

    with pytest.raises(NxTypeError) as raised:
        turned(rows(), nx.tensor(2))
    assert str(raised.value).split("\n")[::2] == [
        "a value with vectorized axes cannot be part of a loop or a choice of the program: vectorized[row: 2] f64[3].",
        "  nx.devectorize(t) makes them plain axes; nx.select(condition, a, b) works for each entry.",
    ]
