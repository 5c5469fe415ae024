"""Every primitive over entries gives for each what it gives for that entry alone."""

import itertools

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, inputs, spec
from graph_comparison.vectorized_graphs import SIZE, check, entries_of
from lanes.fuzzing import patient
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.rewrite.loop_nest_rewrites import make
from nxkernel.errors import NxTypeError
from nxkernel.graph.expr import Expr, Graph, parameter
from nxkernel.graph.tracing import trace_body
from nxkernel.primitives import Spec
from nxkernel.transforms.vectorize import vectorize
from random_primitives import CASES, Drawn

#: The examples of a primitive.
SOME = 3


def one_node(primitive, arrays, params):
    """The graph of one primitive."""
    parameters = inputs(*[spec(types.normalize(array.dtype), *array.shape) for array in arrays])
    node = make(primitive, *parameters, **params)
    outputs = [node]
    if type(node.spec) is tuple:
        outputs = [Expr(p.elem, (node,), {"index": k}, part) for k, part in enumerate(node.spec)]
    return Graph("one", parameters, outputs, list)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("primitive", CASES, ids=str)
def test_a_primitive(primitive):
    @settings(patient, max_examples=SOME)
    @given(st.data())
    def run(data):
        case = CASES[primitive](Drawn(data.draw))
        graph = one_node(primitive, [np.asarray(array) for array in case.arrays], case.params)
        choices = list(itertools.product([True, False], repeat=len(case.arrays)))
        mapped = data.draw(st.sampled_from(choices))
        arrays = [entries_of(a) if flag else np.asarray(a) for a, flag in zip(case.arrays, mapped, strict=True)]
        check(graph, arrays, mapped)

    run()


def test_starts_of_a_narrow_type_reach_every_element():
    graph = graph_of(lambda x, start: nx.slice(x, [start], [4]), spec("f64", 300), spec("u8"))
    starts = np.array([0, 250, 255], np.uint8)
    check(graph, [np.arange(300.0), starts], [False, True])


@numba.njit
def weighted(x, y):
    return 2 * x + y if x > y else y


def test_functions_of_single_numbers():
    graph = graph_of(lambda x, y: nx.njit_map(weighted, x, y), spec("f64", 4), spec("f64", 4))
    arrays = [entries_of(np.arange(4.0)), np.array([2.0, 0.5, 1.5, 3.0])]
    check(graph, arrays, [True, False])


@numba.njit
def running(x):
    return np.cumsum(x)


def test_functions_of_whole_arrays_are_refused():
    graph = graph_of(lambda x: nx.njit_call(running, x, shape=(4,), type="f64"), spec("f64", 4))
    with pytest.raises(NxTypeError) as error:
        vectorize(graph, SIZE, [True])
    first, second = str(error.value).split("\n")
    assert first.startswith("running is a Numba function of whole arrays, which cannot be given entries (")
    assert "test_vectorize_entries.py, line " in first
    assert second == "  Write it for arrays with one more axis, or for single numbers as nx.njit_map takes it."


def test_functions_of_whole_arrays_that_are_the_same_for_all_stay():
    graph = graph_of(lambda x, y: x * nx.njit_call(running, y, shape=(4,), type="f64"), spec("f64", 4), spec("f64", 4))
    check(graph, [entries_of(np.arange(4.0)), np.array([2.0, 0.5, 1.5, 3.0])], [True, False])


def test_folds_whose_start_differs_go_from_entry_to_entry():
    number = Spec(types.f64, (), ())
    outside = parameter(0, "outside", number)
    inputs_ = [("element", number), ("accumulated", number)]
    body, _ = trace_body("f", lambda x, a: x + a * outside, inputs_, lambda result: [result])

    def fold(x, start, factor):
        return make(p.reduce, x, start, factor, axes=(0,), keep_axes=False, body=body, type=types.f64)

    graph = graph_of(fold, spec("f64", 3, 2), spec("f64"), spec("f64"))
    starts, factors = np.array([1.0, -2.0, 0.5]), np.array([0.5, 2.0, -1.0])
    cube = entries_of(np.arange(6.0).reshape(3, 2))
    check(graph, [cube, starts, factors], [True, True, True])
    check(graph, [cube[0], starts, factors[0]], [False, True, False])
    made = check(graph, [cube, starts[0], factors[0]], [True, False, False])
    assert [node.primitive for node in made.graph.outputs] == [p.reduce]


def test_predicates_keep_their_type():
    with types.promotion("numpy"):
        graph = graph_of(lambda x, y: nx.less(x, y), spec("f64", 2), spec("f64", 2))
    made = vectorize(graph, SIZE, [True, False]).graph
    assert str(made.outputs[0].spec) == "bool[3][2]"


def test_nodes_keep_their_lines_and_tell_what_they_are_for():
    graph = graph_of(lambda x, y: nx.sum(x * y), spec("f64", 2), spec("f64", 2))
    made = vectorize(graph, SIZE, [True, False])
    total = made.graph.outputs[0]
    assert made.origin[total] is graph.outputs[0]
    assert total.source == graph.outputs[0].source
    product = total.operands[0]
    assert made.origin[product] is made.origin[product.operands[1]] is graph.outputs[0].operands[0]
