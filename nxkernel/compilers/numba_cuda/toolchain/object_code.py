"""Machine code of kernels: from memory, from disk, or compiled by Numba CUDA and nvJitLink.

No driver is needed for that. Several missing kernels are compiled side by side with processes that wait for such
(:mod:`nxkernel.compilers.numba_cuda.toolchain.worker_pool`).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from nxkernel import fork_safety
from nxkernel.backends.cuda import availability
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.backends.cuda.launching import DeviceKernel
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.numba_cuda.language import intrinsics
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.compilers.numba_cuda.toolchain import worker_pool
from nxkernel.compilers.numba_cuda.toolchain.nvvm import ptx_here
from nxkernel.errors import CompilationError, message

#: The modules that decide what code a source becomes.
_OWN = ("device_intrinsics", "memory_intrinsics", "expression_types", "python_to_llvm", "nvvm", "object_code")

_codes: dict[tuple[str, str], bytes] = {}
_times: dict[tuple[str, str], float] = {}
_texts: dict[tuple[str, str], str] = {}
_kernels: dict[tuple[Device, str], DeviceKernel] = {}
_lock = fork_safety.rlock()
#: That of nvJitLink, which another thread than that of the compiler is in.
_linking = fork_safety.rlock()
fork_safety.across(lambda: [_linking])


class DeviceCode(NamedTuple):
    """The machine code of a kernel.

    Parameters
    ----------
    code : bytes
        A cubin, in which the kernel is called by its source's symbol.
    origin : str
        ``"memory"``, ``"disk"`` or ``"compiled"``.
    ms : float
        How long it took to get it.
    """

    code: bytes
    origin: str
    ms: float


class Loaded(NamedTuple):
    """A kernel that a device can launch, the origin of its code, and the milliseconds to get it."""

    kernel: DeviceKernel
    origin: str
    ms: float


def loaded(device: Device, sources: Sequence[KernelSource]) -> list[Loaded]:
    """The loaded kernels of sources on a device; missing ones are compiled in parallel.

    Parameters
    ----------
    device : Device
        A simulated one needs no code.
    sources : sequence of KernelSource

    Returns
    -------
    list of Loaded
        In the order of the sources.

    Raises
    ------
    CompilationError
        When a source is not what Numba CUDA can compile.
    """
    with _lock:
        missing = {each.symbol: each for each in sources if (device, each.symbol) not in _kernels}
        kernels = dict(zip(missing, _loads(device, list(missing.values())), strict=True))
        _kernels.update({(device, symbol): each.kernel for symbol, each in kernels.items()})
        return [
            kernels.pop(each.symbol, None) or Loaded(_kernels[device, each.symbol], "memory", 0.0) for each in sources
        ]


def _loads(device: Device, sources: Sequence[KernelSource]) -> list[Loaded]:
    if not sources:
        return []
    if device.simulated:
        names = {"np": np, **intrinsics.simulated()}
        loads = [_timed(lambda each=each: device.load(each, names=names)) for each in sources]
        return [Loaded(kernel, "compiled", ms) for kernel, ms in loads]
    result = []
    for source, (code, origin, ms) in zip(sources, codes(sources, device.arch), strict=True):
        kernel, more = _timed(lambda source=source, code=code: device.load(source, code))
        result.append(Loaded(kernel, origin, ms + more))
    return result


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """A function's result, and the milliseconds it took."""
    start = time.perf_counter()
    return work(), (time.perf_counter() - start) * 1e3


def codes(sources: Sequence[KernelSource], arch: str) -> list[DeviceCode]:
    """The machine code of sources; each is compiled at most once in a process and, with the disk cache, on a machine.

    Parameters
    ----------
    sources : sequence of KernelSource
    arch : str
        Such as ``"sm_90"``.

    Returns
    -------
    list of Code
        In the order of the sources.
    """
    with _lock:
        by_symbol: dict[str, DeviceCode] = {}
        missing: dict[str, KernelSource] = {}
        for symbol, source in {each.symbol: each for each in sources}.items():
            code = _kept(source, arch)
            if code is not None:
                by_symbol[symbol] = code
            else:
                missing[symbol] = source
        for source, (code, ms) in zip(missing.values(), _compiled(list(missing.values()), arch), strict=True):
            _keep(source, arch, code)
            disk_cache.write(_file(source, arch), code)
            by_symbol[source.symbol] = DeviceCode(code, "compiled", ms)
        return [by_symbol[source.symbol] for source in sources]


def _kept(source: KernelSource, arch: str) -> DeviceCode | None:
    code = _codes.get((source.symbol, arch))
    if code is not None:
        return DeviceCode(code, "memory", 0.0)
    code, ms = _timed(lambda: disk_cache.read(_file(source, arch)))
    if code is None:
        return None
    _keep(source, arch, code)
    return DeviceCode(code, "disk", ms)


