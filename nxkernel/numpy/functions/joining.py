"""Joining, splitting and padding arrays."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.numpy.arrays import dynamic_slices, memory_order, subscripts
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value, fitted, in_order_of, wrap
from nxkernel.numpy.arrays.casting import type_of
from nxkernel.numpy.arrays.masked_elements import MaskedElements
from nxkernel.numpy.arrays.views import reshaped
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.elementwise import add, greater_equal, logical_not, mod, multiply, rint, subtract
from nxkernel.numpy.functions.shaping import as_array, broadcast_to, copy, in_one_axis, moveaxis, repeat, sizes
from nxkernel.numpy.functions.ufunc import common_shape, finished
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.machinery import restacked_rows
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, merged, operand, spread
from nxkernel.shapes import normalize_axis, text, unnamed

__all__ = [
    "append", "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "block", "broadcast_arrays", "column_stack",
    "concat", "concatenate", "delete", "dsplit", "dstack", "hsplit", "hstack", "insert", "pad", "roll", "split",
    "stack", "unstack", "vsplit", "vstack",
]  # fmt: skip

#: Elements times levels of lists beyond which NumPy's block() fills a new array, instead of joining level by level.
COPIED_BY_SLICES = 2 * 512 * 512


def _one_type(values: Sequence[Any]) -> list[Operand]:
    """Values as operands of their common type; Python numbers are weak."""
    operands = [operand(as_value(value)) for value in values if not is_number(value)]
    if not operands:
        type_ = functools.reduce(types.merge, [types.infer(value) for value in values])
    else:
        type_ = operands[0].type
        for before, value in itertools.pairwise(operands):
            type_ = merged(before, value) if type_ is before.type else types.merge(type_, value.type)
        for value in values:
            if is_number(value):
                type_ = types.merge_number(type_, value)
    converted = iter(operands)
    return [filled(v, type_, ()) if is_number(v) else convert(next(converted), type_) for v in values]


def join_new(values: Sequence[Any], axis: int) -> Operand:
    """Values of one shape joined along a new axis."""
    if not values:
        raise NxValueError("need at least one array to stack")
    operands = _one_type(values)
    shape = operands[0].shape
    for value in operands:
        if value.shape != shape:
            raise NxValueError(
                f"stacked arrays have one shape, got {text(shape) or '()'} and {text(value.shape) or '()'}"
            )
    position = normalize_axis(axis, (*shape, 1))
    if position == 0 and (parts_ := restacked_rows.joined(operands)) is not None:
        return apply(p.concatenate, *parts_, axis=0) if len(parts_) > 1 else parts_[0]
    longer = (*shape[:position], 1, *shape[position:])
    return apply(p.concatenate, *[reshaped(value, longer) for value in operands], axis=position)


def _listed(arrays: Any) -> list[Any]:
    if isinstance(arrays, tuple | list):
        return list(arrays)
    return list(as_value(arrays))


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = None) -> Any:
    """Join arrays along a new axis, as :func:`numpy.stack`."""
    values = _listed(arrays)
    result = join_new(values, axis)
    key = (*(slice(None),) * normalize_axis(axis, result.shape), None)
    longer = [value[key] for value in values if isinstance(value, Array) and value.ndim]
    return finished(wrap(convert(result, type_of(dtype, result.type)), *longer), out, True, "stack")


def concatenate(
    arrays: Any, /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: Any = None
) -> Any:
    """Join arrays along an axis, as :func:`numpy.concatenate`."""
    values = [as_value(value) for value in _listed(arrays)]
    values = [dynamic_slices.sized(value) for value in values]
    for value in values:
        if isinstance(value, dynamic_slices.DynamicSlice):
            raise subscripts.needed(
                value.traced_length,
                "a part of traced length is joined with others: how long the result is only the running program knows.",
                "Make an array of the greatest size, and assign the parts: out = np.zeros(n); out[:k] = x[:k].",
            )
    if axis is None:
        values, axis = [in_one_axis(value) for value in values], 0
    if not values or not values[0].ndim:
        raise NxValueError("concatenate takes arrays with at least one axis; np.stack joins scalars")
    position = normalize_axis(axis, values[0].shape)
    for value in values:
        if value.ndim != values[0].ndim or any(
            m != n for k, (m, n) in enumerate(zip(value.shape, values[0].shape, strict=True)) if k != position
        ):
            raise NxValueError(
                f"concatenate along axis {position}: "
                f"{text(values[0].shape)} and {text(value.shape)} do not fit together"
            )
    operands = _one_type(values)
    result = apply(p.concatenate, *operands, axis=position) if len(operands) > 1 else operands[0]
    result = Array.of(convert(result, type_of(dtype, result.type)))
    inputs = [
        (result.shape, [0 if n == 1 else by for n, by in zip(value.shape, value.strides_in_memory, strict=True)])
        for value in values
    ]
    return finished(result.laid_out_as(values, memory_order.of_result(result.shape, inputs)), out, True, "concatenate")


concat = concatenate


def atleast_1d(*arrays: Any) -> Any:
    """Arrays with at least one axis, as :func:`numpy.atleast_1d`."""
    return _each(arrays, lambda value: value if value.ndim else value.with_shape((1,)))


def atleast_2d(*arrays: Any) -> Any:
    """Arrays with at least two axes, as :func:`numpy.atleast_2d`."""
    return _each(arrays, lambda value: value if value.ndim > 1 else atleast_1d(value)[None, :])


def atleast_3d(*arrays: Any) -> Any:
    """Arrays with at least three axes, as :func:`numpy.atleast_3d`."""

    def one(value: Any) -> Any:
        if value.ndim > 2:
            return value
        return value[:, :, None] if value.ndim == 2 else atleast_1d(value)[None, :, None]

    return _each(arrays, one)


def _each(arrays: Sequence[Any], function: Any) -> Any:
    results = [function(as_value(value)) for value in arrays]
    return results[0] if len(results) == 1 else tuple(results)


def vstack(tup: Any, *, dtype: Any = None, casting: Any = None) -> Any:
    """Stack arrays vertically, as :func:`numpy.vstack`."""
    return concatenate([atleast_2d(value) for value in _listed(tup)], 0, dtype=dtype)


def hstack(tup: Any, *, dtype: Any = None, casting: Any = None) -> Any:
    """Stack arrays horizontally, as :func:`numpy.hstack`."""
    values = [atleast_1d(value) for value in _listed(tup)]
    return concatenate(values, 0 if not values or values[0].ndim == 1 else 1, dtype=dtype)


def dstack(tup: Any) -> Any:
    """Stack arrays along the third axis, as :func:`numpy.dstack`."""
    return concatenate([atleast_3d(value) for value in _listed(tup)], 2)


def column_stack(tup: Any) -> Any:
    """Stack vectors as columns, as :func:`numpy.column_stack`."""
    values = [atleast_1d(value) for value in _listed(tup)]
    return concatenate([value[:, None] if value.ndim == 1 else value for value in values], 1)


def block(arrays: Any) -> Any:
    """An array assembled from nested lists of blocks, as :func:`numpy.block`."""

    def depth(value: Any) -> int:
        return 1 + depth(value[0]) if isinstance(value, list) else 0

    levels = depth(arrays)
    rank = max(levels, *(as_value(leaf).ndim for leaf in _leaves(arrays)))

    def joined(value: Any, level: int) -> Any:
        if isinstance(value, list):
            return concatenate([joined(part, level - 1) for part in value], axis=rank - level)
        leaf = as_array(value)
        return leaf.reshape((1,) * (rank - leaf.ndim) + leaf.shape) if leaf.ndim < rank else leaf

    result = joined(arrays, levels)
    if levels * math.prod(result.shape) <= COPIED_BY_SLICES:
        return result if levels else copy(result)
    leaves = [as_array(leaf) for leaf in _leaves(arrays)]
    orders = [
        all(memory_order.is_contiguous(leaf.shape, leaf.strides_in_memory, order) for leaf in leaves) for order in "CF"
    ]
    strides = memory_order.of_order(result.shape, "F" if orders == [False, True] else "C", None)
    return Array.of(operand(result)).laid_out_as(leaves, strides)


def _leaves(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, list) else [value]


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Values appended to an array, as :func:`numpy.append`."""
    if axis is None:
        return concatenate([in_one_axis(as_value(arr)), in_one_axis(as_value(values))])
    return concatenate([arr, values], axis=axis)


