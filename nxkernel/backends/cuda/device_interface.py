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
    """What a device has of memory, in bytes.

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
    """What a kernel takes of a multiprocessor.

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
    """Launches that were captured and are launched again as one."""

    def launch(self) -> None:
        """Launch all of them, in their order."""


class Device(ABC):
    """A device: memory, kernels, launches. Work is queued on the current stream of the thread, and runs in order.

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
        """The address of so many bytes, and what keeps them."""

    def allocate(self, shape: Sequence[int], dtype: Any) -> DeviceArray:
        """An array that holds anything.

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
        """A copy of a NumPy array on the device; the array may be changed as soon as this returns."""
        # A view of memory that is contiguous already stays what it is, an array without axes too.
        array = np.asarray(array, order="C")
        found = self.allocate(array.shape, array.dtype)
        if array.nbytes:
            self.write(found.pointer, array)
        return found

    @abstractmethod
    def download(self, array: DeviceArray) -> np.ndarray:
        """A copy of an array of this device on the host; waits until it is computed."""

    @abstractmethod
    def copy(self, target: int, source: int, nbytes: int) -> None:
        """Copy bytes within the device; they must not overlap."""

    @abstractmethod
    def bring(self, array: DeviceArray) -> DeviceArray:
        """A copy of an array here, whichever device it is on."""

    @abstractmethod
    def fill(self, pointer: int, byte: int, nbytes: int) -> None:
        """Set bytes on the device to one value."""

    @abstractmethod
    def read(self, pointer: int, dtype: Any) -> Any:
        """One element as a NumPy scalar; waits until it is computed."""

    @abstractmethod
    def write(self, pointer: int, array: np.ndarray) -> None:
        """Copy a contiguous NumPy array into memory of the device; the array may be changed as soon as this returns."""

    @abstractmethod
    def load(
        self, source: SourceLike, code: bytes | None = None, names: Mapping[str, Any] | None = None
    ) -> DeviceKernel:
        """A kernel that this device can launch.

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
        self, kernel: DeviceKernel, grid: Sequence[int], block: Sequence[int], shared: int, scalars: Sequence[Any]
    ) -> Prepared:
        """Lay out the arguments of launches; its pointers are given later (:meth:`Prepared.point`)."""
        return Prepared(kernel, grid, block, shared, scalars)

    @abstractmethod
    def launch(self, prepared: Prepared) -> None:
        """Queue a kernel."""

    @abstractmethod
    def synchronize(self) -> None:
        """Wait for all work that the current stream was given.

        Raises
        ------
        DeviceFaultError
            When a kernel failed.
        """

    @abstractmethod
    def capture(self, work: Callable[[], Any]) -> LaunchGraph:
        """What a function launches, copies and fills, as one graph; nothing of it is run now.

        Parameters
        ----------
        work : callable
            Must neither allocate, nor read or write from the host, nor wait.
        """

    @abstractmethod
    def time(self, work: Callable[[], Any]) -> float:
        """How long the device takes for what a function queues, in seconds."""

    @abstractmethod
    def occupancy(self, kernel: DeviceKernel, block: Sequence[int], shared: int = 0) -> float:
        """Which part of the threads that a multiprocessor can hold it holds with blocks of this size."""

    @abstractmethod
    def resources(self, kernel: DeviceKernel) -> Resources | None:
        """What a kernel takes; None where nobody knows."""

    @property
    @abstractmethod
    def memory(self) -> DeviceMemory:
        """What there is of memory now."""

    @abstractmethod
    def limit_memory(self, nbytes: int | None) -> None:
        """Let this process take no more than so many bytes; None is all there is."""

    @abstractmethod
    def free_unused(self) -> None:
        """Give memory back that is kept for later arrays."""

    @abstractmethod
    def here(self) -> AbstractContextManager[Any]:
        """Have the device be the current one of this thread, for libraries that go by that."""
