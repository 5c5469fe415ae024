"""Programs to differentiate, each written for nxkernel and for JAX, with its arguments."""

import numpy as np

import nxkernel as nx

#: By name, as modules may be imported twice: the function here, the function of ``(jnp, jax)`` that gives the one for
#: JAX, and the arguments.
PROGRAMS = {}


def program(theirs, *args):
    """Add a function, with its counterpart."""

    def add(ours):
        PROGRAMS[ours.__name__] = (ours, theirs, args)
        return ours

    return add


_random = np.random.default_rng(5)


def draw(*shape):
    return _random.normal(size=shape)


def between(low, high, *shape):
    return _random.uniform(low, high, shape)


LABELS = np.array([0, 2, 1, 2, 0])
X, W1, B1, W2 = draw(5, 4), draw(4, 6), draw(6), draw(6, 3)


def _spd(n):
    m = draw(n, n)
    return m @ m.T + n * np.eye(n)


# Learning ------------------------------------------------------------------------------------------------------------


@program(
    lambda jnp, jax: lambda p, x: jnp.sum((jnp.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]) ** 2),
    {"w1": W1, "b1": B1, "w2": W2},
    X,
)
def perceptron(p, x):
    return nx.sum(nx.pow(nx.tanh(x @ p["w1"] + p["b1"]) @ p["w2"], 2))


@program(
    lambda jnp, jax: lambda w, x: -jnp.mean(jax.nn.log_softmax(jnp.maximum(x @ w[0], 0) @ w[1])[jnp.arange(5), LABELS]),
    (W1, W2),
    X,
)
def softmax_cross_entropy(w, x):
    logits = nx.max(x @ w[0], 0.0) @ w[1]
    logits = logits - nx.reduce_max(logits, axes=[1], keep_axes=True)
    chosen = nx.take_along_axis(logits, nx.new_axis(nx.tensor(LABELS), 1), axis=1)[:, 0]
    return nx.mean(nx.log(nx.sum(nx.exp(logits), axes=[1])) - chosen)


@program(
    lambda jnp, jax: lambda w, b, x: jnp.mean(jnp.logaddexp(0, -(2.0 * (LABELS > 0) - 1) * (x @ w + b))),
    draw(4),
    0.3,
    X,
)
def logistic_regression(w, b, x):
    sign = nx.tensor(2.0 * (LABELS > 0) - 1)
    return nx.mean(nx.log1p(nx.exp(-sign * (x @ w + b))))


def _conv_jax(jnp, jax):
    def loss(k, x):
        y = jax.lax.conv_general_dilated(x, k, (1, 1), [(1, 1), (1, 1)])
        return jnp.sum(jnp.tanh(y) ** 2)

    return loss


@program(_conv_jax, draw(3, 2, 3, 3), draw(2, 2, 6, 5))
def convolution(k, x):
    return nx.sum(nx.pow(nx.tanh(nx.conv(x, k, padding=[(1, 1), (1, 1)])), 2))


def _pool_jax(jnp, jax):
    def loss(k, x):
        y = jax.lax.conv_general_dilated(x, k, (2, 1), "VALID")
        y = jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 1, 2), "VALID")
        return jnp.sum(y * y)

    return loss


@program(_pool_jax, draw(2, 1, 2, 2), draw(2, 1, 8, 7))
def convolution_with_pooling(k, x):
    y = nx.conv(x, k, strides=[2, 1])
    y = nx.window_max(y, (1, 1, 2, 2), strides=[1, 1, 1, 2])
    return nx.sum(y * y)


@program(
    lambda jnp, jax: lambda x, g, b: jnp.sum(jnp.sin((x - jnp.mean(x, 0)) / jnp.sqrt(jnp.var(x, 0) + 1e-5) * g + b)),
    X,
    draw(4),
    draw(4),
)
def batch_norm(x, g, b):
    centred = x - nx.mean(x, axes=[0])
    return nx.sum(nx.sin(centred / nx.sqrt(nx.variance(x, axes=[0]) + 1e-5) * g + b))


