"""Sorting, searching and histograms, as in NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import deferred_calls, tracing, values_of_call
from nxkernel.numpy.arrays import fancy_indexing, subscripts
from nxkernel.numpy.arrays.array import Array, as_value, in_order_of, of_numpy, wrap
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.creation import linspace
from nxkernel.numpy.functions.cumulative import diff
from nxkernel.numpy.functions.selection import take_along_axis, where
from nxkernel.numpy.functions.shaping import along, in_one_axis
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread
from nxkernel.shapes import normalize_axis
from nxkernel.types import s64

__all__ = [
    "argpartition", "argsort", "bincount", "digitize", "histogram", "histogram_bin_edges", "in1d", "isin", "lexsort",
    "partition", "searchsorted", "sort", "sort_complex",
]  # fmt: skip


def _ordered(value: Operand) -> Operand:
    """Booleans as integers, which backends can sort; anything else unchanged."""
    if value.type.is_complex:
        raise NxTypeError(message("complex numbers have no order here.", "Sort x.real, or abs(x)."))
    return convert(value, types.u8) if value.type is types.bool_ else value


def sort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False
) -> Any:
    """A sorted copy, as :func:`numpy.sort`; ``descending=True``, which is the standard's, begins with the greatest."""
    value = as_value(a)
    if axis is not None:  # A number is not sorted, though it has an order.
        normalize_axis(axis, value.shape)
    value, position = along(value, axis)
    if value.type.is_complex:
        return take_along_axis(value, argsort(value, position, descending=descending), position)
    result = apply(p.sort, _ordered(operand(value)), axis=position, direction="desc" if descending else "asc")
    return wrap(convert(result, value.type), value)


def argsort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: bool = False
) -> Any:
    """The indices that sort an array, stably, as :func:`numpy.argsort`; `descending` as for :func:`sort`."""
    value, position = along(as_value(a), axis)
    if value.type.is_complex and not descending:
        return lexsort((value.imag, value.real), position)
    direction = "desc" if descending else "asc"
    return wrap(apply(p.argsort, _ordered(operand(value)), axis=position, direction=direction, type=s64))


def partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    """The sorted array, which is partitioned at every index, as :func:`numpy.partition`."""
    return sort(a, axis)


def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None) -> Any:
    """The indices that sort the array, as :func:`numpy.argpartition`."""
    return argsort(a, axis)


def lexsort(keys: Any, axis: int = -1) -> Any:
    """The indices that sort by several keys, the last one first, as :func:`numpy.lexsort`."""
    order = None
    for key in keys:
        value = as_value(key)
        ranked = argsort(value if order is None else take_along_axis(value, order, axis), axis)
        order = ranked if order is None else take_along_axis(order, ranked, axis)
    return order


def sort_complex(a: Any) -> Any:
    """Complex numbers sorted by their real parts, then by the imaginary ones, as :func:`numpy.sort_complex`."""
    value = as_value(a)
    return sort(value if value.type.is_complex else value.astype(complex))


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Insertion indices of values into a sorted vector, as :func:`numpy.searchsorted`, by bisection."""
    if side not in ("left", "right"):
        raise NxValueError(f'side is "left" or "right", got {side!r}')
    line = as_value(a)
    line = line if sorter is None else line[sorter]
    data, values = operand(line), operand(as_value(v))
    type_ = types.merge(data.type, values.type)
    reductions.refuse_complex(type_)
    data, values = convert(data, type_), convert(values, type_)
    size, shape = data.shape[0], values.shape
    low = filled(0, s64, shape)
    step = 1 << max(size.bit_length() - 1, 0)
    before = p.less if side == "left" else p.less_equal
    while step and size:
        middle = apply(p.add, low, filled(step, s64, shape))
        inside = apply(p.less_equal, middle, filled(size, s64, shape))
        index = apply(p.minimum, apply(p.subtract, middle, filled(1, s64, shape)), filled(size - 1, s64, shape))
        element = fancy_indexing.read(data, {0: index}, False)
        smaller = apply(before, element, values)
        if type_.is_float:
            nan = apply(p.is_nan, values)
            smaller = apply(p.logical_or, smaller, _nan_after(nan, element, side))
        low = apply(p.select, apply(p.logical_and, inside, smaller), middle, low)
        step //= 2
    return wrap(low)


def _nan_after(nan: Operand, index: Operand, side: str) -> Operand:
    """Insertion indices corrected for NaN, which sorts after every number."""
    if side == "right":
        return nan
    return apply(p.logical_and, nan, apply(p.logical_not, apply(p.is_nan, index)))


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The bin of each value, as :func:`numpy.digitize`."""
    side = "left" if right else "right"
    edges = as_value(bins)
    count = edges.shape[0]
    up = searchsorted(edges, x, side)
    if isinstance(bins, list | tuple) and not any(bins[k] > bins[k + 1] for k in range(count - 1)):
        return up
    down = e.subtract(count, searchsorted(edges[::-1], x, side))
    if not count:
        return up
    first, last = edges[0], edges[-1]
    # NaN is greater than all numbers.
    falls = e.logical_or(e.greater(first, last), e.logical_and(e.isnan(first), e.logical_not(e.isnan(last))))
    return where(falls, down, up)


