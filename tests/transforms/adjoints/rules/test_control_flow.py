"""Gradients of loops and choices, and of their gradients, against central differences."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison import loop_programs
from graph_comparison.central_differences import check_program, gradient_of, numbers
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.errors import NxTypeError
from nxkernel.graph.traverse import post_order
from nxkernel.ops.machinery.dispatch import filled
from nxkernel.ops.programs import control_flow
from nxkernel.transforms.gradient import gradients

X = numbers(4, low=0.3)
M = numbers(4, 4, low=0.0)


def name(program):
    return program.__name__


@pytest.mark.slow
@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("program", loop_programs.OF_A_VECTOR, ids=name)
def test_programs_of_a_vector(program):
    check_program(program, X, order=2)


@pytest.mark.slow
@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("program", loop_programs.OF_A_MATRIX, ids=name)
def test_programs_of_a_vector_and_a_matrix(program):
    check_program(program, X, M, order=2)


@pytest.mark.slow
def test_other_programs():
    for turns in (0, 3):
        check_program(loop_programs.bound_by_argument, X, np.int64(turns), order=2)
    check_program(loop_programs.scalar_state, np.float64(0.4), np.float64(0.7), order=2)
    check_program(loop_programs.substitution, M, X, order=2)
    check_program(loop_programs.loop_of_linalg, M, X, order=2)


def test_both_sides_of_choices():
    for size in (0.01, 1.0, 100.0):
        check_program(loop_programs.nested_choices, X * size, order=2)
        check_program(loop_programs.choice_of_whole_numbers, X * size, order=2)


@nx.defn
def halved(x):
    """A loop of which nobody knows how often it turns."""
    while nx.sum(x) > 1:
        x = nx.sin(x) * 0.5
    return nx.sum(x)


def test_loops_without_a_bound_are_refused():
    with pytest.raises(NxTypeError) as error:
        nx.grad(halved)(X)
    first, *rest = str(error.value).splitlines()
    assert first.startswith("the gradient of a loop needs to know at most how many turns it has (")
    assert "test_control_flow.py, line " in first
    assert first.endswith("): every turn leaves values of it behind (f64[4]).")
    assert rest == [
        "  Bound it by a number that is static, such as `for i in range(1000)` with a `break`, or",
        "  `while i < 1000 and …` with i counted up from a number; an option (after `*`) is static too.",
    ]


def test_a_loop_that_keeps_something_runs_once():
    def function(x):
        turned = control_flow.run_while(
            [0, x], lambda s: nx.less(s[0], 5), lambda s: [s[0] + 1, nx.sin(s[1]) * s[1]], ["i", "x"]
        )
        return turned[1]

    def both(x, weight):
        one = x * 1.0
        value = function(one)
        found, more = gradients([value], [filled(1, value.type, value.shape) * weight], [one], [value])
        return [*found, *more]

    graph = graph_of(both, spec("f64", 3), spec("f64", 3))
    loops = [node for node in post_order(graph.outputs) if node.primitive.name == "while"]
    assert len(loops) == 2


def test_a_loop_that_keeps_nothing_is_no_other():
    graph = graph_of(
        gradient_of(
            lambda x: control_flow.run_while(
                [0, x], lambda s: nx.less(s[0], 5), lambda s: [s[0] + 1, s[1] * 2], ["i", "x"]
            )[1],
            1,
        ),
        spec("f64", 3),
        spec("f64", 3),
    )
    loops = [node for node in post_order(graph.outputs) if node.primitive.name == "while"]
    assert len(loops) == 1
    assert [operand.spec.shape for operand in loops[0].operands if operand.spec.shape] == [(3,), (3,)]


def test_names_of_the_state():
    x = nx.tensor(numbers(2, 3), names=["rows", "columns"])

    @nx.defn
    def function(x):
        y = x
        for _ in range(3):
            y = nx.sin(y) * x
        return nx.sum(y)

    found = nx.grad(function)(x)
    assert found.names == ("rows", "columns")
    np.testing.assert_allclose(found.to_numpy(), nx.grad(function)(x.to_numpy()).to_numpy())


def test_integer_variables():
    @nx.defn
    def function(n):
        y = nx.as_type(n, "f32")
        for _ in range(3):
            y = y * 2
        return nx.sum(y)

    found = nx.grad(function)(np.array([1, 2]))
    assert (str(found.type), found.to_list()) == ("f32", [8.0, 8.0])


def test_half_precision():
    @nx.defn
    def function(x):
        y = x
        for _ in range(4):
            y = y * nx.cos(y)
        return nx.sum(y)

    expected = nx.grad(function)(X).to_numpy()
    for type_, rtol in (("f32", 1e-5), ("bf16", 0.1)):
        found = nx.grad(function)(nx.tensor(X, type=type_))
        assert found.type == type_
        np.testing.assert_allclose(nx.as_type(found, "f64").to_numpy(), expected, rtol=rtol, atol=rtol)
