"""The first step of training in a new process: traced, differentiated and compiled, with no code from before."""

from __future__ import annotations

import functools
import tempfile
import time

import numpy as np

from benchmarks.measuring import children
from benchmarks.measuring.work import Goal, Outcome, Settings, Work
from benchmarks.peers import learning_in_jax
from benchmarks.peers.libraries import jax
from benchmarks.works import learning

_LAYERS, _UNITS = 20, 128


def _shallow() -> tuple[dict, np.ndarray, np.ndarray]:
    return learning.perceptron_inputs(np.random.default_rng(7))


def _deep() -> tuple[dict, np.ndarray, np.ndarray]:
    random = np.random.default_rng(7)
    params = {f"w{k}": learning.normal(random, _UNITS, _UNITS, scale=0.1) for k in range(_LAYERS)}
    params |= {f"b{k}": np.zeros(_UNITS, np.float32) for k in range(_LAYERS)}
    params |= {"w": learning.normal(random, _UNITS, 10, scale=0.1), "b": np.zeros(10, np.float32)}
    return params, learning.normal(random, 64, _UNITS), learning.one_hot(random, 64)


_INPUTS = {"perceptron": _shallow, "deep": _deep}


def first_step(library: str, model: str) -> float:
    """Seconds that the first step of a model takes here, in a process that has done nothing else.

    Parameters
    ----------
    library, model : str
        Names in the tables of `learning` and here.
    """
    params, x, labels = (learning.placed(library, value) for value in _INPUTS[model]())
    if library == "nxkernel":
        step, optimizer = learning.training_step(getattr(learning, model))
        state = optimizer.init(params)
    else:
        step = jax().jit(learning_in_jax.training_step(getattr(learning_in_jax, model)))
        state = learning_in_jax.adam_state(params)
    start = time.perf_counter()
    result = step(params, state, x, labels)
    if library == "JAX":
        jax().block_until_ready(result)
    return time.perf_counter() - start


#: Neither library may find code on disk.
_NOTHING_KEPT = {"NXKERNEL_CACHE_DIR": "off", "JAX_ENABLE_COMPILATION_CACHE": "false"}


def _cold(model: str, work: Work, settings: Settings) -> list[Outcome]:
    best: dict[str, float] = {}
    for _ in range(max(2, settings.repeats // 2)):
        for library in ("nxkernel", "JAX") if jax() else ("nxkernel",):
            seconds = children.call(__name__, "first_step", library, model, environment=_NOTHING_KEPT)
            best[library] = min(seconds, best.get(library, float("inf")))
    return [work.outcome(best)]


def _warm(model: str, work: Work, settings: Settings) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {"NXKERNEL_CACHE_DIR": folder}
        cold, *warm = (
            children.call(__name__, "first_step", "nxkernel", model, environment=environment)
            for _ in range(max(3, settings.repeats // 2 + 1))
        )
    return [work.outcome({"nxkernel": min(warm), "cold": cold}, note=f"{cold * 1e3:.0f} ms with an empty disk cache")]


_DEEP = f"a perceptron of {_LAYERS} layers"
WORKS = [
    Work(
        "learning: the first step of a new perceptron, in a new process",
        (Goal(1.0),),
        functools.partial(_cold, "perceptron"),
    ),
    Work(f"learning: the first step of {_DEEP}, in a new process", (Goal(1.0),), functools.partial(_cold, "deep")),
    Work(
        f"learning: the first step of {_DEEP}, in a new process, warm disk cache",
        (Goal(0.2, "cold"),),
        functools.partial(_warm, "deep"),
        "tracing, and loading LLVM and BLAS, is what a process does in any case",
    ),
]
