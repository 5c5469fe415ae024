"""Batching rules (vmap): each primitive over operands with leading batch axes.

Entries lie along leading axes. An operand that has these axes is *mapped*; one that has not is the same for every
entry. A rule gives the result with the leading axes in front, in terms of primitives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.graph.expr import Expr, constant
from nxkernel.operand import Operand, entry_spec
from nxkernel.ops.machinery import axis_alignment
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.primitives import Primitive
from nxkernel.shapes import unnamed
from nxkernel.tensor.tensor import Tensor

Value = Tensor | Expr


@dataclass(frozen=True)
class Batch:
    """The operands of a primitive with leading batch axes.

    Parameters
    ----------
    sizes : tuple of int
        Of the leading axes.
    operands : list of Tensor or Expr
    mapped : list of bool
        Whether each operand has the leading axes.
    """

    sizes: tuple[int, ...]
    operands: Sequence[Value]
    mapped: Sequence[bool]

    @property
    def count(self) -> int:
        """The number of batch axes."""
        return len(self.sizes)

    @property
    def leading(self) -> tuple[int, ...]:
        """The batch axes: 0, 1, …"""
        return tuple(range(len(self.sizes)))

    def after(self, axes: Sequence[int]) -> tuple[int, ...]:
        """The positions of an entry's axes behind the batch axes; negative ones still count from the end."""
        return tuple([axis + self.count if axis >= 0 else axis for axis in axes])

    def inner(self, position: int) -> tuple[int, ...]:
        """The shape of one entry of operand `position`."""
        shape = self.operands[position].shape
        return shape[self.count :] if self.mapped[position] else shape

    def over(self, position: int) -> Value:
        """Operand `position`, broadcast along the batch axes if it has none."""
        operand = self.operands[position]
        if self.mapped[position]:
            return operand
        shape, names = self.sizes + operand.shape, (None,) * self.count + operand.names
        if type(operand) is Expr and operand.primitive is p.constant:
            return constant(operand.params["value"], operand.type, shape, names)
        axes = tuple(range(self.count, len(shape)))
        return apply(p.broadcast, operand, shape=shape, axes=axes, names=names)

    def all(self) -> list[Value]:
        """Every operand, broadcast along the batch axes."""
        return [self.over(position) for position in range(len(self.operands))]


Rule = Callable[..., Any]


def over_vectors(primitive: Primitive, operands: tuple[Operand, ...], params: dict[str, Any]) -> Any:
    """Apply a primitive to operands some of which have vectorized axes; the result has the union of these."""
    axes = axis_alignment.union(operands)
    entries = primitive.rule(*[entry_spec(operand.spec) for operand in operands], **params)
    mapped = [bool(operand.vectorized_axes) for operand in operands]
    sides = [axis_alignment.aligned(operand, axes) for operand in operands]
    result = batched(primitive, tuple([size for _, size in axes]), sides, mapped, params)
    if type(entries) is tuple:
        return tuple(
            [axis_alignment.vectorized(part, axes, entry) for part, entry in zip(result, entries, strict=True)]
        )
    return axis_alignment.vectorized(result, axes, entries)


def batched(
    primitive: Primitive, sizes: tuple[int, ...], operands: Sequence[Value], mapped: Sequence[bool], params: dict
) -> Any:
    """Apply a primitive to every entry.

    Parameters
    ----------
    primitive : Primitive
    sizes : tuple of int
        Of the leading axes.
    operands : list of Tensor or Expr
    mapped : list of bool
        Whether each operand has the leading axes; at least one does.
    params : dict
        The primitive's parameters for one entry.

    Returns
    -------
    Tensor, Expr or tuple of them
        With the leading axes in front.

    Examples
    --------
    >>> rows = nx.tensor([[1, 2], [3, 4]])
    >>> batched(p.sum_, (2,), [rows], [True], {"axes": (0,), "keep_axes": False}).to_list()
    [3, 7]
    """
    rule = _RULES.get(primitive) or _FAMILIES[primitive.family]
    return rule(primitive, Batch(sizes, operands, mapped), **params)


def _reshape(value: Value, shape: tuple[int, ...]) -> Value:
    return value if value.shape == shape else apply(p.reshape, value, shape=shape, names=unnamed(shape))


def _transpose(value: Value, axes: Sequence[int]) -> Value:
    axes = tuple(axes)
    return value if axes == tuple(range(len(axes))) else apply(p.transpose, value, axes=axes)


def _to_front(value: Value, first: int, count: int) -> Value:
    """A value with `count` axes from `first` on moved to the front."""
    moved = range(first, first + count)
    return _transpose(value, (*moved, *(axis for axis in range(value.rank) if axis not in moved)))


