"""Shape operations: elements are kept, repeated, permuted, joined or padded."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Iterator, Sequence
from typing import Any

from nxkernel import primitives, shapes, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import Expr
from nxkernel.operand import Operand
from nxkernel.ops.machinery import restacked_rows
from nxkernel.ops.machinery.dispatch import (
    alone,
    apply,
    convert,
    counted,
    filled,
    is_number,
    lasting,
    of_type,
    operand,
    spread,
)
from nxkernel.ops.tensors.creation import shape_of
from nxkernel.shapes import normalize_axes, normalize_axis, normalize_names, static_int, text
from nxkernel.tensor.tensor import Tensor

__all__ = [
    "broadcast", "concatenate", "flatten", "new_axis", "pad", "rename", "reshape", "reverse", "squeeze", "stack",
    "tile", "transpose",
]  # fmt: skip


def _reshaped(tensor: Operand, shape: shapes.Shape, names: shapes.Names) -> Tensor | Expr:
    if shape == tensor.shape and names == tensor.names:
        return tensor
    return apply(primitives.reshape, tensor, shape=shape, names=names)


def reshape(tensor: Any, new_shape: Any, *, names: Sequence[str | None] | None = None) -> Tensor | Expr:
    """Change the shape; elements keep their C order.

    Parameters
    ----------
    tensor : tensor or number
    new_shape : tuple of int, or tensor
        One size may be ``"auto"`` or -1: it takes what remains. A tensor gives its shape and names.
    names : list of str or None, optional
        The names of the result, which has none otherwise.

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        When the numbers of elements differ.

    Examples
    --------
    >>> nx.reshape([1, 2, 3, 4], ("auto", 2)).to_list()
    [[1, 2], [3, 4]]
    """
    tensor = lasting(tensor, "tensor")
    if isinstance(new_shape, Operand) and new_shape.rank:
        names = new_shape.names if names is None else names
        new_shape = new_shape.shape
    if not isinstance(new_shape, tuple | list):
        new_shape = (new_shape,) if new_shape == "auto" or new_shape == -1 else shapes.normalize_shape(new_shape)
    shape = shapes.resolve_auto(new_shape, shapes.size(tensor.shape))
    return _reshaped(tensor, shape, normalize_names(names, shape))


def flatten(tensor: Any, *, axes: int | str | Sequence[int | str] | None = None) -> Tensor | Expr:
    """Merge all or adjacent axes into one.

    Parameters
    ----------
    tensor : tensor or number
    axes : int, str or list of these, optional
        Axes that follow each other.

    Returns
    -------
    Tensor
        The new axis has no name.

    Examples
    --------
    >>> nx.flatten([[1, 2], [3, 4]]).to_list()
    [1, 2, 3, 4]
    """
    tensor = lasting(tensor, "tensor")
    positions = normalize_axes(axes, tensor.shape, tensor.names)
    if not positions:
        return tensor if axes is not None else _reshaped(tensor, (1,), (None,))
    first, last = positions[0], positions[-1]
    if positions != tuple(range(first, last + 1)):
        raise NxValueError(f"flatten joins axes that follow each other, got axes={list(axes)!r}")
    joined = shapes.size(tensor.shape[first : last + 1])
    shape = (*tensor.shape[:first], joined, *tensor.shape[last + 1 :])
    return _reshaped(tensor, shape, (*tensor.names[:first], None, *tensor.names[last + 1 :]))


def rename(tensor: Any, names: Sequence[str | None]) -> Tensor | Expr:
    """Rename the axes.

    Parameters
    ----------
    tensor : tensor or number
    names : list of str or None
        One name an axis.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.rename([[1, 2]], ["row", None]).names
    ('row', None)
    """
    tensor = lasting(tensor, "tensor")
    return _reshaped(tensor, tensor.shape, normalize_names(names, tensor.shape))


def new_axis(tensor: Any, axis: int, name: str | None = None) -> Tensor | Expr:
    """Insert an axis of size 1.

    Parameters
    ----------
    tensor : tensor or number
    axis : int
        Its place in the result; -1 makes it the last.
    name : str, optional

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.new_axis([1, 2], -1).to_list()
    [[1], [2]]
    """
    tensor = lasting(tensor, "tensor")
    position = normalize_axis(axis, (*tensor.shape, 1))
    shape = (*tensor.shape[:position], 1, *tensor.shape[position:])
    names = normalize_names((*tensor.names[:position], name, *tensor.names[position:]), shape)
    return _reshaped(tensor, shape, names)


def squeeze(tensor: Any, *, axes: int | str | Sequence[int | str] | None = None) -> Tensor | Expr:
    """Remove axes of size 1.

    Parameters
    ----------
    tensor : tensor or number
    axes : int, str or list of these, optional
        Which; without it all that have size 1.

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        When one of `axes` has another size.

    Examples
    --------
    >>> nx.squeeze([[1, 2]]).to_list()
    [1, 2]
    """
    tensor = lasting(tensor, "tensor")
    if axes is None:
        positions = tuple(axis for axis, size in enumerate(tensor.shape) if size == 1)
    else:
        positions = normalize_axes(axes, tensor.shape, tensor.names)
    for position in positions:
        if tensor.shape[position] != 1:
            raise NxValueError(
                f"squeeze removes axes of size 1, axis {position} of {tensor.spec} has {tensor.shape[position]}"
            )
    return _reshaped(tensor, *shapes.reduce(tensor.shape, tensor.names, positions, keep_axes=False))


def broadcast(
    tensor: Any,
    shape: Any,
    *,
    axes: int | str | Sequence[int | str] | None = None,
    names: Sequence[str | None] | None = None,
) -> Tensor | Expr:
    """Repeat a tensor so that it fills a shape.

    Parameters
    ----------
    tensor : tensor or number
    shape : tuple of int, or tensor
        The shape of the result. A tensor gives its shape and names.
    axes : int, str or list of these, optional
        The axis of the result that each axis of `tensor` becomes; without it they are aligned from the last.
    names : list of str or None, optional
        The names of the result, which has none otherwise.

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        When an axis has another size than that of the shape, and not 1.

    Examples
    --------
    >>> nx.broadcast([1, 2], (2, 2), axes=[0]).to_list()
    [[1, 1], [2, 2]]
    """
    tensor = alone(lasting(tensor, "tensor"))
    if isinstance(shape, Operand) and shape.rank and names is None:
        names = shape.names
    shape = shape_of(shape)
    names = normalize_names(names, shape)
    if axes is None:
        if not shapes.spreads(tensor.shape, shape):
            raise NxValueError(
                message(
                    f"cannot broadcast {text(tensor.shape)} to {text(shape)}.",
                    "Axes are aligned from the last one; sizes must be equal, or 1 in the tensor.",
                    "axes=[…] says which axis of the result each axis of the tensor becomes.",
                )
            )
        if tensor.shape == shape:
            return _reshaped(tensor, shape, names)
        return spread(tensor, shape, names)
    positions = normalize_axes(axes, shape, names)
    if len(positions) != tensor.rank:
        raise NxValueError(f"broadcast needs an axis for each of {tensor.spec}, got axes={axes!r}")
    return apply(primitives.broadcast, tensor, shape=shape, axes=positions, names=names)


def transpose(tensor: Any, *, axes: int | str | Sequence[int | str] | None = None) -> Tensor | Expr:
    """Permute the axes.

    Parameters
    ----------
    tensor : tensor or number
    axes : int, str or list of these, optional
        The axes in their new order; without it they are reversed.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.transpose([[1, 2], [3, 4]]).to_list()
    [[1, 3], [2, 4]]
    """
    tensor = lasting(tensor, "tensor")
    positions = (
        tuple(reversed(range(tensor.rank))) if axes is None else normalize_axes(axes, tensor.shape, tensor.names)
    )
    if len(positions) != tensor.rank:
        raise NxValueError(f"transpose needs every axis of {tensor.spec} once, got axes={axes!r}")
    if positions == tuple(range(tensor.rank)):
        return tensor
    return apply(primitives.transpose, tensor, axes=positions)


def tile(tensor: Any, repetitions: Sequence[int] | int) -> Tensor | Expr:
    """Repeat a tensor as a whole along its axes.

    Parameters
    ----------
    tensor : tensor or number
    repetitions : list of int
        How often along each axis, aligned from the last; more entries than axes make new axes in front.

    Returns
    -------
    Tensor
        Without names.

    Examples
    --------
    >>> nx.tile([1, 2], [2, 2]).to_list()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    tensor = lasting(tensor, "tensor")
    counts = shapes.normalize_shape(repetitions)
    rank = builtins.max(len(counts), tensor.rank)
    counts = (1,) * (rank - len(counts)) + counts
    sizes = (1,) * (rank - tensor.rank) + tensor.shape
    spread_shape = tuple(size for pair in zip(counts, sizes, strict=True) for size in pair)
    positions = tuple(2 * axis + 1 for axis in range(rank - tensor.rank, rank))
    shape = tuple(count * size for count, size in zip(counts, sizes, strict=True))
    if set(counts) <= {1}:
        return _reshaped(tensor, shape, shapes.unnamed(shape))
    repeated = apply(
        primitives.broadcast, tensor, shape=spread_shape, axes=positions, names=shapes.unnamed(spread_shape)
    )
    return _reshaped(repeated, shape, shapes.unnamed(shape))


