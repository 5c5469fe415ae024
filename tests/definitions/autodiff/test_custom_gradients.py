"""stop_grad, custom_grad and checkpoint: everywhere that gradients are taken."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

X = np.array([0.5, -1.0, 2.0])
ROWS = np.array([[0.1, 2.0, 3.0], [0.2, -0.1, 0.4]])


def same(found, expected, tolerance=1e-6):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=1e-12)


# stop_grad -----------------------------------------------------------------------------------------------------------


def test_nothing_flows_through_what_is_stopped():
    same(nx.grad(lambda x: nx.sum(x * nx.stop_grad(x)))(X), X)
    same(nx.grad(lambda x: nx.sum(nx.stop_grad(x)))(X), 0 * X)
    same(nx.hessian(lambda x: nx.sum(x * x * nx.stop_grad(x)))(X), 2 * np.diag(X))


def test_containers_are_stopped_leaf_by_leaf():
    found = nx.grad(lambda p: nx.sum(p["a"] * nx.stop_grad(p)["b"]))({"a": X, "b": X + 1})
    same(found["a"], X + 1)
    same(found["b"], 0 * X)


def test_outside_of_definitions_it_gives_its_argument():
    t = nx.tensor([1.0, 2.0], names=["x"])
    assert nx.stop_grad(t) is t
    assert nx.stop_grad((1, {"t": t}))[1]["t"] is t
    assert nx.stop_grad(3).to_number() == 3
    with pytest.raises(NxTypeError, match="stop_grad takes tensors, numbers and containers of them, got a str"):
        nx.stop_grad("x")


def test_numpy_programs_and_vectorized_values():
    @nx.defn
    def program(a):
        return np.sum(nx.stop_grad(a) * np.sin(a))

    same(nx.grad(program)(X), X * np.cos(X))
    rows = nx.vectorize(nx.tensor(ROWS), "row")
    same(nx.devectorize(nx.grad(lambda x: nx.sum(x * nx.stop_grad(x)))(rows)), ROWS)


# custom_grad ---------------------------------------------------------------------------------------------------------


def through(x):
    """The identity's gradient for a function that has none."""
    return nx.custom_grad(nx.floor(x), [x], lambda g: [g])


@nx.defn
def clipped(x):
    return nx.custom_grad(x**3, [x], lambda g: [nx.clip(g * 3 * x**2, -1.0, 1.0)])


def test_a_gradient_of_ones_own():
    assert (float(clipped(2.0)), float(nx.grad(clipped)(2.0))) == (8.0, 1.0)
    same(nx.grad(lambda x: nx.sum(through(x) * X))(X), X)


def test_its_own_gradient_is_taken_too():
    assert float(nx.grad(nx.grad(clipped))(0.1)) == pytest.approx(0.6)
    assert float(nx.grad(nx.grad(clipped))(2.0)) == 0.0


def test_nothing_goes_to_what_is_no_input():
    def loss(x, y):
        return nx.custom_grad(x * y, [x], lambda g: [g * 10])

    assert [float(t) for t in nx.grad(loss, argnums=(0, 1))(2.0, 3.0)] == [10.0, 0.0]


def test_several_values_and_inputs():
    def loss(x, p):
        first, rest = nx.custom_grad(
            (x * 1, {"a": p["b"] * 3}), [x, p], lambda g: [g[0] + 10 * g[1]["a"], {"b": g[0] * 2}]
        )
        return nx.sum(first) * 2 + nx.sum(rest["a"])

    found = nx.grad(loss, argnums=(0, 1))(X, {"b": X})
    same(found[0], np.full(3, 12.0))
    same(found[1]["b"], np.full(3, 4.0))


def test_it_goes_with_loops_and_choices():
    same(nx.grad(lambda x: nx.sum(nx.fori(0, 3, lambda i, s: through(s * 1.5), x)))(X), np.full(3, 1.5**3))

    def choice(x):
        return nx.cond(nx.sum(x) > 1, lambda: nx.sum(through(x)), lambda: nx.sum(x * x))

    expected = np.where(ROWS.sum(1, keepdims=True) > 1, 1, 2 * ROWS)
    same(nx.vmap(nx.grad(choice))(ROWS), expected)


def test_entries_have_gradients_of_their_own():
    expected = np.clip(3 * ROWS**2, -1, 1)
    same(nx.vmap(nx.grad(lambda row: nx.sum(clipped(row))))(ROWS), expected)
    same(nx.grad(lambda x: nx.sum(nx.vmap(clipped)(x)))(ROWS), expected)
    same(nx.devectorize(nx.grad(clipped)(nx.vectorize(nx.tensor(ROWS), "row"))), expected)


def test_what_entries_share_gains_from_all_of_them():
    def product(row, by):
        return nx.custom_grad(row * by, [row, by], lambda g: [g * 0, g * row])

    found = nx.grad(lambda x, by: nx.sum(nx.vmap(product, in_axes=(0, None))(x, by)), argnums=(0, 1))(ROWS, X)
    same(found[0], 0 * ROWS)
    same(found[1], ROWS.sum(0))

    def constant(by):
        return nx.custom_grad(by * 1, [by], lambda g: [nx.broadcast(nx.f64(1.0), (3,))])

    found = nx.grad(lambda by: nx.sum(nx.vmap(lambda row: nx.sum(row * constant(by)))(ROWS)))(X)
    same(found, np.ones(3))


def test_loops_of_entries_that_end_at_other_times():
    def steps(x):
        turn = 0
        while turn < 8 and nx.sum(x) < 4:
            x = nx.custom_grad(x * 2, [x], lambda g: [g * 3])
            turn += 1
        return nx.sum(x)

    doublings = [0, 3]
    same(nx.vmap(nx.grad(nx.defn(steps)))(ROWS), [[3.0**n] * 3 for n in doublings])


