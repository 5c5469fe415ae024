"""Throughput of what orders, moves and accumulates elements: sorts, running sums, gathers, scatters."""

from __future__ import annotations

import numpy as np

import nxkernel as nx
from benchmarks.measuring.work import BETTER, Goal
from benchmarks.works.contest import Program, contest

MILLION = 1_000_000


@nx.defn
def ordered(x):
    return nx.sort(x)


@nx.defn
def order(x):
    return nx.argsort(x)


@nx.defn
def running_sums(x, *, axis):
    return nx.cumulative_sum(x, axis=axis)


@nx.defn
def rows_at(table, places):
    return nx.take(table, places)


@nx.defn
def added_at(target, places, values):
    return nx.indexed_add(target, nx.new_axis(places, -1), values)


def added_at_with_arrays(xp, special, target, places, values):
    result = target.copy()
    np.add.at(result, places, values)
    return result


def numbers(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (random.standard_normal(MILLION, dtype=np.float32),)


def matrix(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (random.standard_normal((4096, 1000), dtype=np.float32),)


def table(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    return random.standard_normal((100_000, 64), dtype=np.float32), random.integers(0, 100_000, 200_000)


def scattered(places: int):
    def inputs(random: np.random.Generator) -> tuple[np.ndarray, ...]:
        target = np.zeros(places, np.float32)
        return target, random.integers(0, places, MILLION), random.standard_normal(MILLION, dtype=np.float32)

    return inputs


def _running(axis: int) -> Program:
    return Program(
        lambda x: running_sums(x, axis=axis), lambda xp, special, x: xp.cumsum(x, axis=axis), matrix, tolerance=1e-4
    )


def _adding(places: int) -> Program:
    return Program(
        added_at,
        added_at_with_arrays,
        scattered(places),
        tolerance=1e-4,
        with_jax=lambda jax, target, places, values: target.at[places].add(values),
    )


WORKS = [
    contest("sort of 1 M float32", Program(ordered, lambda xp, special, x: xp.sort(x), numbers), Goal(1.0, BETTER)),
    contest(
        "argsort of 1 M float32",
        Program(order, lambda xp, special, x: xp.argsort(x, stable=True), numbers),
        Goal(1.0, BETTER),
    ),
    contest("cumulative sum over axis 0 of 4096 × 1000 float32", _running(0), Goal(1.0, BETTER)),
    contest("cumulative sum over axis 1 of 4096 × 1000 float32", _running(1), Goal(1.0, BETTER)),
    contest(
        "gather of 200 000 rows of 64 float32",
        Program(rows_at, lambda xp, special, table, places: xp.take(table, places, axis=0), table),
        Goal(1.0, BETTER),
        why="memory bound: NumPy copies the same rows",
    ),
    contest("scatter-add of 1 M float32 into 1 M places", _adding(MILLION), Goal(1.0, BETTER)),
    contest("scatter-add of 1 M float32 into 1000 places", _adding(1000), Goal(1.0, BETTER)),
]
