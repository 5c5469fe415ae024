"""Which loops have turns that are independent of each other: programs as people write them, read from their graphs."""

import numpy as np
import pytest

import nxkernel as nx
from native_code.spread_loops import every_loop_is_spread, on_each_count
from nxkernel.compilers.numba_cpu.compiler import NumbaCpu
from nxkernel.compilers.numba_cpu.program import graph_compilation
from nxkernel.compilers.plan.nested_plans import all_plans

A = np.arange(30.0).reshape(5, 6)


@pytest.fixture
def loops(monkeypatch):
    """Gives what is known of each loop of a program, those outside first."""
    graphs, compile_ = [], NumbaCpu.compile
    monkeypatch.setattr(NumbaCpu, "compile", lambda self, graph: graphs.append(graph) or compile_(self, graph))

    def look(plan):
        for control in plan.controls.values():
            if control.node.primitive.name == "while":
                yield control.independence
                yield from look(control.parts[1])
            else:
                yield from (one for part in control.parts for one in look(part))

    def found(function, *arguments, **options):
        nx.defn(function, **options)(*arguments)
        return list(look(graph_compilation.plan_of(graphs[-1])))

    return found


def rows(x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
            out[i, j] = total
    return out


def columns(x):
    for j in range(x.shape[1]):
        x[:, j] -= np.mean(x[:, j])


def shifted(x, y):
    for i in range(1, x.shape[0]):
        x[i - 1] = y[i] * 2


def backwards(x):
    for i in range(x.shape[0] - 1, -1, -1):
        x[i] = np.sqrt(x[i])


def chosen(x, y):
    for i in range(x.shape[0]):
        if y[i, 0] > 5:
            x[i] = 0
        else:
            x[i, 1] += 1


def every_second(x):
    for i in range(2):
        x[2 * i + 1] = i


def every_third_of_a_row(x):
    for i in range(x.shape[0]):
        x[i, 1::3] *= 2


def columns_of_a_diagonal(x):
    for i in range(x.shape[0]):
        x[i, i] = x[0, i] + 1


def pairs_of_rows(x):
    for i in range(0, 4, 2):
        x[i + 1] = x[i] * 2
        x[i : i + 2] += 1


def elements(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = x[i, j] + y[j % 5, i]


@pytest.mark.parametrize(
    ("function", "arguments", "lanes"),
    [
        (rows, [A], [{1: (0, 1, 0, 0)}, None]),
        (columns, [A.copy()], [{1: (1, 1, 0, 0)}]),
        (shifted, [A.copy(), A], [{1: (0, 1, -1, -1)}]),
        (backwards, [A.copy()], [{1: (0, 1, 0, 0)}]),
        (chosen, [A.copy(), A], [{1: (0, 1, 0, 0)}]),
        (every_second, [A.copy()], [{1: (0, 2, 1, 1)}]),
        (every_third_of_a_row, [A.copy()], [{1: (0, 1, 0, 0)}]),
        (columns_of_a_diagonal, [A.copy()], [{1: (1, 1, 0, 0)}]),
        (pairs_of_rows, [A.copy()], [{1: (0, 1, 0, 1)}]),
        (elements, [A.copy(), A], [{1: (0, 1, 0, 0)}, {1: (1, 1, 0, 0)}]),
    ],
)
def test_independent_turns(loops, function, arguments, lanes):
    assert [one.lanes if one else None for one in loops(function, *arguments)] == lanes


def total(x):
    found = 0.0
    for i in range(x.shape[0]):
        found += x[i, 0]
    return found


def from_the_row_before(x):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] + 1


def all_rows(x):
    for i in range(x.shape[0]):
        x[i] -= np.sum(x)


def diagonal_and_column(x):
    for i in range(x.shape[0]):
        x[i, i] = x[i, 0] + x[0, i]


def two_rows(x):
    for i in range(x.shape[0] - 1):
        x[i : i + 2] += 1


def moved_by_clamping(x, n):
    for i in range(n):
        x[np.minimum(i, 2)] += 1


def at_computed_places(x, y):
    for i in range(x.shape[0]):
        x[y[i]] = i


def until(x):
    i = 0
    while x[i, 0] < 12:
        x[i, 0] += 1
        i += 1


def changing_places(x, y):
    for i in range(x.shape[0]):
        x[i] = y[i]
        x, y = y, x
    return x


def brought_together(x, y):
    for i in range(x.shape[0]):
        rows = x if y[i, 0] > 5 else y + 1
        x[i, 1] = rows[i, 0]


def begun_anew(x):
    for i in range(x.shape[0]):
        y = x
        for j in range(3):
            y = y + j
        x[i, 0] = y[i, 0]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (brought_together, [A.copy(), A]),
        (total, [A]),
        (from_the_row_before, [A.copy()]),
        (all_rows, [A.copy()]),
        (diagonal_and_column, [A.copy()]),
        (two_rows, [A.copy()]),
        (moved_by_clamping, [A.copy(), 5]),
        (at_computed_places, [A.copy(), np.arange(5)]),
        (until, [A.copy()]),
        (changing_places, [A.copy(), A.copy()]),
    ],
)
def test_dependent_turns(loops, function, arguments):
    assert loops(function, *arguments) == [None]


def test_an_inner_loop_has_what_the_outer_one_counts(loops):
    def pairs(x):
        for i in range(x.shape[0]):
            for _ in range(3):
                x[i] = x[i] * 0.5

    outer, inner = loops(pairs, A.copy())
    assert outer.lanes == {1: (0, 1, 0, 0)}
    assert inner is None


def times(a, *, gain=1):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0:
                a[i, j] = a[i, j] * gain
            a[i, j] += 1
    return a


def first_of_columns(a, *, gain=1):
    for i in range(a.shape[1]):
        for j in range(a.shape[0]):
            if j > 3:
                a[j, i] = a[j, i] * gain
            a[0, i] = 7
    return a


def kept_where(a, *, on=True):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0:
                a[i, j] = a[i, j] if on else 0
            a[i, j] += a[i, 0]
    return a


@pytest.mark.parametrize("function", [times, first_of_columns, kept_where])
def test_a_branch_that_changes_nothing_is_no_copy(loops, function):
    """Of all that such a loop has, no choice is left, and so no array in the memory of its turns."""
    with every_loop_is_spread():
        outer, _ = loops(function, A.copy(), promotion="numpy")
        assert outer is not None
        definition = nx.defn(function, promotion="numpy")
        expected = function(A - 12)
        for found in on_each_count(lambda: definition(A - 12)):
            np.testing.assert_array_equal(found, expected)
        plan = max(definition._entry_group.programs(), key=lambda program: program.made).executable.plan
    plans = all_plans(plan)
    assert {control.node.primitive.name for part in plans for control in part.controls.values()} == {"while"}
    assert all(array.shape == () for part in plans for array in part.arrays)
