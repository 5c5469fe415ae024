"""A hundred steps of each optimizer, beside Optax's; golden/make_trajectories.py made the numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import optim

GOLDEN = json.loads((Path(__file__).parent / "golden" / "trajectories.json").read_text())
DECAYS = {"w": True, "b": False}
COSINE = optim.cosine_decay_schedule(0.1, 60, 0.1)

OPTIMIZERS = {
    "sgd": optim.sgd(0.05),
    "sgd momentum": optim.sgd(0.02, 0.9),
    "sgd nesterov": optim.sgd(0.02, 0.9, nesterov=True),
    "adam": optim.adam(0.1),
    "adam eps_root": optim.adam(0.05, 0.8, 0.95, 1e-3, 1e-4),
    "nadam": optim.nadam(0.1),
    "adamw": optim.adamw(0.1, weight_decay=0.05),
    "adamw mask": optim.adamw(0.1, weight_decay=0.05, mask=DECAYS),
    "adamax": optim.adamax(0.1),
    "adabelief": optim.adabelief(0.1),
    "radam": optim.radam(0.1),
    "rmsprop": optim.rmsprop(0.02),
    "rmsprop centered": optim.rmsprop(0.02, 0.8, 1e-6, 0.1, centered=True, momentum=0.5, nesterov=True),
    "rmsprop eps outside": optim.rmsprop(0.02, eps_in_sqrt=False, initial=1.0),
    "adagrad": optim.adagrad(0.3),
    "lion": optim.lion(0.01),
    "lamb": optim.lamb(0.05, weight_decay=0.01),
    "cosine": optim.sgd(COSINE),
    "clip": optim.chain(optim.clip(0.5), optim.sgd(0.1)),
    "clip by global norm": optim.chain(optim.clip_by_global_norm(0.7), optim.adam(0.1)),
    "multi_steps": optim.multi_steps(optim.adam(0.1), 4),
    "masked": optim.masked(optim.adam(0.1), DECAYS),
}
SCHEDULES = {
    "polynomial": optim.polynomial_schedule(1.0, 0.1, 2, 20, 5),
    "linear": optim.linear_schedule(0.1, 1.0, 30),
    "exponential": optim.exponential_decay(1.0, 10, 0.5, 5),
    "exponential staircase": optim.exponential_decay(1.0, 10, 0.5, 5, staircase=True, end=0.2),
    "cosine": optim.cosine_decay_schedule(1.0, 30, 0.1, 1.5),
    "piecewise": optim.piecewise_constant_schedule(1.0, {10: 0.5, 30: 0.1}),
    "warmup cosine": optim.warmup_cosine_decay_schedule(0.1, 1.0, 10, 40, 0.05),
    "one cycle": optim.one_cycle_schedule(40, 1.0),
    "joined": optim.join_schedules([optim.constant_schedule(0.3), optim.linear_schedule(1.0, 0.0, 10)], [15]),
}


def loss(params, turn):
    x = nx.sin(nx.reshape(nx.iota((6,), type="f64"), (2, 3)) + turn)
    quadratic = nx.sum((params["w"] * x) ** 2) + 0.3 * nx.sum(nx.sum(params["w"], axes=[1]) * params["b"])
    return quadratic + nx.sum(nx.cos(params["b"] + turn / 10) + params["b"] ** 2 + params["b"] ** 4)


slope = nx.jit(nx.grad(loss))


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_hundred_steps_are_those_of_optax(name):
    optimizer = OPTIMIZERS[name]

    @nx.jit
    def step(params, state, turn):
        updates, state = optimizer.update(slope.__nx_function__(params, turn), state, params)
        return optim.apply_updates(params, updates), state

    params = {key: nx.tensor(np.array(value)) for key, value in GOLDEN["start"].items()}
    state = optimizer.init(params)
    found = []
    with nx.assert_compiles(1):
        for turn in range(1, 101):
            params, state = step(params, state, nx.tensor(turn, type="f64"))
            if turn in GOLDEN["steps"]:
                found.append({key: value.to_numpy() for key, value in params.items()})
    # Schedules are computed in f32; all else in f64. Errors of a step grow where trajectories are steep.
    exact = 1e-6 if name == "cosine" else 1e-10
    for kept, expected in zip(found, GOLDEN["optimizers"][name], strict=True):
        for key in ("w", "b"):
            np.testing.assert_allclose(kept[key], expected[key], rtol=exact, atol=exact)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_without_compilation_the_first_steps_are_the_same(name):
    optimizer = OPTIMIZERS[name]
    params = {key: nx.tensor(np.array(value)) for key, value in GOLDEN["start"].items()}
    state = optimizer.init(params)
    for turn in (1.0, 2.0):
        updates, state = optimizer.update(slope(params, nx.tensor(turn, type="f64")), state, params)
        params = optim.apply_updates(params, updates)
    for key, expected in GOLDEN["optimizers"][name][1].items():
        np.testing.assert_allclose(params[key].to_numpy(), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_those_of_optax(name):
    expected = GOLDEN["schedules"][name]
    np.testing.assert_allclose(SCHEDULES[name](nx.iota((51,))).to_numpy(), expected, rtol=2e-6, atol=1e-7)
    traced = nx.jit(SCHEDULES[name])
    np.testing.assert_allclose(
        [float(traced(count)) for count in (0, 7, 30)], [expected[c] for c in (0, 7, 30)], 2e-6, 1e-7
    )
