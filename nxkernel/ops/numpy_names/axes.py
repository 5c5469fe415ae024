"""Moving, repeating and summing along axes under NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel import shapes
from nxkernel.errors import NxTypeError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import lasting, operand
from nxkernel.ops.reductions import cumulative, reduction
from nxkernel.ops.shapes.diagonals import take_diagonal
from nxkernel.ops.shapes.gathering import take
from nxkernel.ops.shapes.shaping import broadcast, flatten, new_axis, reshape, transpose
from nxkernel.shapes import normalize_axis
from nxkernel.tensor.tensor import StoredTensor, Tensor

__all__ = ["cumprod", "cumsum", "diagonal", "repeat", "swapaxes", "trace"]


def swapaxes(tensor: Any, axis1: int | str, axis2: int | str) -> Tensor | Expr:
    """Swap two axes.

    Parameters
    ----------
    tensor : tensor
    axis1, axis2 : int or str

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.swapaxes(nx.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """
    tensor = operand(tensor, "tensor")
    order = list(range(tensor.rank))
    one, other = (normalize_axis(axis, tensor.shape, tensor.names) for axis in (axis1, axis2))
    order[one], order[other] = other, one
    return transpose(tensor, axes=order)


def repeat(tensor: Any, repeats: Any, axis: int | str | None = None) -> Tensor | Expr:
    """Repeat each element.

    Parameters
    ----------
    tensor : tensor or number
    repeats : int or list of int
        How often each, or how often each one along the axis. Known when the graph is built, as the size of the result.
    axis : int or str, optional
        Along this one; without it all elements in C order.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.repeat([1, 2], 2).to_list()
    [1, 1, 2, 2]
    >>> nx.repeat([[1, 2], [3, 4]], [0, 3], axis=1).to_list()
    [[2, 2, 2], [4, 4, 4]]
    """
    tensor = lasting(tensor, "tensor")
    if isinstance(repeats, Operand) and not isinstance(repeats, StoredTensor):
        raise NxTypeError(
            message(
                f"repeat takes numbers that are known when the graph is built, got {shapes.describe(repeats)}.",
                "Make it an option: declare it after `*`, as in `def f(x, *, n)`, and call f(x, n=3).",
            )
        )
    if axis is None:
        tensor, axis = flatten(tensor), 0
    position = normalize_axis(axis, tensor.shape, tensor.names)
    try:
        counts = np.asarray(repeats)
    except ValueError:
        counts = np.array(None)
    if counts.dtype.kind not in "iu" or counts.shape not in ((), (tensor.shape[position],)):
        raise NxTypeError(
            f"repeat takes a whole number, or one for each of {tensor.shape[position]} elements, got {repeats!r}"
        )
    if counts.ndim:
        return take(tensor, np.repeat(np.arange(tensor.shape[position]), counts), axis=position)
    before, after, times = tensor.shape[: position + 1], tensor.shape[position + 1 :], int(counts)
    apart = broadcast(new_axis(tensor, position + 1), (*before, times, *after))
    return reshape(apart, (*before[:-1], before[-1] * times, *after), names=tensor.names)


def diagonal(tensor: Any, offset: int = 0, axis1: int | str = 0, axis2: int | str = 1) -> Tensor | Expr:
    """The diagonals of the matrices in two axes, which are the first two as in NumPy.

    Parameters
    ----------
    tensor : tensor
    offset : int, optional
        Which diagonal: 0 is the main one, above it is positive.
    axis1, axis2 : int or str, optional
        The rows and the columns. :func:`take_diagonal` takes the last two axes.

    Returns
    -------
    Tensor
        The diagonals in the last axis.

    Examples
    --------
    >>> nx.diagonal([[1, 2], [3, 4]]).to_list()
    [1, 4]
    """
    tensor = operand(tensor, "tensor")
    rows, columns = (normalize_axis(axis, tensor.shape, tensor.names) for axis in (axis1, axis2))
    others = [axis for axis in range(tensor.rank) if axis not in (rows, columns)]
    return take_diagonal(transpose(tensor, axes=[*others, rows, columns]), offset=offset)


def trace(tensor: Any, offset: int = 0, axis1: int | str = 0, axis2: int | str = 1) -> Tensor | Expr:
    """The sum of a diagonal of the matrices in two axes.

    Parameters
    ----------
    tensor : tensor
    offset, axis1, axis2
        As :func:`diagonal` takes them.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.trace([[1, 2], [3, 4]]).to_list()
    5
    """
    return reduction.sum(diagonal(tensor, offset, axis1, axis2), axes=-1)


def cumsum(tensor: Any, axis: int | str | None = None) -> Tensor | Expr:
    """For each element the sum of those up to it.

    Parameters
    ----------
    tensor : tensor
    axis : int or str, optional
        Along this one; without it of all elements in C order. :func:`cumulative_sum` takes the first axis then.

    Returns
    -------
    Tensor
        Of the same type.

    Examples
    --------
    >>> nx.cumsum([[1, 2], [3, 4]]).to_list()
    [1, 3, 6, 10]
    """
    tensor, axis = _along(tensor, axis)
    return cumulative.cumulative_sum(tensor, axis=axis)


def cumprod(tensor: Any, axis: int | str | None = None) -> Tensor | Expr:
    """For each element the product of those up to it.

    Parameters
    ----------
    tensor : tensor
    axis : int or str, optional
        Along this one; without it of all elements in C order. :func:`cumulative_product` takes the first axis then.

    Returns
    -------
    Tensor
        Of the same type.

    Examples
    --------
    >>> nx.cumprod([[1, 2], [3, 4]], axis=1).to_list()
    [[1, 2], [3, 12]]
    """
    tensor, axis = _along(tensor, axis)
    return cumulative.cumulative_product(tensor, axis=axis)


def _along(tensor: Any, axis: Any) -> tuple[Operand, Any]:
    """A tensor and an axis of it; without one, the axis of all elements."""
    return (flatten(tensor), 0) if axis is None else (operand(tensor, "tensor"), axis)
