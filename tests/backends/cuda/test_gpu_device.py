"""A GPU by way of CuPy: with a CuPy whose device is the host, and on a GPU where there is one."""

import ctypes
import os

import numpy as np
import pytest

pytest.importorskip("cupy", reason="CuPy is not installed")

from emulated_gpu import fake_cupy
from nxkernel.backends.cuda import availability, devices, gpu_device
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.compilers.numba_cuda.toolchain import object_code
from nxkernel.errors import DeviceFaultError, DeviceMemoryError
from nxkernel.messages.quantities import amount

SCALE = KernelSource(
    "scale",
    """
def scale(a, b, n, c):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < n:
        b[i] = f32(a[i] * c)
        i += s64(cuda.gridDim.x * cuda.blockDim.x)
""",
    ("f32*", "f32*", "s64", "f32"),
)


@pytest.fixture
def machine(monkeypatch):
    """A fake of CuPy, in the place of CuPy."""
    monkeypatch.delenv("CUDA_LAUNCH_BLOCKING", raising=False)
    machine = fake_cupy.Machine()
    for name in ("cupy", "runtime", "driver"):
        monkeypatch.setattr(gpu_device, name, getattr(machine, name))
    return machine


@pytest.fixture
def fake(machine):
    """Its device."""
    return gpu_device.PhysicalDevice(0)


def scale(places, scalars):
    """What the kernel does, by the addresses of its arguments."""
    a, b, n = (ctypes.c_int64.from_address(scalars[place]).value for place in range(3))
    c = ctypes.c_float.from_address(scalars[3]).value
    source, target = (np.ctypeslib.as_array((ctypes.c_float * n).from_address(each)) for each in (a, b))
    target[...] = source * np.float32(c)


def prepared(device, machine, source=SCALE, scalars=(4, 2.0), shared=0):
    kernel = device.load(source, b"code")
    machine.kernels[kernel.handle] = scale
    return device.prepare(kernel, (7,), (32, 2), shared, scalars)


def test_what_it_knows_of_itself(fake):
    assert (fake.name, fake.description, fake.arch) == ("cuda:0", "NVIDIA Imaginary", "sm_90")
    assert (fake.multiprocessors, fake.threads, fake.shared_limit) == (132, 1024, 227 << 10)
    assert (fake.cache, fake.simulated) == (50 << 20, False)
    assert fake.bandwidth == pytest.approx(3.352e12, rel=1e-3)


def test_bytes(fake, machine):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = fake.upload(array.T)
    np.testing.assert_array_equal(there.host(), array.T)
    assert fake.read(there.pointer + 4, np.float32) == 3
    copied = fake.bring(there)
    fake.fill(copied.pointer, 0, 8)
    np.testing.assert_array_equal(copied.host().ravel(), [0, 0, 1, 4, 2, 5])
    fake.copy(copied.pointer, there.pointer + 16, 8)
    np.testing.assert_array_equal(copied.host().ravel(), [2, 5, 1, 4, 2, 5])
    assert fake.allocate((0, 3), np.float64).host().shape == (0, 3)
    kinds = [arguments[3] for name, arguments in machine.calls if name == "memcpyAsync"]
    runtime = gpu_device.runtime
    assert set(kinds[:2]) == {runtime.memcpyHostToDevice, runtime.memcpyDeviceToHost}
    assert kinds[-2:] == [runtime.memcpyDeviceToDevice, runtime.memcpyDeviceToHost]


def test_a_launch(fake, machine):
    a, b = fake.upload(np.arange(4, dtype=np.float32)), fake.allocate((4,), np.float32)
    launch = prepared(fake, machine)
    launch.point([a.pointer, b.pointer])
    fake.launch(launch)
    np.testing.assert_array_equal(b.host(), [0, 2, 4, 6])
    (arguments,) = [arguments for name, arguments in machine.calls if name == "launchKernel"]
    assert arguments[1:9] == (7, 1, 1, 32, 2, 1, 0, 0)
    launch.grid = (0, 1, 1)
    fake.launch(launch)
    assert sum(name == "launchKernel" for name, _ in machine.calls) == 1


def test_the_context_is_made_current_once_for_a_thread(fake, machine):
    launch = prepared(fake, machine)
    array = fake.upload(np.zeros(4, np.float32))
    launch.point([array.pointer, array.pointer])
    for _ in range(3):
        fake.launch(launch)
    assert [name for name, _ in machine.calls].count("free") == 1


@pytest.mark.parametrize("reads_host", [0, 1])
def test_arrays_of_the_host_may_change_after_a_copy(machine, reads_host):
    machine.properties[gpu_device.runtime.cudaDevAttrPageableMemoryAccessUsesHostPageTables] = reads_host
    gpu_device.PhysicalDevice(0).upload(np.zeros(4))
    assert [name for name, _ in machine.calls].count("streamSynchronize") == reads_host


