"""Throughput of convolution, pooling, Fourier transforms, random numbers and linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

import nxkernel as nx
from benchmarks.measuring.work import BETTER, Goal
from benchmarks.works.contest import Program, contest

SIDE = 256


@nx.defn
def convolved(x, kernel):
    return nx.conv(x, kernel)


def convolved_with_arrays(xp, special, x, kernel):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, kernel, optimize=True)


def convolved_with_jax(jax: Any, x, kernel):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID")


@nx.defn
def pooled(x, *, size, stride):
    return nx.window_max(x, (1, 1, size, size), strides=[1, 1, stride, stride])


@nx.defn
def transformed(x):
    return nx.fft2(x)


@nx.defn
def uniform(key):
    return nx.random.uniform(key, shape=(2000, 2000))[0]


@nx.defn
def decomposed(a):
    return nx.linalg.svd(a)[1]


@nx.defn
def solved(a, b):
    return nx.linalg.solve(a, b)


def images(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return random.standard_normal((16, 16, 32, 32), dtype=np.float32), random.standard_normal(
        (32, 16, 3, 3), dtype=np.float32
    )


def maps(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (random.standard_normal((16, 16, 64, 64), dtype=np.float32),)


def plane(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (random.standard_normal((1024, 1024), dtype=np.float32),)


def complex_plane(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    real, imag = random.standard_normal((2, 1024, 1024), dtype=np.float32)
    return (real + 1j * imag,)


def key(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (np.array([0, 7], np.uint32),)


def square(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (random.standard_normal((SIDE, SIDE), dtype=np.float32),)


def system(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    matrix = random.standard_normal((SIDE, SIDE), dtype=np.float32) + 16 * np.eye(SIDE, dtype=np.float32)
    return matrix, random.standard_normal(SIDE, dtype=np.float32)


def _pooling(size: int, stride: int) -> Program:
    def with_arrays(xp, special, x):
        windows = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
        return windows[:, :, ::stride, ::stride].max((4, 5))

    def with_jax(jax: Any, x):
        window, steps = (1, 1, size, size), (1, 1, stride, stride)
        return jax.lax.reduce_window(x, -np.inf, jax.lax.max, window, steps, "VALID")

    return Program(lambda x: pooled(x, size=size, stride=stride), with_arrays, maps, with_jax=with_jax)


_generator = np.random.default_rng(1)
UNIFORM = Program(
    uniform,
    lambda xp, special, key: _generator.random((2000, 2000), dtype=np.float32),
    key,
    tolerance=float("inf"),
    with_jax=lambda jax, key: jax.random.uniform(key, (2000, 2000), dtype=np.float32),
)

WORKS = [
    contest(
        "3 × 3 convolution 16 × 32 × 32 × 16 → 32 float32",
        Program(convolved, convolved_with_arrays, images, 1e-4, convolved_with_jax),
        Goal(1.0, BETTER),
    ),
    contest("2 × 2 max pooling of 16 × 16 × 64 × 64 float32", _pooling(2, 2), Goal(1.0, BETTER)),
    contest("3 × 3 max pooling, stride 1, of 16 × 16 × 64 × 64 float32", _pooling(3, 1), Goal(1.0, BETTER)),
    contest(
        "FFT of 1024 × 1024 float32",
        Program(transformed, lambda xp, special, x: xp.fft.fft2(x), plane, 1e-4),
        Goal(1.0, BETTER),
    ),
    contest(
        "FFT of 1024 × 1024 complex64",
        Program(transformed, lambda xp, special, x: xp.fft.fft2(x), complex_plane, 1e-4),
        Goal(1.0, BETTER),
        why="SciPy's transform; JAX has another library's",
    ),
    contest("uniform random of 4 M float32", UNIFORM, Goal(1.0, BETTER)),
    contest(
        "singular values and vectors of 256 × 256 float32",
        Program(decomposed, lambda xp, special, a: xp.linalg.svd(a)[1], square, 1e-4),
        Goal(1.0, BETTER),
    ),
    contest(
        "solve of 256 × 256 float32",
        Program(solved, lambda xp, special, a, b: xp.linalg.solve(a, b), system, 1e-3),
        Goal(1.0, BETTER),
    ),
]
