"""What a first call costs: of a new function, at a new shape, with a new option value, of a very long chain."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import nxkernel as nx
from benchmarks.measuring import children, process_memory, timing
from benchmarks.measuring.work import Goal, Outcome, Settings, Work
from benchmarks.peers.libraries import jax
from benchmarks.works import programs

_TOLERANCE = 1e-4
_CHAIN = 800
#: XLA takes all memory there is for the chain; beyond this it is stopped.
_XLA_BYTES = 20 * 10**9


def data(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Two arguments of a generated function."""
    x = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return x, (x * x - 0.5).astype(np.float32)


class _Text:
    """The text of a function, and new compiled functions made of it."""

    def __init__(self, text: str, label: str) -> None:
        self.reference = programs.build(text, np, np.where, f"{label} NumPy")
        self._plain = {"nxkernel": programs.build(text, nx, nx.select, f"{label} nxkernel")}
        if jax():
            self._plain["JAX"] = programs.build(text, jax().numpy, jax().numpy.where, f"{label} JAX")
        self.libraries = tuple(self._plain)

    def compiled(self, library: str, static: tuple[str, ...] = ()) -> Callable[..., Any]:
        """A new compiled function that waits for its result; nothing is traced before it is called."""
        if library == "nxkernel":
            return nx.defn(self._plain[library])
        jitted = jax().jit(self._plain[library], static_argnames=static)
        return lambda *arguments, **options: jax().block_until_ready(jitted(*arguments, **options))


def place(library: str, arguments: tuple[np.ndarray, ...]) -> list[Any]:
    """The arguments where a library wants them."""
    convert = nx.tensor if library == "nxkernel" else jax().numpy.asarray
    return [convert(argument) for argument in arguments]


def _first_calls(operations: int, work: Work, settings: Settings) -> list[Outcome]:
    arguments = data(1000)
    best: dict[str, float] = {}
    for seed in range(-1, settings.repeats):  # the first is a warm-up: both start their compilers
        text = _Text(programs.source("f", operations, seed), f"{operations} operations, {seed}")
        expected = text.reference(*arguments)
        for library in text.libraries:
            inputs = place(library, arguments)
            start = time.perf_counter()
            function = text.compiled(library)
            result = function(*inputs)
            seconds = time.perf_counter() - start
            timing.check(f"{work.name}, {library}", result, expected, _TOLERANCE)
            if library == "nxkernel" and not function.cache_info().compiled:
                raise AssertionError(f"function {seed} of {operations} operations was not new: nothing was compiled")
            if seed >= 0:
                best[library] = min(seconds, best.get(library, float("inf")))
    return [work.outcome(best)]


def _variations(
    declared: str, call: Callable[[int], tuple[tuple[np.ndarray, ...], dict]], work: Work, settings: Settings
) -> list[Outcome]:
    """Time calls of one compiled function, each with a shape or an option value that is new to it."""
    text = _Text(programs.source("f", 50, 1000, declared), work.name)
    best: dict[str, float] = {}
    functions = {library: text.compiled(library, tuple(call(0)[1])) for library in text.libraries}
    for index in range(settings.repeats + 1):  # the first compiles
        arguments, options = call(index)
        expected = text.reference(*arguments, **options)
        for library, function in functions.items():
            varied = functools.partial(function, *place(library, arguments), **options)
            seconds = timing.once(varied)
            timing.check(f"{work.name}, {library}", varied(), expected, _TOLERANCE)
            if index:
                best[library] = min(seconds, best.get(library, float("inf")))
    return [work.outcome(best)]


def run_chain(library: str) -> dict[str, float]:
    """Compile and run the chain here; gives seconds and the process' peak in megabytes."""
    text = programs.chain(_CHAIN)
    arguments = (*data(1000), np.linspace(0.3, 0.7, 1000, dtype=np.float32))
    reference = programs.build(text, np, np.where, "chain NumPy")
    if library == "nxkernel":
        function = nx.defn(programs.build(text, nx, nx.select, "chain nxkernel"))
    else:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_XLA_BYTES, _XLA_BYTES))
        function = jax().jit(programs.build(text, jax().numpy, jax().numpy.where, "chain JAX"))
    inputs = place(library, arguments)
    start = time.perf_counter()
    result = np.asarray(function(*inputs))
    seconds = time.perf_counter() - start
    timing.check(f"chain, {library}", result, reference(*arguments), _TOLERANCE)
    return {"seconds": seconds, "megabytes": process_memory.peak()}


def _chain(work: Work, settings: Settings) -> list[Outcome]:
    found = {"nxkernel": children.call(__name__, "run_chain", "nxkernel")}
    note = "" if settings.with_xla_chain else "JAX only with --with-xla-chain"
    if settings.with_xla_chain and jax():
        try:
            found["JAX"] = children.call(__name__, "run_chain", "JAX")
        except children.ChildError:
            note = f"XLA was stopped at {_XLA_BYTES / 1e9:.0f} GB"
    seconds, megabytes = work.goals
    return [
        Outcome(f"{work.name}: first call", {k: v["seconds"] for k, v in found.items()}, (seconds,), "s", note),
        Outcome(f"{work.name}: peak of the process", {k: v["megabytes"] for k, v in found.items()}, (megabytes,), "MB"),
    ]


def _shapes(index: int) -> tuple[tuple[np.ndarray, ...], dict]:
    return data(40 + index, 50 + 3 * index), {}


def _scales(index: int) -> tuple[tuple[np.ndarray, ...], dict]:
    return data(1000), {"scale": 1.0 + index / 7}


WORKS = [
    *(
        Work(
            f"first call of a new function of {operations} operations",
            (Goal(1.0),),
            functools.partial(_first_calls, operations),
        )
        for operations in (5, 50, 200)
    ),
    Work("the same function (50 operations) at a new shape", (Goal(0.2),), functools.partial(_variations, "", _shapes)),
    Work(
        "the same function (50 operations), new option value",
        (Goal(0.2),),
        functools.partial(_variations, "*, scale=1.0", _scales),
    ),
    Work(f"chain of {_CHAIN} multiply-adds and exps", (Goal(2.0, ""), Goal(1000.0, "")), _chain),
]