def pad(tensor: Any, pad_value: Any, padding_config: Sequence[Sequence[int]]) -> Tensor | Expr:
    """Pad with a value before, after and between the elements of each axis.

    Parameters
    ----------
    tensor : tensor
    pad_value : number or scalar tensor
        A number takes the tensor's type where that holds it.
    padding_config : list of (low, high, interior)
        For each axis how many go before, after and between its elements. Negative low and high remove elements.

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        For a configuration of another length than the rank, or that removes more than there is.

    Examples
    --------
    >>> nx.pad([1, 2, 3], 0, [(1, -1, 1)]).to_list()
    [0, 1, 0, 2, 0]
    """
    tensor = lasting(tensor, "tensor")
    if not isinstance(padding_config, list | tuple) or len(padding_config) != tensor.rank:
        raise NxValueError(
            message(
                f"pad needs one (low, high, interior) for each of the {tensor.rank} axes of {tensor.spec}, "
                f"got {shapes.describe(padding_config) if isinstance(padding_config, Operand) else padding_config!r}.",
                f"To leave all as they are, write {[(0, 0, 0)] * tensor.rank!r}; one on each side is "
                f"{[(1, 1, 0)] * tensor.rank!r}.",
            )
        )
    config = tuple(_padding(entry) for entry in padding_config)
    if is_number(pad_value):
        type_ = types.merge_number(tensor.type, pad_value)
        value = filled(pad_value, type_, ())
    else:
        value = operand(pad_value, "pad_value")
        type_ = types.merge(tensor.type, counted(value))
    if value.shape or value.vectorized_axes:
        raise NxValueError(f"pad_value is one number, got {value.spec}")
    if not any(any(entry) for entry in config):
        return convert(tensor, type_)
    return apply(primitives.pad, convert(tensor, type_), convert(value, type_), config=config)