def test_names_and_whole_numbers():
    named = nx.tensor([1.0, 2.0], names=["x"])
    found = nx.grad(lambda t: nx.sum(nx.custom_grad(t * 2, [t], lambda g: [g * t])))(named)
    assert (found.names, found.to_list()) == (("x",), [1.0, 2.0])
    assert float(nx.grad(lambda n: nx.custom_grad(n * 2, [n], lambda g: [g * 5]))(3)) == 5.0


def test_numpy_programs():
    def kept(a):
        return np.sum(nx.custom_grad(np.floor(a), [a], lambda g: [g * np.sin(a)]))

    same(nx.grad(nx.defn(kept, promotion="numpy"))(X), np.sin(X))


def test_outside_of_definitions_it_gives_the_value():
    t = nx.tensor([1.0])
    assert nx.custom_grad({"v": t}, [t], lambda g: [g])["v"] is t


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x: nx.custom_grad(x, x, lambda g: [g]), "custom_grad takes a list of inputs, got a traced value"),
        (lambda x: nx.custom_grad(x, [x], 3), "custom_grad takes a function of the cotangent, got 3"),
        (
            lambda x: nx.custom_grad((x, x), [x], lambda g, h: [g]),
            r"alone, got a function of \(g, h\)\.",
        ),
        (lambda x: nx.custom_grad(x, [x], lambda g: [g, g]), r"a gain for each of 1 input, \[·\], got \[·, ·\]"),
        (
            lambda x: nx.custom_grad(x, [x], lambda g: [g[:2]]),
            r"input 0 gains has its shape, f64\[3\], and .* f64\[2\]",
        ),
        (lambda x: nx.custom_grad(x, [x], lambda g: None), "custom_grad: the function gives no tensor"),
        (lambda x: nx.custom_grad(None, [x], lambda g: [g]), "custom_grad takes tensors, numbers and .* got None for"),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises(NxTypeError, match=told):
        nx.grad(lambda x: nx.sum(call(x)))(X)


# checkpoint ----------------------------------------------------------------------------------------------------------


def deep(x, w):
    for _ in range(3):
        x = nx.sin(nx.dot(x, w) + x * 0.5)
    return x


STATE, WEIGHTS = np.random.default_rng(1).random((256, 32)), np.random.default_rng(0).random((32, 32)) / 32


def of_a_loop(function):
    return lambda x, w: nx.sum(nx.fori(0, 100, lambda i, s: function(s, w), x))


def of_a_chain(function):
    def loss(x, w):
        for _ in range(8):
            x = function(x, w)
        return nx.sum(x * x)

    return loss


def workspace(loss):
    """The gradients of a loss, and the bytes that its program needs besides."""
    gradient = nx.jit(nx.grad(loss, argnums=(0, 1)), compiler="numba_cpu")
    found = gradient(STATE, WEIGHTS)
    return found, gradient._entry_group.programs()[-1].executable.plan.workspace


@pytest.mark.slow
@pytest.mark.parametrize(("form", "least"), [(of_a_loop, 3), (of_a_chain, 2)])
def test_less_is_kept_and_gradients_are_the_same(form, least):
    plain, before = workspace(form(deep))
    again, after = workspace(form(nx.checkpoint(deep)))
    for one, other in zip(again, plain, strict=True):
        same(one, other, 1e-9)
    assert after * least < before


def test_it_gives_what_the_function_gives():
    block = nx.checkpoint(lambda x, *, by, more: {"y": (nx.sin(x["t"]) * by, more)})
    found = block({"t": X}, by=2.0, more=1)
    same(found["y"][0], 2 * np.sin(X))
    assert found["y"][1].to_number() == 1


def test_what_is_captured_gains_too():
    def loss(x, w):
        return nx.sum(nx.checkpoint(lambda t: nx.sin(t * w))(x))

    found = nx.grad(loss, argnums=(0, 1))(X, 2.0)
    same(found[0], 2 * np.cos(2 * X))
    same(found[1], np.sum(X * np.cos(2 * X)))


def test_every_transform_goes_through_it():
    plain, block = (lambda x: nx.sum(nx.sin(x) * x)), nx.checkpoint(lambda x: nx.sum(nx.sin(x) * x))
    same(nx.hessian(block)(X), nx.hessian(plain)(X))
    same(nx.vmap(nx.grad(block))(ROWS), nx.vmap(nx.grad(plain))(ROWS))
    same(nx.jvp(block, (X,), (X + 1,))[1], nx.jvp(plain, (X,), (X + 1,))[1])
    rows = nx.vectorize(nx.tensor(ROWS), "row")
    same(nx.devectorize(nx.grad(block)(rows)), nx.vmap(nx.grad(plain))(ROWS))


def test_checkpoints_of_checkpoints_and_loops():
    def steps(x):
        for _ in range(6):
            x = nx.sin(x) * 1.1
        return x

    inner = nx.checkpoint(nx.defn(steps))
    nested = nx.checkpoint(lambda x: inner(inner(x)))
    expected = nx.grad(lambda x: nx.sum(nx.defn(steps)(nx.defn(steps)(x))))(X)
    same(nx.grad(lambda x: nx.sum(nested(x)))(X), expected)


def test_arrays_from_outside_are_not_assigned_into():
    @nx.defn
    def program(a):
        def block(t):
            a[0] = 1.0
            return np.sin(t)

        return np.sum(nx.checkpoint(block)(a * 1))

    with pytest.raises(
        NxTypeError, match=r"checkpoint\(block\): the function assigns into an array from outside \(a\)"
    ):
        program(X.copy())
    with pytest.raises(NxTypeError, match="checkpoint takes a function, got 3"):
        nx.checkpoint(3)
