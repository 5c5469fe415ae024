"""vjp, jvp, jacobian and hessian: values, containers, loops, types, and what they refuse."""

from collections import namedtuple

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.errors import NxTypeError, NxValueError

X, V = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.25, -2.0])
ROWS = np.array([[0.1, 2.0, 3.0], [0.2, -0.1, 0.4]])
Pair = namedtuple("Pair", "a b")


def wave(x):
    return nx.sum(nx.sin(x) * x)


def slope(x):
    return np.cos(x) * x + np.sin(x)


def curve(x):
    return 2 * np.cos(x) - np.sin(x) * x


@nx.defn
def stops(x):
    for _ in range(10):
        if nx.sum(x) > 5:
            break
        x = x * 1.5
    return x


def same(found, expected, tolerance=1e-6):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-12)


# vjp -----------------------------------------------------------------------------------------------------------------


def test_a_pullback():
    value, pull = nx.vjp(lambda x, y: {"s": x * y}, X, V)
    same(value["s"], X * V)
    first, second = pull({"s": nx.tensor([1.0, 10.0, 100.0])})
    same(first, V * [1, 10, 100])
    same(second, X * [1, 10, 100])


@pytest.mark.parametrize(
    ("function", "kept"),
    [
        (lambda x: nx.tanh(nx.tanh(x)) * V, 3), (lambda x: x * V, 1), (lambda x: nx.reshape(x, (3, 1)) * V, 1),
        (lambda x: nx.linalg.cholesky(nx.outer(x, x) + nx.eye(3, type="f64")), 1), (lambda x: x, 0),
    ],
)  # fmt: skip
def test_a_pullback_computes_no_value_again(function, kept, monkeypatch):
    with nx.default_options(compiler="evaluator"):
        value, pull = nx.vjp(function, X)
        (expected,) = nx.jit(lambda x: nx.vjp(function, x)[1](function(x)))(X)
        for primitive in (p.tanh, p.cholesky):
            monkeypatch.delitem(MEANING, primitive)
        np.testing.assert_allclose(pull(value)[0], expected, rtol=1e-12)
    ((_, arrays),) = [(name, cell) for name, cell in _closed_over(pull) if name == "kept"]
    assert len(arrays) == kept


def _closed_over(function):
    return [(n, c.cell_contents) for n, c in zip(function.__code__.co_freevars, function.__closure__, strict=True)]


def test_a_pullback_has_what_the_function_captured():
    w, u = V.copy(), V + 1
    _, pull = nx.vjp(lambda x: nx.sin(x * w) * u, X)
    expected = np.cos(X * w) * w * u
    w[:] = 5
    u = V
    np.testing.assert_allclose(pull(np.ones(3))[0], expected, rtol=1e-6)


def test_a_pullback_of_a_definition_with_a_choice():
    def chosen(x):
        if nx.sum(x) > 1:
            y = nx.sin(x) * x
        else:
            y = nx.exp(x)
        return y * 2

    for x in (X, -X):
        value, pull = nx.vjp(nx.defn(chosen), x)
        same(value, 2 * (np.sin(x) * x if x.sum() > 1 else np.exp(x)))
        same(pull(V)[0], 2 * V * (slope(x) if x.sum() > 1 else np.exp(x)))
        same(pull(2 * V)[0], 4 * V * (slope(x) if x.sum() > 1 else np.exp(x)))


def test_a_pullback_in_a_definition():
    def both(x):
        value, pull = nx.vjp(lambda t: nx.sin(t) * 2, x)
        return value, pull(x)[0], pull(1 + 0 * x)[0]

    value, first, second = nx.jit(both)(X)
    same(value, 2 * np.sin(X))
    same(first, 2 * np.cos(X) * X)
    same(second, 2 * np.cos(X))


def test_a_loop_is_run_once_for_its_value_and_its_pullback():
    def both(x):
        value, pull = nx.vjp(lambda s: nx.fori(0, 5, lambda i, t: nx.sin(t) * s, s), x)
        return value + pull(1.0)[0]

    assert repr(nx.debug_expr(both)(1.0)).count("= while") == 2


def test_cotangents_take_the_type_of_the_value():
    _, pull = nx.vjp(lambda x: x * 2, nx.tensor([1.0, 2.0]))
    assert str(pull(np.ones(2))[0].type) == "f32"
    _, pull = nx.vjp(lambda n: n * n, 3)
    assert float(pull(2)[0]) == 12.0
    _, pull = nx.vjp(lambda z: nx.conjugate(z) * 3j, nx.c128(2 + 1j))
    assert complex(pull(nx.c128(1 + 2j))[0].to_number()) == np.conj((1 + 2j) * 3j)


