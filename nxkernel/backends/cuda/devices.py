"""The devices by number, GPUs or simulated ones."""

from __future__ import annotations

import re

from nxkernel import fork_safety
from nxkernel.backends.cuda import availability
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.errors import CudaUnavailableError, NxTypeError, NxValueError, message

_NAME = re.compile(r"cuda(?::(\d+))?")
_lock = fork_safety.rlock()
_devices: dict[tuple[bool, int], Device] = {}


class _Simulation:
    """The setting for simulated devices: their number, 0 for none, None to follow the environment."""

    count: int | None = None


def use_simulator(on: bool = True, devices: int = 2) -> None:
    """Use simulated devices instead of GPUs, for tests and to inspect kernels; slow.

    Parameters
    ----------
    on : bool, optional
        False goes back to the GPUs.
    devices : int, optional
        How many there are.

    Raises
    ------
    CudaUnavailableError
        When numba-cuda is not installed, which the simulator is a part of.
    """
    if on:
        _require_simulator()
    _Simulation.count = devices if on else 0


def simulating() -> bool:
    """Whether devices are simulated, by :func:`use_simulator` or by ``NUMBA_ENABLE_CUDASIM=1``."""
    return availability.simulating() if _Simulation.count is None else _Simulation.count > 0


def count() -> int:
    """The number of devices; 0 where GPUs cannot be used.

    Returns
    -------
    int
    """
    if simulating():
        return _Simulation.count or 2
    found = availability.state()
    return 0 if found.missing else len(found.devices)


def device(which: int | str | Device = 0) -> Device:
    """A device.

    Parameters
    ----------
    which : int, str or Device, optional
        Its number, or ``"cuda"`` for the first and ``"cuda:1"`` for the second.

    Returns
    -------
    Device

    Raises
    ------
    CudaUnavailableError
        When there is none that can be used.
    NxValueError
        When there are fewer.
    """
    if isinstance(which, Device):
        return which
    index = _index(which)
    simulated = simulating()
    if not simulated:
        availability.require(f'the device "cuda:{index}"')
    if index >= count():
        there = ", ".join(f"cuda:{each}" for each in range(count()))
        raise NxValueError(message(f'there is no device "cuda:{index}".', f"There is {there}."))
    with _lock:
        known = _devices.get((simulated, index))
        if known is None:
            known = _devices[simulated, index] = _open(simulated, index)
    return known


def _require_simulator() -> None:
    again = "Then start Python anew, or the notebook's kernel."
    if not availability.has_package("numba_cuda"):
        raise CudaUnavailableError(
            message(
                "the simulator of GPUs is a part of numba-cuda, which is not installed.",
                f"pip install 'numba-cuda[cu13]' brings it, about 600 MB. {again}",
            )
        )
    if not availability.has_package("numba.cuda"):
        raise CudaUnavailableError(
            message(
                "numba-cuda is installed, and numba.cuda, to which it leads, is not found.",
                "A .pth file of its wheel does that, which Python reads when it starts, in folders like site-packages.",
                f"pip install --force-reinstall 'numba-cuda[cu13]' puts it into this environment. {again}",
            )
        )


def _open(simulated: bool, index: int) -> Device:
    if simulated:
        _require_simulator()
        from nxkernel.backends.cuda.simulated_device import SimulatedDevice

        return SimulatedDevice(index)
    from nxkernel.backends.cuda.gpu_device import PhysicalDevice

    return PhysicalDevice(index)


def _index(which: int | str) -> int:
    if isinstance(which, int) and not isinstance(which, bool) and which >= 0:
        return which
    if isinstance(which, str) and (match := _NAME.fullmatch(which)):
        return int(match[1] or 0)
    error = NxValueError if isinstance(which, int | str) else NxTypeError
    raise error(message(f"{which!r} is no device.", 'Devices are "cuda" or "cuda:0" and so on, and "cpu" is the host.'))


def reset() -> None:
    """Detect devices again, and leave simulation to the environment."""
    _Simulation.count = None
    availability.state.cache_clear()
