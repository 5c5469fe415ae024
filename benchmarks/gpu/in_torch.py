"""The programs of the GPU's table as people write them for PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.gpu.libraries import torch


def exp_chain(x):
    return torch().exp(x) * x + 1


def mixed(x, y):
    return torch().where(x > y, x * y + 1, x - y) * 0.5


def total(x):
    return torch().sum(x)


def squares(x, y):
    return torch().sum((x - y) ** 2)


def row_sums(x):
    return torch().sum(x, 1)


def column_sums(x):
    return torch().sum(x, 0)


def row_argmax(x):
    return torch().argmax(x, 1)


def softmax(x):
    return torch().softmax(x, -1)


def layer_norm(x, gain, bias):
    return torch().nn.functional.layer_norm(x, x.shape[-1:], gain, bias, 1e-5)


def transposed(x, y):
    return x + y.T


def layer(x, w, b):
    return torch().relu(x @ w + b)


# Programs with loops: what is compiled is a step, as loops that Python runs are written out otherwise.


def jacobi(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """The program whose step is compiled."""

    def relaxed(a):
        return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

    @compiled
    def step(a, b):
        b[1:-1, 1:-1] = relaxed(a)
        a[1:-1, 1:-1] = relaxed(b)

    def program(a, b, *, steps):
        a, b = a.clone(), b.clone()
        for _ in range(steps):
            step(a, b)
        return a, b

    return program


def n_body(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """The program whose step is compiled."""

    def accelerations(mass, place, softening):
        apart = place[:, :, None] - place[:, None, :]
        square = torch().sum(apart * apart, 0) + softening**2
        return torch().sum(apart * (mass[:, None] / (square * torch().sqrt(square))), 1)

    pulled = compiled(accelerations)

    @compiled
    def step(mass, place, speed, pull, dt, softening):
        speed = speed + pull * (dt / 2.0)
        place = place + speed * dt
        pull = accelerations(mass, place, softening)
        return place, speed + pull * (dt / 2.0), pull

    def program(mass, place, speed, *, steps, dt, softening):
        pull = pulled(mass, place, softening)
        for _ in range(steps):
            place, speed, pull = step(mass, place, speed, pull, dt, softening)
        return place, speed

    return program


# Training --------------------------------------------------------------------------------------------------------


def cross_entropy(logits, labels):
    return -torch().mean(torch().sum(torch().log_softmax(logits, -1) * labels, -1))


def perceptron(params, x):
    hidden = torch().relu(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def convolutional(params, x):
    functional = torch().nn.functional

    def layer(x, kernel, bias):
        return functional.max_pool2d(torch().relu(functional.conv2d(x, kernel, bias, padding=1)), 2)

    x = layer(x, params["k1"], params["c1"])
    x = layer(x, params["k2"], params["c2"])
    return x.reshape(x.shape[0], 784) @ params["w"] + params["b"]


def adam_state(params):
    """Both moments and the count of steps."""
    zeros = {name: torch().zeros_like(value) for name, value in params.items()}
    return zeros, dict(zeros), torch().zeros((), device=next(iter(params.values())).device)


def training_step(model: Callable[..., Any], compiled: Callable[..., Any], rate: float = 1e-3) -> Callable[..., Any]:
    """A step of adam: the loss with its gradient is compiled, and so is the update of all parameters."""

    @compiled
    def loss(params, x, labels):
        return cross_entropy(model(params, x), labels)

    @compiled
    def updated(params, slopes, first, second, count):
        count = count + 1
        first = {name: 0.9 * m + 0.1 * slopes[name] for name, m in first.items()}
        second = {name: 0.999 * v + 0.001 * slopes[name] ** 2 for name, v in second.items()}
        past, past_square = 1 - 0.9**count, 1 - 0.999**count
        moved = {
            name: value - rate * (first[name] / past) / (torch().sqrt(second[name] / past_square) + 1e-8)
            for name, value in params.items()
        }
        return moved, (first, second, count)

    def step(params, state, x, labels):
        leaves = {name: value.detach().requires_grad_() for name, value in params.items()}
        value = loss(leaves, x, labels)
        slopes = dict(zip(leaves, torch().autograd.grad(value, list(leaves.values())), strict=True))
        with torch().no_grad():
            moved, state = updated(params, slopes, *state)
        return value.detach(), moved, state

    return step
