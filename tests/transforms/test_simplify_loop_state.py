"""Loops and choices carry what is asked for, once, and as long as it changes."""

import itertools

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.compilers.evaluator import Evaluated
from nxkernel.graph.traverse import post_order
from nxkernel.ops.programs.control_flow import choose, run_while
from nxkernel.transforms.simplify import simplify


def loop(turn, initial, turns=4):
    """A loop whose state is a counter and what a function of the counter and the state says."""
    names = ["i", *(f"s{place}" for place in range(len(initial)))]
    body = lambda state: [state[0] + 1, *turn(*state)]  # noqa: E731
    return run_while([0, *initial], lambda state: state[0] < turns, body, names)[1:]


def simplified(function, *specs):
    """The graph of a function, and what its loops and choices carry once it is simplified."""
    graph = graph_of(function, *specs)
    after = simplify(graph)
    carried = [
        (node.primitive.name, len(node.spec), len(node.operands))
        for node in post_order(after.outputs)
        if node.primitive.name in ("while", "cond")
    ]
    return graph, after, carried


def assert_same(graph, after, *arguments):
    for found, expected in zip(*(Evaluated(one).run(arguments) for one in (after, graph)), strict=True):
        np.testing.assert_array_equal(found, expected)


def check(function, *arguments, carried):
    specs = [spec("s64") if isinstance(value, int) else spec("f64", *np.shape(value)) for value in arguments]
    graph, after, found = simplified(function, *specs)
    assert_same(graph, after, *[np.asarray(value) for value in arguments])
    assert found == carried


def test_what_nobody_asks_for_is_not_carried():
    check(lambda x, y: loop(lambda i, a, b: [a * y, b + a], [x, y])[:1], 1.5, 0.5, carried=[("while", 2, 3)])


def test_what_others_need_is_carried():
    check(lambda x, y: loop(lambda i, a, b: [a * 2.0, b + a], [x, y])[1:], 1.5, 0.5, carried=[("while", 3, 3)])


def test_what_the_condition_needs_is_carried():
    def function(x, y):
        names = ["a", "b"]
        return run_while([x, y], lambda s: s[1] < 9.0, lambda s: [s[0] * 2.0, s[1] + 1.0], names)[:1]

    check(function, 1.5, 0.5, carried=[("while", 2, 2)])


def test_what_never_changes_is_taken_from_before_the_loop():
    check(lambda x, y: loop(lambda i, a, b: [a * b, b], [x, y]), 1.5, 0.5, carried=[("while", 2, 3)])


def test_a_loop_that_changes_nothing_is_none():
    check(lambda x, y: loop(lambda i, a, b: [a, b], [x, y]), 1.5, 0.5, carried=[])


def test_what_is_the_same_twice_is_carried_once():
    check(lambda x, y: loop(lambda i, a, b: [a * y, b * y], [x, x]), 1.5, 0.5, carried=[("while", 2, 3)])


def test_what_is_the_same_by_what_is_the_same_is_carried_once():
    check(
        lambda x, y: loop(lambda i, a, b, c, d: [a * c, b * d, c + y, d + y], [x, x, y, y]),
        1.5,
        0.5,
        carried=[("while", 3, 4)],
    )


def test_what_begins_alike_and_goes_apart_stays():
    check(lambda x, y: loop(lambda i, a, b: [a * y, b + y], [x, x]), 1.5, 0.5, carried=[("while", 3, 4)])


def test_what_goes_apart_after_a_turn_stays():
    """Alike for one turn, by others that are alike for none."""
    check(
        lambda x, y: loop(lambda i, a, b, c, d: [a + c, b + d, c * 2.0, d * 3.0], [x, x, y, y]),
        1.5,
        0.5,
        carried=[("while", 5, 5)],
    )


def test_what_changes_places_stays():
    check(lambda x, y: loop(lambda i, a, b: [b, a], [x, y], turns=3), 1.5, 0.5, carried=[("while", 3, 3)])


