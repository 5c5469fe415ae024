"""Calls of NVIDIA's libraries that find no memory, or that are not there."""

import gc

import numpy as np
import pytest

from emulated_gpu.library_calls import Gpu, OutOfMemoryError, install
from graph_comparison.compiled_graphs import inputs, make, spec
from nxkernel import primitives as p
from nxkernel.backends.cuda import devices
from nxkernel.compilers.numba_cuda.routines import routine_table
from nxkernel.compilers.numba_cuda.routines.library_calls import compute_on
from nxkernel.errors import CudaUnavailableError, DeviceMemoryError

pytestmark = pytest.mark.usefixtures("little_garbage")


class Failing:
    """Work that fails until something was freed, or always."""

    def __init__(self, error, times):
        self.error, self.times = error, times

    def __call__(self):
        self.times -= 1
        if self.times >= 0:
            raise self.error
        return "done"


@pytest.fixture
def gpu(monkeypatch):
    devices.use_simulator()
    found = Gpu(devices.device())
    found.freed = 0

    def free():
        found.freed += 1

    found.free_unused = free
    yield found
    devices.reset()


@pytest.mark.parametrize("error", [OutOfMemoryError(1 << 20, 0), RuntimeError("CUBLAS_STATUS_ALLOC_FAILED")], ids=str)
def test_what_is_kept_for_later_is_given_back(gpu, error):
    assert compute_on(gpu, "cuBLAS", Failing(error, 1)) == "done"
    assert gpu.freed == 1


def test_too_little_memory_is_told(gpu):
    gc.collect()  # arrays of other tests that hold themselves count, too
    with pytest.raises(DeviceMemoryError, match=r"has no 1\.0 MB left for an array") as caught:
        compute_on(gpu, "cuFFT", Failing(OutOfMemoryError(1 << 20, 0), 2))
    assert caught.value.asked == 1 << 20
    held = gpu.allocate((1 << 20,), np.uint8)
    with pytest.raises(DeviceMemoryError) as caught:
        compute_on(gpu, "cuSOLVER", Failing(RuntimeError("CUSOLVER_STATUS_ALLOC_FAILED"), 2))
    assert str(caught.value) == (
        "cuSOLVER finds too little memory to work with on cuda:0: 4.3 GB of 4.3 GB are free.\n"
        "  Arrays that are in use hold 1.0 MB; nx.backend_deallocate(t) gives a tensor's memory back at once."
    )
    assert caught.value.used == held.nbytes


def test_cupy_tells_how_much_it_asked_for():
    memory = pytest.importorskip("cupy.cuda.memory", reason="CuPy is not installed")
    ours, theirs = (kind(1 << 20, 5, 0) for kind in (OutOfMemoryError, memory.OutOfMemoryError))
    assert isinstance(theirs, MemoryError)
    assert (theirs._size, str(theirs).split(" (")[0]) == (ours._size, str(ours).split(" (")[0])


def test_other_errors_are_left_alone(gpu):
    with pytest.raises(RuntimeError, match="CUBLAS_STATUS_INVALID_VALUE"):
        compute_on(gpu, "cuBLAS", Failing(RuntimeError("CUBLAS_STATUS_INVALID_VALUE"), 1))
    assert gpu.freed == 0
    second = iter([RuntimeError("CUBLAS_STATUS_ALLOC_FAILED"), RuntimeError("CUBLAS_STATUS_INVALID_VALUE")])

    def work():
        raise next(second)

    with pytest.raises(RuntimeError, match="CUBLAS_STATUS_INVALID_VALUE"):
        compute_on(gpu, "cuBLAS", work)


def test_libraries_that_are_missing_are_told(gpu):
    with pytest.raises(CudaUnavailableError) as caught:
        compute_on(gpu, "cuBLAS", Failing(ImportError("no libcublas.so.13\nin such and such places"), 1))
    assert str(caught.value) == (
        "cuBLAS of NVIDIA's is needed for this, and is not installed.\n"
        "  CuPy says: no libcublas.so.13\n"
        "  pip install 'nxkernel[cuda]' brings it.\n"
        '  compiler="numba_cpu" runs the same definitions without.'
    )


def test_routines_call_libraries_that_way(gpu, monkeypatch):
    install(monkeypatch)
    node = make(p.inverse, *inputs(spec("f32", 2, 2)))
    routine = routine_table.routine_of(node)
    real = routine_table.LIBRARIES[p.inverse][1]
    failing = Failing(OutOfMemoryError(1 << 20, 0), 1)
    monkeypatch.setitem(routine_table.LIBRARIES, p.inverse, ("cuSOLVER", lambda x: failing() and real(x)))
    result = gpu.allocate((2, 2), np.float32)
    routine.run(gpu, [gpu.upload(2 * np.eye(2, dtype=np.float32))], [result])
    assert result.host().tolist() == [[0.5, 0], [0, 0.5]]
    assert gpu.freed == 1