def _cut(value: Any, positions: Sequence[int], axis: int) -> list[Any]:
    position = normalize_axis(axis, value.shape)
    before = (slice(None),) * position
    ends = [0, *positions, value.shape[position]]
    return [value[(*before, slice(low, high))] for low, high in itertools.pairwise(ends)]


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split an array into parts that may differ in size by one, as :func:`numpy.array_split`."""
    value = as_value(ary)
    if isinstance(indices_or_sections, Operand | Proxy) and not as_value(indices_or_sections).ndim:
        indices_or_sections = subscripts.static(indices_or_sections)
    if not isinstance(indices_or_sections, int):
        positions = iter(indices_or_sections)  # pyright: ignore[reportGeneralTypeIssues, reportArgumentType]
        return _cut(value, [int(position) for position in positions], axis)
    size, count = value.shape[axis], indices_or_sections
    short, longer = divmod(size, count)
    return _cut(value, [k * short + min(k, longer) for k in range(1, count)], axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split an array into views, as :func:`numpy.split`."""
    value = as_value(ary)
    if isinstance(indices_or_sections, Operand | Proxy) and not as_value(indices_or_sections).ndim:
        indices_or_sections = subscripts.static(indices_or_sections)
    if isinstance(indices_or_sections, int) and value.shape[axis] % indices_or_sections:
        raise NxValueError(
            f"split: {indices_or_sections} parts of one size do not make {value.shape[axis]}; see np.array_split"
        )
    return array_split(value, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Split an array horizontally, as :func:`numpy.hsplit`."""
    value = as_value(ary)
    return split(value, indices_or_sections, 0 if value.ndim == 1 else 1)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Split an array vertically, as :func:`numpy.vsplit`."""
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Split an array along the third axis, as :func:`numpy.dsplit`."""
    return split(ary, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """A tuple of the slices along an axis, as :func:`numpy.unstack`."""
    value = as_value(x)
    position = normalize_axis(axis, value.shape)
    before = (slice(None),) * position
    return tuple(value[(*before, index)] for index in range(value.shape[position]))


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Arrays broadcast to one shape, as :func:`numpy.broadcast_arrays`."""
    values = [as_value(value) for value in args]
    shape = common_shape(*values)
    if all(isinstance(value, Array) and value.shape == shape for value in values):
        # NumPy gives the arrays themselves, which may be assigned into.
        return tuple(values)
    return tuple(broadcast_to(value, shape) for value in values)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Any:
    """An array without some indices of an axis, or what a mask picks of it, as :func:`numpy.delete`."""
    value = as_value(arr)
    if axis is None:
        value, axis = in_one_axis(value), 0
    axis = normalize_axis(axis, value.shape)
    left = _left(value.shape[axis], obj)
    return in_order_of(value[(*(slice(None),) * axis, left)], value)


def _left(size: int, obj: Any) -> Any:
    """Which indices of an axis remain without some of them: as indices where it is known how many, else as a mask."""
    parts = (
        (obj.start, obj.stop, obj.step) if isinstance(obj, slice) else obj if isinstance(obj, list | tuple) else [obj]
    )
    if not any(isinstance(part, Operand | Proxy) for part in parts):
        return np.delete(np.arange(size), obj)
    kept = wrap(filled(True, types.bool_, (size,)))
    if isinstance(obj, slice):
        kept[obj] = False
        return kept
    places = obj[0] if isinstance(obj, tuple) and len(obj) == 1 else as_value(obj)
    if isinstance(places, MaskedElements) and places.type is not types.bool_:
        kept[places] = False
        return kept
    known = subscripts.known_elements(places)
    if known is not None:
        return np.delete(np.arange(size), known)
    if places.type is types.bool_:
        if places.shape != (size,):
            raise NxValueError(
                f"boolean array argument obj to delete must be one dimensional and match the axis length of {size}."
            )
        return logical_not(places)
    if places.shape in ((), (1,)):
        numbers = _numbers(size - 1)
        return add(numbers, greater_equal(numbers, mod(places, size)))
    kept[places] = False
    return kept


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """An array with values inserted before indices of an axis, which must be known, as :func:`numpy.insert`."""
    value = as_value(arr)
    if axis is None:
        value, axis = in_one_axis(value), 0
    axis = normalize_axis(axis, value.shape)
    if isinstance(obj, Operand | Proxy):
        obj = subscripts.known_indices(obj, "insert")
    size, is_number = value.shape[axis], not isinstance(obj, slice) and not np.ndim(obj)
    # NumPy checks the indices.
    count = np.insert(np.arange(size), obj, 0).size - size
    new = as_value(values).astype(value.dtype)
    new = new[(None,) * (value.ndim - new.ndim) + (...,)] if new.ndim < value.ndim else new
    new = moveaxis(new, 0, axis) if is_number else new
    count = new.shape[axis] if count == 1 else count
    shape = (*value.shape[:axis], count, *value.shape[axis + 1 :])
    places = np.insert(np.arange(size), obj, np.arange(size, size + count))
    joined = concatenate([value, wrap(fitted(new, shape, value.type))], axis=axis)
    return in_order_of(joined[(*(slice(None),) * axis, places)], value)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements rolled along an axis, as :func:`numpy.roll`."""
    value = as_array(a)
    if axis is None:
        return roll(in_one_axis(value), shift, 0).reshape(value.shape)
    if isinstance(shift, ArrayValue) and not shift.type.is_integer:
        shift = shift.astype("int64")
    shifts = list(subscripts.parts(shift))
    axes = sizes(axis)
    shifts = list(shifts) * len(axes) if len(shifts) == 1 else shifts
    axes = axes * len(shifts) if len(axes) == 1 else axes
    if len(shifts) != len(axes):
        raise NxValueError(f"roll: {len(shifts)} shifts do not fit {len(axes)} axes")
    for by, along in zip(shifts, axes, strict=True):
        position = normalize_axis(along, value.shape)
        length, before = value.shape[position], (slice(None),) * position
        if isinstance(by, Operand | ArrayValue):
            value = value[(*before, mod(subtract(_numbers(length), by), length))]
        elif length and by % length:
            cut = length - by % length
            pieces = [value[(*before, slice(cut, None))], value[(*before, slice(0, cut))]]
            value = concatenate(pieces, axis=position)
    return value if value is not a else copy(value)


def _numbers(count: int) -> ArrayValue:
    return wrap(apply(p.iota, type=types.s64, shape=(count,), names=unnamed((count,)), axis=0))


def pad(array: Any, pad_width: Any, mode: str = "constant", **options: Any) -> Any:
    """A padded array, as :func:`numpy.pad`."""
    value = as_array(array)
    taken = "constant_values" if mode == "constant" else "stat_length" if mode in _STATISTICS else "reflect_type"
    unknown = options.keys() - ({taken} if mode in ("constant", *_STATISTICS, "reflect", "symmetric") else set())
    if unknown:
        raise NxTypeError(f"pad: the mode {mode!r} takes no {' and no '.join(sorted(unknown))}")
    if not value.ndim:
        return copy(value)
    return in_order_of(_padded(value, _pairs(pad_width, value.ndim), mode, options.get(taken)), value)


def _padded(value: Array, widths: Sequence[tuple[int, int]], mode: str, option: Any) -> Any:
    if mode in ("constant", "empty"):
        return _constant(value, widths, 0 if option is None else option)
    if mode in _STATISTICS:
        lengths = [(None, None)] * value.ndim if option is None else _pairs(option, value.ndim)
        return _with_statistic(value, widths, mode, lengths)
    if mode not in _BORDERS:
        raise NxValueError(f"pad: mode {mode!r} is none of constant {' '.join([*_BORDERS, *_STATISTICS])}")
    if option not in (None, "even", "odd"):
        raise NxValueError(f"pad: reflect_type is 'even' or 'odd', got {option!r}")
    for axis, (low, high) in enumerate(widths):
        size = value.shape[axis]
        if not (low or high):
            continue
        if not size:
            raise NxValueError(f"pad: axis {axis} is empty, which only the modes 'constant' and 'empty' can extend")
        indices = range(-low, size + high)
        taken = value[(*(slice(None),) * axis, [_BORDERS[mode](k, size) for k in indices])]
        value = _turned(value, taken, axis, indices, mode == "reflect") if option == "odd" else taken
    return value


def _turned(value: Array, even: Array, axis: int, positions: range, is_once: bool) -> Any:
    """A border that is reflected in its edge elements, too: what lies beyond them is as far on the other side."""
    size, after = value.shape[axis], (None,) * (value.ndim - axis - 1)
    period = 2 * (size - 1) if is_once else 2 * size
    if not period:
        return even
    first, last = (value[(*(slice(None),) * axis, slice(k, k + 1))] for k in (0, size - 1))
    rounds = np.array([2 * (k // period) for k in positions]).astype(value.dtype)[(slice(None), *after)]
    beyond = np.array([k % period >= size for k in positions])[(slice(None), *after)]
    mask, other = (spread(operand(as_value(each)), even.shape) for each in (beyond, subtract(multiply(last, 2), even)))
    result = wrap(apply(p.select, mask, other, operand(even)))
    return add(result, multiply(rounds, subtract(last, first))).astype(value.dtype)


def _pairs(arguments: Any, rank: int) -> list[tuple[int, int]]:
    """Two whole numbers for each axis, of as many as a person gave."""
    if isinstance(arguments, dict):
        along = {normalize_axis(axis, (0,) * rank): width for axis, width in arguments.items()}
        arguments = [np.broadcast_to(along.get(axis, 0), 2).tolist() for axis in range(rank)]
    found = subscripts.known_elements(arguments) if isinstance(arguments, Operand | Proxy) else None
    pairs = np.broadcast_to(np.asarray(arguments if found is None else found), (rank, 2))
    if (pairs < 0).any():
        raise NxValueError("pad: widths and lengths are at least 0")
    return [(int(low), int(high)) for low, high in pairs]


def _constant(value: Array, widths: Sequence[tuple[int, int]], constant: Any) -> Any:
    if isinstance(constant, int | float | complex | ArrayValue | Operand):
        number = operand(as_value(constant))
        config = tuple((low, high, 0) for low, high in widths)
        return wrap(apply(p.pad, operand(value), convert(number, value.type), config=config))
    each = np.broadcast_to(np.asarray(constant, dtype=object), (value.ndim, 2))
    data = operand(value)
    for axis, ((low, high), numbers) in enumerate(zip(widths, each, strict=True)):
        for side, (width, number) in enumerate(zip((low, high), numbers, strict=True)):
            one = ((width, 0, 0), (0, width, 0))[side]
            config = tuple(one if k == axis else (0, 0, 0) for k in range(value.ndim))
            data = apply(p.pad, data, filled(number, value.type, ()), config=config)
    return wrap(data)


def _reflected(k: int, n: int) -> int:
    period = max(2 * n - 2, 1)
    k %= period
    return k if k < n else period - k


def _mirrored(k: int, n: int) -> int:
    k %= 2 * n
    return k if k < n else 2 * n - 1 - k


_BORDERS = {
    "edge": lambda k, n: min(max(k, 0), n - 1),
    "wrap": lambda k, n: k % n,
    "reflect": _reflected,
    "symmetric": _mirrored,
}
_STATISTICS = ("maximum", "mean", "minimum")


def _with_statistic(
    value: Array, widths: Sequence[tuple[int, int]], mode: str, lengths: Sequence[tuple[int | None, int | None]]
) -> Any:
    function = {"maximum": reductions.max, "minimum": reductions.min, "mean": reductions.mean}[mode]
    for axis, (width, length) in enumerate(zip(widths, lengths, strict=True)):
        before, borders = (slice(None),) * axis, []
        for side, (by, count) in enumerate(zip(width, length, strict=True)):
            near = slice(None, count) if side == 0 else slice(-min(count or value.shape[axis], value.shape[axis]), None)
            if count == 0 and mode != "mean":
                raise NxValueError(f"pad: stat_length of 0 has no {mode}")
            border = function(value[(*before, near if count != 0 else slice(0, 0))], axis=axis, keepdims=True)
            if mode == "mean" and value.type.is_integer and value.type is not types.bool_:
                border = rint(border)
            borders.append(repeat(border.astype(value.dtype), by, axis))
        value = concatenate([borders[0], value, borders[1]], axis=axis)
    return value
