"""What is decided of loops and branches: who runs them, why, and what the host knows of them."""

import dataclasses
import re

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.programs import compiled, plan_of
from nxkernel.compilers.numba_cuda.program import launch_modes
from nxkernel.compilers.numba_cuda.program.launch_modes import Decisions, decided, listing, one_thread_obstacle
from nxkernel.compilers.plan.nested_plans import all_plans
from nxkernel.compilers.plan.program_plan import Control, LaunchDecision, LaunchMode
from nxkernel.compilers.plan.verify import verify_launches
from nxkernel.errors import VerificationError
from nxkernel.ops.programs import control_flow

X = np.arange(12.0).reshape(3, 4)
#: Large enough for its products to be a library's.
SQUARE = np.random.default_rng(0).random((20, 20)) / 20


def loop(body, *state):
    names = [f"s{place}" for place in range(len(state))]
    return tuple(
        control_flow.run_while(
            [0, *state], lambda s: nx.less(s[0], 3), lambda s: [s[0] + 1, *body(s[0], s[1:])], ["i", *names]
        )
    )


def until(limit, body, x):
    """A loop until the sum of an array is large enough."""
    return control_flow.run_while([x], lambda s: nx.less(nx.sum(s[0]), limit), lambda s: [body(s[0])], "x")[0]


def choice(x):
    return tuple(control_flow.choose(nx.less(x[0, 0], 3), lambda: [x[0, 1], 1.0], lambda: [x[1, 1], 2.0]))


def put(x, value, *places):
    return nx.put_slice(x, list(places), nx.reshape(value, (1,) * x.rank))


def control_of(function, *arrays):
    (step,) = [step for step in plan_of(function, *(arrays or (X,))).steps if isinstance(step.work, Control)]
    return step.work


def launch_of(function, *arrays, numbers=()):
    """What is decided of the one loop or branch of a program."""
    (control,) = decided(plan_of(function, *arrays), numbers).controls.values()
    return control.launch


# What threads run each by itself ---------------------------------------------------------------------------------

FITS = {
    "numbers": lambda x: loop(lambda i, s: [s[0] + 1], x[1, 1]),
    "elements": lambda x: loop(lambda i, s: [put(s[0], s[0][0, i] + 1, i, 0)], x),
    "a loop inside": lambda x: loop(lambda i, s: [loop(lambda j, t: [t[0] + x[i, j]], s[0])[1]], x[1, 1]),
    "a choice inside": lambda x: loop(lambda i, s: [choice(x)[0] + s[0]], x[1, 1]),
    "a choice": choice,
}
DOES_NOT = {
    "an array made anew": (lambda x: loop(lambda i, s: [s[0] + 1], x), "it makes an array, f64[3][4]"),
    "arrays changing places": (
        lambda x: loop(lambda i, s: [s[1], s[0]], x, x * 2),
        "an array of its state, f64[3][4], is another one after an iteration",
    ),
    "a sum": (lambda x: loop(lambda i, s: [s[0] + nx.sum(x[i])], x[1, 1]), "it has loops over arrays"),
    "a row": (lambda x: loop(lambda i, s: [nx.put_slice(s[0], [i, 0], s[0][:1] * 2)], x), "it has loops over arrays"),
    "a choice of arrays": (
        lambda x: control_flow.choose(nx.less(x[0, 0], 3), lambda: [x + 1], lambda: [x * 2])[0],
        "it makes an array, f64[3][4]",
    ),
    "an update in one side": (
        lambda x: control_flow.choose(nx.less(x[0, 0], 3), lambda: [put(x, x[0, 1], 0, 0)], lambda: [x])[0],
        "a result of it, f64[3][4], is not updated in place",
    ),
    "a copy in each iteration": (
        lambda x: loop(lambda i, s: [s[0] + loop(lambda j, t: [put(t[0], t[0][0, j], j, 0)], x)[1][0, 0]], x[1, 1]),
        "a loop inside begins with a copy, of f64[3][4]",
    ),
}


@pytest.mark.parametrize("function", FITS.values(), ids=FITS)
def test_what_one_thread_can_run(function):
    assert one_thread_obstacle(control_of(function)) is None


@pytest.mark.parametrize(("function", "why"), DOES_NOT.values(), ids=DOES_NOT)
def test_what_one_thread_cannot_run(function, why):
    assert one_thread_obstacle(control_of(function)) == why


def test_many_steps_are_too_many_for_one_thread(monkeypatch):
    monkeypatch.setattr(launch_modes, "MOST_STEPS", 4)
    assert one_thread_obstacle(control_of(FITS["elements"])) == "it has 5 steps, which are too many for one thread"


