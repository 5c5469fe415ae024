"""The multivariate normal distribution, and orthogonal matrices."""

from __future__ import annotations

import builtins
from typing import Any

from nxkernel import linalg
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.elementary import sqrt
from nxkernel.ops.arithmetic.elementwise import max, sign
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.ops.reductions.contraction import dot
from nxkernel.ops.shapes.diagonals import take_diagonal
from nxkernel.ops.shapes.shaping import new_axis
from nxkernel.ops.tensors.creation import shape_of
from nxkernel.random.bit_stream import advance, pair_of
from nxkernel.random.distributions import Names, normal_split
from nxkernel.random.keys import split
from nxkernel.random.sampler_options import named, normals, real_drawn
from nxkernel.shapes import describe, static_int
from nxkernel.tensor.tensor import Tensor

__all__ = ["multivariate_normal", "multivariate_normal_split", "orthogonal"]


def multivariate_normal(
    key: Any,
    mean: Any,
    covariance: Any,
    *,
    shape: Any = (),
    type: Any = None,
    names: Names = None,
    method: str = "cholesky",
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw vectors from a multivariate normal distribution.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    mean : tensor
        A vector of `n` numbers.
    covariance : tensor
        ``[n][n]``, symmetric and positive semidefinite.
    shape : tuple of int, optional
        How many vectors; the result has one more axis, of `n`.
    type : type, optional
        A float type; without it, that of `mean` and `covariance`, or f32 for integers.
    names : list of str or None, optional
        For all axes of the result.
    method : {"cholesky", "svd", "eigh"}, optional
        How the covariance is factored. The Cholesky factor is the cheapest, and NaN where the covariance is singular.

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no float.
    NxValueError
        For shapes that do not belong together.

    Examples
    --------
    >>> mean, covariance = [1.0, -1.0], [[2.0, 0.5], [0.5, 1.0]]
    >>> x, key = nx.random.multivariate_normal(nx.random.key(12), mean, covariance, shape=(1000,))
    >>> x.shape
    (1000, 2)
    """
    pair_of(key)
    keys = split(key)
    return multivariate_normal_split(
        keys[1], mean, covariance, shape=shape, type=type, names=names, method=method
    ), keys[0]


def multivariate_normal_split(
    key: Any,
    mean: Any,
    covariance: Any,
    *,
    shape: Any = (),
    type: Any = None,
    names: Names = None,
    method: str = "cholesky",
) -> Tensor | Expr:
    """As :func:`multivariate_normal`, with a key that has been split already.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; do not use it again.
    mean, covariance : tensor
        ``[n]`` and ``[n][n]``.
    shape : tuple of int, optional
    type : type, optional
    names : list of str or None, optional
    method : {"cholesky", "svd", "eigh"}, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.random.multivariate_normal_split(nx.random.key(12), [0, 0], [[1, 0], [0, 1]], shape=(3,)).shape
    (3, 2)
    """
    mean, covariance = operand(mean, "mean"), operand(covariance, "covariance")
    type_, _ = real_drawn("multivariate_normal", type, mean, covariance)
    if mean.rank != 1 or covariance.shape != mean.shape * 2:
        raise NxValueError(
            message(
                f"multivariate_normal takes a mean [n] and a covariance [n][n], got {describe(mean)} and "
                f"{describe(covariance)}.",
                "shape=(100,) draws 100 vectors of one distribution.",
            )
        )
    shape = (*shape_of(shape), *mean.shape)
    factor = _factor(convert(covariance, type_), method)
    samples = dot(normal_split(key, shape=shape, type=type_), [-1], factor, [-1])
    return named(convert(mean, type_) + samples, names)


def _factor(covariance: Operand, method: str) -> Operand:
    """A matrix factor of the covariance: its product with its own transpose is the covariance."""
    if method == "cholesky":
        return linalg.cholesky(covariance)
    if method == "svd":
        vectors, variances, _ = linalg.svd(covariance)
    elif method == "eigh":
        variances, vectors = linalg.eigh(covariance)
    else:
        raise NxValueError(f'multivariate_normal: method is "cholesky", "svd" or "eigh", got {method!r}')
    # Rounding can make the variances of a singular covariance less than zero.
    return vectors * sqrt(max(variances, 0.0))


def orthogonal(
    key: Any, n: int, *, m: int | None = None, shape: Any = (), type: Any = "f32", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw orthogonal matrices, all as likely (by the Haar measure).

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    n, m : int
        The numbers of rows and of columns, which are as many when not given. Of more rows than columns the columns are
        orthonormal, else the rows.
    shape : tuple of int, optional
        How many matrices; the result has two more axes.
    type : type, optional
        A float type.
    names : list of str or None, optional
        For all axes of the result.

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.
    NxValueError
        For less than one row or column.

    Notes
    -----
    The first factor of a QR decomposition of normal numbers, with signs that make the diagonal of the second one
    positive, as ``jax.random.orthogonal``.

    Examples
    --------
    >>> q, key = nx.random.orthogonal(nx.random.key(12), 3)
    >>> nx.all_close(nx.transpose(q) @ q, nx.eye(3), atol=1e-5).to_list()
    True
    """
    rows = static_int(n, "the number of rows")
    columns = rows if m is None else static_int(m, "the number of columns")
    if rows < 1 or columns < 1:
        raise NxValueError(f"orthogonal: a matrix has at least one row and one column, got n={rows}, m={columns}")
    pair, following = advance(pair_of(key))
    type_, inner = real_drawn("orthogonal", type)
    tall = (*shape_of(shape), builtins.max(rows, columns), builtins.min(rows, columns))
    q, r = linalg.qr(normals(pair, tall, inner))
    q = q * new_axis(sign(take_diagonal(r)), -2)
    return named(convert(q if rows >= columns else linalg.adjoint(q), type_), names), following
