"""Gradients and what is built on them, beside JAX: training steps, gradients of programs, a Hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import nxkernel as nx
from benchmarks.measuring import timing
from benchmarks.measuring.work import Goal, Outcome, Settings, Work
from benchmarks.peers import learning_in_jax
from benchmarks.peers.libraries import jax
from nxkernel import optim

#: Makes the arguments of a program; those of both libraries are of the same numbers.
Inputs = Callable[[np.random.Generator], Sequence[Any]]


# Programs --------------------------------------------------------------------------------------------------------


def cross_entropy(logits, labels):
    shifted = logits - nx.reduce_max(logits, axes=[-1], keep_axes=True)
    return nx.mean(nx.logsumexp(shifted, axes=[-1]) - nx.sum(shifted * labels, axes=[-1]))


def perceptron(params, x):
    hidden = nx.max(nx.dot(x, params["w1"]) + params["b1"], 0.0)
    return nx.dot(hidden, params["w2"]) + params["b2"]


def deep(params, x):
    for layer in range(len(params) // 2 - 1):
        x = nx.max(nx.dot(x, params[f"w{layer}"]) + params[f"b{layer}"], 0.0)
    return nx.dot(x, params["w"]) + params["b"]


def convolutional(params, x):
    x = nx.max(nx.conv(x, params["k1"], padding="same") + nx.reshape(params["c1"], (1, 8, 1, 1)), 0.0)
    x = nx.window_max(x, (1, 1, 2, 2), strides=[1, 1, 2, 2])
    x = nx.max(nx.conv(x, params["k2"], padding="same") + nx.reshape(params["c2"], (1, 16, 1, 1)), 0.0)
    x = nx.window_max(x, (1, 1, 2, 2), strides=[1, 1, 2, 2])
    return nx.dot(nx.reshape(x, (x.shape[0], 784)), params["w"]) + params["b"]


def training_step(model, compiler=None):
    """A step of adam, as a person writes it."""
    optimizer = optim.adam(1e-3)

    def step(params, state, x, labels):
        def loss(params):
            return cross_entropy(model(params, x), labels)

        value, slope = nx.value_and_grad(loss)(params)
        updates, state = optimizer.update(slope, state, params)
        return value, optim.apply_updates(params, updates), state

    return nx.jit(step, compiler=compiler), optimizer


def regression(w, x, y):
    margins = y * nx.dot(x, w)
    return nx.mean(nx.log1p(nx.exp(-margins))) + 0.01 * nx.sum(w * w)


def smoothed(a):
    for _ in range(20):
        b = a
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a = b
    return nx.sum(a * a)


def recurrent(w, inputs):
    state, _ = nx.scan(lambda state, x: (nx.tanh(nx.dot(w, state) + x), ()), inputs[0] * 0.0, inputs)
    return nx.sum(state * state)


def valley(x):
    return nx.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


# Inputs ----------------------------------------------------------------------------------------------------------


def normal(random: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Weights or data of normal distribution."""
    return (scale * random.standard_normal(shape)).astype(np.float32)


def one_hot(random: np.random.Generator, count: int) -> np.ndarray:
    """Labels of ten classes."""
    return np.eye(10, dtype=np.float32)[random.integers(0, 10, count)]


def perceptron_inputs(random: np.random.Generator, count: int = 128) -> tuple[dict, np.ndarray, np.ndarray]:
    """Parameters of the perceptron, a batch and its labels."""
    params = {
        "w1": normal(random, 784, 256, scale=0.05),
        "b1": np.zeros(256, np.float32),
        "w2": normal(random, 256, 10, scale=0.1),
        "b2": np.zeros(10, np.float32),
    }
    return params, normal(random, count, 784), one_hot(random, count)


def convolutional_inputs(random: np.random.Generator, count: int = 64) -> tuple[dict, np.ndarray, np.ndarray]:
    """Parameters of the convolutional net, a batch of pictures and their labels."""
    params = {
        "k1": normal(random, 8, 1, 3, 3, scale=0.3),
        "c1": np.zeros(8, np.float32),
        "k2": normal(random, 16, 8, 3, 3, scale=0.1),
        "c2": np.zeros(16, np.float32),
        "w": normal(random, 784, 10, scale=0.05),
        "b": np.zeros(10, np.float32),
    }
    return params, normal(random, count, 1, 28, 28), one_hot(random, count)


