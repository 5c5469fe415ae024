"""Subgraphs: tracing a function into its own graph, and inlining a graph into the active trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.definitions.flow.control import checks
from nxkernel.definitions.keys import containers
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.tracing import BodyTrace, VectorizedValueError
from nxkernel.graph.traverse import post_order, replayed
from nxkernel.operand import Operand, entry_spec
from nxkernel.ops.machinery import axis_alignment
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.transforms.vectorize import vectorize


def traced(
    name: str, function: Callable[..., Any], inputs: Sequence[tuple[str, Spec]], refuse: Callable[[str, Any], Exception]
) -> tuple[Graph, list[Any], Any]:
    """Trace a function into a graph of its own.

    Parameters
    ----------
    name : str
        For messages.
    function : callable
        Called with one node for each input.
    inputs : sequence of (str, Spec)
    refuse : callable
        Makes the error for a part of the result that is no tensor, from its path and value.

    Returns
    -------
    Graph
        Its parameters are the inputs, and then the values that it uses from outside.
    list
        These values from outside.
    Any
        The structure of the result, whose leaves are the graph's outputs.

    Raises
    ------
    NxTypeError
        If it assigns into an array from outside.
    """
    with BodyTrace() as trace:
        trace.is_closed = True
        parameters = [trace.input(label, spec) for label, spec in inputs]
        leaves: list[tuple[str, Any]] = []
        structure = containers.flatten(function(*parameters), "the result", leaves, refuse)
        outputs = [trace.node(_entry(operand(leaf))) for _, leaf in leaves]
    if trace.written and all(map(checks.is_of_checks, trace.written)):
        raise NxTypeError(
            message(
                f"{name}: the function raises an error on a condition that only the running program knows.",
                "Check before: the function may be run for many entries, or again for its gradient.",
            )
        )
    if trace.written:
        changed = ", ".join(sorted(cell.name or "an array" for cell in trace.written))
        raise NxTypeError(
            message(
                f"{name}: the function assigns into an array from outside ({changed}).",
                "Return what is new instead: the function may be run for many entries, or again for its gradient.",
            )
        )
    outside = [tracing.current().read(cell) for cell in trace.entered]
    nodes = [*parameters, *trace.entered.values(), *trace.lifted]
    for position, node in enumerate(nodes):
        node.params["index"] = position
    return Graph(name, nodes, outputs, list), [*outside, *trace.captured], structure


def _entry(value: Operand) -> Operand:
    if value.vectorized_axes:
        raise VectorizedValueError(value.spec)
    return value


def placed(graph: Graph, values: Sequence[Any]) -> list[Operand]:
    """Inline a graph into the active trace: returns its results; entry by entry along vectorized axes."""
    values = [operand(value) for value in values]
    axes = axis_alignment.union(values)
    if not axes:
        return _recorded(graph, [tracing.current().node(value) for value in values])
    sizes = tuple(size for _, size in axes)
    flags = [bool(value.vectorized_axes) for value in values]
    nodes = [
        _flat(axis_alignment.aligned(value, axes), len(sizes), shapes.size(sizes))
        if flag
        else tracing.current().node(value)
        for value, flag in zip(values, flags, strict=True)
    ]
    batched = vectorize(graph, shapes.size(sizes), flags, [True] * len(graph.outputs)).graph
    results = []
    for node, old in zip(_recorded(batched, nodes), graph.outputs, strict=True):
        shape = (*sizes, *old.shape)
        wide = apply(p.reshape, node, shape=shape, names=(*unnamed(sizes), *old.names))
        results.append(axis_alignment.vectorized(wide, axes, entry_spec(old.spec)))
    return results


def _flat(node: Expr, count: int, size: int) -> Expr:
    shape, names = (size, *node.shape[count:]), (None, *node.names[count:])
    return apply(p.reshape, node, shape=shape, names=names)


def _recorded(graph: Graph, nodes: Sequence[Expr]) -> list[Expr]:
    values = dict(zip(graph.parameters, nodes, strict=True))
    # What nothing goes into is made here too, so that no other trace has to hand it on.
    for node in post_order(graph.outputs):
        if not node.operands and node.primitive is not p.parameter:
            values[node] = apply(node.primitive, **node.params)
    return replayed(graph.outputs, values)
