"""grad and value_and_grad: every form, containers, nesting, and what they refuse."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

X = np.array([0.5, -1.0, 2.0])
Pair = namedtuple("Pair", "a b")


@dataclass
class Model:
    """Two variables."""

    weights: object
    bias: object


def square(x):
    return nx.sum(x * x)


@nx.defn
def walk(x):
    total = 0.0
    for i in range(4):
        if x[0] > i * 0.2:
            total += nx.sum(nx.sin(x * i))
        else:
            total -= nx.sum(x) * i
    return total


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_a_gradient_has_the_type_and_names_of_its_argument():
    found = nx.grad(square)(nx.tensor([1.0, 2.0], type="f64", names=["x"]))
    assert (str(found.type), found.shape, found.names, found.to_list()) == ("f64", (2,), ("x",), [2.0, 4.0])
    whole = nx.grad(square)(nx.tensor([1, 2]))
    assert (str(whole.type), whole.to_list()) == ("f32", [2.0, 4.0])
    assert str(nx.grad(lambda x: nx.sum(nx.as_type(x, "f64")))(nx.bf16([1.0])).type) == "bf16"


def test_a_value_that_is_no_scalar_counts_as_its_sum():
    value, slope = nx.value_and_grad(lambda x: x * x)(X)
    same(value, X * X)
    same(slope, 2 * X)


def test_arguments_by_place():
    def loss(x, y, z):
        return nx.sum(x * y) + z

    same(nx.grad(loss)(X, X + 1, 2.0), X + 1)
    same(nx.grad(loss, argnums=1)(X, X + 1, 2.0), X)
    same(nx.grad(loss, 1)(X, X + 1, 2.0), X)
    first, last = nx.grad(loss, argnums=(0, -1))(X, X + 1, 2.0)
    same(first, X + 1)
    assert float(last) == 1.0
    assert isinstance(nx.grad(loss, argnums=(1,))(X, X, 1.0), tuple)


def test_what_is_no_variable_can_be_anything():
    def loss(x, layers, *, power):
        return nx.sum(nx.pow(x * layers["scale"], power))

    same(nx.grad(loss)(X, {"scale": 2.0}, power=2), 8 * X)


def test_aux_is_passed_on():
    value, slope = nx.value_and_grad(lambda x: (square(x), {"twice": x * 2}), has_aux=True)(X)
    loss, aux = value
    assert float(loss) == 5.25
    same(aux["twice"], 2 * X)
    same(slope, 2 * X)
    slope, aux = nx.grad(lambda x: (square(x), x + 1), has_aux=True)(X)
    same(aux, X + 1)


@pytest.mark.parametrize(
    "variables", [{"w": X, "b": [1.0, X]}, Pair(X, (2.0, X)), Model(X, {"b": 3.0}), [X, [X]], (X,)]
)
def test_containers_come_back_as_they_were(variables):
    def loss(given):
        return sum((nx.sum(leaf * leaf) for leaf in _leaves(given)), nx.f32(0.0))

    found = nx.grad(loss)(variables)
    assert type(found) is type(variables)
    for one, other in zip(_leaves(found), _leaves(variables), strict=True):
        same(one, 2 * np.asarray(other))


def _leaves(value):
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, Model):
        value = [value.weights, value.bias]
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, list | tuple) else [value]


def test_variables_and_a_function_of_them():
    @nx.defn
    def step(w, x):
        return nx.value_and_grad(w, lambda w: nx.sum((x * w["a"] + w["b"]) ** 2))

    loss, slope = step({"a": 1.0, "b": 0.0}, nx.tensor([1.0, 2.0]))
    assert [float(loss), float(slope["a"]), float(slope["b"])] == [5.0, 10.0, 6.0]
    slope = nx.grad({"a": 1.0, "b": 2.0}, lambda w: w["a"] * w["b"])
    assert [float(slope["a"]), float(slope["b"])] == [2.0, 1.0]


def test_a_transform_takes_the_loss_out():
    @nx.defn
    def step(w, x):
        return nx.value_and_grad(w, lambda w: (x * w, nx.sum(x * w * w)), lambda result: result[1])

    (predictions, loss), slope = step(2.0, X)
    same(predictions, 2 * X)
    same([float(loss), float(slope)], [6.0, 6.0])


def test_only_what_is_computed_from_the_variable_counts():
    @nx.defn
    def inner(x):
        y = x * 3
        return nx.grad(x, lambda t: t * t + y * t)

    assert float(inner(2.0)) == 10.0


def test_control_flow_of_definitions():
    def steps(x):
        total = 0.0
        for i in range(4):
            total = total + np.sum(np.sin(x * i)) if x[0] > i * 0.2 else total - np.sum(x) * i
        return total

    numeric = [(steps(X + d) - steps(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    same(nx.grad(walk)(X), numeric)
    same(nx.jit(lambda x: nx.grad(walk)(x) * 2)(X), 2 * np.array(numeric))


def test_numpy_programs():
    def running(a):
        total = 0.0
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * np.sin(a[i])
            total += a[i] ** 2
        return total

    numeric = [(running(X + d) - running(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    given = X.copy()
    same(nx.grad(nx.defn(running))(given), numeric)


def test_gradients_of_gradients():
    cube = nx.grad(nx.grad(lambda x: x**3))
    assert float(cube(2.0)) == 12.0
    assert float(nx.grad(cube)(2.0)) == 6.0
    same(nx.grad(lambda x: nx.sum(nx.grad(lambda y: nx.sum(y**3))(x) ** 2))(X), 36 * X**3)


def test_vectorized_values_have_gradients_of_their_own():
    rows = nx.vectorize(nx.tensor([[1.0, 2.0], [3.0, 4.0]]), "row")
    value, slope = nx.value_and_grad(square)(rows)
    assert value.vectorized_axes == slope.vectorized_axes == (("row", 2),)
    assert (value.to_list(), slope.to_list()) == ([5.0, 25.0], [[2.0, 4.0], [6.0, 8.0]])


def test_a_loop_that_keeps_something_runs_once():
    def both(x):
        value, slope = nx.value_and_grad(lambda x: nx.fori(0, 5, lambda i, s: nx.sin(s) * x, x))(x)
        return value + slope

    assert repr(nx.debug_expr(both)(1.0)).count("= while") == 2


def test_calling_twice_compiles_once():
    def loss(x):
        return nx.sum(nx.cos(x) * 5)

    nx.grad(loss)(X)
    nx.grad({"x": X}, lambda w: loss(w["x"]))
    before = len(nx.events())
    for _ in range(2):
        nx.grad(loss)(X + 1)
        nx.value_and_grad({"x": X}, lambda w: loss(w["x"]))
    kinds = [event.kind for event in nx.events()[before:]]
    assert kinds.count("miss") <= 1


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: nx.grad(3.0), NxTypeError, r"nx\.grad takes a function, or variables and a function of them"),
        (lambda: nx.grad(square, argnums="x")(X), NxTypeError, "argnums is the place of an argument"),
        (lambda: nx.grad(square, argnums=())(X), NxTypeError, "argnums is the place of an argument"),
        (lambda: nx.grad(square, argnums=True)(X), NxTypeError, "argnums is the place of an argument"),
        (lambda: nx.grad(square, argnums=1)(X), NxValueError, "argnums has 1, and there is 1 positional argument"),
        (lambda: nx.grad(lambda x: (x, x))(X), NxTypeError, r"the value is one tensor, got \(·, ·\)"),
        (lambda: nx.grad(lambda x: None)(X), NxTypeError, "the function gives no tensor: the value is None"),
        (lambda: nx.grad(square, has_aux=True)(X), NxTypeError, r"the function gives a pair \(value, aux\)"),
        (lambda: nx.jit(lambda: nx.grad(square)("x"))(), NxTypeError, "gradients are for tensors, numbers and conta"),
    ],
)  # fmt: skip
def test_what_is_refused(call, error, told):
    with pytest.raises(error, match=told):
        call()


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: nx.grad(nx.multiply, argnums=(0, -2))(X, X), r"argnums has argument 0 twice: \(0, -2\).\n  Name"),
        (lambda: nx.value_and_grad(square, lambda r: r[1])(X), "nx.value_and_grad got two functions: a transform goes"),
        (lambda: nx.value_and_grad(square, square, square), "nx.value_and_grad got two functions"),
        (lambda: nx.value_and_grad(X, square, 3), "the transform takes the loss out of a result, got 3"),
        (lambda: nx.value_and_grad(X, square, has_aux=True), r"has_aux goes with a function, .*\(fun, has_aux=Tr"),
        (lambda: nx.grad(X, square, argnums=1), r"nx.grad: argnums goes with a function, as in nx.grad\(fun"),
        (lambda: nx.grad(square, has_aux=True)(X), r"got a tensor \(f64\).\n  Return a tuple of two, of which"),
    ],
)  # fmt: skip
def test_what_goes_together(call, told):
    with pytest.raises((NxTypeError, NxValueError), match=told):
        call()


def test_the_transform_may_be_given_by_name():
    (value, loss), slope = nx.value_and_grad(2.0, lambda x: (x, x * x), transform=lambda result: result[1])
    assert (float(value), float(loss), float(slope)) == (2.0, 4.0, 4.0)


def test_variables_are_one_argument():
    with pytest.raises(NxTypeError) as error:
        nx.grad((1.0, 2.0), lambda a, b: a * b)
    assert str(error.value) == (
        "grad of <lambda>: variables are one argument, and the function takes 2: a, b.\n"
        "  Write lambda variables: … and a, b = variables in it,\n"
        "  or nx.grad(function, argnums=(0, 1))(a, b)."
    )
    assert nx.grad((1.0, 2.0), lambda pair, scale=3.0: pair[0] * pair[1] * scale)[0] == 6


@pytest.mark.parametrize("argument", [3, np.int64(3), np.array([0, 1])])
def test_the_gradient_of_integers_has_the_floats_of_the_rules_that_hold(argument):
    def bent(x):
        return np.sum(np.sin(x) * x)

    exact = np.sin(argument * 1.0) + argument * np.cos(argument * 1.0)
    slope = nx.grad(bent)(argument)
    assert slope.dtype == np.float64
    np.testing.assert_allclose(slope, exact, rtol=1e-15)
    (value, slope) = nx.value_and_grad(bent)(argument)
    assert (value.dtype, slope.dtype) == (np.float64, np.float64)
    assert nx.jacobian(np.sin)(argument).dtype == np.float64
    assert nx.grad(lambda t: nx.sum(nx.sin(t) * t))(argument).type == "f32"
