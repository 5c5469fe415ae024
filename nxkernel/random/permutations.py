"""Random permutations and choices."""

from __future__ import annotations

import math
from typing import Any

from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic.comparison import less, less_equal, logical_and, select
from nxkernel.ops.arithmetic.elementary import log
from nxkernel.ops.machinery.dispatch import convert, filled, lasting, operand
from nxkernel.ops.reductions.cumulative import cumulative_sum
from nxkernel.ops.shapes.gathering import take, take_along_axis
from nxkernel.ops.shapes.indexing import slice_along_axis
from nxkernel.ops.shapes.shaping import flatten, reshape
from nxkernel.ops.shapes.sorting import argsort
from nxkernel.ops.tensors.creation import iota, shape_of
from nxkernel.random.bit_stream import advance, pair_of, words
from nxkernel.random.distributions import gumbel, randint, uniform
from nxkernel.shapes import Shape, normalize_axis, static_int
from nxkernel.tensor.tensor import Tensor

__all__ = ["choice", "permutation", "shuffle"]


def shuffle(
    key: Any, tensor: Any, *, axis: int | str = 0, independent: bool = False
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Permute a tensor randomly along an axis.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    tensor : tensor
    axis : int or str, optional
    independent : bool, optional
        Whether every line along the axis gets an order of its own, instead of all of them the same.

    Returns
    -------
    tuple of Tensor
        The shuffled tensor and a new key.

    Notes
    -----
    Sorts by random words, so many times over that equal words hardly ever decide an order.

    Examples
    --------
    >>> x, key = nx.random.shuffle(nx.random.key(42), [[0, 1], [2, 3], [4, 5]])
    >>> x.to_list()
    [[4, 5], [0, 1], [2, 3]]
    """
    tensor, pair = lasting(tensor, "tensor"), pair_of(key)
    if not tensor.rank:
        raise NxValueError(f"shuffle needs an axis, got the scalar {tensor.spec}")
    position = normalize_axis(axis, tensor.shape, tensor.names)
    if not independent:
        order, following = _order(key, tensor.shape[position])
        return take(tensor, order, axis=position), following
    following = operand(key)
    for _ in range(_rounds(tensor.size)):
        pair, following = advance(pair_of(following))
        tensor = take_along_axis(tensor, _ranks(pair, tensor.shape, position), axis=position)
    return tensor, following


def permutation(
    key: Any, x: Any, *, axis: int | str = 0, independent: bool = False
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw a permutation of the numbers from 0 to below `x`, or of a tensor along an axis.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    x : int or tensor
        How many numbers, or what :func:`shuffle` takes, as well as the other parameters.
    axis : int or str, optional
    independent : bool, optional

    Returns
    -------
    tuple of Tensor
        The permutation and a new key.

    Raises
    ------
    NxValueError
        For a negative number, or a tensor without an axis.

    Notes
    -----
    As ``jax.random.permutation``, for the same key.

    Examples
    --------
    >>> x, key = nx.random.permutation(nx.random.key(42), 5)
    >>> x.to_list()
    [2, 3, 0, 1, 4]
    """
    return shuffle(key, _counted(x, "permutation"), axis=axis, independent=independent)


def _counted(value: Any, function: str) -> Any:
    """The numbers from 0 to below a number; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int):
        return value
    if value < 0:
        raise NxValueError(f"{function}: {value} is no number of things to choose from")
    return iota((value,))


def _order(key: Any, size: int) -> tuple[Operand, Operand]:
    """A random permutation of `size` indices, and a new key."""
    order, following = None, operand(key)
    for _ in range(_rounds(size)):
        pair, following = advance(pair_of(following))
        ranks = _ranks(pair, (size,), 0)
        order = ranks if order is None else take(order, ranks)
    return iota((size,)) if order is None else order, following


def _ranks(pair: Any, shape: Shape, axis: int) -> Operand:
    return argsort(words(pair, shape), axis=axis)


def _rounds(size: int) -> int:
    """The number of sorts by 32-bit words after which ties are practically impossible."""
    return math.ceil(3 * math.log(max(size, 1)) / math.log(2**32 - 1))


def choice(
    key: Any,
    tensor: Any,
    p: Any = None,
    *,
    samples: int = 1,
    shape: Any = None,
    axis: int | str | None = None,
    replace: bool = True,
) -> tuple[Tensor | Expr, Tensor | Expr]:
    """Draw random elements, or slices along an axis, with or without replacement.

    Parameters
    ----------
    key : tensor
        ``u32[2]``; use the new key afterwards.
    tensor : tensor or int
        What to choose from; a number stands for those from 0 to below it.
    p : tensor, optional
        A vector: how likely each of them is. It need not add up to 1. All are equally likely without it. What has 0 is
        not taken, or without replacement after all others; where all have 0 it is the first.
    samples : int, optional
        How many to take.
    shape : tuple of int, optional
        How many in the place of `samples`, with the axes that they get.
    axis : int or str, optional
        Take parts along this axis; without it, elements of the whole tensor.
    replace : bool, optional
        Whether one may be taken several times.

    Returns
    -------
    tuple of Tensor
        What was taken and a new key.

    Raises
    ------
    NxValueError
        For `p` of another length or, in a tensor with data, with a number that is not at least 0; for nothing to
        choose from, and for more samples than there are without replacement.

    Examples
    --------
    >>> x, key = nx.random.choice(nx.random.key(2), [10, 20, 30, 40], samples=3, replace=False)
    >>> x.to_list()
    [40, 20, 10]
    >>> x, key = nx.random.choice(key, [0, 1], [0.2, 0.8], samples=5)
    >>> x.to_list()
    [1, 0, 1, 1, 1]
    >>> x, key = nx.random.choice(key, 6, shape=(2, 3))
    >>> x.shape
    (2, 3)
    """
    shape = None if shape is None else shape_of(shape)
    tensor = lasting(_counted(tensor, "choice"), "tensor")
    samples = static_int(samples, "samples") if shape is None else math.prod(shape)
    pair_of(key)
    if axis is None:
        tensor, position = flatten(tensor), 0
    else:
        position = normalize_axis(axis, tensor.shape, tensor.names)
    count = tensor.shape[position]
    if samples < (shape is None):
        raise NxValueError(f"choice takes at least one sample, got samples={samples}")
    if not count:
        raise NxValueError(f"choice has nothing to choose from: axis {position} of {tensor.spec} has no elements")
    if not replace and samples > count:
        raise NxValueError(
            message(
                f"choice cannot take {samples} samples out of {count} without replacement.",
                "Take fewer, or pass replace=True.",
            )
        )
    if p is not None:
        p = _likelihoods(p, count)
    if replace:
        chosen, following = _drawn(key, p, count, samples)
    else:
        order, following = _order(key, count) if p is None else _weighted_order(key, p)
        chosen = slice_along_axis(order, 0, samples)
    return take(tensor, chosen if shape is None else reshape(chosen, shape), axis=position), following


def _likelihoods(p: Any, count: int) -> Operand:
    p = operand(p, "p")
    if p.shape != (count,):
        raise NxValueError(
            message(
                f"choice: p is a vector with a likelihood for each of the {count} to choose from, got {p.spec}.",
                "With axis=, parts along that axis are chosen; without it, elements.",
            )
        )
    if p.type.is_complex:
        raise NxTypeError(f"choice: likelihoods are real numbers, got p of {p.type}")
    if type(p) is Tensor and tracing.current() is None:
        numbers = p.data.astype(float).ravel()
        wrong = numbers[~(numbers >= 0)]
        if wrong.size:
            raise NxValueError(f"choice: likelihoods are at least 0, got {wrong[0]:g} in p")
    return convert(p, types.to_floating(p.type))


def _drawn(key: Any, p: Operand | None, count: int, samples: int) -> tuple[Operand, Operand]:
    """Indices drawn with replacement, by the inverse of the cumulative probabilities if `p` is given."""
    if p is None:
        return randint(key, 0, count, shape=(samples,))
    totals = cumulative_sum(p)
    parts, following = uniform(key, shape=(samples,), type=p.type)
    return _reached(totals, totals[-1] * (1 - parts)), following


def _reached(totals: Operand, wanted: Operand) -> Operand:
    """The first index at which ascending totals reach each wanted number, by bisection."""
    last = totals.shape[0] - 1
    index = filled(0, types.s64, wanted.shape)
    for step in [1 << bit for bit in reversed(range(last.bit_length()))]:
        further = index + step
        short = less(take(totals, further - 1), wanted)
        index = select(logical_and(short, less_equal(further, last)), further, index)
    return index


def _weighted_order(key: Any, p: Operand) -> tuple[Operand, Operand]:
    """All indices in the order of weighted sampling without replacement, by the Gumbel trick."""
    noise, following = gumbel(key, shape=p.shape, type=p.type)
    return argsort(-noise - log(p)), following