def test_vectorized_values_are_pulled_back_entry_by_entry():
    rows = nx.vectorize(nx.tensor(ROWS), "row")
    value, pull = nx.vjp(wave, rows)
    same(nx.devectorize(value), (np.sin(ROWS) * ROWS).sum(1))
    same(nx.devectorize(pull(2.0)[0]), 2 * slope(ROWS))


# jvp -----------------------------------------------------------------------------------------------------------------


def test_a_derivative_along_a_direction():
    value, tangent = nx.jvp(wave, (X,), (V,))
    same(value, np.sum(np.sin(X) * X))
    same(tangent, slope(X) @ V)
    value, tangent = nx.jvp(lambda x, p: (x * p["k"], p["k"]), (X, {"k": 2.0}), (V, {"k": 3.0}))
    same(tangent[0], V * 2 + X * 3)
    same(tangent[1], 3.0)


def test_hessian_times_vector():
    same(nx.jvp(nx.grad(wave), (X,), (V,))[1], curve(X) * V)
    same(nx.grad(lambda x: nx.dot(nx.grad(wave)(x), V))(X), curve(X) * V)
    same(nx.jit(lambda x: nx.jvp(nx.grad(wave), (x,), (x,))[1])(X), curve(X) * X)


def test_derivatives_along_a_direction_through_loops():
    def cut(x):
        return nx.fori(0, 4, lambda i, s: nx.sin(s) * x, x)

    near = [np.asarray(nx.jit(cut)(X + d * V)) for d in (1e-6, -1e-6)]
    same(nx.jvp(cut, (X,), (V,))[1], (near[0] - near[1]) / 2e-6, 1e-5)
    turns = 3
    same(nx.jvp(stops, (X,), (V,))[1], V * 1.5**turns)


def test_types_of_tangents():
    value, tangent = nx.jvp(lambda n: n * n, (3,), (1.0,))
    assert (str(value.type), str(tangent.type), float(tangent)) == ("s64", "f32", 6.0)
    value, tangent = nx.jvp(lambda z: z * z, (2 + 1j,), (1j,))
    assert complex(tangent.to_number()) == 2 * (2 + 1j) * 1j


# jacobian and hessian ------------------------------------------------------------------------------------------------


def test_a_matrix_of_derivatives():
    same(nx.jacobian(lambda x: x**2 + x[0])(X), np.diag(2 * X) + np.eye(3)[[0, 0, 0]])
    found = nx.jacobian(lambda x, y: nx.dot(x, y), argnums=1)(ROWS, X)
    same(found, ROWS)
    assert nx.jacobian(lambda x: nx.outer(x, x))(X).shape == (3, 3, 3)


def test_containers_within_containers():
    def function(p, y):
        return Pair({"u": p["a"] * y}, (nx.sum(p["b"]),))

    found = nx.jacobian(function, argnums=(0, 1))({"a": X, "b": ROWS}, V)
    assert isinstance(found, Pair)
    of_p, of_y = found.a["u"]
    same(of_p["a"], np.diag(V))
    same(of_p["b"], np.zeros((3, 2, 3)))
    same(of_y, np.diag(X))
    same(found.b[0][0]["b"], np.ones((2, 3)))


def test_second_derivatives():
    same(nx.hessian(wave)(X), np.diag(curve(X)))
    found = nx.hessian(lambda p: nx.sum(p["a"] ** 2 * p["b"]))({"a": X, "b": V})
    same(found["a"]["a"], np.diag(2 * V))
    same(found["a"]["b"], np.diag(2 * X))
    same(found["b"]["b"], np.zeros((3, 3)))
    (aa, ab), (ba, _) = nx.hessian(lambda x, y: nx.sum(x * x * y), argnums=(0, 1))(X, V)
    same(aa, np.diag(2 * V))
    same(ab, np.diag(2 * X))
    same(ba, np.diag(2 * X))
    assert nx.hessian(lambda x: x**3)(X).shape == (3, 3, 3)


def test_matrices_of_loops_and_of_each_entry():
    same(nx.jacobian(stops)(X), np.eye(3) * 1.5**3)
    found = nx.vmap(nx.jacobian(stops))(ROWS)
    same(found, [np.eye(3), np.eye(3) * 1.5**6])
    rows = nx.vectorize(nx.tensor(ROWS), "row")
    assert nx.jacobian(stops)(rows).vectorized_axes == (("row", 2),)
    same(nx.devectorize(nx.jacobian(stops)(rows)), found)
    same(nx.devectorize(nx.hessian(wave)(rows)), nx.vmap(nx.hessian(wave))(ROWS))


