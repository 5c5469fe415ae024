"""Fancy indexing by NumPy's rules: elements at arrays of indices that broadcast together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, spread
from nxkernel.shapes import broadcast_shapes

Shape = tuple[int, ...]
Picks = Mapping[int, Operand]


def together(picks: Picks) -> list[Operand]:
    """The index arrays of all axes, broadcast to one shape and converted to one type."""
    common: Shape = ()
    for indices in picks.values():
        common = broadcast_shapes(common, indices.shape)
    return [spread(convert(indices, types.s64), common) for indices in picks.values()]


def position(picks: Picks, front: bool) -> int:
    """The position that the axes of the indices take among the axes that stay."""
    return 0 if front else min(picks)


def shape(whole: Shape, picks: Picks, front: bool) -> Shape:
    """The shape of the result of indexing."""
    common: Shape = ()
    for indices in picks.values():
        common = broadcast_shapes(common, indices.shape)
    rest = [size for axis, size in enumerate(whole) if axis not in picks]
    start = position(picks, front)
    return (*rest[:start], *common, *rest[start:])


def read(whole: Operand, picks: Picks, front: bool) -> Operand:
    """The elements at the indices.

    Parameters
    ----------
    whole : tensor
    picks : mapping of int to tensor
        The indices for each picked axis, in ascending order of axes; they are not negative.
    front : bool
        Whether the axes of the indices come first.
    """
    indices = together(picks)
    result = apply(p.gather, whole, *indices, axes=tuple(picks))
    return _moved(result, len(indices[0].shape), position(picks, front))


def put(whole: Operand, picks: Picks, front: bool, updates: Operand, combine: str = "put") -> Operand:
    """The whole value with the elements at the indices replaced; for repeated indices the last wins, or all are
    combined.
    """
    indices = together(picks)
    updates = in_front(updates, len(indices[0].shape), picks, front)
    return apply(p.scatter, whole, updates, *indices, axes=tuple(picks), combine=combine)


def in_front(updates: Operand, rank: int, picks: Picks, front: bool) -> Operand:
    """Updates broadcast to the shape of the indexed elements, with the axes of the indices moved to the front."""
    start = position(picks, front)
    if not start or not rank:
        return updates
    return apply(p.transpose, updates, axes=_back(len(updates.shape), rank, start))


def _moved(value: Operand, rank: int, position: int) -> Operand:
    if not position or not rank:
        return value
    total = len(value.shape)
    axes = (*range(rank, rank + position), *range(rank), *range(rank + position, total))
    return apply(p.transpose, value, axes=axes)


def _back(total: int, rank: int, position: int) -> Any:
    return (*range(position, position + rank), *range(position), *range(position + rank, total))
