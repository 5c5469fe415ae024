"""Which arrays a region updates in one memory."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.numba_cpu.compiler import NumbaCpu
from nxkernel.compilers.rewrite.columns.array_versions import chains
from nxkernel.compilers.rewrite.columns.column_regions import Region
from nxkernel.graph.traverse import post_order, users

X = np.random.default_rng(3).random((600, 9))


@pytest.fixture
def found(monkeypatch):
    """For each result of the region of a program: what its chain begins with, and whether that is read alike."""
    graphs, compile_ = [], NumbaCpu.compile
    monkeypatch.setattr(NumbaCpu, "compile", lambda self, graph: graphs.append(graph) or compile_(self, graph))

    def look(function, *arguments):
        nx.defn(function)(*arguments)
        graph = graphs[-1]
        order = post_order(graph.outputs)
        loop = next(node for node in order if node.primitive.name == "while")
        region = Region(order, users(order), graph.outputs, loop)
        known = chains(region)
        return [
            (known[value].root.params.get("name", "constant"), known[value].read_alike) if value in known else None
            for value in region.results()
        ]

    return look


def updated(x):
    x[:, 0] *= 2.0
    for k in range(1, x.shape[1]):
        x[:, k] += x[:, k - 1]


def made(x):
    y = np.zeros_like(x)
    for k in range(1, x.shape[1]):
        y[:, k] = y[:, k - 1] + x[:, k]
    return y


def old_neighbours(x):
    old = x.copy()
    for k in range(1, x.shape[1]):
        x[1:, k] -= old[:-1, k - 1]


def two_versions(x):
    y = x * 1.0
    for k in range(1, x.shape[1]):
        x[:, k] += x[:, k - 1]
    y = x.copy()
    for k in range(1, x.shape[1]):
        x[:, k] += x[:, k - 1] * 0.5
    return y


def plane(x):
    total = x[:, 0]
    for k in range(1, x.shape[1]):
        total = total * 0.5 + x[:, k]
    return total


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (updated, [("x", True)]),
        (made, [("constant", True)]),
        (old_neighbours, [None]),
        (two_versions, [None, None]),
        (plane, [None]),
    ],
)
def test_chains(found, function, expected):
    assert found(function, X.copy()) == expected
