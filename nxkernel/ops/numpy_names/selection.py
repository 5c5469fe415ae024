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
from nxkernel.ops.reductions.cumulative import cumulative_sum
from nxkernel.ops.shapes.gathering import take
from nxkernel.ops.shapes.shaping import concatenate, flatten, reshape
from nxkernel.ops.shapes.sorting import argsort
from nxkernel.ops.tensors.creation import iota
from nxkernel.tensor.tensor import StoredTensor, Tensor

__all__ = ["argpartition", "choose", "copy", "nonzero", "searchsorted", "unique", "where"]


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
    if not isinstance(choices, list | tuple) or not choices:
        raise NxTypeError(
            message(
                f"choose takes a list of what to choose from, got {shapes.describe(choices)}.",
                "Write nx.choose(t, [a, b]).",
            )
        )
    first, *others = choices
    result: Any = operand(first, "choices")
    for place, other in enumerate(others, 1):
        result = where(comparison.less(tensor, place), result, other)
    return spread(result, shapes.broadcast_shapes(tensor.shape, result.shape))


def compress(
    tensor: Any, condition: Any, axis: int | str | None = None, *, size: int | None = None, fill_value: Any = 0
) -> Tensor | Expr:
    """The slices along an axis at the places where a condition holds; with a `size`, what ``t[mask]`` is in a program.

    Parameters
    ----------
    tensor : tensor
    condition : list of bool or tensor
        A vector; without `axis` it may have the shape of `tensor`. Without `size` it is known when the graph is built,
        as the size of the result is.
    axis : int or str, optional
        Along this one; without it of all elements in C order.
    size : int, optional
        So many slices; the rest are left out.
    fill_value : number, optional
        Stands in the places of those that there are too few of.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.tensor([[1, 2], [3, 4], [5, 6]]).compress([True, False, True], axis=0).to_list()
    [[1, 2], [5, 6]]
    >>> nx.jit(lambda t: t.compress(t > 2, size=3, fill_value=-1))(nx.tensor([4, 1, 3])).to_list()
    [4, 3, -1]
    """
    tensor = lasting(tensor, "tensor")
    if size is None and isinstance(condition, Operand) and not isinstance(condition, StoredTensor):
        _size_unknown("compress", condition, "t.compress(mask, size=n) makes room for n of them")
    if axis is None:
        tensor, axis = flatten(tensor), 0
    if size is None:
        return take(tensor, np.flatnonzero(np.asarray(condition)), axis=axis)
    place = shapes.normalize_axis(axis, tensor.shape, tensor.names)
    mask = flatten(operand(condition, "condition"))
    if mask.size > tensor.shape[place]:
        raise NxValueError(
            message(
                f"compress: the condition is for {mask.size} slices, axis {place} of {tensor.spec} has fewer.",
                "It has an element for each of them.",
            )
        )
    (chosen,) = nonzero(mask, size=size, fill_value=-1)
    wide = [1] * tensor.rank
    wide[place] = chosen.size
    shape = (*tensor.shape[:place], chosen.size, *tensor.shape[place + 1 :])
    if not tensor.shape[place]:
        return filled(fill_value, tensor.type, shape)
    is_there = spread(reshape(comparison.greater_equal(chosen, 0), wide), shape)
    return comparison.select(is_there, take(tensor, chosen, axis=place), filled(fill_value, tensor.type, shape))


def nonzero(tensor: Any, *, size: int | None = None, fill_value: int = 0) -> tuple[Tensor | Expr, ...]:
    """The indices of the elements that are not 0, in C order.

    Parameters
    ----------
    tensor : tensor
        One with data where no `size` is given: how many there are has to be known.
    size : int, optional
        So many indices; the rest are left out.
    fill_value : int, optional
        Stands in the places of those that there are too few of.

    Returns
    -------
    tuple of Tensor
        A vector for each axis.

    Examples
    --------
    >>> [t.to_list() for t in nx.nonzero([[3, 0], [0, 5]])]
    [[0, 1], [0, 1]]
    >>> [t.to_list() for t in nx.jit(lambda x: nx.nonzero(x, size=3, fill_value=-1))(nx.tensor([0, 4, 0, 5]))]
    [[1, 3, -1]]
    """
    tensor = operand(tensor, "tensor")
    if tensor.vectorized_axes or (size is None and not isinstance(tensor, StoredTensor)):
        sized = "" if tensor.vectorized_axes else "nx.nonzero(t, size=n) makes room for n of them"
        _size_unknown("nonzero", tensor, sized)
    if not tensor.shape:
        raise NxValueError(
            message(
                f"nonzero gives an index for each axis, and a tensor of type {tensor.spec} has none.",
                "t != 0 says whether it is another number than 0.",
            )
        )
    if size is None:
        return tuple(Tensor.from_numpy(each) for each in np.nonzero(tensor.to_numpy()))
    size, fill_value = shapes.static_int(size, "size"), shapes.static_int(fill_value, "fill_value")
    count = cumulative_sum(convert(comparison.not_equal(flatten(tensor), 0), types.s64))
    # The place of the number k among them is the first one up to which there are k + 1.
    places = searchsorted(count, iota((size,), type=types.s64) + 1)
    is_there = comparison.less(places, tensor.size)
    indices = []
    for length in reversed(tensor.shape):
        indices.append(comparison.select(is_there, elementwise.remainder(places, max(length, 1)), fill_value))
        places = elementwise.quotient(places, max(length, 1))
    return tuple(reversed(indices))


