"""Text about launches: blocks and threads, resources, and occupancy."""

from __future__ import annotations

import math

from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.numba_cuda.program.executable import CudaExecutable
from nxkernel.compilers.numba_cuda.program.host_steps import LaunchStep
from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import amount


def launches_told(executable: CudaExecutable) -> dict[int, str]:
    """For each launched kernel, by its index, a line about its launch.

    Parameters
    ----------
    executable : CudaExecutable

    Returns
    -------
    dict
        Such as ``"1,056 blocks of 256 threads, 32 registers, 4.1 kB shared, occupancy 100 %"``. Calls of libraries have
        none.
    """
    program, device = executable.program, executable.device
    return {launched.record: told(launched, device) for launched in program.launched}


def told(launched: LaunchStep, device: Device) -> str:
    """A line about a launch: geometry, resources, occupancy.

    Parameters
    ----------
    launched : LaunchStep
        Of a program that is ready.
    device : Device
    """
    launch = launched.launch
    blocks, threads = math.prod(launch.grid), math.prod(launch.block)
    parts = [f"{blocks:,} {'block' if blocks == 1 else 'blocks'} of {counted(threads, 'thread')}"]
    kernel = launched.prepared.kernel
    resources = device.resources(kernel)
    shared = launch.shared + (resources.shared if resources else 0)
    if resources:
        parts.append(counted(resources.registers, "register"))
    if shared:
        parts.append(f"{amount(shared)}B shared")
    if resources and resources.spilled:
        parts.append(f"{resources.spilled} B a thread in memory, as registers ran out")
    if device.simulated:
        parts.append("simulated")
    else:
        parts.append(f"occupancy {device.occupancy(kernel, launch.block, launch.shared):.0%}".replace("%", " %"))
    return ", ".join(parts)
