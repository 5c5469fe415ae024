"""The evaluator: walks the graph and runs each primitive's NumPy meaning; what other compilers are tested against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.backends.numpy import cast_number
from nxkernel.compilers.interface import KernelRecord
from nxkernel.graph.expr import Graph
from nxkernel.graph.traverse import post_order


class Evaluator:
    """The compiler that compiles nothing."""

    name = "evaluator"

    def compile(self, graph: Graph) -> Evaluated:
        """An executable that walks `graph` at each call."""
        return Evaluated(graph)


class Evaluated:
    """A graph that is walked when it is run; each value is dropped after its last use."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kernels: list[KernelRecord] = []
        self.lower_ms = self.native_ms = 0.0
        order = post_order(graph.outputs)
        outputs = {id(output) for output in graph.outputs}
        last = {id(operand): place for place, node in enumerate(order) for operand in node.operands}
        self._steps = [
            (node, [id(o) for o in {*node.operands} if last[id(o)] == place and id(o) not in outputs])
            for place, node in enumerate(order)
        ]

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs for one array a parameter."""
        values: dict[int, np.ndarray] = {}
        for node, dead in self._steps:
            if node.primitive is p.parameter:
                value = arrays[node.params["index"]]
            elif node.primitive is p.constant:
                value = np.broadcast_to(cast_number(node.params["value"], node.type), node.shape)
            else:
                operands = [values[id(operand)] for operand in node.operands]
                value = MEANING[node.primitive](node.spec, *operands, **node.params)
            values[id(node)] = value
            for place in dead:
                del values[place]
        return [_own(values[id(output)], output.shape, arrays) for output in self.graph.outputs]


def _own(value: np.ndarray, shape: tuple[int, ...], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """A result in memory that no caller has."""
    value = np.ascontiguousarray(value).reshape(shape)
    return value.copy() if any(np.may_share_memory(value, array) for array in arrays) else value
