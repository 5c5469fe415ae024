"""Makes ``trajectories.json``: what Optax does in 100 steps; run it with Optax and JAX installed.

Every trajectory is in f64 from the same parameters along the gradients of `slope`, which test_trajectories.py has in
nxkernel. Parameters after steps 1, 2, 3, 10, 50 and 100 are kept. Optax 0.2.8 and JAX 0.10 made the numbers.
"""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import optax

jax.config.update("jax_enable_x64", True)

KEPT = (1, 2, 3, 10, 50, 100)
START = {"w": [[1.5, -0.7, 0.3], [2.0, -1.2, 0.9]], "b": [0.5, -0.25]}
DECAYS = {"w": True, "b": False}
COSINE = optax.cosine_decay_schedule(0.1, 60, 0.1)

OPTIMIZERS = {
    "sgd": optax.sgd(0.05),
    "sgd momentum": optax.sgd(0.02, 0.9),
    "sgd nesterov": optax.sgd(0.02, 0.9, nesterov=True),
    "adam": optax.adam(0.1),
    "adam eps_root": optax.adam(0.05, 0.8, 0.95, 1e-3, 1e-4),
    "nadam": optax.nadam(0.1),
    "adamw": optax.adamw(0.1, weight_decay=0.05),
    "adamw mask": optax.adamw(0.1, weight_decay=0.05, mask=DECAYS),
    "adamax": optax.adamax(0.1),
    "adabelief": optax.adabelief(0.1),
    "radam": optax.radam(0.1),
    "rmsprop": optax.rmsprop(0.02),
    "rmsprop centered": optax.rmsprop(0.02, 0.8, 1e-6, 0.1, centered=True, momentum=0.5, nesterov=True),
    "rmsprop eps outside": optax.rmsprop(0.02, eps_in_sqrt=False, initial_scale=1.0),
    "adagrad": optax.adagrad(0.3),
    "lion": optax.lion(0.01),
    "lamb": optax.lamb(0.05, weight_decay=0.01),
    "cosine": optax.sgd(COSINE),
    "clip": optax.chain(optax.clip(0.5), optax.sgd(0.1)),
    "clip by global norm": optax.chain(optax.clip_by_global_norm(0.7), optax.adam(0.1)),
    "multi_steps": optax.MultiSteps(optax.adam(0.1), 4, accumulator_dtype=jnp.float64),
    "masked": optax.masked(optax.adam(0.1), DECAYS),
}
SCHEDULES = {
    "polynomial": optax.polynomial_schedule(1.0, 0.1, 2, 20, 5),
    "linear": optax.linear_schedule(0.1, 1.0, 30),
    "exponential": optax.exponential_decay(1.0, 10, 0.5, 5),
    "exponential staircase": optax.exponential_decay(1.0, 10, 0.5, 5, staircase=True, end_value=0.2),
    "cosine": optax.cosine_decay_schedule(1.0, 30, 0.1, 1.5),
    "piecewise": optax.piecewise_constant_schedule(1.0, {10: 0.5, 30: 0.1}),
    "warmup cosine": optax.warmup_cosine_decay_schedule(0.1, 1.0, 10, 40, 0.05),
    "one cycle": optax.cosine_onecycle_schedule(40, 1.0),
    "joined": optax.join_schedules([optax.constant_schedule(0.3), optax.linear_schedule(1.0, 0.0, 10)], [15]),
}


def loss(params, turn):
    x = jnp.sin(jnp.arange(6.0).reshape(2, 3) + turn)
    quadratic = jnp.sum((params["w"] * x) ** 2) + 0.3 * jnp.sum(jnp.sum(params["w"], axis=1) * params["b"])
    return quadratic + jnp.sum(jnp.cos(params["b"] + turn / 10) + params["b"] ** 2 + params["b"] ** 4)


slope = jax.jit(jax.grad(loss))


def trajectory(optimizer):
    params = {name: jnp.asarray(value, jnp.float64) for name, value in START.items()}
    state = optimizer.init(params)
    kept = []
    for turn in range(1, 101):
        grads = slope(params, float(turn))
        updates, state = optimizer.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        if turn in KEPT:
            kept.append({name: value.tolist() for name, value in params.items()})
    return kept


if __name__ == "__main__":
    made = {
        "steps": KEPT,
        "start": START,
        "optimizers": {name: trajectory(optimizer) for name, optimizer in OPTIMIZERS.items()},
        "schedules": {name: [float(schedule(count)) for count in range(51)] for name, schedule in SCHEDULES.items()},
    }
    Path(__file__).with_name("trajectories.json").write_text(json.dumps(made, indent=0) + "\n")
