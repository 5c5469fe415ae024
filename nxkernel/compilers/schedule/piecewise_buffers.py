"""Buffers written in pieces: concatenations, pads, and updates at dynamic indices."""

from __future__ import annotations

from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.analysis import index_maps
from nxkernel.compilers.schedule.loop_nest import StoreMode
from nxkernel.graph.expr import Expr

#: Primitives whose result is written so.
PIECES = frozenset([p.concatenate, p.pad, p.put_slice, p.put_strided, p.scatter])


#: Elements of a row from which writing its ends alone takes less than writing all of it.
LONG = 128


@dataclass(frozen=True)
class DynamicOffset:
    """A part of an offset that is computed at run time: a clamped index times a stride.

    Parameters
    ----------
    index : Expr
        Over the first axes of what is stored; clamped.
    most : int
        The greatest index that is used.
    stride : int
        Elements from one index to the next.
    """

    index: Expr
    most: int
    stride: int


@dataclass(frozen=True)
class Store:
    """A value that a kernel writes into the buffer of `target`.

    Parameters
    ----------
    value, target : Expr
    offset : int
        Elements from the start of the buffer.
    strides : tuple of int
        Elements from one element to the next along each axis of the value.
    places : tuple of DynamicOffset
        How much further, by computed indices.
    mode : StoreMode
        Whether it replaces what is there, or is added to it.
    in_order : bool
        Whether two elements may go to one place, so that their order matters.
    """

    value: Expr
    target: Expr
    offset: int
    strides: tuple[int, ...]
    places: tuple[DynamicOffset, ...] = ()
    mode: StoreMode = StoreMode.PUT
    in_order: bool = False


def stores(node: Expr, in_place: bool = False) -> list[Store]:
    """The pieces of a buffer, in the order in which they are written.

    Parameters
    ----------
    node : Expr
    in_place : bool
        Whether an update is written into the memory of what it updates, so that the rest of it is there already.
    """
    return _stores(node)[in_place:]


def target(node: Expr) -> Expr | None:
    """The array that an update changes; None for a node that is no update."""
    return node.operands[0] if node.primitive in (p.put_slice, p.put_strided, p.scatter) else None


def _stores(node: Expr) -> list[Store]:
    strides = index_maps.row_strides(node.shape)
    if node.primitive is p.concatenate:
        return _concatenated(node, strides)
    if node.primitive is p.pad:
        return _padded(node, strides)
    base, value, *indices = node.operands
    if node.primitive in (p.put_slice, p.put_strided):
        element_strides = node.params.get("strides", (1,) * value.rank)
        last_starts = [
            n - length for n, length in zip(base.shape, shapes.spans(value.shape, element_strides), strict=True)
        ]
        places = tuple(DynamicOffset(*entry) for entry in zip(indices, last_starts, strides, strict=True))
        steps = tuple(stride * step for stride, step in zip(strides, element_strides, strict=True))
        return [Store(base, node, 0, strides), Store(value, node, 0, steps, places)]
    axes = node.params["axes"]
    places = tuple(
        DynamicOffset(index, node.shape[axis] - 1, strides[axis]) for index, axis in zip(indices, axes, strict=True)
    )
    rest = tuple(stride for axis, stride in enumerate(strides) if axis not in axes)
    steps = (0,) * len(indices[0].shape) + rest
    return [
        Store(base, node, 0, strides),
        Store(value, node, 0, steps, places, StoreMode(node.params["combine"]), bool(indices[0].shape)),
    ]


def _concatenated(node: Expr, strides: tuple[int, ...]) -> list[Store]:
    offset, axis, pieces = 0, node.params["axis"], []
    for operand in node.operands:
        pieces.append(Store(operand, node, offset * strides[axis], strides))
        offset += operand.shape[axis]
    return pieces


def _padded(node: Expr, strides: tuple[int, ...]) -> list[Store]:
    """The stores of a pad: the margins and the operand, or all of the buffer filled and the operand written over it."""
    operand = node.operands[0]
    starts, lengths, offset, steps = [], [], 0, []
    for n, (low, high, inner), stride in zip(operand.shape, node.params["config"], strides, strict=True):
        gap = inner + 1
        first = shapes.ceil_div(-low, gap) if low < 0 else 0
        last = n - 1 - (shapes.ceil_div(-high, gap) if high < 0 else 0)
        starts.append(first)
        lengths.append(max(last - first + 1, 0))
        offset += (low + first * gap) * stride
        steps.append(gap * stride)
    if tuple(lengths) != operand.shape:
        params = {"starts": tuple(starts), "lengths": tuple(lengths), "strides": (1,) * len(lengths)}
        operand = Expr(p.slice_, (operand,), params, operand.spec._replace(shape=tuple(lengths)), node.source)
    inner = Store(operand, node, offset, tuple(steps))
    margins = _margins(node, operand.shape)
    if margins is None:
        margins = [((0,) * node.rank, node.shape)]
    return [*(_filled(node, *margin) for margin in margins), inner]


def _margins(node: Expr, inner: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]] | None:
    """The parts of a padded buffer around the operand, as (start, shape); None if filling all of it is better.

    That is where little is kept, and where rows are so short that their ends take as long as all of them. Where
    nothing is kept there is nothing that padding could lie around.
    """
    config, shape = node.params["config"], node.shape
    spread = any(gap for _, _, gap in config)
    ends = config and any(side > 0 for side in config[-1][:2])
    if spread or 2 * shapes.size(inner) <= shapes.size(shape) or (ends and shape[-1] < LONG):
        return None
    margins = []
    lows = [max(low, 0) for low, _, _ in config]
    for axis, (low, n) in enumerate(zip(lows, inner, strict=True)):
        for first, count in ((0, low), (low + n, shape[axis] - low - n)):
            if count:
                starts = (*lows[:axis], first, *(0 for _ in shape[axis + 1 :]))
                margins.append((starts, (*inner[:axis], count, *shape[axis + 1 :])))
    return margins


def _filled(node: Expr, starts: tuple[int, ...], shape: tuple[int, ...]) -> Store:
    """The store of the padding value into a part of a buffer."""
    value, strides = node.operands[1], index_maps.row_strides(node.shape)
    spec = node.spec._replace(shape=shape)
    filled = Expr(p.broadcast, (value,), {"shape": shape, "axes": (), "names": node.names}, spec, node.source)
    return Store(filled, node, sum(a * b for a, b in zip(starts, strides, strict=True)), strides)
