"""Profiling of GPU programs kernel by kernel, and the measured peak of a GPU.

The host hands over one kernel at a time and has the device note the time before and after it, so that a kernel of a few
microseconds counts with what it takes to launch it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel.backends.cuda.arrays import DeviceArray
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.interface import Clock, Timed
from nxkernel.compilers.numba_cuda.program.executable import CudaExecutable
from nxkernel.compilers.numba_cuda.program.host_steps import DeviceStep, ProgramRun

#: Bytes of the copy, and the side of the product of matrices, by which a GPU is judged.
COPIED, SIDE = 1 << 28, 4096


class DeviceClock(Clock):
    """Measures a program on a device.

    Parameters
    ----------
    executable : CudaExecutable
    """

    def __init__(self, executable: CudaExecutable) -> None:
        self._executable = executable
        if executable.device.simulated:
            self.note = "in Numba's simulator, whose times say nothing of a GPU"
        else:
            self.note = "which caches may hold, a kernel's time with that of its launch"

    def machine(self) -> tuple[float, float]:
        """The peak of the program's device."""
        return machine(self._executable.device)

    def placed(self, arrays: Sequence[np.ndarray | DeviceArray]) -> list[np.ndarray | DeviceArray]:
        """The inputs on the device, except for single numbers, which stay where they are."""
        device = self._device(arrays)
        return [array if type(array) is DeviceArray or array.size == 1 else device.upload(array) for array in arrays]

    def run(self, arrays: Sequence[np.ndarray | DeviceArray]) -> Timed:
        """Run the program once as a whole, and once kernel by kernel.

        Parameters
        ----------
        arrays : sequence of (numpy.ndarray or DeviceArray)
            One for each parameter; none is changed.

        Returns
        -------
        Timed
        """
        device = self._device(arrays)
        first, second = self._fresh(arrays), self._fresh(arrays)
        seconds = device.time(lambda: self._executable.run(first))
        spent: dict[int, tuple[float, int]] = {}

        def watch(step: DeviceStep, run: ProgramRun) -> None:
            took = device.time(lambda: step.do(run))
            if step.record is not None:
                before, runs = spent.get(step.record, (0.0, 0))
                spent[step.record] = before + took, runs + 1

        self._executable.run(second, watch)
        return Timed(seconds, spent)

    def _fresh(self, arrays: Sequence[Any]) -> list[Any]:
        """The arrays, with copies of those that the program updates."""
        fresh = list(arrays)
        for position, _ in self._executable.graph.updates:
            array = arrays[position]
            fresh[position] = array.device.bring(array) if type(array) is DeviceArray else array.copy()
        return fresh

    def _device(self, arrays: Sequence[Any]) -> Any:
        return next((array.device for array in arrays if type(array) is DeviceArray), self._executable.device)


def machine(device: Device) -> tuple[float, float]:
    """The measured peak of a device: bytes a second in copies, operations a second in an f32 product.

    Measured once for a device; 0 for a simulated one, which says nothing of a GPU.

    Parameters
    ----------
    device : Device
    """
    return (0.0, 0.0) if device.simulated else _measured(device)


@functools.cache
def _measured(device: Device) -> tuple[float, float]:
    source, target = (device.allocate((COPIED,), np.uint8) for _ in range(2))
    device.fill(source.pointer, 0, COPIED)
    copied = min(device.time(lambda: device.copy(target.pointer, source.pointer, COPIED)) for _ in range(5))
    import cupy

    with device.here():
        left = cupy.ones((SIDE, SIDE), np.float32)
        multiplied = min(device.time(lambda: left @ left) for _ in range(4))
    return 2 * COPIED / copied, 2 * SIDE**3 / multiplied
