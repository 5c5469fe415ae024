"""What there is on this machine of what GPUs need, and an error that says what is missing."""

from __future__ import annotations

import functools
import importlib.util
import os
from dataclasses import dataclass

from nxkernel.errors import CudaUnavailableError, message

#: The packages that are imported, and what brings them.
PACKAGES = {"cupy": "CuPy", "numba_cuda": "numba-cuda", "cuda.bindings.nvjitlink": "cuda-bindings"}
#: The folder of each of NVIDIA's libraries among the packages of Python, and the wheel that brings it.
LIBRARIES = {"nvvm": "nvidia-nvvm", "nvJitLink": "nvidia-nvjitlink"}


@dataclass(frozen=True, slots=True)
class State:
    """What there is of what a GPU needs.

    Parameters
    ----------
    missing : tuple of str
        What to say of each thing that is missing, the first thing to do first; nothing where GPUs can be used.
    driver : str or None
        The driver's version of CUDA.
    devices : tuple of str
        What the devices are called.
    """

    missing: tuple[str, ...]
    driver: str | None
    devices: tuple[str, ...]


def _found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def simulating() -> bool:
    """Whether the environment asks for Numba's CUDA simulator (``NUMBA_ENABLE_CUDASIM=1``)."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@functools.cache
def state() -> State:
    """What there is on this machine; looked at once.

    Returns
    -------
    State
    """
    missing = [f"the package {name} is not installed" for module, name in PACKAGES.items() if not _found(module)]
    if missing:
        return State((*missing, "pip install 'nxkernel[cuda]' brings what is missing."), None, ())
    return _of_driver()


def _of_driver() -> State:
    try:
        # A machine without a driver is no surprise here, but CuPy may warn about its environment.
        from cupy_backends.cuda.api import runtime
    except ImportError as error:
        return State((f"CuPy cannot be imported: {error}",), None, ())
    try:
        version = runtime.driverGetVersion()
    except runtime.CUDARuntimeError as error:
        return State((f"the driver does not answer: {error}",), None, ())
    if not version:
        return State(
            ("there is no NVIDIA driver (libcuda): it comes with the operating system, not with pip",), None, ()
        )
    driver = f"{version // 1000}.{version % 1000 // 10}"
    try:
        count = runtime.getDeviceCount()
        names = tuple(runtime.getDeviceProperties(index)["name"].decode() for index in range(count))
    except runtime.CUDARuntimeError as error:
        return State((_refusal(error, driver),), driver, ())
    return State(() if names else ("the driver finds no NVIDIA GPU",), driver, names)


def _refusal(error: Exception, driver: str) -> str:
    text = str(error)
    if "InsufficientDriver" in text:
        return f"the NVIDIA driver (CUDA {driver}) is too old for the installed CUDA packages"
    if "NoDevice" in text:
        return "the driver finds no NVIDIA GPU"
    return f"the driver refuses: {text}"


def is_available() -> bool:
    """Whether there is a GPU that can be used, simulated ones apart."""
    return not state().missing


def require(what: str = 'compiler="numba_cuda"') -> State:
    """Have a GPU that can be used.

    Parameters
    ----------
    what : str, optional
        What needs it.

    Returns
    -------
    State

    Raises
    ------
    CudaUnavailableError
        When something is missing; the text says what, and what works without.
    """
    found = state()
    if found.missing:
        raise CudaUnavailableError(
            message(
                f"{what} needs an NVIDIA GPU, and there is none to be used here.",
                *(f"Missing: {each}" if not each.startswith("pip ") else each for each in found.missing),
                'compiler="numba_cpu" runs the same definitions here, and compiler="auto" takes what there is.',
            )
        )
    return found
