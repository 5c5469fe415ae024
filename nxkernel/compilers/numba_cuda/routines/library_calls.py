"""Calls of NVIDIA's libraries, and errors for missing libraries or memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nxkernel.backends.cuda import faults
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.errors import CudaUnavailableError, DeviceMemoryError, message
from nxkernel.messages.quantities import amount


def compute_on(device: Device, library: str, work: Callable[[], Any]) -> Any:
    """Run a library computation on a GPU; if memory is short, again after freeing cached memory.

    Parameters
    ----------
    device : Device
    library : str
        Its name, for people.
    work : callable
        Calls it; may be done again.

    Returns
    -------
    Any
        What the work gives.

    Raises
    ------
    DeviceMemoryError
        When it finds no memory to work with.
    CudaUnavailableError
        When it is not installed.
    """
    with device.here():
        try:
            return work()
        except (MemoryError, RuntimeError) as error:
            if not _lacks_memory(error):
                raise
        except ImportError as error:
            raise CudaUnavailableError(
                message(
                    f"{library} of NVIDIA's is needed for this, and is not installed.",
                    f"CuPy says: {str(error).splitlines()[0]}",
                    "pip install 'nxkernel[cuda]' brings it.",
                    'compiler="numba_cpu" runs the same definitions without.',
                )
            ) from error
        # The libraries take some of their memory from the device itself, past the pool that holds what was freed.
        device.free_unused()
        try:
            return work()
        except (MemoryError, RuntimeError) as error:
            if not _lacks_memory(error):
                raise
            raise _too_little(device, library, error) from error


def _lacks_memory(error: Exception) -> bool:
    """Whether an error means that a pool, or the device, is out of memory."""
    return isinstance(error, MemoryError) or "ALLOC_FAILED" in str(error)


def _too_little(device: Device, library: str, error: Exception) -> DeviceMemoryError:
    asked = getattr(error, "_size", 0)
    if asked:
        return faults.out_of_memory(device, asked)
    memory = device.memory
    free, total, used = map(amount, (memory.free, memory.total, memory.used))
    memory_error = DeviceMemoryError(
        message(
            f"{library} finds too little memory to work with on {device.name}: {free}B of {total}B are free.",
            f"Arrays that are in use hold {used}B; nx.backend_deallocate(t) gives a tensor's memory back at once.",
        )
    )
    memory_error.used, memory_error.total = memory.used, memory.total
    return memory_error
