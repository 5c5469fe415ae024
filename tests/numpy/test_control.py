"""Arrays that are assigned into inside of loops and choices."""

import numpy as np

from numpy_comparison.traced_functions import check, traced
from nxkernel.ops.programs.control_flow import choose, run_while


def _loop(np, x, count):
    def body(state):
        (i,) = state
        x[i] = x[i - 1] * 2 + x[0]
        return [i + 1]

    run_while([1], lambda state: state[0] < count, body, ["i"])
    return x


def test_what_a_loop_writes_is_seen_after_it():
    (found,) = traced(lambda np, x: _loop(np, x, 5), np.ones(6))
    np.testing.assert_array_equal(found, [1, 3, 7, 15, 31, 1])


def test_views_write_through_in_loops():
    (found,) = traced(lambda np, x: (_loop(np, x[1], 3), x)[1], np.ones((2, 4)))
    np.testing.assert_array_equal(found, [[1, 1, 1, 1], [1, 3, 7, 1]])


def test_choices():
    def f(np, x, c):
        def change():
            x[0] = 5
            return []

        choose((c > 0).__nx_operand__(), change, list)
        return x

    np.testing.assert_array_equal(traced(f, np.zeros(2), np.array(1))[0], [5, 0])
    np.testing.assert_array_equal(traced(f, np.zeros(2), np.array(-1))[0], [0, 0])


def test_counters_are_weak():
    def f(np, x):
        total = np.zeros((), np.float32)

        def body(state):
            total[...] = total + x[state[0]] * state[0]
            return [state[0] + 1]

        run_while([0], lambda state: state[0] < 3, body, ["i"])
        return total

    found = traced(f, np.arange(3, dtype=np.float32))[0]
    assert found == 5
    assert found.dtype == np.float32


def test_numbers_from_outside_of_a_body_stay_weak():
    def f(np, x):
        i = 2
        y = x * i
        y[i - 1] += i
        return y

    check(f, np.arange(3, dtype=np.float32))
