"""The compiler ``numba_cuda``: a graph becomes GPU kernels, and a host program that launches them."""

from __future__ import annotations

import time

from nxkernel.backends.cuda import devices
from nxkernel.compilers.interface import CodeInMemory, Compiler, KernelRecord
from nxkernel.compilers.numba_cuda.program import graph_compilation
from nxkernel.compilers.numba_cuda.program.executable import CudaExecutable
from nxkernel.compilers.numba_cuda.toolchain import object_code
from nxkernel.graph.expr import Graph


class NumbaCuda(Compiler):
    """The compiler for one GPU.

    Parameters
    ----------
    which : int
        The device that programs run on unless an argument is on another one.
    """

    on_devices = True
    without_kernels = "loops and choices alone", "all that it computes is in the loops and choices of the program"

    def __init__(self, which: int = 0) -> None:
        self.which = which

    @property
    def name(self) -> str:
        """The compiler's name, with the device's number unless that is 0."""
        return f"numba_cuda:{self.which}" if self.which else "numba_cuda"

    def compile(self, graph: Graph) -> CudaExecutable:
        """Compile a simplified graph to a program for the device.

        Raises
        ------
        CudaUnavailableError
            Where there is no GPU that can be used.
        """
        on = devices.device(self.which)
        begin = time.perf_counter()
        graph_compilation.legal(graph)
        plan = graph_compilation.plan_of(graph)
        planned = 1e3 * (time.perf_counter() - begin)
        executable = CudaExecutable(graph, plan, on)
        executable.lower_ms += planned
        return executable

    def foresee(self, graph: Graph) -> list[KernelRecord]:
        """The kernels that compiling a graph would need."""
        return graph_compilation.foresee(graph)

    def for_device(self, number: int) -> NumbaCuda:
        """The compiler for another device by its number."""
        return NumbaCuda(number)

    def code_in_memory(self) -> list[CodeInMemory]:
        """The machine code of kernels."""
        return [CodeInMemory("kernel", *each) for each in object_code.in_memory().values()]

    def forget_code(self) -> int:
        """Drop code from memory, so that later programs are loaded from disk again."""
        return object_code.forget()
