"""The compiler ``numba_cpu``: a graph becomes one native program over cached kernels."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable
from types import ModuleType

from nxkernel import compile_thread, passes
from nxkernel.compilers.cache import disk_cache
from nxkernel.compilers.interface import CodeInMemory, Compiler, KernelRecord
from nxkernel.compilers.numba_cpu.program import saved_programs
from nxkernel.compilers.numba_cpu.program.executable import CpuExecutable, Layout, Native
from nxkernel.compilers.numba_cpu.runtime import (
    code_store,
    code_version,
    threading_layer,
)
from nxkernel.graph.expr import Graph


def _planning() -> tuple[ModuleType, ModuleType]:
    """The planner and program writer, imported late: a process that finds its programs on disk starts faster."""
    compile_thread.load("nxkernel.compilers.numba_cpu.program.compilation")
    from nxkernel.compilers.numba_cpu.program import compilation, graph_compilation

    return compilation, graph_compilation


class NumbaCpu(Compiler):
    """The compiler for the processor at hand."""

    name = "numba_cpu"
    without_kernels = "loops and choices alone", "all that it computes is in the loops and choices of the program"

    def compile(self, graph: Graph) -> CpuExecutable:
        """Compile a simplified graph to a native program."""
        begin = time.perf_counter()
        name = saved_programs.name_of(graph)
        saved = None if name is None else _saved_program(graph, name, begin)
        if saved is not None:
            return saved
        compilation, graph_compilation = _planning()
        graph_compilation.legal(graph)
        compilation_ = compilation.Compilation(graph, graph_compilation.plan_of(graph))
        for each in passes.ON_PROGRAMS[self.name]:
            each(compilation_)
        plan, text = compilation_.plan, compilation_.text
        arrays = [(node.shape, str(node.type)) for node in plan.arrays]
        layout = Layout(arrays, plan.workspace, plan.outputs)
        if name is not None:
            saved_programs.write(name, text, layout, compilation_.kernels)
        done = time.perf_counter()
        spent = 1e3 * (compilation_.lowered - begin), 1e3 * (done - compilation_.lowered)
        return CpuExecutable(graph, text, layout, compilation_.code, compilation_.kernels, *spent, lambda: plan)

    def foresee(self, graph: Graph) -> list[KernelRecord]:
        """The kernels that compiling a graph would need, followed by its own loops and branches, if any."""
        return _planning()[1].foresee(graph)

    def warm_up(self) -> None:
        """Import what takes a tenth of a second, so that the first call does not have to."""
        from nxkernel.compilers.numba_cpu.codegen import object_code  # noqa: F401

        _planning()

    def processors(self) -> int:
        """The number of processors that this process may use."""
        return threading_layer.available()

    def get_threads(self) -> int:
        """See :func:`nxkernel.get_threads`."""
        return threading_layer.get_threads()

    def set_threads(self, count: int) -> None:
        """See :func:`nxkernel.set_threads`."""
        threading_layer.set_threads(count)

    def threads_by(self) -> str:
        """What says how many threads there are."""
        return threading_layer.source()

    def code_in_memory(self) -> list[CodeInMemory]:
        """The loaded code: kernels, programs, and shared functions such as the thread pool."""
        return [CodeInMemory(_kind(name), *each) for name, each in code_store.loaded().items()]

    def forget_code(self) -> int:
        """Release code that is not in use, so that later programs are loaded from disk again."""
        return code_store.forget()

    def code_version(self) -> Iterable[bytes]:
        """The processor, tool versions and sources of ours that decide what object code means."""
        return code_version.parts()


def _kind(name: str) -> str:
    return "kernel" if disk_cache.is_kernel(name) else "program" if disk_cache.is_program(name) else "shared"


def _saved_program(graph: Graph, name: str, begin: float) -> CpuExecutable | None:
    """The program of a graph, loaded from disk; None if it is not there."""
    saved = saved_programs.read(name)
    if saved is None:
        return None
    read = time.perf_counter()

    @functools.cache
    def plan():
        return _planning()[1].plan_of(graph)

    @functools.cache
    def records():
        return _planning()[1].records(plan(), saved.text.symbol)[0]

    loaded = saved.kernels(lambda number: records()[number])
    if loaded is None:
        return None
    kernels, uses = loaded
    begun = time.perf_counter()
    kept = code_store.kept(saved.text.symbol, saved.text.define_symbols, saved.text.named(uses))
    if kept is None:
        return None
    code = Native(*kept, 1e3 * (time.perf_counter() - begun), uses)
    spent = 1e3 * (read - begin), 1e3 * (time.perf_counter() - read)
    return CpuExecutable(graph, saved.text, saved.layout, code, kernels, *spent, plan)
