"""Shared by linear algebra: argument checks, computation types, and matrix products."""

from __future__ import annotations

from typing import Any

from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.ops.reductions import contraction
from nxkernel.ops.shapes.shaping import rename
from nxkernel.shapes import text
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type


def matrices(value: Any, function: str, *, square: bool = False) -> Operand:
    """An argument as a tensor whose last two axes are matrices."""
    tensor = operand(value, "tensor")
    if tensor.rank < 2:
        raise NxValueError(
            message(
                f"{function} takes matrices, got {tensor.spec}.",
                "They are the last two axes; axes before them are a batch.",
            )
        )
    if square and tensor.shape[-1] != tensor.shape[-2]:
        raise NxValueError(
            message(
                f"{function} takes square matrices, got {tensor.spec}.",
                f"Those here have {tensor.shape[-2]} rows and {tensor.shape[-1]} columns.",
            )
        )
    return tensor


def computed(tensor: Operand) -> tuple[Operand, Type]:
    """The tensor in the type that routines compute in, and the type of results."""
    type_ = types.to_floating(tensor.type)
    return convert(tensor, types.compute_type(type_)), type_


def unnamed(tensor: Operand) -> Operand:
    """The tensor without names."""
    return rename(tensor, [None] * tensor.rank)


def back(tensor: Operand, type_: Type) -> Tensor | Expr:
    """A result converted to its public type: that of the input, or of its real part."""
    return convert(tensor, types.to_real(type_) if not tensor.type.is_complex else type_)


def multiply(left: Operand, right: Operand) -> Tensor | Expr:
    """Batched matrix products."""
    batch = list(range(left.rank - 2))
    return contraction.dot(left, [left.rank - 1], batch, right, [right.rank - 2], batch)


def check_right_side(a: Operand, b: Operand, rows: int, shapes: str, function: str) -> bool:
    """Whether the right-hand side of equations is a vector or a matrix; anything else raises an error."""
    is_vector = b.rank == a.rank - 1
    axis = b.rank - 1 if is_vector else rows
    if b.rank not in (a.rank - 1, a.rank) or b.shape[: a.rank - 2] != a.shape[:-2] or b.shape[axis] != a.shape[-1]:
        lead, n = text(a.shape[:-2]) if a.rank > 2 else "", a.shape[-1]
        raise NxValueError(
            message(
                f"{function}: b {b.spec} does not fit a {a.spec}.",
                f"Its shape is {lead}[{n}] or {lead}{shapes.format(n=n)}.",
            )
        )
    return is_vector
