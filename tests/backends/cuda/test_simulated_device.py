"""A simulated device: memory, launches, graphs, and what must not be."""

import gc

import numpy as np
import pytest

from nxkernel.backends.cuda import devices
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.errors import DeviceFaultError, DeviceMemoryError

pytestmark = pytest.mark.usefixtures("little_garbage")

SCALE = """
def scale(a, b, n, c):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < n:
        b[i] = a[i] * c
        i += cuda.gridDim.x * cuda.blockDim.x
"""


def kernel(device, text=SCALE, parameters=("f32*", "f32*", "s64", "f32"), **names):
    name = text.split("def ")[1].split("(")[0]
    return device.load(KernelSource(name, text, parameters), names={"np": np, **names})


def launched(device, a, b, n, c=2.0, grid=(2,), block=(3,)):
    prepared = device.prepare(kernel(device), grid, block, 0, [n, c])
    prepared.point([a.pointer, b.pointer])
    device.launch(prepared)
    return prepared


def test_a_launch(device):
    a, b = device.upload(np.arange(10, dtype=np.float32)), device.allocate((10,), np.float32)
    launched(device, a, b, 10)
    np.testing.assert_array_equal(b.host(), 2 * np.arange(10))


def test_pointers_change_between_launches(device):
    a, b = device.upload(np.ones(4, np.float32)), device.allocate((8,), np.float32)
    prepared = launched(device, a, b, 4)
    prepared.arguments[1] = b.pointer + 16
    device.launch(prepared)
    np.testing.assert_array_equal(b.host(), np.full(8, 2))


def test_no_blocks_are_no_launch(device):
    a = device.upload(np.ones(4, np.float32))
    launched(device, a, a, 100, grid=(0,))
    np.testing.assert_array_equal(a.host(), 1)


def test_bytes(device):
    a = device.upload(np.arange(4, dtype=np.int32))
    b = device.allocate((4,), np.int32)
    device.fill(b.pointer, 0xFF, b.nbytes)
    np.testing.assert_array_equal(b.host(), [-1, -1, -1, -1])
    device.copy(b.pointer + 8, a.pointer + 4, 8)
    np.testing.assert_array_equal(b.host(), [-1, -1, 1, 2])
    device.write(b.pointer, np.array([[7]], np.int32))
    assert device.read(b.pointer, np.int32) == 7
    assert device.read(b.pointer + 8, np.int32) == 1
    other = devices.device(1).bring(b)
    assert other.device is devices.device(1)
    np.testing.assert_array_equal(other.host(), b.host())


def test_memory_that_nobody_has_written_is_not_zero(device):
    assert (device.allocate((4,), np.float32).host() < -1e30).all()


def test_what_is_captured_runs_when_the_graph_is_launched(device):
    a, b = device.upload(np.ones(4, np.float32)), device.upload(np.zeros(4, np.float32))

    def work():
        prepared = launched(device, a, b, 4)
        prepared.point([b.pointer, a.pointer])
        device.launch(prepared)
        device.fill(b.pointer, 0, 8)

    graph = device.capture(work)
    np.testing.assert_array_equal(b.host(), 0)
    graph.launch()
    np.testing.assert_array_equal(a.host(), 4)
    np.testing.assert_array_equal(b.host(), [0, 0, 2, 2])
    graph.launch()
    np.testing.assert_array_equal(a.host(), 16)


def test_nothing_can_be_waited_for_in_a_capture(device):
    a = device.upload(np.ones(4))
    with pytest.raises(RuntimeError, match="while a graph is captured"):
        device.capture(a.host)
    np.testing.assert_array_equal(a.host(), 1)


def test_time(device):
    assert device.time(lambda: None) < 0.1
    assert device.occupancy(kernel(device), (32,)) == 1.0
    assert device.resources(kernel(device)) is None


