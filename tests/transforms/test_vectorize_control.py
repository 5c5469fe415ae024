"""Loops and choices over entries give for each what they give for that entry alone, and end when these do."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison import loop_programs
from graph_comparison.compiled_graphs import graph_of, spec
from graph_comparison.vectorized_graphs import SIZE, check
from nxkernel import primitives as p
from nxkernel.graph.traverse import post_order
from nxkernel.ops.programs.control_flow import choose, run_while
from nxkernel.transforms.vectorize_control import mapped_outputs

NUMBER, WHOLE, ROW = spec("f64"), spec("s64"), spec("f64", 4)
ROWS = np.array([[1.0, 2.0, 3.0, 4.0], [0.5, -1.0, 0.25, 2.0], [-3.0, 8.0, 1.0, 0.0]])
NUMBERS = np.array([1.5, -2.0, 0.25])
WHOLES = np.array([3, 0, 5])


def controls(graph):
    return [node.primitive.name for node in post_order(graph.outputs) if node.primitive.family == "control"]


# Choices -------------------------------------------------------------------------------------------------------------


def choice(predicate, x, y):
    return choose(predicate > 0, lambda: [x * 2.0, x], lambda: [x - y, x])


@pytest.mark.parametrize("predicate", [1.0, -1.0])
@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True)])
def test_choices_that_entries_share_stay(predicate, mapped):
    graph = graph_of(choice, NUMBER, ROW, ROW)
    arrays = [np.float64(predicate), *(ROWS if flag else ROWS[0] for flag in mapped)]
    made = check(graph, arrays, [False, *mapped])
    assert controls(made.graph) == ["cond"]
    assert made.mapped[0] is True


@pytest.mark.parametrize("mapped", [(True, True), (True, False), (False, True), (False, False)])
def test_choices_that_differ_compute_both_sides(mapped):
    graph = graph_of(choice, NUMBER, ROW, ROW)
    made = check(graph, [NUMBERS, *(ROWS if flag else ROWS[1] for flag in mapped)], [True, *mapped])
    assert controls(made.graph) == []
    assert made.mapped == [True, mapped[0]]


def test_what_both_sides_share_is_not_selected():
    graph = graph_of(lambda q, x: choose(q > 0, lambda: [x, x + 1.0], lambda: [x, x - 1.0]), NUMBER, ROW)
    made = check(graph, [NUMBERS, ROWS], [True, True])
    assert [node.primitive.name for node in post_order(made.graph.outputs)].count("select") == 1


def test_choices_in_choices():
    def nested(q, r, x):
        def inner():
            return choose(r > 0, lambda: [x + 1.0], lambda: [x * 3.0])

        return choose(q > 0, inner, lambda: [x - 1.0])

    graph = graph_of(nested, NUMBER, NUMBER, ROW)
    for mapped in [(True, True, True), (True, False, False), (False, True, False), (False, False, True)]:
        full = [NUMBERS, NUMBERS[::-1], ROWS]
        arrays = [a if flag else a[0] for a, flag in zip(full, mapped, strict=True)]
        check(graph, arrays, mapped)


# Loops ---------------------------------------------------------------------------------------------------------------


def powers(count, x):
    """``x`` doubled so many times, and how often that was."""
    return run_while(
        [nx.as_type(count * 0, "s64"), x],
        lambda state: state[0] < count,
        lambda state: [state[0] + 1, state[1] * 2.0],
        ["k", "x"],
    )


def test_loops_that_entries_share_stay():
    graph = graph_of(powers, WHOLE, ROW)
    made = check(graph, [np.int64(4), ROWS], [False, True])
    (loop,) = [node for node in post_order(made.graph.outputs) if node.primitive is p.while_]
    assert [value.shape for value in loop.operands] == [(), (SIZE, 4), ()]
    assert made.mapped == [False, True]


@pytest.mark.parametrize("mapped", [True, False])
def test_loops_that_differ_run_until_all_are_done(mapped):
    graph = graph_of(powers, WHOLE, ROW)
    made = check(graph, [WHOLES, ROWS if mapped else ROWS[0]], [True, mapped])
    (loop,) = [node for node in post_order(made.graph.outputs) if node.primitive is p.while_]
    assert [value.shape for value in loop.operands] == [(SIZE,), (SIZE, 4), (SIZE,), (SIZE,)]


def test_what_differs_after_some_turns_differs_from_the_start():
    def shifted(x, a, b, c):
        """Each turn hands a value on to the next part of the state."""
        return run_while(
            [nx.as_type(0, "s64"), a, b, c],
            lambda state: state[0] < 2,
            lambda state: [state[0] + 1, x, state[1], state[2]],
            ["k", "a", "b", "c"],
        )

    graph = graph_of(shifted, NUMBER, NUMBER, NUMBER, NUMBER)
    assert mapped_outputs(graph, [True, False, False, False]) == [False, True, True, True]
    check(graph, [NUMBERS, *NUMBERS], [True, False, False, False])


def test_parts_that_no_turn_changes_stay_the_same_for_all():
    def kept(count, x):
        return run_while(
            [count, x, x],
            lambda state: state[0] > 0,
            lambda state: [state[0] - 1, state[1], state[2] + state[1]],
            ["k", "kept", "sum"],
        )

    made = check(graph_of(kept, WHOLE, ROW), [WHOLES, ROWS[0]], [True, False])
    assert made.mapped == [True, False, True]


def test_a_condition_of_the_state_that_a_turn_makes_differ():
    def collatz(n):
        def turn(state):
            n, k = state
            (after,) = choose(nx.remainder(n, 2) == 0, lambda: [nx.quotient(n, 2)], lambda: [3 * n + 1])
            return [after, k + 1]

        return run_while([n, nx.as_type(0, "s64")], lambda state: state[0] > 1, turn, ["n", "k"])

    check(graph_of(collatz, WHOLE), [np.array([27, 1, 97])], [True])


def test_loops_in_loops():
    def nested(rows, columns, x):
        def turn(state):
            i, x = state
            _, x = run_while(
                [nx.as_type(0, "s64"), x],
                lambda inner: inner[0] < columns,
                lambda inner: [inner[0] + 1, inner[1] * 0.5 + nx.as_type(i, "f64")],
                ["j", "x"],
            )
            return [i + 1, x]

        return run_while([nx.as_type(0, "s64"), x], lambda state: state[0] < rows, turn, ["i", "x"])

    graph = graph_of(nested, WHOLE, WHOLE, NUMBER)
    full = [WHOLES, np.array([2, 1, 0]), NUMBERS]
    for mapped in [(True, True, True), (True, False, True), (False, True, False), (False, False, True)]:
        check(graph, [a if flag else a[0] for a, flag in zip(full, mapped, strict=True)], mapped)


def countdown(n):
    """Subtracts 1 until 0 is met: for a negative number, never."""
    return run_while([n], lambda state: state[0] != 0, lambda state: [state[0] - 1], ["n"])


@pytest.mark.parametrize("other", [True, False])
def test_a_loop_in_a_side_goes_by_the_entries_of_that_side(other):
    def guarded(n, k):
        return choose(n > 0, lambda: countdown(k) + countdown(n), lambda: [k, n * 10])

    graph = graph_of(guarded, WHOLE, WHOLE)
    made = check(graph, [np.array([3, -2, 5]), np.array([4, -1, 6]) if other else np.int64(4)], [True, other])
    assert made.mapped == [True, True]


def test_a_loop_in_a_side_that_no_entry_takes_does_not_run():
    def guarded(n, k):
        return choose(n > 0, lambda: countdown(k), lambda: [k])

    check(graph_of(guarded, WHOLE, WHOLE), [np.array([-3, -2, 0]), np.int64(-7)], [True, False])


def test_a_loop_in_a_shared_choice_in_a_side():
    def guarded(n, k, q):
        def inner():
            return choose(q > 0, lambda: countdown(k), lambda: [k + 1])

        return choose(n > 0, inner, lambda: [k])

    graph = graph_of(guarded, WHOLE, WHOLE, NUMBER)
    check(graph, [np.array([-3, -2, 0]), np.int64(-7), np.float64(1.0)], [True, False, False])
    check(graph, [np.array([-3, 2, 1]), np.array([-7, 4, 2]), np.float64(1.0)], [True, True, False])


def test_a_loop_in_turns_of_others_does_not_run_for_those_that_are_done():
    def descending(n):
        """Each turn counts down from what is left, which ends for positive numbers alone."""

        def turn(state):
            (zero,) = countdown(state[0])
            return [state[0] - 2 + zero, state[1] + 1]

        return run_while([n, nx.as_type(0, "s64")], lambda state: state[0] > 0, turn, ["n", "k"])

    check(graph_of(descending, WHOLE), [np.array([3, -5, 8])], [True])


def test_arrays_that_entries_assign_into():
    def filled(limit, a):
        """Elements up to a limit become their places."""

        def turn(state):
            k, a = state
            value = nx.reshape(nx.as_type(k, "f64"), [1])
            return [k + 1, nx.put_slice(a, [k], value)]

        return run_while([nx.as_type(0, "s64"), a], lambda state: state[0] < limit, turn, ["k", "a"])

    graph = graph_of(filled, WHOLE, ROW)
    check(graph, [np.array([3, 0, 4]), ROWS], [True, True])
    check(graph, [np.array([3, 0, 4]), ROWS[0]], [True, False])
    check(graph, [np.int64(2), ROWS], [False, True])


@pytest.mark.slow
def test_gradients_go_through_loops_that_entries_leave_on_their_own():
    """Bounds of an inner loop that come from the outer one are known in all entries too."""
    rows = ROWS[:, :3] * 0.2
    for program in (loop_programs.left_before_counting, loop_programs.left_from_within):
        found = nx.grad(lambda x, *, program=program: nx.sum(nx.vmap(program)(x)))(rows)
        np.testing.assert_allclose(found, [nx.grad(program)(row) for row in rows], rtol=1e-9)


def test_predicates_of_other_types_count_where_they_are_not_zero():
    from nxkernel.compilers.rewrite.loop_nest_rewrites import make
    from nxkernel.graph.tracing import trace_body

    sides = [trace_body(name, function, [("x", NUMBER)], list)[0] for name, function in SIDES]

    def chosen(q, x):
        made = make(p.cond, q, x, then=sides[0], otherwise=sides[1])
        return make(p.elem, made, index=0)

    check(graph_of(chosen, NUMBER, NUMBER), [np.array([0.5, 0.0, np.nan]), NUMBERS], [True, True])


SIDES = [("then", lambda x: [x * 2.0]), ("otherwise", lambda x: [x + 1.0])]
