"""Samplers of truth values, signs, categories and waiting times."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes

from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.comparison import equal, less, select
from nxkernel.ops.arithmetic.elementary import log, log1p
from nxkernel.ops.arithmetic.elementwise import floor
from nxkernel.ops.machinery.dispatch import convert, filled, operand
from nxkernel.ops.reductions.reduction import argmax
from nxkernel.ops.shapes.indexing import slice_along_axis
from nxkernel.ops.shapes.shaping import reshape, transpose
from nxkernel.ops.shapes.sorting import argsort
from nxkernel.ops.tensors.creation import shape_of
from nxkernel.random.bit_stream import KeyWords, advance, pair_of
from nxkernel.random.distributions import Names, gumbels
from nxkernel.random.sampler_options import count_drawn, named, parameter, real_drawn, shape_drawn, uniforms
from nxkernel.shapes import Shape, normalize_axis, text
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import Type

__all__ = ["bernoulli", "categorical", "geometric", "rademacher"]


def bernoulli(
    key: Any, p: Any = 0.5, *, shape: Any = None, mode: str = "low", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw truth values.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    p : number or tensor, optional
        How likely true is.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    mode : {"low", "high"}, optional
        Whether probabilities below 2**-23 (2**-52 for f64) count: "high" draws twice as many bits for them.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        bool, and a new key.

    Raises
    ------
    NxTypeError
        For probabilities that are complex.
    NxValueError
        When `p` does not spread over the shape, or for another mode.

    Notes
    -----
    Uniform floats of the type of `p`, less than `p`, as ``jax.random.bernoulli``.

    Examples
    --------
    >>> x, key = nx.random.bernoulli(nx.random.key(7), 0.2, shape=(1000,))
    >>> x.sum().to_number()
    189
    """
    if mode not in ("low", "high"):
        raise NxValueError(f'bernoulli: mode is "low" or "high", got {mode!r}')
    pair, following = advance(pair_of(key))
    shape = shape_drawn("bernoulli", shape, p=p)
    _, inner = real_drawn("bernoulli", None, p)
    chance = parameter(p, inner, shape)
    if mode == "low":
        return named(less(uniforms(pair, shape, inner), chance), names), following
    drawn = uniforms(pair, (2, *shape), inner)
    finer = drawn[1] * 2.0 ** -ml_dtypes.finfo(inner.dtype).nmant
    return named(less(finer, chance - drawn[0]), names), following


def rademacher(
    key: Any, *, shape: Any = (), type: Any = "s64", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw 1 and -1, both as likely.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    shape : tuple of int, optional
    type : type, optional
        Of integers, or of floats that hold them.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For a type without negative numbers.

    Notes
    -----
    As ``jax.random.rademacher``, of uniform floats of f32.

    Examples
    --------
    >>> x, key = nx.random.rademacher(nx.random.key(7), shape=(5,))
    >>> x.to_list()
    [-1, 1, 1, -1, 1]
    """
    pair, following = advance(pair_of(key))
    type_ = count_drawn("rademacher", type, signed=True)
    return named(convert(signs(pair, shape_of(shape), types.f32), type_), names), following


def signs(pair: KeyWords, shape: Shape, type_: Type) -> Operand:
    """1.0 and -1.0 of a float type, both as likely."""
    one = filled(1, type_, shape)
    return select(less(uniforms(pair, shape, type_), 0.5), one, -one)


def geometric(
    key: Any, p: Any, *, shape: Any = None, type: Any = "s64", names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw from the geometric distribution: which of repeated trials is the first that succeeds.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    p : number or tensor
        How likely a trial is to succeed, more than 0.
    shape : tuple of int, optional
        Without it, the parameters give the shape.
    type : type, optional
        Of integers, or of floats that hold them.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        The samples and a new key.

    Raises
    ------
    NxTypeError
        For complex numbers and bool.
    NxValueError
        When parameters do not spread over the shape.

    Notes
    -----
    floor(log(u) / log(1 - p)) + 1 of uniform floats u of the type of `p`, as ``jax.random.geometric``.

    Examples
    --------
    >>> x, key = nx.random.geometric(nx.random.key(7), 0.25, shape=(1000,))
    >>> round(nx.mean(x).to_number(), 1)
    3.9
    """
    pair, following = advance(pair_of(key))
    shape, type_ = shape_drawn("geometric", shape, p=p), count_drawn("geometric", type)
    _, inner = real_drawn("geometric", None, p)
    drawn = uniforms(pair, shape, inner)
    # The logarithm of 0 is none.
    drawn = select(equal(drawn, 0), filled(1, inner, shape), drawn)
    turns = floor(log(drawn) / log1p(-parameter(p, inner, shape))) + 1
    return named(convert(turns, type_), names), following


def categorical(
    key: Any, logits: Any, *, axis: int | str = -1, shape: Any = None, replace: bool = True, names: Names = None
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw indices of categories whose probabilities are given by their logarithms.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    logits : tensor
        Logarithms of probabilities, which need not add up to 1; -inf is never drawn.
    axis : int or str, optional
        Along which the categories lie.
    shape : tuple of int, optional
        Ends with the shape of `logits` without `axis`, which it is when not given; axes in front are so many draws of
        each distribution.
    replace : bool, optional
        Whether a category may be drawn several times from one distribution.
    names : list of str or None, optional

    Returns
    -------
    tuple of Tensor
        s64 from 0 to below the number of categories, and a new key.

    Raises
    ------
    NxValueError
        For no categories, a shape that does not end so, and more draws than categories without replacement.

    Notes
    -----
    The place of the greatest sum of a logit and a Gumbel number, as ``jax.random.categorical``.
    :func:`choice` takes probabilities.

    Examples
    --------
    >>> logits = nx.log(nx.tensor([0.1, 0.2, 0.7]))
    >>> x, key = nx.random.categorical(nx.random.key(7), logits, shape=(8,))
    >>> x.to_list()
    [2, 2, 0, 2, 2, 2, 0, 2]
    """
    pair, following = advance(pair_of(key))
    logits = operand(logits, "logits")
    if not logits.rank:
        raise NxValueError(f"categorical: logits have an axis of categories, got {logits.spec}")
    place = normalize_axis(axis, logits.shape, logits.names)
    _, inner = real_drawn("categorical", None, logits)
    logits, count = convert(logits, inner), logits.shape[place]
    batch = (*logits.shape[:place], *logits.shape[place + 1 :])
    shape = batch if shape is None else shape_of(shape)
    draws = len(shape) - len(batch)
    if draws < 0 or shape[draws:] != batch:
        raise NxValueError(
            message(
                f"categorical: the shape to draw is {text(shape)}, and logits {logits.spec} are {text(batch)} "
                f"distributions along axis {place}.",
                f"It ends with that, such as shape={(5, *batch)} for five draws of each.",
            )
        )
    if not count:
        raise NxValueError(f"categorical has nothing to choose from: axis {place} of {logits.spec} has no elements")
    if replace:
        noise = gumbels(pair, (*shape[:draws], *logits.shape), inner)
        return named(argmax(noise + logits, axis=draws + place), names), following
    wanted = math.prod(shape[:draws])
    if wanted > count:
        raise NxValueError(
            message(
                f"categorical cannot draw {wanted} of {count} categories without replacement.",
                "Draw fewer, or pass replace=True.",
            )
        )
    order = argsort(-(gumbels(pair, logits.shape, inner) + logits), axis=place)
    chosen = slice_along_axis(order, 0, wanted, axis=place)
    front = transpose(chosen, axes=[place, *[axis for axis in range(chosen.rank) if axis != place]])
    return named(reshape(front, shape), names), following
