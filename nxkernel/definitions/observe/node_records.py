"""Nodes of a graph as data for display: their names, types, lines, and the functions that are part of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nxkernel import primitives as p
from nxkernel.compilers.interface import KernelRecord
from nxkernel.definitions.keys import source_locations
from nxkernel.definitions.observe import node_costs
from nxkernel.definitions.observe.compilation_report import NodeView, PartView
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.printing import body_steps, column, constant_text, static_text, variable_names
from nxkernel.graph.traverse import post_order

#: Of loops and branches, the functions that are part of them and how many operands come before those that these take.
PARTS = {p.while_: (("condition", "body"), 0), p.cond: (("then", "otherwise"), 1)}


def names_of(graph: Graph) -> dict[Expr, str]:
    """The names of the printed graph."""
    return variable_names(post_order([*graph.outputs, *graph.parameters]))


def node_views(
    graph: Graph,
    specs: Mapping[Expr, str] | None = None,
    kernels: Sequence[KernelRecord] = (),
    within: str = "",
) -> tuple[NodeView, ...]:
    """The nodes of a graph for display, parameters first, operands before their users.

    Parameters
    ----------
    graph : Graph
    specs : mapping, optional
        Type and shape as text, of nodes for which they are not those of the node.
    kernels : sequence of KernelRecord, optional
        Of the compiled program.
    within : str, optional
        What their names begin with, for the graph of a part of a node.

    Returns
    -------
    tuple of NodeView
    """
    names = {node: within + name for node, name in names_of(graph).items()}
    order = post_order([*graph.parameters, *graph.outputs])
    kernels_of = _kernels_of(kernels, order)
    outputs, specs = set(map(id, graph.outputs)), specs or {}
    return tuple(
        _node(node, names, specs.get(node, _spec(node)), kernels_of.get(node, ()), id(node) in outputs, kernels)
        for node in order
    )


def identity(node: Expr, names: Mapping[Expr, str]) -> str:
    """The name of a node; constants, which are printed without one, have a number."""
    return names.get(node) or f"constant {id(node)}"


def table(rows: Sequence[tuple[str, str]]) -> Iterable[str]:
    """Rows of two columns as lines."""
    width = column(left for left, _ in rows)
    return (f"{left:{width}}   {right}".rstrip() for left, right in rows)


def _kernels_of(kernels: Sequence[KernelRecord], order: Sequence[Expr]) -> dict[Expr, tuple[int, ...]]:
    """Which kernels compute each node; what needs no work of its own stands with those that read it, or its operand."""
    found: dict[Expr, set[int]] = {node: set() for node in order}
    readers: dict[Expr, list[Expr]] = {node: [] for node in order}
    for node in order:
        for operand in node.operands:
            readers[operand].append(node)
    for number, kernel in enumerate(kernels):
        for node in kernel.nodes:
            if node in found and node.primitive.family != "leaf":
                found[node].add(number)
    for node in reversed(order):
        if not found[node] and node.primitive.family in ("creation", "shape"):
            found[node].update(*(found[reader] for reader in readers[node]))
    for node in order:
        if not found[node] and node.primitive.family in ("tuple", "shape"):
            found[node].update(*(found[operand] for operand in node.operands))
    return {node: tuple(sorted(numbers)) for node, numbers in found.items()}


def _spec(node: Expr) -> str:
    return f"({', '.join(map(str, node.spec))})" if type(node.spec) is tuple else str(node.spec)


def _node(
    node: Expr,
    names: Mapping[Expr, str],
    spec: str,
    kernels: tuple[int, ...],
    output: bool,
    records: Sequence[KernelRecord],
) -> NodeView:
    source = node.source
    role, label, detail = "operation", node.primitive.name, static_text(node)
    if node.primitive is p.parameter:
        role = "captured" if node.params["captured"] else "argument"
        label, detail = node.params["name"], ""
    elif node.primitive is p.constant:
        role, label, detail = "constant", constant_text(node), ""
    return NodeView(
        id=identity(node, names),
        label=label,
        detail=detail,
        spec=spec,
        role=role,
        operands=tuple(identity(operand, names) for operand in node.operands),
        kernels=kernels,
        output=output,
        cell=source_locations.name_of(source.file) if source else "",
        line=source.line if source else 0,
        code=source_locations.code_at(source.file, source.line) if source else "",
        body=tuple(table(body_steps(node))),
        function=source.function if source else "",
        module=source.module if source else "",
        gradient=source.gradient if source else False,
        moved=node_costs.moved(node),
        operations=node_costs.operations(node),
        parts=tuple(_parts(node, names, records)),
    )


def _parts(node: Expr, names: Mapping[Expr, str], records: Sequence[KernelRecord]) -> Iterable[PartView]:
    """The functions of a loop or a branch, as graphs whose names begin with that of the node."""
    parts, skipped = PARTS.get(node.primitive, ((), 0))
    for part in parts:
        graph, within = node.params[part], f"{identity(node, names)}.{part}."
        own = {inner: within + name for inner, name in names_of(graph).items()}
        yield PartView(
            part,
            node_views(graph, kernels=records, within=within),
            {
                own[parameter]: identity(operand, names)
                for parameter, operand in zip(graph.parameters, node.operands[skipped:], strict=True)
            },
            tuple(identity(output, own) for output in graph.outputs),
        )
