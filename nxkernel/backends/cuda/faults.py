"""CUDA errors translated to Python exceptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nxkernel.errors import DeviceFaultError, DeviceMemoryError, message
from nxkernel.messages.quantities import amount

if TYPE_CHECKING:
    from nxkernel.backends.cuda.device_interface import Device

#: The errors of CUDA, by number, that are a kernel's doing and end the process's use of the device.
STICKY = {
    700: "used an illegal address",
    701: "was launched with too many resources",
    702: "took longer than the system allows",
    710: "failed an assertion",
    714: "overran its stack",
    715: "has an illegal instruction",
    716: "used a misaligned address",
    717: "used an address of the wrong kind of memory",
    718: "jumped to an illegal address",
    719: "failed",
}
_NO_MEMORY = 2
_RESTART = (
    "This process can use the device no more: restart it (in Jupyter, the kernel).",
    "What is on the host is still there.",
)


def kernel_fault(
    device: Device, kernels: Sequence[str], what: str, *details: str, lost: bool = False
) -> DeviceFaultError:
    """The error for a kernel that failed.

    Parameters
    ----------
    device : Device
    kernels : sequence of str
        The kernels of which one failed.
    what : str
        What it did.
    *details : str
        More of it.
    lost : bool, optional
        Whether the process can go on using the device.
    """
    if len(kernels) == 1:
        subject = f"the kernel {kernels[0]}"
    elif kernels:
        subject = f"one of the kernels {', '.join(kernels)}"
        details = (*details, "With CUDA_LAUNCH_BLOCKING=1 in the environment the error tells which.")
    else:
        subject = "a kernel"
    error = DeviceFaultError(message(f"{subject} {what} on {device.name}.", *details, *(_RESTART if lost else ())))
    error.kernel, error.lost = ", ".join(kernels), lost
    return error


def error_of(device: Device, error: Exception, kernels: Sequence[str]) -> Exception:
    """The exception for an error of CUDA: a fault, out of memory, or the error itself with a note on its cause.

    Parameters
    ----------
    device : Device
    error : Exception
        One with a `status`, as CuPy raises them.
    kernels : sequence of str
        What was launched since all was well.
    """
    status = int(error.status)
    if status in STICKY and status != 701:
        return kernel_fault(device, kernels, STICKY[status], f"CUDA says: {error}", lost=True)
    if status == 701:
        return kernel_fault(device, kernels[-1:], STICKY[status], f"CUDA says: {error}")
    if status == _NO_MEMORY:
        return DeviceMemoryError(message(f"{device.name} has too little memory left for what was launched: {error}"))
    error.add_note(f"on {device.name}" + (f", after launching {kernels[-1]}" if kernels else ""))
    return error


def again(error: DeviceFaultError) -> DeviceFaultError:
    """A new exception with the same text, for each later use of a lost device."""
    fault = DeviceFaultError(*error.args)
    fault.kernel, fault.lost = error.kernel, error.lost
    return fault


def after_fork(name: str) -> DeviceFaultError:
    """The exception for use of a device in a child process, which cannot inherit it."""
    return DeviceFaultError(
        message(
            f"{name} cannot be used in this process: its parent used it before it was forked.",
            'Start processes with multiprocessing\'s "spawn" or "forkserver", or fork before the device is used.',
        )
    )


def out_of_memory(device: Device, asked: int) -> DeviceMemoryError:
    """The exception for an array that does not fit into a device's memory.

    Parameters
    ----------
    device : Device
    asked : int
        The bytes of the array.
    """
    memory = device.memory
    if memory.limit is None:
        rest = f"{amount(memory.free)}B of {amount(memory.total)}B are free"
    else:
        rest = f"the limit is {amount(memory.limit)}B of {amount(memory.total)}B"
    error = DeviceMemoryError(
        message(
            f"{device.name} has no {amount(asked)}B left for an array: {amount(memory.used)}B are in use, {rest}.",
            "Tensors that nobody holds any more give theirs back; nx.backend_deallocate(t) does at once.",
            "Donated arguments (nx.jit(f, donate_argnums=...)) are used for results.",
        )
    )
    error.asked, error.used = asked, memory.used
    error.total = memory.total if memory.limit is None else memory.limit
    return error
