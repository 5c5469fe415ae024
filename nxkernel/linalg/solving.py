"""Systems of linear equations, inverses and pseudoinverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel import primitives, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.linalg._matrices import back, check_right_side, computed, matrices, multiply, unnamed
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import elementwise
from nxkernel.ops.arithmetic.comparison import greater, less_equal, select
from nxkernel.ops.machinery.dispatch import apply, convert, operand, spread
from nxkernel.ops.reductions.reduction import reduce_max
from nxkernel.ops.reductions.reduction import sum as sum_
from nxkernel.ops.shapes.shaping import new_axis, squeeze, transpose
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type


def _swapped(tensor: Operand) -> Operand:
    return transpose(tensor, axes=[*range(tensor.rank - 2), tensor.rank - 1, tensor.rank - 2])


def _in_one_type(a: Any, b: Any, function: str) -> tuple[Operand, Operand, Type]:
    """Both sides of equations in their computation type, and the type of the result."""
    a, b = matrices(a, function, square=True), operand(b, "b")
    type_ = types.to_floating(types.merge(a.type, b.type))
    inner = types.compute_type(type_)
    return convert(a, inner), convert(b, inner), type_


def triangular_solve(
    a: Any, b: Any, *, lower: bool = True, left_side: bool = True, transform_a: str = "none"
) -> Tensor | Expr:
    """Solve triangular systems: ``op(a) @ x = b``, or ``x @ op(a) = b``.

    Parameters
    ----------
    a : tensor
        Square matrices in the last two axes. The other triangle is not read.
    b : tensor
        A vector or a matrix for each of them.
    lower : bool, optional
        Whether `a` has its elements on and below the diagonal, or on and above.
    left_side : bool, optional
        Whether ``op(a)`` stands left of ``x``.
    transform_a : {"none", "transpose", "conjugate"}, optional
        What ``op`` does: nothing, transpose, or transpose and conjugate.

    Returns
    -------
    Tensor
        ``x``, of the shape and names of `b`; the two types merged, integers become f32.

    Raises
    ------
    NxValueError
        When shapes do not fit. Eagerly also when an element of the diagonal is 0; compiled, ``x`` is NaN then.

    Examples
    --------
    >>> nx.linalg.triangular_solve([[2, 0], [1, 1]], [4, 5]).to_list()
    [2.0, 3.0]
    """
    if transform_a not in ("none", "transpose", "conjugate"):
        raise NxValueError(f'transform_a is "none", "transpose" or "conjugate", got {transform_a!r}')
    a, b, type_ = _in_one_type(a, b, "triangular_solve")
    rows, sides = (b.rank - 2, "[{n}][any]") if left_side else (b.rank - 1, "[any][{n}]")
    is_vector = check_right_side(a, b, rows, sides, "triangular_solve")
    _refuse_singular(a)
    if not left_side:
        # x @ op(a) = b is transpose(op(a)) @ transpose(x) = transpose(b).
        if transform_a == "conjugate":
            a = elementwise.conjugate(a) if a.type.is_complex else a
        transform_a = "transpose" if transform_a == "none" else "none"
    right = new_axis(b, -1) if is_vector else b if left_side else _swapped(b)
    x = apply(primitives.triangular_solve, a, right, lower=bool(lower), transform=transform_a)
    return back(squeeze(x, axes=[-1]) if is_vector else x if left_side else _swapped(x), type_)


def _refuse_singular(a: Operand) -> None:
    """Raise an error for a zero on the diagonal, unless values are traced."""
    if type(a) is not Tensor or tracing.current() is not None:
        return
    diagonal = np.diagonal(a.data, axis1=-2, axis2=-1)
    if not diagonal.all():
        raise NxValueError(
            message(
                f"triangular_solve: a {a.spec} is singular, its diagonal has a 0.",
                "nx.linalg.pinv and nx.linalg.least_squares find what is closest to a solution.",
            )
        )


def solve(a: Any, b: Any) -> Tensor | Expr:
    """Solve systems of linear equations ``a @ x = b``.

    Parameters
    ----------
    a : tensor
        Square matrices in the last two axes.
    b : tensor
        A vector or a matrix for each of them.

    Returns
    -------
    Tensor
        ``x``, of the shape of `b`, without names; the two types merged, integers become f32. NaN where a matrix is
        singular.

    Raises
    ------
    NxValueError
        When shapes do not fit.

    Examples
    --------
    >>> nx.linalg.solve([[2, 0], [0, 4]], [6, 8]).to_list()
    [3.0, 2.0]
    """
    a, b, type_ = _in_one_type(a, b, "solve")
    is_vector = check_right_side(a, b, b.rank - 2, "[{n}][any]", "solve")
    a, b = unnamed(a), unnamed(b)
    x = apply(primitives.solve, a, new_axis(b, -1) if is_vector else b)
    return back(squeeze(x, axes=[-1]) if is_vector else x, type_)


def invert(tensor: Any) -> Tensor | Expr:
    """The inverse of square matrices.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes.

    Returns
    -------
    Tensor
        Without names; integers become f32. NaN where a matrix is singular.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Examples
    --------
    >>> nx.linalg.invert([[1, 2], [0, 1]]).to_list()
    [[1.0, -2.0], [0.0, 1.0]]
    """
    tensor, type_ = computed(unnamed(matrices(tensor, "invert", square=True)))
    return back(apply(primitives.inverse, tensor), type_)


def pinv(tensor: Any, *, eps: float | None = None) -> Tensor | Expr:
    """The Moore-Penrose pseudoinverse of matrices.

    Parameters
    ----------
    tensor : tensor
        A scalar, a vector, or matrices of `m` rows and `n` columns in the last two axes.
    eps : float, optional
        Singular values of at most this size count as 0. Unless given, it is what rounding leaves of a 0: the greatest
        singular value times ``max(m, n)`` times the distance from 1 to the next number of the type.

    Returns
    -------
    Tensor
        For matrices `n` rows and `m` columns; without names. Integers become f32.

    Examples
    --------
    >>> nx.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).to_list()
    [[0.5, 0.0], [0.0, 0.0]]
    >>> nx.linalg.pinv([3, 4]).to_list()
    [0.11999999731779099, 0.1599999964237213]
    """
    tensor, type_ = computed(unnamed(operand(tensor, "tensor")))
    if tensor.rank < 2:
        return back(_pinv_of_vector(tensor, 0.0 if eps is None else eps), type_)
    u, s, vt = apply(primitives.svd, tensor, full_matrices=False)
    if eps is None:
        eps = max(tensor.shape[-2:]) * float(np.finfo(s.type.dtype).eps)
        cutoff = elementwise.multiply(reduce_max(s, axes=[-1], keep_axes=True), eps)
    else:
        cutoff = types.normalize(s.type)(eps)
    inverse = select(greater(s, cutoff), elementwise.divide(1, s), types.normalize(s.type)(0))
    right, left = (elementwise.conjugate(t) if t.type.is_complex else t for t in (vt, u))
    weighed = elementwise.multiply(_swapped(right), new_axis(convert(inverse, tensor.type), -2))
    return back(multiply(weighed, _swapped(left)), type_)


def _pinv_of_vector(tensor: Operand, eps: float) -> Tensor | Expr:
    """The conjugate divided by the squared norm; 0 if the norm is below the threshold."""
    size = elementwise.abs(tensor)
    squared = sum_(elementwise.multiply(size, size))
    inverse = elementwise.divide(elementwise.conjugate(tensor) if tensor.type.is_complex else tensor, squared)
    tiny = less_equal(reduce_max(size), eps)
    return select(spread(tiny, tensor.shape), types.normalize(tensor.type)(0), inverse)


def least_squares(a: Any, b: Any, *, eps: float | None = None) -> Tensor | Expr:
    """The least-squares solution of ``a @ x = b``; if there are several, the one of least norm.

    Parameters
    ----------
    a : tensor
        A matrix of `m` rows and `n` columns, real.
    b : tensor
        A vector of `m` elements, real.
    eps : float, optional
        As for :func:`pinv`, which it is made with.

    Returns
    -------
    Tensor
        A vector of `n` elements, without names; the two types merged, integers become f32.

    Raises
    ------
    NxValueError
        When `a` is no matrix or `b` no vector that fits.
    NxTypeError
        For complex numbers.

    Examples
    --------
    >>> x = nx.linalg.least_squares([[0, 1], [1, 1], [2, 1], [3, 1]], [-1, 0.2, 0.9, 2.1])
    >>> nx.all_close(x, [1.0, -0.95]).to_list()
    True
    """
    a, b = operand(a, "a"), operand(b, "b")
    if a.rank != 2 or b.rank != 1 or a.shape[0] != b.shape[0]:
        raise NxValueError(
            message(
                f"least_squares takes a matrix and a vector of as many elements as it has rows, "
                f"got {a.spec} and {b.spec}.",
                "nx.dot(nx.linalg.pinv(a), b) solves for the columns of a matrix b.",
            )
        )
    type_ = types.to_floating(types.merge(a.type, b.type))
    if type_.is_complex:
        raise NxTypeError(
            message(
                f"least_squares takes real numbers, got {a.spec} and {b.spec}.",
                "nx.dot(nx.linalg.pinv(a), b) takes complex ones.",
            )
        )
    inner = types.compute_type(type_)
    inverse = pinv(convert(a, inner), eps=eps)
    return back(squeeze(multiply(inverse, new_axis(convert(unnamed(b), inner), -1)), axes=[-1]), type_)
