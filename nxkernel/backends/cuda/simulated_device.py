"""A simulated device: memory is NumPy's, and kernels run in Numba's CUDA simulator."""

from __future__ import annotations

import bisect
import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from nxkernel import fork_safety
from nxkernel.backends.cuda import faults
from nxkernel.backends.cuda.arrays import DeviceArray
from nxkernel.backends.cuda.device_interface import Device, DeviceMemory, Resources
from nxkernel.backends.cuda.launching import SCALAR_DTYPES, DeviceKernel, Prepared, SourceLike, pointers
from nxkernel.backends.cuda.simulator import GARBAGE, SimulatedKernel
from nxkernel.errors import DeviceFaultError

#: How many threads a block has at most: kernels must be right for any, and few are fast.
THREADS = 32
TOTAL = 4 << 30
_ALIGNMENT = 256


class SimulatedDevice(Device):
    """A device simulated on the host, slowly. Accesses of kernels outside of allocated memory are faults.

    Parameters
    ----------
    index : int
    """

    simulated, arch, description = True, "simulator", "Numba's CUDA simulator"
    multiprocessors, threads, shared_limit = 2, THREADS, 48 << 10
    cache, bandwidth = 0, None

    def __init__(self, index: int):
        self.index, self.name = index, f"cuda:{index}"
        self._blocks: dict[int, np.ndarray] = {}
        self._starts: list[int] = []
        self._used = 0
        self._limit: int | None = None
        self._lock = fork_safety.rlock()
        self._captured = _CapturedLaunches()

    # Memory.

    def _reserve(self, nbytes: int) -> tuple[int, Any]:
        if self._used + nbytes > (TOTAL if self._limit is None else self._limit):
            raise faults.out_of_memory(self, nbytes)
        memory = np.full(max(nbytes, 1) + _ALIGNMENT, GARBAGE, np.uint8)
        start = -memory.ctypes.data % _ALIGNMENT
        block = memory[start : start + max(nbytes, 1)]
        pointer, owner = block.ctypes.data, _Owner()
        with self._lock:
            self._blocks[pointer] = block[:nbytes]
            bisect.insort(self._starts, pointer)
            self._used += nbytes
        weakref.finalize(owner, self._free, pointer).atexit = False
        return pointer, owner

    def _free(self, pointer: int) -> None:
        with self._lock:
            self._used -= self._blocks.pop(pointer).nbytes
            self._starts.remove(pointer)

    def _rest(self, pointer: int) -> np.ndarray | None:
        """The allocated bytes from an address on; None if the address is not allocated."""
        with self._lock:
            index = bisect.bisect_right(self._starts, pointer) - 1
            if index < 0:
                return None
            start = self._starts[index]
            block = self._blocks[start]
            return block[pointer - start :] if pointer - start <= block.nbytes else None

    def _bytes(self, pointer: int, nbytes: int, doing: str) -> np.ndarray:
        rest = self._rest(pointer) if nbytes else np.empty(0, np.uint8)
        if rest is None or rest.nbytes < nbytes:
            raise DeviceFaultError(f"{doing} {nbytes} bytes at {pointer:#x} is outside of {self.name}'s memory")
        return rest[:nbytes]

    def download(self, array: DeviceArray) -> np.ndarray:
        """See :meth:`Device.download`."""
        self._no_waiting()
        return self._bytes(array.pointer, array.nbytes, "reading").copy().view(array.dtype).reshape(array.shape)

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """See :meth:`Device.copy`."""
        into, from_ = self._bytes(target, nbytes, "writing"), self._bytes(source, nbytes, "reading")
        self.do(lambda: np.copyto(into, from_))

    def bring(self, array: DeviceArray) -> DeviceArray:
        """See :meth:`Device.bring`."""
        copy = self.allocate(array.shape, array.dtype)
        self._bytes(copy.pointer, copy.nbytes, "writing")[:] = array.device._bytes(
            array.pointer, array.nbytes, "reading"
        )
        return copy

    def fill(self, pointer: int, byte: int, nbytes: int) -> None:
        """See :meth:`Device.fill`."""
        into = self._bytes(pointer, nbytes, "filling")
        self.do(lambda: into.fill(byte))

    def read(self, pointer: int, dtype: Any) -> Any:
        """See :meth:`Device.read`."""
        self._no_waiting()
        dtype = np.dtype(dtype)
        return self._bytes(pointer, dtype.itemsize, "reading").copy().view(dtype)[0]

    def write(self, pointer: int, array: np.ndarray) -> None:
        """See :meth:`Device.write`."""
        self._no_waiting()
        self._bytes(pointer, array.nbytes, "writing")[:] = np.frombuffer(array.tobytes(), np.uint8)

    @property
    def memory(self) -> DeviceMemory:
        """See :meth:`Device.memory`."""
        return DeviceMemory(self._used, self._used, TOTAL, TOTAL - self._used, self._limit)

    def limit_memory(self, nbytes: int | None) -> None:
        """See :meth:`Device.limit_memory`."""
        self._limit = nbytes

    def free_unused(self) -> None:
        """Do nothing, as no memory is cached; see :meth:`Device.free_unused`."""

    # Kernels.

    def load(
        self, source: SourceLike, code: bytes | None = None, names: Mapping[str, Any] | None = None
    ) -> DeviceKernel:
        """See :meth:`Device.load`."""
        handle = SimulatedKernel(source.name, source.text, source.symbol, names or {})
        return DeviceKernel(source, handle, None, pointers(source.parameters))

    def launch(self, prepared: Prepared) -> None:
        """See :meth:`Device.launch`."""
        if 0 in prepared.grid:
            return
        arguments = prepared.arguments.copy()
        self.do(lambda: self._launch(prepared, arguments))

    def _launch(self, prepared: Prepared, scalars: np.ndarray) -> None:
        kernel = prepared.kernel
        x, y, z = prepared.block
        if x * y * z > 1024 or prepared.shared > self.shared_limit:
            raise ValueError(f"{kernel.title} cannot have blocks of {x * y * z} threads and {prepared.shared} bytes")
        arguments: list[Any] = []
        for position, kind in enumerate(kernel.source.parameters):
            if kind.endswith("*"):
                arguments.append(self._view(prepared, int(scalars[position]), SCALAR_DTYPES[kind[:-1]]))
            else:
                scalar = scalars[position : position + 1].view(SCALAR_DTYPES[kind])[0]
                arguments.append(int(scalar) if kind == "s64" else scalar)
        try:
            kernel.handle.run(prepared.grid, prepared.block, prepared.shared, arguments)
        except IndexError as error:
            raise faults.kernel_fault(self, [prepared.title], "used an illegal address", str(error)) from error

    def _view(self, prepared: Prepared, pointer: int, dtype: np.dtype) -> np.ndarray:
        rest = self._rest(pointer)
        if rest is None:
            rest = np.empty(0, np.uint8)
        elif pointer % dtype.itemsize:
            raise faults.kernel_fault(
                self, [prepared.title], "used a misaligned address", f"{pointer:#x} for {dtype.name}"
            )
        return rest[: rest.nbytes // dtype.itemsize * dtype.itemsize].view(dtype).view(Pointer)

    # Order.

    def do(self, work: Callable[[], Any]) -> None:
        """Run work now, or append it to the graph that is being captured."""
        if self._captured.into is None:
            work()
        else:
            self._captured.into.append(work)

    def _no_waiting(self) -> None:
        if self._captured.into is not None:
            raise RuntimeError("the host can neither read nor write nor wait while a graph is captured")

    def synchronize(self) -> None:
        """Do nothing, as work runs when it is queued; see :meth:`Device.synchronize`."""
        self._no_waiting()

    def capture(self, work: Callable[[], Any]) -> SimulatedGraph:
        """See :meth:`Device.capture`."""
        self._captured.into = []
        try:
            work()
            return SimulatedGraph(tuple(self._captured.into))
        finally:
            self._captured.into = None

    def time(self, work: Callable[[], Any]) -> float:
        """The wall-clock time; see :meth:`Device.time`."""
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    def occupancy(self, kernel: DeviceKernel, block: Sequence[int], shared: int = 0) -> float:
        """Always 1, as a simulated multiprocessor holds one block; see :meth:`Device.occupancy`."""
        return 1.0

    def resources(self, kernel: DeviceKernel) -> Resources | None:
        """None, as there is no machine code; see :meth:`Device.resources`."""
        return None

    def here(self) -> AbstractContextManager[Any]:
        """See :meth:`Device.here`."""
        return contextlib.nullcontext(self)


class _Owner:
    """Keeps a block of memory allocated."""

    __slots__ = ("__weakref__",)


class _CapturedLaunches(threading.local):
    into: list[Callable[[], Any]] | None = None


class SimulatedGraph:
    """A captured sequence of work.

    Parameters
    ----------
    work : tuple of callable
    """

    def __init__(self, work: tuple[Callable[[], Any], ...]):
        self._work = work

    def launch(self) -> None:
        """Run the work in order."""
        for each in self._work:
            each()


class Pointer(np.ndarray):
    """A pointer into device memory, as simulated kernels index it; accesses outside of the allocation are faults."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice) and key < 0:
            raise IndexError(f"index {key} is before the memory that the pointer is to")
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(key, slice) and key < 0:
            raise IndexError(f"index {key} is before the memory that the pointer is to")
        super().__setitem__(key, value)
