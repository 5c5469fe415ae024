"""A compilation in progress: plan, program text, kernels and native code, as passes add them."""

from __future__ import annotations

import time

from nxkernel.compilers.interface import KernelRecord
from nxkernel.compilers.numba_cpu.program import graph_compilation, program_writer
from nxkernel.compilers.numba_cpu.program.executable import Native, NativeProgram
from nxkernel.compilers.numba_cpu.runtime import code_store
from nxkernel.compilers.numba_cpu.runtime.loader import LoadedCode
from nxkernel.compilers.plan.program_plan import ProgramPlan
from nxkernel.graph.expr import Graph


class Compilation:
    """A compilation in progress; each pass adds its result.

    Parameters
    ----------
    graph : Graph
    plan : ProgramPlan

    Attributes
    ----------
    text : NativeProgram
        The function that strings the kernels together.
    lowered : float
        When that was written, in seconds as of :func:`time.perf_counter`.
    kernels : list of KernelRecord
    uses : dict
        The native code of kernels by their names.
    code : Native
        The program's.
    """

    text: NativeProgram
    lowered: float
    kernels: list[KernelRecord]
    uses: dict[str, LoadedCode]
    code: Native

    def __init__(self, graph: Graph, plan: ProgramPlan) -> None:
        self.graph, self.plan = graph, plan

    def write_program(self) -> None:
        """Write the program's LLVM IR."""
        self.text = program_writer.write(self.plan, len(self.graph.parameters), self.graph.updates)
        self.lowered = time.perf_counter()

    def load_kernels(self) -> None:
        """Load the native code of the kernels."""
        self.kernels, self.uses = graph_compilation.records(self.plan, self.text.symbol)

    def link_program(self) -> None:
        """Load the native code of the program, with the addresses of its kernels."""
        text, begun = self.text, time.perf_counter()
        linked = text.named(self.uses)
        code = code_store.native(text.symbol, lambda: text.text, text.define_symbols, loops=text.loops, uses=linked)
        self.code = Native(*code, 1e3 * (time.perf_counter() - begun), self.uses)
