"""The multivariate normal distribution."""

from __future__ import annotations

from typing import Any

from nxkernel import linalg
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.elementary import sqrt
from nxkernel.ops.arithmetic.elementwise import max
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.ops.reductions.contraction import dot
from nxkernel.ops.tensors.creation import shape_of
from nxkernel.random.bit_stream import pair_of
from nxkernel.random.distributions import Names, normal_split
from nxkernel.random.keys import split
from nxkernel.random.sampler_options import float_drawn, named
from nxkernel.shapes import describe
from nxkernel.tensor.tensor import Tensor

__all__ = ["multivariate_normal", "multivariate_normal_split"]


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
    type_ = float_drawn("multivariate_normal", type, mean, covariance)
    if type_.is_complex:
        raise NxTypeError(f'multivariate_normal draws real numbers, got the type {type_}; write type="f32"')
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