def _table(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return normal(random, 50), normal(random, 20_000, 50), np.sign(normal(random, 20_000))


def _plane(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (random.random((400, 400)),)


def _sequence(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return normal(random, 64, 64, scale=0.1), normal(random, 1000, 64)


def _point(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (random.random(50),)


# Measuring -------------------------------------------------------------------------------------------------------


def placed(library: str, value: Any) -> Any:
    """An array, or a dict of them, where a library wants it."""
    if isinstance(value, dict):
        return {key: placed(library, part) for key, part in value.items()}
    return nx.tensor(value) if library == "nxkernel" else jax().numpy.asarray(value)


def _flat(value: Any) -> list[np.ndarray]:
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _flat(value[key])]
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in _flat(part)]
    return [np.asarray(value)]


def _steps(model: Callable[..., Any], theirs: Callable[..., Any], inputs: Inputs, work: Work, settings: Settings):
    """A training step of both libraries, from the same parameters."""
    params, x, labels = inputs(np.random.default_rng(7))
    step, optimizer = training_step(model)
    mine = placed("nxkernel", params)
    given = [mine, optimizer.init(mine), placed("nxkernel", x), placed("nxkernel", labels)]
    calls = {"nxkernel": lambda: step(*given)}
    if jax():
        other = jax().jit(learning_in_jax.training_step(theirs))
        its = placed("JAX", params)
        ready = [its, learning_in_jax.adam_state(its), placed("JAX", x), placed("JAX", labels)]
        calls["JAX"] = lambda: jax().block_until_ready(other(*ready))
        _same(work, _flat(calls["nxkernel"]()[:2]), _flat(calls["JAX"]()[:2]), 2e-3)
    return [work.outcome(timing.interleaved(calls, settings))]


def _compare(
    mine: Callable[..., Any], its: Callable[..., Any], inputs: Inputs, tolerance: float, work: Work, settings: Settings
) -> list[Outcome]:
    values = inputs(np.random.default_rng(7))
    given = [placed("nxkernel", value) for value in values]
    calls = {"nxkernel": lambda: mine(*given)}
    if jax():
        compiled = jax().jit(its())
        ready = [placed("JAX", value) for value in values]
        calls["JAX"] = lambda: jax().block_until_ready(compiled(*ready))
        _same(work, _flat(calls["nxkernel"]()), _flat(calls["JAX"]()), tolerance)
    return [work.outcome(timing.interleaved(calls, settings))]


def _same(work: Work, found: list[np.ndarray], expected: list[np.ndarray], tolerance: float) -> None:
    for one, other in zip(found, expected, strict=True):
        timing.check(work.name, one, other, tolerance)


def _gradient(name: str, mine: Callable[..., Any], inputs: Inputs, tolerance: float) -> Callable[..., list[Outcome]]:
    def its() -> Callable[..., Any]:
        return jax().value_and_grad(getattr(learning_in_jax, name))

    return functools.partial(_compare, nx.value_and_grad(nx.defn(mine)), its, inputs, tolerance)


def _hessian_of_jax() -> Callable[..., Any]:
    return jax().hessian(learning_in_jax.valley)


_GOAL = (Goal(1.0),)
WORKS = [
    Work(
        "learning: a step of a perceptron, 784-256-10, batch 128, adam",
        _GOAL,
        functools.partial(_steps, perceptron, learning_in_jax.perceptron, perceptron_inputs),
    ),
    Work(
        "learning: a step of a convolutional net, 28 × 28, batch 64, adam",
        _GOAL,
        functools.partial(_steps, convolutional, learning_in_jax.convolutional, convolutional_inputs),
    ),
    Work(
        "gradients: logistic regression, 20,000 × 50",
        _GOAL,
        _gradient("regression", regression, _table, 1e-4),
    ),
    Work("gradients: 20 steps of jacobi, 400 × 400 float64", _GOAL, _gradient("smoothed", smoothed, _plane, 1e-9)),
    Work("gradients: a scan of 1000 steps, 64 units", _GOAL, _gradient("recurrent", recurrent, _sequence, 1e-3)),
    Work(
        "gradients: Hessian by 50 parameters",
        _GOAL,
        functools.partial(_compare, nx.hessian(valley), _hessian_of_jax, _point, 1e-9),
    ),
]
