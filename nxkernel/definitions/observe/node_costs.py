"""The cost of a graph node by itself (bytes read and written, operations), for display beside it."""

from __future__ import annotations

import math

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.graph.expr import Expr


def moved(node: Expr) -> int:
    """The least number of bytes that a node reads and writes if it runs by itself.

    Parameters
    ----------
    node : Expr

    Returns
    -------
    int
        0 for inputs, constants and elements of tuples, which move nothing.
    """
    if node.primitive.family in ("leaf", "tuple"):
        return 0
    read = {operand for operand in node.operands if operand.primitive is not p.constant}
    return sum(map(_bytes, read)) + _bytes(node)


def operations(node: Expr) -> int:
    """The arithmetic operations of a node; a function such as exp counts as one, unknown nodes as 0.

    Parameters
    ----------
    node : Expr

    Returns
    -------
    int
    """
    family = node.primitive.family
    if family == "elementwise":
        return shapes.size(node.shape)
    if family in ("reduction", "cumulative"):
        return shapes.size(node.operands[0].shape)
    if node.primitive is p.dot:
        depth = math.prod(node.operands[0].shape[axis] for axis in node.params["contract"][0])
        return _multiplications(node) * depth
    if node.primitive is p.conv:
        return _multiplications(node) * math.prod(node.operands[1].shape[1:])
    return 0


def _multiplications(node: Expr) -> int:
    """The multiply-add operations for each element of a result."""
    return (8 if node.type.is_complex else 2) * shapes.size(node.shape)


def _bytes(node: Expr) -> int:
    specs = node.spec if type(node.spec) is tuple else (node.spec,)
    return sum(map(bytes_of, specs))
