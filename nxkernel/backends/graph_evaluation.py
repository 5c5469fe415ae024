"""Evaluating graphs node by node on NumPy arrays, including loops, branches and folds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.backends.numpy_primitives import Meaning, cast_number, settled
from nxkernel.primitives import Primitive, Spec
from nxkernel.types import Type


def _in_order(outputs: Sequence[Any]) -> list[Any]:
    from nxkernel.graph.traverse import post_order

    return post_order(outputs)


def _meaning() -> dict[Primitive, Meaning]:
    from nxkernel.backends import MEANING

    return MEANING


class GraphWalk:
    """An interpreter of a graph; each value is dropped after its last use.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Any) -> None:
        self._parameters = [id(parameter) for parameter in graph.parameters]
        self._outputs = [id(output) for output in graph.outputs]
        order = [node for node in _in_order(graph.outputs) if node.primitive is not p.parameter]
        kept = set(self._outputs)
        last = {id(operand): position for position, node in enumerate(order) for operand in node.operands}
        self._steps = [
            (node, [id(o) for o in {*node.operands} if last[id(o)] == position and id(o) not in kept])
            for position, node in enumerate(order)
        ]

    def faults(self) -> Iterator[tuple[Any, str]]:
        """The faults in the order of nodes: operands that are not computed yet or dropped, outputs that are missing."""
        there = set(self._parameters)
        for node, dead in self._steps:
            if any(id(operand) not in there for operand in node.operands):
                yield node, "an operand that is not computed before, or dropped already"
            there.add(id(node))
            there.difference_update(dead)
        if not there.issuperset(self._outputs):
            yield None, "an output that is not computed, or dropped"

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for one array a parameter; they may share memory with these."""
        meaning = _meaning()
        values: dict[int, Any] = dict(zip(self._parameters, arrays, strict=True))
        for node, dead in self._steps:
            values[id(node)] = _value(node, [values[id(operand)] for operand in node.operands], meaning)
            for value_id in dead:
                del values[value_id]
        return [values[value_id] for value_id in self._outputs]


def _value(node: Any, operands: Sequence[Any], meaning: dict[Primitive, Meaning]) -> Any:
    if node.primitive is p.constant:
        return np.broadcast_to(cast_number(node.params["value"], node.type), node.shape)
    return meaning[node.primitive](node.spec, *operands, **node.params)


def evaluated(order: Sequence[Any], values: dict[Any, Any]) -> Any:
    """The value of the last of some nodes, each of which comes after its operands.

    Parameters
    ----------
    order : sequence of Expr
    values : dict
        The values that are known, by node: those of parameters, and all that is computed on the way.
    """
    meaning = _meaning()
    for node in order:
        if node not in values:
            values[node] = _value(node, [values[operand] for operand in node.operands], meaning)
    return values[order[-1]]


def _while(out: tuple[Spec, ...], /, *arrays: np.ndarray, condition: Any, body: Any, state: int) -> tuple:
    ask, iteration = GraphWalk(condition), GraphWalk(body)
    held, around = list(arrays[:state]), arrays[state:]
    while ask.run([*held, *around])[0]:
        held = iteration.run([*held, *around])
    return tuple(held)


def _cond(out: tuple[Spec, ...], /, predicate: np.ndarray, *captured: np.ndarray, then: Any, otherwise: Any) -> tuple:
    return tuple(GraphWalk(then if predicate else otherwise).run(captured))


def _first(out: tuple[Spec, ...], /, *arrays: np.ndarray, results: int, **_: Any) -> tuple:
    return arrays[:results]


def _reduce(
    out: Spec,
    /,
    x: np.ndarray,
    start: np.ndarray,
    *captured: np.ndarray,
    axes: tuple[int, ...],
    keep_axes: bool,
    body: Any,
    type: Type,
) -> np.ndarray:
    """A fold: step by step along the folded axes, for all other elements at once."""
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    rows = x.transpose(*sorted(axes), *rest).reshape(math.prod(x.shape[a] for a in axes), *[x.shape[a] for a in rest])
    shape = rows.shape[1:]
    held = np.broadcast_to(start, shape)
    around = [np.broadcast_to(value, shape) for value in captured]
    run = _wide_evaluator(body, shape)
    for row in rows:
        held = run(row, held, *around)
    return settled(out, held)


def _wide_evaluator(body: Any, shape: tuple[int, ...]) -> Callable[..., np.ndarray]:
    """A function that evaluates a graph of scalar operations for every element of arrays of a shape."""
    (output,) = body.outputs
    order, meaning = _in_order([output]), _meaning()

    def run(*arrays: np.ndarray) -> np.ndarray:
        values = dict(zip(body.parameters, arrays, strict=True))
        for node in order:
            if node in values:
                continue
            if node.primitive is p.constant:
                values[node] = np.broadcast_to(cast_number(node.params["value"], node.type), shape)
            else:
                spec = node.spec._replace(shape=shape, names=shapes.unnamed(shape))
                values[node] = meaning[node.primitive](spec, *[values[o] for o in node.operands], **node.params)
        return values[output]

    return run


MEANING: dict[Primitive, Meaning] = {p.while_: _while, p.cond: _cond, p.reduce: _reduce}
MEANING |= dict.fromkeys(p.WITH_DERIVATIVES, _first)
