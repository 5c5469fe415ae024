"""Recording the bodies of primitives: what they use from outside becomes parameters of their graphs."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import nxkernel as nx
from nxkernel import primitives as p
from nxkernel.compilers import registry
from nxkernel.errors import TracedValueError
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, parameter
from nxkernel.graph.tracing import BodyTrace, Trace, trace_body
from nxkernel.primitives import Spec
from nxkernel.types import f32

SCALAR = Spec(f32, (), ())
PAIR = [("element", SCALAR), ("accumulated", SCALAR)]


def traced(function, inputs=PAIR):
    return trace_body("body", function, inputs, lambda result: [result])


def names(graph):
    return [node.params["name"] for node in graph.parameters]


def run(graph, *numbers):
    """What the evaluator makes of a body."""
    (found,) = registry.get("evaluator").compile(graph).run([np.float32(number) for number in numbers])
    return float(found)


def test_a_body_of_its_inputs_alone():
    graph, captured = traced(lambda x, acc: acc * 2.0 + x)
    assert (names(graph), captured, graph.name) == (["element", "accumulated"], [], "body")
    assert run(graph, 3, 10) == 23


def test_numbers_stay_in_the_body():
    graph, captured = traced(lambda x, acc: nx.max(x, 0.5))
    assert captured == []
    assert run(graph, -3, 10) == 0.5


def test_tensors_from_outside_become_parameters_once_each_in_order():
    first, second = nx.tensor(3.0, type="f32"), nx.tensor(5.0, type="f32")
    graph, captured = traced(lambda x, acc: (acc * first + x * second) - first)
    assert [value is expected for value, expected in zip(captured, (first, second), strict=True)] == [True, True]
    assert names(graph) == ["element", "accumulated", "outside", "outside"]
    assert [node.params["index"] for node in graph.parameters] == [0, 1, 2, 3]
    assert run(graph, 2, 10, 3, 5) == 37


def test_nodes_of_the_trace_outside_become_parameters():
    with Trace(capture=None) as outer:
        x = parameter(0, "x", SCALAR)
        doubled = x * 2.0
        before = outer.nodes
        graph, captured = traced(lambda element, acc: acc + element * doubled)
        assert tracing.current() is outer
        assert outer.nodes == before
    assert len(captured) == 1
    assert captured[0] is doubled
    assert all(node.primitive is p.parameter for node in graph.parameters)
    assert run(graph, 3, 1, 4) == 13


def test_constants_from_outside_stay_constants():
    with Trace(capture=None):
        number = nx.broadcast(2.5, ())
        kind = number.primitive if type(number) is Expr else None
        graph, captured = traced(lambda x, acc: x * number + acc)
    assert len(captured) == (0 if kind is p.constant else 1)
    assert run(graph, 2, 1, *[2.5] * len(captured)) == 6


def test_a_body_may_give_what_is_from_outside():
    outside = nx.tensor(7.0, type="f32")
    graph, captured = traced(lambda x, acc: outside)
    assert captured[0] is outside
    assert graph.outputs == [graph.parameters[2]]
    assert run(graph, 0, 0, 7) == 7


def test_bodies_within_bodies():
    inner = []

    def outer(x, acc):
        inner.append(traced(lambda y, more: y * acc + more * scale + x))
        return x * scale

    scale = nx.tensor(3.0, type="f32")
    graph, captured = traced(outer)
    (inside, used) = inner[0]
    assert len(captured) == 1
    assert captured[0] is scale
    assert used[0] is graph.parameters[1]
    assert used[1] is scale
    assert used[2] is graph.parameters[0]
    assert names(inside) == ["element", "accumulated", "outside", "outside", "outside"]
    assert run(inside, 2, 5, 10, 3, 100) == 135
    assert run(graph, 2, 5, 3) == 6


def test_no_trace_is_left_where_a_body_fails():
    def failing(x, acc):
        raise ZeroDivisionError

    with Trace(capture=None) as outer:
        with pytest.raises(ZeroDivisionError):
            traced(failing)
        assert tracing.current() is outer
    assert tracing.current() is None


def test_leaves_are_asked_for_while_the_body_is_traced():
    seen = []

    def leaves(result):
        seen.append(type(tracing.current()))
        return [result + 1.0]

    graph, _ = trace_body("body", lambda x, acc: x * acc, PAIR, leaves)
    assert seen == [BodyTrace]
    assert run(graph, 3, 4) == 13


def test_primitives_with_several_results_are_tuples_of_parts():
    x = parameter(0, "x", Spec(f32, (3, 3), (None, None)))
    with Trace(capture=None) as trace:
        q, r = trace.record(p.qr, (x,), {"mode": "reduced"})
    assert [part.primitive for part in (q, r)] == [p.elem, p.elem]
    assert q.operands == r.operands
    assert (q.params, r.params, trace.nodes) == ({"index": 0}, {"index": 1}, 1)


def test_nodes_know_the_line_that_made_them():
    graph, _ = traced(lambda x, acc: x * acc)
    (product,) = graph.outputs
    assert product.source.file == __file__


def test_arrays_of_numpys_are_captured_by_bodies():
    array = np.array([1.0, 2.0], np.float32)
    graph, captured = traced(lambda x, acc: acc + x * nx.sum(array))
    assert len(captured) == 1
    assert captured[0].to_list() == [1.0, 2.0]
    (found,) = registry.get("evaluator").compile(graph).run([np.float32(2), np.float32(10), array])
    assert float(found) == 16


def test_what_stands_for_a_number_outside_does_inside():
    with Trace(capture=None) as outer:
        counter = parameter(0, "i", Spec(nx.types.s64, (), ()))
        outer.weak.add(counter)
        with BodyTrace() as inner:
            assert tracing.weak(counter)
            assert (nx.s8(3) * counter).type == "s8"
            assert inner.outermost is outer
            with BodyTrace():
                assert (nx.s8(3) * counter).type == "s8"


@pytest.mark.parametrize(
    ("function", "first", "hint"),
    [
        (lambda t: math.sin(t), "math.sin()", "Write nx.sin(t), which takes tensors."),
        (lambda t: math.fabs(t), "math.fabs()", "Write nx.abs(t), which takes tensors."),
        (lambda t: float(t), "float()", 'Keep it a tensor: nx.as_type(t, "f64") converts its type.'),
        (
            lambda t: np.array([t, 1.0]),
            "NumPy",
            "A function that computes with np and not with nx is a NumPy program, in which it is there.",
        ),
    ],
)
def test_functions_that_need_data_name_those_of_nxkernel(function, first, hint):
    with pytest.raises(TracedValueError) as error:
        nx.jit(function, promotion="nx")(1.0)
    lines = str(error.value).splitlines()
    assert lines[0].startswith(f"{first} asks for the data of a traced value of type f32")
    assert f"  {hint}" in lines


def test_assignment_in_a_definition_names_put_slice():
    def f(t):
        t[0] = 1
        return t

    with pytest.raises(TypeError, match=r"  Use nx\.put_slice\(t, \[start\], values\), which returns a new tensor\."):
        nx.jit(f)(nx.eye(2))


def summed_by_pandas(x):
    return pd.Series(x).sum()


@pytest.mark.parametrize("function", [summed_by_pandas, lambda x: np.exp(summed_by_pandas(x))])
def test_another_library_is_named(function):
    with pytest.raises(TracedValueError) as raised:
        nx.jit(function)(np.ones(3))
    first, *_, before, instead = str(raised.value).splitlines()
    assert first.startswith("pandas's Series() asks for the data of a traced value of type f64[3]")
    assert before == "  Call it before the definition and pass what it gives,"
    assert instead.startswith("  or let the program call it: nx.host_call(Series, like, t), `like` as the result")


def test_the_library_of_an_operator_is_named():
    matrix = scipy.sparse.csr_array(np.eye(3))
    with pytest.raises(TracedValueError, match=r"^scipy asks for the data of a traced value of type f64\[3\]"):
        nx.jit(lambda x: matrix @ x)(np.ones(3))
