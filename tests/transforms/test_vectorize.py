"""The graph of all entries: its form, which outputs have the axis of entries, and arguments that are assigned into."""

import dataclasses

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.compilers import registry
from nxkernel.errors import NxTypeError
from nxkernel.transforms.simplify import simplify
from nxkernel.transforms.vectorize import vectorize

ROW = spec("f32", 3)


def lines(graph):
    return [line.strip().split("  ")[0] for line in repr(graph).split("\n")[4:-1]]


def test_what_is_the_same_for_all_is_computed_once():
    made = vectorize(graph_of(lambda x, y: (x * nx.exp(y), nx.sin(y)), ROW, ROW), 4, [True, False])
    assert made.mapped == [True, False]
    assert lines(made.graph) == [
        "parameter a:0",
        "parameter b:1",
        "c = exp b",
        "d = broadcast c, shape=(4, 3), axes=[1]",
        "e = multiply a, d",
        "f = sin b",
        "(e, f)",
    ]


def test_outputs_have_the_axis_where_that_is_wanted():
    graph = graph_of(lambda x, y: (x, y, x), ROW, ROW)
    made = vectorize(graph, 4, [True, False], wanted=[False, True, True])
    assert made.mapped == [True, True, True]
    assert [str(output.spec) for output in made.graph.outputs] == ["f32[4][3]"] * 3


def test_no_entries():
    made = vectorize(graph_of(lambda x: nx.sum(x), ROW), 0, [True])
    (found,) = registry.get("evaluator").compile(made.graph).run([np.empty((0, 3), np.float32)])
    assert found.shape == (0,)


def test_twice():
    graph = graph_of(lambda x, y: nx.dot(x, y), ROW, ROW)
    inner = vectorize(graph, 4, [False, True]).graph
    outer = vectorize(inner, 2, [True, False])
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(4, 3)
    for compiler in ("evaluator", "numba_cpu"):
        (found,) = registry.get(compiler).compile(simplify(outer.graph)).run([x, y])
        np.testing.assert_allclose(found, x @ y.T, rtol=1e-6)


def assigned(*parameters):
    graph = graph_of(lambda x, y: (x + y, nx.sum(y)), *parameters)
    return dataclasses.replace(graph, updates=((0, 0),))


def test_arguments_that_are_assigned_into():
    made = vectorize(assigned(ROW, ROW), 2, [True, False]).graph
    assert made.updates == ((0, 0),)
    x, y = np.zeros((2, 3), np.float32), np.ones(3, np.float32)
    registry.get("evaluator").compile(made).run([x, y])
    np.testing.assert_array_equal(x, np.ones((2, 3)))


def test_what_is_assigned_into_has_the_axis_even_where_it_is_the_same_for_all():
    graph = graph_of(lambda x, y: nx.exp(y), ROW, ROW)
    made = vectorize(dataclasses.replace(graph, updates=((0, 0),)), 2, [True, False])
    assert made.mapped == [True]


def test_entries_cannot_assign_into_one_array():
    with pytest.raises(NxTypeError) as error:
        vectorize(assigned(ROW, ROW), 2, [False, True])
    assert str(error.value) == (
        "every entry would assign something else into 'x0', which is the same for all.\n"
        "  Pass an entry of 'x0' for each, or return a new array."
    )


def test_names_of_axes_stay():
    graph = graph_of(lambda x: nx.sum(x, axes=["row"]), spec("f32", 3, 4)._replace(names=("row", "column")))
    made = vectorize(graph, 2, [True]).graph
    assert str(made.outputs[0].spec) == "f32[2][column: 4]"
