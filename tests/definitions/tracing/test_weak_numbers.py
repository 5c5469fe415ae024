"""Python's floats that are passed by position, by Nx's rules: weak in type, with all digits beside an f64."""

import numpy as np
import pytest

import nxkernel as nx

X = np.zeros(2)


def scaled(x, rate):
    return nx.exp(x) * rate


def of(value):
    return value.type, value.to_list()


def test_number_takes_the_type_of_what_it_is_beside():
    f = nx.jit(scaled)
    for _ in range(3):  # traced, by the long way, and by the fast path
        assert of(f(X, 0.1)) == ("f64", [0.1, 0.1])
        assert of(f(nx.as_type(X, "f32"), 0.1)) == ("f32", [np.float32(0.1).item()] * 2)
        assert of(f(nx.as_type(X, "f16"), 0.1)) == ("f16", [np.float16(0.1).item()] * 2)
        assert of(f(np.zeros(2, int), 0.1)) == ("f32", [np.float32(0.1).item()] * 2)
        assert of(f(X, 0.3)) == ("f64", [0.3, 0.3])
    assert f.cache_info().misses == 4
    assert of(f(nx.as_type(X, "f16"), np.float32(0.1))) == ("f32", [np.float32(0.1).item()] * 2)


def test_complex_number():
    f = nx.jit(scaled)
    for _ in range(3):
        assert f(X, 0.1 + 0.3j).to_numpy().tolist() == [0.1 + 0.3j] * 2
        assert of(f(nx.as_type(X, "f32"), 0.1j))[0] == "c64"


@pytest.mark.parametrize("call", [
    lambda f: f(X, rate=0.1),
    lambda f: f(*(X, 0.1)),
    lambda f: nx.vmap(f, in_axes=(0, None))(X, 0.1),
    lambda f: nx.jit_apply(f, [X, 0.1]),
    lambda f: nx.jit(lambda x, rates: f(nx.abs(x), rates["a"][0]))(X, {"a": [0.1]}),
    lambda f: nx.defn(lambda x, rate: nx.cond(nx.sum(x) > 1, lambda: nx.exp(x), lambda: f(x, rate)))(X, 0.1),
    lambda f: nx.grad(lambda x, rate: nx.sum(f(x, rate)))(X, 0.1),
])  # fmt: skip
def test_each_way_to_pass_it(call):
    for f in (scaled, nx.jit(scaled, on_conflict="reuse")):
        for _ in range(2):
            assert of(call(f)) == ("f64", [0.1, 0.1])


def test_alone_it_is_f32():
    f = nx.jit(lambda x, rate: (nx.exp(x) * rate, rate * 2, nx.exp(rate), nx.stack([x * 0 + rate, x])))
    product, twice, power, _ = f(X, 0.1)
    assert of(product) == ("f64", [0.1, 0.1])
    assert (twice.type, power.type) == ("f32", "f32")
    assert nx.jit(lambda rate: nx.exp(rate))(0.1).type == "f32"


@pytest.mark.parametrize("use", [
    lambda x, rate: nx.select(x > 1, rate, 0.0),
    lambda x, rate: nx.select([1, 0], rate, [1, 2]),
    lambda x, rate: nx.stack([rate, rate]),
    lambda x, rate: nx.full((2,), rate),
    lambda x, rate: nx.broadcast(rate, (2,)) * nx.tensor([1, 2]),
    lambda x, rate: nx.tensor([rate, rate]),
    lambda x, rate: nx.reshape(rate, (1,)),
    lambda x, rate: nx.mean(rate),
    lambda x, rate: nx.clip([1, 2], rate, 3),
    lambda x, rate: nx.concatenate([nx.tensor([1, 2]), nx.new_axis(rate, 0)]),
    lambda x, rate: nx.pad([1, 2], rate, [(1, 0, 0)]),
    lambda x, rate: nx.fill([1, 2], rate),
    lambda x, rate: nx.outer([1, 2], rate),
    lambda x, rate: nx.dot([1, 2], rate),
    lambda x, rate: nx.indexed_put([1, 2], [[0]], rate),
    lambda x, rate: nx.reduce([1, 2], rate, lambda a, b: a + b),
])  # fmt: skip
def test_what_stands_beside_it_elsewhere_does_not_change_its_type(use):
    x = nx.tensor(X)
    alone = nx.jit(use)(x, 0.1)
    beside, _ = nx.jit(lambda x, rate: (use(x, rate), x * rate))(x, 0.1)
    assert alone.type == "f32"
    assert of(beside) == of(alone)


