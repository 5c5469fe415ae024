"""Masks between brackets: ``t[mask]`` as the elements at the positions where the mask is true."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nxkernel import primitives, shapes, types
from nxkernel.errors import NxIndexError, NxTypeError, message
from nxkernel.messages import mask_shapes
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.tensor.foreign_arrays import subscript
from nxkernel.tensor.tensor import StoredTensor


def as_positions(tensor: Operand, key: Any) -> tuple[Operand, Any]:
    """A tensor and a key of it, with positions in the key instead of masks.

    A mask of several axes picks from one, into which those of the tensor are joined.

    Parameters
    ----------
    tensor : tensor
    key : the key of ``t[key]``

    Returns
    -------
    tuple of the tensor and the key

    Raises
    ------
    NxIndexError
        When a mask has another shape than the axes that it picks from.
    NxTypeError
        When only the running program knows a mask, or it is another for each entry of a vectorized axis.
    """
    if isinstance(key, dict):
        return tensor, {name: _in_one_axis(tensor, name, subscript(entry)) for name, entry in key.items()}
    key = subscript(key)
    entries = key if isinstance(key, tuple) else (key,)
    if not any(map(_is_mask, entries)):
        return tensor, key
    found, axis = [], 0
    for place, entry in enumerate(entries):
        if entry is Ellipsis:
            axis = tensor.rank - sum(map(_axes, entries[place + 1 :]))
        elif _is_mask(entry):
            positions, rank = _positions(entry, tensor, axis), np.ndim(entry)
            if rank > 1:
                tensor = _joined(tensor, axis, rank)
            entry, axis = positions, axis + 1
        else:
            axis += _axes(entry)
        found.append(entry)
    return tensor, tuple(found)


def _is_mask(entry: Any) -> bool:
    if isinstance(entry, list):
        return bool(entry) and all(isinstance(item, bool | np.bool_) or _is_mask(item) for item in entry)
    if isinstance(entry, np.ndarray):
        return entry.dtype == bool and bool(entry.ndim)
    return isinstance(entry, Operand) and entry.type is types.bool_ and bool(entry.shape)


def _axes(entry: Any) -> int:
    """Of how many axes an entry of a key tells."""
    return 0 if entry is None or entry is Ellipsis else np.ndim(entry) if _is_mask(entry) else 1


def _in_one_axis(tensor: Operand, axis: Any, entry: Any) -> Any:
    if not _is_mask(entry):
        return entry
    axis = shapes.normalize_axis(axis, tensor.shape, tensor.names)
    if np.ndim(entry) > 1:
        raise _unfit(entry, tensor, axis)
    return _positions(entry, tensor, axis)


def _positions(mask: Any, tensor: Operand, axis: int) -> list[int] | np.ndarray:
    """Where a mask is true, counted in C order."""
    if np.shape(mask) != tensor.shape[axis : axis + np.ndim(mask)]:
        raise _unfit(mask, tensor, axis)
    if isinstance(mask, list):
        # As a list, which is known in definitions, too.
        return np.flatnonzero(mask).tolist()
    values = operand(mask)
    if not isinstance(values, StoredTensor):
        raise NxTypeError(
            message(
                f"how many elements t[mask] has only the running program knows: it picks from {tensor.spec}.",
                "Sizes are fixed when a program is compiled: nx.select(mask, t, 0) keeps the shape, and "
                "t.compress(mask, size=n) makes room for n of them.",
                "Outside of definitions t[mask] gives the elements.",
            )
        )
    if values.vectorized_axes:
        raise NxTypeError(
            message(
                f"a mask with vectorized axes picks other elements for each entry, got {values.spec}.",
                "nx.select(mask, t, 0) keeps the shape.",
            )
        )
    return np.flatnonzero(values.to_numpy())


def _joined(tensor: Operand, axis: int, rank: int) -> Operand:
    """A tensor with some of its axes in one."""
    shape, names = tensor.shape, tensor.names
    one = math.prod(shape[axis : axis + rank])
    shape = (*shape[:axis], one, *shape[axis + rank :])
    return apply(primitives.reshape, tensor, shape=shape, names=(*names[:axis], None, *names[axis + rank :]))


def _unfit(mask: Any, tensor: Operand, axis: int) -> NxIndexError:
    return mask_shapes.unfit(np.shape(mask), f"a tensor of type {tensor.spec}", tensor.shape, axis)