def _size_unknown(name: str, value: Operand, sized: str = "") -> NoReturn:
    raise NxTypeError(
        message(
            f"how many elements {name} gives only the running program knows: it counts those of {value.spec}.",
            f"Sizes are fixed when a program is compiled: {sized and sized + ', and '}nx.where(mask, t, 0) keeps the "
            "shape.",
            "Outside of definitions it takes tensors without vectorized axes.",
        )
    )


def unique(
    tensor: Any,
    *,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The different elements in ascending order. NaN counts as one.

    Parameters
    ----------
    tensor : tensor
        One with data where no `size` is given: how many there are has to be known.
    return_index : bool, optional
        Give the places of the first of each, too, in C order.
    return_inverse : bool, optional
        For each element give which of the different ones it is, too.
    return_counts : bool, optional
        Give how many there are of each, too.
    size : int, optional
        So many elements; the rest are left out.
    fill_value : number, optional
        Stands in the places of those that there are too few of: the least element, unless given. Their places and
        counts are 0.

    Returns
    -------
    Tensor or tuple of Tensor

    Raises
    ------
    NxTypeError
        For a traced value without `size`, and for complex numbers.

    Examples
    --------
    >>> nx.unique([3, 1, 3]).to_list()
    [1, 3]
    >>> values, counts = nx.jit(lambda t: nx.unique(t, return_counts=True, size=3))(nx.tensor([3, 1, 3]))
    >>> values.to_list(), counts.to_list()
    ([1, 3, 1], [1, 2, 0])
    """
    tensor = operand(tensor, "tensor")
    ordered("unique")(tensor.type)
    if tensor.vectorized_axes or (size is None and not isinstance(tensor, StoredTensor)):
        sized = "" if tensor.vectorized_axes else "nx.unique(t, size=n) makes room for n of them"
        _size_unknown("unique", tensor, sized)
    if size is None:
        found = [Tensor.from_numpy(each) for each in np.unique(
            tensor.to_numpy(), return_index=True, return_inverse=True, return_counts=True
        )]  # fmt: skip
    else:
        found = _sized_unique(tensor, shapes.static_int(size, "size"), fill_value)
    asked = zip(found, (True, return_index, return_inverse, return_counts), strict=True)
    values, *others = [each for each, wanted in asked if wanted]
    return (values, *others) if others else values


def _sized_unique(tensor: Operand, size: int, fill_value: Any) -> list[Any]:
    """So many different elements, their first places, which one each element is, and how many there are of each."""
    line, nothing = flatten(tensor), filled(0, types.s64, (size,))
    if not line.size:
        values = filled(0 if fill_value is None else fill_value, tensor.type, (size,))
        return [values, nothing, filled(0, types.s64, tensor.shape), nothing]
    order = argsort(line)
    ascending = take(line, order)
    before, after = ascending[:-1], ascending[1:]
    differ = comparison.not_equal(before, after)
    if tensor.type.is_float:
        both = comparison.logical_and(comparison.is_nan(before), comparison.is_nan(after))
        differ = comparison.logical_and(differ, comparison.logical_not(both))
    count = cumulative_sum(concatenate([filled(1, types.s64, (1,)), convert(differ, types.s64)]))
    # The different element number k begins where there are k + 1 for the first time.
    begins = searchsorted(count, iota((size + 1,), type=types.s64) + 1)
    is_there = comparison.less(begins[:-1], line.size)
    least = ascending[0] if fill_value is None else fill_value
    values = where(is_there, take(ascending, begins[:-1]), least)
    places = where(is_there, take(order, begins[:-1]), nothing)
    inverse = apply(p.scatter, filled(0, types.s64, line.shape), count - 1, order, axes=(0,), combine="put")
    return [convert(values, tensor.type), places, reshape(inverse, tensor.shape), begins[1:] - begins[:-1]]


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
