"""Compiled programs as data for display. Who looks at one imports this; a call does without."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import numpy as np

from nxkernel import primitives as p
from nxkernel.compilers.display import opaque_operations
from nxkernel.compilers.interface import Executable, KernelRecord
from nxkernel.definitions.calls.graph_cache import CachedProgram
from nxkernel.definitions.keys.static_values import is_code
from nxkernel.definitions.observe import graph_stages, kernel_timing, launch_groups, numba_module, source_functions
from nxkernel.definitions.observe.compilation_report import CompilationView, KernelView, Measurement
from nxkernel.definitions.observe.key_changes import changes, is_type, lines
from nxkernel.definitions.observe.node_records import names_of, node_views
from nxkernel.graph.expr import Expr, Graph, node_with
from nxkernel.graph.printing import constant_text, print_graph
from nxkernel.operand import VectorizedSpec


def view(name: str, program: CachedProgram, inputs: Sequence[np.ndarray] | None = None) -> CompilationView:
    """A compiled program as data for display; with measured kernel times if inputs are given."""
    executable = program.executable
    graph = executable.graph
    values = list(map(node_with, graph.outputs, program.convention.specs))
    names = names_of(graph)
    kernels, group_of = launch_groups.joined(executable.kernels)
    launched = _launched(executable, group_of)

    def measure(arrays: Sequence[np.ndarray] | None = None) -> Measurement:
        return kernel_timing.grouped(kernel_timing.measured(executable, arrays), group_of)

    return CompilationView(
        function=name,
        signature=program.signature,
        compiler=program.compiler,
        reason=program.reason,
        rules=program.rules,
        nodes=node_views(graph, _vectorized(program, graph), kernels),
        kernels=tuple(_kernel(number, kernel, names, launched) for number, kernel in enumerate(kernels)),
        calls=program.calls,
        cell=program.where,
        text=print_graph(values, graph.parameters),
        trace_ms=program.trace_ms,
        lower_ms=executable.lower_ms,
        native_ms=executable.native_ms,
        baked=tuple(_baked(program)),
        key=program.parts,
        steps=functools.cache(lambda: graph_stages.views(graph)),
        # The lines of all that was traced, whatever of it is left.
        sources=lambda: source_functions.views(graph.traced or graph),
        module=lambda: numba_module.source_of(graph, program.convention),
        measure=measure,
        measurement=None if inputs is None else measure(inputs),
    )


def compared(one: CompilationView, other: CompilationView) -> tuple[str, ...]:
    """The differences between the cache keys of two compilations, as lines."""
    return lines(changes(one.key, other.key))


def _baked(program: CachedProgram) -> Iterable[str]:
    """The parts of a cache key that became constants: neither arrays, which are read at each call, nor code."""
    for what, (state, text) in program.parts.items():
        named = text.startswith(_NAMED) or (is_code(state) and not what.startswith("option "))
        if what not in ("compiler", "rules") and not is_type(text) and not named:
            yield f"{what} = {text}"


_NAMED = ("class ", "module ")


def _vectorized(program: CachedProgram, graph: Graph) -> dict[Expr, str]:
    """The specs of arguments, captured tensors and results that have vectorized axes, by node."""
    specs = {
        node: str(spec)
        for node, spec in zip(graph.outputs, program.convention.specs, strict=True)
        if type(spec) is VectorizedSpec
    }
    for node in graph.parameters:
        role = "captured" if node.params["captured"] else "argument"
        _, text = program.parts.get(f"{role} {node.params['name']}", (None, ""))
        if text.startswith("vectorized"):
            specs[node] = text
    return specs


def _launched(executable: Executable, group_of: Sequence[int]) -> dict[int, str]:
    """How a GPU launches each displayed kernel; for a group of launches, how it launches the first."""
    launched: dict[int, str] = {}
    for number, hint in sorted(executable.launches().items()):
        launched.setdefault(group_of[number], hint)
    return launched


def _kernel(number: int, kernel: KernelRecord, names: dict[Expr, str], launched: dict[int, str]) -> KernelView:
    texts = kernel.texts
    meaning = [text for node in kernel.nodes if (text := _in_numpy(node, names))]
    if meaning and "Numba source" not in texts:
        texts = {"NumPy": lambda: "\n".join(meaning), **texts}
    return KernelView(
        number, kernel.kind, kernel.title, kernel.symbol, kernel.origin, kernel.milliseconds, kernel.moved,
        kernel.operations, texts, launched.get(number, ""),
    )  # fmt: skip


def _in_numpy(node: Expr, names: dict[Expr, str]) -> str:
    """A library call (an opaque operation) as a NumPy statement with the graph's names; empty for other nodes."""
    operands = [constant_text(o) if o.primitive is p.constant else names.get(o, "x") for o in node.operands]
    text = opaque_operations.in_numpy(node, operands)
    return text and f"{names.get(node, 'y')} = {text}"
