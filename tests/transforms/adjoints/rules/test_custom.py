"""Gradients that people say themselves, in graphs: they survive loops and vectorization, and no compiler sees them."""

import numpy as np

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of
from nxkernel import primitives as p
from nxkernel.graph.traverse import post_order
from nxkernel.transforms.simplify import simplify_nodes


def primitives(function, *args, raw=False):
    """The primitives of a graph, those of its loops too."""
    outputs = graph_of(function, *map(np.float32, args)).outputs
    nodes = post_order(outputs if raw else simplify_nodes(outputs))
    return {node.primitive for node in nodes}


def own(x):
    return nx.custom_grad(nx.stop_grad(nx.floor(x)), [x], lambda g: [g * 2])


def test_a_graph_has_it_until_it_is_simplified():
    assert {p.custom_grad, p.stop_grad} <= primitives(own, 1.5, raw=True)
    assert not {p.custom_grad, p.stop_grad} & primitives(own, 1.5)


def test_the_evaluator_passes_it_by():
    assert float(nx.jit(own, compiler="evaluator")(1.5)) == 1.0
    assert float(nx.jit(own)(1.5)) == 1.0


def test_an_identity_of_another_time_goes_where_there_is_no_time():
    def waits(x, y):
        return nx.ops.machinery.dispatch.apply(p.after, x, y)

    assert p.after in primitives(waits, 1.5, 2.0)
    assert p.after in primitives(lambda x: waits(x, 2.0 * nx.broadcast(1.0, ())), 1.5, raw=True)
    assert p.after not in primitives(lambda x: waits(x, 2.0 * nx.broadcast(1.0, ())), 1.5)
    assert float(nx.grad(waits, argnums=(0, 1))(1.5, 2.0)[0]) == 1.0
    assert float(nx.grad(waits, argnums=(0, 1))(1.5, 2.0)[1]) == 0.0
