"""What a program knows without asking the device."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.numba_cuda.program import scalar_loops, single_block_loops
from nxkernel.compilers.numba_cuda.program.host_numbers import known_after, known_results, known_state, waits
from nxkernel.compilers.plan.program_plan import Control
from nxkernel.ops.programs import control_flow
from on_device import plan_of

X = np.arange(12.0).reshape(3, 4)


@pytest.fixture(autouse=True)
def by_the_host(monkeypatch):
    """Have the host go through all loops and choices."""
    monkeypatch.setattr(scalar_loops, "MOST", -1)
    monkeypatch.setattr(single_block_loops, "WAITING", -1)


def loop(x, n):
    """A loop that counts twice, and carries a sum of the device and a number that becomes one."""
    return tuple(
        control_flow.run_while(
            [0, n, nx.f64(0.0), nx.f64(1.0), nx.f64(2.0)],
            lambda s: nx.less(s[0], n),
            lambda s: [s[0] + 1, s[1] * 2, s[2] + x[0, s[0]], s[4], s[2]],
            "inabc",
        )
    )


def the_loop(plan):
    (step,) = [step for step in plan.steps if isinstance(step.work, Control)]
    return step.work


def test_a_loop_that_counts_is_known():
    plan = plan_of(loop, X, np.int64(3))
    # A sum that comes from the device is not, nor is what takes its value later.
    assert known_state(the_loop(plan), plan, {("input", 1)}) == {0, 1}
    assert known_state(the_loop(plan), plan, set()) == {0}
    assert known_results(the_loop(plan), plan, {("input", 1)}) == [True, True, False, False, False]


def test_what_waits():
    plan = plan_of(loop, X, np.int64(3))
    assert waits(plan, ())
    assert not waits(plan, [1])
    fixed = plan_of(
        lambda x: control_flow.run_while([0, x], lambda s: nx.less(s[0], 3), lambda s: [s[0] + 1, s[1] * 2], "ix"), X
    )
    assert not waits(fixed, ())


def test_results_are_known_after_a_plan():
    def function(x, n):
        return nx.quotient(n, 2) + 1, nx.as_type(x[0, 1], "s64") + n, loop(x, n)[1] - n

    plan = plan_of(function, X, np.int64(3))
    after = known_after(plan, [1])
    assert [where in after for where in plan.outputs] == [True, False, True]
    assert not any(where in known_after(plan, []) for where in plan.outputs)


def test_choices():
    def function(x, n):
        return tuple(control_flow.choose(nx.less(x[0, 0], 3), lambda: [n, n + 1, 1.0], lambda: [n * 2, 5, x[0, 1]]))

    plan = plan_of(function, X, np.int64(3))
    # The host goes the way of the choice, whatever it is made by.
    assert known_results(the_loop(plan), plan, {("input", 1)}) == [True, True, False]
    assert waits(plan, [1])
