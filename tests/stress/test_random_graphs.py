"""Many random graphs: what numba_cpu computes is what the evaluator computes.

A graph is one that a seed draws, of its own structure, compiled by itself, and compared in all of its results:

* a program of up to 25 primitives of all real types, through complex numbers, too;
* any one primitive of any type and shape, empty ones as well, behind views and moves of its inputs;
* a function written for NumPy, with nested choices, loops, jumps and assignments in place, which NumPy runs, too;
* the gradients of a program, which are compared with differences, too;
* a program for three entries at once, evaluated for one after the other;
* the gradients of a function with loops and choices, which are compared with differences, too.

Half of those that are drawn as graphs are compiled with small limits, so that they are cut into blocks and tiles, and
run on every thread. What NumPy gives for a function, or the evaluator for what is exact, has to be met bit by bit;
other results may be apart by what is known of their rounding.
"""

import os
import time

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from lanes.fuzzing import patient
from random_graphs import KINDS, Unsuitable, smallest
from random_graphs.differing import agrees
from random_graphs.working import Run
from random_primitives import Drawn

#: Graphs of a kind in a run of all tests.
FEW = 3


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_random_graphs(kind):
    @settings(patient, max_examples=FEW)
    @given(st.data())
    def run(data):
        try:
            graph = kind(Drawn(data.draw))
        except Unsuitable:
            reject()
        graph.check()

    run()


def test_choices_that_fail_become_small():
    assert smallest([3, 50, 7, 90, 2], lambda answers: any(answer > 10 for answer in answers)) == [11]
    assert smallest([5, 6], lambda answers: len(answers) == 2) == [0, 0]


@pytest.mark.parametrize("kink", [0.3, 1e-5, 2e-8, -2e-8, 0.0])
def test_differences_tell_slopes_beside_kinks(kink):
    def function(x):
        return abs(x - kink) + 3 * x

    assert agrees(function, 2.0 if kink > 0 else 4.0)
    # Where a step ends near the kink, its differences are worth nothing.
    assert agrees(function, 3.3) == (kink == 1e-5)
    assert agrees(function, 2.01 if kink > 0 else 3.99) == (kink == 1e-5)


@pytest.mark.stress
def test_many_random_graphs(say):
    """As many as `NXKERNEL_STRESS_GRAPHS` says, from the seed `NXKERNEL_STRESS_FIRST` on, by `…_WORKERS` processes."""
    count = int(os.environ.get("NXKERNEL_STRESS_GRAPHS", "100000"))
    first = int(os.environ.get("NXKERNEL_STRESS_FIRST", time.time_ns() % 2**31))
    workers = int(os.environ.get("NXKERNEL_STRESS_WORKERS", os.cpu_count()))
    say(f"{count:,} graphs from NXKERNEL_STRESS_FIRST={first} on, in {workers} processes")
    run = Run(first, count, workers, say)
    run.finish()
    assert run.done == count
    assert not run.failures, "\n\n".join(run.failures)
