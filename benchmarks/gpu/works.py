"""The works of the GPU's table, and how each is measured: results are compared before anything is timed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.gpu import in_torch
from benchmarks.gpu import programs as gpu_programs
from benchmarks.gpu import timing as gpu_timing
from benchmarks.gpu.libraries import Library, torch
from benchmarks.gpu.programs import Program
from benchmarks.measuring import timing
from benchmarks.measuring.work import BETTER, COPY, SUBJECT, Goal, Outcome, Settings, Work
from benchmarks.peers import learning_in_jax
from benchmarks.peers.libraries import jax
from benchmarks.works import compile_time, learning, programs

#: Of larger results only some elements are compared.
_COMPARED = 1 << 22
#: The share of whole numbers that may differ: where an element occurs twice, either may be its place.
_STRAYS = 1e-3


@dataclass(frozen=True)
class Ground:
    """What is measured on.

    Parameters
    ----------
    libraries : sequence of Library
        The contenders.
    bandwidth : float or None
        Bytes a second of a copy on the device; None where that says nothing.
    small : bool
        Whether the works are to be so small that the simulator does them.
    """

    libraries: Sequence[Library]
    bandwidth: float | None = None
    small: bool = False


def works(ground: Ground) -> list[Work]:
    """All works, in the order of the table."""
    small = ground.small
    rows, columns = (12, 40) if small else (65_536, 4_096)
    nearly_a_copy, best = (Goal(1.11, COPY),), (Goal(1.0, BETTER),)
    tables = (
        (gpu_programs.bandwidth_bound(rows, columns), nearly_a_copy),
        (gpu_programs.rows(rows, columns), best),
        (gpu_programs.products(*((16, 16) if small else (4_096, 8_192))), best),
        (gpu_programs.loops(*(((10,), 8, 2) if small else ((4_096, 256), 4_096, 20))), best),
    )
    throughput = [
        Work(name, goals, functools.partial(_throughput, ground, program))
        for table, goals in tables
        for name, program in table.items()
    ]
    batches = ((4, 2) if small else (128, 64), *(() if small else ((8_192, 1_024),)))
    return [
        *throughput,
        *(Work(*described) for batch in batches for described in _training(ground, best, *batch)),
        Work("call on 3 elements, the last of many waited for", best, functools.partial(_calls, ground, True)),
        Work("call on 3 elements, each waited for", best, functools.partial(_calls, ground, False)),
        Work("first call of a new function of 50 operations", best, functools.partial(_first_calls, ground)),
        Work("the same function (50 operations) at a new shape", best, functools.partial(_new_shapes, ground)),
    ]


# Throughput ------------------------------------------------------------------------------------------------------


def _throughput(ground: Ground, program: Program, work: Work, settings: Settings) -> list[Outcome]:
    arguments = program.arguments()
    expected = program.expected(arguments)

    def prepared(library: Library) -> Callable[[], Any]:
        placed = [library.place(argument) for argument in arguments]
        return functools.partial(program.compiled(library), *placed)

    figures, notes = _measured(ground, prepared, expected, program.tolerance, settings)
    mine = figures.get(SUBJECT)
    if program.moved and ground.bandwidth:
        figures[COPY] = program.moved / ground.bandwidth
        if mine:
            rate = program.moved / mine
            notes.insert(0, f"{rate / 1e12:.2f} TB/s, {rate / ground.bandwidth:.0%} of a copy")
    elif program.operations and mine:
        notes.insert(0, f"{program.operations / mine / 1e12:.3g} TFLOP/s")
    return [work.outcome(figures, note="; ".join(notes))]


def _training(ground: Ground, goals: tuple[Goal, ...], flat: int, pictures: int) -> list[tuple[Any, ...]]:
    """Names, goals and measures of training steps with batches of a size."""
    models = (
        (f"a step of a perceptron, 784-256-10, batch {flat:,}, adam", "perceptron", learning.perceptron_inputs, flat),
        (
            f"a step of a convolutional net, 28 × 28, batch {pictures:,}, adam",
            "convolutional",
            learning.convolutional_inputs,
            pictures,
        ),
    )
    return [
        (name, goals, functools.partial(_steps, ground, model, functools.partial(inputs, count=count)))
        for name, model, inputs, count in models
    ]


def _steps(ground: Ground, model: str, inputs: learning.Inputs, work: Work, settings: Settings) -> list[Outcome]:
    values = inputs(np.random.default_rng(7))

    def prepared(library: Library) -> Callable[[], Any]:
        params, x, labels = map(library.placed, values)
        if library.name == SUBJECT:
            step, optimizer = learning.training_step(getattr(learning, model), compiler="numba_cuda")
            state = optimizer.init(params)
        elif library.name == "JAX":
            step = library.compiled(learning_in_jax.training_step(getattr(learning_in_jax, model)))
            state = learning_in_jax.adam_state(params)
        else:
            step = in_torch.training_step(getattr(in_torch, model), library.compiled)
            state = in_torch.adam_state(params)
        return lambda: step(params, state, x, labels)[:2]

    figures, notes = _measured(ground, prepared, None, 5e-3, settings)
    return [work.outcome(figures, note="; ".join(notes))]


def _measured(
    ground: Ground,
    prepared: Callable[[Library], Callable[[], Any]],
    expected: list[np.ndarray] | None,
    tolerance: float,
    settings: Settings,
) -> tuple[dict[str, float], list[str]]:
    """Seconds a call of every contender, and of those that failed what they say.

    Parameters
    ----------
    ground : Ground
    prepared : callable
        Takes a contender and gives what it calls.
    expected : list of numpy.ndarray or None
        What calls compute; None for what the first contender computes.
    tolerance : float
        For :func:`same`.
    settings : Settings
    """
    calls, notes = {}, []
    for library in ground.libraries:
        try:
            call = prepared(library)
            found = library.arrays(call())
            if expected is None:
                expected = found
            else:
                same(found, expected, tolerance)
        except Exception as error:
            notes.append(gpu_timing.failure(library.name, error))
        else:
            calls[library.name] = (call, library.wait)
    figures, failed = gpu_timing.interleaved(calls, settings)
    return figures, [*notes, *failed]


def same(found: Sequence[np.ndarray], expected: Sequence[np.ndarray], tolerance: float) -> None:
    """Raise AssertionError where results are not the expected ones, of large ones where some elements are not.

    Parameters
    ----------
    found, expected : sequence of numpy.ndarray
    tolerance : float
        Relative to the largest of the expected values.
    """
    if len(found) != len(expected):
        raise AssertionError(f"{len(found)} results, expected {len(expected)}")
    for ours, theirs in zip(found, expected, strict=True):
        if ours.size != theirs.size:
            raise AssertionError(f"a result of shape {ours.shape}, expected {theirs.shape}")
        some = slice(None, None, max(1, theirs.size // _COMPARED) | 1)
        mine, wanted = (np.asarray(array).reshape(-1)[some] for array in (ours, theirs))
        if wanted.dtype.kind in "iu":
            share = float(np.mean(mine != wanted))
            if share > _STRAYS:
                raise AssertionError(f"{share:.2%} of the whole numbers differ")
        else:
            timing.check("a result", mine.astype(np.float64), wanted.astype(np.float64), tolerance)


# Calls -----------------------------------------------------------------------------------------------------------


def _calls(ground: Ground, together: bool, work: Work, settings: Settings) -> list[Outcome]:
    x, y = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)

    def prepared(library: Library) -> Callable[[], Any]:
        called = functools.partial(library.compiled(_scaled_sum), library.place(x), library.place(y))

        def waited() -> Any:
            result = called()
            library.wait(result)
            return result

        return called if together else waited

    figures, notes = _measured(ground, prepared, [x * y + 1], 1e-6, settings)
    return [work.outcome(figures, note="; ".join(notes))]


def _scaled_sum(x, y):
    return x * y + 1


# Compilation -----------------------------------------------------------------------------------------------------


def _written(library: Library, text: str, label: str) -> Callable[..., Any]:
    """The function of a text, compiled by a library when it is first called."""
    modules: Mapping[str, Callable[[], tuple[Any, Callable[..., Any]]]] = {
        SUBJECT: lambda: (gpu_programs.nx, gpu_programs.nx.select),
        "JAX": lambda: (jax().numpy, jax().numpy.where),
        "torch.compile": lambda: (torch(), torch().where),
    }
    return library.compiled(programs.build(text, *modules[library.name](), f"{label} {library.name}"))


def _first_call(library: Library, call: Callable[..., Any], arguments: Sequence[np.ndarray]) -> tuple[float, Any]:
    """Seconds until the result of a call is there, and the result."""
    placed = [library.place(argument) for argument in arguments]
    library.wait(placed)
    start = time.perf_counter()
    result = call(*placed)
    library.wait(result)
    return time.perf_counter() - start, result


def _first_calls(ground: Ground, work: Work, settings: Settings) -> list[Outcome]:
    figures, notes = {}, []
    operations = 5 if ground.small else 50
    arguments = compile_time.data(60 if ground.small else 1000)
    for library in ground.libraries:
        try:
            for seed in range(-1, settings.repeats):  # the first starts the compiler
                label = f"GPU, {operations} operations, {seed}"
                text = programs.source("f", operations, seed)
                seconds, result = _first_call(library, _written(library, text, label), arguments)
                expected = programs.build(text, np, np.where, f"{label} NumPy")(*arguments)
                same(library.arrays(result), [expected], 1e-4)
                if seed >= 0:
                    figures[library.name] = min(seconds, figures.get(library.name, float("inf")))
        except Exception as error:
            notes.append(gpu_timing.failure(library.name, error))
    return [work.outcome(figures, note="; ".join(notes))]


def _new_shapes(ground: Ground, work: Work, settings: Settings) -> list[Outcome]:
    figures, notes = {}, []
    operations = 5 if ground.small else 50
    text = programs.source("f", operations, 1000)
    side = 3 if ground.small else 40
    for library in ground.libraries:
        try:
            call = _written(library, text, "GPU, new shapes")
            for index in range(settings.repeats + 1):  # the first compiles
                arguments = compile_time.data(side + index, side + 10 + 3 * index)
                seconds, result = _first_call(library, call, arguments)
                expected = programs.build(text, np, np.where, "GPU, new shapes, NumPy")(*arguments)
                same(library.arrays(result), [expected], 1e-4)
                if index:
                    figures[library.name] = min(seconds, figures.get(library.name, float("inf")))
        except Exception as error:
            notes.append(gpu_timing.failure(library.name, error))
    return [work.outcome(figures, note="; ".join(notes))]
