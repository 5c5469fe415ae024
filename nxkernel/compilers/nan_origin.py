"""The origin of a NaN: a graph is run node by node and searched for the first operation whose result has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.backends.graph_evaluation import GraphWalk
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import post_order


@dataclass(frozen=True)
class Origin:
    """The operation that made a NaN, or the parameter that already had one.

    Parameters
    ----------
    node : Expr
        An operation whose operands have none, or a parameter of the graph.
    values : tuple of array
        Of the operands, or the parameter's own.
    around : tuple of (Expr, int)
        The loops and branches that it is in, from the outside, with the iteration from 0.
    """

    node: Expr
    values: tuple[Any, ...]
    around: tuple[tuple[Expr, int], ...] = ()


def origin(graph: Graph, arrays: Sequence[np.ndarray]) -> Origin | None:
    """The origin of the first NaN among the outputs of a graph; None if they have none."""
    values = _values(graph, arrays)
    for output in graph.outputs:
        if has_nan(values[id(output)]):
            return _followed(output, values)
    return None


def has_nan(value: Any) -> bool:
    """Whether an array, or one of several, contains a NaN."""
    if isinstance(value, tuple | list):
        return any(has_nan(one) for one in value)
    value = np.asarray(value)
    if value.dtype.kind == "f":
        # The smallest element is NaN where one is, and is found without an array of answers.
        return bool(value.size and np.isnan(np.min(value)))
    if value.dtype.kind == "c":
        return bool(np.isnan(value).any())
    # Narrow floats of ml_dtypes are of a kind of their own.
    return value.dtype.kind == "V" and bool(np.isnan(value.astype(np.float32)).any())


def _values(graph: Graph, arrays: Sequence[np.ndarray]) -> dict[int, Any]:
    """The value of each node, by the id of the node."""
    values: dict[int, Any] = {id(node): array for node, array in zip(graph.parameters, arrays, strict=True)}
    with np.errstate(all="ignore"):
        for node in post_order(graph.outputs):
            if node.primitive is p.constant:
                values[id(node)] = np.broadcast_to(cast_number(node.params["value"], node.type), node.shape)
            elif id(node) not in values:
                operands = [values[id(operand)] for operand in node.operands]
                values[id(node)] = MEANING[node.primitive](node.spec, *operands, **node.params)
    return values


def _followed(node: Expr, values: dict[int, Any]) -> Origin:
    """The origin of the NaN in a node's value, found by following operands that have one."""
    while True:
        part = None
        if node.primitive is p.elem:
            part, node = node.params["index"], node.operands[0]
        source = None
        if node.primitive in (p.while_, p.cond):
            source = _inside(node, part, values)
            if isinstance(source, Origin):
                return source
        before = source if source is not None else _source(node, values)
        if before is None:
            own = values[id(node)]
            operands = tuple(values[id(operand)] for operand in node.operands)
            return Origin(node, operands if node.operands else (own,))
        node = before


def _source(node: Expr, values: dict[int, Any]) -> Expr | None:
    """The operand that a NaN comes from; None if the node made it."""
    if node.primitive is p.select:
        predicate, *sides = node.operands
        chosen = np.asarray(values[id(predicate)]) != 0
        for side, where in zip(sides, (chosen, ~chosen), strict=True):
            if has_nan(np.asarray(values[id(side)])[where]):
                return side
    return next((operand for operand in node.operands if has_nan(values[id(operand)])), None)


def _inside(node: Expr, part: int | None, values: dict[int, Any]) -> Origin | Expr | None:
    """The origin of a NaN inside a loop or branch, or the operand that already had it."""
    arrays = [values[id(operand)] for operand in node.operands]
    results = values[id(node)]
    position = part if part is not None else next(n for n, one in enumerate(results) if has_nan(one))
    if node.primitive is p.cond:
        predicate, *captured = arrays
        branch = node.params["then"] if predicate else node.params["otherwise"]
        source = _within(branch, position, captured)
        return node.operands[source + 1] if isinstance(source, int) else _in(node, 0, source)
    body, state = node.params["body"], node.params["state"]
    limit = None
    while True:
        iteration, held = _iteration(node, arrays, position, limit)
        if iteration is None:
            return node.operands[position]
        source = _within(body, position, [*held, *arrays[state:]])
        if not isinstance(source, int):
            return _in(node, iteration, source)
        if source >= state:
            return node.operands[source]
        # It was in another part of the state already, which an earlier iteration made.
        position, limit = source, iteration


def _iteration(node: Expr, arrays: list[Any], position: int, limit: int | None) -> tuple[int | None, list[Any]]:
    """The iteration of a loop that put a NaN into a part of its state, and the state before it; None for the
    iteration where the state began with one.
    """
    condition, body, state = node.params["condition"], node.params["body"], node.params["state"]
    ask, walk = GraphWalk(condition), GraphWalk(body)
    held, around = list(arrays[:state]), arrays[state:]
    last: tuple[int | None, list[Any]] = (None, held)
    iteration, before = 0, has_nan(held[position])
    with np.errstate(all="ignore"):
        while (limit is None or iteration < limit) and ask.run([*held, *around])[0]:
            after = walk.run([*held, *around])
            now = has_nan(after[position])
            if now and not before:
                last = (iteration, held)
                if limit is None:
                    return last
            held, before, iteration = after, now, iteration + 1
    return last


def _within(graph: Graph, output: int, arrays: Sequence[Any]) -> Origin | int:
    """The origin of the NaN in one output of a body, or the position of the parameter that already had it."""
    values = _values(graph, arrays)
    source = _followed(graph.outputs[output], values)
    if not source.around:
        for number, parameter in enumerate(graph.parameters):
            if parameter is source.node:
                return number
    return source


def _in(node: Expr, iteration: int, inner: Origin) -> Origin:
    return Origin(inner.node, inner.values, ((node, iteration), *inner.around))