def test_type_is_that_of_a_number_alone():
    types = []
    nx.jit(lambda x, rate: types.append(str(nx.type(rate))) or x * rate)(nx.tensor(X), 0.1)
    assert types == ["f32"]


@pytest.mark.parametrize(("use", "wanted"), [
    (lambda x, rate: nx.select(x > 1, x, rate), [0.1, 0.1]),
    (lambda x, rate: nx.select([1, 0], rate, x), [0.1, 0.0]),
    (lambda x, rate: nx.stack([x[0], rate]), [0.0, 0.1]),
    (lambda x, rate: nx.stack([x[0], x[1], rate]), [0.0, 0.0, 0.1]),
    (lambda x, rate: nx.clip(x, rate, 1), [0.1, 0.1]),
    (lambda x, rate: nx.clip(x + 2, 0, rate), [0.1, 0.1]),
    (lambda x, rate: nx.fill(x, rate), [0.1, 0.1]),
    (lambda x, rate: nx.pad(x, rate, [(1, 0, 0)]), [0.1, 0.0, 0.0]),
    (lambda x, rate: nx.dot(x + 1, rate), [0.1, 0.1]),
    (lambda x, rate: nx.outer(x + 1, rate), [[0.1], [0.1]]),
    (lambda x, rate: nx.outer(rate, x + 1), [[0.1, 0.1]]),
    (lambda x, rate: nx.indexed_put(x, [[0]], rate), [0.1, 0.0]),
    (lambda x, rate: nx.indexed_add(x, [[0]], rate), [0.1, 0.0]),
    (lambda x, rate: nx.all_close(x + 0.1, rate, rtol=0, atol=1e-15), True),
])  # fmt: skip
def test_all_digits_by_position_in_the_body_and_at_once(use, wanted):
    x = nx.tensor(X)
    for result in (nx.jit(use)(x, 0.1), nx.jit(lambda x: use(x, 0.1))(x), use(x, 0.1)):
        assert result.type in ("f64", "bool")
        assert result.to_list() == wanted


def test_steps_of_time():
    @nx.defn(compiler="numba_cpu")
    def decay(y, dt, n):
        t = 0.0
        for _ in range(n):
            y = y * nx.exp(-dt)
            t = t + dt
        return y, t

    y, t = decay(np.float64(1), 1e-4, 100_000)
    assert (y.type, t.type) == ("f64", "f32")
    assert y.to_number() == pytest.approx(np.exp(-10.0), rel=1e-9)
    assert t.to_number() == 10.0


def test_captured_array_asks_for_the_digits():
    weights = nx.tensor(np.ones(2))
    f = nx.jit(lambda rate: nx.exp(weights * 0) * rate)
    for _ in range(2):
        assert of(f(0.1)) == ("f64", [0.1, 0.1])


def test_type_that_is_asked_for_counts():
    f = nx.jit(lambda x, rate: nx.exp(x) * nx.as_type(rate, "f32"))
    assert f(nx.as_type(X, "f16"), 0.1).type == "f32"
    g = nx.jit(lambda x, rate: nx.exp(x) * nx.as_type(rate, "f64"))
    assert of(g(nx.as_type(X, "f32"), 0.1)) == ("f64", [0.1, 0.1])


def test_literal_in_a_loop():
    @nx.defn
    def summed(x):
        step = 0.1
        for _ in range(3):
            x = nx.exp(x) * step
            step = step + 0.1
        return x

    x = 0.0
    for k in range(3):
        x = np.exp(x) * (0.1 + 0.1 if k == 1 else 0.1 + 0.1 + 0.1 if k else 0.1)
    np.testing.assert_allclose(summed(np.zeros(1)).to_numpy(), x, rtol=1e-15)


def test_compiled_for_f32_it_is_one():
    f = nx.compile(scaled, [nx.template((2,), "f64"), nx.template((), "f32")])
    for rate in (0.1, np.float32(0.1), 0.1):
        assert of(f(X, rate)) == ("f64", [np.float32(0.1).item()] * 2)


def test_what_is_told():
    f = nx.jit(scaled)
    f(X, 0.1)
    assert f.why(X, np.float32(1)).difference == ("argument rate: f32 (a Python float) → f32",)
    graph = str(nx.debug_expr(f)(X, 0.1))
    assert "parameter c:1                          f64" in graph
    assert "as_type" not in graph
