"""Loops and choices of programs: they compute what the evaluator computes, and arrays are updated where they are."""

import re
import signal
import threading
import time

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, planned, spec
from nxkernel.compilers.plan.program_plan import Control, ElementStore
from nxkernel.ops.programs import control_flow

X = np.arange(12.0).reshape(3, 4)


def counted(turns, body, state):
    """The state after so many turns of ``body(i, state)``."""
    names = [f"s{place}" for place in range(len(state))]
    after = control_flow.run_while(
        [0, *state],
        lambda s: nx.less(s[0], turns),
        lambda s: [s[0] + 1, *body(s[0], s[1:])],
        ["i", *names],
    )
    return after[1:]


def put(x, value, *places):
    """An array with one element changed."""
    return nx.put_slice(x, list(places), nx.reshape(value, (1,) * x.rank))


STATES = {
    "made anew": (lambda x: counted(5, lambda i, s: [s[0] * 0.5 + 1], [x]), [X]),
    "changing places": (lambda x, y: counted(5, lambda i, s: [s[1], s[0] + 1], [x, y]), [X, 2 * X]),
    "changing places an even number of times": (
        lambda x, y: counted(4, lambda i, s: [s[1], s[0]], [x, y]),
        [X, 2 * X],
    ),
    "three in a ring": (
        lambda x, y, z: counted(7, lambda i, s: [s[1], s[2], s[0]], [x, y, z]),
        [X, 2 * X, 3 * X],
    ),
    "one becomes another": (lambda x, y: counted(3, lambda i, s: [s[1], s[1] * 2], [x, y]), [X, 2 * X]),
    "one becomes both": (lambda x, y: counted(3, lambda i, s: [s[1], s[1]], [x, y]), [X, 2 * X]),
    "a value from outside": (lambda x, y: counted(3, lambda i, s: [y], [x]), [X, 2 * X]),
    "a constant": (lambda x: counted(3, lambda i, s: [nx.broadcast(nx.f64(1.0), (3, 4))], [x]), [X]),
    "no turn": (lambda x: counted(0, lambda i, s: [s[0] + 1], [x]), [X]),
    "elements": (lambda x: counted(3, lambda i, s: [put(s[0], s[0][i, i + 1] * 2, i, i)], [x]), [X]),
    "elements backwards": (lambda x: counted(3, lambda i, s: [put(s[0], s[0][0, 0] + 1, 2 - i, 3 - i)], [x]), [X]),
    "rows from other rows": (
        lambda x: counted(2, lambda i, s: [nx.put_slice(s[0], [i, 0], nx.new_axis(s[0][i] + s[0][i + 1], 0))], [x]),
        [X],
    ),
    "a row from itself": (
        lambda x: counted(2, lambda i, s: [nx.put_slice(s[0], [i, 0], nx.new_axis(s[0][i] * 2, 0))], [x]),
        [X],
    ),
    "a shift": (lambda x: counted(3, lambda i, s: [nx.put_slice(s[0], [0, 1], s[0][:, :3] * 2.0)], [x]), [X]),
    "two updates": (
        lambda x: counted(3, lambda i, s: [put(nx.put_slice(s[0], [0, 1], s[0][:, :3]), nx.sum(s[0]), i, i)], [x]),
        [X],
    ),
    "sums at places": (
        lambda x, places: counted(3, lambda i, s: [nx.indexed_add(s[0], places, s[0][:2, i])], [x]),
        [X, np.array([[0, 0], [2, 1]])],
    ),
    "small numbers": (
        lambda x: counted(20, lambda i, s: [s[0] + nx.as_type(i, "bf16"), nx.logical_not(s[1])], [x, nx.tensor(False)]),
        [nx.bf16(1.0).to_numpy()],
    ),
    "complex numbers": (lambda x: counted(6, lambda i, s: [s[0] * s[0] + x], [x]), [np.complex128(0.3 + 0.2j)]),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("function", "arrays"), STATES.values(), ids=STATES)
def test_states(function, arrays):
    agree(lambda *values: tuple(function(*values)), *arrays, rtol=1e-12)


def product(a, b):
    """A product of matrices by three loops."""
    n = a.shape[0]

    def element(i, j, k, s):
        return [put(s[0], s[0][i, j] + a[i, k] * b[k, j], i, j)]

    def column(i, j, s):
        return counted(n, lambda k, s: element(i, j, k, s), s)

    zeros = nx.broadcast(nx.f64(0.0), (n, n))
    return counted(n, lambda i, s: counted(n, lambda j, s: column(i, j, s), s), [zeros])[0]


def test_loops_in_loops():
    a, b = np.random.default_rng(0).random((2, 9, 9))
    found = agree(product, a, b, rtol=1e-12)
    np.testing.assert_allclose(found[0], a @ b)


def parts(plan):
    """All steps, those of loops and choices too."""
    found = []
    for step in plan.steps:
        found.append(step)
        if isinstance(step.work, Control):
            found += [inner for part in step.work.parts for inner in parts(part)]
    return found


def test_an_array_is_updated_where_it_is_through_all_loops():
    plan = planned(product, spec("f64", 9, 9), spec("f64", 9, 9))
    loops = [step.work for step in parts(plan) if isinstance(step.work, Control)]
    assert [loop.shared for loop in loops] == [(None, None), (None, 1), (None, 1)]
    assert sum(isinstance(step.work, ElementStore) for step in parts(plan)) == 1