#: Makes NumPy's error; kept, and pickled, with the program.
_NEGATIVE = functools.partial(ValueError, "'list' argument must have no negative elements")


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """The number of occurrences of each integer, as :func:`numpy.bincount`.

    While a definition is traced, `minlength` is the result's length, unless the integers are known.
    """
    if tracing.current() is None:
        heavy = None if weights is None else np.asarray(operand(as_value(weights)))
        return of_numpy(np.bincount(np.asarray(operand(as_value(x))), heavy, minlength))
    counted = as_value(x)
    if 0 in counted.shape:
        return wrap(filled(0, s64 if weights is None else types.f64, (minlength,)))
    known = subscripts.known_elements(counted) if isinstance(counted, Array) else None
    if known is not None:
        minlength = max(minlength, int(known.max()) + 1)
    if deferred_calls.are_checked():
        least = operand(reductions.min(wrap(convert(operand(counted), s64)), initial=0))
        deferred_calls.raise_if(apply(p.less, least, filled(0, s64, ())), [], _NEGATIVE)
    greatest = None if known is not None or not values_of_call.are_told() else reductions.max(counted, initial=-1)
    if greatest is not None:
        minlength = max(minlength, (values_of_call.number(greatest) or 0) + 1)
    if not minlength:
        raise NxTypeError(
            message(
                "bincount gives as many counts as only the running program knows.",
                "np.bincount(x, minlength=n) with a known n counts the numbers below it.",
            )
        )
    numbers = operand(as_value(x))
    if weights is None:
        updates = filled(1, s64, numbers.shape)
    else:
        updates = convert(operand(as_value(weights)), types.f64)
    # A number too large would be moved to the last place: what it adds is nothing.
    inside = apply(p.less, convert(numbers, s64), filled(minlength, s64, numbers.shape))
    updates = apply(p.select, inside, spread(updates, numbers.shape), filled(0, updates.type, numbers.shape))
    empty = filled(0, updates.type, (int(minlength),))
    return wrap(fancy_indexing.put(empty, {0: numbers}, False, updates, "add"))


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """The edges of equal-width bins, as :func:`numpy.histogram_bin_edges`."""
    if not isinstance(bins, int):
        edges = as_value(bins)
        if edges.shape:
            return edges
        bins = edges.__index__()
    if bins < 1:
        raise NxValueError("`bins` must be positive, when an integer")
    value = as_value(a)
    type_ = types.f64 if value.type.is_integer else value.type
    if range is not None:
        first, last = range
        if isinstance(first, int | float) and first == last:
            first, last = first - 0.5, last + 0.5
    elif not value.size:
        first, last = 0.0, 1.0
    else:
        first, last = (extreme(value).astype(type_.dtype) for extreme in (reductions.min, reductions.max))
        equal = e.equal(first, last)
        first, last = where(equal, e.subtract(first, 0.5), first), where(equal, e.add(last, 0.5), last)
    for edge in (first, last):
        # A number of NumPy's counts for the type, one of Python's does not.
        if not is_number(edge) and not tracing.weak(operand(edge)):
            type_ = types.merge(type_, as_value(edge).type)
    return linspace(first, last, bins + 1, dtype=type_.dtype)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """The number of values in each bin, as :func:`numpy.histogram`."""
    value = in_one_axis(as_value(a))
    edges = histogram_bin_edges(value, bins, range)
    count = edges.shape[0] - 1
    if isinstance(bins, int) or not as_value(bins).shape:
        index = _bin_of_one_size(value.astype(edges.dtype), edges, count)
    else:
        index = e.subtract(searchsorted(edges, value.astype(edges.dtype), "right"), 1)
        index = where(e.equal(value, edges[-1]), count - 1, index)
    inside = e.logical_and(e.greater_equal(value, edges[0]), e.less_equal(value, edges[-1]))
    index = where(inside, index, count)
    factors = None if weights is None else in_one_axis(as_value(weights))
    counts = bincount(index, factors, count + 1)[:count].copy()
    if density:
        counts = e.divide(e.divide(counts, diff(edges).astype("float64")), reductions.sum(counts))
    elif factors is not None:
        counts = counts.astype(factors.dtype)
    return counts, edges


def _bin_of_one_size(value: Any, edges: Any, count: int) -> Any:
    """The index of the equal-width bin of each value: computed, then corrected by comparing with the rounded edges."""
    along = e.multiply(e.divide(e.subtract(value, edges[0]), e.subtract(edges[-1], edges[0])), count)
    index = e.minimum(e.maximum(along, 0), count - 1).astype("int64")
    index = where(e.logical_and(e.less(value, edges[index]), e.greater(index, 0)), e.subtract(index, 1), index)
    beyond = e.logical_and(e.greater_equal(value, edges[e.add(index, 1)]), e.less(index, count - 1))
    return where(beyond, e.add(index, 1), index)


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """Whether elements are contained in another array, as :func:`numpy.isin`."""
    value, others = as_value(element), in_one_axis(as_value(test_elements))
    result = reductions.any(e.equal(value[(..., None)], others), axis=-1)
    result = e.logical_not(result) if invert else result
    return in_order_of(result if value.ndim else Array.of(operand(result)))


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """As :func:`isin`, of flattened arrays."""
    return isin(in_one_axis(as_value(ar1)), ar2, invert=invert)
