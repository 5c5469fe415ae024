"""The compiler ``numba_cpu``: a graph becomes one native program over cached kernels."""

from __future__ import annotations

import functools
import time

from nxkernel import apart
from nxkernel.compilers.numba_cpu import host, libraries, recorded, runtime, store
from nxkernel.compilers.numba_cpu.executable import CpuExecutable, Layout, Native, Program
from nxkernel.graph.expr import Graph

# What makes plans is imported where a plan is made: a process that finds its programs on disk starts sooner.


class NumbaCpu:
    """Compiles graphs for the processor at hand."""

    name = "numba_cpu"

    def compile(self, graph: Graph) -> CpuExecutable:
        """A native program for a graph that has been simplified."""
        begin = time.perf_counter()
        name = recorded.name_of(graph)
        found = None if name is None else _found(graph, name, begin)
        if found is not None:
            return found
        apart.load("nxkernel.compilers.numba_cpu.planning")
        from nxkernel.compilers.numba_cpu import planning, program

        planning.check(graph)
        laid = planning.plan_of(graph)
        text = program.write(laid, len(graph.parameters), graph.updates)
        lowered = time.perf_counter()
        kernels, uses = planning.records(laid, text.symbol)
        begun = time.perf_counter()
        linked = text.named(uses)
        made = store.native(text.symbol, lambda: text.text, lambda: _needs(text), loops=text.loops, uses=linked)
        code = Native(*made, 1e3 * (time.perf_counter() - begun), uses)
        arrays = [(node.shape, str(node.type)) for node in laid.arrays]
        layout = Layout(arrays, laid.workspace, laid.outputs)
        if name is not None:
            recorded.write(name, text, layout, kernels)
        done = time.perf_counter()
        spent = 1e3 * (lowered - begin), 1e3 * (done - lowered)
        return CpuExecutable(graph, text, layout, code, kernels, *spent, lambda: laid)


def _found(graph: Graph, name: str, begin: float) -> CpuExecutable | None:
    """The program of a graph as it is on disk."""
    found = recorded.read(name)
    if found is None:
        return None
    read = time.perf_counter()

    @functools.cache
    def plan():
        from nxkernel.compilers.numba_cpu import planning

        return planning.plan_of(graph)

    @functools.cache
    def records():
        from nxkernel.compilers.numba_cpu import planning

        return planning.records(plan(), found.text.symbol)[0]

    loaded = found.kernels(lambda number: records()[number])
    if loaded is None:
        return None
    kernels, uses = loaded
    begun = time.perf_counter()
    kept = store.kept(found.text.symbol, lambda: _needs(found.text), found.text.named(uses))
    if kept is None:
        return None
    code = Native(*kept, 1e3 * (time.perf_counter() - begun), uses)
    spent = 1e3 * (read - begin), 1e3 * (time.perf_counter() - read)
    return CpuExecutable(graph, found.text, found.layout, code, kernels, *spent, plan)


def _needs(text: Program) -> None:
    runtime.prepare()
    if text.calls:
        host.provide()
    for type_ in text.libraries:
        libraries.provide(type_)
