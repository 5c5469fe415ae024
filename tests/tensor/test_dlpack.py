"""DLPack: without a copy, bf16 too."""

import contextlib
import ctypes
import sys
import types

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.backends.cuda import availability, devices
from nxkernel.backends.cuda.arrays import DeviceArray
from nxkernel.errors import NxTypeError
from nxkernel.tensor import dlpack
from nxkernel.tensor.device import DeviceTensor, is_shared
from nxkernel.tensor.tensor import Tensor

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
    # PyTorch knows no array that cannot be written.
    assert theirs.data_ptr() != tensor.to_numpy().ctypes.data
    assert theirs.tolist() == tensor.to_list()
    back = nx.from_dlpack(theirs)
    assert (back.type, back.to_list()) == (type_, tensor.to_list())
    assert back.to_numpy().ctypes.data == theirs.data_ptr()
    assert nx.tensor(theirs).to_list() == tensor.to_list()


def test_a_library_that_minds_no_flag_gets_a_copy():
    """PyTorch's arrays can be written, whatever a capsule says; a tensor stays as it is."""
    t = nx.tensor([1.0, 2.0, 3.0])
    library = {"__name__": "torch.utils.dlpack"}
    exec("def take(x): return x.__dlpack__(max_version=(1, 0))", library)

    class Taken:
        def __dlpack__(self, **options):
            return library["take"](t)

        def __dlpack_device__(self):
            return t.__dlpack_device__()

    array = np.from_dlpack(Taken())
    assert array.flags.writeable
    array[0] = 9
    assert t.to_list() == [1, 2, 3]
    assert not np.from_dlpack(t).flags.writeable


def test_torch_writes_into_memory_of_its_own():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    t = nx.tensor([1.0, 2.0, 3.0])
    torch.from_dlpack(t)[0] = 9
    assert t.to_list() == [1, 2, 3]


def test_torch_with_gradients():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    with pytest.raises(NxTypeError, match=r"torch\.Tensor does not come over by DLPack: .*detach"):
        nx.from_dlpack(torch.ones(2, requires_grad=True))


def test_cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not availability.is_available():
        pytest.skip("no NVIDIA GPU here")
    assert nx.from_dlpack(cupy.arange(3)).to_list() == [0, 1, 2]


# Memory of GPUs --------------------------------------------------------------------------------------------------


class FakeGpu:
    """A GPU whose memory is that of the host, as far as CuPy is asked for it."""

    simulated, index, name = False, 1, "cuda:1"

    def here(self):
        return contextlib.nullcontext(self)


class FakeArray:
    """What CuPy makes of memory: it exports and has an address."""

    def __init__(self, shape, dtype, memptr):
        self.memory, (self.owner, address, size, _) = memptr, memptr.mem.made
        self.shape, self.dtype, self.data = tuple(shape), np.dtype(dtype), types.SimpleNamespace(ptr=address)
        found = (ctypes.c_uint8 * size).from_address(address)
        self.elements = np.frombuffer(found, self.dtype).reshape(shape)
        self.asked = None

    def __dlpack__(self, **options):
        self.asked = options
        return self.elements.__dlpack__(max_version=options["max_version"])


@pytest.fixture
def fake_cupy(monkeypatch):
    """CuPy without a GPU; what it makes is in ``made``."""
    cupy = types.ModuleType("cupy")
    cupy.made = []

    def ndarray(shape, dtype, memptr):
        cupy.made.append(FakeArray(shape, dtype, memptr))
        return cupy.made[-1]

    def from_dlpack(exporter):
        assert exporter.__dlpack_device__() == (2, 1)
        capsule = exporter.__dlpack__(stream=7, max_version=(1, 0), dl_device=None, copy=None)
        cupy.capsules = [capsule]
        array = np.from_dlpack(types.SimpleNamespace(__dlpack__=lambda **_: capsule, __dlpack_device__=lambda: (1, 0)))
        cupy.given = array
        return array

    def held(kept):
        return types.SimpleNamespace(
            data=types.SimpleNamespace(ptr=kept.ctypes.data),
            shape=kept.shape,
            dtype=kept.dtype,
            kept=kept,
            copy=lambda: held(kept.copy()),
        )

    def ascontiguousarray(array):
        return held(np.ascontiguousarray(array))

    cupy.ndarray, cupy.from_dlpack, cupy.ascontiguousarray = ndarray, from_dlpack, ascontiguousarray
    cupy.cuda = types.SimpleNamespace(
        UnownedMemory=lambda address, size, owner, index: types.SimpleNamespace(made=(owner, address, size, index)),
        MemoryPointer=lambda memory, offset: types.SimpleNamespace(mem=memory, offset=offset),
        get_current_stream=lambda: types.SimpleNamespace(ptr=cupy.stream),
    )
    cupy.stream = 0
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return cupy


