"""Serialization of a graph to bytes, equal for equal graphs in any process: the key of the disk cache."""

from __future__ import annotations

import struct
from typing import Any

from nxkernel.graph.expr import Graph
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import Primitive, Spec
from nxkernel.types import Type

_EXACT = frozenset([int, bool, str, bytes, type(None), Type])


class _UnknownError(Exception):
    """A parameter that cannot be serialized, such as a function."""


def contents(graph: Graph) -> tuple[bytes, int] | None:
    """The bytes of a graph, and its number of nodes; None if a parameter cannot be serialized.

    Lines of source are left out: the same program may be written in several places.

    Parameters
    ----------
    graph : Graph
    """
    writer = _ContentsWriter()
    try:
        said = writer.graph(graph)
    except _UnknownError:
        return None
    return repr((said, list(writer.specs))).encode(), writer.nodes


class _ContentsWriter:
    def __init__(self) -> None:
        self.nodes = 0
        #: Each spec once, in the order of their numbers.
        self.specs: dict[Any, int] = {}

    def graph(self, graph: Graph) -> tuple:
        order = post_order([*graph.parameters, *graph.outputs])
        self.nodes += len(order)
        number = {id(node): index for index, node in enumerate(order)}
        said = [
            (
                node.primitive.name,
                [number[id(operand)] for operand in node.operands],
                self._number_of(node.spec),
                [(name, self.value(value)) for name, value in node.params.items()],
            )
            for node in order
        ]
        ends = [[number[id(node)] for node in part] for part in (graph.parameters, graph.outputs)]
        return said, ends, graph.updates

    def _number_of(self, spec: Spec | tuple[Spec, ...]) -> int:
        return self.specs.setdefault(spec, len(self.specs))

    def value(self, value: Any) -> Any:
        """A parameter as an object whose repr determines it."""
        kind = type(value)
        if kind in _EXACT:
            return value
        if kind is tuple or kind is list:
            return kind.__name__, [self.value(part) for part in value]
        if kind is Spec:
            return "spec", self._number_of(value)
        if kind is float:
            # The text of a float is exact, but for the bits of what is no number.
            return value if value == value else ("float", struct.pack("<d", value))
        if kind is complex:
            return "complex", self.value(value.real), self.value(value.imag)
        if kind is Primitive:
            return "primitive", value.name
        if kind is Graph:
            return "graph", self.graph(value)
        raise _UnknownError