def _attention_jax(jnp, jax):
    def loss(q, k, v):
        a = jnp.einsum("bqd,bkd->bqk", q, k) / np.sqrt(3)
        a = jnp.where(jnp.tril(jnp.ones((4, 4))) > 0, a, -1e9)
        return jnp.sum(jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(a), v) ** 2)

    return loss


@program(_attention_jax, draw(2, 4, 3), draw(2, 4, 3), draw(2, 4, 3))
def causal_attention(q, k, v):
    a = nx.dot(q, [2], [0], k, [2], [0]) / np.sqrt(3)
    a = nx.select(nx.tril(nx.broadcast(1, (2, 4, 4))), a, -1e9)
    e = nx.exp(a - nx.reduce_max(a, axes=[2], keep_axes=True))
    return nx.sum(nx.pow(nx.dot(e / nx.sum(e, axes=[2], keep_axes=True), [2], [0], v, [1], [0]), 2))


def _rnn_jax(jnp, jax):
    def loss(w, u, xs):
        def step(h, x):
            h = jnp.tanh(h @ w + x @ u)
            return h, jnp.sum(h)

        h, sums = jax.lax.scan(step, jnp.zeros(4), xs)
        return jnp.sum(h**2) + jnp.sum(sums**2)

    return loss


@program(_rnn_jax, draw(4, 4) / 2, draw(3, 4), draw(7, 3))
def recurrent_network(w, u, xs):
    def step(h, x):
        h = nx.tanh(h @ w + x @ u)
        return h, nx.sum(h)

    h, sums = nx.scan(step, nx.broadcast(nx.f64(0.0), (4,)), xs)
    return nx.sum(h * h) + nx.sum(sums * sums)


def _gru_jax(jnp, jax):
    def loss(p, xs):
        def step(h, x):
            both = jnp.concatenate([h, x])
            z, r = jax.nn.sigmoid(both @ p["z"]), jax.nn.sigmoid(both @ p["r"])
            n = jnp.tanh(jnp.concatenate([r * h, x]) @ p["n"])
            return (1 - z) * n + z * h, None

        return jnp.sum(jax.lax.scan(step, jnp.zeros(3), xs)[0] ** 2)

    return loss


@program(_gru_jax, {"z": draw(5, 3), "r": draw(5, 3), "n": draw(5, 3)}, draw(6, 2))
def gated_recurrent_network(p, xs):
    h = nx.broadcast(nx.f64(0.0), (3,))
    for x in xs:
        both = nx.concatenate([h, x])
        z, r = nx.sigmoid(both @ p["z"]), nx.sigmoid(both @ p["r"])
        h = (1 - z) * nx.tanh(nx.concatenate([r * h, x]) @ p["n"]) + z * h
    return nx.sum(h * h)


@program(
    lambda jnp, jax: lambda table, w: jnp.sum(jnp.tanh(table[jnp.array([1, 3, 1, 0])] @ w)), draw(5, 3), draw(3, 2)
)
def embedding(table, w):
    return nx.sum(nx.tanh(nx.take(table, nx.tensor([1, 3, 1, 0])) @ w))


# Linear algebra and probability -------------------------------------------------------------------------------------


def _likelihood_jax(jnp, jax):
    def loss(a, y):
        factor = jnp.linalg.cholesky(a)
        z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return 0.5 * jnp.sum(z**2) + jnp.sum(jnp.log(jnp.diagonal(factor)))

    return lambda m, y: loss(m @ m.T + 4 * jnp.eye(4), y)


@program(_likelihood_jax, draw(4, 4), draw(4))
def gaussian_log_likelihood(m, y):
    factor = nx.linalg.cholesky(m @ nx.transpose(m) + 4 * nx.eye(4, type="f64"))
    z = nx.linalg.triangular_solve(factor, y)
    return 0.5 * nx.sum(z * z) + nx.sum(nx.log(nx.take_diagonal(factor)))


def _process_jax(jnp, jax):
    def loss(scale, x, y):
        k = jnp.exp(-((x[:, None] - x[None, :]) ** 2) / (2 * scale**2)) + 0.1 * jnp.eye(6)
        return 0.5 * y @ jnp.linalg.solve(k, y) + 0.5 * jnp.linalg.slogdet(k)[1]

    return loss


