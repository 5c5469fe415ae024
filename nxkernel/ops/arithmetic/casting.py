"""Element types of tensors: querying, converting, reinterpreting bits."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.ops.machinery.dispatch import apply, convert, counted, filled, is_number, lasting, operand, strong
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

__all__ = ["as_type", "bitcast", "type"]


def as_type(tensor: Any, type: Any) -> Tensor | Expr:
    """Convert to another type.

    Parameters
    ----------
    tensor : tensor or number
    type : type
        Such as ``"f32"``.

    Returns
    -------
    Tensor
        Integers wrap where they do not fit. Floats become integers by cutting the fraction off; those outside the
        type's range become its least or greatest, NaN becomes 0. Complex numbers lose their imaginary part.

    Examples
    --------
    >>> nx.as_type([1.7, -1.7, np.inf, np.nan], "s8").to_list()
    [1, -1, 127, 0]
    """
    type_ = types.normalize(type)
    if is_number(tensor):
        return filled(tensor, type_, ())
    value = lasting(tensor, "tensor")
    result = convert(value, type_)
    if tracing.weak(value):
        # Its type is asked for, so that it stands for a number no more.
        if result is value:
            result = strong(value)
        tracing.current().weak.discard(result)
    return result


def bitcast(tensor: Any, type: Any) -> Tensor | Expr:
    """Reinterpret the bits as another type of equal width.

    Parameters
    ----------
    tensor : tensor or number
    type : type

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        When the widths differ.
    NxTypeError
        For complex types.

    Examples
    --------
    >>> nx.bitcast(nx.f32([1.0]), "s32").to_list()
    [1065353216]
    """
    tensor, type_ = lasting(tensor, "tensor"), types.normalize(type)
    if tensor.type.is_complex or type_.is_complex:
        raise NxTypeError(f"bitcast takes no complex types, got {tensor.type} to {type_}; see nx.real and nx.imag")
    if tensor.type.bits != type_.bits:
        raise NxValueError(
            message(
                f"bitcast keeps the bits: {tensor.type} has {tensor.type.bits} an element, {type_} has {type_.bits}.",
                "nx.as_type converts the values.",
            )
        )
    return tensor if type_ is tensor.type else apply(primitives.bitcast, tensor, type=type_)


def type(tensor: Any) -> Type:
    """The type of a tensor's elements.

    Parameters
    ----------
    tensor : tensor or number

    Returns
    -------
    Type
        A string such as ``"f32"``.

    Examples
    --------
    >>> nx.type(nx.tensor([1, 2]))
    's64'
    """
    return counted(operand(tensor, "tensor"))