def test_loops_in_loops():
    def inner(i, a, b):
        return loop(lambda j, c, d: [c * 0.5, d + a], [a, b])[:1] + [b]

    check(lambda x, y: loop(inner, [x, y])[:1], 1.5, 0.5, carried=[("while", 2, 2)])


@pytest.mark.parametrize("predicate", [1, 0])
def test_choices(predicate):
    def function(q, x, y):
        return choose(q > 0, lambda: [x * 2.0, y, x, x * 2.0, y], lambda: [x - y, y, y, x - y, x])

    check(lambda q, x, y: function(q, x, y)[:4], predicate, 1.5, 0.5, carried=[("cond", 2, 3)])
    check(lambda q, x, y: function(q, x, y)[1:2], predicate, 1.5, 0.5, carried=[])
    check(lambda q, x, y: function(q, x, y)[:1], predicate, 1.5, 0.5, carried=[("cond", 1, 3)])


def test_a_choice_of_what_is_the_same_twice():
    function = lambda q, x, y: choose(q > 0, lambda: [x * y], lambda: [y - x])  # noqa: E731
    check(lambda q, x: function(q, x * 2.0, x * 2.0), 1, 1.5, carried=[("cond", 1, 2)])


def test_a_loop_that_two_ask_for_stays_one():
    def function(x, y):
        a, b = loop(lambda i, a, b: [a * 0.5, b * y], [x, x])
        return [a, b, a * b]

    check(function, 1.5, 0.5, carried=[("while", 3, 4)])


# Orders of derivatives -----------------------------------------------------------------------------------------------


@nx.defn
def continued(x):
    i = 0
    s = x
    while i < 10:
        i += 1
        if s > 3.0:
            s = s * 0.5
            continue
        s = s * nx.sin(s) + x
    return s


@nx.defn
def counted(x):
    s = x
    for i in range(20):
        s = s * nx.sin(s) * 0.5 + x * i * 0.125
    return s


@nx.defn
def nested(x):
    s = x
    for _ in range(8):
        for _ in range(5):
            s = s * nx.cos(s) + x
    return s


@nx.defn
def two_states(x):
    i = 0
    s, t = x, x * 0.5
    while i < 10 and s < 100.0:
        i += 1
        if t > 3.0:
            t = t * 0.5
            continue
        s = s + nx.sin(t) * x
        t = t * nx.cos(s) + 0.1
    return s * t


def size(outputs, counts):
    for node in post_order(outputs):
        name = node.primitive.name
        counts[name] = counts.get(name, 0) + 1
        counts["all"] = counts.get("all", 0) + 1
        for value in node.params.values():
            if hasattr(value, "outputs"):
                size(value.outputs, counts)
    return counts


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("function", "loops"),
    [(continued, 1), (counted, 1), (nested, 2), (two_states, 1)],
    ids=["continued", "counted", "nested", "two_states"],
)
def test_graphs_grow_by_the_order_of_the_derivative(function, loops):
    """A loop has one loop for each derivative of it, going on and going back, and no copies of these."""
    sizes = []
    for order in range(1, 5):
        function = nx.grad(function)
        found = size([nx.debug_expr(function)(1.3)], {})
        assert found["while"] == loops * 2**order
        sizes.append(found["all"])
    assert all(after <= 3.1 * before for before, after in itertools.pairwise(sizes))


@pytest.mark.slow
@pytest.mark.parametrize("function", [continued, counted, nested, two_states], ids=lambda one: one.__name__)
def test_third_derivatives(function):
    """By central differences of second ones."""
    second, step = nx.grad(nx.grad(function)), 1e-5
    x = nx.tensor(0.37, type="f64")
    expected = (second(x + step) - second(x - step)) / (2 * step)
    np.testing.assert_allclose(nx.grad(second)(x).to_number(), expected.to_number(), rtol=1e-5)