def on_fake_gpu(array):
    owner = ["what keeps the memory", array]
    made = DeviceArray(FakeGpu(), array.ctypes.data, array.shape, array.dtype, owner)
    return DeviceTensor.wrap(made, Tensor.from_numpy(array).spec)


class Exported:
    """A capsule, as another library would take it on the host."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize("type_", TYPES)
def test_a_tensor_on_a_gpu_is_exported_as_it_is(fake_cupy, type_):
    elements = nx.tensor([[1, 0, 3]], type=type_).to_numpy().copy()
    tensor = on_fake_gpu(elements)
    assert tensor.__dlpack_device__() == (2, 1)
    capsule = tensor.__dlpack__(stream=2, max_version=(1, 0))
    (made,) = fake_cupy.made
    assert made.asked == {"stream": 2, "max_version": (1, 0), "dl_device": None, "copy": None}
    assert made.owner is tensor.array.owner
    assert made.memory.mem.made[3] == 1
    back = nx.from_dlpack(Exported(capsule))
    assert (back.type, back.to_list()) == (type_, Tensor.from_numpy(elements).to_list())
    assert back.to_numpy().ctypes.data == elements.ctypes.data


def test_the_real_cupy_takes_such_memory():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    tensor = on_fake_gpu(np.arange(6, dtype=np.float32).reshape(2, 3))
    made = dlpack._of_cupy(tensor.array)
    assert (made.shape, made.dtype, made.data.ptr) == ((2, 3), np.float32, tensor.array.pointer)
    assert made.data.mem.device_id == 1
    for function in (cupy.ndarray.__dlpack__, cupy.from_dlpack, cupy.ascontiguousarray, cupy.cuda.get_current_stream):
        assert callable(function)
    assert "stream=None, tuple max_version=None, dl_device=None, copy=None" in cupy.ndarray.__dlpack__.__doc__


def test_a_tensor_on_a_gpu_goes_to_the_host_by_a_copy(fake_cupy, monkeypatch):
    tensor = on_fake_gpu(np.arange(3.0))
    monkeypatch.setattr(DeviceArray, "host", lambda self: np.arange(3.0) + 10)
    assert nx.from_dlpack(Exported(tensor.__dlpack__(max_version=(1, 0), dl_device=(1, 0)))).to_list() == [10, 11, 12]
    with pytest.raises(BufferError, match="the elements are on cuda:1: they come to the main memory only by a copy"):
        tensor.__dlpack__(max_version=(1, 0), dl_device=(1, 0), copy=False)
    assert not fake_cupy.made


def test_cuda_array_interface(fake_cupy):
    elements = np.arange(6, dtype=np.int32).reshape(2, 3)
    tensor = on_fake_gpu(elements)
    assert tensor.__cuda_array_interface__ == {
        "shape": (2, 3), "typestr": "<i4", "data": (elements.ctypes.data, False), "strides": None, "stream": 1,
        "version": 3,
    }  # fmt: skip
    fake_cupy.stream = 77
    assert tensor.__cuda_array_interface__["stream"] == 77
    with pytest.raises(AttributeError, match="CUDA's array interface has no name for bf16"):
        on_fake_gpu(nx.bf16([1]).to_numpy()).__cuda_array_interface__  # noqa: B018


class OnGpu(Foreign):
    """Another library's array on the second GPU."""

    def __init__(self, tensor):
        super().__init__(tensor, (2, 1))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        assert stream == 7
        return self.tensor.__dlpack__(max_version=max_version)


