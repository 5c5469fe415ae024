"""Loops whose first turns change the type of a variable: those turns are written out, the others are a loop."""

import warnings

import numpy as np
import pytest

import nxkernel as nx


def powers(move, x):
    rows = np.empty((200, 2))
    for turn in range(200):
        x = move @ x
        rows[turn] = x
    return rows, x


def twice(x):
    total, halves = 3, np.array([1, 2])
    for k in range(5, 400, 2):
        total = total + halves * k
        halves = halves * 0.5
    return total, halves


def left(rows):
    total = np.zeros(2, dtype=int)
    for _, row in enumerate(rows):
        total = total + row
        if total[0] > 1500:
            break
    return total


def left_at_once(rows):
    total = np.zeros(2, dtype=int)
    for row in rows:
        total = total + row
        if len(rows) > 1:
            break
    return total


def written_through(x):
    step = np.array([1, 2])
    for k in range(200):
        x[k] += step
        step = step * 0.5 + x[k - 1]
    return step


ROWS = np.arange(400.0).reshape(200, 2) / 3
PROGRAMS = {
    powers: (np.array([[0.9, 0.1], [-0.1, 0.9]]), np.array([1, 2])),
    twice: (1.0,),
    left: (ROWS,),
    left_at_once: (ROWS,),
    written_through: (ROWS,),
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_first_turns_settle_the_types(program):
    arguments = [[np.copy(value) for value in PROGRAMS[program]] for _ in range(2)]
    definition = nx.defn(program)
    with warnings.catch_warnings():
        # More than 64 turns that are written out would say so.
        warnings.simplefilter("error")
        found, expected = definition(*arguments[0]), program(*arguments[1])
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for one, other in zip((*found, *arguments[0]), (*expected, *arguments[1]), strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-12)
        assert np.asarray(one).dtype == np.asarray(other).dtype
    assert len(repr(nx.debug_expr(definition)(*PROGRAMS[program])).splitlines()) < 80


def growing(x):
    for k in range(6):
        x = np.concatenate([x, x[:1] * k])
    return x


def test_types_that_never_settle_are_written_out_as_before():
    x = np.arange(3.0)
    definition = nx.defn(growing)
    np.testing.assert_array_equal(np.asarray(definition(x)), growing(x))
    (note,) = nx.events("growing", "miss")[-1].notes
    assert note.endswith("this loop is written out 6 times: `x` is f64[3] before a turn and f64[4] after it")


def stretching(x):
    for _ in range(20_000):
        x = np.append(x, 1.0)
    return x


def test_too_many_turns_of_new_shapes_are_refused():
    with pytest.raises(nx.errors.NxTypeError, match=r"`x` is f64\[\d\] before a turn and f64\[\d\] after it"):
        nx.defn(stretching)(np.zeros(3))
