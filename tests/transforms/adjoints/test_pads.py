"""Sums of one array at several places share one padded array."""

import numpy as np

import nxkernel as nx
from compiling import graph_of, spec
from nxkernel.graph.traverse import post_order
from nxkernel.transforms.simplify import simplify


def neighbours(x):
    return nx.sum(x[1:-1] * 2.0 + x[:-2] + x[2:] * x[0])


def pads(function, *specs):
    """How each padding of the gradient's graph pads."""
    graph = simplify(graph_of(lambda x: nx.grad(function)(x), *specs))
    return [node.params["config"] for node in post_order(graph.outputs) if node.primitive.name == "pad"]


def test_one_padded_array_for_all_neighbours():
    def stencil(x):
        inner = nx.sin(x)
        return nx.sum((inner[1:-1] + inner[:-2] + inner[2:]) ** 2)

    assert pads(stencil, spec("f64", 9)) == [((2, 2, 0),)]


def test_arrays_that_differ_have_paddings_of_their_own():
    assert sorted(pads(lambda x: nx.sum(nx.exp(x[:-1])) + nx.sum(nx.sin(x[1:])), spec("f64", 9))) == [
        ((0, 1, 0),),
        ((1, 0, 0),),
    ]


def test_values():
    x = np.array([0.5, 1.0, -2.0, 3.0, 0.25])
    wanted = np.array([x[2:].sum() + 1, 2 + 1, 2 + 1 + x[0], 2 + x[0], x[0]])
    np.testing.assert_allclose(nx.grad(neighbours)(x).to_numpy(), wanted, rtol=1e-15)
