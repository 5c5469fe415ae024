"""Tensors on devices, in the simulator: where they are, what brings them to the host, and what gives them away."""

import copy
import gc
import pickle

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.backends.cuda import devices
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.tensor import device
from nxkernel.tensor.device import BorrowedMemory, DeviceTensor

pytestmark = pytest.mark.usefixtures("little_garbage")

GONE = r"this array on cuda:0 was given away"


@pytest.fixture(autouse=True)
def _simulated(monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 2)


def there(values, type_="f32", backend="cuda:0"):
    return nx.backend_copy(nx.tensor(values, type=type_), backend)


def test_a_tensor_is_on_the_host():
    tensor = nx.tensor([1.0, 2.0])
    assert tensor.device == "cpu"
    assert tensor.to_backend("cpu") is tensor


def test_to_a_device_and_back():
    tensor = nx.tensor([[1, 2], [3, 4]], names=["row", None])
    found = tensor.to_backend("cuda:1")
    assert type(found) is DeviceTensor
    assert (found.device, found.spec) == ("cuda:1", tensor.spec)
    assert found.to_backend("cuda:1") is found
    back = found.to_backend("cpu")
    assert (type(back), back.device, back.spec, back.to_list()) == (nx.Tensor, "cpu", tensor.spec, [[1, 2], [3, 4]])
    assert found.to_backend("cuda").array.device is devices.device(0)


@pytest.mark.parametrize("type_", ["u8", "s64", "bf16", "f16", "f64", "c64"])
def test_elements_of_every_width(type_):
    tensor = nx.tensor([[1, 0, 3]], type=type_)
    found = tensor.to_backend("cuda:0")
    assert (found.dtype, found.to_list()) == (tensor.dtype, tensor.to_list())


def test_elements_come_to_the_host_once(monkeypatch):
    found, brought = there([1.0, 2.0]), []
    download = type(found.array.device).download
    monkeypatch.setattr(
        type(found.array.device), "download", lambda self, array: brought.append(array) or download(self, array)
    )
    assert found.to_list() == [1.0, 2.0]
    assert repr(found)
    assert found.to_numpy() is found.data
    assert brought == [found.array]
    assert not found.data.flags.writeable


def test_python_and_numpy_see_elements():
    found = there([[1, 2], [3, 4]], "s32")
    assert (len(found), found.shape, found.size, found.rank) == (2, (2, 2), 4, 2)
    np.testing.assert_array_equal(np.asarray(found), [[1, 2], [3, 4]])
    assert found.tolist() == [[1, 2], [3, 4]]
    assert int(there(7)) == 7
    assert bool(there([0.5]))
    assert f"{there(2.5):.2f}" == "2.50"
    assert [1, 2, 3][there(1, "s64")] == 2


def test_text_and_html_say_where_it_is():
    found = there([1.0, 2.0])
    assert repr(found) == "Tensor([1., 2.], f32[2], cuda:0)"
    assert "f32 vector of 2, on cuda:0" in found._repr_html_()
    vectorized = nx.vectorize(there([[1.0], [2.0]]), "v")
    assert repr(vectorized) == "Tensor([[1.],\n        [2.]], vectorized[v: 2] f32[1], cuda:0)"
    assert nx.inspect(vectorized) == (
        "#Nx.Tensor<\n  vectorized[v: 2]\n  f32[1]\n  cuda:0\n  [\n    [1.0],\n    [2.0]\n  ]\n>"
    )
    found.release()
    assert repr(found) == str(found) == "Tensor(f32[2], cuda:0, given away)"
    assert nx.inspect(found) == "#Nx.Tensor<\n  f32[2]\n  cuda:0, given away\n>"
    assert found._repr_html_().count("f32 vector of 2, on cuda:0") == 1


def test_copies_and_pickles():
    found = there([1.0, 2.0])
    assert copy.copy(found) is found
    other = copy.deepcopy({"w": found})["w"]
    assert (other.device, other.to_list()) == ("cuda:0", [1.0, 2.0])
    assert other.array.pointer != found.array.pointer
    back = pickle.loads(pickle.dumps(found))
    assert (type(back), back.to_list()) == (nx.Tensor, [1.0, 2.0])


def test_what_was_given_away_says_so():
    found = there([1.0, 2.0])
    assert found.to_list() == [1.0, 2.0]
    shared = found.with_spec(found.spec)
    found.release()
    assert found.released
    assert shared.released
    for use in (found.to_list, lambda: found + 1, lambda: shared.data, lambda: found.to_backend("cuda:1")):
        with pytest.raises(NxValueError, match=GONE):
            use()
    found.release()


def test_rows_share_the_memory():
    found = there([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    part = found.rows(1, 3)
    assert (part.shape, part.to_list()) == ((2, 2), [[3.0, 4.0], [5.0, 6.0]])
    assert part.array.pointer == found.array.pointer + 8
    assert nx.tensor([[1, 2], [3, 4]]).rows(1, 2).to_list() == [[3, 4]]
    batches = nx.to_batched(found, 2)
    assert [(batch.device, batch.to_list()) for batch in batches] == [
        ("cuda:0", [[1.0, 2.0], [3.0, 4.0]]),
        ("cuda:0", [[5.0, 6.0], [1.0, 2.0]]),
    ]


def test_shared_memory_is_known():
    found = there([1.0, 2.0])
    assert not device.is_shared(found.array)
    part = found.rows(0, 1)
    assert device.is_shared(found.array)
    del part
    assert not device.is_shared(found.array)
    found.array.owner = BorrowedMemory(object())
    assert device.is_shared(found.array)


def test_names_of_devices():
    assert device.device_of("cpu") is None
    assert device.device_of("cuda:1") is devices.device(1)
    with pytest.raises(NxTypeError, match=r'a backend is a str, got 3\.\n  Write "cpu" or "cuda:0"\.'):
        device.device_of(3)
    with pytest.raises(NxValueError, match=r"'gpu' is no device"):
        nx.tensor(1).to_backend("gpu")
    with pytest.raises(NxValueError, match=r'there is no device "cuda:5"'):
        nx.tensor(1).to_backend("cuda:5")


def test_arrays_that_nobody_writes_to_are_uploaded_once():
    where = devices.device(0)
    tensor = nx.tensor([1.0, 2.0])
    first = device.uploaded(tensor.data, where)
    assert device.uploaded(tensor.data, where) is first
    assert device.uploaded(tensor.data, devices.device(1)) is not first
    array = np.array([1.0, 2.0])
    kept = device.uploaded(array, where)
    array[0] = 5.0
    assert device.uploaded(array, where).host().tolist() == [5.0, 2.0]
    assert kept.host().tolist() == [1.0, 2.0]
    seen = nx.Tensor.from_numpy(array)
    assert device.uploaded(seen.data, where) is not device.uploaded(seen.data, where)


def test_what_is_uploaded_goes_with_its_array():
    device._uploads.clear()
    tensor = nx.tensor([1.0, 2.0])
    device.uploaded(tensor.data, devices.device(0))
    assert len(device._uploads) == 1
    del tensor
    gc.collect()
    assert not device._uploads


def test_dlpack_of_a_simulated_device_is_by_the_host():
    found = there([1.0, 2.0])
    assert found.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(found).tolist() == [1.0, 2.0]
    assert nx.from_dlpack(found).device == "cpu"
    assert not hasattr(found, "__cuda_array_interface__")