def _padding(entry: Any) -> tuple[int, int, int]:
    if not isinstance(entry, list | tuple) or len(entry) != 3:
        what = f"the padding of an axis is (low, high, interior), got {entry!r}"
        pair = entry if isinstance(entry, list | tuple) and len(entry) == 2 else (entry, entry)
        if not all(isinstance(number, int) for number in pair):
            raise NxValueError(what)
        raise NxValueError(
            message(f"{what}.", f"Write ({pair[0]}, {pair[1]}, 0); interior is what goes between elements.")
        )
    low, high, interior = (static_int(number, "padding") for number in entry)
    if interior < 0:
        raise NxValueError(f"the interior padding is at least 0, got {interior} in {tuple(entry)!r}")
    return low, high, interior


def reverse(tensor: Any, *, axes: int | str | Sequence[int | str] | None = None) -> Tensor | Expr:
    """Reverse the order of elements along axes.

    Parameters
    ----------
    tensor : tensor or number
    axes : int, str or list of these, optional
        Along these; without it along all.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> nx.reverse([[1, 2], [3, 4]], axes=[0]).to_list()
    [[3, 4], [1, 2]]
    """
    tensor = lasting(tensor, "tensor")
    positions = normalize_axes(axes, tensor.shape, tensor.names)
    return apply(primitives.reverse, tensor, axes=tuple(sorted(positions))) if positions else tensor