def test_iterations_that_threads_share():
    def mode(function):
        return launch_of(function, X).mode

    assert mode(lambda x: loop(lambda i, s: [put(s[0], s[0][i, i] + 1, i, i)], x)[1:]) is LaunchMode.MANY_THREADS
    # What another iteration wrote is read, or the number of the last iteration is wanted.
    assert mode(lambda x: loop(lambda i, s: [put(s[0], s[0][0, 1] + 1, i, 0)], x)[1:]) is LaunchMode.ONE_THREAD

    def last(x):
        def body(i, s):
            value = s[0][i, i] + 1
            return [put(s[0], value, i, i), value]

        return loop(body, x, 0.0)

    assert mode(lambda x: last(x)[1:]) is LaunchMode.ONE_THREAD
    assert mode(lambda x: last(x)[1]) is LaunchMode.MANY_THREADS


# All of it, as it is printed -------------------------------------------------------------------------------------

ALONE = "it has single numbers and elements of arrays alone"
PART = "one thread: it is in a loop or branch that each thread runs by itself"
PROGRAMS = {
    "a loop of numbers": (FITS["numbers"], [X], f"while of s64 and f64: one thread: {ALONE}"),
    "a loop of numbers in another one": (
        FITS["a loop inside"],
        [X],
        f"while of s64 and f64 and f64[3][4]: one thread: {ALONE}\n"
        f"  while of s64 and f64 and f64[3][4] and s64: {PART}",
    ),
    "iterations that are independent": (
        lambda x: loop(lambda i, s: [put(s[0], s[0][i, i] + 1, i, i)], x)[1],
        [X],
        f"while of s64 and f64[3][4]: threads that share its iterations: {ALONE}, and independent iterations",
    ),
    "a branch": (choice, [X], f"cond of bool and f64[3][4]: one thread: {ALONE}"),
    "a loop over small vectors": (
        lambda x: loop(lambda i, s: [s[0] * 2 + 1], x),
        [X],
        "while of s64 and f64[3][4]: one block: an iteration computes 12 elements",
    ),
    "a loop over small vectors until they are large": (
        lambda x: until(500, lambda y: y * 2, x),
        [X],
        "while of f64[3][4]: one block: an iteration computes 24 elements, and its condition would be read back",
    ),
    "a loop with a product": (
        lambda x: loop(lambda i, s: [nx.dot(s[0], s[0])], x),
        [SQUARE],
        "while of s64 and f64[20][20]: the host: it calls dot",
    ),
    "a loop with a routine, until it is enough": (
        lambda x: until(500, lambda y: nx.sort(y * 2), x),
        [X],
        "while of f64[3][4]: the host, which waits for its condition: it calls sort",
    ),
    "a loop over much": (
        lambda x: loop(lambda i, s: [s[0] * 2], x),
        [np.ones((100, 100))],
        "while of s64 and f64[100][100]: the host: an iteration computes 10,000 elements, and nothing is read back",
    ),
    "a loop over much, until it is enough": (
        lambda x: until(1e6, lambda y: y * 2, x),
        [np.ones((100, 100))],
        "while of f64[100][100]: one block: an iteration computes 20,000 elements, "
        "and its condition would be read back",
    ),
    "a loop over very much": (
        lambda x: until(1e6, lambda y: y * 2, x),
        [np.ones((300, 300))],
        "while of f64[300][300]: the host, which waits for its condition: an iteration computes 180,022 elements",
    ),
    "loops in a loop of one block": (
        lambda x: loop(lambda i, s: [loop(lambda j, t: [t[0] * s[1]], s[0])[1], s[1] + choice(s[0])[0]], x, x[0, 0]),
        [X],
        "while of s64 and f64[3][4] and f64: one block: an iteration computes 12 elements\n"
        f"  cond of bool and f64[3][4]: one thread: {ALONE}\n"
        "  while of s64 and f64[3][4] and f64: one block: an iteration computes 12 elements",
    ),
    "a loop with a product in a loop over vectors": (
        lambda x: loop(lambda i, s: [loop(lambda j, t: [nx.dot(t[0], t[0])], s[0] * 0.5)[1]], x),
        [SQUARE],
        "while of s64 and f64[20][20]: the host: the host runs a loop inside\n"
        "  while of s64 and f64[20][20]: the host: it calls dot",
    ),
    "a loop over small vectors in one with a product": (
        lambda x: loop(lambda i, s: [nx.dot(loop(lambda j, t: [t[0] * 0.5], s[0])[1], x)], x),
        [SQUARE],
        "while of s64 and f64[20][20] and f64[20][20]: the host: it calls dot\n"
        "  while of s64 and f64[20][20]: one block: an iteration computes 400 elements",
    ),
    "a branch by the counter, in a loop of the host": (
        lambda x: loop(
            lambda i, s: [nx.dot(control_flow.choose(nx.less(i, 1), lambda: [s[0]], lambda: [s[0] * 2])[0], x)], x
        ),
        [SQUARE],
        "while of s64 and f64[20][20] and f64[20][20]: the host: the host runs a branch inside\n"
        "  cond of bool and f64[20][20]: the host: the host knows which side runs",
    ),
}  # fmt: skip


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("function", "arrays", "text"), PROGRAMS.values(), ids=PROGRAMS)
def test_decisions(function, arrays, text, device):
    made = decided(plan_of(function, *arrays), ())
    verify_launches(made, "launch modes")
    assert _without_lines(listing(made)) == text
    # The plan of an executable has them, too.
    assert _without_lines(listing(compiled(function, *arrays).plan)) == text


