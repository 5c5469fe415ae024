"""Running graphs node by node on NumPy arrays, including loops and branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends.numpy import Meaning, cast_number
from nxkernel.primitives import Primitive, Spec


class GraphWalk:
    """A graph that is walked each time that it is run; each value is dropped after its last use.

    Parameters
    ----------
    graph : Graph
    """

    def __init__(self, graph: Any) -> None:
        from nxkernel.graph.traverse import post_order

        self._parameters = [id(parameter) for parameter in graph.parameters]
        self._outputs = [id(output) for output in graph.outputs]
        order = [node for node in post_order(graph.outputs) if node.primitive is not p.parameter]
        kept = set(self._outputs)
        last = {id(operand): place for place, node in enumerate(order) for operand in node.operands}
        self._steps = [
            (node, [id(o) for o in {*node.operands} if last[id(o)] == place and id(o) not in kept])
            for place, node in enumerate(order)
        ]

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for one array a parameter; they may share memory with those."""
        from nxkernel.backends import MEANING

        values: dict[int, Any] = dict(zip(self._parameters, arrays, strict=True))
        for node, dead in self._steps:
            if node.primitive is p.constant:
                value = np.broadcast_to(cast_number(node.params["value"], node.type), node.shape)
            else:
                operands = [values[id(operand)] for operand in node.operands]
                value = MEANING[node.primitive](node.spec, *operands, **node.params)
            values[id(node)] = value
            for place in dead:
                del values[place]
        return [values[place] for place in self._outputs]


def _while(out: tuple[Spec, ...], /, *arrays: np.ndarray, condition: Any, body: Any, state: int) -> tuple:
    ask, turn = GraphWalk(condition), GraphWalk(body)
    held, around = list(arrays[:state]), arrays[state:]
    while ask.run([*held, *around])[0]:
        held = turn.run([*held, *around])
    return tuple(held)


def _cond(out: tuple[Spec, ...], /, predicate: np.ndarray, *captured: np.ndarray, then: Any, otherwise: Any) -> tuple:
    return tuple(GraphWalk(then if predicate else otherwise).run(captured))


def _custom_grad(out: tuple[Spec, ...], /, *arrays: np.ndarray, results: int, inputs: int, backward: Any) -> tuple:
    return arrays[:results]


MEANING: dict[Primitive, Meaning] = {p.while_: _while, p.cond: _cond, p.custom_grad: _custom_grad}