# Families --------------------------------------------------------------------------------------------------------


def _as_it_is(primitive: Primitive, batch: Batch, **params: Any) -> Any:
    return apply(primitive, *batch.all(), **params)


def _along_axes(primitive: Primitive, batch: Batch, *, axes: Sequence[int], **params: Any) -> Any:
    return apply(primitive, *batch.all(), axes=batch.after(axes), **params)


def _along_axis(primitive: Primitive, batch: Batch, *, axis: int, **params: Any) -> Any:
    return apply(primitive, *batch.all(), axis=batch.after([axis])[0], **params)


def _one_by_one(primitive: Primitive, batch: Batch, **params: Any) -> Value:
    """Apply a primitive in a loop over entries, for primitives without a batched form."""
    results = []
    for index in itertools.product(*map(range, batch.sizes)):
        operands = [
            _entry(operand, index) if mapped else operand
            for operand, mapped in zip(batch.operands, batch.mapped, strict=True)
        ]
        result = apply(primitive, *operands, **params)
        results.append(_reshape(result, (1, *result.shape)))
    joined = results[0] if len(results) == 1 else apply(p.concatenate, *results, axis=0)
    return _reshape(joined, batch.sizes + joined.shape[1:])


def _entry(operand: Value, index: tuple[int, ...]) -> Value:
    shape = operand.shape[len(index) :]
    lengths = (1,) * len(index) + shape
    starts = index + (0,) * len(shape)
    entry = apply(p.slice_, operand, starts=starts, lengths=lengths, strides=(1,) * len(lengths))
    return apply(p.reshape, entry, shape=shape, names=unnamed(shape))


# Shape -----------------------------------------------------------------------------------------------------------


def _reshaped(primitive: Primitive, batch: Batch, *, shape: tuple[int, ...], names: shapes.Names) -> Value:
    return apply(primitive, *batch.operands, shape=batch.sizes + shape, names=(None,) * batch.count + names)


def _broadcast(
    primitive: Primitive, batch: Batch, *, shape: tuple[int, ...], axes: tuple[int, ...], names: shapes.Names
) -> Value:
    moved_axes = batch.leading + batch.after(axes)
    names = (None,) * batch.count + names
    return apply(primitive, *batch.operands, shape=batch.sizes + shape, axes=moved_axes, names=names)


def _transposed(primitive: Primitive, batch: Batch, *, axes: tuple[int, ...]) -> Value:
    return apply(primitive, *batch.operands, axes=batch.leading + batch.after(axes))


def _slice(
    primitive: Primitive, batch: Batch, *, starts: tuple[int, ...], lengths: tuple[int, ...], strides: tuple[int, ...]
) -> Value:
    ones = (1,) * batch.count
    starts = (0,) * batch.count + starts
    return apply(primitive, *batch.operands, starts=starts, lengths=batch.sizes + lengths, strides=ones + strides)


def _pad(primitive: Primitive, batch: Batch, *, config: tuple[tuple[int, int, int], ...]) -> Value:
    tensor, value = batch.over(0), batch.operands[1]
    config = ((0, 0, 0),) * batch.count + config
    if not batch.mapped[1]:
        return apply(primitive, tensor, value, config=config)
    inside = filled(1, types.u8, tensor.shape)
    inside = apply(primitive, inside, filled(0, types.u8, ()), config=config)
    padded = apply(primitive, tensor, filled(0, tensor.type, ()), config=config)
    around = apply(p.broadcast, value, shape=padded.shape, axes=batch.leading, names=unnamed(padded.shape))
    return apply(p.select, inside, padded, around)


