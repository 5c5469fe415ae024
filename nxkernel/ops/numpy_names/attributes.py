"""Attributes of tensors and traced values that are computed from their elements, under NumPy's names."""

from __future__ import annotations

from typing import Any

from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.shapes.shaping import flatten, transpose
from nxkernel.tensor.tensor import Tensor


def transposed(tensor: Any) -> Tensor | Expr:
    """The tensor with its axes in reverse order."""
    return transpose(tensor)


def matrices_transposed(tensor: Any) -> Tensor | Expr:
    """The tensor with its last two axes swapped."""
    if tensor.rank < 2:
        raise NxValueError(
            message(f"t.mT transposes matrices, got {tensor.spec}.", "They are the last two axes of a tensor.")
        )
    return transpose(tensor, axes=[*range(tensor.rank - 2), tensor.rank - 1, tensor.rank - 2])


def real_part(tensor: Any) -> Tensor | Expr:
    """The real part, as :func:`nxkernel.real` gives it."""
    return elementwise.real(tensor)


def imaginary_part(tensor: Any) -> Tensor | Expr:
    """The imaginary part, as :func:`nxkernel.imag` gives it."""
    return elementwise.imag(tensor)


def in_one_axis(tensor: Any) -> Tensor | Expr:
    """All elements in one axis, in C order."""
    return flatten(tensor)


#: By the name of the attribute.
ATTRIBUTES = {
    "T": transposed,
    "flat": in_one_axis,
    "imag": imaginary_part,
    "mT": matrices_transposed,
    "real": real_part,
}
