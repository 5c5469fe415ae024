"""Choosing and finding elements under NumPy's names."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import comparison, elementwise
from nxkernel.ops.machinery.dispatch import (
    apply,
    convert,
    filled,
    lasting,
    merged,
    operand,
    ordered,
    spread,
    together,
    whole,
)
from nxkernel.ops.shapes.gathering import take
from nxkernel.ops.shapes.shaping import flatten
from nxkernel.ops.shapes.sorting import argsort
from nxkernel.tensor.tensor import StoredTensor, Tensor

__all__ = ["argpartition", "choose", "copy", "nonzero", "searchsorted", "where"]


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Elements of `x` where a condition holds, and of `y` elsewhere.

    Parameters
    ----------
    condition : tensor or number
        All but 0 counts as true.
    x, y : tensor or number
        All three are broadcast together. Without them the result is that of :func:`nonzero`.

    Returns
    -------
    Tensor
        With the types of the two merged; a number takes the type of a tensor that holds it.

    Examples
    --------
    >>> t = nx.tensor([[1, -2], [-3, 4]])
    >>> nx.where(t > 0, t, 0).to_list()
    [[1, 0], [0, 4]]
    """
    if x is None and y is None:
        return nonzero(condition)
    condition = operand(condition, "condition")
    x, y, type_ = together(x, y)
    names = [value.names for value in (condition, x)]
    shape = shapes.broadcast_shapes(condition.shape, x.shape, *names)
    return apply(p.select, spread(condition, shape), *(spread(convert(side, type_), shape) for side in (x, y)))


def copy(tensor: Any) -> Tensor | Expr:
    """The tensor itself: nobody can write into it, so that a copy would say nothing else.

    Parameters
    ----------
    tensor : tensor or number
        The memory of an array that can be written into is copied.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.tensor([1, 2]).copy().to_list()
    [1, 2]
    """
    return lasting(tensor, "tensor")


def choose(tensor: Any, choices: Any) -> Tensor | Expr:
    """For each element, which is a place in a list of tensors, the element of that one.

    Parameters
    ----------
    tensor : tensor
        Integers. Those beyond the list are moved to its nearest end.
    choices : list of tensor or number
        What to choose from; all are broadcast together.

    Returns
    -------
    Tensor
        The types of the choices merged.

    Examples
    --------
    >>> nx.choose([0, 1, 1, 0], [[1, 2, 3, 4], 10]).to_list()
    [1, 10, 10, 4]
    """
    tensor = operand(tensor, "tensor")
    whole("choose")(tensor.type)
    first, *others = list(choices) or [None]
    result: Any = operand(first, "choices")
    for place, other in enumerate(others, 1):
        result = where(comparison.less(tensor, place), result, other)
    return spread(result, shapes.broadcast_shapes(tensor.shape, result.shape))


def compress(tensor: Any, condition: Any, axis: int | str | None = None) -> Tensor | Expr:
    """The slices along an axis at the places where a condition holds.

    Parameters
    ----------
    tensor : tensor
    condition : list of bool, or tensor with data
        Known when the graph is built, as the size of the result is.
    axis : int or str, optional
        Along this one; without it of all elements in C order.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.tensor([[1, 2], [3, 4], [5, 6]]).compress([True, False, True], axis=0).to_list()
    [[1, 2], [5, 6]]
    """
    tensor = lasting(tensor, "tensor")
    if isinstance(condition, Operand) and not isinstance(condition, StoredTensor):
        _size_unknown("compress", condition)
    if axis is None:
        tensor, axis = flatten(tensor), 0
    return take(tensor, np.flatnonzero(np.asarray(condition)), axis=axis)


def nonzero(tensor: Any) -> tuple[Tensor, ...]:
    """The indices of the elements that are not 0, in C order.

    Parameters
    ----------
    tensor : tensor with data
        Not one that is traced: how many there are has to be known.

    Returns
    -------
    tuple of Tensor
        A vector for each axis.

    Examples
    --------
    >>> [t.to_list() for t in nx.nonzero([[3, 0], [0, 5]])]
    [[0, 1], [0, 1]]
    """
    tensor = operand(tensor, "tensor")
    if not isinstance(tensor, StoredTensor) or tensor.vectorized_axes:
        _size_unknown("nonzero", tensor)
    if not tensor.shape:
        raise NxTypeError(
            message(f"nonzero takes a tensor with axes, got {tensor.spec}.", "nx.reshape(t, (1,)) gives it one.")
        )
    return tuple(Tensor.from_numpy(each) for each in np.nonzero(tensor.to_numpy()))


def _size_unknown(name: str, value: Operand) -> NoReturn:
    raise NxTypeError(
        message(
            f"how many elements {name} gives only the running program knows: it counts those of {value.spec}.",
            "Sizes are fixed when a program is compiled: nx.where(mask, t, 0) keeps the shape.",
            "Outside of definitions it takes tensors without vectorized axes.",
        )
    )


def argpartition(tensor: Any, kth: Any, axis: int | str = -1) -> Tensor | Expr:
    """Indices that bring the smaller elements before the `kth` and the greater after it: they sort all.

    Parameters
    ----------
    tensor : tensor
    kth : int or list of int
        Which ones have to be in their places; all are.
    axis : int or str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.argpartition([3, 1, 2], 1).to_list()
    [1, 2, 0]
    """
    tensor = operand(tensor, "tensor")
    size = tensor.shape[shapes.normalize_axis(axis, tensor.shape, tensor.names)]
    for place in kth if isinstance(kth, list | tuple) else [kth]:
        shapes.place_in(size, shapes.static_int(place, "kth"), 0, f"{tensor.spec}")
    return argsort(tensor, axis=axis)


def searchsorted(tensor: Any, values: Any, side: str = "left") -> Tensor | Expr:
    """Where values would be inserted into a sorted vector so that it stays sorted.

    Parameters
    ----------
    tensor : tensor
        A vector in ascending order.
    values : tensor or number
    side : {"left", "right"}, optional
        Before or after those elements that are equal.

    Returns
    -------
    Tensor
        Indices of the shape of `values`.

    Examples
    --------
    >>> nx.searchsorted([1, 3, 3, 5], [3, 6]).to_list()
    [1, 4]
    """
    if side not in ("left", "right"):
        raise NxValueError(f'side is "left" or "right", got {side!r}')
    line, values = operand(tensor, "tensor"), operand(values, "values")
    if line.rank != 1:
        raise NxValueError(f"searchsorted takes a sorted vector, got {line.spec}")
    type_ = ordered("searchsorted")(merged(line, values))
    line, values = convert(line, type_), convert(values, type_)
    size, low = line.shape[0], filled(0, types.s64, values.shape)
    step = 1 << max(size.bit_length() - 1, 0)
    before = comparison.less if side == "left" else comparison.less_equal
    # Of a sorted vector, so many elements come before a value: the bits of that number, from the highest one on.
    while step and size:
        middle = elementwise.add(low, step)
        smaller = before(take(line, elementwise.subtract(middle, 1)), values)
        low = comparison.select(comparison.logical_and(comparison.less_equal(middle, size), smaller), middle, low)
        step //= 2
    return low