def concatenate(tensors: Any, *, axis: int | str = 0) -> Tensor | Expr:
    """Join tensors along an existing axis.

    Parameters
    ----------
    tensors : list or tuple of tensors
        Of one shape but for the size of `axis`; their types are merged.
    axis : int or str, optional

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        When the shapes do not fit.

    Examples
    --------
    >>> nx.concatenate([nx.tensor([1, 2]), nx.tensor([3.5])]).to_list()
    [1.0, 2.0, 3.5]
    """
    parts = [lasting(part, "tensors") for part in _parts(tensors, "concatenate")]
    first = parts[0]
    position = normalize_axis(axis, first.shape, first.names)
    for number, part in enumerate(parts):
        if part.rank != first.rank or any(
            n != m for a, (n, m) in enumerate(zip(part.shape, first.shape, strict=True)) if a != position
        ):
            raise NxValueError(
                message(
                    f"cannot concatenate {first.spec} and {part.spec} (the tensor at {number}) along axis {position}.",
                    "They must have the same shape but for the size of that axis.",
                )
            )
    type_ = functools.reduce(types.merge, [part.type for part in parts])
    if len(parts) == 1:
        return first
    return apply(primitives.concatenate, *[convert(part, type_) for part in parts], axis=position)


def stack(tensors: Any, *, axis: int = 0, name: str | None = None) -> Tensor | Expr:
    """Join tensors of one shape along a new axis.

    Parameters
    ----------
    tensors : list or tuple of tensors
        Their types are merged.
    axis : int, optional
        The place of the new axis in the result.
    name : str, optional
        Its name.

    Returns
    -------
    Tensor

    Raises
    ------
    NxValueError
        When the shapes differ.

    Examples
    --------
    >>> nx.stack([nx.tensor([1, 2]), nx.tensor([3, 4])], axis=-1).to_list()
    [[1, 3], [2, 4]]
    """
    given = _parts(tensors, "stack")
    parts = [lasting(part, "tensors") for part in given]
    for part in parts:
        if part.shape != parts[0].shape:
            raise NxValueError(
                message(
                    f"stack needs tensors of one shape, got {parts[0].spec} and {part.spec}.", "See nx.concatenate."
                )
            )
    if not parts[0].shape:
        type_ = functools.reduce(types.merge, map(counted, parts))
        parts = [of_type(value, part, type_) for value, part in zip(given, parts, strict=True)]
    position = normalize_axis(axis, (*parts[0].shape, 1))
    if position == 0 and name is None and not any(any(part.names) for part in parts):
        rows = restacked_rows.joined(parts)
        if rows is not None:
            return concatenate(rows)
    return concatenate([new_axis(part, axis, name) for part in parts], axis=position)


def _parts(tensors: Any, function: str) -> list[Any]:
    if not isinstance(tensors, list | tuple | dict):
        raise NxTypeError(
            message(
                f"{function} takes a list of tensors, got {shapes.describe(tensors)}.",
                f"Write nx.{function}([a, b]).",
            )
        )
    parts = list(_leaves(tensors))
    if not parts:
        raise NxValueError(f"{function} needs at least one tensor, got {tensors!r}")
    return parts


def _leaves(container: Any) -> Iterator[Any]:
    """The tensors in nested containers, in order."""
    if isinstance(container, dict):
        container = container.values()
    for item in container:
        if isinstance(item, list | tuple | dict):
            yield from _leaves(item)
        else:
            yield item
