"""Graphs of launches: programs that come again with the same memory are captured once, and launched as one."""

import numpy as np
import pytest

import nxkernel as nx
from emulated_gpu.programs import compiled
from nxkernel.compilers.numba_cuda.program import cuda_graphs, launch_modes
from nxkernel.ops.programs import control_flow

X = np.arange(12.0).reshape(3, 4)


@pytest.fixture(autouse=True)
def by_the_host(monkeypatch):
    """Have the host go through all loops."""
    monkeypatch.setattr(launch_modes, "WAITING", -1)


@pytest.fixture
def captured(device, monkeypatch):
    """A list that gets an entry for each graph that is captured."""
    found = []
    capture = device.capture
    monkeypatch.setattr(device, "capture", lambda work: found.append(capture(work)) or found[-1])
    return found


def chain(x):
    y = nx.cumulative_sum(nx.exp(x * 0.1), axis=0)
    return nx.sum(nx.transpose(y) + 1, axes=[0])


def runs(executable, given, count):
    """Results of runs, each of which is gone before the next one, so that memory is the same."""
    return [executable.run(given)[0].host() for _ in range(count)]


def same_memory(device, monkeypatch):
    """Have the device give the same addresses again, as the pool of a GPU does."""
    kept = {}
    allocate = type(device).allocate

    def again(self, shape, dtype):
        key = (tuple(shape), str(dtype))
        if key not in kept:
            kept[key] = allocate(self, shape, dtype)
        return kept[key]

    monkeypatch.setattr(type(device), "allocate", again)


def test_the_second_run_is_captured_and_the_third_is_launched(device, captured, monkeypatch):
    executable, given = compiled(chain, X), [device.upload(X)]
    same_memory(device, monkeypatch)
    launches = []
    launch = device.launch
    monkeypatch.setattr(device, "launch", lambda prepared: launches.append(prepared) or launch(prepared))
    one, two, three = runs(executable, given, 3)
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)
    assert len(captured) == 1
    assert len(launches) == 2 * len(executable.kernels)
    np.testing.assert_allclose(one, chain(nx.tensor(X)).to_numpy())


def test_other_contents_of_the_same_memory(device, captured, monkeypatch):
    executable, given = compiled(chain, X), [device.upload(X)]
    same_memory(device, monkeypatch)
    runs(executable, given, 2)
    device.write(given[0].pointer, 2 * X)
    (found,) = runs(executable, given, 1)
    assert len(captured) == 1
    np.testing.assert_allclose(found, chain(nx.tensor(2 * X)).to_numpy())


def test_loops_that_count_are_captured_as_a_whole(device, captured, monkeypatch):
    def function(x, n):
        state = [0, x]
        return control_flow.run_while(
            state, lambda s: nx.less(s[0], n), lambda s: [s[0] + 1, s[1] * nx.as_type(s[0] + 1, "f64")], ["i", "x"]
        )[1]

    executable, given = compiled(function, X, np.int64(3)), device.upload(X)
    same_memory(device, monkeypatch)
    found = runs(executable, [given, np.int64(3)], 3)
    np.testing.assert_array_equal(found[2], 6 * X)
    assert len(captured) == 1
    # Another number of turns is another graph.
    np.testing.assert_array_equal(runs(executable, [given, np.int64(4)], 3)[2], 24 * X)
    assert len(captured) == 2


def test_what_waits_is_not_captured(device, captured, monkeypatch):
    def function(x):
        return control_flow.run_while([x], lambda s: nx.less(nx.sum(s[0]), 500), lambda s: [s[0] * 2], ["x"])[0]

    executable, given = compiled(function, X), [device.upload(X)]
    same_memory(device, monkeypatch)
    runs(executable, given, 3)
    assert captured == []
    assert not cuda_graphs.is_capturable(executable.program.steps)


def test_what_cannot_be_captured_is_done_step_by_step(device, monkeypatch):
    executable, given = compiled(chain, X), [device.upload(X)]
    same_memory(device, monkeypatch)

    def refused(work):
        raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(device, "capture", refused)
    for found in runs(executable, given, 3):
        np.testing.assert_allclose(found, chain(nx.tensor(X)).to_numpy())


def test_single_launches_are_not_worth_a_graph(device, captured, monkeypatch):
    executable, given = compiled(lambda x: x + 1, X), [device.upload(X)]
    same_memory(device, monkeypatch)
    for found in runs(executable, given, 4):
        np.testing.assert_array_equal(found, X + 1)
    assert len(captured) == 1


def test_long_loops_are_no_graphs(device, captured, monkeypatch):
    monkeypatch.setattr(cuda_graphs, "MOST", 4)

    def function(x):
        return control_flow.run_while([0, x], lambda s: nx.less(s[0], 9), lambda s: [s[0] + 1, s[1] * 2], ["i", "x"])[1]

    executable, given = compiled(function, X), [device.upload(X)]
    same_memory(device, monkeypatch)
    for found in runs(executable, given, 4):
        np.testing.assert_array_equal(found, 512 * X)
    assert captured == []


def test_few_graphs_are_kept(device, captured, monkeypatch):
    monkeypatch.setattr(cuda_graphs, "KEPT", 1)

    def function(x, n):
        return control_flow.run_while([0, x], lambda s: nx.less(s[0], n), lambda s: [s[0] + 1, s[1] * 2], ["i", "x"])[1]

    executable, given = compiled(function, X, np.int64(3)), device.upload(X)
    same_memory(device, monkeypatch)
    for number, count in ((3, 1), (4, 2), (4, 2), (3, 3)):
        found = runs(executable, [given, np.int64(number)], 2)
        np.testing.assert_array_equal(found[1], 2**number * X)
        assert len(captured) == count
