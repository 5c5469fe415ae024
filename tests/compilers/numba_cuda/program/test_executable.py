"""Runs of programs for GPUs: where their memory is, what is transferred, and what is told when something goes wrong."""

import gc
import re

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.programs import compiled, done
from graph_comparison.compiled_graphs import graph_of
from nxkernel.backends.cuda import devices
from nxkernel.compilers import registry
from nxkernel.errors import DeviceFaultError, DeviceMemoryError, NxValueError
from nxkernel.graph.expr import Graph

pytestmark = pytest.mark.usefixtures("little_garbage")

X = np.arange(12.0).reshape(3, 4)


def test_results_are_on_the_device_and_inputs_may_be(device):
    executable = compiled(lambda x, y: x * y, X, X)
    (found,) = executable.run([device.upload(X), X])
    assert found.device is device
    np.testing.assert_array_equal(found.host(), X * X)


def test_only_what_is_read_is_transferred(device, monkeypatch):
    sizes = []
    write = type(device).write
    monkeypatch.setattr(
        type(device), "write", lambda self, at, array: sizes.append(array.nbytes) or write(self, at, array)
    )
    large = np.ones((100, 100))
    executable = compiled(lambda x, y, z, n: x + z[0, :4] * nx.as_type(n, "f64"), X, X, large, np.int64(2))
    (found,) = executable.run([X, X, large, np.int64(2)])
    np.testing.assert_array_equal(found.host(), X + 2)
    # Small arrays go together, each at a multiple of 64 bytes.
    assert sorted(sizes) == [128 + 64, large.nbytes]


def test_the_device_of_the_arguments_is_taken(device):
    second = devices.device(1)
    executable = compiled(lambda x: x + 1, X)
    (found,) = executable.run([second.upload(X)])
    assert found.device is second
    np.testing.assert_array_equal(found.host(), X + 1)


def test_arguments_on_two_devices_are_refused(device):
    executable = compiled(lambda x, y: x + y, X, X)
    with pytest.raises(NxValueError) as raised:
        executable.run([device.upload(X), devices.device(1).upload(X)])
    assert str(raised.value) == (
        'arguments are on two devices, cuda:0 and cuda:1.\n  Transfer one of them: nx.backend_transfer(t, "cuda:0").'
    )


def updated(function, *arrays, updates):
    """The executable of a graph some of whose inputs change."""
    graph = graph_of(function, *arrays)
    return registry.get("numba_cuda").compile(
        Graph(graph.name, graph.parameters, graph.outputs, graph.rebuild, updates)
    )


def test_arrays_of_the_host_that_change(device):
    x = X.copy()
    executable = updated(lambda x: (x * 2, nx.sum(x)), x, updates=((0, 0),))
    changed, total = executable.run([x])
    np.testing.assert_array_equal(x, 2 * X)
    np.testing.assert_array_equal(changed.host(), 2 * X)
    assert total.host() == X.sum()


def test_arrays_of_the_device_that_change(device):
    given = device.upload(X)
    executable = updated(lambda x: (nx.put_slice(x, [1, 1], x[:1, 3:] + 4),), X, updates=((0, 0),))
    (changed,) = executable.run([given])
    assert changed.pointer == given.pointer
    assert given.host()[1, 1] == 7.0


def test_a_change_that_is_made_elsewhere_is_copied(device):
    given = device.upload(X)
    executable = updated(lambda x: (nx.transpose(nx.transpose(x) + 1), nx.reverse(x)), X, updates=((0, 1),))
    executable.run([given])
    np.testing.assert_array_equal(given.host(), X[::-1, ::-1])


def test_an_input_that_is_a_result_is_copied(device):
    given = device.upload(X)
    (found,) = compiled(lambda x: x, X).run([given])
    assert found.pointer != given.pointer
    np.testing.assert_array_equal(found.host(), X)


def test_nothing_is_left_of_a_run_but_its_results(device):
    executable = compiled(lambda x: nx.sum(nx.exp(x) - nx.reshape(nx.sum(x, axes=[1]), (3, 1))), X)
    executable.run([X])
    before = device.memory.used
    (found,) = executable.run([X])
    assert device.memory.used - before == found.nbytes


def test_memory_that_is_not_there_is_told_with_the_line(device):
    executable = compiled(lambda x: nx.dot(x, x) + 1, np.ones((64, 64)))
    device.limit_memory(1 << 14)
    try:
        with pytest.raises(DeviceMemoryError):
            executable.run([np.ones((64, 64))])
    finally:
        device.limit_memory(None)
    (found,) = executable.run([np.ones((64, 64))])
    assert found.host()[0, 0] == 65


def test_an_error_that_is_kept_keeps_no_memory(device):
    executable = compiled(lambda x: (nx.exp(x), nx.sin(x), nx.dot(x, x)), np.ones((64, 64)))
    gc.collect()
    before = device.memory.used
    # The array that comes from the host fits, and the first results.
    device.limit_memory(before + (3 << 15))
    try:
        with pytest.raises(DeviceMemoryError) as raised:
            executable.run([np.ones((64, 64))])
    finally:
        device.limit_memory(None)
    assert raised.value.used == before + (3 << 15)
    assert device.memory.used == before


def test_a_fault_is_told_with_the_kernel_and_the_line(device, monkeypatch):
    def failing(prepared):
        raise DeviceFaultError("the kernel failed.")

    executable = compiled(lambda x: nx.exp(x), X)
    monkeypatch.setattr(device, "launch", failing)
    with pytest.raises(DeviceFaultError) as raised:
        executable.run([X])
    (note,) = raised.value.__notes__
    assert note.startswith("It was queued by element by element, for ")
    assert "test_executable.py, line" in note


def test_a_launch_brings_along_what_a_later_fault_says_of_it(device):
    (launched,) = compiled(lambda x: nx.exp(x), X).program.launched
    pattern = r"map \(nxc_\w{8}\) of .+ \(.*test_executable\.py, line \d+\)"
    assert re.fullmatch(pattern, launched.prepared.title), launched.prepared.title


def test_a_fault_that_came_later_is_not_the_steps(device, monkeypatch):
    error = DeviceFaultError("a kernel of before failed.")
    error.lost = True

    def failing(prepared):
        raise error

    executable = compiled(lambda x: nx.exp(x), X)
    monkeypatch.setattr(device, "launch", failing)
    with pytest.raises(DeviceFaultError) as raised:
        executable.run([X])
    assert not hasattr(raised.value, "__notes__")


def test_what_is_watched(device):
    executable = compiled(lambda x: (nx.exp(x), nx.transpose(x) + 1, nx.dot(x, nx.transpose(x))), X)
    steps, results = done(executable, [X])
    assert [step.record for step in steps] == list(range(len(executable.kernels)))
    np.testing.assert_allclose(results[2], X @ X.T)


def test_parameters_that_nobody_reads(device):
    (found,) = compiled(lambda x, y: y * 2, X, np.float64(3)).run([None, np.float64(3)])
    assert found.host() == 6.0


def test_a_value_that_is_to_be_in_two_arguments(device):
    def both(a, b):
        for _ in range(3):
            b += a
        a[:] = b
        return a.sum()

    a, b = np.arange(4.0), np.ones(4)
    found = nx.defn(both, promotion="numpy", compiler="numba_cuda")(a, b)
    assert (float(np.asarray(found)), a.tolist(), b.tolist()) == (22.0, [1, 4, 7, 10], [1, 4, 7, 10])
