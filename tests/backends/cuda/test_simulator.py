"""The threads of a block: where they are, where they wait, what they tell each other."""

import itertools

import numpy as np
import pytest

kernel_module = pytest.importorskip("numba.cuda.simulator.kernel")
from nxkernel.backends.cuda.simulator import SimulatedKernel  # noqa: E402


def run(text, grid, block, *arguments, shared=0, **names):
    name = text.split("def ")[1].split("(")[0]
    SimulatedKernel(name, text, "symbol", {"np": np, **names}).run(grid, block, shared, arguments)


def test_every_thread_of_every_block_runs_once():
    seen = []
    text = """
def places(out):
    out((cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z, cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z))
"""
    run(text, (2, 1, 3), (2, 2, 1), seen.append)
    assert sorted(seen) == sorted(itertools.product(*map(range, (2, 1, 3, 2, 2, 1))))
    # Threads are numbered along x first.
    assert seen[0][3:] == (0, 0, 0)
    assert seen[1][3:] == (1, 0, 0)


REVERSE = """
def reverse(a, b):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    n = cuda.blockDim.x
    for turn in range(3):
        s[t] = a[cuda.blockIdx.x * n + t]
        cuda.syncthreads()
        b[cuda.blockIdx.x * n + t] = s[n - 1 - t] + turn
        cuda.syncthreads()
"""


def test_a_barrier_and_shared_memory():
    a, b = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    run(REVERSE, (5, 1, 1), (8, 1, 1), a, b)
    np.testing.assert_array_equal(b, a.reshape(5, 8)[:, ::-1].ravel() + 2)


def test_it_is_what_numbas_simulator_does():
    from numba import cuda

    scope = {"cuda": cuda, "np": np}
    exec(REVERSE, scope)
    a = np.arange(12, dtype=np.float32)
    theirs, ours = np.zeros(12, np.float32), np.zeros(12, np.float32)
    kernel_module.FakeCUDAKernel(scope["reverse"], device=False)[3, 4](a, theirs)
    run(REVERSE, (3, 1, 1), (4, 1, 1), a, ours)
    np.testing.assert_array_equal(ours, theirs)


def test_arrays_of_one_line_are_apart_and_of_blocks_too():
    text = """
def two(out):
    s, t = cuda.shared.array(2, np.int32), cuda.shared.array((2, 2), np.int32)
    if cuda.threadIdx.x == 0:
        out(s[0])
        s[0] = 5
        t[1, 1] = 6
    cuda.syncthreads()
    out(s[0] + t[1, 1])
"""
    seen = []
    run(text, (2, 1, 1), (2, 1, 1), seen.append)
    garbage = seen[0]
    assert garbage < -1e6
    assert seen == [garbage, 11, 11, garbage, 11, 11]


def test_dynamic_shared_memory_is_one_memory():
    text = """
def one(out):
    s = cuda.shared.array(0, np.float64)
    w = cuda.shared.array(0, np.uint8)
    w[0:8] = 0
    out((len(s), len(w), s[0]))
"""
    seen = []
    run(text, (1, 1, 1), (1, 1, 1), seen.append, shared=20)
    assert seen == [(2, 20, 0.0)]


def test_threads_that_are_done_are_not_waited_for():
    text = """
def early(b):
    if cuda.threadIdx.x < 2:
        return
    cuda.syncthreads()
    b[cuda.threadIdx.x] = cuda.syncthreads_count(cuda.threadIdx.x > 2)
"""
    b = np.zeros(4, np.int32)
    run(text, (1, 1, 1), (4, 1, 1), b)
    np.testing.assert_array_equal(b, [0, 0, 1, 1])


@pytest.mark.parametrize(("vote", "told"), [("syncthreads_and", 0), ("syncthreads_or", 1), ("syncthreads_count", 3)])
def test_votes(vote, told):
    b = np.zeros(4, np.int32)
    run(f"def v(b):\n    b[cuda.threadIdx.x] = cuda.{vote}(cuda.threadIdx.x > 0)\n", (1, 1, 1), (4, 1, 1), b)
    np.testing.assert_array_equal(b, told)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("shfl_down_sync(0xffffffff, t, 3)", lambda t: t + 3 if t % 32 + 3 < 32 and t + 3 < 40 else t),
        ("shfl_up_sync(0xffffffff, t, 2)", lambda t: t - 2 if t % 32 >= 2 else t),
        ("shfl_xor_sync(0xffffffff, t, 1)", lambda t: t ^ 1),
        ("shfl_sync(0xffffffff, t, 4)", lambda t: t // 32 * 32 + 4),
    ],
)
def test_lanes_of_a_warp_tell_each_other(call, expected):
    b = np.zeros(40, np.int32)
    run(f"def v(b):\n    t = cuda.threadIdx.x\n    b[t] = cuda.{call}\n", (1, 1, 1), (40, 1, 1), b)
    np.testing.assert_array_equal(b, [expected(t) for t in range(40)])


def test_warps_wait_on_their_own():
    text = """
def warps(b):
    t = cuda.threadIdx.x
    for turn in range(1 + t // 32):
        cuda.syncwarp()
    b[t] = cuda.laneid
    cuda.syncthreads()
"""
    b = np.full(64, -1)
    run(text, (1, 1, 1), (64, 1, 1), b)
    np.testing.assert_array_equal(b, np.arange(64) % 32)


def test_threads_that_wait_for_each_other_without_end():
    text = """
def stuck():
    if cuda.threadIdx.x == 0:
        cuda.syncthreads()
    else:
        cuda.syncthreads_or(1)
"""
    with pytest.raises(RuntimeError, match="wait at different places: syncthreads, syncthreads_or"):
        run(text, (1, 1, 1), (2, 1, 1))
    with pytest.raises(RuntimeError, match="threads of one warp wait at different places"):
        run(text.replace("syncthreads_or(1)", "syncwarp()"), (1, 1, 1), (2, 1, 1))


def test_arithmetic_does_not_warn():
    text = "def k(b):\n    b[0] = b[0] / np.float32(0)\n    b[1] = np.int32(2147483647) + np.int32(1)\n"
    b = np.ones(2, np.float32)
    run(text, (1, 1, 1), (1, 1, 1), b)
    np.testing.assert_array_equal(b, [np.inf, -(2.0**31)])
