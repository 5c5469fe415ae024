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

#: For loops and branches: the parameters that hold graphs, and the number of operands before those of the graphs.
PARTS = {p.while_: (("condition", "body"), 0), p.cond: (("then", "otherwise"), 1)}


def names_of(graph: Graph) -> dict[Expr, str]:
    """The names of nodes in the printed graph."""
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
        Type and shape as text, for nodes where these differ from the node's own.
    kernels : sequence of KernelRecord, optional
        The kernels of the compiled program.
    within : str, optional
        A prefix for the names, in the graph of a loop's or branch's part.

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
    """A name for a node; constants, which are printed without one, get a number."""
    return names.get(node) or f"constant {id(node)}"


def table(rows: Sequence[tuple[str, str]]) -> Iterable[str]:
    """Rows of two columns as aligned lines."""
    width = column(left for left, _ in rows)
    return (f"{left:{width}}   {right}".rstrip() for left, right in rows)


def _kernels_of(kernels: Sequence[KernelRecord], order: Sequence[Expr]) -> dict[Expr, tuple[int, ...]]:
    """The kernels that compute each node; free nodes go with those that read them, or with their operand."""
    kernels_of: dict[Expr, set[int]] = {node: set() for node in order}
    readers: dict[Expr, list[Expr]] = {node: [] for node in order}
    for node in order:
        for operand in node.operands:
            readers[operand].append(node)
    for number, kernel in enumerate(kernels):
        for node in kernel.nodes:
            if node in kernels_of and node.primitive.family != "leaf":
                kernels_of[node].add(number)
    for node in reversed(order):
        if not kernels_of[node] and node.primitive.family in ("creation", "shape"):
            kernels_of[node].update(*(kernels_of[reader] for reader in readers[node]))
    for node in order:
        if not kernels_of[node] and node.primitive.family in ("tuple", "shape"):
            kernels_of[node].update(*(kernels_of[operand] for operand in node.operands))
    return {node: tuple(sorted(numbers)) for node, numbers in kernels_of.items()}


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
    """The graphs of a loop's or branch's functions, with names that begin with the node's."""
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
