"""Parsing subscripts ``x[...]`` by NumPy's rules: integers, slices, masks, index arrays, None, Ellipsis."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError, TracedValueError, message
from nxkernel.graph import known_values, tracing, values_of_call
from nxkernel.graph.expr import Expr
from nxkernel.messages import mask_shapes
from nxkernel.numpy.arrays.views import AxisSlice, Index, ViewStep
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread
from nxkernel.shapes import ceil_div, describe, place_in, text, unnamed
from nxkernel.tensor.tensor import StoredTensor
from nxkernel.types import s64

Shape = tuple[int, ...]


@dataclass(frozen=True)
class AxisRange:
    """A contiguous part of an axis: `length` elements from `offset` on; both may be traced."""

    offset: Any
    length: Any


@dataclass(frozen=True)
class StridedAxis:
    """A strided slice of an axis: `count` elements from `first` on, `step` apart; all may be traced."""

    first: Any
    step: Any
    count: Any

    def most(self, size: int) -> int:
        """An upper bound of the slice's length along an axis of the given size."""
        return ceil_div(size, abs(self.step)) if isinstance(self.step, int) else size

    def index_of(self, number: Operand, size: int) -> Operand:
        """The index along an axis of the given size of the slice's element `number`."""
        index = apply(p.add, as_number(self.first), apply(p.multiply, number, as_number(self.step)))
        if type(index) is Expr:
            integer_bounds.assume(index, 0, size - 1)
        return index

    def same(self, other: StridedAxis) -> bool:
        """Whether two slices are equal for every input of the program."""
        return all(
            map(integer_bounds.same, (self.first, self.step, self.count), (other.first, other.step, other.count))
        )

    def misses(self, other: StridedAxis) -> bool:
        """Whether two slices are disjoint for every input of the program."""
        apart = integer_bounds.difference(self.first, other.first)
        known = isinstance(self.step, int) and isinstance(other.step, int) and apart is not None
        return known and apart % math.gcd(self.step, other.step) != 0

    def mask(self, size: int) -> Operand:
        """For an axis of length `size`, the mask of the elements that the slice picks."""
        after, step = self._distances(size)
        inside = apply(
            p.logical_and,
            apply(p.greater_equal, after, filled(0, s64, (size,))),
            apply(p.less, after, spread(apply(p.multiply, as_number(self.count), step), (size,))),
        )
        rest = apply(p.remainder, after, spread(step, (size,)))
        return apply(p.logical_and, inside, apply(p.equal, rest, filled(0, s64, (size,))))

    def order(self, size: int, most: int) -> Operand:
        """For each position of an axis of length `size`, its number among the picked elements, clamped to ``[0,
        most)``.
        """
        after, step = self._distances(size)
        number = apply(p.quotient, after, spread(step, (size,)))
        return apply(p.minimum, apply(p.maximum, number, filled(0, s64, (size,))), filled(most - 1, s64, (size,)))

    def _distances(self, size: int) -> tuple[Operand, Operand]:
        """The distance of each position from the first picked one, in the direction of the step, and the step's
        absolute value.
        """
        index = apply(p.iota, type=s64, shape=(size,), names=unnamed((size,)), axis=0)
        after = apply(p.subtract, index, spread(as_number(self.first), (size,)))
        if isinstance(self.step, int):
            return (after if self.step > 0 else apply(p.negate, after)), as_number(abs(self.step))
        step = as_number(self.step)
        forth = apply(p.greater, step, as_number(0))
        return apply(p.select, spread(forth, (size,)), after, apply(p.negate, after)), apply(p.absolute, step)


@dataclass
class ParsedKey:
    """A key, taken apart.

    Attributes
    ----------
    basic : Index or None
        Slices, numbers and new axes; None where they take everything. Other attributes count the axes that it gives.
    stretches : dict
        Axes of which the running program takes a part.
    spreads : dict
        Axes of which it takes every so many-th element.
    picks : dict
        Axes of which elements are picked, and the indices.
    front : bool
        Whether the axes of the indices come first, instead of where the first picked axis was.
    mask : operand or None
        Which elements are taken along some axes that follow each other.
    mask_axis : int
        The first of these.
    is_element : bool
        Whether one element is asked for.
    """

    basic: Index | None
    stretches: dict[int, AxisRange] = field(default_factory=dict)
    spreads: dict[int, StridedAxis] = field(default_factory=dict)
    picks: dict[int, Any] = field(default_factory=dict)
    front: bool = False
    mask: Operand | None = None
    mask_axis: int = 0
    is_element: bool = False