@program(_process_jax, 0.7, draw(6), draw(6))
def gaussian_process(scale, x, y):
    k = nx.exp(-nx.pow(nx.new_axis(x, 1) - nx.new_axis(x, 0), 2) / (2 * scale**2)) + 0.1 * nx.eye(6, type="f64")
    return 0.5 * nx.dot(y, nx.linalg.solve(k, y)) + 0.5 * nx.log(nx.linalg.determinant(k))


def _kalman_jax(jnp, jax):
    def loss(a, c, q, ys):
        def step(carry, y):
            m, p = carry
            m, p = a @ m, a @ p @ a.T + q * jnp.eye(2)
            s = c @ p @ c + 0.5
            gain, miss = p @ c / s, y - c @ m
            return (m + gain * miss, p - jnp.outer(gain, c @ p)), jnp.log(s) + miss**2 / s

        _, terms = jax.lax.scan(step, (jnp.zeros(2), jnp.eye(2)), ys)
        return jnp.sum(terms)

    return loss


@program(_kalman_jax, np.array([[0.9, 0.2], [-0.1, 0.8]]), draw(2), 0.3, draw(8))
def kalman_filter(a, c, q, ys):
    m, p, loss = nx.broadcast(nx.f64(0.0), (2,)), nx.eye(2, type="f64"), nx.f64(0.0)
    for y in ys:
        m, p = a @ m, a @ p @ nx.transpose(a) + q * nx.eye(2, type="f64")
        s = nx.dot(c, p @ c) + 0.5
        gain, miss = p @ c / s, y - nx.dot(c, m)
        m, p = m + gain * miss, p - nx.outer(gain, c @ p)
        loss = loss + nx.log(s) + miss**2 / s
    return loss


@program(
    lambda jnp, jax: lambda a, b: jnp.sum(jnp.einsum("ijk,kl,jl->il", a, b, jnp.cos(b)[:3]) ** 2),
    draw(2, 3, 4),
    draw(4, 5),
)
def tensor_products(a, b):
    first = nx.dot(a, b)
    found = nx.sum(first * nx.cos(b)[:3], axes=[1])
    return nx.sum(found * found)


@program(lambda jnp, jax: lambda m: jnp.sum(jnp.sin(jnp.linalg.inv(m))) + jnp.linalg.det(m), _spd(4))
def inverse_and_determinant(m):
    return nx.sum(nx.sin(nx.linalg.invert(m))) + nx.linalg.determinant(m)


def _eigen_jax(jnp, jax):
    def loss(m):
        s = m + m.T
        values, vectors = jnp.linalg.eigh(s)
        return jnp.sum(jnp.exp(values / 4)) + jnp.sum(jnp.abs(vectors[:, 0]) ** 3)

    return loss


@program(_eigen_jax, draw(4, 4))
def eigenvalues(m):
    values, vectors = nx.linalg.eigh(m + nx.transpose(m))
    return nx.sum(nx.exp(values / 4)) + nx.sum(nx.pow(nx.abs(vectors[:, 0]), 3))


@program(lambda jnp, jax: lambda m: jnp.sum(jnp.log1p(jnp.linalg.svd(m, compute_uv=False))), draw(5, 3))
def singular_values(m):
    return nx.sum(nx.log1p(nx.linalg.svd(m, full_matrices=False)[1]))


def _qr_jax(jnp, jax):
    def loss(m, y):
        q, r = jnp.linalg.qr(m)
        return jnp.sum(jax.scipy.linalg.solve_triangular(r, q.T @ y) ** 2)

    return loss


@program(_qr_jax, draw(6, 3), draw(6))
def least_squares_by_qr(m, y):
    q, r = nx.linalg.qr(m)
    found = nx.linalg.triangular_solve(r, nx.transpose(q) @ y, lower=False)
    return nx.sum(found * found)


#: Programs whose second derivatives are compared too.
TWICE = (
    "perceptron", "logistic_regression", "recurrent_network", "gaussian_log_likelihood", "gaussian_process", "pendulum",
    "heat_equation", "choice_in_scan", "rosenbrock", "tensor_products", "elementary_functions",
)  # fmt: skip
