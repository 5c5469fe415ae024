"""Sums of one array at several places share one padded array."""

import numpy as np

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
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


def test_of_arrays_that_differ_the_first_is_padded_and_others_are_added_where_they_go():
    def loss(x):
        return nx.sum(nx.exp(x[:-1])) + nx.sum(nx.sin(x[1:]))

    assert pads(loss, spec("f64", 9)) == [((1, 0, 0),)]
    graph = simplify(graph_of(lambda x: nx.grad(loss)(x), spec("f64", 9)))
    assert [node.primitive.name for node in post_order(graph.outputs)].count("put_slice") == 1
    x = np.linspace(0.0, 1.0, 9)
    wanted = np.append(np.exp(x[:-1]), 0.0) + np.append(0.0, np.cos(x[1:]))
    np.testing.assert_allclose(nx.grad(loss)(x).to_numpy(), wanted, rtol=1e-14)


def test_what_is_changed_in_place_costs_no_more_backwards():
    def loss(x):
        y = nx.put_slice(nx.sin(x), [2], nx.sin(x)[2:5] * 3.0)
        return nx.sum(y * y)

    graph = simplify(graph_of(lambda x: nx.grad(loss)(x), spec("f64", 9)))
    puts = [node for node in post_order(graph.outputs) if node.primitive.name == "put_slice"]
    # One for the value, one for the gradient: nothing is set to zero first.
    assert len(puts) == 2
    x = np.linspace(0.0, 1.0, 9)
    factor = np.where((np.arange(9) >= 2) & (np.arange(9) < 5), 9.0, 1.0)
    np.testing.assert_allclose(nx.grad(loss)(x).to_numpy(), 2 * factor * np.sin(x) * np.cos(x), rtol=1e-14)


def test_values():
    x = np.array([0.5, 1.0, -2.0, 3.0, 0.25])
    wanted = np.array([x[2:].sum() + 1, 2 + 1, 2 + 1 + x[0], 2 + x[0], x[0]])
    np.testing.assert_allclose(nx.grad(neighbours)(x).to_numpy(), wanted, rtol=1e-15)
