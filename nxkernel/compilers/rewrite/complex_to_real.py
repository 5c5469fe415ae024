"""Functions of complex numbers rewritten as arithmetic with real parts, for compilers that lack code for them.

What has to be known of complex numbers then is `DIRECT`: how they are read and written, put together and taken apart,
added, multiplied and compared for equality.
"""

from __future__ import annotations

from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel.compilers.rewrite import complex_functions
from nxkernel.compilers.rewrite.complex_functions import Complex, is_true
from nxkernel.compilers.rewrite.graph_builder import NodeWriter, Number, Truth
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import Primitive

#: The element-wise primitives that stay, of complex operands or with a complex result.
DIRECT = frozenset(
    [
        p.add, p.subtract, p.multiply, p.negate, p.conjugate, p.real, p.imag, p.make_complex, p.as_type, p.equal,
        p.not_equal, p.select, p.stop_grad, p.after,
    ]
)  # fmt: skip
#: What asks of its operands whether they are zero.
_LOGIC = frozenset([p.logical_and, p.logical_or, p.logical_xor, p.logical_not])


def split(outputs: Sequence[Expr]) -> tuple[list[Expr], dict[Expr, Expr]]:
    """The outputs, with all inner graphs, rewritten so that the only complex primitives left are those in `DIRECT`.

    Parameters
    ----------
    outputs : sequence of Expr

    Returns
    -------
    list of Expr
        The same ones where there is nothing to do.
    dict
        For each new node the node of the given graph that it came from.
    """
    origin: dict[Expr, Expr] = {}
    return _Rewriting(origin).outputs(outputs), origin


def _graph(graph: Graph, origin: dict[Expr, Expr]) -> Graph:
    outputs = _Rewriting(origin).outputs(graph.outputs)
    if all(new is old for new, old in zip(outputs, graph.outputs, strict=True)):
        return graph
    return Graph(graph.name, graph.parameters, outputs, graph.rebuild, graph.updates)


class _Rewriting:
    """Rewrites the nodes of one graph; graphs inside it have rewriters of their own.

    Parameters
    ----------
    origin : dict
        Takes down where new nodes came from.
    """

    def __init__(self, origin: dict[Expr, Expr]) -> None:
        self.writer, self.origin = NodeWriter(), origin

    def outputs(self, outputs: Sequence[Expr]) -> list[Expr]:
        new: dict[Expr, Expr] = {}
        for node in post_order(outputs):
            new[node] = self._node(node, tuple([new[operand] for operand in node.operands]))
        return [new[output] for output in outputs]

    def _node(self, node: Expr, operands: tuple[Expr, ...]) -> Expr:
        self.writer.source = node.source
        before = len(self.writer.nodes)
        result = self._of_parts(node, operands) if any(_is_complex(operand) for operand in operands) else None
        if result is None:
            result = self._with(node, operands)
        elif result.spec != node.spec:
            if result.type is not node.type:
                result = self.writer.node(p.as_type, result, type=node.type)
            if result.spec != node.spec:
                result = self.writer.node(p.reshape, result, shape=node.shape, names=node.names)
        for one in (*self.writer.nodes[before:], result):
            if one is not node:
                self.origin.setdefault(one, node)
        return result

    def _with(self, node: Expr, operands: tuple[Expr, ...]) -> Expr:
        """The node with other operands, and with its inner graphs rewritten."""
        graphs = {name: value for name, value in node.params.items() if isinstance(value, Graph)}
        changed = {name: new for name, graph in graphs.items() if (new := _graph(graph, self.origin)) is not graph}
        if not changed and all(new is old for new, old in zip(operands, node.operands, strict=True)):
            return node
        return Expr(node.primitive, operands, node.params | changed, node.spec, node.source)

    def _of_parts(self, node: Expr, operands: tuple[Expr, ...]) -> Expr | None:
        """The replacement of a node with complex operands; None if the node stays."""
        primitive = node.primitive
        if primitive in complex_functions.FUNCTIONS:
            return self._joined(self._function(primitive, operands))
        if primitive in _LOGIC:
            return self.writer.node(primitive, *[self._truth(operand) for operand in operands])
        if primitive is p.select and _is_complex(operands[0]):
            return self.writer.node(primitive, self._truth(operands[0]), *operands[1:])
        if {primitive, node.params.get("reduce")} & {p.all_, p.any_}:
            return self.writer.node(primitive, self._truth(operands[0]), **node.params)
        return None

    def _function(self, primitive: Primitive, operands: tuple[Expr, ...]) -> Complex | Number | Truth:
        parts = [self._parts(operand) for operand in operands]
        if primitive is p.power and operands[1].primitive is p.constant:
            return complex_functions.power_by(parts[0], complex(operands[1].params["value"]), parts[1])
        return complex_functions.FUNCTIONS[primitive](*parts)

    def _truth(self, operand: Expr) -> Expr:
        return is_true(self._parts(operand)).node if _is_complex(operand) else operand

    def _parts(self, node: Expr) -> Complex:
        """The real and imaginary parts of a value; those that it was put together from, if it was."""
        if node.primitive is p.make_complex and all(part.spec[1:] == node.spec[1:] for part in node.operands):
            real, imag = node.operands
        else:
            real, imag = self.writer.node(p.real, node), self.writer.node(p.imag, node)
            if node.primitive is p.constant:
                value = complex(node.params["value"])
                real, imag = self.writer.number(value.real, real), self.writer.number(value.imag, imag)
        return Complex(Number(self.writer, real), Number(self.writer, imag))

    def _joined(self, value: Complex | Number | Truth) -> Expr:
        if isinstance(value, Complex):
            return self.writer.node(p.make_complex, value.re.node, value.im.node)
        return value.node


def _is_complex(node: Expr) -> bool:
    return type(node.spec) is not tuple and node.type.is_complex
