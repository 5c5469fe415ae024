"""Walking a graph."""

from __future__ import annotations

from collections.abc import Iterable

from nxkernel.graph.expr import Expr


def post_order(outputs: Iterable[Expr]) -> list[Expr]:
    """Every node that the outputs need, operands before their users, each once.

    Iterative: chains of many thousand operations must not meet Python's recursion limit.
    """
    order: list[Expr] = []
    done: set[int] = set()
    for output in outputs:
        if id(output) in done:
            continue
        stack = [(output, iter(output.operands))]
        done.add(id(output))
        while stack:
            node, rest = stack[-1]
            for operand in rest:
                if id(operand) not in done:
                    done.add(id(operand))
                    stack.append((operand, iter(operand.operands)))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def users(nodes: Iterable[Expr]) -> dict[Expr, list[Expr]]:
    """For each node the nodes that read it, once for each time that they do."""
    table: dict[Expr, list[Expr]] = {}
    for node in nodes:
        table.setdefault(node, [])
        for operand in node.operands:
            table[operand].append(node)
    return table
