"""A value of the library whose gradient is not that of how it is computed."""

from __future__ import annotations

from collections.abc import Callable

from nxkernel import primitives as p
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.tracing import BodyTrace
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.tensor.tensor import Tensor


def with_gradient(result: Operand, source: Operand, backward: Callable[[Expr], Operand]) -> Tensor | Expr:
    """A value with a gradient by one other value, and by no more.

    Parameters
    ----------
    result : operand
        A real float.
    source : operand
        What the gradient is by, of the same type.
    backward : callable
        Of the cotangent of `result`; gives that of `source`.
    """
    if tracing.current() is None:
        return result
    with BodyTrace() as trace:
        g = trace.input("g", Spec(result.type, result.shape, unnamed(result.shape)))
        gain = backward(g)
        output = trace.node(apply(p.reshape, gain, shape=source.shape, names=unnamed(source.shape)))
    nodes = [g, *trace.lifted]
    for position, node in enumerate(nodes):
        node.params["index"] = position
    graph = Graph("gradient", nodes, [output], list)
    return apply(p.custom_grad, result, source, *trace.captured, results=1, inputs=1, backward=graph, declared=True)[0]