def test_shared_memory_is_asked_for_beyond_what_static_arrays_leave(fake, machine):
    which = gpu_device.driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    prepared(fake, machine)
    prepared(fake, machine, shared=40 << 10)
    assert not machine.attributes
    kernel = prepared(fake, machine, shared=48 << 10).kernel
    assert machine.attributes == {(kernel.handle, which): 48 << 10}
    prepared(fake, machine, shared=100 << 10)
    prepared(fake, machine, shared=60 << 10)
    assert machine.attributes == {(kernel.handle, which): 100 << 10}


def test_a_graph(fake, machine):
    a, b = fake.upload(np.ones(4, np.float32)), fake.upload(np.zeros(4, np.float32))
    launch = prepared(fake, machine)
    launch.point([a.pointer, b.pointer])

    def work():
        fake.launch(launch)
        fake.copy(a.pointer, b.pointer, 16)

    graph = fake.capture(work)
    np.testing.assert_array_equal(b.host(), 0)
    graph.launch()
    graph.launch()
    np.testing.assert_array_equal(b.host(), 4)
    # Work is captured on a stream of its own, which is not the current one any more.
    stream = next(arguments[-3] for name, arguments in machine.calls if name == "launchKernel")
    assert stream > 1
    assert machine.streams[-1].ptr == 0


def test_an_error_while_a_graph_is_captured_ends_the_capture(fake, machine):
    def work():
        raise KeyError("mine")

    with pytest.raises(KeyError):
        fake.capture(work)
    assert machine.captured is None
    assert machine.streams[-1].ptr == 0


def test_time_and_occupancy(fake, machine):
    assert fake.time(lambda: None) == 0.0015
    kernel = prepared(fake, machine).kernel
    assert fake.occupancy(kernel, (256,), 0) == 0.5
    found = fake.resources(kernel)
    driver = gpu_device.driver
    assert found.registers == 40 + driver.CU_FUNC_ATTRIBUTE_NUM_REGS
    assert found.shared == 40 + driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
    assert found.spilled == 40 + driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
    assert found.threads == 40 + driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK


def test_out_of_memory(fake, machine):
    fake.allocate((1 << 18,), np.uint8)
    machine.pool.kept = 1 << 18
    assert fake.allocate((640 << 10,), np.uint8).nbytes == 640 << 10
    assert machine.pool.freed == 1
    with pytest.raises(DeviceMemoryError) as caught:
        fake.allocate((1 << 18,), np.float32)
    assert (caught.value.asked, caught.value.used, caught.value.total) == (1 << 20, 896 << 10, 1 << 20)
    assert str(caught.value).startswith(
        "cuda:0 has no 1.0 MB left for an array: 917.5 kB are in use, 131.1 kB of 1.0 MB are free.\n"
    )
    fake.limit_memory(900 << 10)
    with pytest.raises(DeviceMemoryError, match=r"the limit is 921\.6 kB of 1\.0 MB"):
        fake.allocate((5 << 10,), np.uint8)
    fake.limit_memory(None)
    assert fake.memory.limit is None
    assert fake.allocate((8,), np.uint8).nbytes == 8


def test_a_fault_names_the_kernel_and_ends_the_use_of_the_device(fake, machine):
    a = fake.upload(np.ones(4, np.float32))
    launch = prepared(fake, machine)
    launch.point([a.pointer, a.pointer])
    fake.launch(launch)
    machine.status = 700
    with pytest.raises(DeviceFaultError) as caught:
        a.host()
    title = launch.kernel.title
    assert str(caught.value) == (
        f"the kernel {title} used an illegal address on cuda:0.\n"
        "  CUDA says: cudaErrorIllegalAddress: an illegal memory access was encountered\n"
        "  This process can use the device no more: restart it (in Jupyter, the kernel).\n"
        "  What is on the host is still there."
    )
    assert (caught.value.kernel, caught.value.lost) == (title, True)
    for use in (lambda: fake.launch(launch), lambda: fake.allocate((3,), np.int8), fake.synchronize):
        with pytest.raises(DeviceFaultError) as again:
            use()
        assert str(again.value) == str(caught.value)
        assert again.value is not caught.value