@pytest.mark.parametrize("n", [5, 9])
def test_outside_of_memory_is_a_fault(device, n):
    a, b = device.upload(np.ones(4, np.float32)), device.allocate((8,), np.float32)
    with pytest.raises(DeviceFaultError) as caught:
        launched(device, a, b, n)
    assert str(caught.value).startswith(f"the kernel {kernel(device).title} used an illegal address on cuda:0.\n  ")
    assert caught.value.kernel == kernel(device).title
    assert not caught.value.lost
    launched(device, a, b, 4)


def test_before_memory_is_a_fault(device):
    a, b = device.upload(np.ones(4, np.float32)), device.allocate((4,), np.float32)
    for text in ("b[-1] = a[0]", "b[0] = a[-1]"):
        prepared = device.prepare(kernel(device, f"def k(a, b):\n    {text}\n", ("f32*", "f32*")), (1,), (1,), 0, [])
        prepared.point([a.pointer, b.pointer])
        with pytest.raises(DeviceFaultError, match="index -1 is before the memory"):
            device.launch(prepared)


def test_freed_memory_is_a_fault(device):
    a = device.upload(np.ones(4, np.float32))
    pointer = device.upload(np.ones(4, np.float32)).pointer
    gc.collect()
    prepared = device.prepare(kernel(device), (1,), (1,), 0, [4, 1.0])
    prepared.point([a.pointer, pointer])
    with pytest.raises(DeviceFaultError):
        device.launch(prepared)
    with pytest.raises(DeviceFaultError, match="reading 4 bytes"):
        device.read(pointer, np.int32)


def test_a_misaligned_address_is_a_fault(device):
    a = device.upload(np.ones(8, np.float32))
    prepared = device.prepare(kernel(device), (1,), (1,), 0, [1, 1.0])
    prepared.point([a.pointer + 2, a.pointer])
    with pytest.raises(DeviceFaultError, match="used a misaligned address on cuda:0"):
        device.launch(prepared)


def test_other_errors_show_the_line_of_the_kernel(device):
    text = "def wrong(a):\n    b = a[0]\n    b.nothing()\n"
    prepared = device.prepare(kernel(device, text, ("f32*",)), (1,), (1,), 0, [])
    a = device.upload(np.ones(1, np.float32))
    prepared.point([a.pointer])
    with pytest.raises(AttributeError, match="nothing") as caught:
        device.launch(prepared)
    assert str(caught.traceback[-1].statement).strip() == "b.nothing()"


def test_out_of_memory_names_the_sizes(device):
    gc.collect()
    kept = device.upload(np.zeros(1 << 18, np.uint8))
    used = device.memory.used
    device.limit_memory(used + (1 << 20))
    with pytest.raises(DeviceMemoryError) as caught:
        device.allocate((1 << 19,), np.float32)
    assert (caught.value.asked, caught.value.used, caught.value.total) == (2 << 20, used, used + (1 << 20))
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("cuda:0 has no 2.1 MB left for an array: 262.1 kB are in use, the limit is 1.3 MB of")
    assert device.allocate((1 << 18,), np.float32).nbytes == 1 << 20
    assert kept.host().sum() == 0


def test_memory_is_free_when_nobody_holds_it(device):
    gc.collect()
    before = device.memory
    array = device.allocate((1000,), np.float64)
    assert device.memory.used == before.used + 8000
    del array
    assert device.memory == before


def test_scalar_parameters_have_their_types(device):
    found = []
    text = "def k(a, i, x, b, y):\n    seen(i, x, b, y)\n"
    parameters = ("u8*", "s64", "f32", "u8", "s32")
    prepared = device.prepare(
        kernel(device, text, parameters, seen=lambda *each: found.extend(each)), (1,), (1,), 0, [3, 0.1, True, -4]
    )
    a = device.allocate((1,), np.uint8)
    prepared.point([a.pointer])
    device.launch(prepared)
    assert [type(each) for each in found] == [int, np.float32, np.uint8, np.int32]
    assert found == [3, np.float32(0.1), 1, -4]
