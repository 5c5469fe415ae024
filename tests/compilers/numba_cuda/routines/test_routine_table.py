"""Which whole operations run on GPUs, and how they are asked for."""

import numpy as np
import pytest

from emulated_gpu.library_calls import Array, Gpu, install
from graph_comparison.compiled_graphs import inputs, make, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends.cuda import devices
from nxkernel.compilers.numba_cuda.routines import device_arrays
from nxkernel.compilers.numba_cuda.routines.routine_table import ROUTINES, routine_of
from nxkernel.errors import CompilationError
from nxkernel.library_functions import HostFunction


@pytest.fixture
def device():
    devices.use_simulator()
    yield devices.device()
    devices.reset()


def test_every_whole_operation_has_a_routine():
    routine_of(make(p.inverse, *inputs(spec("f32", 2, 2))))
    families = ("cumulative", "sorting", "library")
    assert set(ROUTINES) == {row for row in p.TABLE.values() if row.family in families}


def test_functions_of_numba_are_refused():
    class Function:
        results, single = (spec("f32", 3),), True

        def __str__(self):
            return "smooth"

    node = make(p.njit_call, *inputs(spec("f32", 3)), function=Function())
    with pytest.raises(CompilationError) as caught:
        routine_of(node)
    assert str(caught.value) == (
        "numba_cuda cannot call smooth: its code is for the CPU.\n"
        '  Write it with operations of nxkernel, or run this definition with compiler="numba_cpu".'
    )


def test_output_from_loops_is_refused():
    function = HostFunction("print", (), list, (spec("s64"),), True, masked=True)
    node = make(p.njit_call, *inputs(spec("bool"), spec("s64")), function=function)
    with pytest.raises(CompilationError) as caught:
        routine_of(node)
    assert str(caught.value) == (
        "numba_cuda cannot print or call a hook in a loop, or for each entry of nx.vmap: it does when the program has "
        "run.\n"
        "  Return the values, and print them there; `for i in nx.unroll(range(n))` writes a loop out, which can.\n"
        '  Or run this definition with compiler="numba_cpu".'
    )


def test_kernels_are_launched_and_libraries_are_called(device):
    kernels = routine_of(make(p.sort, *inputs(spec("f32", 5)), axis=0, direction="asc"))
    assert kernels.library == ""
    assert len(kernels.launches(device)) == 1
    assert kernels.capturable
    library = routine_of(make(p.inverse, *inputs(spec("f32", 2, 2))))
    assert library.library == "cuSOLVER"
    assert library.launches(device) == []


def test_matrices_without_elements_need_no_library(device, monkeypatch):
    install(monkeypatch)
    gpu = Gpu(device)
    node = make(p.determinant, *inputs(spec("f64", 3, 0, 0)))
    result = gpu.allocate((3,), np.float64)
    routine_of(node).run(gpu, [gpu.allocate((3, 0, 0), np.float64)], [result])
    assert result.host().tolist() == [1, 1, 1]


def test_memory_of_the_host_with_steps():
    x = np.arange(24, dtype=np.int16)
    found = device_arrays.at_address(x.ctypes.data, (2, 3), x.dtype, (12, 2))
    assert found.tolist() == [[0, 2, 4], [12, 14, 16]]
    found[0, 1] = 99
    assert x[2] == 99
    assert device_arrays.at_address(0, (0, 3), x.dtype).shape == (0, 3)


def test_bf16_goes_to_f32_and_back(device, monkeypatch):
    install(monkeypatch)
    numbers = np.array([1, -0.0, np.inf, -np.inf, np.nan, 1 + 2**-8, 1 + 3 * 2**-8, 3.4e38, 1e-40], np.float32)
    place = device.allocate(numbers.shape, types.bf16.dtype)
    device_arrays.settle(device_arrays.on_gpu(place), place.dtype, numbers.view(Array))
    with np.errstate(all="ignore"):
        expected = numbers.astype(types.bf16.dtype)
    np.testing.assert_array_equal(place.host().view(np.uint16), expected.view(np.uint16))
    wide = device_arrays.widened(device_arrays.on_gpu(place), place.dtype)
    np.testing.assert_array_equal(wide, expected.astype(np.float32))
