"""``x[key] = v`` on values that do not change: a new value with a part overwritten."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.errors import NxError, NxTypeError, NxValueError, TracedValueError, message
from nxkernel.graph.expr import TracedValue
from nxkernel.messages import mask_shapes
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread
from nxkernel.ops.shapes import gathering, indexing, shaping
from nxkernel.types import s64

Entries = Sequence[Any]


def updated(tensor: Operand, key: Any, value: Any) -> Operand:
    """A copy of a tensor with a part overwritten; it keeps its type.

    Parameters
    ----------
    tensor : tensor
    key : int, slice, None, Ellipsis, mask, tensor, list of int, or a tuple of these
        Ints may be traced; a mask is a bool tensor of the shape of the first axes.
    value : tensor or number
        It is broadcast to the part.

    Raises
    ------
    NxTypeError
        When the tensor's type cannot hold the value.
    """
    value = cast_to_target(value, tensor)
    if is_mask(key):
        return _masked(tensor, key, value)
    entries = expanded(tensor, key)
    arrays = [axis for axis, entry in enumerate(entries) if is_array(entry)]
    if not arrays:
        return _basic(tensor, entries, value)
    basic = [slice(None) if is_array(entry) or _is_int(entry) else entry for entry in entries]
    if all(_is_whole(entry) for entry in basic):
        return _advanced(tensor, entries, value)
    # Slices beside index arrays: their part is taken, changed and put back.
    axes = [entry for entry in entries if entry is not None]
    slices = tuple([slice(None) if is_array(entry) or _is_int(entry) else entry for entry in axes])
    rest = tuple([slice(None) if isinstance(entry, slice) else entry for entry in entries])
    part = indexing.index(tensor, slices)
    return _basic(tensor, list(slices), updated(part, rest, value))


def is_mask(key: Any) -> bool:
    """Whether a key is a boolean mask with axes."""
    if isinstance(key, Proxy | np.ndarray):
        key = operand(key)
    return isinstance(key, Operand) and bool(key.shape) and key.type is types.bool_


def is_array(entry: Any) -> bool:
    """Whether an entry of a key is an index array: a tensor or list with axes."""
    return isinstance(entry, list) or (isinstance(entry, Operand | Proxy | np.ndarray) and bool(operand(entry).shape))


def _is_int(entry: Any) -> bool:
    return entry is not None and not isinstance(entry, slice) and not is_array(entry)


def _is_whole(entry: Any) -> bool:
    return entry is None or entry == slice(None)


def expanded(tensor: Operand, key: Any) -> list[Any]:
    """The key as one entry for each axis, and None for each added one; proxies become traced values."""
    key = tuple(key) if isinstance(key, tuple) else key
    if isinstance(key, tuple):
        key = tuple([operand(entry) if isinstance(entry, Proxy) else entry for entry in key])
        if any(is_mask(entry) for entry in key):
            raise NxTypeError(
                message(
                    "a mask stands alone between the brackets.",
                    "nx.select(mask, v, x) chooses for each element, and masks of several axes combine with &.",
                )
            )
    elif isinstance(key, Proxy):
        key = operand(key)
    return indexing._aligned(tensor, key)


def cast_to_target(value: Any, tensor: Operand) -> Any:
    """A value converted to the type of the tensor that it is assigned into.

    Raises
    ------
    NxTypeError
        When that type cannot hold it: fractions in integers, complex numbers in real ones.
    """
    type_ = tensor.type
    if is_number(value):
        kind = types.infer(value)
        if _is_castable(kind, type_) and (not type_.is_integer or _within(value, type_)):
            return filled(cast_number(value, type_).item(), type_, ())
        raise _loses(str(value), str(kind), tensor, type_)
    value = operand(value)
    if not _is_castable(value.type, type_):
        raise _loses(f"a value of type {value.spec}", str(value.type), tensor, type_)
    return convert(value, type_)


def _is_castable(kind: types.Type, into: types.Type) -> bool:
    if types.follows_numpy():
        return into.is_complex or not kind.is_complex
    return into.is_complex or (not kind.is_complex and (into.is_float or kind.is_integer))


def _within(number: Any, type_: types.Type) -> bool:
    low, high = types.limits(type_)
    return types.follows_numpy() or low <= number <= high


def _loses(what: str, kind: str, tensor: Operand, type_: types.Type) -> NxError:
    wider = types.merge(type_, types.normalize(kind))
    return NxTypeError(
        message(
            f"{what} does not fit into a tensor of type {tensor.spec}: an assignment keeps the type.",
            f'Convert the tensor first, x = nx.as_type(x, "{wider}"), or cut the value: nx.as_type(v, "{type_}").',
        )
    )


def _masked(tensor: Operand, key: Any, value: Operand) -> Operand:
    mask = operand(key)
    rank = mask.rank
    if mask.shape != tensor.shape[:rank]:
        raise mask_shapes.unfit(mask.shape, f"a tensor of type {tensor.spec}", tensor.shape)
    rest = tensor.shape[rank:]
    if value.rank > len(rest) and value.shape != tensor.shape:
        raise NxValueError(
            message(
                f"x[mask] = v takes one value for all that the mask chooses, got {value.spec}.",
                "How many elements that are only the running program knows: x = nx.select(mask, v, x) takes a `v` of "
                "the shape of x.",
            )
        )
    wide = spread_mask(mask, tensor)
    return _like(comparison.select(wide, _broadcast(value, tensor.shape), tensor), tensor)


def spread_mask(mask: Operand, tensor: Operand) -> Operand:
    """A mask of the first axes, broadcast to all elements."""
    if mask.rank == tensor.rank:
        return mask
    sizes = mask.shape + (1,) * (tensor.rank - mask.rank)
    return shaping.broadcast(shaping.reshape(mask, sizes), tensor.shape)


def _like(result: Operand, tensor: Operand) -> Operand:
    """A result with the axis names of the tensor."""
    return shaping.rename(result, tensor.names) if result.names != tensor.names else result


def _broadcast(value: Operand, shape: tuple[int, ...]) -> Operand:
    if value.names != (None,) * value.rank:
        value = shaping.rename(value, [None] * value.rank)
    while value.rank > len(shape) and value.shape[0] == 1:
        value = shaping.squeeze(value, axes=[0])
    try:
        is_broadcastable = shapes.broadcast_shapes(value.shape, shape) == tuple(shape)
    except NxError:
        is_broadcastable = False
    if not is_broadcastable:
        raise NxValueError(
            message(
                f"a value of the shape {shapes.text(value.shape)} does not fit into a part of the shape "
                f"{shapes.text(tuple(shape))}.",
                "Sizes are equal, or 1 in the value.",
            )
        )
    return spread(value, tuple(shape))


def _basic(tensor: Operand, entries: Entries, value: Operand) -> Operand:
    """Assign by ints, slices and added axes: the part is a block."""
    starts, lengths, steps, shown, axis = [], [], [], [], 0
    for entry in entries:
        if entry is None:
            shown.append(1)
            continue
        size = tensor.shape[axis]
        if isinstance(entry, slice) and is_window(entry):
            start, length, step = *window(entry, size), 1
            shown.append(length)
        elif isinstance(entry, slice):
            start, length, step = indexing._static_slice(entry, size)
            count = shapes.ceil_div(length, abs(step)) if length else 0
            if step < 0 and count:
                # The block begins at its lowest place; its values come in reverse.
                start = start - (count - 1) * abs(step)
            shown.append(count)
        else:
            start, length, step = _place(entry, axis, tensor), 1, 1
        starts.append(start)
        lengths.append(length)
        steps.append(step)
        axis += 1
    value = _broadcast(value, tuple(shown))
    counts = tuple([shapes.ceil_div(length, abs(step)) for length, step in zip(lengths, steps, strict=True)])
    if 0 in counts:
        return tensor
    value = shaping.reshape(value, counts)
    backward = [axis for axis, step in enumerate(steps) if step < 0 and counts[axis] > 1]
    if backward:
        value = shaping.reverse(value, axes=backward)
    strides = tuple([abs(step) if n > 1 else 1 for step, n in zip(steps, counts, strict=True)])
    if set(strides) <= {1} and counts == tensor.shape:
        return _like(value, tensor)
    positions = [convert(start, s64) if isinstance(start, Operand) else filled(start, s64, ()) for start in starts]
    value = shaping.rename(value, tensor.names)
    if set(strides) <= {1}:
        return apply(p.put_slice, tensor, value, *positions)
    return apply(p.put_strided, tensor, value, *positions, strides=strides)


def is_window(entry: slice) -> bool:
    """Whether a slice has a traced bound."""
    return any(isinstance(bound, TracedValue | Proxy) for bound in (entry.start, entry.stop, entry.step))


def window(entry: slice, size: int) -> tuple[Operand, int]:
    """The start and length of a slice with traced bounds: ``i : i + 3`` always has three elements.

    Raises
    ------
    TracedValueError
        Where the length is not known.
    """
    start = 0 if entry.start is None else _bound(entry.start)
    stop = size if entry.stop is None else _bound(entry.stop)
    length = integer_bounds.difference(stop, start)
    if length is None or entry.step not in (None, 1) or length > size:
        raise TracedValueError(
            message(
                "A slice asks for the data of its bounds, which only the running program knows.",
                "Bounds that are a known number apart make a part, such as x[i : i + 3].",
                "Else keep the whole axis and choose: nx.select((k >= i) & (k < j), x, 0), where k is nx.iota((n,)).",
            )
        )
    return indexing._dynamic(operand(start), size - max(length, 0)), max(length, 0)


def _bound(bound: Any) -> Any:
    return operand(bound) if isinstance(bound, Proxy) else bound


def _place(entry: Any, axis: int, tensor: Operand) -> Any:
    if isinstance(entry, Operand | np.ndarray | np.generic):
        return indexing._dynamic(operand(entry), tensor.shape[axis] - 1)
    return indexing._static_index(entry, axis, tensor)


def _advanced(tensor: Operand, entries: Entries, value: Operand) -> Operand:
    """Assign by index arrays, with ints and full slices beside them: a scatter."""
    entries = [entry for entry in entries if entry is not None]
    axes = [axis for axis, entry in enumerate(entries) if is_array(entry) or _is_int(entry)]
    indices, shape = coordinates(tensor, entries, axes)
    rest = [size for axis, size in enumerate(tensor.shape) if axis not in axes]
    together = axes == list(range(axes[0], axes[-1] + 1))
    front = axes[0] if together else 0
    shown = (*rest[:front], *shape, *rest[front:])
    value = _broadcast(value, shown)
    if front and shape:
        order = [*range(front, front + len(shape)), *range(front), *range(front + len(shape), len(shown))]
        value = shaping.transpose(value, axes=order)
    if not math.prod(shape):
        return tensor
    return apply(p.scatter, tensor, value, *indices, axes=tuple(axes), combine="put")


def coordinates(tensor: Operand, entries: Entries, axes: Sequence[int]) -> tuple[list[Operand], tuple[int, ...]]:
    """Index arrays and ints broadcast to one shape, and that shape."""
    arrays = []
    for axis in axes:
        entry = entries[axis]
        if is_array(entry):
            indices = indexing._indices(entry, axis, tensor) if isinstance(entry, list) else operand(entry)
            gathering.whole_indices(indices, "x[...]")
        else:
            position = _place(entry, axis, tensor)
            indices = position if isinstance(position, Operand) else filled(position, s64, ())
        arrays.append(shaping.rename(indices, [None] * indices.rank))
    shape: tuple[int, ...] = ()
    for indices in arrays:
        shape = shapes.broadcast_shapes(shape, indices.shape)
    return [spread(convert(indices, s64), shape) for indices in arrays], shape
