"""Our own threads: every piece of every job is done once, by whoever comes, and nobody is waited for in vain."""

import ctypes
import subprocess
import sys
import threading

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.compilers.numba_cpu.runtime import code_store, native_call, thread_pool, threading_layer

#: Adds one to each step of its range; the table has the address of the counts.
KERNEL = """
define void @nxk_counts_for_tests(ptr %first, ptr %count, ptr %step, ptr %table) {
entry:
  %counts = load ptr, ptr %table
  %from = load i64, ptr %first
  %many = load i64, ptr %count
  %to = add i64 %from, %many
  br label %head
head:
  %i = phi i64 [ %from, %entry ], [ %next, %body ]
  %go = icmp slt i64 %i, %to
  br i1 %go, label %body, label %done
body:
  %place = getelementptr i64, ptr %counts, i64 %i
  %before = atomicrmw add ptr %place, i64 1 monotonic
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}

define void @nxk_share_for_tests(i64 %count, i64 %grain, ptr %table, ptr %state) {
  call void @nxk_run(ptr @nxk_counts_for_tests, i64 %count, i64 %grain, ptr %table, ptr %state)
  ret void
}

declare void @nxk_run(ptr, i64, i64, ptr, ptr)
"""


@pytest.fixture(scope="module")
def share():
    """Counts how often each step of a range is done."""
    native_call.prepare()
    code, _ = code_store.native("nxk_counts_for_tests", lambda: KERNEL, also=["nxk_share_for_tests"])
    address = code.functions["nxk_share_for_tests"]
    run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(address)

    def counted(count, grain):
        counts = np.zeros(max(count, 1), dtype=np.int64)
        table = np.array([counts.ctypes.data], dtype=np.int64)
        run(count, grain, table.ctypes.data, threading_layer.STATE.ctypes.data)
        counted.code = code
        return counts[:count]

    return counted


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 1000, 100_001])
@pytest.mark.parametrize("grain", [1, 3, 1000])
def test_every_step_is_done_once(share, count, grain):
    np.testing.assert_array_equal(share(count, grain), 1)


def test_many_jobs_one_after_the_other(share):
    for turn in range(20_000):
        assert share(17 + turn % 5, 1).sum() == 17 + turn % 5


def test_jobs_of_several_threads_at_once(share):
    wrong = []

    def work():
        wrong.extend(turn for turn in range(3000) if not (share(40 + turn % 7, 1) == 1).all())

    several = [threading.Thread(target=work) for _ in range(4)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    assert wrong == []
    assert threading_layer.STATE[thread_pool.TAKEN] == 0


@pytest.mark.skipif(not thread_pool.OWN, reason="on this system the threads are Numba's")
def test_nothing_is_left_when_a_job_is_done(share):
    share(1000, 1)
    claim = int(threading_layer.STATE[thread_pool.CLAIM])
    assert (claim & 0xFFFFFFFF) == claim >> 32
    assert threading_layer.STATE[thread_pool.LEFT] == 0


@pytest.mark.skipif(not thread_pool.OWN, reason="on this system the threads are Numba's")
def test_a_number_of_threads_is_kept_to(share):
    before = threading_layer.get_threads()
    if before < 2:
        pytest.skip("this machine has one processor")
    nx.set_threads(1)
    turn = int(threading_layer.STATE[thread_pool.TURN])
    share(1000, 1)
    nx.set_threads(before)
    assert threading_layer.STATE[thread_pool.TURN] == turn


def test_threads_have_names():
    native_call.prepare()
    expected = [f"nxkernel-{k}" for k in range(threading_layer._started - 1)] if thread_pool.OWN else []
    found = sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("nxkernel-"))
    assert [name for name in found if name != "nxkernel-import"] == sorted(expected)


NUMBAS = """
import hashlib
from nxkernel.compilers.numba_cpu.runtime import thread_pool
thread_pool.OWN, thread_pool._TEXT = False, thread_pool._NUMBA
thread_pool.SYMBOL = "nxk_runtime_pool_" + hashlib.sha256(thread_pool._TEXT.encode()).hexdigest()[:24]
import numpy as np
import nxkernel as nx
from nxkernel.compilers.numba_cpu.runtime import threading_layer
x = np.linspace(-3.0, 3.0, 3_000_001)
found = nx.jit(lambda x: nx.exp(x) + nx.sum(x * x))(x).to_numpy()
np.testing.assert_allclose(found, np.exp(x) + np.sum(x * x), rtol=1e-12)
print(int(threading_layer.STATE[thread_pool.POOL]) > 1 or threading_layer.get_threads() == 1)
"""


@pytest.mark.slow
def test_where_the_threads_are_numbas():
    found = subprocess.run([sys.executable, "-c", NUMBAS], capture_output=True, text=True, timeout=120, check=False)
    assert (found.stdout, found.stderr) == ("True\n", "")
