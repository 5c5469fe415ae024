"""Errors of conditions that only the running program knows."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxValueError
from nxkernel.graph import deferred_calls
from nxkernel.ops.machinery.dispatch import operand


def _too_great(largest):
    return NxValueError(f"at most 3, got {largest}")


def at_most_3(t):
    largest = operand(nx.max(t))
    assert deferred_calls.raise_if(operand(largest > 3), [largest], _too_great)
    return t * 2


def test_an_error_is_raised_after_the_run_in_which_a_condition_does_not_hold():
    f = nx.jit(at_most_3)
    assert f(nx.tensor([1, 3])).to_list() == [2, 6]
    for _ in range(2):
        with pytest.raises(NxValueError, match=r"^at most 3, got 7\n  test_deferred_calls.py, line "):
            f(nx.tensor([1, 7]))
    assert f(nx.tensor([2, 2])).to_list() == [4, 4]


def test_in_a_branch_it_is_checked_where_that_is_taken():
    @nx.defn
    def f(t, wanted):
        if wanted > 0:
            return at_most_3(t)
        return t

    assert f(nx.tensor([1, 7]), 0).to_list() == [1, 7]
    assert f(nx.tensor([1, 2]), 1).to_list() == [2, 4]
    with pytest.raises(NxValueError, match=r"^at most 3, got 7\n  test_deferred_calls.py, line "):
        f(nx.tensor([1, 7]), 1)


def test_where_nothing_is_checked():
    checked = []

    def note(t):
        checked.append(deferred_calls.raise_if(operand(t > 3), [operand(t)], _too_great))
        return t

    note(nx.tensor(5))
    nx.jit(lambda t: nx.fori(0, 3, lambda k, t: note(t), t))(nx.tensor(5))
    assert checked
    assert not any(checked)


def test_checks_go_beside_hooks_and_assigned_arrays():
    def f(x, v):
        nx.print_value(v.sum())
        x[x > 2] = v
        return x.sum()

    x = np.array([1.0, 3.0, 4.0])
    assert nx.jit(f, promotion="numpy")(x, np.array([5.0, 6.0])) == 12
    np.testing.assert_array_equal(x, [1.0, 5.0, 6.0])
    with pytest.raises(NxValueError, match=r"^x\[mask\] = v got 3 values, and the mask picks 2\."):
        nx.jit(f, promotion="numpy")(x, np.arange(3.0))
    np.testing.assert_array_equal(x, [1.0, 5.0, 6.0])
