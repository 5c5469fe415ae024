"""Programs of ``numba_cpu`` interpreted: their plans, step by step, on memory that knows who touches it.

An interpreted program does what the native one does, from the same plan. On its way errors are raised

* where two turns of a loop that may be spread over threads touch one element, and one of them writes it (`races`);
* where steps of a kernel, or elements of a vector, touch what others of them write (`nests`);
* where something is read or written outside of the value that it belongs to, or read that nobody wrote (`memory`);
* where a step leaves in memory something else than what its nodes mean (`checking`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import numpy as np

import nxkernel as nx
from nxkernel.compilers import registry
from nxkernel.compilers.interface import Clock, Executable, KernelRecord
from nxkernel.compilers.numba_cpu.compiler import NumbaCpu
from nxkernel.compilers.numba_cpu.program import graph_compilation
from nxkernel.compilers.numba_cpu.program.kernel_clocks import NativeClock
from nxkernel.compilers.numba_cpu.program.parallel_loops import can_be_parallel
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.nested_plans import all_plans, open_loop
from nxkernel.compilers.plan.program_plan import Control
from nxkernel.graph.expr import Expr, Graph

from .checking import MeaningError
from .memory import Block, Memory, OutOfBoundsError, UnwrittenError, whole
from .nests import DisorderError
from .plans import Scope
from .races import OverlapError

__all__ = [
    "DisorderError", "Interpreter", "MeaningError", "OutOfBoundsError", "OverlapError", "UnwrittenError",
    "interpreter", "spread_loops",
]  # fmt: skip


class Interpreter(NumbaCpu):
    """The compiler whose programs are interpreted plans."""

    name = "numba_cpu"

    def compile(self, graph: Graph) -> Interpreted:
        """The program of a graph."""
        graph_compilation.check(graph)
        return Interpreted(graph)


class Interpreted(Executable):
    """A plan that is interpreted when it is run."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.plan = graph, graph_compilation.plan_of(graph)
        self.kernels: list[KernelRecord] = []

    def clock(self) -> Clock:
        """That of the native program."""
        return NativeClock(self)

    def open_loop(self) -> Expr | None:
        """As the plan tells it."""
        return open_loop(self.plan)

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs for one array a parameter."""
        plan, graph = self.plan, self.graph
        names = [parameter.params["name"] for parameter in graph.parameters]
        inputs = [Block(array.nbytes, f"the array {name}", array) for name, array in zip(names, arrays, strict=True)]
        outputs = [Block(bytes_of(array), "a result") for array in plan.arrays]
        work = Block(plan.workspace, "the workspace")

        def given(block: Block, size: int):
            return lambda: whole(block, size)

        memory = Memory()
        scope = Scope(
            memory,
            plan,
            [given(block, array.nbytes) for block, array in zip(inputs, arrays, strict=True)],
            [given(block, bytes_of(array)) for block, array in zip(outputs, plan.arrays, strict=True)],
            given(work, plan.workspace),
        )
        scope.run()
        for place, number in graph.updates:
            if plan.outputs[number] != Location.input(place):
                memory.copy(scope.inputs[place](), scope.at(plan.outputs[number]), graph.parameters[place], "an update")
        found = []
        for where, node in zip(plan.outputs, graph.outputs, strict=True):
            block = scope.at(where).block
            count = bytes_of(node) // node.type.size
            found.append(block.elements(node.type.dtype)[:count].reshape(node.shape).copy())
        for place, _ in graph.updates:
            dtype = arrays[place].dtype
            arrays[place][...] = inputs[place].elements(dtype)[: arrays[place].size].reshape(arrays[place].shape)
        return found


@contextlib.contextmanager
def interpreter(name: str = "interpreted") -> Iterator[str]:
    """Have a compiler of that name interpret plans meanwhile; gives the name."""
    kept = registry._registry.get(name), registry._made.pop(name, None)
    registry.register(name, Interpreter)
    try:
        yield name
    finally:
        for table, before in zip((registry._registry, registry._made), kept, strict=True):
            table.pop(name, None)
            if before is not None:
                table[name] = before


def spread_loops(definition: nx.defn) -> list[Control]:
    """The loops of a definition's newest program whose turns may run on any thread."""
    program = max(definition._entry_group.programs(), key=lambda program: program.made)
    plans = all_plans(program.executable.plan)
    return [loop for plan in plans for loop in plan.controls.values() if loop.independence and can_be_parallel(loop)]
