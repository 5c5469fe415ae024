"""Samplers of standard distributions: what is drawn has no parameters, and is scaled and shifted afterwards."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes

from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.elementary import log, log1p, sqrt, tan
from nxkernel.ops.arithmetic.elementwise import abs, sign
from nxkernel.ops.machinery.dispatch import convert
from nxkernel.ops.reductions.reduction import sum
from nxkernel.ops.tensors.creation import shape_of
from nxkernel.random.bit_stream import KeyWords, advance, pair_of
from nxkernel.random.distributions import Names
from nxkernel.random.sampler_options import named, normals, real_drawn, uniforms
from nxkernel.shapes import Shape
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

__all__ = ["cauchy", "exponential", "laplace", "logistic", "maxwell"]


def exponential(
    key: Any, *, shape: Any = (), type: Any = "f32", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the exponential distribution of mean 1.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    shape : tuple of int, optional
    type : type, optional
        A float type.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.

    Notes
    -----
    -log(1 - u) of uniform floats u in [0, 1), as ``jax.random.exponential``. Times a number it has that mean.

    Examples
    --------
    >>> x, key = nx.random.exponential(nx.random.key(7), shape=(1000,))
    >>> round(x.mean().to_number(), 2)
    0.94
    """
    pair, following = advance(pair_of(key))
    type_, inner = real_drawn("exponential", type)
    return named(convert(exponentials(pair, shape_of(shape), inner), type_), names), following


def exponentials(pair: KeyWords, shape: Shape, type_: Type) -> Operand:
    """Numbers of the exponential distribution of mean 1."""
    return -log1p(-uniforms(pair, shape, type_))


def laplace(
    key: Any, *, shape: Any = (), type: Any = "f32", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the Laplace distribution, of density exp(-abs(x)) / 2.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    shape : tuple of int, optional
    type : type, optional
        A float type.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.

    Notes
    -----
    The quantile function, sign(u) log(1 - abs(u)), of uniform floats u in (-1, 1), as ``jax.random.laplace``.

    Examples
    --------
    >>> x, key = nx.random.laplace(nx.random.key(7), shape=(1000,))
    >>> round(nx.mean(nx.abs(x)).to_number(), 2)
    0.91
    """
    pair, following = advance(pair_of(key))
    type_, inner = real_drawn("laplace", type)
    drawn = uniforms(pair, shape_of(shape), inner, ml_dtypes.finfo(inner.dtype).epsneg.item() - 1, 1.0)
    return named(convert(sign(drawn) * log1p(-abs(drawn)), type_), names), following


def logistic(
    key: Any, *, shape: Any = (), type: Any = "f32", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the logistic distribution, whose distribution function is the sigmoid.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    shape : tuple of int, optional
    type : type, optional
        A float type.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.

    Notes
    -----
    log(u / (1 - u)) of uniform floats u in (0, 1), as ``jax.random.logistic``.

    Examples
    --------
    >>> x, key = nx.random.logistic(nx.random.key(7), shape=(1000,))
    >>> round(nx.mean(nx.sigmoid(x)).to_number(), 2)
    0.49
    """
    pair, following = advance(pair_of(key))
    type_, inner = real_drawn("logistic", type)
    drawn = uniforms(pair, shape_of(shape), inner, _epsilon(inner), 1.0)
    return named(convert(log(drawn / (1 - drawn)), type_), names), following


def cauchy(key: Any, *, shape: Any = (), type: Any = "f32", names: Names = None) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the Cauchy distribution, of density 1 / (π (1 + x²)), which has no mean.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    shape : tuple of int, optional
    type : type, optional
        A float type.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.

    Notes
    -----
    tan(π (u - 1/2)) of uniform floats u in (0, 1), as ``jax.random.cauchy``.

    Examples
    --------
    >>> x, key = nx.random.cauchy(nx.random.key(7), shape=(1000,))
    >>> round(nx.median(x).to_number(), 2)
    -0.05
    """
    pair, following = advance(pair_of(key))
    type_, inner = real_drawn("cauchy", type)
    drawn = uniforms(pair, shape_of(shape), inner, _epsilon(inner), 1.0)
    return named(convert(tan(math.pi * (drawn - 0.5)), type_), names), following


def _epsilon(type_: Type) -> float:
    return float(ml_dtypes.finfo(type_.dtype).eps)


def maxwell(
    key: Any, *, shape: Any = (), type: Any = "f32", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the Maxwell distribution: lengths of vectors of three standard normal numbers.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    shape : tuple of int, optional
    type : type, optional
        A float type.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type that is no real float.

    Notes
    -----
    As ``jax.random.maxwell``.

    Examples
    --------
    >>> x, key = nx.random.maxwell(nx.random.key(7), shape=(1000,))
    >>> round(nx.mean(x * x).to_number(), 1)
    3.1
    """
    pair, following = advance(pair_of(key))
    type_, inner = real_drawn("maxwell", type)
    return named(convert(maxwells(pair, shape_of(shape), inner), type_), names), following


def maxwells(pair: KeyWords, shape: Shape, type_: Type) -> Operand:
    """Numbers of the Maxwell distribution."""
    drawn = normals(pair, (*shape, 3), type_)
    return sqrt(sum(drawn * drawn, axes=[-1]))
