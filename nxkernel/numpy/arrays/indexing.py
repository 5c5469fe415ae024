"""``x[key]`` and ``x[key] = value`` for traced arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.graph import tracing
from nxkernel.messages import mask_shapes
from nxkernel.numpy.arrays import dynamic_slices, fancy_indexing, memory_order, strided_slices, subscripts
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value, fitted, is_for_standard, scalar, wrap
from nxkernel.numpy.arrays.dynamic_broadcasting import aligned, stretches_of, targets_of
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice, any_part, assign_part, compact_part, fitting, sized
from nxkernel.numpy.arrays.masked_elements import MaskedElements, whole_mask
from nxkernel.numpy.arrays.subscripts import AxisRange, ParsedKey
from nxkernel.numpy.arrays.views import AxisSlice, Index
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, filled, is_number, operand
from nxkernel.shapes import Shape, text
from nxkernel.tensor.foreign_arrays import subscript


def _settled(array: Array, key: Any) -> Any:
    """A key in which masks of traced length are padded to the length of the whole axes."""
    key = subscript(key)
    if tracing.current() is None:
        return _without_masks(key, array.shape)
    key = key.compact() if hasattr(type(key), "compact") and key.type is types.bool_ else key
    if hasattr(type(key), "stretched") and key.type is types.bool_:
        return whole_mask(key, array.shape[: key.ndim])
    if isinstance(key, tuple) and any(hasattr(type(one), "stretched") and one.type is types.bool_ for one in key):
        raise NxTypeError(
            message(
                "a mask of traced length stands beside other entries of a key.",
                "Alone it picks along the first axes: x[mask], or x.T[mask] for the last ones.",
            )
        )
    return key


def _without_masks(key: Any, shape: Shape) -> Any:
    """A key whose masks are known, with the indices of where they hold instead."""
    entries: list[Any] = []
    listed = key if isinstance(key, tuple) else (key,)
    ranks = [one.ndim if _is_mask(one) else int(one is not None and one is not Ellipsis) for one in listed]
    axis = 0
    for place, (one, rank) in enumerate(zip(listed, ranks, strict=True)):
        if not _is_mask(one):
            entries.append(one)
        elif not mask_shapes.fits(one.shape, shape[axis : axis + rank]):
            raise mask_shapes.unfit(one.shape, f"an array of shape {text(shape)}", shape, axis)
        else:
            entries += np.asarray(_elements(one)).nonzero()
        axis = len(shape) - sum(ranks[place + 1 :]) if one is Ellipsis else axis + rank
    return tuple(entries) if isinstance(key, tuple) or len(entries) != 1 else entries[0]


def _is_mask(entry: Any) -> bool:
    return bool(isinstance(entry, ArrayValue | Operand | np.ndarray) and entry.dtype == np.bool_ and entry.ndim)


def _with_places(key: Any, shape: Shape) -> Any:
    """A key with places in the place of masks whose elements are known while tracing: they pick a known number."""
    listed = [_of_truths(one) for one in (key if isinstance(key, tuple) else (key,))]
    masks = [one for one in listed if _is_mask(one)]
    if not masks or any(_elements(one) is None for one in masks):
        return key
    return _without_masks(tuple(listed), shape)


def _of_truths(entry: Any) -> Any:
    """A list of truth values as the mask that it is; anything else unchanged."""
    return np.array(entry) if type(entry) is list and entry and {*map(type, entry)} == {bool} else entry


def _elements(mask: Any) -> np.ndarray | None:
    """The elements of a mask that is known; None for others."""
    if isinstance(mask, np.ndarray):
        return mask
    return subscripts.known_elements(mask) if isinstance(mask, Array | Operand) else None


def get(array: Array, key: Any) -> Any:
    """``array[key]``: a view for slices, a scalar for one element, a new array for indices in arrays."""
    array, key = _of_one_truth(array, key)
    key = _settled(array, _with_places(key, array.shape))
    result = _shown(array, key)
    entries = key if isinstance(key, tuple) else (key,)
    if any(isinstance(entry, Array | np.ndarray) and not entry.ndim for entry in entries):
        # Also for an array of indices without axes, where a number would give a view.
        return result if result.is_scalar else result.copy()
    return result


def _of_one_truth(array: Array, key: Any) -> tuple[Array, Any]:
    """An array and a key, with an axis of one element in front of both where the key is one truth value."""
    if isinstance(key, bool | np.bool_):
        mask: Any = np.array([key])
    elif isinstance(key, ArrayValue | Operand) and key.dtype == np.bool_ and not key.ndim:
        mask = Array.of(apply(p.reshape, operand(key), shape=(1,), names=(None,)))
    else:
        return array, key
    view = get(array, None)
    # By the standard, which has no scalars, an array without axes is assigned into.
    view.writeable |= array.is_scalar and is_for_standard()
    return view, mask


def _shown(array: Array, key: Any) -> Any:
    parsed = subscripts.parse(key, array.shape)
    view = array if parsed.basic is None else array.through(parsed.basic)
    nothing = _nothing(view, parsed)
    if nothing is not None:
        return nothing
    if parsed.stretches or parsed.spreads or parsed.mask is not None:
        result = _dynamic(view, parsed)
        if parsed.mask is not None:
            return _picked_by_mask(view, parsed, sized(result.copied()))
        # As an array of a known length, a part with a step would be a copy, into which nobody's assignments go.
        return sized(result) if isinstance(result, DynamicSlice) else result
    if parsed.picks:
        if any_part(parsed.picks.values()):
            return sized(_picked_by_parts(view, parsed))
        return _picked(view, parsed)
    if parsed.is_element:
        return scalar(operand(view))
    # A view of all is another array all the same: it may get another shape.
    return array.view_all() if view is array else view


def _nothing(view: Array, parsed: ParsedKey) -> Array | None:
    """What a mask without elements picks: how much that is need not be traced. None for other keys."""
    if parsed.mask is None or 0 not in parsed.mask.shape:
        return None
    axis, after = parsed.mask_axis, parsed.mask_axis + len(parsed.mask.shape)
    return Array.of(filled(0, view.type, (*view.shape[:axis], 0, *view.shape[after:])))


def _picked_by_mask(view: Array, parsed: ParsedKey, result: Any) -> Any:
    """What a mask picks; if it has a length for the call, in the order in which NumPy's array lies."""
    if not isinstance(result, Array):
        return result
    axis, rank = parsed.mask_axis, len(parsed.mask.shape)
    strides = memory_order.of_picked(result.shape, view.strides_in_memory, range(axis, axis + rank), 1, axis)
    return result.laid_out_as([view], strides)


