"""The interface of a device (memory, streams, launches), which a GPU and the simulator implement."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nxkernel.backends.cuda.arrays import DeviceArray
from nxkernel.backends.cuda.launching import DeviceKernel, Prepared, SourceLike


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """The total, free and used memory of a device, in bytes.

    Parameters
    ----------
    used : int
        Taken by arrays that are in use, in this process.
    held : int
        Taken from the device by this process: what is used, and what is kept for later arrays.
    total : int
        Of the device.
    free : int
        What no process has taken.
    limit : int or None
        How much this process may take; None is all there is.
    """

    used: int
    held: int
    total: int
    free: int
    limit: int | None


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources that a kernel takes of a multiprocessor: registers, memory, threads.

    Parameters
    ----------
    registers : int
        For each thread.
    shared : int
        Bytes of static shared memory for each block.
    spilled : int
        Bytes of local memory for each thread: what did not fit the registers.
    threads : int
        The largest block.
    """

    registers: int
    shared: int
    spilled: int
    threads: int


class LaunchGraph(Protocol):
    """A captured sequence of launches that is launched as one."""

    def launch(self) -> None:
        """Launch the sequence, in order."""


class Device(ABC):
    """The interface of a device: memory, kernels, launches. Work is queued on the thread's current stream, in order.

    Attributes
    ----------
    index : int
        Its number, from 0.
    name : str
        ``"cuda:0"`` and so on.
    description : str
        The name that people know it by.
    arch : str
        What kernels are compiled for, such as ``"sm_90"``.
    simulated : bool
        Whether it is Numba's simulator on the host.
    multiprocessors, threads, shared_limit : int
        How many; the largest block; the most bytes of shared memory that a block may have.
    cache : int
        Bytes of the cache that all multiprocessors share; 0 where there is none.
    bandwidth : float or None
        What the memory could move at best, in bytes a second, where the driver tells it.
    """

    index: int
    name: str
    description: str
    arch: str
    simulated: bool
    multiprocessors: int
    threads: int
    shared_limit: int
    cache: int
    bandwidth: float | None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.description}>"

    @abstractmethod
    def _reserve(self, nbytes: int) -> tuple[int, Any]:
        """Allocate so many bytes: the address, and the object that keeps them allocated."""

    def allocate(self, shape: Sequence[int], dtype: Any) -> DeviceArray:
        """An uninitialized array on the device.

        Parameters
        ----------
        shape : sequence of int
        dtype : numpy.dtype

        Returns
        -------
        DeviceArray

        Raises
        ------
        DeviceMemoryError
            When it does not fit, even after memory that nobody uses was given back.
        """
        dtype = np.dtype(dtype)
        return DeviceArray(self, *self._place(math.prod(shape) * dtype.itemsize, shape, dtype))

    def _place(self, nbytes: int, shape: Sequence[int], dtype: np.dtype) -> tuple[int, Sequence[int], np.dtype, Any]:
        pointer, owner = self._reserve(nbytes)
        return pointer, shape, dtype, owner

    def upload(self, array: np.ndarray) -> DeviceArray:
        """Copy a NumPy array to the device; it may be changed as soon as this returns."""
        # A view of memory that is contiguous already stays what it is, an array without axes too.
        array = np.asarray(array, order="C")
        copy = self.allocate(array.shape, array.dtype)
        if array.nbytes:
            self.write(copy.pointer, array)
        return copy

    @abstractmethod
    def download(self, array: DeviceArray) -> np.ndarray:
        """Copy an array from the device to the host; waits until it is computed."""

    @abstractmethod
    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Queue a copy of bytes within the device; source and target must not overlap."""

    @abstractmethod
    def bring(self, array: DeviceArray) -> DeviceArray:
        """A copy on this device of an array that may be on another one."""

    @abstractmethod
    def fill(self, pointer: int, byte: int, nbytes: int) -> None:
        """Queue setting bytes on the device to a value."""

    @abstractmethod
    def read(self, pointer: int, dtype: Any) -> Any:
        """One element as a NumPy scalar; waits until it is computed."""

    @abstractmethod
    def write(self, pointer: int, array: np.ndarray) -> None:
        """Copy a contiguous NumPy array to an address of the device; it may be changed as soon as this returns."""

    @abstractmethod
    def load(
        self, source: SourceLike, code: bytes | None = None, names: Mapping[str, Any] | None = None
    ) -> DeviceKernel:
        """Load a kernel's machine code; a kernel that this device can launch.

        Parameters
        ----------
        source : SourceLike
        code : bytes or None
            A cubin for the device's architecture in which the kernel is called by its source's symbol; a simulated
            device needs none.
        names : mapping of str to object, optional
            What the names in the source mean on the host, for a simulated device.

        Returns
        -------
        DeviceKernel
        """

    def prepare(
        self, kernel: DeviceKernel, grid: Sequence[int], block: Sequence[int], shared: int, scalars: Sequence[float]
    ) -> Prepared:
        """Lay out the arguments of a launch; the pointers are set later (:meth:`Prepared.point`)."""
        return Prepared(kernel, grid, block, shared, scalars)

    @abstractmethod
    def launch(self, prepared: Prepared) -> None:
        """Queue a launch."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all work queued on the current stream.

        Raises
        ------
        DeviceFaultError
            When a kernel failed.
        """

    @abstractmethod
    def capture(self, work: Callable[[], Any]) -> LaunchGraph:
        """Capture, without running it, what a function launches, copies and fills, as a graph.

        Parameters
        ----------
        work : callable
            Must neither allocate, nor read or write from the host, nor wait.
        """

    @abstractmethod
    def time(self, work: Callable[[], Any]) -> float:
        """The seconds that the device takes for the work that a function queues."""

    @abstractmethod
    def occupancy(self, kernel: DeviceKernel, block: Sequence[int], shared: int = 0) -> float:
        """The fraction of a multiprocessor's threads that blocks of this size keep resident."""

    @abstractmethod
    def resources(self, kernel: DeviceKernel) -> Resources | None:
        """The resources of a kernel; None if unknown."""

    @property
    @abstractmethod
    def memory(self) -> DeviceMemory:
        """The current memory usage."""

    @abstractmethod
    def limit_memory(self, nbytes: int | None) -> None:
        """Limit the memory that this process allocates, in bytes; None for no limit."""

    @abstractmethod
    def free_unused(self) -> None:
        """Free memory that is cached for later arrays."""

    @abstractmethod
    def here(self) -> AbstractContextManager[Any]:
        """A context in which this is the current device of the thread, for libraries that use that one."""