def test_types_names_options_and_empty_values():
    assert nx.jacobian(lambda n: n * n)(nx.tensor([1, 2])).to_list() == [[2.0, 0.0], [0.0, 4.0]]
    named = nx.tensor(ROWS, names=["row", "x"])
    assert nx.jacobian(lambda t: nx.sum(t, axes=["x"]))(named).names == (None, None, None)
    assert nx.grad(lambda t: nx.sum(t))(named).names == ("row", "x")
    assert nx.jacobian(lambda t, u: t * u)(nx.tensor(X, names=["x"]), X).names == (None, None)
    assert nx.jacobian(lambda t: nx.sum(t))(named).names == ("row", "x")
    same(nx.jacobian(lambda x, *, n: x**n)(X, n=3), np.diag(3 * X**2))
    assert nx.jacobian(lambda x: x[:0])(X).shape == (0, 3)
    found = nx.jacobian(lambda z: z * z)(nx.c128([2 + 1j, 1j]))
    same(found, np.diag([4 + 2j, 2j]))


def test_numpy_programs():
    def running(a):
        for i in range(1, a.shape[0]):
            a[i] = a[i - 1] * np.sin(a[i])
        return a

    definition = nx.defn(running)
    numeric = [(running(X + d) - running(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    same(nx.jacobian(definition)(X), np.transpose(numeric))
    same(nx.jvp(definition, (X,), (V,))[1], V @ numeric)
    value, pull = nx.vjp(definition, X)
    same(value, running(X.copy()))
    same(pull(V)[0], numeric @ V)
    assert X.tolist() == [0.5, -1.0, 2.0]


def test_calling_twice_compiles_once():
    def use(x):
        nx.jvp(wave, (x,), (V,))
        nx.vjp(wave, x)[1](1.0)
        nx.jacobian(wave)(x)
        nx.hessian(wave)(x)

    use(X)
    before = len(nx.events())
    use(X + 1)
    assert [event for event in nx.events()[before:] if event.kind == "miss"] == []


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: nx.vjp(3, X), NxTypeError, "nx.vjp takes a function, got 3"),
        (lambda: nx.vjp(wave, X)[1]((1.0,)), NxTypeError, r"the cotangent is built like the value, ·, got \(·,\)"),
        (lambda: nx.vjp(wave, X)[1](X), NxValueError, r"the cotangent has the shape of the value, f64, got f64\[3\]"),
        (lambda: nx.vjp(wave, X)[1](1j), NxTypeError, "the cotangent is real where the value is: f64, got c64"),
        (lambda: nx.jvp(wave, X, (X,)), NxTypeError, "jvp takes a tuple of primals, one for each argument, got"),
        (lambda: nx.jvp(wave, (X,), X), NxTypeError, "jvp takes a tuple of tangents, one for each argument, got"),
        (lambda: nx.jvp(wave, (X,), ()), NxValueError, "there is 1 primal and 0 tangents"),
        (lambda: nx.jvp(wave, (X,), (X[:2],)), NxValueError, r"jvp of wave: the tangent has the shape of the argument"),
        (lambda: nx.jvp(wave, (X,), ({"a": X},)), NxTypeError, "jvp of wave: the tangent is built like the argument"),
        (lambda: nx.jvp(wave, (X,), ("a",)), NxTypeError, "jvp of wave: gradients are for tensors, .* got a str"),
        (lambda: nx.vjp(lambda x, s: x, X, "a"), NxTypeError, "got a str.\n  Write a lambda that has everything else"),
        (lambda: nx.jacobian(nx.add, argnums=(1, -1))(X, V), NxValueError, r"argnums has argument 1 twice: \(1, -1\)"),
        (lambda: nx.hessian(wave, argnums=1)(X), NxValueError, "hessian of wave: argnums has 1, and there is 1 posit"),
        (lambda: nx.jacobian(3), NxTypeError, "nx.jacobian takes a function, got 3"),
        (lambda: nx.hessian("f"), NxTypeError, "nx.hessian takes a function, got 'f'"),
        (lambda: nx.jacobian(wave, argnums=1)(X), NxValueError, "jacobian of wave: argnums has 1"),
        (lambda: nx.jacobian(wave, argnums="x")(X), NxTypeError, "argnums is the place of an argument"),
        (lambda: nx.jacobian(lambda x: None)(X), NxTypeError, "the function gives no tensor: the value is None"),
    ],
)
def test_what_is_refused(call, error, told):
    with pytest.raises(error, match=told):
        call()
