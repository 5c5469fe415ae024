"""Bringing containers of tensors to devices and back."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.backends.cuda import availability, devices
from nxkernel.errors import CudaUnavailableError, DeviceMemoryError, NxTypeError, NxValueError, TracedValueError


@pytest.fixture
def _simulated(monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 2)


pytestmark = pytest.mark.usefixtures("_simulated")


def test_a_container_is_brought_over():
    weight = nx.tensor([[1.0, 2.0]])
    found = nx.backend_transfer({"w": weight, "tied": weight, "b": 0.5, "n": np.arange(3)}, "cuda:1")
    assert {name: leaf.device for name, leaf in found.items()} == dict.fromkeys(("w", "tied", "b", "n"), "cuda:1")
    assert found["tied"] is found["w"]
    assert (found["b"].type, found["n"].to_list()) == ("f32", [0, 1, 2])
    assert weight.to_list() == [[1.0, 2.0]]


def test_a_transfer_gives_the_tensor_away():
    first = nx.backend_transfer(nx.tensor([1.0, 2.0]), "cuda:0")
    assert nx.backend_transfer(first, "cuda:0") is first
    second = nx.backend_transfer(first, "cuda:1")
    assert (second.device, second.to_list()) == ("cuda:1", [1.0, 2.0])
    with pytest.raises(NxValueError, match="was given away"):
        nx.sum(first)
    back = nx.backend_transfer([second, second])
    assert back[0] is back[1]
    assert (back[0].device, back[0].to_list()) == ("cpu", [1.0, 2.0])
    assert second.released


def test_a_copy_leaves_the_tensor():
    first = nx.backend_copy(nx.tensor([1.0, 2.0]), "cuda:0")
    again = nx.backend_copy(first, "cuda:0")
    assert again.array.pointer != first.array.pointer
    other = nx.backend_copy(first, "cuda:1")
    host = nx.backend_copy(first)
    assert [each.to_list() for each in (first, again, other, host)] == [[1.0, 2.0]] * 4
    assert [each.device for each in (first, again, other, host)] == ["cuda:0", "cuda:0", "cuda:1", "cpu"]
    assert nx.backend_copy(host) is host


def test_vectorized_axes_come_along():
    tensor = nx.vectorize(nx.tensor([[1.0, 2.0], [3.0, 4.0]]), "v")
    found = nx.backend_copy(tensor, "cuda:0")
    assert (found.spec, nx.backend_copy(found).spec) == (tensor.spec, tensor.spec)


def test_memory_is_given_back():
    found = nx.backend_copy({"a": nx.f64([1, 2]), "b": nx.u8([1, 2, 3])}, "cuda:0")
    before = devices.device(0).memory.used
    assert nx.backend_deallocate(found) == 19
    assert before - devices.device(0).memory.used == 19
    assert nx.backend_deallocate(found) == 0
    assert nx.backend_deallocate([nx.tensor(1), 2.0]) == 0


def test_what_there_is():
    assert nx.backend_names() == ["cpu", "cuda:0", "cuda:1"]
    before = nx.backend_memory("cuda:1")
    tensor = nx.backend_copy(nx.iota((100,)), "cuda:1")
    assert nx.backend_memory("cuda:1").used == before.used + tensor.array.nbytes
    assert nx.backend_memory("cuda:1", limit=1000).limit == 1000
    assert nx.backend_memory("cuda:1").limit == 1000
    assert nx.backend_memory("cuda:1", limit=None) == nx.backend_memory("cuda:1")
    with pytest.raises(NxValueError, match=r"the memory of the host is not counted here"):
        nx.backend_memory("cpu")
    with pytest.raises(NxTypeError, match="limit"):
        nx.backend_memory("cuda:0", limit=0.5)


def test_too_large_for_the_device():
    where = devices.device(1)
    where.limit_memory(where.memory.used + 1000)
    try:
        with pytest.raises(DeviceMemoryError, match=r"cuda:1 has no 4\.0 kB left"):
            nx.backend_copy(nx.iota((1000,), type="f32"), "cuda:1")
        assert nx.backend_copy(nx.iota((10,)), "cuda:1").to_list() == list(range(10))
    finally:
        where.limit_memory(None)


def test_what_cannot_be_moved():
    with pytest.raises(TracedValueError, match=r"backend_copy moves data; a traced value of type f32 has none yet"):
        nx.jit(lambda t: nx.backend_copy(t, "cuda:0"))(1.0)
    with pytest.raises(NxTypeError, match="template f32 has no data"):
        nx.backend_transfer(nx.template((), "f32"), "cuda:0")
    with pytest.raises(NxTypeError, match="neither a tensor nor a container"):
        nx.backend_transfer("text", "cuda:0")
    with pytest.raises(NxValueError, match=r"'tpu' is no device"):
        nx.backend_transfer([], "tpu")


def test_without_a_gpu_it_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 0)
    if availability.is_available():
        pytest.skip("there is an NVIDIA GPU here")
    tensor = nx.tensor([1.0])
    with pytest.raises(CudaUnavailableError, match=r'the device "cuda:0" needs an NVIDIA GPU'):
        nx.backend_transfer(tensor, "cuda:0")
    assert nx.backend_transfer(tensor, "cpu") is tensor
