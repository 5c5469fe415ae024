"""Equations solved by a factorization that is there: by Cholesky factors, and by LU."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel import primitives, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.library_functions import HostFunction
from nxkernel.linalg._matrices import back, check_right_side, computed, matrices, unnamed
from nxkernel.linalg.factorizations import cholesky
from nxkernel.linalg.matrix_powers import adjoint
from nxkernel.linalg.solving import triangular_solve
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.machinery.dispatch import apply, convert, operand, spread
from nxkernel.ops.shapes.gathering import take_along_axis
from nxkernel.ops.shapes.shaping import new_axis, squeeze
from nxkernel.ops.tensors.creation import eye, tril
from nxkernel.primitives import Spec
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Tensor


def cho_factor(tensor: Any, *, lower: bool = False) -> tuple[Tensor | Expr, bool]:
    """A Cholesky factor of positive definite matrices, as :func:`cho_solve` takes it.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes, symmetric or Hermitian: only the triangle that `lower` says is read.
    lower : bool, optional
        Whether the factor is the lower triangular one, instead of its adjoint.

    Returns
    -------
    tuple of Tensor and bool
        The factor, with zeros in the other triangle, and `lower`. A matrix that is not positive definite gives NaN.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Examples
    --------
    >>> factor, lower = nx.linalg.cho_factor([[4.0, 2.0], [2.0, 10.0]])
    >>> factor.to_list(), lower
    ([[2.0, 1.0], [0.0, 3.0]], False)
    """
    return (cholesky(tensor), True) if lower else (adjoint(cholesky(adjoint(tensor))), False)


def cho_solve(c_and_lower: Any, b: Any) -> Tensor | Expr:
    """The solution of ``a @ x = b``, by a Cholesky factor of ``a``.

    Parameters
    ----------
    c_and_lower : tuple of tensor and bool
        What :func:`cho_factor` gives, or ``(nx.linalg.cholesky(a), True)``. The other triangle is not read.
    b : tensor
        A vector or a matrix for each factor.

    Returns
    -------
    Tensor
        ``x``, of the shape and names of `b`; the two types merged, integers become f32.

    Raises
    ------
    NxTypeError
        For a factor without `lower`.
    NxValueError
        When shapes do not fit.

    Examples
    --------
    >>> factor = nx.linalg.cho_factor([[4.0, 2.0], [2.0, 10.0]])
    >>> nx.linalg.cho_solve(factor, [8.0, 22.0]).to_list()
    [1.0, 2.0]
    """
    factor, lower = _pair(c_and_lower, "cho_solve", "(c, lower)", "nx.linalg.cho_factor(a)")
    if not isinstance(lower, bool):
        raise NxTypeError(f"cho_solve: lower says which triangle the factor is, True or False, got {describe(lower)}")
    if lower:
        return triangular_solve(factor, triangular_solve(factor, b), transform_a="conjugate")
    half = triangular_solve(factor, b, lower=False, transform_a="conjugate")
    return triangular_solve(factor, half, lower=False)


def _pair(value: Any, function: str, what: str, made: str) -> tuple[Any, Any]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise NxTypeError(
            message(
                f"{function} takes a pair {what}, got {describe(value)}.", f"Write nx.linalg.{function}({made}, b)."
            )
        )
    return value[0], value[1]


def lu_factor(tensor: Any) -> tuple[Tensor | Expr, Tensor | Expr]:
    """The LU decomposition of square matrices in one matrix, as :func:`lu_solve` takes it.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes.

    Returns
    -------
    tuple of two tensors
        The upper factor, and below its diagonal the lower one, without the ones on its diagonal; and s32 numbers: with
        which row each one is exchanged, one after the other. They are those of SciPy and JAX.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Examples
    --------
    >>> packed, exchanges = nx.linalg.lu_factor([[1.0, 2.0], [2.0, 2.0]])
    >>> packed.to_list(), exchanges.to_list()
    ([[2.0, 2.0], [0.5, 1.0]], [1, 1])
    """
    matrix, type_ = computed(unnamed(matrices(tensor, "lu_factor", square=True)))
    packed, order = apply(primitives.lu, matrix)
    return back(packed, type_), exchanges_of(order)


def lu_solve(lu_and_piv: Any, b: Any, *, trans: int = 0) -> Tensor | Expr:
    """The solution of ``op(a) @ x = b``, by an LU decomposition of ``a``.

    Parameters
    ----------
    lu_and_piv : tuple of two tensors
        What :func:`lu_factor` gives.
    b : tensor
        A vector or a matrix for each of them.
    trans : {0, 1, 2}, optional
        What ``op`` does: nothing, transpose, or transpose and conjugate.

    Returns
    -------
    Tensor
        ``x``, of the shape of `b`, without names; the two types merged, integers become f32.

    Raises
    ------
    NxTypeError
        For what is no pair.
    NxValueError
        When shapes do not fit.

    Examples
    --------
    >>> factors = nx.linalg.lu_factor([[1.0, 2.0], [2.0, 2.0]])
    >>> nx.linalg.lu_solve(factors, [5.0, 6.0]).to_list()
    [1.0, 2.0]
    """
    if trans not in (0, 1, 2):
        raise NxValueError(f"lu_solve: trans is 0, 1 or 2, got {trans!r}")
    packed, exchanges = _pair(lu_and_piv, "lu_solve", "(lu, piv)", "nx.linalg.lu_factor(a)")
    packed, b = unnamed(matrices(packed, "lu_solve", square=True)), unnamed(operand(b, "b"))
    is_vector = check_right_side(packed, b, b.rank - 2, "[{n}][any]", "lu_solve")
    order, columns = order_of(operand(exchanges, "piv")), new_axis(b, -1) if is_vector else b
    low = elementwise.add(tril(packed, k=-1), eye(packed.shape, type=packed.type))
    if not trans:
        picked = _rows(columns, order)
        x = triangular_solve(packed, triangular_solve(low, picked), lower=False)
    else:
        transform = "transpose" if trans == 1 else "conjugate"
        half = triangular_solve(packed, columns, lower=False, transform_a=transform)
        x = _rows(triangular_solve(low, half, transform_a=transform), inverse_of(order))
    return squeeze(x, axes=[-1]) if is_vector else x


def _rows(columns: Operand, order: Operand) -> Operand:
    return take_along_axis(columns, spread(new_axis(convert(order, types.s64), -1), columns.shape), axis=-2)


# Exchanges of rows -----------------------------------------------------------------------------------------------


def exchanges_of(order: Operand) -> Any:
    """LAPACK's exchanges of rows that bring these into an order, for each vector of numbers."""
    return _by_rows("lu_factor", _exchanges, order)


