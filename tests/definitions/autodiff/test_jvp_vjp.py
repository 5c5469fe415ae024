"""vjp, jvp and linearize: values, containers, loops, types, and what they refuse."""

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


def test_a_pullback_of_windows_themselves():
    def windows(x):
        return np.lib.stride_tricks.sliding_window_view(x, 2)

    same(nx.vjp(nx.defn(windows), X)[1](np.array([[1.0, 10.0], [100.0, 1000.0]]))[0], [1.0, 110.0, 1000.0])
    same(nx.jacrev(nx.defn(windows))(X), np.eye(3)[[[0, 1], [1, 2]]])
    same(nx.jvp(nx.defn(windows), (X,), (V,))[1], windows(V))


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


def test_products_of_each_order():
    along = nx.jit(lambda x, v: nx.grad(lambda x: nx.sum(nx.jvp(nx.sin, (x,), (v,))[1] * x))(x))(X, V)
    same(along, V * (np.cos(X) - np.sin(X) * X), 1e-12)
    twice = nx.jvp(lambda x: nx.jvp(wave, (x,), (V,))[1], (X,), (X,))[1]
    same(twice, curve(X) @ (V * X), 1e-12)
    rows = nx.vmap(lambda v: nx.jvp(nx.grad(wave), (X,), (v,))[1])(np.eye(3))
    same(rows, np.diag(curve(X)), 1e-12)
    each = nx.vmap(lambda x, v: nx.jvp(wave, (x,), (v,))[1])(ROWS, 2 * ROWS)
    same(each, (slope(ROWS) * 2 * ROWS).sum(1), 1e-12)
    same(nx.jvp(nx.checkpoint(wave), (X,), (V,))[1], slope(X) @ V, 1e-12)


def test_what_is_given_besides():
    value, tangent, aux = nx.jvp(lambda x: (x * x, {"x": x}), (X,), (V,), has_aux=True)
    same(tangent, 2 * X * V)
    same(aux["x"], X)
    value, pull, aux = nx.vjp(lambda x: (wave(x), [x + 1]), X, has_aux=True)
    same(pull(1.0)[0], slope(X))
    same(aux[0], X + 1)
    value, push, aux = nx.linearize(lambda x: (wave(x), (value, nx.argmax(x))), X, has_aux=True)
    same(push(V), slope(X) @ V)
    assert aux[1].to_number() == 2
    with pytest.raises(NxTypeError, match=r"vjp of wave: with has_aux=True the function gives a pair"):
        nx.vjp(wave, X, has_aux=True)


# linearize -----------------------------------------------------------------------------------------------------------


def test_a_linear_function_of_tangents():
    value, push = nx.linearize(lambda x, p: {"s": x * p["k"]}, X, {"k": 2.0})
    same(value["s"], 2 * X)
    same(push(V, {"k": 3.0})["s"], V * 2 + X * 3)
    same(push(2 * V, {"k": 0.0})["s"], V * 4)

    def twice(x):
        value, push = nx.linearize(nx.sin, x)
        return value + push(x) + push(1 + 0 * x)

    same(nx.jit(twice)(X), np.sin(X) + np.cos(X) * (X + 1))
    same(nx.vmap(twice)(ROWS), np.sin(ROWS) + np.cos(ROWS) * (ROWS + 1))
    same(nx.grad(lambda x: nx.sum(twice(x)))(X), 2 * np.cos(X) - np.sin(X) * (X + 1))


def test_a_linear_function_computes_no_value_again(monkeypatch):
    function = lambda x: nx.linalg.cholesky(nx.outer(nx.tanh(x), x) + 5 * nx.eye(3, type="f64"))  # noqa: E731
    with nx.default_options(compiler="evaluator"):
        _, push = nx.linearize(function, X)
        expected = nx.jvp(function, (X,), (V,))[1]
        for primitive in (p.tanh, p.cholesky):
            monkeypatch.delitem(MEANING, primitive)
        np.testing.assert_allclose(push(V), expected, rtol=1e-12)


def test_a_linear_function_of_a_loop_without_a_limit():
    @nx.defn
    def halved(x):
        while nx.sum(x) > 1:
            x = x / 2 * nx.cos(x[0])
        return x

    value, push = nx.linearize(halved, X + 1)
    again, tangent = nx.jvp(halved, (X + 1,), (V,))
    same(value, again, 1e-14)
    same(push(V), tangent, 1e-14)


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
        nx.linearize(wave, x)[1](x)
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
        (lambda: nx.jvp(wave, (X,), (1j * X,)), NxTypeError, "the tangent is real where the argument is"),
        (lambda: nx.jvp(3, (X,), (X,)), NxTypeError, "nx.jvp takes a function, got 3"),
        (lambda: nx.jvp(lambda x: None, (X,), (X,)), NxTypeError, "the function gives no tensor: the value is None"),
        (lambda: nx.linearize(wave, X)[1](), NxValueError, "linearize of wave: there is 1 primal and 0 tangents"),
        (lambda: nx.linearize(wave, X)[1](X[:2]), NxValueError, "linearize of wave: the tangent has the shape of the"),
        (lambda: nx.linearize("f", X), NxTypeError, r"nx.linearize takes a function, .*\n  Write value, push = nx.lin"),
        (lambda: nx.vjp(lambda x, s: x, X, "a"), NxTypeError, "got a str.\n  Write a lambda that has everything else"),
    ],
)
def test_what_is_refused(call, error, told):
    with pytest.raises(error, match=told):
        call()
