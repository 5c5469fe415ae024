"""Loops with independent turns on all threads: what they compute, which they are, and that they can be interrupted."""

import signal
import threading
import time

import numpy as np
import pytest

import nxkernel as nx
from collection.comparing import same
from native_code.spread_loops import every_loop_is_spread, on_each_count
from nxkernel.compilers.numba_cpu.program import parallel_loops
from nxkernel.compilers.numba_cpu.runtime import threading_layer
from nxkernel.definitions.calls import graph_cache

X = np.random.default_rng(0).random((200, 90))


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    """No programs, so that each test compiles its own, and less work is worth sharing."""
    graph_cache.clear()
    monkeypatch.setattr(parallel_loops, "WORTH", 50_000)


@pytest.fixture
def spread(monkeypatch):
    """The functions that programs were given for ranges of turns."""
    found, write = [], parallel_loops.ParallelLoop._function
    monkeypatch.setattr(parallel_loops.ParallelLoop, "_function", lambda self: found.append(write(self)) or found[-1])
    return found


def running(x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total = total * 0.5 + x[i, j]
            out[i, j] = total
    return out


def backwards(x):
    for i in range(x.shape[0] - 1, x.shape[0] // 30, -1):
        value = x[i, 0]
        for j in range(1, x.shape[1]):
            value = np.sqrt(value + x[i, j])
            x[i, j] = value


def by_twos(x):
    for i in range(0, x.shape[0] - 1, 2):
        for j in range(x.shape[1]):
            x[i, j] = np.sin(x[i, j]) + x[i, 0]


def with_rows_of_its_own(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        row = x[i] * 2
        for j in range(1, x.shape[1]):
            row[j] += row[j - 1] * 0.5
        out[i] = row[-1]
    return out


def complex_rows(x):
    out = np.zeros(x.shape, dtype=np.complex128)
    for i in range(x.shape[0]):
        z = 1j * x[i, 0]
        for j in range(x.shape[1]):
            z = z * z + x[i, j]
            out[i, j] = z
            z = z / (1 + abs(z))
    return out


def counter_afterwards(x):
    out = np.zeros(x.shape[0])
    i = 0
    while i < x.shape[0]:
        t = 0.0
        for j in range(x.shape[1]):
            t = np.cos(t + x[i, j])
        out[i] = t
        i += 1
    return out, i


PROGRAMS = {
    "rows": (running, ()),
    "backwards": (backwards, ()),
    "by twos": (by_twos, ()),
    "rows of its own": (with_rows_of_its_own, ()),
    "complex numbers": (complex_rows, ()),
    "the counter is wanted": (counter_afterwards, ()),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("function", "more"), PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("count", [1, 2])
def test_values(spread, function, more, count):
    if count > threading_layer.get_threads():
        pytest.skip("this machine has one processor")
    mine, its, before = X.copy(), X.copy(), threading_layer.get_threads()
    expected = function(its, *more)
    threading_layer.set_threads(count)
    try:
        found = nx.defn(function)(mine, *more)
    finally:
        threading_layer.set_threads(before)
    assert spread == ["nxl_0"]
    np.testing.assert_allclose(mine, its, rtol=1e-13)
    if isinstance(expected, tuple):
        assert found[1] == expected[1]
        found, expected = found[0], expected[0]
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("function", "more"), PROGRAMS.values(), ids=PROGRAMS)
def test_values_on_any_number_of_threads_of_loops_that_are_too_small(spread, function, more):
    expected = X[:9, :4].copy()
    result = function(expected, *more)

    def run():
        mine = X[:9, :4].copy()
        return mine, nx.defn(function)(mine, *more)

    with every_loop_is_spread():
        outcomes = on_each_count(run)
    assert spread == ["nxl_0"]
    assert threading_layer.get_threads() == threading_layer._started
    for mine, found in outcomes:
        np.testing.assert_allclose(mine, expected, rtol=1e-13)
        same(found, result, 1e-13, "the result")


def few_turns(x):
    for i in range(15):
        for j in range(x.shape[1]):
            x[i, j] = np.sin(x[i, j])


def little_work(x):
    for i in range(x.shape[0]):
        x[i, 0] += 1


def kernels_that_share(x):
    for i in range(20):
        x[i] = np.sin(x[i])


def carried(x):
    last = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            last = np.sin(x[i, j])
            x[i, j] = last
    return last


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("function", "x"),
    [
        (few_turns, np.ones((15, 90))),
        (little_work, np.ones((200, 90))),
        (kernels_that_share, np.ones((20, 100_000))),
        (carried, np.ones((200, 90))),
    ],
)
def test_loops_that_stay_on_one_thread(spread, function, x):
    mine = x.copy()
    expected = function(x)
    found = nx.defn(function)(mine)
    assert spread == []
    np.testing.assert_allclose(mine, x, rtol=1e-13)
    if expected is not None:
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_only_the_outermost_loop_is_spread(spread):
    def cube(x):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                for k in range(40):
                    x[i, j] = np.cos(x[i, j] + k)

    mine = X.copy()
    nx.defn(cube)(mine)
    assert spread == ["nxl_0"]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="this system has no timers that interrupt")
def test_all_threads_stop_at_an_interrupt(spread):
    @nx.defn
    def endless(x):
        for i in range(x.shape[0]):
            while x[i, 0] < 2.0:
                x[i, 0] *= 0.5

    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    x = np.full((2000, 3), 0.5)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        begin = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            endless(x)
        assert time.perf_counter() - begin < 5.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert threading.current_thread() is threading.main_thread()
    assert spread == ["nxl_0"]
    ones = np.full_like(x, 3.0)
    endless(ones)
    np.testing.assert_array_equal(ones, 3.0)


def test_a_spread_loop_is_told():
    definition = nx.defn(running)
    definition(X)
    (loop,) = [kernel for kernel in definition.compilations()[-1].kernels if kernel.kind == "loop"]
    assert loop.title == "loop of 200 turns that do not depend on each other, on all threads"