def parse(key: Any, shape: Shape) -> ParsedKey:
    """Take a key apart.

    Parameters
    ----------
    key : what stands between the brackets
    shape : tuple of int
        Of the array.

    Raises
    ------
    NxIndexError
        When a number is outside of its axis, or there are more indices than axes.
    """
    entries, is_element = _entries(key, shape)
    parsed = ParsedKey(None, is_element=is_element)
    along: list[AxisSlice] = []
    layout: list[int | None] = []
    for entry in entries:
        if entry is None:
            layout.append(None)
        elif _is_mask(entry):
            _add_mask(parsed, entry, len(layout), shape, len(along))
            layout += range(len(along), len(along) + len(entry.shape))
            along += [AxisSlice(0, size) for size in entry.shape]
        else:
            taken = _taken(parsed, entry, len(layout), shape, len(along))
            if taken.keep:
                layout.append(len(along))
            along.append(taken)
    # What keeps an axis, or adds one, is more than an element.
    parsed.is_element = parsed.is_element and not layout
    if not (layout == list(range(len(shape))) and all(map(_is_all, along, shape))):
        parsed.basic = Index(shape, tuple(along), tuple(layout))
    if parsed.picks:
        positions = [
            position for position, entry in enumerate(entries) if entry is not None and not isinstance(entry, slice)
        ]
        parsed.front = positions != list(range(positions[0], positions[-1] + 1))
    if parsed.mask is not None and (parsed.picks or parsed.stretches or parsed.spreads):
        raise NxTypeError(
            message("a mask stands between brackets alone, or with slices and numbers.", "Index in two steps.")
        )
    return parsed


