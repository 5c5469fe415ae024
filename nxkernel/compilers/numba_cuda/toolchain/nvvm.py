"""Kernel source to PTX by NVVM: the only module that makes Numba CUDA compile.

Numba CUDA's own front end takes 130 to 1,100 ms for kernels that are here translated and compiled in 17 to 50 ms.
"""

from __future__ import annotations

import re
from types import ModuleType
from typing import TYPE_CHECKING

from nxkernel import fork_safety
from nxkernel.backends.cuda.launching import pointers
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelSource
from nxkernel.errors import CompilationError, message

if TYPE_CHECKING:
    from llvmlite import ir

_ARCH = re.compile(r"sm_(\d+)(\d)[af]?")
_native = fork_safety.rlock()
fork_safety.across(lambda: [_native])


def ptx_here(source: KernelSource, arch: str) -> str:
    """The PTX of a source, compiled in this process.

    Parameters
    ----------
    source : KernelSource
    arch : str
        Such as ``"sm_90"``.

    Returns
    -------
    str

    Raises
    ------
    CompilationError
        When a source is not what kernels are written in, or the compiler refuses it.
    """
    from cuda.bindings.nvvm import nvvmError
    from numba.cuda.cudadrv import nvvm

    fork_safety.check()
    major, minor = capability(arch)
    try:
        text = str(module(source, (major, minor)))
        with _native:
            compiled = nvvm.compile_ir(text, arch=f"compute_{major}{minor}", opt=3)
    except (_translation().TranslationError, nvvmError) as error:
        hints = [line.strip() for line in str(error).splitlines() if line.strip()][:8]
        raise CompilationError(message(f"the kernel {source.name} does not compile for {arch}.", *hints)) from error
    return compiled.decode().strip("\0").strip()


def _translation() -> ModuleType:
    """The translator module; it imports Numba CUDA."""
    from nxkernel.compilers.numba_cuda.toolchain import python_to_llvm

    return python_to_llvm


def module(source: KernelSource, compute_capability: tuple[int, int]) -> ir.Module:
    """The LLVM module of a kernel, in the form that NVVM takes.

    Parameters
    ----------
    source : KernelSource
    compute_capability : (int, int)
        Of the processor that it is for.

    Returns
    -------
    llvmlite.ir.Module
    """
    from llvmlite import ir
    from numba.cuda.compiler import CUDAFlags
    from numba.cuda.core import targetconfig  # pyright: ignore[reportMissingImports]  found by a hook of numba-cuda
    from numba.cuda.cudadrv import nvvm

    pointers(source.parameters)
    translated = ir.Module(source.symbol)
    translated.triple, translated.data_layout = "nvptx64-nvidia-cuda", nvvm.NVVM().data_layout
    nvvm.add_ir_version(translated)
    flags = CUDAFlags()
    flags.compute_capability = compute_capability
    # Intrinsics ask there for which processor they write.
    with targetconfig.ConfigStack().enter(flags):
        function = _translation().translate(source.text, source.name, source.symbol, source.parameters, translated)
    nvvm.set_cuda_kernel(function)
    return translated


def capability(arch: str) -> tuple[int, int]:
    """The compute capability (major, minor) of an architecture name.

    Examples
    --------
    >>> capability("sm_90"), capability("sm_120")
    ((9, 0), (12, 0))
    """
    match = _ARCH.fullmatch(arch)
    if match is None:
        raise ValueError(f"{arch!r} is no architecture: they are sm_80, sm_90 and so on")
    return int(match[1]), int(match[2])
