"""Memory between steps is kept for the next program, for one at a time, and not without limit."""

import threading

import numpy as np
import pytest

from graph_comparison.compiled_graphs import agree
from nxkernel import ops
from nxkernel.compilers.numba_cpu.runtime import workspace


@pytest.fixture(autouse=True)
def nothing_kept():
    workspace.forget()
    yield
    workspace.forget()


@pytest.mark.parametrize("size", [1, 63, 1000, 1 << 20])
def test_memory_is_as_large_as_asked_for_and_aligned(size):
    memory = workspace.take(size)
    memory[:] = 7
    assert (memory.size, memory.dtype, memory.ctypes.data % workspace.ALIGNMENT) == (size, np.uint8, 0)


def test_memory_is_kept_for_what_fits():
    first = workspace.take(1000)
    place = first.ctypes.data
    workspace.give_back(first)
    second = workspace.take(10)
    assert second.ctypes.data == place
    workspace.give_back(second)
    assert workspace.take(1000).ctypes.data == place


def test_memory_that_is_too_small_is_replaced():
    small = workspace.take(100)
    workspace.give_back(small)
    large = workspace.take(10_000)
    assert not np.shares_memory(small, large)
    place = large.ctypes.data
    workspace.give_back(large)
    assert workspace.take(100).ctypes.data == place


def test_two_at_a_time_have_memory_of_their_own():
    workspace.give_back(workspace.take(1000))
    one, other = workspace.take(1000), workspace.take(1000)
    assert not np.shares_memory(one, other)


def test_large_memory_is_not_kept(monkeypatch):
    monkeypatch.setattr(workspace, "MOST", 4096)
    workspace.give_back(workspace.take(5000))
    assert workspace._kept == []
    workspace.give_back(workspace.take(1000))
    assert len(workspace._kept) == 1


def test_memory_is_forgotten():
    workspace.give_back(workspace.take(1000))
    workspace.forget()
    assert workspace._kept == []


def halves(x):
    return ops.cumulative_sum(ops.sort(x * 0.5, axis=1), axis=0)


def test_programs_compute_the_same_with_memory_that_others_have_used():
    random = np.random.default_rng(0)
    for rows in (300, 20, 500, 300):
        agree(halves, random.standard_normal((rows, 40)), rtol=1e-12, atol=1e-12)
    assert len(workspace._kept) == 1


def test_programs_of_several_threads():
    random = np.random.default_rng(1)
    arrays = [random.standard_normal((200 + k, 30)) for k in range(4)]
    failures = []

    def work(array):
        try:
            for _ in range(5):
                agree(halves, array, rtol=1e-12, atol=1e-12)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