def test_of_several_kernels_one_failed(fake, machine):
    a = fake.upload(np.ones(4, np.float32))
    sources = [SCALE, KernelSource("other", SCALE.text.replace("scale", "other"), SCALE.parameters)]
    fake.synchronize()
    for source in sources:
        launch = prepared(fake, machine, source)
        launch.point([a.pointer, a.pointer])
        fake.launch(launch)
    machine.status = 719
    with pytest.raises(
        DeviceFaultError, match=r"one of the kernels scale \(\w+\), other \(\w+\) failed on cuda:0"
    ) as it:
        fake.synchronize()
    assert "CUDA_LAUNCH_BLOCKING=1" in str(it.value)


def test_with_blocking_launches_it_is_the_last(machine, monkeypatch):
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    device = gpu_device.PhysicalDevice(0)
    a = device.upload(np.ones(4, np.float32))
    for name in ("first", "second"):
        machine.status = 716 if name == "second" else 0
        launch = prepared(device, machine, KernelSource(name, SCALE.text.replace("scale", name), SCALE.parameters))
        launch.point([a.pointer, a.pointer])
        if name == "first":
            device.launch(launch)
    with pytest.raises(DeviceFaultError, match=r"the kernel second \(\w+\) used a misaligned address"):
        device.launch(launch)


def test_other_errors_of_cuda_stay_what_they_are(fake, machine):
    launch = prepared(fake, machine)
    a = fake.upload(np.ones(4, np.float32))
    launch.point([a.pointer, a.pointer])
    machine.status = 1
    with pytest.raises(gpu_device.runtime.CUDARuntimeError, match="cudaErrorInvalidValue") as caught:
        fake.launch(launch)
    assert caught.value.__notes__ == [f"on cuda:0, after launching {launch.kernel.title}"]
    machine.status = 701
    with pytest.raises(DeviceFaultError, match="was launched with too many resources") as caught:
        fake.launch(launch)
    assert not caught.value.lost
    machine.status = 2
    with pytest.raises(DeviceMemoryError, match="too little memory left for what was launched"):
        fake.launch(launch)
    machine.status = 0
    fake.synchronize()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_process_cannot_use_it(fake):
    child = os.fork()
    if not child:
        with pytest.raises(DeviceFaultError, match="its parent used it before it was forked"):
            fake.synchronize()
        os._exit(5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    fake.synchronize()


def test_between_devices(monkeypatch):
    machine = fake_cupy.Machine(devices=2)
    for name in ("cupy", "runtime", "driver"):
        monkeypatch.setattr(gpu_device, name, getattr(machine, name))
    one, two = gpu_device.PhysicalDevice(0), gpu_device.PhysicalDevice(1)
    array = one.upload(np.arange(4, dtype=np.int16))
    brought = two.bring(array)
    assert brought.device is two
    np.testing.assert_array_equal(brought.host(), np.arange(4))
    (arguments,) = [arguments for name, arguments in machine.calls if name == "memcpyPeerAsync"]
    assert arguments[:5] == (brought.pointer, 1, array.pointer, 0, 8)
    assert machine.device == 0


# On a GPU ----------------------------------------------------------------------------------------------------------

gpu = [
    pytest.mark.cuda,
    pytest.mark.skipif(not availability.is_available(), reason="no NVIDIA GPU here"),
]


@pytest.fixture
def real():
    """The first GPU."""
    devices.use_simulator(False)
    yield devices.device()
    devices.reset()


class TestGPU:
    """What only a GPU can tell."""

    pytestmark = gpu

    def test_a_kernel(self, real):
        (found,) = object_code.loaded(real, [SCALE])
        a = real.upload(np.arange(1000, dtype=np.float32))
        b = real.allocate((1000,), np.float32)
        launch = real.prepare(found.kernel, (3,), (128,), 0, [1000, 3.0])
        launch.point([a.pointer, b.pointer])
        real.launch(launch)
        np.testing.assert_array_equal(b.host(), 3 * np.arange(1000))
        graph = real.capture(lambda: real.launch(launch))
        real.fill(b.pointer, 0, b.nbytes)
        graph.launch()
        np.testing.assert_array_equal(b.host(), 3 * np.arange(1000))
        assert 0 < real.occupancy(found.kernel, (128,)) <= 1
        assert real.resources(found.kernel).registers > 0
        assert 0 < real.time(lambda: real.launch(launch)) < 1

    def test_bytes(self, real):
        array = np.arange(12, dtype=np.float16).reshape(3, 4)
        there = real.upload(array)
        np.testing.assert_array_equal(there.host(), array)
        assert real.read(there.pointer + 2, np.float16) == 1
        np.testing.assert_array_equal(real.bring(there).host(), array)

    def test_out_of_memory(self, real):
        with pytest.raises(DeviceMemoryError, match=f"has no {amount(1 << 46)}B left"):
            real.allocate((1 << 46,), np.uint8)
        assert real.upload(np.ones(3)).host().sum() == 3