class OldOnGpu(Foreign):
    """One that knows the protocol as it was before version 1.0."""

    def __init__(self, tensor):
        super().__init__(tensor, (2, 1))

    def __dlpack__(self, stream=None):
        assert stream == 7
        return self.tensor.to_numpy().copy().__dlpack__()


@pytest.fixture
def second_gpu(monkeypatch, fake_cupy):
    gpu = FakeGpu()
    monkeypatch.setattr(devices, "simulating", lambda: False)
    monkeypatch.setattr(devices, "count", lambda: 2)
    monkeypatch.setattr(devices, "device", {1: gpu}.get)
    return gpu


@pytest.mark.parametrize("type_", TYPES)
def test_an_array_on_a_gpu_stays_there(second_gpu, fake_cupy, type_):
    source = nx.tensor([[1, 0, 3]], type=type_)
    found = nx.from_dlpack(OnGpu(source))
    assert (type(found), found.device, found.spec) == (DeviceTensor, "cuda:1", source.spec)
    assert found.array.pointer == source.to_numpy().ctypes.data
    assert is_shared(found.array)


def test_an_older_library_gets_the_stream(second_gpu):
    assert nx.from_dlpack(OldOnGpu(nx.f32([1, 2]))).device == "cuda:1"


def test_another_order_is_copied_there(second_gpu):
    array = np.arange(6.0).reshape(2, 3).T

    class Turned:
        def __dlpack__(self, **_):
            return array.__dlpack__()

        def __dlpack_device__(self):
            return (2, 1)

    found = nx.from_dlpack(Turned())
    kept = found.array.owner.array.kept
    assert (found.shape, kept.flags.c_contiguous, kept.tolist()) == ((3, 2), True, array.tolist())


def test_elements_that_begin_between_places_are_copied_there(second_gpu):
    memory = np.arange(8.0)
    array = memory[1 - memory.ctypes.data // 8 % 2 :][:6].view(np.complex128)
    assert array.ctypes.data % 16 == 8

    class Between:
        def __dlpack__(self, **_):
            return array.__dlpack__()

        def __dlpack_device__(self):
            return (2, 1)

    found = nx.from_dlpack(Between())
    assert found.array.pointer % 16 == 0
    assert found.array.owner.array.kept.tolist() == array.tolist()


def test_a_gpu_that_is_not_in_use_is_copied_from(monkeypatch):
    monkeypatch.setattr(devices, "simulating", lambda: True)

    class Copying(Foreign):
        def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
            return self.tensor.__dlpack__(max_version=max_version)

    assert nx.from_dlpack(Copying(nx.f32([1, 2]), device=(2, 0))).device == "cpu"


needs_gpu = [
    pytest.mark.cuda,
    pytest.mark.skipif(not availability.is_available(), reason="no NVIDIA GPU here"),
]


@pytest.mark.parametrize("type_", [pytest.param(type_, marks=needs_gpu) for type_ in TYPES])
@pytest.mark.parametrize("library", ["cupy", "torch", "jax"])
def test_there_and_back_on_a_gpu(library, type_):
    theirs = pytest.importorskip(library, reason=f"{library} is not installed")
    if library == "jax":
        theirs = theirs.numpy
        if type_ in ("s64", "f64", "c128"):
            pytest.skip("JAX has 64 bits only where it is asked for")
    tensor = nx.backend_copy(nx.tensor([[1, 0, 3], [4, 5, 6]], type=type_), "cuda:0")
    back = nx.from_dlpack(theirs.from_dlpack(tensor))
    assert (back.type, back.device, back.to_list()) == (type_, "cuda:0", tensor.to_list())
    assert back.array.pointer == tensor.array.pointer
