"""Intervals of whole numbers: of arithmetic, and of the counters of loops."""

import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.compilers.analysis import integer_ranges
from nxkernel.graph.expr import constant
from nxkernel.graph.traverse import post_order
from nxkernel.ops.programs import control_flow
from nxkernel.types import s64

CASES = {
    "sum": (lambda i: i + 3, (3, 8)),
    "difference": (lambda i: 3 - i, (-2, 3)),
    "product": (lambda i: i * -2, (-10, 0)),
    "negation": (lambda i: -i, (-5, 0)),
    "greater of two": (lambda i: nx.max(i, 2), (2, 5)),
    "smaller of two": (lambda i: nx.min(i, 2), (0, 2)),
    "quotient": (lambda i: nx.quotient(i + 4, 2), (2, 4)),
    "remainder": (lambda i: nx.remainder(i, 4), (0, 3)),
    "remainder of less": (lambda i: nx.remainder(i, 9), (0, 5)),
    "another type": (lambda i: nx.as_type(i, "s32"), (0, 5)),
    "always": (lambda i: nx.less(i, 6), (1, 1)),
    "never": (lambda i: nx.less(i, 0), (0, 0)),
    "sometimes": (lambda i: nx.less(i, 3), (0, 1)),
    "a choice that is known": (lambda i: nx.select(nx.less(i, 0), i + 100, i), (0, 5)),
    "a choice": (lambda i: nx.select(nx.less(i, 2), i + 100, i), (0, 105)),
    "both": (lambda i: nx.logical_and(nx.less(i, 6), nx.greater_equal(i, 0)), (1, 1)),
    "what might overflow": (lambda i: i * (1 << 62), None),
    "a float": (lambda i: nx.as_type(i, "f32"), None),
}


@pytest.mark.parametrize(("function", "expected"), CASES.values(), ids=CASES)
def test_arithmetic(function, expected):
    graph = graph_of(function, spec("s64"))
    found = integer_ranges.intervals(post_order(graph.outputs), {graph.parameters[0]: (0, 5)})
    assert found.get(graph.outputs[0]) == expected


def loop(start, go_on, step):
    """The node of a loop over one number."""

    def function(n):
        return control_flow.run_while([start, n], lambda s: go_on(s[0]), lambda s: [step(s[0]), s[1]], "in")[0]

    graph = graph_of(function, spec("s64"))
    return next(node for node in post_order(graph.outputs) if node.primitive.name == "while")


@pytest.mark.parametrize(
    ("go_on", "step", "expected"),
    [
        (lambda i: nx.less(i, 10), lambda i: i + 1, (2, 9)),
        (lambda i: nx.less_equal(i, 10), lambda i: i + 3, (2, 10)),
        (lambda i: nx.greater(10, i), lambda i: 1 + i, (2, 9)),
        (lambda i: nx.greater(i, -4), lambda i: i - 2, (-3, 2)),
        (lambda i: nx.logical_and(nx.less(i, 10), nx.less(i, 7)), lambda i: i + 1, (2, 6)),
        (lambda i: nx.less(i, 10), lambda i: i * 2, None),
        (lambda i: nx.not_equal(i, 10), lambda i: i + 1, None),
        (lambda i: nx.less(i, 0), lambda i: i + 1, None),
    ],
)
def test_counters(go_on, step, expected):
    node = loop(2, go_on, step)
    known = dict.fromkeys(node.operands[:1], (2, 2))
    _, inside = integer_ranges.of_parts(node, known)
    assert inside.get(node.params["body"].parameters[0]) == expected


def test_a_part_of_the_state_that_stays_has_the_interval_of_its_beginning():
    node = loop(2, lambda i: nx.less(i, 10), lambda i: i + 1)
    asked, turned = integer_ranges.of_parts(node, {node.operands[1]: (3, 4)})
    assert asked[node.params["condition"].parameters[1]] == (3, 4)
    assert turned[node.params["body"].parameters[1]] == (3, 4)


def test_constants():
    one = constant(7, s64)
    assert integer_ranges.intervals([one], {}) == {one: (7, 7)}
