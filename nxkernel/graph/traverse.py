"""Traversal and rewriting of graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.primitives import elem


def post_order(
    outputs: Iterable[Expr], ends: Iterable[Expr] = (), replacing: Mapping[Expr, Expr] | None = None
) -> list[Expr]:
    """The nodes that outputs depend on in topological order, operands first.

    Iterative: chains of many thousand operations must not meet Python's recursion limit.

    Parameters
    ----------
    outputs : iterable of Expr
    ends : iterable of Expr, optional
        Nodes whose operands are not asked for.
    replacing : mapping, optional
        For nodes what is asked for in the place of their operands.
    """
    order: list[Expr] = []
    done: set[int] = set()
    operands_of = {id(node): (other,) for node, other in replacing.items()} if replacing else {}
    operands_of |= {id(node): () for node in ends}
    for output in outputs:
        if id(output) in done:
            continue
        stack = [(output, iter(operands_of.get(id(output), output.operands)))]
        done.add(id(output))
        while stack:
            node, rest = stack[-1]
            for operand in rest:
                if id(operand) not in done:
                    done.add(id(operand))
                    stack.append((operand, iter(operands_of.get(id(operand), operand.operands))))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def replayed(
    outputs: Sequence[Expr], values: Mapping[Expr, Expr], replacing: Mapping[Expr, Expr] | None = None
) -> list[Expr]:
    """Outputs with some nodes replaced; nodes that depend on them are recorded anew in the active trace.

    Parameters
    ----------
    outputs : sequence of Expr
    values : mapping
        For nodes what is to stand in their place.
    replacing : mapping, optional
        For nodes others that give the same, in which nodes are replaced, too.
    """
    new: dict[Expr, Expr | tuple[Expr, ...]] = dict(values)
    for node in post_order(outputs, values, replacing):
        if node in new:
            continue
        if replacing and node in replacing:
            new[node] = new[replacing[node]]
            continue
        if node.primitive is elem:
            tuple_node = new[node.operands[0]]
            new[node] = node if tuple_node is node.operands[0] else tuple_node[node.params["index"]]
            continue
        operands = tuple([new[operand] for operand in node.operands])
        if all(one is other for one, other in zip(operands, node.operands, strict=True)):
            new[node] = node
            continue
        with tracing.on_behalf(node.source):
            new[node] = tracing.current().record(node.primitive, operands, node.params)
    return [new[output] for output in outputs]


def users(nodes: Iterable[Expr]) -> dict[Expr, list[Expr]]:
    """For each node the nodes that read it, with repetition."""
    table: dict[Expr, list[Expr]] = {}
    for node in nodes:
        table.setdefault(node, [])
        for operand in node.operands:
            table[operand].append(node)
    return table