def _without_lines(text):
    return re.sub(r" \([^()]*, line \d+\)", "", text)


def test_plans_without_loops_stay_what_they_are():
    plan = plan_of(lambda x: nx.sum(x), X)
    assert decided(plan, ()) is plan
    assert listing(plan) == ""


def test_the_plan_that_is_decided_of_stays_as_it_is():
    plan = plan_of(PROGRAMS["loops in a loop of one block"][0], X)
    made = decided(plan, ())
    assert all(control.launch is None for part in all_plans(plan) for control in part.controls.values())
    assert len(all_plans(made)) == len(all_plans(plan))
    # Decided again, with another loop refused, it is the other plan.
    (outer,) = made.controls.values()
    refused = {node: "so it is" for part in outer.parts for node in part.controls}
    assert _without_lines(listing(decided(made, (), refused))) == (
        "while of s64 and f64[3][4] and f64: the host: the host runs a loop inside\n"
        f"  cond of bool and f64[3][4]: one thread: {ALONE}\n"
        "  while of s64 and f64[3][4] and f64: the host: so it is"
    )


# What the host knows ---------------------------------------------------------------------------------------------


@pytest.fixture
def by_the_host(monkeypatch):
    """Have the host go through all loops and choices."""
    monkeypatch.setattr(launch_modes, "MOST_STEPS", -1)
    monkeypatch.setattr(launch_modes, "WAITING", -1)


def counting(x, n):
    """A loop that counts twice, and carries a sum of the device and a number that becomes one."""
    return tuple(
        control_flow.run_while(
            [0, n, nx.f64(0.0), nx.f64(1.0), nx.f64(2.0)],
            lambda s: nx.less(s[0], n),
            lambda s: [s[0] + 1, s[1] * 2, s[2] + x[0, s[0]], s[4], s[2]],
            "inabc",
        )
    )


def test_a_loop_that_counts_is_known(by_the_host):
    # A sum that comes from the device is not, nor is what takes its value later.
    launch = launch_of(counting, X, np.int64(3), numbers=[1])
    assert (launch.known_results, launch.reads_back) == ({0, 1}, False)
    assert {place for place in launch.known_inputs if place < 5} == {0, 1}
    launch = launch_of(counting, X, np.int64(3))
    assert (launch.known_results, launch.reads_back) == ({0}, True)


def test_what_waits(by_the_host):
    plan = plan_of(counting, X, np.int64(3))
    assert launch_modes.reads_back(decided(plan, ()))
    assert not launch_modes.reads_back(decided(plan, [1]))
    fixed = plan_of(
        lambda x: control_flow.run_while([0, x], lambda s: nx.less(s[0], 3), lambda s: [s[0] + 1, s[1] * 2], "ix"), X
    )
    assert not launch_modes.reads_back(decided(fixed, ()))


def test_what_waits_inside(by_the_host):
    plan = plan_of(lambda x: loop(lambda i, s: [until(50, lambda y: y * 2, s[0]) * 0.5], x), X)
    made = decided(plan, ())
    (outer,) = made.controls.values()
    assert not outer.launch.reads_back
    assert launch_modes.reads_back(made)


def test_results_are_known_after_a_plan(by_the_host):
    def function(x, n):
        return nx.quotient(n, 2) + 1, nx.as_type(x[0, 1], "s64") + n, counting(x, n)[1] - n

    plan = plan_of(function, X, np.int64(3))
    _, after = Decisions({}).plan(plan, frozenset([1]))
    assert [where in after for where in plan.outputs] == [True, False, True]
    _, after = Decisions({}).plan(plan, frozenset())
    assert not any(where in after for where in plan.outputs)


