"""Loops and choices of programs for GPUs: they compute what the evaluator computes, and wait only where they must."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.programs import agree, compiled, done
from nxkernel.compilers.numba_cuda.program import launch_modes
from nxkernel.compilers.numba_cuda.program.control_flow import BranchStep, LoopStep, exchanged
from nxkernel.compilers.numba_cuda.program.host_steps import CopyStep, HostArithmetic
from nxkernel.compilers.plan.locations import Location
from nxkernel.ops.programs import control_flow

X = np.arange(12.0).reshape(3, 4)


@pytest.fixture(params=["in kernels", "by the host"], autouse=True)
def way(request, monkeypatch):
    """Whether kernels go through whole loops and choices where they can."""
    if request.param == "by the host":
        monkeypatch.setattr(launch_modes, "MOST_STEPS", -1)
        monkeypatch.setattr(launch_modes, "WAITING", -1)
    return request.param


@pytest.fixture
def by_the_host(monkeypatch):
    """Have the host go through all loops and choices."""
    monkeypatch.setattr(launch_modes, "MOST_STEPS", -1)
    monkeypatch.setattr(launch_modes, "WAITING", -1)


def counted(turns, body, state):
    """The state after so many turns of ``body(i, state)``."""
    names = [f"s{place}" for place in range(len(state))]
    after = control_flow.run_while(
        [0, *state], lambda s: nx.less(s[0], turns), lambda s: [s[0] + 1, *body(s[0], s[1:])], ["i", *names]
    )
    return after[1:]


def put(x, value, *places):
    """An array with one element changed."""
    return nx.put_slice(x, list(places), nx.reshape(value, (1,) * x.rank))


STATES = {
    "made anew": (lambda x: counted(5, lambda i, s: [s[0] * 0.5 + 1], [x]), [X]),
    "changing places": (lambda x, y: counted(5, lambda i, s: [s[1], s[0] + 1], [x, y]), [X, 2 * X]),
    "in a ring": (lambda x, y, z: counted(7, lambda i, s: [s[1], s[2], s[0]], [x, y, z]), [X, 2 * X, 3 * X]),
    "one becomes both": (lambda x, y: counted(3, lambda i, s: [s[1], s[1]], [x, y]), [X, 2 * X]),
    "a value from outside": (lambda x, y: counted(3, lambda i, s: [y], [x]), [X, 2 * X]),
    "a constant": (lambda x: counted(3, lambda i, s: [nx.broadcast(nx.f64(1.0), (3, 4))], [x]), [X]),
    "no turn": (lambda x: counted(0, lambda i, s: [s[0] + 1], [x]), [X]),
    "elements": (lambda x: counted(3, lambda i, s: [put(s[0], s[0][i, i + 1] * 2, i, i)], [x]), [X]),
    "a row from itself": (
        lambda x: counted(2, lambda i, s: [nx.put_slice(s[0], [i, 0], nx.new_axis(s[0][i] * 2, 0))], [x]),
        [X],
    ),
    "numbers changing places": (
        lambda x: counted(5, lambda i, s: [s[1], s[0] + x[0, 1]], [x[0, 2], x[2, 2]]),
        [X],
    ),
    "one number for both": (lambda x: counted(4, lambda i, s: [s[1], s[1] * 2], [x[0, 2], x[2, 2]]), [X]),
    "a number from outside": (lambda x: counted(4, lambda i, s: [x[1, 1], s[0]], [x[0, 2], nx.f64(3.0)]), [X]),
    "small numbers": (
        lambda x: counted(20, lambda i, s: [s[0] + nx.as_type(i, "bf16"), nx.logical_not(s[1])], [x, nx.tensor(False)]),
        [nx.bf16(1.0).to_numpy()],
    ),
    "complex numbers": (lambda x: counted(6, lambda i, s: [s[0] * s[0] + x], [x]), [np.complex128(0.3 + 0.2j)]),
    "until it is enough": (
        lambda x: control_flow.run_while([x], lambda s: nx.less(nx.sum(s[0]), 500), lambda s: [s[0] * 2], ["x"]),
        [X],
    ),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("function", "arrays"), STATES.values(), ids=STATES)
def test_states(function, arrays, device):
    agree(lambda *values: tuple(function(*values)), *arrays, rtol=1e-12, times=3)


def product(a, b):
    """A product of matrices by three loops."""
    n = a.shape[0]

    def element(i, j, k, s):
        return [put(s[0], s[0][i, j] + a[i, k] * b[k, j], i, j)]

    def column(i, j, s):
        return counted(n, lambda k, s: element(i, j, k, s), s)

    zeros = nx.broadcast(nx.f64(0.0), (n, n))
    return counted(n, lambda i, s: counted(n, lambda j, s: column(i, j, s), s), [zeros])[0]


def test_loops_in_loops(by_the_host, device):
    a, b = np.random.default_rng(0).random((2, 4, 4))
    executable = agree(product, a, b, rtol=1e-12)
    steps, (found,) = done(executable, [a, b])
    np.testing.assert_allclose(found, a @ b)
    # What is updated stays where it is: only the zeros that it begins with are copied.
    assert [step.size for step in steps if isinstance(step, CopyStep)] == [a.nbytes]


CHOICES = {
    "numbers": lambda x, i: control_flow.choose(nx.greater(i, 2), lambda: [x[0, 0], 1.5], lambda: [x[1, 1], 2]),
    "an update and a new array": lambda x, i: control_flow.choose(
        nx.greater(i, 2), lambda: [put(x, x[0, 1], 0, 0)], lambda: [x * 2]
    ),
    "an update or nothing": lambda x, i: control_flow.choose(
        nx.greater(i, 2), lambda: [put(x, x[0, 1], 0, 0), nx.sum(x)], lambda: [x, nx.f64(0.0)]
    ),
    "the same twice": lambda x, i: control_flow.choose(nx.greater(i, 2), lambda: [x + 1, x], lambda: [x, x]),
    "known numbers": lambda x, i: control_flow.choose(nx.greater(i, 2), lambda: [i + 1, 1.0], lambda: [2, 3.0]),
    "a loop in one side": lambda x, i: control_flow.choose(
        nx.greater(i, 2), lambda: counted(i, lambda k, s: [s[0] + x[0]], [x[1]]), lambda: [x[2]]
    ),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("function", CHOICES.values(), ids=CHOICES)
def test_choices(function, number, device):
    agree(lambda x, i: tuple(function(x, i)), X, np.int64(number), rtol=1e-12, times=3)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("function", CHOICES.values(), ids=CHOICES)
def test_choices_by_numbers_of_the_device(function, device):
    def chosen(x):
        return tuple(function(x, nx.as_type(nx.sum(x), "s64")))

    agree(chosen, X, rtol=1e-12)
    agree(chosen, 0 * X, rtol=1e-12)


def test_what_the_caller_has_is_not_written_to(device):
    given = device.upload(X)
    executable = compiled(lambda x: tuple(counted(3, lambda i, s: [put(s[0], s[0][0, 0] + 1, i, i)], [x])), X)
    (found,) = executable.run([given])
    np.testing.assert_array_equal(given.host(), X)
    assert found.pointer != given.pointer


def test_an_old_value_that_is_wanted_later_is_kept(device):
    def function(x):
        def body(i, s):
            changed = put(s[0], nx.f64(7.0), i, i)
            return [changed, s[1] + nx.sum(s[0] * changed)]

        return tuple(counted(3, body, [x, nx.f64(0.0)]))

    agree(function, X, rtol=1e-12, times=3)


def test_updates_in_a_choice_in_a_loop(device):
    def function(x):
        def body(i, s):
            even = nx.equal(nx.remainder(i, 2), 0)
            return control_flow.choose(even, lambda: [put(s[0], s[0][i, i] + 1, i, i)], lambda: [s[0]])

        return counted(3, body, [x])[0]

    agree(function, X, times=3)


def count_reads(device, monkeypatch):
    """A list that gets the dtype of each element that is read back."""
    reads = []
    read = device.read
    monkeypatch.setattr(device, "read", lambda pointer, dtype: reads.append(dtype) or read(pointer, dtype))
    return reads


def test_loops_that_count_read_nothing_back(by_the_host, device, monkeypatch):
    reads = count_reads(device, monkeypatch)
    executable = compiled(lambda x, n: tuple(counted(n, lambda i, s: [s[0] * 0.5 + i], [x])), X, np.int64(3))
    executable.run([X, np.int64(3)])
    assert reads == []
    # A number of turns that the device has is not known here.
    executable.run([X, device.upload(np.int64(3))])
    assert len(reads) == 4


def test_a_condition_on_an_array_is_read_back_once_a_turn(by_the_host, device, monkeypatch):
    reads = count_reads(device, monkeypatch)
    (found,) = compiled(*STATES["until it is enough"][:1], X).run([X])
    assert len(reads) == 4
    np.testing.assert_array_equal(found.host(), 8 * X)


def test_what_numbers_of_one_exchange_do():
    first, second, made = Location.input(1), Location.input(2), Location.output(0)
    assert exchanged({1: made}, [first, made]) == ([], {first: made, made: first})
    assert exchanged({1: second, 2: first}, [first, second]) == ([], {first: second, second: first})
    assert exchanged({1: first}, [first, made]) == ([], {})
    assert exchanged({1: made, 2: made}, [first, second, made]) == ([(made, second)], {first: made, made: first})
    assert exchanged({1: Location.input(7)}, [first]) == ([(Location.input(7), first)], {})


def test_the_steps_of_a_loop_and_a_choice(by_the_host, device):
    program = compiled(*STATES["made anew"][:1], X).ready_for([X]).program
    assert [type(step) for step in program.steps] == [CopyStep, LoopStep, CopyStep]
    assert program.steps[1].answer.value is not None
    choose = CHOICES["an update and a new array"]
    given = [X, np.int64(1)]
    program = compiled(lambda x, i: tuple(choose(x, i)), *given).ready_for(given).program
    assert [type(step) for step in program.steps if not isinstance(step, HostArithmetic)].count(BranchStep) == 1
