"""DLPack: without a copy, bf16 too."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.backends.cuda import availability
from nxkernel.errors import NxTypeError

TYPES = ["u8", "s32", "s64", "bf16", "f16", "f32", "f64", "c64", "c128", "bool"]


class Foreign:
    """An array of another library, which knows the protocol as it was before version 1.0."""

    def __init__(self, tensor, device=(1, 0)):
        self.tensor, self.device = tensor, device

    def __dlpack__(self, stream=None):
        return self.tensor.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.device


@pytest.mark.parametrize("type_", TYPES)
def test_there_and_back(type_):
    tensor = nx.tensor([[1, 0, 3], [4, 5, 6]], type=type_)
    back = nx.from_dlpack(tensor)
    assert back.type == type_
    np.testing.assert_array_equal(back.to_numpy(), tensor.to_numpy())
    assert np.shares_memory(back.to_numpy(), tensor.to_numpy())
    old = nx.from_dlpack(Foreign(tensor))
    assert old.type == type_
    np.testing.assert_array_equal(old.to_numpy(), tensor.to_numpy())


def test_a_transposed_array_keeps_its_meaning():
    array = np.arange(6.0).reshape(2, 3).T
    np.testing.assert_array_equal(nx.from_dlpack(array).to_numpy(), array)


def test_read_only_arrays():
    array = np.arange(3)
    array.flags.writeable = False
    assert nx.from_dlpack(array).to_list() == [0, 1, 2]
    assert not np.from_dlpack(nx.tensor([1])).flags.writeable


def test_what_is_refused_says_why():
    class Elsewhere(Foreign):
        def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
            raise BufferError("no copies across devices")

    with pytest.raises(NxTypeError) as error:
        nx.from_dlpack(Elsewhere(nx.tensor([1]), device=(2, 0)))
    assert str(error.value).endswith(
        "Elsewhere does not come over by DLPack: no copies across devices\n"
        "  It is on the device (2, 0): copy it to the main memory, x.cpu() in PyTorch, x.get() in CuPy."
    )
    with pytest.raises(NxTypeError, match=r"test_dlpack\.Foreign does not come over by DLPack: .*"):
        nx.from_dlpack(Foreign(nx.tensor([1]), device=(2, 0)))


def test_a_library_that_copies_from_its_device():
    class Copying(Foreign):
        def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
            assert tuple(dl_device) == (1, 0)
            return self.tensor.__dlpack__(max_version=max_version)

    assert nx.from_dlpack(Copying(nx.bf16([1, 2]), device=(2, 0))).to_list() == [1.0, 2.0]


@pytest.mark.parametrize("type_", ["u8", "s32", "bf16", "f16", "f32", "c64", "bool"])
def test_jax(type_):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    tensor = nx.tensor([[1, 0], [3, 4]], type=type_)
    theirs = jax.numpy.from_dlpack(tensor)
    assert theirs.dtype == tensor.dtype
    np.testing.assert_array_equal(np.asarray(theirs), tensor.to_numpy())
    back = nx.from_dlpack(theirs)
    assert back.type == type_
    assert back.to_numpy().ctypes.data == theirs.unsafe_buffer_pointer()
    assert nx.tensor(theirs).to_list() == tensor.to_list()


@pytest.mark.parametrize("type_", TYPES)
def test_torch(type_):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensor = nx.tensor([[1, 0], [3, 4]], type=type_)
    theirs = torch.from_dlpack(tensor)
    assert theirs.data_ptr() == tensor.to_numpy().ctypes.data
    assert theirs.tolist() == tensor.to_list()
    back = nx.from_dlpack(theirs)
    assert (back.type, back.to_list()) == (type_, tensor.to_list())
    assert back.to_numpy().ctypes.data == theirs.data_ptr()
    assert nx.tensor(theirs).to_list() == tensor.to_list()


def test_torch_with_gradients():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(NxTypeError, match=r"torch\.Tensor does not come over by DLPack: .*detach"):
        nx.from_dlpack(torch.ones(2, requires_grad=True))


def test_cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not availability.is_available():
        pytest.skip("no NVIDIA GPU here")
    assert nx.from_dlpack(cupy.arange(3)).to_list() == [0, 1, 2]
