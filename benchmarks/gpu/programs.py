"""The programs of the GPU's table: for nxkernel, and for NumPy and JAX, with the arguments of each."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

import nxkernel as nx
from benchmarks.gpu import in_torch as gpu_in_torch
from benchmarks.gpu.libraries import Library
from benchmarks.measuring.work import SUBJECT
from benchmarks.peers import libraries
from benchmarks.works import reductions


@dataclass(frozen=True)
class Program:
    """The same program in all spellings.

    Parameters
    ----------
    definition : callable
        For nxkernel, as a plain function.
    with_arrays : callable
        For NumPy and JAX: takes the module (``numpy`` or ``jax.numpy``) and the arguments.
    in_torch : callable
        For PyTorch.
    inputs : callable
        Takes a random generator and gives the arguments as NumPy arrays.
    tolerance : float
        How far results may lie apart, relative to the largest value.
    moved : int
        Bytes that it has to read and write; 0 where that does not bound it.
    operations : int
        Arithmetic operations; 0 where they do not bound it.
    options : mapping
        What is fixed in the program.
    in_jax : callable, optional
        Where JAX has another spelling than NumPy; takes the arguments.
    steps_in_torch : bool
        Whether `in_torch` takes what compiles a function and gives the program, whose parts it has compiled.
    """

    definition: Callable[..., Any]
    with_arrays: Callable[..., Any]
    in_torch: Callable[..., Any]
    inputs: Callable[[np.random.Generator], tuple[np.ndarray, ...]]
    tolerance: float = 1e-4
    moved: int = 0
    operations: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    in_jax: Callable[..., Any] | None = None
    steps_in_torch: bool = False

    def arguments(self) -> tuple[np.ndarray, ...]:
        """The arguments, the same in every run."""
        return self.inputs(np.random.default_rng(7))

    def expected(self, arguments: tuple[np.ndarray, ...]) -> list[np.ndarray]:
        """What NumPy gives."""
        result = self.with_arrays(np, *arguments, **self.options)
        return list(result) if isinstance(result, tuple) else [np.asarray(result)]

    def compiled(self, library: Library) -> Callable[..., Any]:
        """The program of a library."""
        if library.name == SUBJECT:
            return library.compiled(self.definition, **self.options)
        if library.name == "JAX":
            spelled = self.in_jax or functools.partial(self.with_arrays, libraries.jax().numpy)
            return library.compiled(spelled, **self.options)
        if self.steps_in_torch:
            return functools.partial(self.in_torch(library.compiled), **self.options)
        return library.compiled(self.in_torch, **self.options)


# Programs --------------------------------------------------------------------------------------------------------


def exp_chain(x):
    return nx.exp(x) * x + 1


def mixed(x, y):
    return nx.select(x > y, x * y + 1, x - y) * 0.5


def squares(x, y):
    return nx.sum((x - y) ** 2)


def transposed(x, y):
    return x + nx.transpose(y)


def layer(x, w, b):
    return nx.max(nx.dot(x, w) + b, 0.0)


def layer_with_arrays(xp, x, w, b):
    if xp is np:
        return np.maximum(x.astype(np.float32) @ w.astype(np.float32) + b.astype(np.float32), 0)
    return xp.maximum(x @ w + b, 0)


def jacobi(a, b, *, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a, b


def jacobi_in_numpy(xp, a, b, *, steps):
    return jacobi(a.copy(), b.copy(), steps=steps)


def jacobi_in_jax(a, b, *, steps):
    def relaxed(a):
        return 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

    def body(_, state):
        a, b = state
        b = b.at[1:-1, 1:-1].set(relaxed(a))
        return a.at[1:-1, 1:-1].set(relaxed(b)), b

    return libraries.jax().lax.fori_loop(0, steps, body, (a, b))


def n_body(mass, place, speed, *, steps, dt, softening):
    def accelerations(place):
        apart = place[:, :, None] - place[:, None, :]
        square = nx.sum(apart * apart, axes=[0]) + softening**2
        return nx.sum(apart * (mass[:, None] / (square * nx.sqrt(square))), axes=[1])

    pull = accelerations(place)
    for _ in range(steps):
        speed = speed + pull * (dt / 2.0)
        place = place + speed * dt
        pull = accelerations(place)
        speed = speed + pull * (dt / 2.0)
    return place, speed


def _pulled(xp, mass, place, softening):
    apart = place[:, :, None] - place[:, None, :]
    square = xp.sum(apart * apart, axis=0) + softening**2
    return xp.sum(apart * (mass[:, None] / (square * xp.sqrt(square))), axis=1)


def _moved(xp, mass, state, dt, softening):
    place, speed, pull = state
    speed = speed + pull * (dt / 2.0)
    place = place + speed * dt
    pull = _pulled(xp, mass, place, softening)
    return place, speed + pull * (dt / 2.0), pull


def n_body_in_numpy(xp, mass, place, speed, *, steps, dt, softening):
    state = place, speed, _pulled(xp, mass, place, softening)
    for _ in range(steps):
        state = _moved(xp, mass, state, dt, softening)
    return state[:2]


def n_body_in_jax(mass, place, speed, *, steps, dt, softening):
    xp = libraries.jax().numpy

    def body(_, state):
        return _moved(xp, mass, state, dt, softening)

    begin = place, speed, _pulled(xp, mass, place, softening)
    return libraries.jax().lax.fori_loop(0, steps, body, begin)[:2]


# Arguments -------------------------------------------------------------------------------------------------------


@functools.cache
def _numbers(count: int) -> np.ndarray:
    """Numbers from 0 to 1, made once for all programs that read so many."""
    return np.random.default_rng(7).random(count, dtype=np.float32)


def _arrays(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], tuple[np.ndarray, ...]]:
    """Arrays of numbers from 0 to 1: views of the same ones, the second from the last to the first."""

    def made(random: np.random.Generator) -> tuple[np.ndarray, ...]:
        return tuple(
            np.ascontiguousarray(_numbers(math.prod(shape))[:: -1 if number % 2 else 1]).reshape(shape)
            for number, shape in enumerate(shapes)
        )

    return made


def _layer(rows: int, inner: int, columns: int, dtype: Any) -> Callable[[np.random.Generator], tuple[np.ndarray, ...]]:
    def made(random: np.random.Generator) -> tuple[np.ndarray, ...]:
        return tuple(
            (random.standard_normal(shape, dtype=np.float32) * scale).astype(dtype)
            for shape, scale in (((rows, inner), 1.0), ((inner, columns), inner**-0.5), ((columns,), 1.0))
        )

    return made


def _bodies(count: int) -> Callable[[np.random.Generator], tuple[np.ndarray, ...]]:
    def made(random: np.random.Generator) -> tuple[np.ndarray, ...]:
        place, speed = random.standard_normal((2, 3, count), dtype=np.float32)
        return np.full(count, 20 / count, np.float32), place, speed

    return made


def _plain(definition: Any) -> Callable[..., Any]:
    return definition.__nx_function__


# The table -------------------------------------------------------------------------------------------------------


def bandwidth_bound(rows: int, columns: int) -> dict[str, Program]:
    """Programs that are as fast as memory, over a matrix of float32, by name."""
    count, size = rows * columns, 4 * rows * columns
    plane, flat = _arrays((rows, columns)), _arrays((count,))
    matrix = f"{rows:,} × {columns:,}"
    side = math.isqrt(count)
    return {
        f"exp(x) * x + 1, {_count(count)}": Program(
            exp_chain, lambda xp, x: xp.exp(x) * x + 1, gpu_in_torch.exp_chain, flat, 1e-5, 2 * size
        ),
        f"select(x > y, x * y + 1, x − y) / 2, {_count(count)}": Program(
            mixed,
            lambda xp, x, y: xp.where(x > y, x * y + 1, x - y) * xp.float32(0.5),
            gpu_in_torch.mixed,
            _arrays((count,), (count,)),
            1e-5,
            3 * size,
        ),
        f"sum, {_count(count)}": Program(
            _plain(reductions.total), lambda xp, x: xp.sum(x), gpu_in_torch.total, flat, 1e-5, size
        ),
        f"sum of (x − y)², {_count(count)}": Program(
            squares,
            lambda xp, x, y: xp.sum((x - y) ** 2),
            gpu_in_torch.squares,
            _arrays((count,), (count,)),
            1e-5,
            2 * size,
        ),
        f"sums of the rows, {matrix}": Program(
            _plain(reductions.row_sums), lambda xp, x: xp.sum(x, axis=1), gpu_in_torch.row_sums, plane, 1e-5, size
        ),
        f"sums of the columns, {matrix}": Program(
            _plain(reductions.column_sums), lambda xp, x: xp.sum(x, axis=0), gpu_in_torch.column_sums, plane, 1e-4, size
        ),
        f"argmax of the rows, {matrix}": Program(
            _plain(reductions.row_argmax), lambda xp, x: xp.argmax(x, axis=1), gpu_in_torch.row_argmax, plane, 0, size
        ),
        f"x + transpose(y), {side:,} × {side:,}": Program(
            transposed,
            lambda xp, x, y: x + y.T,
            gpu_in_torch.transposed,
            _arrays((side, side), (side, side)),
            1e-6,
            12 * side * side,
        ),
    }


def rows(rows: int, columns: int) -> dict[str, Program]:
    """Programs that read each row more than once, by name."""
    moved, matrix = 8 * rows * columns, f"{rows:,} × {columns:,}"
    with_parameters = _arrays((rows, columns), (columns,), (columns,))
    return {
        f"softmax of the rows, {matrix}": Program(
            _plain(reductions.softmax),
            lambda xp, x: reductions.softmax_with_arrays(xp, None, x),
            gpu_in_torch.softmax,
            _arrays((rows, columns)),
            1e-4,
            moved,
        ),
        f"layer norm of the rows, {matrix}": Program(
            _plain(reductions.layer_norm),
            lambda xp, x, gain, bias: reductions.layer_norm_with_arrays(xp, None, x, gain, bias),
            gpu_in_torch.layer_norm,
            with_parameters,
            1e-4,
            moved,
        ),
    }


def products(side: int, wide: int) -> dict[str, Program]:
    """A layer of a network: a product of matrices, a bias and an activation, by name."""
    return {
        f"max(x · w + b, 0), {size:,} × {size:,} {name}": Program(
            layer,
            layer_with_arrays,
            gpu_in_torch.layer,
            _layer(size, size, size, dtype),
            tolerance,
            operations=2 * size**3,
        )
        for name, dtype, size, tolerance in (
            ("bf16", ml_dtypes.bfloat16, wide, 2e-2),
            ("f32", np.float32, side, 1e-4),
        )
    }


def loops(sides: tuple[int, ...], bodies: int, steps: int) -> dict[str, Program]:
    """Programs with loops, by name."""
    found = {
        f"{steps} × 2 steps of jacobi, {side:,} × {side:,}": Program(
            jacobi,
            jacobi_in_numpy,
            gpu_in_torch.jacobi,
            _arrays((side, side), (side, side)),
            1e-4,
            # Each step reads one array and writes another.
            moved=2 * steps * 8 * side * side,
            options={"steps": steps},
            in_jax=jacobi_in_jax,
            steps_in_torch=True,
        )
        for side in sides
    }
    found[f"{steps} steps of {bodies:,} bodies"] = Program(
        n_body,
        n_body_in_numpy,
        gpu_in_torch.n_body,
        _bodies(bodies),
        1e-3,
        operations=steps * 20 * bodies * bodies,
        options={"steps": steps, "dt": 0.001, "softening": 0.1},
        in_jax=n_body_in_jax,
        steps_in_torch=True,
    )
    return found


def _count(count: int) -> str:
    return f"{count / 2**20:.0f} M" if count >= 2**20 else f"{count:,}"
