"""How often loops turn, told by their conditions."""

import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.graph.traverse import post_order
from nxkernel.ops.programs import control_flow
from nxkernel.transforms.adjoints import trip_counts


def loop(first, condition, step, bound=None):
    """The node of a loop over a counter and a number."""

    def function(x, n):
        start = first if first is not None else n

        def asked(state):
            return condition(state[0], n if bound == "n" else state[1])

        return control_flow.run_while([start, x], asked, lambda s: [step(s[0]), s[1] * 2], ["i", "x"])[1]

    graph = graph_of(function, spec("f64"), spec("s64"))
    return next(node for node in post_order(graph.outputs) if node.primitive.name == "while")


@pytest.mark.parametrize(
    ("first", "condition", "step", "turns"),
    [
        (0, lambda i, _: nx.less(i, 5), lambda i: i + 1, 5),
        (0, lambda i, _: nx.less_equal(i, 5), lambda i: i + 1, 6),
        (3, lambda i, _: nx.less(i, 10), lambda i: i + 3, 3),
        (3, lambda i, _: nx.less_equal(i, 9), lambda i: 3 + i, 3),
        (7, lambda i, _: nx.greater_equal(i, 0), lambda i: i - 2, 4),
        (8, lambda i, _: nx.greater(i, 0), lambda i: i + -2, 4),
        (0, lambda i, _: nx.greater(5, i), lambda i: i + 1, 5),
        (0, lambda i, _: nx.not_equal(i, 6), lambda i: i + 2, 3),
        (5, lambda i, _: nx.less(i, 5), lambda i: i + 1, 0),
        (9, lambda i, _: nx.less(i, 5), lambda i: i + 1, 0),
        (0, lambda i, _: nx.not_equal(i, 5), lambda i: i + 2, None),
        (0, lambda i, _: nx.logical_not(nx.greater_equal(i, 5)), lambda i: i + 1, 5),
        (0, lambda i, _: nx.logical_not(nx.equal(i, 6)), lambda i: i + 2, 3),
        (0, lambda i, _: nx.less(i, 5), lambda i: i - 1, None),
        (1, lambda i, _: nx.less(i, 50), lambda i: i * 2, None),
        (0, lambda i, _: nx.logical_or(nx.less(i, 5), nx.less(i, 3)), lambda i: i + 1, None),
    ],
)
def test_counters(first, condition, step, turns):
    node = loop(first, condition, step)
    assert trip_counts.exactly(node, {}) == trip_counts.most(node, {}) == turns


def test_conditions_of_data_bound_a_loop():
    node = loop(0, lambda i, x: nx.logical_and(nx.less(x, 9), nx.less(i, 20)), lambda i: i + 1)
    assert (trip_counts.most(node, {}), trip_counts.exactly(node, {})) == (20, None)


def test_bounds_that_only_the_program_knows():
    node = loop(0, nx.less, lambda i: i + 1, bound="n")
    assert (trip_counts.most(node, {}), trip_counts.exactly(node, {})) == (None, None)
    (bound,) = [operand for operand in node.operands if operand.primitive.name == "parameter" and operand.type == "s64"]
    assert (trip_counts.most(node, {bound: (2, 7)}), trip_counts.exactly(node, {bound: (2, 7)})) == (7, None)


@pytest.mark.parametrize(
    ("steps", "turns"), [((1, -2), 4), ((2, 1), 10), ((0, -5), 2), ((1, 1), None), ((-1, 2), None)]
)
def test_counters_that_meet(steps, turns):
    def function(x):
        def turn(state):
            return [state[0] + steps[0], state[1] + steps[1], state[2] * 2]

        return control_flow.run_while([0, 10, x], lambda s: nx.less(s[0], s[1]), turn, ["i", "j", "x"])[2]

    graph = graph_of(function, spec("f64"))
    node = next(node for node in post_order(graph.outputs) if node.primitive.name == "while")
    assert trip_counts.exactly(node, {}) == trip_counts.most(node, {}) == turns


def test_counters_behind_a_break():
    """A turn that ends a loop need not count; one that does not, has to."""

    def node(leave, stay):
        def turn(state):
            i, _, x = state
            sides = lambda: [leave(i), nx.tensor(1), x], lambda: [stay(i), nx.tensor(0), x * 2]
            return control_flow.choose(nx.greater(x, 9), *sides)

        def function(x):
            def asked(state):
                return nx.logical_and(nx.logical_not(state[1]), nx.less(state[0], 7))

            return control_flow.run_while([2, nx.tensor(0), x], asked, turn, ["i", "done", "x"])[2]

        graph = graph_of(function, spec("f64"))
        return next(node for node in post_order(graph.outputs) if node.primitive.name == "while")

    left = node(lambda i: i, lambda i: i + 2)
    assert (trip_counts.step(left, 0), trip_counts.most(left, {}), trip_counts.exactly(left, {})) == (2, 3, None)
    assert trip_counts.counter(left) is None
    assert trip_counts.inside(left, {}) == {left.params["body"].parameters[0]: (2, 6)}
    assert trip_counts.most(node(lambda i: i * 5, lambda i: 1 + i), {}) == 5
    assert trip_counts.most(node(lambda i: i + 1, lambda i: i), {}) is None


def test_what_is_known_inside():
    node = loop(7, lambda i, _: nx.greater_equal(i, 0), lambda i: i - 2)
    found = trip_counts.inside(node, {})
    assert found == {node.params["body"].parameters[0]: (1, 7)}
    assert trip_counts.counter(node) == 0
    assert trip_counts.counter(loop(1, lambda i, _: nx.less(i, 50), lambda i: i * 2)) is None