def _windows(
    primitive: Primitive,
    batch: Batch,
    *,
    window: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> Value:
    ones = (1,) * batch.count
    result = apply(primitive, *batch.operands, window=ones + window, strides=ones + strides, dilations=ones + dilations)
    return _reshape(result, result.shape[: -len(ones + window)] + window)


# Products --------------------------------------------------------------------------------------------------------


def _dot(primitive: Primitive, group: Batch, *, contract: tuple, batch: tuple) -> Value:
    sides, shared = list(group.operands), len(batch[0])
    if all(group.mapped):
        contract = tuple([group.after(axes) for axes in contract])
        return apply(primitive, *sides, contract=contract, batch=tuple([group.leading + group.after(b) for b in batch]))
    # The entries of one side are more rows or columns of it, behind the axes that both sides share.
    side = group.mapped.index(True)
    before = shared if side == 0 else sides[0].rank - len(contract[0])
    first = (*group.after(batch[side]), *group.leading)
    order = (*first, *(axis for axis in range(sides[side].rank) if axis not in first))
    sides[side] = _transpose(sides[side], order)
    contract, batch = list(contract), list(batch)
    contract[side] = tuple([order.index(axis) for axis in group.after(contract[side])])
    batch[side] = tuple(range(shared))
    return _to_front(apply(primitive, *sides, contract=tuple(contract), batch=tuple(batch)), before, group.count)


def _conv(primitive: Primitive, batch: Batch, *, feature_groups: int, batch_groups: int, **params: Any) -> Value:
    """The batching rule of convolutions: entries become groups of the batch or of the features."""
    operand, kernel = batch.operands
    (samples, channels, *space), (features, depth, *window) = batch.inner(0), batch.inner(1)
    groups = feature_groups * (math.prod(batch.sizes) if all(batch.mapped) else 1)
    each, count = features // (feature_groups * batch_groups), batch.count
    leading, total = batch.leading, math.prod(batch.sizes)
    if all(batch.mapped):
        # [entries, samples, channels, ...] → [samples, entries, channels, ...], and entries between both groups.
        operand = _transpose(operand, (count, *leading, *range(count + 1, operand.rank)))
        operand = _reshape(operand, (samples, total * channels, *space))
        kernel = _reshape(kernel, (*batch.sizes, batch_groups, feature_groups * each, depth, *window))
        kernel = _transpose(kernel, (count, *leading, *range(count + 1, kernel.rank)))
        kernel = _reshape(kernel, (total * features, depth, *window))
        layout = (samples // batch_groups, batch_groups, *batch.sizes, feature_groups * each)
        position = 2
    elif batch.mapped[0]:
        operand = _reshape(operand, (*batch.sizes, batch_groups, samples // batch_groups, channels, *space))
        operand = _transpose(operand, (count, *leading, *range(count + 1, operand.rank)))
        operand = _reshape(operand, (total * samples, channels, *space))
        layout = (*batch.sizes, samples // batch_groups, features)
        position = 0
    else:
        kernel = _reshape(kernel, (*batch.sizes, batch_groups * feature_groups, each, depth, *window))
        kernel = _transpose(kernel, (count, *leading, *range(count + 1, kernel.rank)))
        kernel = _reshape(kernel, (total * features, depth, *window))
        layout = (samples // batch_groups, batch_groups * feature_groups, *batch.sizes, each)
        position = 2
    result = apply(primitive, operand, kernel, feature_groups=groups, batch_groups=batch_groups, **params)
    spatial = result.shape[2:]
    result = _to_front(_reshape(result, layout + spatial), position, count)
    return _reshape(result, (*batch.sizes, samples // batch_groups, features, *spatial))


# Indexing --------------------------------------------------------------------------------------------------------


def _numbers(batch: Batch, shape: tuple[int, ...]) -> list[Value]:
    """For each batch axis the index of the entry along it, broadcast to the entries' shape."""
    full = batch.sizes + shape
    return [apply(p.iota, type=types.s64, shape=full, names=unnamed(full), axis=axis) for axis in batch.leading]


def _gather(primitive: Primitive, batch: Batch, *, axes: tuple[int, ...]) -> Value:
    operand, shape = batch.operands[0], batch.inner(1)
    if not any(batch.mapped[1:]):
        result = apply(primitive, *batch.operands, axes=batch.after(axes))
        return _to_front(result, len(shape), batch.count)
    indices = [batch.over(position) for position in range(1, len(batch.operands))]
    if not batch.mapped[0]:
        return apply(primitive, operand, *indices, axes=axes)
    return apply(primitive, operand, *_numbers(batch, shape), *indices, axes=batch.leading + batch.after(axes))


def _scatter(primitive: Primitive, batch: Batch, *, axes: tuple[int, ...], combine: str) -> Value:
    target, updates, shape = batch.over(0), batch.over(1), batch.inner(2)
    if not any(batch.mapped[2:]):
        behind = range(batch.count, batch.count + len(shape))
        updates = _to_front(updates, behind.start, len(behind))
        return apply(primitive, target, updates, *batch.operands[2:], axes=batch.after(axes), combine=combine)
    indices = [batch.over(position) for position in range(2, len(batch.operands))]
    positions = batch.leading + batch.after(axes)
    return apply(primitive, target, updates, *_numbers(batch, shape), *indices, axes=positions, combine=combine)


def _places(batch: Batch, first: int, sizes: Sequence[int], lengths: Sequence[int], strides: Sequence[int]) -> Any:
    """Index arrays for blocks that start at a different index in each entry.

    Returns the axes along which a part is not the whole, and for each an index operand over the entries and the
    part's elements along these axes. `first` is the place of the first start among the operands.
    """
    cut = [axis for axis, size in enumerate(sizes) if lengths[axis] != size or strides[axis] != 1]
    shape = batch.sizes + tuple([shapes.ceil_div(lengths[axis], strides[axis]) for axis in cut])
    indices = []
    for number, axis in enumerate(cut):
        # The places of all elements are computed from starts, whose type may be too narrow for them.
        start, mapped = batch.operands[first + axis], batch.mapped[first + axis]
        start = convert(start, types.s64) if start.type.size < 8 else start
        low, high = (filled(bound, start.type, start.shape) for bound in (0, sizes[axis] - lengths[axis]))
        start = apply(p.minimum, apply(p.maximum, start, low), high)
        start = apply(p.broadcast, start, shape=shape, axes=batch.leading if mapped else (), names=unnamed(shape))
        place = batch.count + number
        step = apply(p.iota, type=start.type, shape=shape, names=unnamed(shape), axis=place)
        if strides[axis] != 1:
            step = apply(p.multiply, step, filled(strides[axis], start.type, shape))
        indices.append(apply(p.add, start, step))
    return tuple(cut), indices


def _dynamic_slice(primitive: Primitive, batch: Batch, *, lengths: tuple[int, ...], strides: tuple[int, ...]) -> Value:
    if not any(batch.mapped[1:]):
        starts = [filled(0, types.s64, ()) for _ in batch.sizes] + list(batch.operands[1:])
        strides = (1,) * batch.count + strides
        return apply(primitive, batch.operands[0], *starts, lengths=batch.sizes + lengths, strides=strides)
    sizes = batch.inner(0)
    cut, indices = _places(batch, 1, sizes, lengths, strides)
    if not cut:
        return batch.over(0)
    group = Batch(batch.sizes, [batch.operands[0], *indices], [batch.mapped[0], *[True] * len(cut)])
    result = _gather(p.gather, group, axes=cut)
    order = [*cut, *(axis for axis in range(len(sizes)) if axis not in cut)]
    return _transpose(result, (*batch.leading, *batch.after([order.index(axis) for axis in range(len(sizes))])))


def _put_slice(primitive: Primitive, batch: Batch, **params: Any) -> Value:
    target, part, sizes = batch.over(0), batch.over(1), batch.inner(0)
    strides = params.get("strides", (1,) * len(sizes))
    if not any(batch.mapped[2:]):
        starts = [filled(0, types.s64, ()) for _ in batch.sizes] + list(batch.operands[2:])
        over = dict.fromkeys(params, (1,) * batch.count + strides)
        return apply(primitive, target, part, *starts, **over)
    cut, indices = _places(batch, 2, sizes, shapes.spans(batch.inner(1), strides), strides)
    if not cut:
        return part
    order = [*cut, *(axis for axis in range(len(sizes)) if axis not in cut)]
    part = _transpose(part, (*batch.leading, *batch.after(order)))
    group = Batch(batch.sizes, [target, part, *indices], [True] * (2 + len(cut)))
    return _scatter(p.scatter, group, axes=cut, combine="put")


# Folds -----------------------------------------------------------------------------------------------------------


def _fold(primitive: Primitive, batch: Batch, *, axes: tuple[int, ...], **params: Any) -> Value:
    if any(batch.mapped[1:]):
        return _one_by_one(primitive, batch, axes=axes, **params)
    return apply(primitive, *batch.operands, axes=batch.after(axes), **params)


_FAMILIES: dict[str, Rule] = {
    "elementwise": _as_it_is,
    "reduction": _along_axes,
    "cumulative": _along_axis,
    "sorting": _along_axis,
    "library": _as_it_is,
}
_RULES: dict[Primitive, Rule] = {
    p.reshape: _reshaped,
    p.broadcast: _broadcast,
    p.transpose: _transposed,
    p.slice_: _slice,
    p.dynamic_slice: _dynamic_slice,
    p.reverse: _along_axes,
    p.concatenate: _along_axis,
    p.pad: _pad,
    p.windows: _windows,
    p.argmax: _along_axis,
    p.argmin: _along_axis,
    p.reduce: _fold,
    p.dot: _dot,
    p.conv: _conv,
    p.gather: _gather,
    p.scatter: _scatter,
    p.put_slice: _put_slice,
    p.put_strided: _put_slice,
    p.fft: _along_axes,
}
