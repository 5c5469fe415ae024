"""The compiler ``numba_cuda``: a graph becomes kernels for a GPU, and what the host has to do to launch them."""

from __future__ import annotations

import time

from nxkernel.compilers.numba_cuda.program import graph_compilation
from nxkernel.compilers.numba_cuda.program.executable import CudaExecutable
from nxkernel.graph.expr import Graph


class NumbaCuda:
    """Compiles graphs for the GPUs at hand.

    Parameters
    ----------
    which : int
        The device that programs run on unless an argument is on another one.
    """

    def __init__(self, which: int = 0) -> None:
        self.which = which

    @property
    def name(self) -> str:
        """What it is called; its number is left out for the first device."""
        return f"numba_cuda:{self.which}" if self.which else "numba_cuda"

    def compile(self, graph: Graph) -> CudaExecutable:
        """A program for a graph that has been simplified.

        Raises
        ------
        CudaUnavailableError
            Where there is no GPU that can be used.
        """
        from nxkernel.backends.cuda.devices import device

        on = device(self.which)
        begin = time.perf_counter()
        graph_compilation.check(graph)
        plan = graph_compilation.plan_of(graph)
        planned = 1e3 * (time.perf_counter() - begin)
        executable = CudaExecutable(graph, plan, on)
        executable.lower_ms += planned
        return executable
