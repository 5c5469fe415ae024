"""Looks at the clock: which loops take them, how often, and that they end a program."""

import signal
import time

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import compiled, planned, spec
from nxkernel.compilers.numba_cpu.program import interrupt_polling, program_writer
from nxkernel.compilers.plan.program_plan import Control
from nxkernel.ops.programs import control_flow


def loop_of(function, *specs):
    """The first loop of a function's plan."""
    steps = planned(function, *specs).steps
    return next(step.work for step in steps if isinstance(step.work, Control))


def halved(n):
    """A loop of single numbers, with turns that nobody knows."""
    return control_flow.run_while([n], lambda s: nx.greater(s[0], 1), lambda s: [nx.quotient(s[0], 2)], "n")[0]


def counted(turns, body, value):
    return control_flow.run_while([0, value], lambda s: nx.less(s[0], turns), lambda s: [s[0] + 1, body(s[1])], "ix")[1]


def scaled(turns):
    return lambda x: counted(turns, lambda x: x * 0.5 + 1, x)


def written(function, *specs):
    """The text of a function's program."""
    plan = planned(function, *specs)
    return program_writer.write(plan, len(specs)).text


def test_what_a_turn_costs():
    assert interrupt_polling.cost(loop_of(halved, spec("s64")).parts[1]) == 1
    few = interrupt_polling.cost(loop_of(scaled(1000), spec("f64", 100)).parts[1])
    many = interrupt_polling.cost(loop_of(scaled(1000), spec("f64", 1000)).parts[1])
    assert 1 < few < many < interrupt_polling.ITERATIONS
    # A kernel that threads share takes longer than a look.
    assert (
        interrupt_polling.cost(loop_of(scaled(1000), spec("f64", 1_000_000)).parts[1]) == interrupt_polling.ITERATIONS
    )


def nested(inner):
    return lambda x: counted(1000, lambda x: counted(inner, lambda x: x * 0.5 + 1, x), x)


def test_what_a_turn_with_a_loop_costs():
    assert interrupt_polling.cost(loop_of(nested(10), spec("f64")).parts[1]) == 11
    assert interrupt_polling.cost(loop_of(nested(10_000_000), spec("f64")).parts[1]) == interrupt_polling.ITERATIONS
    # A loop that looks by itself costs nothing more.
    assert interrupt_polling.cost(loop_of(nested(1 << 40), spec("f64")).parts[1]) == 1


def test_short_loops_do_not_look():
    assert interrupt_polling.is_short(loop_of(scaled(1000), spec("f64")))
    assert not interrupt_polling.is_short(loop_of(scaled(interrupt_polling.SHORT), spec("f64")))
    assert not interrupt_polling.is_short(loop_of(halved, spec("s64")))
    assert "nxk_poll" not in written(scaled(1000), spec("f64"))
    assert written(scaled(interrupt_polling.SHORT), spec("f64")).count("call i1 @nxk_poll(") == 1


def test_the_look_is_one_function():
    text = written(lambda n: (halved(n), halved(n + 1)), spec("s64"))
    assert text.count("define internal i1 @nxk_poll(ptr %seen)") == 1
    assert text.count("call i1 @nxk_poll(") == 2


def test_what_a_kernel_costs_is_no_part_of_the_text():
    first, second = (written(scaled(1 << 40), spec("f64", n)) for n in (1000, 1500))
    assert "nxk_poll" in first
    assert first == second


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no timers that interrupt")
@pytest.mark.parametrize("function", [nested(1 << 60), nested(3)], ids=["a long loop in a loop", "many short ones"])
def test_loops_in_loops_are_interrupted(function):
    def endless(x):
        return control_flow.run_while([x], lambda s: nx.greater(s[0], -1), lambda s: [function(s[0])], "x")[0]

    executable = compiled(endless, spec("f64"))

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    start = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            executable.run([np.array(1.0)])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - start < 10
