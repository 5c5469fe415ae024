"""custom_jvp: rules of one's own for tangents, which gradients follow from."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

X, V = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.25, -2.0])


def same(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-14)


@nx.custom_jvp
def wave(x, y):
    return nx.sin(x) * y


@wave.defjvp
def _(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    # Twice what is right, to tell it from what would be found without it.
    return wave(x, y), 2 * (nx.cos(x) * dx * y + nx.sin(x) * dy)


def test_a_rule_is_what_counts():
    same(wave(X, V), np.sin(X) * V)
    value, tangent = nx.jvp(wave, (X, V), (V, X))
    same(value, np.sin(X) * V)
    same(tangent, 2 * (np.cos(X) * V * V + np.sin(X) * X))
    first, second = nx.grad(lambda x, y: nx.sum(wave(x, y)), argnums=(0, 1))(X, V)
    same(first, 2 * np.cos(X) * V)
    same(second, 2 * np.sin(X))
    same(nx.jacfwd(wave)(X, V), np.diag(2 * np.cos(X) * V))
    same(nx.jacrev(wave)(X, V), np.diag(2 * np.cos(X) * V))


def test_a_rule_is_differentiated_as_it_is_written():
    expected = -2 * np.sin(X) * V
    for outer in (nx.jacfwd, nx.jacrev):
        for inner in (
            lambda f: lambda x: nx.grad(lambda x: nx.sum(f(x)))(x),
            lambda f: lambda x: nx.jvp(f, (x,), (X * 0 + 1,))[1],
        ):
            same(outer(inner(lambda x: wave(x, V)))(X), np.diag(expected))


@nx.custom_jvp
def power(x):
    return nx.exp(x)


@power.defjvp
def _(primals, tangents):
    value = power(*primals)
    return value, value * tangents[0]


def test_the_function_in_its_own_rule_stands_for_its_value():
    third = nx.grad(nx.grad(nx.grad(power)))
    assert repr(nx.debug_expr(third)(nx.f64(0.5))).count("= exp") == 1
    same(third(nx.f64(0.5)), np.exp(0.5))
    same(nx.jvp(nx.grad(power), (0.5,), (1.0,))[1], np.exp(0.5), 1e-6)


def test_everywhere_that_derivatives_are_taken():
    rows = np.stack([X, V])
    same(nx.vmap(nx.grad(lambda x: nx.sum(wave(x, V))))(rows), 2 * np.cos(rows) * V)
    same(nx.grad(lambda x: nx.sum(nx.vmap(wave, in_axes=(0, None))(x, V)))(rows), 2 * np.cos(rows) * V)
    same(nx.jvp(lambda y: nx.vmap(wave, in_axes=(0, None))(rows, y), (V,), (X,))[1], 2 * np.sin(rows) * X)
    vectorized = nx.vectorize(nx.tensor(rows), "row")
    same(nx.devectorize(nx.grad(lambda x: nx.sum(wave(x, V)))(vectorized)), 2 * np.cos(rows) * V)

    @nx.defn
    def looped(x):
        for _ in range(3):
            x = wave(x, 1.5)
        return nx.sum(x)

    x, slope = X, 1
    for _ in range(3):
        x, slope = np.sin(x) * 1.5, slope * 3 * np.cos(x)
    same(nx.grad(looped)(X), slope)
    same(nx.jvp(looped, (X,), (V,))[1], slope @ V)
    same(
        nx.jit(nx.grad(lambda x: nx.cond(nx.sum(x) > 0, lambda: nx.sum(wave(x, V)), lambda: 0.0)))(X), 2 * np.cos(X) * V
    )
    checkpointed = nx.grad(nx.checkpoint(lambda x: nx.sum(wave(x, V))))
    same(checkpointed(X), 2 * np.cos(X) * V)


def test_containers_options_and_arguments_that_do_not_change():
    def scaled(how, p, *, by=1.0):
        return {"s": how(p["a"]) * by, "b": (p["b"],)}

    function = nx.custom_jvp(scaled, nondiff_argnums=(0,))

    @function.defjvp
    def _(how, primals, tangents, *, by=1.0):
        (p,), (t,) = primals, tangents
        return function(how, p, by=by), {"s": 5 * t["a"] * by, "b": (t["b"],)}

    value, tangent = nx.jvp(lambda p: function(nx.sin, p, by=2.0), ({"a": X, "b": 1.0},), ({"a": V, "b": 3.0},))
    same(value["s"], 2 * np.sin(X))
    same(tangent["s"], 10 * V)
    same(tangent["b"][0], 3.0)
    slope = nx.grad(lambda p: nx.sum(function(nx.sin, p)["s"]))({"a": X, "b": 1.0})
    same(slope["a"], [5.0] * 3)


def test_a_rule_for_each_argument():
    function = nx.custom_jvp(lambda x, y: (x * y, x + y))
    function.defjvps(lambda t, value, x, y: (t * value[1], t), lambda t, value, x, y: (0 * t, 7 * t))
    _, tangent = nx.jvp(function, (X, V), (V, X))
    same(tangent[0], V * (X + V))
    same(tangent[1], V + 7 * X)
    still = nx.custom_jvp(lambda x: x * x)
    still.defjvps(None)
    same(nx.jvp(still, (X,), (V,))[1], [0.0] * 3)


def test_another_rule_is_another_program():
    function = nx.custom_jvp(lambda x: x * x)
    function.defjvp(lambda primals, tangents: (function(*primals), 3 * tangents[0]))
    slope = nx.grad(lambda x: nx.sum(function(x)))
    same(slope(X), [3.0] * 3)
    function.defjvp(lambda primals, tangents: (function(*primals), 4 * tangents[0]))
    same(slope(X), [4.0] * 3)


def test_numpy_programs():
    def clipped(x):
        x[0] = 0
        return np.minimum(x, 1.0)

    function = nx.custom_jvp(clipped)
    function.defjvp(lambda primals, tangents: (function(*primals), tangents[0] * np.exp(primals[0])))
    x = X.copy()
    assert type(function(x)) is np.ndarray
    same(x, X)
    same(nx.grad(lambda x: np.sum(function(x)))(X), np.exp(X))


def test_whole_numbers():
    function = nx.custom_jvp(lambda n, x: n * x)
    function.defjvp(lambda primals, tangents: (function(*primals), primals[0] * tangents[1]))
    same(nx.grad(function, argnums=1)(3, 2.0), 3.0)
    assert nx.jvp(function, (3, 2.0), (0.0, 1.0))[1].to_number() == 3.0


@pytest.mark.parametrize(
    ("rule", "error", "told"),
    [
        (
            lambda p, t: t[0],
            NxTypeError,
            r"custom_jvp of square: a rule returns a pair, .* got .*\n  Write `return value",
        ),
        (
            lambda p, t: (p[0], t[0][:2]),
            NxValueError,
            r"the tangent has the shape of the value, f64\[3\], got f64\[2\]",
        ),
        (lambda p, t: (p[0], [t[0]]), NxTypeError, "custom_jvp of square: the tangent is built like the value"),
        (lambda p, t: (p[0], "t"), NxTypeError, "the function gives no tensor: tangent is a str"),
        (lambda p, t: (p[0], 1j * t[0]), NxTypeError, "the tangent is real where the value is"),
    ],
)
def test_what_a_rule_returns_is_checked(rule, error, told):
    def square(x):
        return x * x

    function = nx.custom_jvp(square)
    function.defjvp(rule)
    with pytest.raises(error, match=told):
        function(X)


def test_what_is_refused():
    function = nx.custom_jvp(lambda x: x * 2)
    with pytest.raises(NxTypeError, match=r"custom_jvp of <lambda>: there is no rule yet.\n  Write @<lambda>.defjvp"):
        function(X)
    with pytest.raises(NxTypeError, match="defjvp takes a function of primals and tangents, got 3"):
        function.defjvp(3)
    with pytest.raises(NxTypeError, match="defjvps takes a function, or None, for each argument, got 3"):
        function.defjvps(3)
    function.defjvps(None, None)
    with pytest.raises(NxTypeError, match="defjvps got 2 rules for the 1 arguments"):
        function(X)
    function.defjvp(lambda primals, tangents: (function(primals[0] + 1), tangents[0]))
    with pytest.raises(NxTypeError, match="its rule calls it with other arguments than its primals"):
        function(X)
    with pytest.raises(NxTypeError, match=r"nx.custom_jvp takes a function, got 3.\n  Write @nx.custom_jvp above"):
        nx.custom_jvp(3)
    with pytest.raises(
        NxTypeError, match="custom_jvp of wave: gradients are for tensors, numbers and containers of them, got a str"
    ):
        nx.jit(lambda x: wave(x, "a"))(X)
