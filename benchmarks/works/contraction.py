"""Throughput of a matrix product and of pairwise distances."""

from __future__ import annotations

import numpy as np

import nxkernel as nx
from benchmarks.measuring.work import Goal
from benchmarks.works.contest import Program, contest


@nx.defn
def distances(x):
    difference = x[:, None, :] - x[None, :, :]
    return nx.sqrt(nx.sum(difference * difference, axes=[2]))


def distances_with_arrays(xp, special, x):
    difference = x[:, None, :] - x[None, :, :]
    return xp.sqrt(xp.sum(difference * difference, axis=2))


@nx.defn
def product(a, b):
    return nx.dot(a, b)


DISTANCES = Program(
    distances,
    distances_with_arrays,
    lambda random: (random.standard_normal((1797, 64), dtype=np.float32),),
)

WORKS = [
    contest("pairwise distances, 1797 × 64 float32", DISTANCES, Goal(1.0)),
    contest(
        "dot of 1024 × 1024 float32",
        Program(
            product,
            lambda xp, special, a, b: xp.dot(a, b),
            lambda random: tuple(random.standard_normal((2, 1024, 1024), dtype=np.float32)),
            1e-4,
        ),
        Goal(1.05, "NumPy"),
    ),
]
