"""A GPU: memory, streams and launches through CuPy, whose memory pool and current stream it uses."""

from __future__ import annotations

import collections
import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import cupy
import numpy as np
from cupy.cuda import driver, runtime
from cupy.cuda.memory import OutOfMemoryError

from nxkernel import fork_safety
from nxkernel.backends.cuda import faults
from nxkernel.backends.cuda.arrays import DeviceArray
from nxkernel.backends.cuda.device_interface import Device, DeviceMemory, Resources
from nxkernel.backends.cuda.launching import DeviceKernel, Prepared, SourceLike, pointers
from nxkernel.errors import DeviceFaultError

#: Launches since the last time that all was well, of which a fault is one: no more of them are remembered.
_REMEMBERED = 16
_ERRORS = (runtime.CUDARuntimeError, driver.CUDADriverError)


class PhysicalDevice(Device):
    """A GPU, with the memory that this process uses of it.

    Parameters
    ----------
    index : int
    """

    simulated = False

    def __init__(self, index: int):
        self.index, self.name = index, f"cuda:{index}"
        self._pool = cupy.get_default_memory_pool()
        self._only_device = runtime.getDeviceCount() == 1
        self._thread = _Thread()
        blocking = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
        self._recent: collections.deque[str] = collections.deque(maxlen=1 if blocking else _REMEMBERED)
        self._lost: DeviceFaultError | None = None
        properties = runtime.getDeviceProperties(index)
        self.description = properties["name"].decode()
        self.arch = f"sm_{cupy.cuda.Device(index).compute_capability}"
        self.multiprocessors = self._attribute(runtime.cudaDevAttrMultiProcessorCount)
        self.threads = self._attribute(runtime.cudaDevAttrMaxThreadsPerBlock)
        self.shared_limit = self._attribute(runtime.cudaDevAttrMaxSharedMemoryPerBlockOptin)
        self.cache = self._attribute(runtime.cudaDevAttrL2CacheSize)
        self.bandwidth = self._peak()
        self._resident = self._attribute(runtime.cudaDevAttrMaxThreadsPerMultiProcessor)
        #: Whether the device reads any memory of the host by itself, as Grace's processors let it: some time, then.
        self._reads_host = bool(self._attribute(runtime.cudaDevAttrPageableMemoryAccessUsesHostPageTables))
        fork_safety.in_child(self._forked)

    def _attribute(self, which: int) -> int:
        return runtime.deviceGetAttribute(which, self.index)

    def _peak(self) -> float | None:
        """The peak memory bandwidth, in bytes a second: two transfers a memory clock tick (kHz) a line of the bus."""
        try:
            clock = self._attribute(runtime.cudaDevAttrMemoryClockRate)
            width = self._attribute(runtime.cudaDevAttrGlobalMemoryBusWidth)
        except runtime.CUDARuntimeError:
            return None
        return 2e3 * clock * width / 8 or None

    def _forked(self) -> None:
        self._lost = faults.after_fork(self.name)

    # Order, and what can go wrong.

    @contextlib.contextmanager
    def here(self) -> Iterator[PhysicalDevice]:
        """See :meth:`Device.here`."""
        if self._lost is not None:
            raise faults.again(self._lost)
        try:
            # One of its own: CuPy's devices remember what was current before, whichever thread asked.
            with cupy.cuda.Device(self.index):
                if not self._thread.ready:
                    self._begin()
                yield self
        except _ERRORS as error:
            self._raise(error)

    def _begin(self) -> None:
        """Make the device's context current in this thread, which the driver's launches do not."""
        runtime.setDevice(self.index)
        runtime.free(0)
        self._thread.ready = True

    def _raise(self, error: Exception) -> NoReturn:
        """Raise the exception for an error of CUDA."""
        explained = faults.error_of(self, error, list(dict.fromkeys(self._recent)))
        if explained is error:
            raise error
        if isinstance(explained, DeviceFaultError) and explained.lost:
            self._lost = explained
        raise explained from error

    def synchronize(self) -> None:
        """See :meth:`Device.synchronize`."""
        with self.here():
            self._wait()

    def _wait(self) -> None:
        runtime.streamSynchronize(_stream())
        self._recent.clear()

    def capture(self, work: Callable[[], Any]) -> PhysicalGraph:
        """See :meth:`Device.capture`."""
        with self.here(), cupy.cuda.Stream(non_blocking=True) as stream:
            self._thread.captured = launches = []
            # CuPy's graph is of a stream of its own: the one that legacy code shares cannot be captured.
            stream.begin_capture()
            try:
                work()
            except BaseException:
                with contextlib.suppress(*_ERRORS):
                    stream.end_capture()
                raise
            finally:
                self._thread.captured = None
            return PhysicalGraph(self, stream.end_capture(), launches)

    def time(self, work: Callable[[], Any]) -> float:
        """See :meth:`Device.time`."""
        with self.here():
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            work()
            end.record()
            end.synchronize()
            return cupy.cuda.get_elapsed_time(start, end) / 1e3

    # Memory.

    def _reserve(self, nbytes: int) -> tuple[int, Any]:
        size = max(1, nbytes)
        if self._only_device and self._thread.ready and self._lost is None:
            # Most often the pool has something, which takes half a microsecond.
            with contextlib.suppress(OutOfMemoryError, *_ERRORS):
                memory = self._pool.malloc(size)
                return memory.ptr, memory
        with self.here():
            try:
                memory = self._pool.malloc(size)
            except OutOfMemoryError:
                # The pool has tried without what it keeps for this stream; what waits for others goes now.
                self._pool.free_all_blocks()
                try:
                    memory = self._pool.malloc(size)
                except OutOfMemoryError:
                    raise faults.out_of_memory(self, nbytes) from None
            return memory.ptr, memory

    def download(self, array: DeviceArray) -> np.ndarray:
        """See :meth:`Device.download`."""
        copy = np.empty(array.shape, array.dtype)
        if array.nbytes:
            with self.here():
                kind = runtime.memcpyDeviceToHost
                runtime.memcpyAsync(copy.ctypes.data, array.pointer, array.nbytes, kind, _stream())
                self._wait()
        return copy

    def copy(self, target: int, source: int, nbytes: int) -> None:
        """See :meth:`Device.copy`."""
        if nbytes:
            with self.here():
                runtime.memcpyAsync(target, source, nbytes, runtime.memcpyDeviceToDevice, _stream())

    def bring(self, array: DeviceArray) -> DeviceArray:
        """See :meth:`Device.bring`."""
        copy = self.allocate(array.shape, array.dtype)
        if array.device is self:
            self.copy(copy.pointer, array.pointer, array.nbytes)
            return copy
        if array.nbytes:
            # Streams of different devices know nothing of each other: this one waits until the array is computed, that
            # one until it was copied, as its memory may then be used for something else.
            with array.device.here():
                there = cupy.cuda.get_current_stream()
                computed = there.record(cupy.cuda.Event(disable_timing=True))
            with self.here():
                stream = cupy.cuda.get_current_stream()
                stream.wait_event(computed)
                runtime.memcpyPeerAsync(
                    copy.pointer, self.index, array.pointer, array.device.index, array.nbytes, stream.ptr
                )
                copied = stream.record(cupy.cuda.Event(disable_timing=True))
            with array.device.here():
                there.wait_event(copied)
        return copy

    def fill(self, pointer: int, byte: int, nbytes: int) -> None:
        """See :meth:`Device.fill`."""
        if nbytes:
            with self.here():
                runtime.memsetAsync(pointer, byte, nbytes, _stream())

    def read(self, pointer: int, dtype: Any) -> Any:
        """See :meth:`Device.read`."""
        dtype = np.dtype(dtype)
        with self.here():
            # Memory that stays where it is: the copy needs no place of the driver's in between.
            if self._thread.place is None:
                self._thread.place = cupy.cuda.alloc_pinned_memory(16)
            buffer = self._thread.place
            runtime.memcpyAsync(buffer.ptr, pointer, dtype.itemsize, runtime.memcpyDeviceToHost, _stream())
            self._wait()
        return np.frombuffer(buffer, np.uint8, dtype.itemsize).copy().view(dtype)[0]

    def write(self, pointer: int, array: np.ndarray) -> None:
        """See :meth:`Device.write`."""
        if array.nbytes:
            with self.here():
                address = array.ctypes.data
                runtime.memcpyAsync(pointer, address, array.nbytes, runtime.memcpyHostToDevice, _stream())
                # Memory that the system may move has been read by now; what is pinned is read some time.
                if self._reads_host or runtime.pointerGetAttributes(address).type != runtime.memoryTypeUnregistered:
                    self._wait()

    @property
    def memory(self) -> DeviceMemory:
        """See :meth:`Device.memory`."""
        with self.here():
            free, total = runtime.memGetInfo()
            return DeviceMemory(
                self._pool.used_bytes(), self._pool.total_bytes(), total, free, self._pool.get_limit() or None
            )

    def limit_memory(self, nbytes: int | None) -> None:
        """See :meth:`Device.limit_memory`."""
        with self.here():
            self._pool.set_limit(size=nbytes or 0)

    def free_unused(self) -> None:
        """See :meth:`Device.free_unused`."""
        with self.here():
            self._pool.free_all_blocks()

    # Kernels.

    def load(
        self, source: SourceLike, code: bytes | None = None, names: Mapping[str, Any] | None = None
    ) -> DeviceKernel:
        """See :meth:`Device.load`."""
        if code is None:
            raise ValueError(f"a GPU needs the machine code of {source.name}")
        with self.here():
            module = cupy.cuda.function.Module()
            module.load(code)
            return DeviceKernel(source, module.get_function(source.symbol).ptr, module, pointers(source.parameters))

    def prepare(
        self, kernel: DeviceKernel, grid: Sequence[int], block: Sequence[int], shared: int, scalars: Sequence[float]
    ) -> Prepared:
        """See :meth:`Device.prepare`."""
        if shared:
            which = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            with self.here():
                # Untold a kernel may have 48 KiB, less its static arrays.
                if shared > driver.funcGetAttribute(which, kernel.handle):
                    driver.funcSetAttribute(kernel.handle, which, shared)
        return super().prepare(kernel, grid, block, shared, scalars)

    def launch(self, prepared: Prepared) -> None:
        """See :meth:`Device.launch`."""
        if 0 in prepared.grid:
            return
        kernel, thread = prepared.kernel, self._thread
        if thread.captured is None:
            self._recent.append(prepared.title)
        else:
            thread.captured.append(prepared)
        if not self._only_device or not thread.ready or self._lost is not None:
            with self.here():
                self._launch(kernel, prepared)
            return
        try:
            self._launch(kernel, prepared)
        except _ERRORS as error:
            self._raise(error)

    def _launch(self, kernel: DeviceKernel, prepared: Prepared) -> None:
        driver.launchKernel(
            kernel.handle, *prepared.grid, *prepared.block, prepared.shared, _stream(), prepared.addresses, 0
        )

    def occupancy(self, kernel: DeviceKernel, block: Sequence[int], shared: int = 0) -> float:
        """See :meth:`Device.occupancy`."""
        threads = int(np.prod(block))
        with self.here():
            blocks = driver.occupancyMaxActiveBlocksPerMultiprocessor(kernel.handle, threads, shared)
        return blocks * threads / self._resident

    def resources(self, kernel: DeviceKernel) -> Resources | None:
        """See :meth:`Device.resources`."""
        with self.here():
            return Resources(
                *(
                    driver.funcGetAttribute(which, kernel.handle)
                    for which in (
                        driver.CU_FUNC_ATTRIBUTE_NUM_REGS,
                        driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
                        driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
                        driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                    )
                )
            )


class _Thread(threading.local):
    """A thread's state on a device: whether its context is current, a buffer for single elements, and the capture in
    progress.
    """

    ready = False
    place: Any = None
    captured: list[Prepared] | None = None


def _stream() -> int:
    """The handle of the thread's current stream on the current device."""
    return cupy.cuda.get_current_stream().ptr


class PhysicalGraph:
    """A captured CUDA graph.

    Parameters
    ----------
    device : PhysicalDevice
    graph : cupy.cuda.Graph
    launches : sequence of Prepared
        What is launched, whose kernels must stay loaded.
    """

    def __init__(self, device: PhysicalDevice, graph: Any, launches: Sequence[Prepared]):
        self._device, self._graph = device, graph
        self._kernels = {each.kernel for each in launches}
        self._titles = [each.title for each in launches[-_REMEMBERED:]]

    def launch(self) -> None:
        """Queue the graph on the current stream."""
        self._device._recent.extend(self._titles)
        with self._device.here():
            self._graph.launch()