def _picked(view: Array, parsed: ParsedKey) -> ArrayValue:
    """The elements at index arrays, as a new array."""
    result = fancy_indexing.read(operand(view), parsed.picks, parsed.front)
    if not result.shape:
        return scalar(result)
    rank = len(result.shape) - view.ndim + len(parsed.picks)
    position = fancy_indexing.position(parsed.picks, parsed.front)
    strides = memory_order.of_picked(result.shape, view.strides_in_memory, tuple(parsed.picks), rank, position)
    return Array.of(result).laid_out_as([view], strides)


def put(array: Array, key: Any, value: Any) -> None:
    """``array[key] = value``."""
    array.check_writeable()
    array, key = _of_one_truth(array, key)
    key = _settled(array, key)
    parsed = subscripts.parse(key, array.shape)
    view = array if parsed.basic is None else array.through(parsed.basic)
    nothing = _nothing(view, parsed)
    if nothing is not None:
        # Nobody sees what is assigned, but that it does not fit.
        nothing.assign(value)
        return
    if parsed.stretches or parsed.spreads or parsed.mask is not None:
        target = _dynamic(view, parsed)
        _assign(sized(target) if parsed.mask is None else target, value)
        return
    if parsed.picks:
        if any_part([*parsed.picks.values(), value]):
            _put_by_parts(view, parsed, value)
            return
        whole = operand(view)
        shape = fancy_indexing.shape(whole.shape, parsed.picks, parsed.front)
        view.assign(fancy_indexing.put(whole, parsed.picks, parsed.front, fitted(value, shape, view.type)))
        return
    if view.shows_same(value):
        return
    view.assign(value)