def test_choices(by_the_host):
    def function(x, n):
        return tuple(control_flow.choose(nx.less(x[0, 0], 3), lambda: [n, n + 1, 1.0], lambda: [n * 2, 5, x[0, 1]]))

    # The host goes the way of the choice, whatever it is made by.
    launch = launch_of(function, X, np.int64(3), numbers=[1])
    assert (launch.known_results, launch.reads_back) == ({0, 1}, True)


def test_a_kernel_of_one_block_knows_what_is_around_it_alone():
    launch = launch_of(
        lambda x, n: control_flow.run_while(
            [0, x], lambda s: nx.less(s[0], n), lambda s: [s[0] + 1, s[1] * nx.as_type(n, "f64")], "ix"
        ),
        X,
        np.int64(3),
        numbers=[1],
    )
    assert launch.mode is LaunchMode.ONE_BLOCK
    assert (launch.known_inputs, launch.known_results, launch.reads_back) == ({2}, set(), False)


def test_a_condition_that_never_changes_is_the_hosts():
    launch = launch_of(
        lambda x, n: control_flow.run_while([x], lambda s: nx.less(n, 2), lambda s: [s[0] * 2], "x"),
        X,
        np.int64(3),
        numbers=[1],
    )
    assert (launch.mode, launch.reason) == (LaunchMode.HOST, "its condition does not depend on its state")


# Decisions that are wrong ----------------------------------------------------------------------------------------


def damaged(function, array=X, **changes):
    """A decided plan whose one loop or branch has another decision."""
    plan = decided(plan_of(function, array), ())
    for step in plan.steps:
        if isinstance(step.work, Control):
            step.work = dataclasses.replace(step.work, launch=dataclasses.replace(step.work.launch, **changes))
    return plan


BY_BLOCK = {"mode": LaunchMode.ONE_BLOCK, "known_results": frozenset(), "reads_back": False}
DAMAGE = {
    "an array in one thread": (
        lambda: damaged(PROGRAMS["a loop over small vectors"][0], mode=LaunchMode.ONE_THREAD),
        "step 1, map nest of add of f64[3][4] and f64[3][4]: expected no step that only the host runs, "
        "found it in one thread",
    ),
    "a product in one block": (
        lambda: damaged(PROGRAMS["a loop with a product"][0], SQUARE, **BY_BLOCK),
        "step 1, matrix product f64[20][20]: expected no step that only the host runs, found it in one block",
    ),
    "a branch in one block": (
        lambda: damaged(choice, mode=LaunchMode.ONE_BLOCK),
        "expected one thread or the host for a branch, found one block",
    ),
    "iterations that depend on each other": (
        lambda: damaged(FITS["numbers"], mode=LaunchMode.MANY_THREADS),
        "expected iterations that are independent, found that it is run by threads that share its iterations",
    ),
    "a loop of one block in one thread": (
        lambda: damaged(PROGRAMS["loops in a loop of one block"][0], mode=LaunchMode.ONE_THREAD),
        "expected what a part of a kernel can be run by, found one block in one thread",
    ),
    "a loop of the host in one block": (
        lambda: damaged(lambda x: loop(lambda i, s: [until(5, nx.sort, s[0])], x), **BY_BLOCK),
        "expected what a part of a kernel can be run by, found the host in one block",
    ),
    "results that the host cannot know": (
        lambda: damaged(FITS["numbers"], known_results=frozenset([0])),
        "expected that the host learns nothing of it, found that it is run by one thread",
    ),
    "an array as a number": (
        lambda: damaged(PROGRAMS["a loop over small vectors"][0], known_inputs=frozenset([1])),
        "expected a number, since the host knows it, found f64[3][4]",
    ),
}


@pytest.mark.parametrize(("damage", "text"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_told(damage, text):
    with pytest.raises(VerificationError) as error:
        verify_launches(damage(), "launch modes")
    assert str(error.value).startswith("after the pass 'launch modes': ")
    assert text in _without_lines(str(error.value))


def test_a_decision_that_is_missing_is_told():
    with pytest.raises(VerificationError) as error:
        verify_launches(plan_of(FITS["numbers"], X), "launch modes")
    assert "expected what runs it, found none" in str(error.value)
    assert LaunchDecision(LaunchMode.HOST, "why") == LaunchDecision(LaunchMode.HOST, "why", frozenset())