def order_of(exchanges: Operand) -> Any:
    """The order into which exchanges bring rows."""
    return _by_rows("lu_solve", _order, exchanges)


def inverse_of(order: Operand) -> Any:
    """The order that undoes an order."""
    return _by_rows("places of rows", _inverse, order)


def _by_rows(name: str, function: Any, given: Operand) -> Any:
    """What a function of whole numbers gives for each row of them."""
    outputs = (Spec(types.s32, given.shape[-1:], (None,)),)
    called = HostFunction(name, (name,), lambda row: [function(row)], outputs, True, batch=given.shape[:-1])
    return apply(primitives.njit_call, given, function=called)


def _exchanges(order: np.ndarray) -> np.ndarray:
    rows, exchanges = list(range(len(order))), []
    for place, row in enumerate(order.tolist()):
        found = rows.index(row, place)
        rows[place], rows[found] = rows[found], rows[place]
        exchanges.append(found)
    return np.array(exchanges, np.int32)


def _order(exchanges: np.ndarray) -> np.ndarray:
    rows = list(range(len(exchanges)))
    for place, found in enumerate(exchanges.tolist()):
        rows[place], rows[found] = rows[found], rows[place]
    return np.array(rows, np.int32)


def _inverse(order: np.ndarray) -> np.ndarray:
    return np.argsort(order).astype(np.int32)
