"""Throughput of reductions over 4096 × 1000 float32: softmax, layer norm, sums, argmax."""

from __future__ import annotations

import numpy as np

import nxkernel as nx
from benchmarks.measuring.work import Goal
from benchmarks.works.contest import Program, contest

ROWS, COLUMNS = 4096, 1000


@nx.defn
def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[-1], keep_axes=True))
    return e / nx.sum(e, axes=[-1], keep_axes=True)


def softmax_with_arrays(xp, special, x):
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


@nx.defn
def layer_norm(x, gain, bias):
    centred = x - nx.mean(x, axes=[-1], keep_axes=True)
    variance = nx.variance(x, axes=[-1], keep_axes=True)
    return centred * nx.rsqrt(variance + 1e-5) * gain + bias


def layer_norm_with_arrays(xp, special, x, gain, bias):
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    variance = xp.var(x, axis=-1, keepdims=True)
    return centred / xp.sqrt(variance + 1e-5) * gain + bias


@nx.defn
def column_sums(x):
    return nx.sum(x, axes=[0])


@nx.defn
def row_sums(x):
    return nx.sum(x, axes=[1])


@nx.defn
def total(x):
    return nx.sum(x)


@nx.defn
def row_argmax(x):
    return nx.argmax(x, axis=1)


def matrix(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (random.standard_normal((ROWS, COLUMNS), dtype=np.float32),)


def matrix_with_parameters(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (
        *matrix(random),
        random.standard_normal(COLUMNS, dtype=np.float32),
        random.standard_normal(COLUMNS, dtype=np.float32),
    )


SOFTMAX = Program(softmax, softmax_with_arrays, matrix)
LAYER_NORM = Program(layer_norm, layer_norm_with_arrays, matrix_with_parameters)

WORKS = [
    contest("softmax of 4096 × 1000 float32, rows", SOFTMAX, Goal(1.0)),
    contest("layer norm of 4096 × 1000 float32, rows", LAYER_NORM, Goal(1.0)),
    contest(
        "sum over axis 0 of 4096 × 1000 float32",
        Program(column_sums, lambda xp, special, x: xp.sum(x, axis=0), matrix, 1e-4),
        Goal(1.0),
    ),
    contest(
        "sum over axis 1 of 4096 × 1000 float32",
        Program(row_sums, lambda xp, special, x: xp.sum(x, axis=1), matrix, 1e-4),
        Goal(1.0),
    ),
    contest(
        "sum of all of 4096 × 1000 float32",
        Program(total, lambda xp, special, x: xp.sum(x), matrix, 1e-4),
        Goal(1.0),
    ),
    contest(
        "argmax over rows of 4096 × 1000 float32",
        Program(row_argmax, lambda xp, special, x: xp.argmax(x, axis=1), matrix),
        Goal(0.1),
        Goal(1.2, "NumPy"),
    ),
]
