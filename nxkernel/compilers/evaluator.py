"""The evaluator: walks the graph and runs each primitive's NumPy meaning; what other compilers are tested against."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nxkernel import passes
from nxkernel.backends.graph_evaluation import GraphWalk
from nxkernel.compilers.interface import Clock, Compiler, Executable, KernelRecord
from nxkernel.errors import NxValueError, VerificationError, message
from nxkernel.graph.expr import Graph
from nxkernel.graph.verify import named


class Evaluator(Compiler):
    """A compiler that interprets the graph with NumPy; the reference for all others."""

    name = "evaluator"
    without_kernels = "by the evaluator", "evaluator computes node by node"

    def compile(self, graph: Graph) -> Evaluated:
        """An executable that walks `graph` at each call."""
        return Evaluated(graph)


class Evaluated(Executable):
    """The executable of the evaluator: a graph that each call walks."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kernels: list[KernelRecord] = []
        (self._walk,) = [each(graph) for each in passes.ON_PROGRAMS["evaluator"]]

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The output arrays for one input array a parameter."""
        values = self._walk.run(arrays)
        outputs = [_own(value, output.shape, arrays) for value, output in zip(values, self.graph.outputs, strict=True)]
        for position, number in self.graph.updates:
            np.copyto(arrays[position], outputs[number])
        return outputs

    def clock(self) -> Clock:
        """Refuse to measure: times of interpreted nodes say nothing about compiled programs."""
        raise NxValueError(
            message(
                "It has no kernels to measure: the evaluator computes node by node.",
                'With compiler="numba_cpu" or "numba_cuda" it has.',
            )
        )


def walk(graph: Graph) -> GraphWalk:
    """The interpreter of a graph: the NumPy function of each node, in order."""
    return GraphWalk(graph)


def verify_walk(walk: GraphWalk, after: str) -> None:
    """Check that each node of a walk comes after its operands, and that outputs are there at the end.

    Raises
    ------
    VerificationError
        At the first node that does not.
    """
    for node, fault in walk.faults():
        subject = "the walk" if node is None else named(node)
        raise VerificationError(after, subject, "each operand computed before, and kept until it is read", fault)


def _own(value: np.ndarray, shape: tuple[int, ...], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """A result copied, if need be, into memory that no caller holds."""
    value = np.ascontiguousarray(value).reshape(shape)
    return value.copy() if any(np.may_share_memory(value, array) for array in arrays) else value
