"""custom_root and custom_linear_solve: derivatives by the equations, whatever finds their solutions."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

RANDOM = np.random.default_rng(3)
A = RANDOM.normal(size=(4, 4)) + 4 * np.eye(4)
S = A @ A.T / 4
B, V = RANDOM.normal(size=4), RANDOM.normal(size=4)


def same(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-12)


def by_steps(f, x):
    return nx.while_(lambda s: s[1] - s[0] > 1e-13, lambda s: _half(f, *s), (x * 0, x * 0 + 10))[0]


def _half(f, low, high):
    middle = (low + high) / 2
    above = f(middle) > 0
    return nx.select(above, low, middle), nx.select(above, middle, high)


def scalar(g, y):
    return y / g(1.0)


def cubic(a):
    return nx.custom_root(lambda x: x**3 + x - a, a, by_steps, scalar)


def roots(a):
    return np.array([np.roots([1, 0, 1, -one]).real[np.argmin(np.abs(np.roots([1, 0, 1, -one]).imag))] for one in a])


# custom_root ---------------------------------------------------------------------------------------------------------


def test_a_root_and_its_derivatives():
    a = nx.f64(5.0)
    (x,) = roots([5.0])
    slope = 1 / (3 * x**2 + 1)
    curve = -6 * x * slope**3
    third = -6 * slope**4 + 6 * x * 3 * slope**4 * 6 * x * slope
    same(cubic(a), x)
    same(nx.grad(cubic)(a), slope)
    same(nx.jvp(cubic, (a,), (nx.f64(2.0),))[1], 2 * slope)
    same(nx.grad(nx.grad(cubic))(a), curve)
    same(nx.jvp(nx.grad(cubic), (a,), (nx.f64(1.0),))[1], curve)
    same(nx.grad(lambda a: nx.jvp(cubic, (a,), (a * 0 + 1,))[1])(a), curve)
    same(nx.grad(nx.grad(nx.grad(cubic)))(a), third, 1e-8)


def test_roots_of_many():
    a = np.array([1.0, 5.0, 9.0])
    slopes = 1 / (3 * roots(a) ** 2 + 1)
    same(nx.vmap(cubic)(a), roots(a))
    same(nx.vmap(nx.grad(cubic))(a), slopes)
    same(nx.grad(lambda a: nx.sum(nx.vmap(cubic)(a)))(a), slopes)
    same(nx.jvp(nx.vmap(cubic), (a,), (a,))[1], a * slopes)
    vectorized, root = nx.vectorize(nx.tensor(a), "a"), lambda f, x: nx.sqrt(x)
    each = nx.grad(lambda a: nx.custom_root(lambda x: x * x - a, a, root, scalar))(vectorized)
    same(nx.devectorize(each), 0.5 / np.sqrt(a))
    equations = nx.jvp(lambda b: nx.custom_linear_solve(lambda x: 2 * x, b, lambda m, b: b / 2), (vectorized,), (1.0,))
    same(nx.devectorize(equations[1]), [0.5] * 3)


def fixed_point(a, b):
    """The root of ``a x - b + sin(x) / 2``, a vector."""

    def f(x):
        return nx.dot(a, x) - b + nx.sin(x) / 2

    def solve(f, x):
        return nx.fori(0, 30, lambda k, x: x - nx.linalg.solve(nx.jacobian(f)(x), f(x)), x)

    return nx.custom_root(f, b * 0, solve, lambda g, y: nx.linalg.solve(nx.jacobian(g)(y), y))


def test_a_root_of_several_equations():
    x = np.asarray(fixed_point(A, B))
    same(A @ x - B + np.sin(x) / 2, np.zeros(4))
    slope = np.linalg.inv(A + np.diag(np.cos(x) / 2))
    same(nx.jacfwd(fixed_point, argnums=1)(A, B), slope)
    same(nx.jacrev(fixed_point, argnums=1)(A, B), slope)
    of_a, of_b = nx.grad(lambda a, b: nx.sum(fixed_point(a, b) * V), argnums=(0, 1))(A, B)
    same(of_b, slope.T @ V)
    same(of_a, -np.outer(slope.T @ V, x))
    _, along = nx.jvp(fixed_point, (A, B), (S, V))
    same(along, slope @ (V - S @ x))


def test_containers_and_what_is_given_besides():
    def root(p):
        def f(x):
            return {"u": x["u"] ** 2 - p["a"], "v": x["v"] * x["u"] - p["b"]}

        def solve(f, x):
            found = {"u": nx.sqrt(p["a"]), "v": p["b"] / nx.sqrt(p["a"])}
            return found, {"turns": nx.s64(1)}

        def tangent_solve(g, y):
            du = y["u"] / g({"u": 1.0, "v": 0.0})["u"]
            rest = g({"u": du, "v": 0.0})["v"]
            return {"u": du, "v": (y["v"] - rest) / g({"u": 0.0, "v": 1.0})["v"]}

        return nx.custom_root(f, {"u": 1.0, "v": 1.0}, solve, tangent_solve, has_aux=True)

    point = {"a": nx.f64(4.0), "b": nx.f64(3.0)}
    (x, aux), slope = nx.jit(lambda p: (root(p), nx.grad(lambda p: root(p)[0]["v"])(p)))(point)
    assert aux["turns"].to_number() == 1
    same([x["u"], x["v"]], [2.0, 1.5])
    same([slope["a"], slope["b"]], [-3 / 2 * 4.0**-1.5, 0.5])
    same(root(point)[0]["v"], 1.5)


def test_outside_of_definitions():
    a = 5.0
    same(nx.custom_root(lambda x: x**3 + x - a, nx.f64(1.0), by_steps, scalar), roots([5.0])[0])


# custom_linear_solve -------------------------------------------------------------------------------------------------


def conjugate_gradients(matvec, b):
    def turn(state):
        x, r, q, size = state
        image = matvec(q)
        step = size / nx.sum(q * image)
        r = r - step * image
        again = nx.sum(r * r)
        return x + step * q, r, r + again / size * q, again

    return nx.while_(lambda s: s[3] > 1e-28, turn, (b * 0, b, b, nx.sum(b * b)))[0]


def direct(matvec, b):
    return nx.linalg.solve(nx.jacobian(matvec)(b), b)


def symmetric(a, b):
    return nx.custom_linear_solve(lambda x: nx.dot(a, x), b, conjugate_gradients, symmetric=True)


def general(a, b):
    return nx.custom_linear_solve(lambda x: nx.dot(a, x), b, direct, transpose_solve=direct)


@pytest.mark.parametrize(("function", "a"), [(symmetric, S), (general, A)])
def test_equations_and_their_derivatives(function, a):
    inverse = np.linalg.inv(a)
    x = inverse @ B
    same(function(a, B), x)
    value, along = nx.jvp(function, (a, B), (a * 0.5 + np.eye(4), V))
    same(value, x)
    same(along, inverse @ (V - (a * 0.5 + np.eye(4)) @ x))
    of_a, of_b = nx.grad(lambda a, b: nx.sum(function(a, b) * V), argnums=(0, 1))(a, B)
    same(of_b, inverse.T @ V)
    same(of_a, -np.outer(inverse.T @ V, x))
    for way in (nx.jacfwd, nx.jacrev):
        same(way(function, argnums=1)(a, B), inverse)

    def scaled(s):
        return nx.sum(function(s * a, B) * V)

    same([nx.grad(scaled)(nx.f64(2.0)), nx.grad(nx.grad(scaled))(nx.f64(2.0))], [-x @ V / 4, x @ V / 4])
    same(nx.jvp(nx.grad(scaled), (nx.f64(2.0),), (nx.f64(1.0),))[1], x @ V / 4)
    same(nx.grad(lambda s: nx.jvp(scaled, (s,), (s * 0 + 1,))[1])(nx.f64(2.0)), x @ V / 4)


def test_equations_of_many():
    matrices, right = np.stack([S, S + np.eye(4)]), np.stack([B, V])
    found = nx.vmap(nx.grad(lambda a, b: nx.sum(symmetric(a, b) * V), argnums=1))(matrices, right)
    same(found, [np.linalg.solve(one, V) for one in matrices])
    together = nx.grad(lambda b: nx.sum(nx.vmap(symmetric, in_axes=(None, 0))(S, b) * V))(right)
    same(together, [np.linalg.solve(S, V)] * 2)
    of_a = nx.grad(lambda a: nx.sum(nx.vmap(symmetric, in_axes=(None, 0))(a, right) * V))(S)
    same(of_a, -sum(np.outer(np.linalg.solve(S, V), np.linalg.solve(S, one)) for one in right))


def test_the_method_is_not_differentiated():
    """Steps that forget what they got have no derivatives; the equations have."""

    def forgetful(matvec, b):
        return nx.stop_grad(conjugate_gradients(matvec, nx.stop_grad(b)))

    def function(b):
        return nx.custom_linear_solve(lambda x: nx.dot(S, x), b, forgetful, symmetric=True)

    same(nx.jacfwd(function)(B), np.linalg.inv(S))
    same(nx.jacrev(function)(B), np.linalg.inv(S))


def test_right_sides_that_are_containers_or_whole_numbers():
    def function(b, k):
        def matvec(x):
            return {"u": k * x["u"] + x["v"], "v": (2.0 * x["v"])}

        def solve(matvec, b):
            v = b["v"] / 2.0
            return {"u": (b["u"] - v) / k, "v": v}, "told"

        return nx.custom_linear_solve(matvec, b, lambda m, b: solve(m, b)[0])

    value, along = nx.jvp(function, ({"u": 3, "v": 4}, 2.0), ({"u": 1.0, "v": 0.0}, 1.0))
    assert [float(value["u"]), float(value["v"])] == [0.5, 2.0]
    assert [float(along["u"]), float(along["v"])] == [0.25, 0.0]


def test_within_a_root():
    def root(a):
        def f(x):
            return nx.dot(S, x) + x**3 - a

        def solve(f, x):
            return nx.fori(0, 30, lambda k, x: x - nx.linalg.solve(nx.jacobian(f)(x), f(x)), x)

        def tangent_solve(g, y):
            return nx.custom_linear_solve(g, y, conjugate_gradients, symmetric=True)

        return nx.custom_root(f, a * 0, solve, tangent_solve)

    x = np.asarray(root(B))
    slope = np.linalg.inv(S + np.diag(3 * x**2))
    same(nx.jacfwd(root)(B), slope)
    same(nx.jacrev(root)(B), slope)
    curve = nx.jvp(nx.grad(lambda a: nx.sum(root(a) * V)), (B,), (V,))[1]
    same(curve, -slope.T @ (6 * x * (slope @ V) * (slope.T @ V)))


def test_numpy_programs():
    def function(b):
        return nx.custom_linear_solve(lambda x: np.dot(S, x), b, lambda m, b: np.linalg.solve(S, b), symmetric=True)

    found = nx.grad(lambda b: np.sum(function(b) * V))(B)
    assert type(found) is np.ndarray
    same(found, np.linalg.solve(S, V))


def linear(**options):
    return lambda b: nx.sum(nx.custom_linear_solve(lambda x: nx.dot(A, x), b, direct, **options))


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda: nx.grad(linear())(B), NxTypeError, r"linear_solve of .* has no gradient(.*\n)+.*transpose_solve=…"),
        (lambda: linear(has_aux=True)(B), NxTypeError, r"solve gives a pair \(solution, aux\) with has_aux=True, got"),
        (
            lambda: nx.custom_linear_solve(lambda x: x[:2], B, direct),
            NxValueError,
            r"what matvec gives has the shape of the solution, f64\[4\], got f64\[2\]",
        ),
        (
            lambda: nx.custom_linear_solve(lambda x: x, B, lambda m, b: (b, b)),
            NxTypeError,
            "what solve gives is built like the solution",
        ),
        (
            lambda: nx.custom_linear_solve(A, B, direct),
            NxTypeError,
            "matvec is a function, got .*\n  Write nx.custom_lin",
        ),
        (lambda: nx.custom_linear_solve(lambda x: x, "b", direct), NxTypeError, "got a str"),
        (
            lambda: nx.custom_root(3, B, by_steps, scalar),
            NxTypeError,
            r"custom_root: f is a function, got 3.\n  Write nx",
        ),
        (
            lambda: nx.custom_root(lambda x: x[:2], B, lambda f, x: x, scalar),
            NxValueError,
            "what f gives has the shape",
        ),
        (
            lambda: nx.grad(lambda a: nx.custom_root(lambda x: x - a, a, lambda f, x: a, lambda g, y: (y, y)))(1.0),
            NxTypeError,
            "what tangent_solve gives is built like the solution",
        ),
    ],
)
def test_what_is_refused(call, error, told):
    with pytest.raises(error, match=told):
        call()
