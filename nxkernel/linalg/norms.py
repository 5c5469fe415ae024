"""Norms, determinants and ranks of matrices."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

from nxkernel import primitives, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.linalg._matrices import back, computed, matrices, unnamed
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import elementary, elementwise
from nxkernel.ops.arithmetic.comparison import greater, not_equal
from nxkernel.ops.machinery.dispatch import apply, convert, operand
from nxkernel.ops.reductions import reduction
from nxkernel.ops.shapes.shaping import reshape, squeeze, transpose
from nxkernel.shapes import describe, normalize_axes
from nxkernel.tensor.tensor import Tensor

_INFINITIES = {"inf": math.inf, "neg_inf": -math.inf}


def norm(
    tensor: Any, *, ord: Any = None, axes: int | str | Sequence[int | str] | None = None, keep_axes: bool = False
) -> Tensor | Expr:
    """The norm of a vector or matrix.

    Parameters
    ----------
    tensor : tensor
        A vector or a matrix; with `axes`, of any number of axes.
    ord : optional
        Which norm. Of vectors: 2 unless given, any other number, 0 (how many elements are not 0), ``"inf"`` (the
        greatest magnitude) or ``"neg_inf"`` (the least). Of matrices: ``"frobenius"`` unless given, ``"nuclear"`` (the
        sum of singular values), 2 or -2 (the greatest or least singular value), 1 or -1 (the greatest or least sum of
        magnitudes of a column), ``"inf"`` or ``"neg_inf"`` (of a row). Infinities may be numbers.
    axes : int, str or list of these, optional
        The axis of vectors or the two axes of matrices.
    keep_axes : bool, optional
        Whether these axes stay, with size 1.

    Returns
    -------
    Tensor
        Real; integers become f32.

    Raises
    ------
    NxValueError
        For a norm that there is not, or for other than one or two axes.

    Examples
    --------
    >>> nx.linalg.norm([3, 4]).to_list()
    5.0
    >>> nx.linalg.norm([[3, -2], [2, -4]], ord=1).to_list()
    6.0
    """
    if isinstance(ord, bool) or not isinstance(ord, int | float | str | None):
        raise NxTypeError(f"norm: ord is a number, a str or None, got {describe(ord)}")
    tensor, type_ = computed(operand(tensor, "tensor"))
    positions = normalize_axes(axes, tensor.shape, tensor.names)
    ord = _INFINITIES.get(ord, ord) if isinstance(ord, str) else ord
    if len(positions) == 1:
        result = _vector_norm(elementwise.abs(tensor), ord, positions)
    elif len(positions) == 2:
        result = _matrix_norm(tensor, ord, positions)
    else:
        raise NxValueError(
            message(
                f"norm is of a vector or a matrix, got {len(positions)} axes of {tensor.spec}.",
                "axes=[…] names the axis of vectors or the two axes of matrices in a larger tensor.",
            )
        )
    return back(result if keep_axes else squeeze(result, axes=positions), type_)


def _vector_norm(sizes: Operand, ord: Any, axes: tuple[int, ...]) -> Operand:
    """The vector norm along an axis, which is kept."""
    if ord is None or ord == 2:
        return elementary.sqrt(reduction.sum(elementwise.multiply(sizes, sizes), axes=axes, keep_axes=True))
    if not isinstance(ord, int | float):
        raise NxValueError(f'norm of a vector: ord is a number, "inf" or "neg_inf", got {ord!r}')
    if math.isinf(ord):
        extreme = reduction.reduce_max if ord > 0 else reduction.reduce_min
        return extreme(sizes, axes=axes, keep_axes=True)
    if ord == 0:
        return convert(reduction.sum(not_equal(sizes, 0), axes=axes, keep_axes=True), sizes.type)
    if ord == 1:
        return reduction.sum(sizes, axes=axes, keep_axes=True)
    return elementwise.pow(reduction.sum(elementwise.pow(sizes, float(ord)), axes=axes, keep_axes=True), 1.0 / ord)


def _matrix_norm(tensor: Operand, ord: Any, axes: tuple[int, ...]) -> Operand:
    """The norm of the matrices in two axes, which are kept."""
    if ord is None or ord == "frobenius":
        return _vector_norm(elementwise.abs(tensor), 2, axes)
    if ord in ("nuclear", 2, -2):
        _, s, _ = apply(primitives.svd, _with_matrices_last(tensor, axes), full_matrices=False)
        reduce = {"nuclear": reduction.sum, 2: reduction.reduce_max, -2: reduction.reduce_min}[ord]
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(tensor.shape))
        return reshape(reduce(s, axes=[-1]), kept, names=tensor.names)
    if ord in (1, -1, math.inf, -math.inf):
        rows, columns = axes
        added, compared = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = reduction.sum(elementwise.abs(tensor), axes=[added], keep_axes=True)
        extreme = reduction.reduce_max if ord > 0 else reduction.reduce_min
        return extreme(sums, axes=[compared], keep_axes=True)
    raise NxValueError(
        f'norm of a matrix: ord is "frobenius", "nuclear", 1, -1, 2, -2, "inf" or "neg_inf", got {ord!r}'
    )


def _with_matrices_last(tensor: Operand, axes: tuple[int, ...]) -> Operand:
    rest = [axis for axis in range(tensor.rank) if axis not in axes]
    return unnamed(transpose(tensor, axes=[*rest, *axes]))


def determinant(tensor: Any) -> Tensor | Expr:
    """The determinant of square matrices.

    Parameters
    ----------
    tensor : tensor
        Square matrices in the last two axes.

    Returns
    -------
    Tensor
        One number a matrix; integers become f32.

    Raises
    ------
    NxValueError
        When the matrices are not square.

    Examples
    --------
    >>> nx.linalg.determinant([[1, 2], [3, 4]]).to_list()
    -2.0
    """
    tensor, type_ = computed(unnamed(matrices(tensor, "determinant", square=True)))
    return back(_DETERMINANTS.get(tensor.shape[-1], _by_factors)(tensor), type_)


def _of_one(t: Operand) -> Operand:
    return t[..., 0, 0]


def _of_two(t: Operand) -> Operand:
    return t[..., 0, 0] * t[..., 1, 1] - t[..., 0, 1] * t[..., 1, 0]


def _of_three(t: Operand) -> Operand:
    """The determinant by expansion along the first row."""
    minors = [t[..., 1, i] * t[..., 2, j] - t[..., 1, j] * t[..., 2, i] for i, j in ((1, 2), (0, 2), (0, 1))]
    return t[..., 0, 0] * minors[0] - t[..., 0, 1] * minors[1] + t[..., 0, 2] * minors[2]


def _by_factors(t: Operand) -> Operand:
    return apply(primitives.determinant, t)


_DETERMINANTS = {1: _of_one, 2: _of_two, 3: _of_three}


def matrix_rank(a: Any, *, eps: float = 1e-7) -> Tensor | Expr:
    """The rank of matrices: the number of linearly independent rows.

    Parameters
    ----------
    a : tensor
        Matrices of `m` rows and `n` columns in the last two axes, real.
    eps : float, optional
        Singular values count that are greater than the greatest one times ``max(m, n)`` times this.

    Returns
    -------
    Tensor
        u64, one number a matrix.

    Raises
    ------
    NxValueError
        For less than two axes.
    NxTypeError
        For complex numbers.

    Examples
    --------
    >>> nx.linalg.matrix_rank([[1, 2], [2, 4]]).to_list()
    1
    """
    if isinstance(eps, bool) or not isinstance(eps, numbers.Real):
        raise NxTypeError(f"matrix_rank: eps is a number, got {describe(eps)}")
    a, _ = computed(unnamed(matrices(a, "matrix_rank")))
    if a.type.is_complex:
        raise NxTypeError(
            message(f"matrix_rank takes real numbers, got {a.spec}.", "Count the singular values of nx.linalg.svd(a).")
        )
    _, s, _ = apply(primitives.svd, a, full_matrices=False)
    least = elementwise.multiply(reduction.reduce_max(s, axes=[-1], keep_axes=True), eps * max(a.shape[-2:]))
    return reduction.sum(convert(greater(s, least), types.u64), axes=[-1])
