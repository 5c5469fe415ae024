"""Walking graphs, and recording what depends on replaced nodes anew."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel import passes, types
from nxkernel.graph.expr import parameter
from nxkernel.graph.tracing import Trace
from nxkernel.graph.traverse import replayed


@pytest.mark.parametrize("around", ["nx", "numpy"])
@pytest.mark.parametrize("rules", ["nx", "numpy"])
def test_predicates_are_truth_values_whatever_rules_hold(rules, around):
    with types.promotion(rules):
        graph = graph_of(lambda x: nx.logical_not(nx.not_equal(nx.less(x, 0), False)), spec("f64", 3))
    (x,) = graph.parameters
    y = parameter(0, "y", x.spec)
    with types.promotion(around), Trace(capture=None):
        (output,) = replayed(graph.outputs, {x: y})
    assert (graph.outputs[0].type, output.type) == ("bool", "bool")
    assert {operand.type for operand in output.operands[0].operands} == {"bool"}


@nx.defn
def alternating(x):
    for k in range(3):
        if k % 2 == 1:
            x = x * 2
    return np.sum(x)


def test_gradients_of_numpy_programs_are_well_formed():
    with passes.verifying():
        assert nx.grad(alternating)(np.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_mapped_numpy_programs_are_well_formed():
    def raised(x, n):
        if n > 0:
            for _ in range(n):
                x += 3
        return x

    with passes.verifying():
        found = nx.vmap(nx.defn(raised))(np.zeros((3, 2)), np.arange(3))
    assert np.asarray(found).tolist() == [[0, 0], [3, 3], [6, 6]]
