"""Detecting a GPU: which driver and libraries are present, and an error that says what is missing."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import sys
from dataclasses import dataclass

from nxkernel.errors import CudaUnavailableError, message

#: The packages that are imported, and what people know them by.
PACKAGES = {
    "cupy": "CuPy",
    "numba_cuda": "numba-cuda",
    "cuda.bindings": "cuda-bindings",
    "cuda.pathfinder": "cuda-pathfinder",
}
#: NVIDIA's libraries that compile kernels, and the wheels that bring them.
LIBRARIES = {"nvvm": "nvidia-nvvm", "nvJitLink": "nvidia-nvjitlink"}
#: What the driver is called where libraries are looked up.
_DRIVERS = {"win32": "nvcuda.dll"}
_NO_DEVICE = "a device: the driver finds no NVIDIA GPU"


@dataclass(frozen=True, slots=True)
class Availability:
    """The driver, libraries and GPUs that were found, and what is missing.

    Parameters
    ----------
    missing : tuple of str
        What is missing, in words; nothing where GPUs can be used.
    driver : str or None
        The driver's version of CUDA.
    devices : tuple of str
        What the devices are called.
    """

    missing: tuple[str, ...]
    driver: str | None
    devices: tuple[str, ...]


def has_package(module: str) -> bool:
    """Whether a package can be imported."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def simulating() -> bool:
    """Whether the environment asks for Numba's CUDA simulator (``NUMBA_ENABLE_CUDASIM=1``)."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


@functools.cache
def state() -> Availability:
    """The availability on this machine, detected once.

    Returns
    -------
    Availability
    """
    missing = [] if _has_driver() else ["the NVIDIA driver (libcuda), which comes with the system, not with pip"]
    packages = [f"the package {name}" for module, name in PACKAGES.items() if not has_package(module)]
    # CuPy takes a quarter of a second, which nobody without a driver should wait for.
    packages += [] if missing or packages else _missing_libraries()
    if missing or packages:
        return Availability((*missing, *packages), None, ())
    return _of_driver()


def _has_driver() -> bool:
    try:
        ctypes.CDLL(_DRIVERS.get(sys.platform, "libcuda.so.1"))
    except OSError:
        return False
    return True


def _missing_libraries() -> list[str]:
    from cuda import pathfinder

    # Looking for a part of Numba imports Numba.
    missing = [] if has_package("numba.cuda") else ["the package numba.cuda, to which a .pth file of numba-cuda leads"]
    for library, wheel in LIBRARIES.items():
        try:
            pathfinder.load_nvidia_dynamic_lib(library)
        except (RuntimeError, OSError):
            missing.append(f"the library {library} (the wheel {wheel})")
    return missing


def _of_driver() -> Availability:
    """The availability that CuPy and the driver report."""
    try:
        from cupy.cuda import runtime

        number = runtime.driverGetVersion()
    except (ImportError, RuntimeError) as error:
        return Availability((f"a CuPy that can be used: {error}",), None, ())
    driver = f"{number // 1000}.{number % 1000 // 10}"
    try:
        names = tuple(runtime.getDeviceProperties(index)["name"].decode() for index in range(runtime.getDeviceCount()))
    except RuntimeError as error:
        return Availability((_refusal(str(error), driver),), driver, ())
    return Availability(() if names else (_NO_DEVICE,), driver, names)


def _refusal(error: str, driver: str) -> str:
    if "InsufficientDriver" in error:
        return (
            f"a newer NVIDIA driver: this one is for CUDA {driver}, and the installed packages are newer "
            "(nxkernel[cuda12] has those for CUDA 12)"
        )
    return _NO_DEVICE if "NoDevice" in error else f"a driver that works: {error}"


def is_available() -> bool:
    """Whether there is a usable GPU; simulated ones do not count."""
    return not state().missing


def require(what: str = 'compiler="numba_cuda"') -> Availability:
    """Raise an error that says what is missing, unless a GPU can be used.

    Parameters
    ----------
    what : str, optional
        What needs it.

    Returns
    -------
    Availability

    Raises
    ------
    CudaUnavailableError
        When something is missing; the text says what, and what works without.
    """
    availability = state()
    if availability.missing:
        packages = any(each.startswith(("the package", "the library")) for each in availability.missing)
        raise CudaUnavailableError(
            message(
                f"{what} needs an NVIDIA GPU, and there is none to be used here.",
                *(f"Missing: {each}." for each in availability.missing),
                *(["pip install 'nxkernel[cuda]' brings the packages."] if packages else []),
                'compiler="numba_cpu" runs the same definitions here, and compiler="auto" takes what there is.',
                "With NUMBA_ENABLE_CUDASIM=1 in the environment a simulator on the processor runs it, slowly.",
            )
        )
    return availability
