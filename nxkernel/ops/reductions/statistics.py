"""Statistics beyond averages: the median, the mode and the covariance."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import comparison, elementwise
from nxkernel.ops.machinery.dispatch import alone, apply, convert, filled, operand, ordered
from nxkernel.ops.reductions import reduction
from nxkernel.ops.reductions.contraction import dot
from nxkernel.ops.reductions.cumulative import cumulative_max
from nxkernel.ops.shapes.indexing import slice_along_axis
from nxkernel.ops.shapes.shaping import concatenate, flatten, new_axis, rename, reshape, squeeze
from nxkernel.ops.tensors.creation import iota
from nxkernel.tensor.tensor import Tensor

__all__ = ["covariance", "median", "mode"]


def median(tensor: Any, *, axis: int | str | None = None, keep_axes: bool = False) -> Tensor | Expr:
    """The middle of the sorted elements.

    Parameters
    ----------
    tensor : tensor or number
    axis : int or str, optional
        Along this one; without it of all elements.
    keep_axes : bool, optional
        Whether the reduced axis stays, with size 1.

    Returns
    -------
    Tensor
        With an odd number of elements one of them, in their type. With an even number the average of the two in the
        middle; integers become f32. NaN counts as greater than every number.

    Examples
    --------
    >>> nx.median([5, 1, 3]).to_list()
    3
    >>> nx.median([[1, 2], [4, 8]], axis=1).to_list()
    [1.5, 6.0]
    """
    tensor = alone(tensor, "tensor")
    line, position = _sorted("median", tensor, axis)
    count = line.shape[position]
    middle = slice_along_axis(line, (count - 1) // 2, 1, axis=position)
    if count % 2 == 0:
        type_ = types.to_floating(line.type)
        low, high = (
            convert(part, types.compute_type(type_))
            for part in (middle, slice_along_axis(line, count // 2, 1, axis=position))
        )
        middle = convert(elementwise.divide(elementwise.add(low, high), 2), type_)
    return _without(middle, tensor, position, axis, keep_axes)


def mode(tensor: Any, *, axis: int | str | None = None, keep_axes: bool = False) -> Tensor | Expr:
    """The most frequent element; of several, the smallest.

    Parameters
    ----------
    tensor : tensor or number
    axis : int or str, optional
        Along this one; without it of all elements.
    keep_axes : bool, optional
        Whether the reduced axis stays, with size 1.

    Returns
    -------
    Tensor
        The type stays. A NaN equals no other.

    Examples
    --------
    >>> nx.mode([4, 2, 2, 9, 4]).to_list()
    2
    """
    tensor = alone(tensor, "tensor")
    line, place = _sorted("mode", tensor, axis)
    line_names, line = line.names, rename(line, [None] * line.rank)
    count = line.shape[place]
    # Equal elements are neighbours now: the place of each in its run says how often it has come so far.
    position = iota(line.shape, axis=place)
    changes = comparison.not_equal(
        slice_along_axis(line, 1, count - 1, axis=place), slice_along_axis(line, 0, count - 1, axis=place)
    )
    first = filled(True, types.bool_, (*line.shape[:place], 1, *line.shape[place + 1 :]))
    starts = comparison.select(concatenate([first, changes], axis=place), position, 0)
    run = elementwise.subtract(position, cumulative_max(starts, axis=place))
    longest = comparison.equal(run, reduction.reduce_max(run, axes=[place], keep_axes=True))
    candidates = comparison.select(longest, line, filled(types.greatest(line.type), line.type, ()))
    result = rename(reduction.reduce_min(candidates, axes=[place], keep_axes=True), line_names)
    return _without(result, tensor, place, axis, keep_axes)


def _sorted(function: str, tensor: Operand, axis: int | str | None) -> tuple[Operand, int]:
    """A tensor sorted along an axis (flattened if None), and the position of that axis."""
    line = convert(tensor, ordered(function)(tensor.type))
    if axis is None:
        line, position = flatten(line), 0
    else:
        position = shapes.normalize_axis(axis, tensor.shape, tensor.names)
    if not line.shape[position]:
        raise NxValueError(f"{function} of {tensor.spec}: axis {position} has no elements, so there is no answer")
    return apply(p.sort, line, axis=position, direction="asc"), position


def _without(result: Operand, tensor: Operand, position: int, axis: Any, keep_axes: bool) -> Tensor | Expr:
    """A result with the reduced axis removed, or kept with size 1 if asked for."""
    if not keep_axes:
        return squeeze(result, axes=[position])
    return reshape(result, (1,) * tensor.rank) if axis is None else result


def covariance(tensor: Any, mean: Any = None, *, ddof: int = 0) -> Tensor | Expr:
    """The covariance matrix of variables, given observations as rows.

    Parameters
    ----------
    tensor : tensor
        ``[..., observations, variables]``, each row an observation.
    mean : tensor, optional
        ``[..., variables]``; without it the average of the observations.
    ddof : int, optional
        What is taken from the number of observations before dividing by it; 1 for an unbiased estimate.

    Returns
    -------
    Tensor
        ``[..., variables, variables]``, the last two without names. Integers become f32.

    Raises
    ------
    NxValueError
        For fewer than two axes, a mean of another number of variables, or a negative `ddof`.

    Examples
    --------
    >>> nx.covariance([[1, 2], [3, 4], [5, 9]], ddof=1).to_list()
    [[4.0, 7.0], [7.0, 13.0]]
    """
    tensor = alone(tensor, "tensor")
    if tensor.rank < 2:
        raise NxValueError(
            message(
                f"covariance takes observations in rows, [..., observations, variables], got {tensor.spec}.",
                "Of a single variable: nx.variance(t), or nx.new_axis(t, -1) for a matrix of one column.",
            )
        )
    if shapes.static_int(ddof, "ddof") < 0:
        raise NxValueError(f"ddof is at least 0, got {ddof}")
    names, rows, type_ = tensor.names, tensor.shape[-2], types.to_floating(tensor.type)
    tensor = rename(tensor, [None] * tensor.rank)
    if mean is None:
        mean = reduction.mean(convert(tensor, types.compute_type(type_)), axes=[-2])
    else:
        mean = operand(mean, "mean")
        if not mean.rank or mean.shape[-1] != tensor.shape[-1]:
            raise NxValueError(
                f"covariance of {tensor.spec}: the mean has one element for each of {tensor.shape[-1]} variables, "
                f"got {mean.spec}"
            )
        type_ = types.to_floating(types.merge(type_, mean.type))
        mean = rename(mean, [None] * mean.rank)
    working = types.compute_type(type_)
    distance = elementwise.subtract(convert(tensor, working), new_axis(convert(mean, working), -2))
    other = elementwise.conjugate(distance) if working.is_complex else distance
    batch, rank = list(range(distance.rank - 2)), distance.rank
    products = dot(distance, [rank - 2], batch, other, [rank - 2], batch)
    result = convert(elementwise.divide(products, max(rows - ddof, 0)), type_)
    return rename(result, [*names[:-2], None, None]) if rank == len(names) else result
