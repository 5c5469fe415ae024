"""Adjoints and powers of matrices."""

from __future__ import annotations

from typing import Any

from nxkernel import types
from nxkernel.graph.expr import Expr
from nxkernel.linalg._matrices import matrices, multiply, unnamed
from nxkernel.linalg.solving import invert
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.machinery.dispatch import arithmetic, convert, lasting
from nxkernel.ops.shapes.shaping import transpose
from nxkernel.ops.tensors.creation import eye
from nxkernel.shapes import static_int
from nxkernel.tensor.tensor import Tensor


def adjoint(t: Any) -> Tensor | Expr:
    """The conjugate transpose of matrices.

    Parameters
    ----------
    t : tensor
        Matrices in the last two axes; of a scalar or vector the conjugate is taken.

    Returns
    -------
    Tensor
        Real tensors are transposed only, and keep their type.

    Examples
    --------
    >>> nx.linalg.adjoint([[1, 2], [3, 4]]).to_list()
    [[1, 3], [2, 4]]
    """
    t = lasting(t, "t")
    if t.rank >= 2:
        t = transpose(t, axes=[*range(t.rank - 2), t.rank - 1, t.rank - 2])
    return elementwise.conjugate(t) if t.type.is_complex else t


def matrix_power(tensor: Any, power: int) -> Tensor | Expr:
    """Raise square matrices to an integer power.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes.
    power : int
        How many factors; 0 gives the identity, and a negative power is that of the inverse.

    Returns
    -------
    Tensor
        Integers stay integers, and become f32 for a negative power. Without names.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Examples
    --------
    >>> nx.linalg.matrix_power([[1, 2], [3, 4]], 2).to_list()
    [[7, 10], [15, 22]]
    >>> nx.linalg.matrix_power([[1, 1], [0, 1]], -3).to_list()
    [[1.0, -3.0], [0.0, 1.0]]
    """
    power = static_int(power, "the power of a matrix")
    factor = unnamed(matrices(lasting(tensor, "tensor"), "matrix_power", square=True))
    if power < 0:
        factor, power = invert(factor), -power
    type_ = arithmetic(factor.type)
    factor = convert(factor, types.compute_type(type_))
    result = None
    while power:
        if power & 1:
            result = factor if result is None else multiply(result, factor)
        power >>= 1
        factor = multiply(factor, factor) if power else factor
    return eye(factor.shape, type=type_) if result is None else convert(result, type_)