def _dynamic(view: Array, parsed: ParsedKey) -> DynamicSlice | MaskedElements:
    """The result of a key with traced bounds or a mask."""
    if parsed.mask is not None:
        return MaskedElements(view, parsed.mask, parsed.mask_axis)
    if parsed.picks:
        raise NxTypeError(message("indices in arrays beside a slice with traced bounds.", "Index in two steps."))
    if parsed.spreads:
        return strided_slices.shown(view, parsed)
    return DynamicSlice(view, tuple([parsed.stretches.get(axis) for axis in range(view.ndim)]))


def _assign(target: Array | DynamicSlice | MaskedElements, value: Any) -> None:
    if isinstance(target, Array):
        target.assign(sized(value))
    elif isinstance(target, DynamicSlice):
        assign_part(target, value)
    else:
        target.assign(value)


def _picked_by_parts(view: Array, parsed: ParsedKey) -> DynamicSlice:
    """The elements at index arrays of traced length: a part as long as the indices."""
    picks, stretches, rank = _aligned_picks(view, parsed)
    result = fancy_indexing.read(operand(view), picks, parsed.front)
    position = 0 if parsed.front else min(picks)
    rest: list[AxisRange | None] = [None] * (len(result.shape) - rank)
    return DynamicSlice(wrap(result), tuple(rest[:position] + stretches + rest[position:]))


def _aligned_picks(view: Array, parsed: ParsedKey) -> tuple[dict[int, Operand], list[AxisRange | None], int]:
    values = {axis: as_value(indices) for axis, indices in parsed.picks.items()}
    rank = max(value.ndim for value in values.values())
    targets = targets_of(list(values.values()), rank)
    picks = {
        axis: subscripts.traced_index(operand(aligned(value, targets)), view.shape[axis])
        if isinstance(value, DynamicSlice)
        else operand(aligned(value, targets))
        for axis, value in values.items()
    }
    return picks, list(stretches_of(targets)), rank


def _put_by_parts(view: Array, parsed: ParsedKey, value: Any) -> None:
    """Assign to elements at index arrays of traced length; unused indices point to an extra element that is cut off
    again.
    """
    picks, stretches, rank = _aligned_picks(view, parsed)
    if not any(stretches):
        raise NxTypeError(
            message(
                "a part of traced length is assigned to indices of known number.",
                f"The indices have the shape {text(fancy_indexing.shape(view.shape, picks, True)[:rank])}.",
            )
        )
    whole = operand(view)
    indices = fancy_indexing.together(picks)
    inside = dynamic_slices.mask(tuple(stretches), indices[0].shape)
    first = next(iter(picks))
    size = whole.shape[first]
    indices[0] = apply(p.select, inside, indices[0], filled(size, types.s64, indices[0].shape))
    shape = fancy_indexing.shape(whole.shape, picks, parsed.front)
    if not is_number(value):
        position = 0 if parsed.front else min(picks)
        rest: list[Any] = [None] * (len(shape) - rank)
        like = [None if s is None else (s, n) for s, n in zip(stretches, indices[0].shape, strict=True)]
        value = fitting(compact_part(as_value(value)), rest[:position] + like + rest[position:])

    config = tuple([(0, 1 if axis == first else 0, 0) for axis in range(len(whole.shape))])
    longer = apply(p.pad, whole, filled(0, whole.type, ()), config=config)
    indices_by_axis = dict(zip(picks, indices, strict=True))
    longer = fancy_indexing.put(longer, indices_by_axis, parsed.front, fitted(value, shape, whole.type))
    along = tuple([AxisSlice(0, size) for size in whole.shape])
    view.assign(Index(longer.shape, along, tuple(range(len(along)))).read(longer))
