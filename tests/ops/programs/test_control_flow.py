"""Loops and choices over flat values: types of numbers, parts that are unknown at first, and refusals."""

import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError
from nxkernel.graph.expr import Expr
from nxkernel.ops.programs import control_flow


def loop(initial, turn, turns=3):
    """The state after some turns, at once and in a compiled program."""

    def f(*values):
        names = [f"v{place}" for place in range(len(values) + 1)]
        given = [control_flow.UNKNOWN if value is None else value for value in initial]
        given = [
            value if isinstance(value, int | float) or value is control_flow.UNKNOWN else values[0] for value in given
        ]
        return tuple(
            control_flow.run_while([0, *given], lambda s: s[0] < turns, lambda s: [s[0] + 1, *turn(s[1:])], names)[1:]
        )

    tensors = [value for value in initial if isinstance(value, nx.Tensor)]
    names = len(initial)
    arguments = (*tensors, *[0] * (names - len(tensors)))
    now, compiled = f(*arguments), nx.jit(f, compiler="evaluator")(*arguments)
    assert [(str(v.spec), v.to_list()) for v in now] == [(str(v.spec), v.to_list()) for v in compiled]
    return [(str(v.spec), v.to_list()) for v in now]


def test_numbers_take_types_and_shapes():
    x = nx.f64([1.0, 2.0])
    assert loop([x, 0, 1], lambda s: [s[0], s[1] + s[0], s[2] * 2]) == [
        ("f64[2]", [1.0, 2.0]),
        ("f64[2]", [3.0, 6.0]),
        ("s64", 8),
    ]


def test_parts_that_are_unknown_at_first():
    x = nx.tensor([1.0, 2.0])
    assert loop([x, None], lambda s: [s[0] * 2, s[0]]) == [("f32[2]", [8.0, 16.0]), ("f32[2]", [4.0, 8.0])]


def test_functions_get_nothing_for_what_is_unknown():
    seen = []

    def turn(state):
        seen.append(state[0])
        return [5]

    assert (
        control_flow.run_while([control_flow.UNKNOWN], lambda s: seen.append(s[0]) or 0, turn, ["v"])[0].to_list() == 0
    )
    assert set(seen) == {None}


def test_a_part_that_changes_its_type():
    with pytest.raises(NxTypeError) as raised:
        control_flow.run_while([nx.s64(1)], lambda s: s[0] < 5, lambda s: [s[0] * 0.5], ["n"])
    assert str(raised.value) == (
        "a loop keeps the type and shape of 'n', which was s64 and is f32 after one turn.\n"
        "  Convert it before the loop or in it, such as nx.as_type(n, 's64')."
    )


def test_choices_make_leaves_when_both_sides_are_known():
    def f(x):
        pair = lambda one, other: ([one["a"], one["b"]], [other["a"], 7])  # noqa: E731
        return tuple(control_flow.choose(x > 0, lambda: {"a": x, "b": 7}, lambda: {"a": -x}, pair=pair))

    first, second = nx.jit(f, compiler="evaluator")(-3.0)
    assert (first.to_list(), second.to_list()) == (3.0, 7)


def test_what_both_sides_give_stays_what_it_is():
    kept = []

    def f(x):
        found = control_flow.choose(x > 0, lambda: [x, 5, x], lambda: [x, 5, x * 2])
        kept.append([found[0] is x, found[1], type(found[2]) is Expr])
        return found[2]

    assert float(nx.jit(f, compiler="evaluator")(-3.0)) == -6.0
    assert kept == [[True, 5, True]]


def test_a_condition_is_one_number():
    with pytest.raises(NxTypeError, match="the condition of a choice is one number"):
        control_flow.choose(nx.tensor([1, 0]), lambda: [1], lambda: [2])
