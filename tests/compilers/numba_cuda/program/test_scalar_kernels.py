"""Single numbers of programs for GPUs: on the host where they are known, else in kernels of one thread."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.programs import agree, compiled, done
from nxkernel.compilers.numba_cuda.program import launch_modes
from nxkernel.compilers.numba_cuda.program.host_steps import HostArithmetic, LaunchStep
from nxkernel.compilers.numba_cuda.toolchain.object_code import ptx
from nxkernel.ops.programs import control_flow

X = np.arange(12.0).reshape(3, 4)


@pytest.fixture(autouse=True)
def by_the_host(monkeypatch):
    """Have the host go through all loops and choices."""
    monkeypatch.setattr(launch_modes, "MOST_STEPS", -1)
    monkeypatch.setattr(launch_modes, "WAITING", -1)


def counted(turns, body, state):
    names = [f"s{place}" for place in range(len(state))]
    after = control_flow.run_while(
        [0, *state], lambda s: nx.less(s[0], turns), lambda s: [s[0] + 1, *body(s[0], s[1:])], ["i", *names]
    )
    return tuple(after[1:])


TYPES = ["u8", "s16", "s64", "u64", "f16", "bf16", "f32", "f64", "c64", "c128"]


def in_a_loop(type_):
    """A number of a type that starts in an array, and goes through arithmetic and back into the array."""

    def function(x):
        def body(i, s):
            (kept,) = s
            value = kept[i] * kept[2] + nx.as_type(i, type_)
            return [nx.put_slice(kept, [i + 1], nx.reshape(value, (1,)))]

        return counted(3, body, [nx.as_type(x, type_)])

    return function


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", TYPES)
def test_elements_of_every_type(type_, device):
    executable = agree(in_a_loop(type_), np.array([1.0, 2.0, 3.0, 4.0]), rtol=1e-6)
    for kernel in executable.kernels:
        assert kernel.symbol in kernel.texts["PTX"]()


def test_a_kernel_of_one_thread(device):
    def function(x):
        return counted(3, lambda i, s: [s[0] + x[i, i + 1] * 2], [nx.f64(0.0)])

    executable = agree(function, X)
    first, kernel = executable.kernels
    assert (first.title, kernel.title) == ("1 single number, by one thread", "3 single numbers, by one thread")
    assert first.texts["Numba CUDA source"]() == "def numbers(p0, c0):\n    p0[s64(0)] = c0\n"
    assert kernel.texts["Numba CUDA source"]() == (
        "def numbers(p0, p1, p2, c0, c1, c2, c3):\n"
        "    v0 = s64(c0)\n"
        "    v1 = s64(c2)\n"
        "    v2 = v0 * c1 + v1\n"
        "    v3 = p0[v2]\n"
        "    v4 = v3 * c3\n"
        "    v5 = p1[s64(0)]\n"
        "    v6 = v5 + v4\n"
        "    p2[s64(0)] = v6\n"
    )
    steps, _ = done(executable, [X])
    assert [type(step) for step in steps].count(LaunchStep) == 4
    for arch in ("sm_80", "sm_90"):
        assert f".target {arch}" in ptx(steps[0].launch.source, arch)


def test_what_is_known_is_computed_on_the_host_alone(device):
    def function(x, n):
        return counted(n * 2 + 1, lambda i, s: [s[0] * 0.5], [x])

    executable = agree(function, X, np.int64(2))
    assert [kernel.kind for kernel in executable.kernels] == ["map"]
    program = executable.ready_for([X, np.int64(2)]).program
    assert sorted(program.used) == [0]
    assert isinstance(program.steps[0], HostArithmetic)


def test_known_numbers_that_kernels_read_are_handed_to_them(device):
    executable = agree(lambda x: counted(3, lambda i, s: [s[0] * nx.as_type(i * 2, "f64")], [x + 1]), X)
    numbers = next(kernel for kernel in executable.kernels if kernel.kind == "numbers")
    assert numbers.title == "1 single number, by one thread"
    steps, _ = done(executable, [X])
    written = [step for step in steps if isinstance(step, LaunchStep) and step.launch.source.name == "numbers"]
    assert len(written) == 3
    assert written[0].numbers == [(1, written[0].numbers[0][1], None)]


def test_indices_are_clamped(device):
    def function(x, i):
        return counted(2, lambda k, s: [s[0] + x[i[0] + k, i[1]]], [nx.f64(0.0)])

    for places in ([-3, 2], [1, 9], [2, 3]):
        agree(function, X, np.array(places))
    agree(function, X, np.array([1, 2**63], np.uint64))


def test_elements_are_added_to(device):
    def function(x, places):
        return counted(3, lambda i, s: [nx.indexed_add(s[0], nx.reshape(places[i], (1,)), x[0, i])], [x[1]])

    agree(function, X, np.array([[0], [2], [2]]), rtol=1e-12)


def test_numbers_that_are_no_numbers(device):
    def function(x):
        def body(i, s):
            return [s[0] + x[0, 0] / x[0, 1], nx.max(s[1], x[0, 1]), nx.quotient(s[2], i)]

        return counted(3, body, [nx.f64(0.0), nx.f64(-np.inf), nx.s64(9)])

    agree(function, np.array([[0.0, 0.0]]))
    agree(function, np.array([[1.0, np.nan]]))


def test_many_numbers_are_several_kernels(device):
    def function(x):
        def body(i, s):
            total = s[0]
            for place in range(60):
                total = total + x[0, place % 4] * place
            return [total]

        return counted(2, body, [x[1, 1]])

    executable = agree(function, X, rtol=1e-12)
    assert [kernel.kind for kernel in executable.kernels].count("numbers") >= 3
    assert len(compiled(function, X).kernels) == len(executable.kernels)
