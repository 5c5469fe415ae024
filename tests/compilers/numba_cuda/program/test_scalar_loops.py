"""Which loops and choices consist of single numbers and elements alone."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.numba_cuda.program.scalar_loops import runs_on_one_thread, spreads
from nxkernel.compilers.plan.program_plan import Control
from nxkernel.ops.programs import control_flow
from on_device import plan_of

X = np.arange(12.0).reshape(3, 4)


def loop(body, *state):
    names = [f"s{place}" for place in range(len(state))]
    return tuple(
        control_flow.run_while(
            [0, *state], lambda s: nx.less(s[0], 3), lambda s: [s[0] + 1, *body(s[0], s[1:])], ["i", *names]
        )
    )


def choice(x):
    return tuple(control_flow.choose(nx.less(x[0, 0], 3), lambda: [x[0, 1], 1.0], lambda: [x[1, 1], 2.0]))


def put(x, value, *places):
    return nx.put_slice(x, list(places), nx.reshape(value, (1,) * x.rank))


def control_of(function):
    (step,) = [step for step in plan_of(function, X).steps if isinstance(step.work, Control)]
    return step.work


FITS = {
    "numbers": lambda x: loop(lambda i, s: [s[0] + 1], x[1, 1]),
    "elements": lambda x: loop(lambda i, s: [put(s[0], s[0][0, i] + 1, i, 0)], x),
    "a loop inside": lambda x: loop(lambda i, s: [loop(lambda j, t: [t[0] + x[i, j]], s[0])[1]], x[1, 1]),
    "a choice inside": lambda x: loop(lambda i, s: [choice(x)[0] + s[0]], x[1, 1]),
    "a choice": choice,
}
DOES_NOT = {
    "an array made anew": lambda x: loop(lambda i, s: [s[0] + 1], x),
    "arrays changing places": lambda x: loop(lambda i, s: [s[1], s[0]], x, x * 2),
    "a sum": lambda x: loop(lambda i, s: [s[0] + nx.sum(x[i])], x[1, 1]),
    "a row": lambda x: loop(lambda i, s: [nx.put_slice(s[0], [i, 0], s[0][:1] * 2)], x),
    "a choice of arrays": lambda x: control_flow.choose(nx.less(x[0, 0], 3), lambda: [x + 1], lambda: [x * 2])[0],
}


@pytest.mark.parametrize("function", FITS.values(), ids=FITS)
def test_what_fits(function):
    assert runs_on_one_thread(control_of(function))


@pytest.mark.parametrize("function", DOES_NOT.values(), ids=DOES_NOT)
def test_what_does_not_fit(function):
    assert not runs_on_one_thread(control_of(function))


def test_turns_that_threads_share():
    apart = control_of(lambda x: loop(lambda i, s: [put(s[0], s[0][i, i] + 1, i, i)], x)[1:])
    assert spreads(apart)
    # What another turn wrote is read, or the number of the last turn is wanted.
    assert not spreads(control_of(lambda x: loop(lambda i, s: [put(s[0], s[0][0, 1] + 1, i, 0)], x)[1:]))

    def last(x):
        def body(i, s):
            value = s[0][i, i] + 1
            return [put(s[0], value, i, i), value]

        return loop(body, x, 0.0)

    assert not spreads(control_of(lambda x: last(x)[1:]))
    assert spreads(control_of(lambda x: last(x)[1]))