def _keep(source: KernelSource, arch: str, code: bytes) -> None:
    key = source.symbol, arch
    _codes[key], _times[key] = code, time.time()


def whereabouts(source: KernelSource, arch: str) -> str:
    """Where the code of a source would come from: ``"memory"``, ``"disk"`` or ``"compiled"``."""
    if (source.symbol, arch) in _codes:
        return "memory"
    return "disk" if disk_cache.has(_file(source, arch)) else "compiled"


def in_memory() -> dict[tuple[str, str], tuple[int, float]]:
    """The code in memory, by symbol and architecture: its size, and when it was loaded."""
    with _lock:
        return {key: (len(code), _times[key]) for key, code in _codes.items()}


def forget() -> int:
    """Drop code from memory so that it is looked up on disk again; kernels in use stay. The number dropped."""
    with _lock:
        count = len(_codes)
        _codes.clear()
        _times.clear()
        _texts.clear()
        _kernels.clear()
        return count


def _file(source: KernelSource, arch: str) -> str:
    return f"{source.symbol}_{arch}_{_toolchain()}"


@functools.cache
def _toolchain() -> str:
    """Everything besides the source that decides the machine code: versions of tools and our own sources."""
    packages = Path(importlib.util.find_spec("numba_cuda").origin).parents[1]
    versions = sorted(
        path.name
        for name in ("numba_cuda-", "numba-", "cuda_bindings-", "nvidia_cuda_nvcc", "nvidia_nvvm", "nvidia_nvjitlink")
        for path in packages.glob(f"{name}*.dist-info")
    )
    own = [Path(__file__).with_name(f"{name}.py").read_bytes() for name in _OWN]
    return hashlib.sha256(b"\n".join(["\n".join(versions).encode(), *own])).hexdigest()[:12]


def _compiled(sources: Sequence[KernelSource], arch: str) -> list[tuple[bytes, float]]:
    if len(sources) < 2:
        return [compile_one(source, arch) for source in sources]
    # nvJitLink gives the interpreter free, Numba does not: one links while the other compiles.
    with ThreadPoolExecutor(1) as linker:

        def begin(source: KernelSource, arch: str) -> Future[tuple[bytes, float]]:
            text, ms = _timed(lambda: ptx_here(source, arch))

            def link() -> tuple[bytes, float]:
                code, more = _timed(lambda: linked(text, source.symbol, arch))
                return code, ms + more

            return linker.submit(link)

        return worker_pool.compiled(sources, arch, begin)


def compile_one(source: KernelSource, arch: str) -> tuple[bytes, float]:
    """The cubin of a source, compiled in this process, and the milliseconds.

    Parameters
    ----------
    source : KernelSource
    arch : str

    Returns
    -------
    code : bytes
    ms : float
    """
    return _timed(lambda: linked(ptx_here(source, arch), source.symbol, arch))


def ptx(source: KernelSource, arch: str) -> str:
    """The PTX of a source, for people and for :func:`linked`; compiled once a process, whatever is on disk.

    Parameters
    ----------
    source : KernelSource
    arch : str
        Such as ``"sm_90"``.

    Returns
    -------
    str
    """
    with _lock:
        if (source.symbol, arch) not in _texts:
            # Where the simulator was asked for, Numba has no compiler in this process.
            text = worker_pool.ptx(source, arch) if availability.simulating() else ptx_here(source, arch)
            _texts[source.symbol, arch] = text
        return _texts[source.symbol, arch]


def linked(text: str, symbol: str, arch: str) -> bytes:
    """The cubin of PTX.

    Parameters
    ----------
    text : str
    symbol : str
        What messages call it.
    arch : str

    Returns
    -------
    bytes

    Raises
    ------
    CompilationError
        When nvJitLink refuses it.
    """
    from cuda.bindings import nvjitlink

    data = text.encode()
    with _linking:
        return _linked(nvjitlink, data, symbol, arch)


def _linked(nvjitlink: ModuleType, data: bytes, symbol: str, arch: str) -> bytes:
    handle = nvjitlink.create(1, [f"-arch={arch}"])
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), symbol)
        nvjitlink.complete(handle)
        code = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, code)
    except nvjitlink.nvJitLinkError as error:
        log = bytearray(nvjitlink.get_error_log_size(handle))
        nvjitlink.get_error_log(handle, log)
        lines = log.decode(errors="replace").strip("\0\n").splitlines()[:8]
        raise CompilationError(message(f"the PTX of {symbol} does not link for {arch}: {error}", *lines)) from error
    finally:
        nvjitlink.destroy(handle)
    return bytes(code)