def _entries(key: Any, shape: Shape) -> tuple[list[Any], bool]:
    """The entries of a key, with slices for the axes that it leaves out, and whether it has no ``...``."""
    entries = [_read(entry) for entry in (key if isinstance(key, tuple) else [key])]
    dots = [position for position, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise NxIndexError("an index has at most one `...`")
    used = sum(_axes_of(entry) for entry in entries)
    if used > len(shape):
        raise NxIndexError(f"{used} indices for {len(shape)} axes: the array has the shape {text(shape) or '()'}")
    position = dots[0] if dots else len(entries)
    entries[position : position + 1] = [slice(None)] * (len(shape) - used)
    return entries, not dots


def _taken(parsed: ParsedKey, entry: Any, place: int, shape: Shape, axis: int) -> AxisSlice:
    """What a slice, a number or indices take of an axis; what is not a plain slice of it is noted in `parsed`."""
    if isinstance(entry, slice):
        taken, part = _sliced(entry, shape[axis])
        if part is not None:
            (parsed.stretches if isinstance(part, AxisRange) else parsed.spreads)[place] = part
        return taken
    if isinstance(entry, int):
        return AxisSlice(_inside(entry, axis, shape), 1, keep=False)
    if not entry.shape and isinstance(entry, Operand):
        return AxisSlice(traced_index(entry, shape[axis]), 1, keep=False)
    parsed.picks[place] = _indices(entry, axis, shape)
    return AxisSlice(0, shape[axis])


def _read(entry: Any) -> Any:
    """A key's entry as None, ``...``, a slice, an int or an operand."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if isinstance(entry, bool | np.bool_):
        raise NxTypeError(message("a single truth value is no index.", "np.where(condition, a, b) chooses elements."))
    # Asked of the class: a traced value takes it for a misspelt name, and looks for the nearest.
    if hasattr(type(entry), "compact"):
        entry = entry.compact()
    if hasattr(type(entry), "stretched"):
        return entry
    if isinstance(entry, int | np.integer):
        return int(entry)
    if isinstance(entry, range | tuple):  # beside other entries, or alone in a key, a tuple is a list
        entry = list(entry)
    if isinstance(entry, list):
        from nxkernel.numpy.arrays import array

        entry = (
            array.stacked(entry) if array.holds_traced(entry) else np.array(entry) if entry else np.zeros(0, np.int64)
        )
    if isinstance(entry, Operand | Proxy | np.ndarray):
        # What is known while tracing stays a tensor: whether it is within its axis is known, too.
        with tracing.suspended() if isinstance(entry, np.ndarray) else contextlib.nullcontext():
            value = operand(entry)
        if value.type.is_integer and not value.shape and value.type is not types.bool_:
            known = known_number(value)
            return value if known is None else known
        if not value.type.is_integer:
            raise NxIndexError(
                message(f"an index is a whole number, got {value.spec}.", "x.astype(int) cuts fractions off.")
            )
        return value
    if hasattr(entry, "__index__"):
        return entry.__index__()
    raise NxIndexError(
        message(
            f"an index is a whole number, a slice, None, `...` or an array, got {describe(entry)}.",
            *([_OF_TABLES] if isinstance(entry, str) else []),
        )
    )


_OF_TABLES = "A table of pandas is one matrix in a definition: dict(table) passes its columns by their names."


def known_number(value: Any) -> int | None:
    """An integer that is known while tracing as an int; None if it is traced."""
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Proxy):
        value = operand(value)
    if isinstance(value, StoredTensor):
        return int(value.data)
    low, high = integer_bounds.interval(value)
    if low is not None and low == high:
        return low
    found = None if value.shape else known_elements(value)
    return None if found is None else int(found)


def known_elements(value: Operand | Proxy) -> np.ndarray | None:
    """The elements of an array of whole numbers that is known while tracing, or there; None for others."""
    value = operand(value)
    if isinstance(value, StoredTensor):
        return value.data
    return known_values.elements(value) if type(value) is Expr else None


def static(value: Any) -> int:
    """An integer that must be known while tracing, such as a size or an axis; a traced one raises an error."""
    known = known_number(value) if isinstance(value, Operand | Proxy) else None
    return value.__index__() if known is None else known


def parts(values: Any) -> Sequence[Any]:
    """The integers of a list, or of an array with one axis, known ones as such; of one integer it alone."""
    if isinstance(values, tuple | list):
        return values
    if isinstance(values, Operand | Proxy | np.ndarray) and len(values.shape) == 1:
        found = values if isinstance(values, np.ndarray) else known_elements(values)
        return list(values) if found is None else found.tolist()
    return (values,)


def known_indices(value: Operand | Proxy, function: str) -> Any:
    """The elements of an index array or mask that a size depends on, as NumPy's; a traced one raises an error."""
    found = known_elements(value)
    found = values_of_call.elements(value) if found is None else found
    if found is not None:
        return found.astype(bool) if _is_mask(operand(value)) else found
    raise needed(
        value,
        f"the shape of what {function} gives depends on values that only the running program knows.",
        "Give it places as numbers, a list or an array of NumPy's; or call it outside of the definition.",
    )


def needed(value: Any, *texts: str) -> TracedValueError:
    """The error for a traced number that must be known while tracing; it names where the number came from."""
    error = TracedValueError(message(*texts))
    error.value = None if is_number(value) else operand(value) if isinstance(value, Proxy) else value
    return error


def _axes_of(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    return len(entry.shape) if _is_mask(entry) else 1


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, Operand) and entry.type is types.bool_


def _is_all(along: AxisSlice, size: int) -> bool:
    return along.keep and along.count == size and isinstance(along.start, int) and along.start == 0 and along.step == 1


def _inside(index: int, axis: int, shape: Shape) -> int:
    return place_in(shape[axis], index, axis, f"an array of the shape {text(shape)}")


def traced_index(index: Operand, size: int) -> Operand:
    """A traced index, where negative ones count from the end; reads and writes clamp what is out of bounds."""
    unsigned = index.type.kind == "u"
    low = integer_bounds.interval(index)[0]
    index = convert(index, s64)
    if unsigned or (low is not None and low >= 0):
        return index
    shape = index.shape
    negative = apply(p.less, index, filled(0, s64, shape))
    return apply(p.select, negative, apply(p.add, index, filled(size, s64, shape)), index)


def _indices(entry: Any, axis: int, shape: Shape) -> Any:
    if hasattr(type(entry), "stretched"):
        return entry
    if isinstance(entry, StoredTensor):
        numbers, size = entry.to_numpy(), shape[axis]
        outside = numbers[(numbers < -size) | (numbers >= size)]
        if outside.size:
            _inside(int(outside.flat[0]), axis, shape)
        return operand(np.where(numbers < 0, numbers + size, numbers).astype(np.int64))
    return traced_index(entry, shape[axis])


def _add_mask(parsed: ParsedKey, mask: Operand, position: int, shape: Shape, axis: int) -> None:
    if parsed.mask is not None:
        raise NxTypeError(message("an index has at most one mask.", "Join them: x[a & b]."))
    if not mask_shapes.fits(mask.shape, shape[axis : axis + len(mask.shape)]):
        raise mask_shapes.unfit(mask.shape, f"an array of shape {text(shape)}", shape, axis)
    parsed.mask, parsed.mask_axis = mask, position


def _sliced(entry: slice, size: int) -> tuple[AxisSlice, AxisRange | StridedAxis | None]:
    """A slice of an axis, and the part of it that counts if its bounds are traced."""
    step = 1 if entry.step is None else _bound(entry.step)
    if isinstance(step, int) and step == 0:
        raise NxValueError("the step of a slice cannot be 0")
    ends = [None if end is None else _bound(end) for end in (entry.start, entry.stop)]
    if not isinstance(step, int):
        return AxisSlice(0, size), _spread(ends, step, size)
    if all(end is None or isinstance(end, int) for end in ends):
        start, stop, step = slice(*ends, step).indices(size)
        count = len(range(start, stop, step))
        return AxisSlice(start if count else 0, count, step if count else 1), None
    low, high = _between(ends, size, step > 0)
    apart = integer_bounds.difference(high, low)
    if apart is not None and apart <= 0:
        return AxisSlice(0, 0), None
    if apart is not None and apart <= size:
        return AxisSlice(low if step > 0 else _minus(high, 1), ceil_div(apart, abs(step)), step), None
    if step not in (1, -1):
        count = apply(p.quotient, as_number(_plus(_positive(_minus(high, low)), abs(step) - 1)), as_number(abs(step)))
        integer_bounds.assume(count, 0, ceil_div(size, abs(step)))
        return AxisSlice(0, size), StridedAxis(low if step > 0 else _minus(high, 1), step, count)
    length = apart if apart is not None else _positive(_minus(high, low))
    if step == 1:
        return AxisSlice(0, size), AxisRange(low, length)
    return AxisSlice(size - 1, size, -1), AxisRange(_minus(size, high), length)


def _between(ends: Sequence[Any], size: int, forth: bool) -> tuple[Any, Any]:
    """The smallest index that a slice may reach, and one more than the largest."""
    start, stop = ends
    if forth:
        return _clipped(start, size, 0), _clipped(stop, size, size)
    return _clipped(stop, size, 0, after=1), _clipped(start, size, size, after=1)


def _spread(ends: Sequence[Any], step: Operand, size: int) -> StridedAxis:
    """A slice with a traced step, which may be positive or negative."""
    step = as_number(step)
    forth = apply(p.greater, step, as_number(0))
    sides = zip(_between(ends, size, True), _between(ends, size, False), strict=True)
    low, high = (apply(p.select, forth, as_number(one), as_number(other)) for one, other in sides)
    first = apply(p.select, forth, low, apply(p.subtract, high, as_number(1)))
    width, length = apply(p.absolute, step), _positive(apply(p.subtract, high, low))
    count = apply(p.quotient, apply(p.subtract, apply(p.add, length, width), as_number(1)), width)
    integer_bounds.assume(count, 0, size)
    return StridedAxis(first, step, count)


def _bound(end: Any) -> Any:
    known = known_number(end) if isinstance(end, int | np.integer | Operand | Proxy) else None
    if known is not None:
        return known
    if isinstance(end, Operand | Proxy):
        value = operand(end)
        if value.shape or not value.type.is_integer:
            raise NxTypeError(f"a bound of a slice is a whole number, got {value.spec}")
        return value
    if hasattr(end, "__index__"):
        return end.__index__()
    raise NxTypeError(f"a bound of a slice is a whole number, got {describe(end)}")


def _clipped(end: Any, size: int, otherwise: int, after: int = 0) -> Any:
    """A bound of a slice clamped to ``[0, size]``, counted from the beginning of the axis; `after` is added first."""
    if end is None:
        return otherwise
    if isinstance(end, int):
        return min(max((end + size if end < 0 else end) + after, 0), size)
    end = traced_index(end, size)
    if after:
        end = apply(p.add, end, filled(after, s64, ()))
    low, high = integer_bounds.interval(end)
    if high is None or high > size:
        end = apply(p.minimum, end, filled(size, s64, ()))
    if low is None or low < 0:
        end = apply(p.maximum, end, filled(0, s64, ()))
    return end


def as_number(value: Any) -> Operand:
    """An int or integer node as a node of type s64."""
    return filled(value, s64, ()) if isinstance(value, int) else convert(value, s64)


def _minus(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if isinstance(b, int) and b == 0:
        return a
    return apply(p.subtract, as_number(a), as_number(b))


def _plus(a: Any, b: int) -> Any:
    return apply(p.add, as_number(a), as_number(b)) if b else a


def _positive(length: Any) -> Any:
    low = integer_bounds.interval(length)[0]
    if low is not None and low >= 0:
        return length
    return apply(p.maximum, as_number(length), filled(0, s64, ()))


def same_step(one: ViewStep, other: ViewStep) -> bool:
    """Whether two view steps show the same elements."""
    if type(one) is not type(other):
        return False
    if not isinstance(one, Index):
        return one == other
    if (one.before, one.layout) != (other.before, other.layout):
        return False
    return all(
        (a.count, a.step, a.keep) == (b.count, b.step, b.keep) and integer_bounds.same(a.start, b.start)
        for a, b in zip(one.along, other.along, strict=True)
    )