def test_what_the_caller_has_is_not_written_to():
    x = X.copy()
    (found,) = agree(lambda x: counted(3, lambda i, s: [put(s[0], s[0][0, 0] + 1, i, i)], [x]), x)
    np.testing.assert_array_equal(x, X)
    assert not np.shares_memory(found, x)


def test_an_old_value_that_is_wanted_later_is_kept():
    def function(x):
        def body(i, s):
            changed = put(s[0], nx.f64(7.0), i, i)
            return [changed, s[1] + nx.sum(s[0] * changed)]

        return counted(3, body, [x, nx.f64(0.0)])

    agree(lambda x: tuple(function(x)), X, rtol=1e-12)


CHOICES = {
    "numbers": lambda x, i: control_flow.choose(nx.greater(i, 2), lambda: [x[0, 0], 1.5], lambda: [x[1, 1], 2]),
    "an update and a new array": lambda x, i: control_flow.choose(
        nx.greater(i, 2), lambda: [put(x, x[0, 1], 0, 0)], lambda: [x * 2]
    ),
    "an update or nothing": lambda x, i: control_flow.choose(
        nx.greater(i, 2), lambda: [put(x, x[0, 1], 0, 0), nx.sum(x)], lambda: [x, nx.f64(0.0)]
    ),
    "the same twice": lambda x, i: control_flow.choose(nx.greater(i, 2), lambda: [x + 1, x], lambda: [x, x]),
    "other shapes": lambda x, i: control_flow.choose(nx.greater(i, 2), lambda: [x], lambda: [1.0]),
    "a loop in one side": lambda x, i: control_flow.choose(
        nx.greater(i, 2), lambda: counted(i, lambda k, s: [s[0] + x[0]], [x[1]]), lambda: [x[2]]
    ),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("function", CHOICES.values(), ids=CHOICES)
def test_choices(function, number):
    agree(lambda x, i: tuple(function(x, i)), X, np.int64(number), rtol=1e-12)


def test_updates_in_a_choice_in_a_loop_are_in_place():
    def function(x):
        def body(i, s):
            return control_flow.choose(
                nx.equal(nx.remainder(i, 2), 0), lambda: [put(s[0], s[0][i, i] + 1, i, i)], lambda: [s[0]]
            )

        return counted(3, body, [x])[0]

    agree(function, X)
    loops = [step.work for step in parts(planned(function, spec("f64", 3, 4))) if isinstance(step.work, Control)]
    assert [loop.shared for loop in loops] == [(None, None), (0 + 1,)]


def test_a_loop_of_numbers_has_no_kernel_and_no_memory():
    def function(n):
        return control_flow.run_while(
            [n, 0], lambda s: nx.greater(s[0], 1), lambda s: [nx.quotient(s[0], 2), s[1] + 1], "nk"
        )

    executable = compiled(lambda n: tuple(function(n)), spec("s64"))
    assert (executable.kernels, executable.plan.workspace) == ([], 0)
    assert [result.item() for result in executable.run([np.array(1000)])] == [1, 9]


def test_a_new_number_of_turns_is_the_same_program():
    def text(turns):
        return compiled(lambda x: tuple(counted(turns, lambda i, s: [s[0] * 0.5], [x])), spec("f64", 3)).symbol

    assert text(1000) == text(2000)


def test_indices_that_stay_inside_are_not_clamped(monkeypatch):
    from nxkernel.compilers.numba_cpu.program import program_writer

    texts = []
    write = program_writer.write

    def kept(*arguments):
        texts.append(write(*arguments))
        return texts[-1]

    monkeypatch.setattr(program_writer, "write", kept)
    compiled(lambda x: tuple(counted(9, lambda i, s: [s[0] + x[i]], [0.0])), spec("f64", 9))
    compiled(lambda x: tuple(counted(9, lambda i, s: [s[0] + x[i + 1]], [0.0])), spec("f64", 9))
    clamped = [bool(re.search(r"llvm\.smin", text.text)) for text in texts]
    assert clamped == [False, True]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no timers that interrupt")
@pytest.mark.parametrize("size", [(), (2000,)], ids=["numbers", "arrays"])
def test_a_loop_without_end_is_interrupted(size):
    def endless(x):
        step = nx.broadcast(nx.f64(1.0), size)
        return tuple(control_flow.run_while([x], lambda s: nx.greater(nx.sum(s[0]), 0), lambda s: [s[0] + step], ["x"]))

    run = nx.jit(endless)

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    start = time.perf_counter()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(np.ones(size))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - start < 10
    assert nx.jit(lambda x: x + 1)(np.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_threads_run_loops_at_once():
    run = nx.jit(lambda x: counted(2000, lambda i, s: [s[0] * 0.999 + x], [x])[0])
    expected = np.asarray(run(X))
    found = [None] * 4

    def work(place):
        found[place] = run(X)

    workers = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for result in found:
        np.testing.assert_array_equal(result, expected)


def test_one_array_in_two_shapes_has_the_strides_of_each():
    def function(x):
        def body(i, s):
            flat = nx.reshape(x, (2, 6))
            return [s[0] + x[i, 1] + 10 * flat[nx.min(i, 1), 2]]

        return counted(3, body, [nx.f64(0.0)])[0]

    (found,) = agree(function, X)
    assert found == sum(X[i, 1] + 10 * X.reshape(2, 6)[min(i, 1), 2] for i in range(3))
