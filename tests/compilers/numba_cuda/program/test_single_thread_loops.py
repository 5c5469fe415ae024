"""Loops and choices that one kernel goes through: what they compute, and how threads share turns."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.programs import agree, compiled, done
from nxkernel.compilers.numba_cuda.program import launch_modes, single_thread_loops
from nxkernel.compilers.numba_cuda.program.host_steps import CopyStep, LaunchStep
from nxkernel.compilers.numba_cuda.toolchain.object_code import ptx
from nxkernel.ops.programs import control_flow

X = np.arange(12.0).reshape(3, 4)


def counted(turns, body, state, first=0, step=1):
    """The state after the turns of ``body(i, state)``."""
    names = [f"s{place}" for place in range(len(state))]
    after = control_flow.run_while(
        [first, *state],
        lambda s: nx.less(s[0], turns) if step > 0 else nx.greater(s[0], turns),
        lambda s: [s[0] + step, *body(s[0], s[1:])],
        ["i", *names],
    )
    return tuple(after)


def put(x, value, *places):
    return nx.put_slice(x, list(places), nx.reshape(value, (1,) * x.rank))


def kinds(executable):
    return [kernel.kind for kernel in executable.kernels]


def collatz(n):
    def body(s):
        even = nx.equal(nx.remainder(s[0], 2), 0)
        return [nx.select(even, nx.quotient(s[0], 2), 3 * s[0] + 1), s[1] + 1]

    return tuple(control_flow.run_while([n, 0], lambda s: nx.greater(s[0], 1), body, "nk"))


def test_a_loop_of_numbers_is_one_kernel_and_reads_nothing_back(device, monkeypatch):
    executable = agree(collatz, np.int64(27), times=3)
    assert kinds(executable) == ["loop"]
    assert executable.kernels[0].title == "loop, by one thread"
    monkeypatch.setattr(device, "read", None)
    assert [result.host() for result in executable.run([device.upload(np.array(27))])] == [1, 111]
    source = executable.kernels[0].texts["Numba CUDA source"]()
    assert "while True:" in source
    steps, _ = done(executable, [np.int64(6)])
    for arch in ("sm_80", "sm_90"):
        assert f".target {arch}" in ptx(steps[0].launch.source, arch)


@pytest.mark.parametrize("type_", ["u8", "s32", "u64", "f16", "bf16", "f32", "c64", "c128"])
def test_numbers_of_every_type(type_, device):
    def function(x):
        def body(i, s):
            return [s[0] * s[1] + s[0], nx.select(nx.equal(nx.remainder(i, 2), 0), s[0], s[1])]

        return counted(4, body, [nx.as_type(x[1], type_), nx.as_type(x[0], type_)])[1:]

    executable = agree(function, np.array([1.5, 2.0]), rtol=1e-6)
    assert kinds(executable)[-1] == "loop"
    assert ".entry" in executable.kernels[-1].texts["PTX"]()


def test_loops_and_choices_in_loops(device):
    def function(x):
        def inner(j, s, i):
            big = nx.greater(x[j, i], 5.0)
            total = control_flow.choose(big, lambda: [s[0] + x[j, i]], lambda: [s[0] - 1.0])[0]
            return [total, put(s[1], total, j)]

        def body(i, s):
            total, array = counted(3, lambda j, t: inner(j, t, i), s)[1:]
            return control_flow.choose(
                nx.less(total, 20.0), lambda: [total, put(array, total, 0)], lambda: [total * 0.5, array]
            )

        return counted(4, body, [nx.f64(0.0), x[:, 0]])[1:]

    executable = agree(function, X, rtol=1e-12, times=3)
    assert kinds(executable)[-1] == "loop"


def product(a, b):
    """A product of matrices by three loops."""
    n = a.shape[0]

    def element(i, j, k, s):
        return [put(s[0], s[0][i, j] + a[i, k] * b[k, j], i, j)]

    def column(i, j, s):
        return counted(n, lambda k, s: element(i, j, k, s), s)[1:]

    zeros = nx.broadcast(nx.f64(0.0), (n, n))
    return counted(n, lambda i, s: counted(n, lambda j, s: column(i, j, s), s)[1:], [zeros])[1]


def test_threads_share_turns_that_do_not_depend_on_each_other(device):
    a, b = np.random.default_rng(0).random((2, 9, 9))
    executable = agree(product, a, b, rtol=1e-12)
    loop = executable.kernels[-1]
    assert (loop.kind, loop.title) == ("loop", "loop of at most 9 turns, its turns shared by threads")
    steps, (found,) = done(executable, [a, b])
    assert [type(step) for step in steps][-2:] == [CopyStep, LaunchStep]
    assert steps[-1].launch.block == (min(single_thread_loops.BLOCK, device.threads),)
    np.testing.assert_allclose(found, a @ b)


@pytest.mark.parametrize(("first", "stop", "step"), [(0, 11, 1), (1, 11, 3), (10, -1, -2), (5, 5, 1), (9, 2, 1)])
def test_the_counter_after_shared_turns(first, stop, step, device):
    x = np.arange(11.0)

    def function(x):
        return counted(stop, lambda i, s: [put(s[0], s[0][i] * 2 + nx.as_type(i, "f64"), i)], [x], first, step)

    executable = agree(function, x)
    # Of a loop without turns nobody knows that they do not depend on each other.
    assert ("shared by threads" in executable.kernels[-1].title) == ((stop - first) * step > 0)


def test_a_bound_that_is_an_argument(device):
    def function(x, n):
        return counted(n, lambda i, s: [put(s[0], s[0][i] * 2, i)], [x])

    executable = compiled(function, np.arange(5.0), np.int64(3))
    for number in (np.int64(0), np.int64(3), device.upload(np.array(5))):
        count, found = [result.host() for result in executable.run([np.arange(5.0), number])]
        turns = int(number if isinstance(number, np.int64) else number.host())
        assert count == turns
        np.testing.assert_array_equal(found, np.arange(5.0) * np.where(np.arange(5) < turns, 2, 1))


def test_a_choice_by_a_number_of_the_device(device):
    def function(x):
        return tuple(
            control_flow.choose(
                nx.greater(x[1, 1], 2), lambda: [x[0, 0], 1.5, put(x, x[2, 1], 0, 0)], lambda: [x[1, 1], 2.0, x]
            )
        )

    executable = compiled(lambda x: function(x * 2), X)
    assert kinds(executable)[-1] == "choice"
    agree(lambda x: function(x * 2), X)
    agree(lambda x: function(x * 2), 0 * X)


def test_what_does_not_fit(device, monkeypatch):
    monkeypatch.setattr(launch_modes, "WAITING", -1)

    def function(x):
        return counted(3, lambda i, s: [s[0] * nx.sum(s[0][i])], [x])[1]

    assert "loop" not in kinds(agree(function, X, rtol=1e-12))
