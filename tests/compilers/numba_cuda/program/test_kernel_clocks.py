"""Measuring programs for GPUs, on a simulated device."""

import contextlib
import dataclasses
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of
from nxkernel.compilers.numba_cuda.compiler import NumbaCuda
from nxkernel.compilers.numba_cuda.program import kernel_clocks
from nxkernel.compilers.numba_cuda.program.kernel_clocks import DeviceClock, machine
from nxkernel.errors import NxValueError
from nxkernel.messages.quantities import duration
from nxkernel.transforms.simplify import simplify

X = np.ones(3, np.float32)


@nx.defn(compiler="numba_cuda")
def softmax(t):
    e = nx.exp(t - nx.reduce_max(t, axes=[-1], keep_axes=True))
    return e / nx.sum(e, axes=[-1], keep_axes=True)


@nx.defn(compiler="numba_cuda")
def powers(x, *, turns):
    for _ in range(turns):
        x[1:] = x[1:] * 0.5 + x[:-1]
    return x


@nx.defn(compiler="numba_cuda")
def halvings(x):
    turns = 0
    while nx.sum(x) > 1.0:
        x = x / 2.0
        turns = turns + 1
    return x, turns


@nx.defn(compiler="numba_cuda")
def assign(x):
    x[0] = 5.0
    return x + 1.0


def test_the_kernels_of_a_call_are_timed(device):
    view = softmax.measure(nx.iota((3, 8), type="f32"))
    found = view.measurement
    assert [(kernel, time.runs) for kernel, time in found.kernels.items()] == [(0, 1)]
    assert found.kernels[0].seconds > 0
    assert found.seconds > 0
    assert found.inputs == "your call"
    assert found.how.endswith("on the inputs of your call, in Numba's simulator, whose times say nothing of a GPU")
    assert repr(view).endswith(": 1 kernel, " + f"{duration(1e3 * found.seconds)}, simulated>")


def test_a_simulated_device_reaches_nothing(device):
    assert machine(device) == (0.0, 0.0)
    found = softmax.measure(nx.iota((2, 3), type="f32")).measurement
    assert (found.bandwidth, found.arithmetic) == (0.0, 0.0)


def test_all_runs_of_a_kernel_in_a_loop_are_counted(device):
    found = powers.measure(np.ones(20_000, np.float32), turns=4).measurement
    assert 4 in {time.runs for time in found.kernels.values()}


def test_what_a_program_assigns_into_stays_as_it_is(device):
    host = np.ones(3, np.float32)
    assign.measure(host)
    assert host.tolist() == [1, 1, 1]


def test_a_program_that_changes_an_array_of_the_device_is_timed_on_copies(device):
    graph = simplify(graph_of(lambda x: x * 2.0, X))
    executable = NumbaCuda().compile(dataclasses.replace(graph, updates=((0, 0),)))
    there = device.upload(X)
    assert DeviceClock(executable).run([there]).kernels.keys() == {0}
    assert there.host().tolist() == [1, 1, 1]


def test_made_up_inputs_are_as_good(device):
    softmax(nx.iota((4, 5), type="f32"))
    found = softmax.compilations()[-1].measure()
    assert found.inputs == "made-up inputs"
    assert set(found.kernels) == {0}


def test_a_loop_that_waits_for_values_is_measured_on_a_call_only(device):
    found = halvings.measure(np.ones(4, np.float32)).measurement
    assert found.kernels
    with pytest.raises(NxValueError, match="How often its loop runs depends on values"):
        halvings.compilations()[-1].measure()


def test_a_gpu_is_judged_by_a_copy_and_a_product(monkeypatch):
    done = []

    class Gpu:
        simulated = False

        def allocate(self, shape, dtype):
            return SimpleNamespace(pointer=len(done), nbytes=shape[0])

        def fill(self, pointer, byte, nbytes):
            assert nbytes == kernel_clocks.COPIED

        def copy(self, target, source, nbytes):
            done.append(nbytes)

        def here(self):
            return contextlib.nullcontext()

        def time(self, work):
            work()
            return 0.001 if done and done[-1] == kernel_clocks.COPIED else 0.002

    class Matrix:
        def __matmul__(self, other):
            done.append("product")

    cupy = SimpleNamespace(ones=lambda shape, dtype: Matrix())
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    bandwidth, arithmetic = machine(Gpu())
    assert bandwidth == pytest.approx(2 * kernel_clocks.COPIED / 0.001)
    assert arithmetic == pytest.approx(2 * kernel_clocks.SIDE**3 / 0.002)
    assert done.count("product") == 4
