"""Gather: reading elements at indices, and indices as vectors.

Indices in a tensor are known only when the program runs: those outside of an axis are moved to its nearest end. Indices
in a list of numbers or a NumPy array are known now, and one outside of its axis is an error. (Arrays that a definition
takes or captures are its program's inputs, like tensors.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives, shapes, types
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, lasting, operand
from nxkernel.ops.shapes.shaping import rename, transpose
from nxkernel.ops.tensors.creation import iota
from nxkernel.shapes import normalize_axes, normalize_axis
from nxkernel.tensor.tensor import Tensor

__all__ = ["gather", "one_hot", "take", "take_along_axis"]


def whole_indices(value: Any, function: str) -> Operand:
    """Indices as a tensor, which must have an integer type."""
    indices = operand(value, "indices")
    if indices.type is types.bool_:
        raise NxTypeError(
            message(
                f"{function} takes indices, got a mask: {indices.spec}.",
                "What a mask picks has a size that only its values tell, and sizes are fixed when a graph is built.",
                "nx.select(mask, t, 0) keeps the shape; outside of definitions, t[mask] picks.",
            )
        )
    if not indices.type.is_integer:
        raise NxTypeError(
            message(
                f"{function}: indices are whole numbers, got {indices.spec}.",
                'Convert them: nx.as_type(indices, "s64") cuts fractions off.',
            )
        )
    return indices


def known(value: Any, indices: Operand) -> np.ndarray | None:
    """The indices as a NumPy array if they are known while tracing, else None."""
    if isinstance(value, np.ndarray):
        return value if type(indices) is Tensor else None
    if isinstance(value, list | tuple) and type(indices) is Tensor and not any(_holds_operands(value)):
        return indices.to_numpy()
    return np.asarray(value) if isinstance(value, int | np.integer) else None


def _holds_operands(values: Sequence[Any]) -> Any:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _holds_operands(value)
        else:
            yield isinstance(value, Operand | np.ndarray)


def _check_inside(values: np.ndarray | None, axis: int, tensor: Operand, function: str) -> None:
    if values is None:
        return
    size = tensor.shape[axis]
    outside = values[(values < 0) | (values >= size)]
    if outside.size:
        raise NxIndexError(
            message(
                f"{function}: index {int(outside[0])} is out of bounds for axis {axis} of {tensor.spec}.",
                f"Indices go from 0 to {size - 1}; negative ones do not count from the end."
                if size
                else "It is empty.",
            )
        )


def check_not_empty(tensor: Operand, axes: Sequence[int], indices: Operand, function: str) -> None:
    """Raise an error for indices along an axis of size 0, where they cannot be clamped."""
    for axis in axes:
        if tensor.shape[axis] == 0 and math.prod(indices.shape):
            raise NxIndexError(f"{function}: axis {axis} of {tensor.spec} has no elements to take")


def take(tensor: Any, indices: Any, *, axis: int | str = 0) -> Tensor | Expr:
    """Take elements or slices at the given indices of an axis.

    Parameters
    ----------
    tensor : tensor
    indices : tensor or list of int
        Of any shape and an integer type. Those outside of the axis are moved to its nearest end; in a list or array
        they are an error.
    axis : int or str, optional

    Returns
    -------
    Tensor
        The axes of `indices` stand where `axis` was. Indices of one axis and `axis` merge their names.

    Raises
    ------
    NxTypeError
        When indices are no whole numbers.
    NxIndexError
        When a number in a list or array is outside of the axis.

    Examples
    --------
    >>> nx.take([[1, 2], [3, 4]], [1, 0, 1]).to_list()
    [[3, 4], [1, 2], [3, 4]]
    >>> nx.take([[1, 2], [3, 4]], nx.tensor([[0], [1]]), axis=1).to_list()
    [[[1], [2]], [[3], [4]]]
    """
    tensor, chosen = lasting(tensor, "tensor"), whole_indices(indices, "take")
    position = normalize_axis(axis, tensor.shape, tensor.names)
    _check_inside(known(indices, chosen), position, tensor, "take")
    check_not_empty(tensor, [position], chosen, "take")
    own = chosen.names
    if chosen.rank == 1:
        own = shapes.merge_names((tensor.names[position],), own)
    names = (*tensor.names[:position], *own, *tensor.names[position + 1 :])
    shape = (*tensor.shape[:position], *chosen.shape, *tensor.shape[position + 1 :])
    names = shapes.normalize_names(names, shape)
    result = apply(primitives.gather, tensor, chosen, axes=(position,))
    if position and chosen.rank:
        front = range(chosen.rank, chosen.rank + position)
        result = transpose(result, axes=[*front, *range(chosen.rank), *range(chosen.rank + position, result.rank)])
    return rename(result, names)


def take_along_axis(tensor: Any, indices: Any, *, axis: int | str = 0) -> Tensor | Expr:
    """Take elements along an axis, at indices given for each 1-d slice.

    Parameters
    ----------
    tensor : tensor
    indices : tensor or list of int
        Of the shape of `tensor` but for the size of `axis`, as :func:`argsort` gives them.
    axis : int or str, optional

    Returns
    -------
    Tensor
        Of the shape of `indices`, with the names of `tensor`.

    Raises
    ------
    NxValueError
        When the shapes do not fit.

    Examples
    --------
    >>> nx.take_along_axis([[3, 1, 2], [6, 4, 5]], [[1, 2, 0], [1, 2, 0]], axis=1).to_list()
    [[1, 2, 3], [4, 5, 6]]
    """
    tensor, chosen = operand(tensor, "tensor"), whole_indices(indices, "take_along_axis")
    position = normalize_axis(axis, tensor.shape, tensor.names)
    wanted = (*tensor.shape[:position], "any", *tensor.shape[position + 1 :])
    if chosen.rank != tensor.rank or any(n != m for n, m in zip(chosen.shape, wanted, strict=True) if m != "any"):
        raise NxValueError(
            message(
                f"take_along_axis: indices {chosen.spec} do not fit {tensor.spec} along axis {position}.",
                f"Their shape is {''.join(f'[{n}]' for n in wanted)}; nx.take uses the same indices for all lines.",
            )
        )
    _check_inside(known(indices, chosen), position, tensor, "take_along_axis")
    check_not_empty(tensor, [position], chosen, "take_along_axis")
    chosen = rename(chosen, [None] * chosen.rank)
    each = [chosen if a == position else iota(chosen.shape, axis=a) for a in range(tensor.rank)]
    return rename(apply(primitives.gather, tensor, *each, axes=tuple(range(tensor.rank))), tensor.names)


def gather(tensor: Any, indices: Any, *, axes: int | str | Sequence[int | str] | None = None) -> Tensor | Expr:
    """Gather elements, or slices of the remaining axes, at coordinates.

    Parameters
    ----------
    tensor : tensor
    indices : tensor or list of int
        Its last axis holds coordinates, one number for each of `axes`. Those outside of an axis are moved to its
        nearest end; in a list they are an error.
    axes : int, str or list of these, optional
        In ascending order; without it the first ones of `tensor`.

    Returns
    -------
    Tensor
        The axes of `indices` but the last, then those of `tensor` that no coordinate is for; without names.

    Raises
    ------
    NxValueError
        When there are more coordinates than axes, or not one for each of `axes`.

    Examples
    --------
    >>> nx.gather([[1, 2], [3, 4]], [[1, 1], [0, 1]]).to_list()
    [4, 2]
    >>> nx.gather([[1, 2, 3], [4, 5, 6]], [[2], [0]], axes=[1]).to_list()
    [[3, 6], [1, 4]]
    """
    tensor, chosen = operand(tensor, "tensor"), whole_indices(indices, "gather")
    positions = coordinates(tensor, indices, chosen, axes, "gather")
    check_not_empty(tensor, positions, chosen, "gather")
    result = apply(primitives.gather, tensor, *split_coordinates(chosen), axes=positions)
    return rename(result, [None] * result.rank)


def coordinates(tensor: Operand, value: Any, indices: Operand, axes: Any, function: str) -> tuple[int, ...]:
    """The axes that coordinates refer to, after all checks."""
    if not indices.rank:
        raise NxValueError(
            message(
                f"{function}: the last axis of indices holds coordinates, got {indices.spec}.",
                "Write the coordinates of one element as a list: [2, 0].",
            )
        )
    count = indices.shape[-1]
    if axes is None:
        if count > tensor.rank:
            what = f"{function}: indices {indices.spec} have {count} coordinates, {tensor.spec} has {tensor.rank} axes"
            raise NxValueError(message(what, *one_coordinate_each(indices)))
        positions = tuple(range(count))
    else:
        positions = normalize_axes(axes, tensor.shape, tensor.names)
        if list(positions) != sorted(positions):
            raise NxValueError(
                f"{function}: axes come in ascending order, got axes={axes!r}; reorder the coordinates instead"
            )
        if len(positions) != count:
            what = f"{function}: indices {indices.spec} have {count} coordinates, axes={axes!r} names {len(positions)}"
            raise NxValueError(message(what, *(one_coordinate_each(indices) if len(positions) == 1 else ())))
    if not positions:
        raise NxValueError(f"{function}: indices {indices.spec} have no coordinates")
    numbers = known(value, indices)
    for column, position in enumerate(positions):
        _check_inside(None if numbers is None else numbers[..., column], position, tensor, function)
    return positions


def one_coordinate_each(indices: Operand) -> list[str]:
    """A hint for a vector that was meant as several indices, not as the coordinates of one element."""
    if indices.rank != 1:
        return []
    return ["The last axis holds the coordinates of one element; for several write indices[:, None]."]


def split_coordinates(indices: Operand) -> list[Operand]:
    """The coordinates split into one index array for each axis."""
    indices = rename(indices, [None] * indices.rank)
    return [indices[..., column] for column in range(indices.shape[-1])]


def one_hot(indices: Any, n: int, *, axis: int = -1, type: Any = "f32") -> Tensor | Expr:
    """For each index a vector of zeros with a one at its place.

    Parameters
    ----------
    indices : tensor
        Whole numbers. One that is not from 0 to below `n` gives zeros alone.
    n : int
        The length of the vectors.
    axis : int, optional
        Where their axis goes in the result.
    type : type, optional

    Returns
    -------
    Tensor
        With one more axis than `indices`.

    Raises
    ------
    NxTypeError
        When indices are no whole numbers.

    Examples
    --------
    >>> nx.one_hot([0, 2, 5], 3, type="u8").to_list()
    [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    """
    chosen = convert(whole_indices(indices, "one_hot"), types.s64)
    length, rank = shapes.normalize_shape((n,)), chosen.rank + 1
    place = normalize_axis(axis, (*chosen.shape, *length), (None,) * rank)
    shape = (*chosen.shape[:place], *length, *chosen.shape[place:])
    names = (*chosen.names[:place], None, *chosen.names[place:])
    rest = tuple([other for other in range(rank) if other != place])
    spread_out = apply(primitives.broadcast, chosen, shape=shape, axes=rest, names=names)
    numbers = apply(primitives.iota, type=types.s64, shape=shape, names=names, axis=place)
    return convert(apply(primitives.equal, spread_out, numbers), types.normalize(type))
