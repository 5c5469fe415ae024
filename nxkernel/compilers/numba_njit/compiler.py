"""The compiler ``numba``: a graph becomes one Python source, which ``numba.njit`` compiles."""

from __future__ import annotations

import time

from nxkernel import compile_thread, passes
from nxkernel.compilers.interface import CodeInMemory, Compiler, KernelRecord
from nxkernel.compilers.numba_njit import executable, module_source
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Graph


class Numba(Compiler):
    """The compiler of Numba's: slower to compile than our own, and independent of its code."""

    name = "numba"

    def compile(self, graph: Graph) -> executable.NumbaExecutable:
        """Compile a simplified graph by ``numba.njit``."""
        begin = time.perf_counter()
        source = module_source.source_of(graph)
        written = time.perf_counter()
        origin = _whereabouts(source)
        _, njit = passes.ON_PROGRAMS[self.name]
        compiled = njit(source, graph)
        done = time.perf_counter()
        return executable.NumbaExecutable(graph, compiled, origin, 1e3 * (written - begin), 1e3 * (done - written))

    def foresee(self, graph: Graph) -> list[KernelRecord]:
        """The one function that compiling a graph would need."""
        source = module_source.source_of(graph)
        return [executable.record_of(source, graph, None, _whereabouts(source))]

    def warm_up(self) -> None:
        """Import Numba, which takes most of a second."""
        compile_thread.load("numba")

    def processors(self) -> int:
        """The number of processors that Numba runs loops on."""
        from numba.core import config

        return config.NUMBA_NUM_THREADS

    def get_threads(self) -> int:
        """The most threads that a loop runs on."""
        import numba

        return numba.get_num_threads()

    def set_threads(self, count: int) -> None:
        """Run loops on at most `count` threads from now on."""
        import numba
        from numba.core import config

        if not 1 <= count <= config.NUMBA_NUM_THREADS:
            most = config.NUMBA_NUM_THREADS
            raise NxValueError(message(f"Numba has {most} threads, got {count}.", "NUMBA_NUM_THREADS sets how many."))
        numba.set_num_threads(count)

    def code_in_memory(self) -> list[CodeInMemory]:
        """The programs that have been compiled in this process."""
        return [CodeInMemory("program", each.size, each.loaded) for each in executable.known().values()]

    def forget_code(self) -> int:
        """Release the programs; those that are in use stay with their definitions."""
        count = len(executable.known())
        executable.known().clear()
        return count


def _whereabouts(source: module_source.ModuleSource) -> str:
    return "memory" if executable.symbol_of(source) in executable.known() else "compiled"
