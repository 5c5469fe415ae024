"""The programs of `learning` as people write them for JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.libraries import jax


def _numpy() -> Any:
    return jax().numpy


def cross_entropy(logits, labels):
    return -_numpy().mean(_numpy().sum(jax().nn.log_softmax(logits) * labels, axis=-1))


def perceptron(params, x):
    hidden = jax().nn.relu(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def deep(params, x):
    for layer in range(len(params) // 2 - 1):
        x = jax().nn.relu(x @ params[f"w{layer}"] + params[f"b{layer}"])
    return x @ params["w"] + params["b"]


def convolutional(params, x):
    def layer(x, kernel, bias):
        x = jax().lax.conv_general_dilated(x, kernel, (1, 1), "SAME") + bias.reshape(1, -1, 1, 1)
        return jax().lax.reduce_window(
            jax().nn.relu(x), -_numpy().inf, jax().lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"
        )

    x = layer(x, params["k1"], params["c1"])
    x = layer(x, params["k2"], params["c2"])
    return x.reshape(x.shape[0], 784) @ params["w"] + params["b"]


def adam_state(params):
    """Both moments and the count of steps."""
    zeros = jax().tree_util.tree_map(_numpy().zeros_like, params)
    return zeros, zeros, _numpy().zeros((), _numpy().int32)


def training_step(model: Callable[..., Any], rate: float = 1e-3) -> Callable[..., Any]:
    """A step of adam, as Optax does it."""

    def step(params, state, x, labels):
        value, slope = jax().value_and_grad(lambda params: cross_entropy(model(params, x), labels))(params)
        first, second, count = state
        count = count + 1
        tree = jax().tree_util.tree_map
        first = tree(lambda m, g: 0.9 * m + 0.1 * g, first, slope)
        second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, second, slope)
        past, past_square = 1 - 0.9**count, 1 - 0.999**count

        def moved(value, m, v):
            change = rate * (m / past) / (_numpy().sqrt(v / past_square) + 1e-8)
            return (value - change).astype(value.dtype)

        return value, tree(moved, params, first, second), (first, second, count)

    return step


def regression(w, x, y):
    margins = y * (x @ w)
    return _numpy().mean(_numpy().log1p(_numpy().exp(-margins))) + 0.01 * _numpy().sum(w * w)


def smoothed(a):
    def turn(_, a):
        inner = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        return a.at[1:-1, 1:-1].set(inner)

    a = jax().lax.fori_loop(0, 20, turn, a)
    return _numpy().sum(a * a)


def recurrent(w, inputs):
    state, _ = jax().lax.scan(lambda state, x: (_numpy().tanh(w @ state + x), None), inputs[0] * 0.0, inputs)
    return _numpy().sum(state * state)


def valley(x):
    return _numpy().sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
