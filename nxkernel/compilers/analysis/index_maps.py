"""Index maps: at which element of an operand a loop nest looks, as affine functions of the nest's axes.

A map has one entry for each axis of a value: ``(start, ((axis, step), ...))``. Broadcasts, transpositions, slices and
reshapes that only add or drop axes of size 1 are nothing but another map of their operand, so they cost no memory.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from nxkernel import primitives as p
from nxkernel.graph.expr import Expr

Entry = tuple[int, tuple[tuple[int, int], ...]]
Map = tuple[Entry, ...]

#: Primitives that are only another map of their operand; a reshape is where it keeps the axes longer than one.
VIEWS = frozenset([p.broadcast, p.transpose, p.slice_, p.windows, p.reshape])

_NOWHERE: Entry = (0, ())


def identity(shape: Sequence[int], axes: Sequence[int] | None = None) -> Map:
    """The identity index map of a value over the nest's axes; axes of size 1 have stride 0."""
    axes = range(len(shape)) if axes is None else axes
    return tuple(_NOWHERE if n == 1 else (0, ((axis, 1),)) for axis, n in zip(axes, shape, strict=True))


def row_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of an array in C order."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def linear(map_: Map, strides: Sequence[int]) -> tuple[int, dict[int, int]]:
    """Offset and stride of each nest axis, in elements, for an array of such strides."""
    offset, steps = 0, {}
    for (start, moves), stride in zip(map_, strides, strict=True):
        offset += start * stride
        for axis, step in moves:
            steps[axis] = steps.get(axis, 0) + step * stride
    return offset, steps


def _scaled(entry: Entry, by: int) -> Entry:
    start, moves = entry
    return start * by, tuple((axis, step * by) for axis, step in moves)


def _sum(left: Entry, right: Entry) -> Entry:
    steps = dict(left[1])
    for axis, step in right[1]:
        steps[axis] = steps.get(axis, 0) + step
    return left[0] + right[0], tuple(sorted((axis, step) for axis, step in steps.items() if step))


@functools.lru_cache(maxsize=4096)
def axes_of(map_: Map) -> frozenset[int]:
    """The axes of the nest along which an index map moves; most values of a nest have one of a few maps."""
    return frozenset([axis for _, moves in map_ for axis, _ in moves])


def is_view(node: Expr) -> bool:
    """Whether a node only reindexes its operand (slice, transpose, broadcast ...), so that it needs no computation."""
    return node.primitive in VIEWS and (node.primitive is not p.reshape or keeps_axes(node))


def keeps_axes(node: Expr) -> bool:
    """Whether a reshape only adds or drops axes of size 1."""
    return [n for n in node.operands[0].shape if n != 1] == [n for n in node.shape if n != 1]


def through(node: Expr, map_: Map) -> Map:
    """The index map of a view's operand, composed from the map of the view."""
    operand, primitive = node.operands[0], node.primitive
    if primitive is p.broadcast:
        return tuple(
            _NOWHERE if n == 1 else map_[axis] for n, axis in zip(operand.shape, node.params["axes"], strict=True)
        )
    if primitive is p.transpose:
        entries: list[Entry] = [_NOWHERE] * len(map_)
        for entry, axis in zip(map_, node.params["axes"], strict=True):
            entries[axis] = entry
        return tuple(entries)
    if primitive is p.slice_:
        return tuple(
            (first + start * step, tuple((axis, move * step) for axis, move in moves))
            for (start, moves), first, step in zip(map_, node.params["starts"], node.params["strides"], strict=True)
        )
    if primitive is p.windows:
        rank = len(operand.shape)
        return tuple(
            _sum(_scaled(outside, stride), _scaled(inside, dilation))
            for outside, inside, stride, dilation in zip(
                map_[:rank], map_[rank:], node.params["strides"], node.params["dilations"], strict=True
            )
        )
    kept = iter([entry for entry, n in zip(map_, node.shape, strict=True) if n != 1])
    return tuple(_NOWHERE if n == 1 else next(kept) for n in operand.shape)
