"""What stands between the brackets in ``x[...]``, by NumPy's rules; numbers may be known or traced."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxIndexError, NxTypeError, NxValueError, TracedValueError, message
from nxkernel.numpy import bounds
from nxkernel.numpy.views import Along, Index, Step
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.dispatch import apply, convert, filled, operand, spread
from nxkernel.shapes import describe, text, unnamed
from nxkernel.tensor.tensor import Tensor
from nxkernel.types import s64

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Stretch:
    """The elements of an axis from `offset` on, as many as `length`; both may be traced."""

    offset: Any
    length: Any


@dataclass
class Parsed:
    """A key, taken apart.

    Attributes
    ----------
    basic : Index or None
        Slices, numbers and new axes; None where they take everything. Other attributes count the axes that it gives.
    stretches : dict
        Axes of which the running program takes a part.
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
    stretches: dict[int, Stretch] = field(default_factory=dict)
    picks: dict[int, Any] = field(default_factory=dict)
    front: bool = False
    mask: Operand | None = None
    mask_axis: int = 0
    is_element: bool = False


def parse(key: Any, shape: Shape) -> Parsed:
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
    entries = list(key) if isinstance(key, tuple) else [key]
    entries = [_read(entry) for entry in entries]
    dots = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise NxIndexError("an index has at most one `...`")
    used = sum(_axes_of(entry) for entry in entries)
    if used > len(shape):
        raise NxIndexError(f"{used} indices for {len(shape)} axes: the array has the shape {text(shape) or '()'}")
    gap = [slice(None)] * (len(shape) - used)
    place = dots[0] if dots else len(entries)
    entries[place : place + 1] = gap
    found = Parsed(None, is_element=not dots)
    along: list[Along] = []
    layout: list[int | None] = []
    for entry in entries:
        if entry is None:
            layout.append(None)
            found.is_element = False
            continue
        axis = len(along)
        if isinstance(entry, slice) and _is_spread(entry):
            entry = _every(entry, shape[axis])
        if isinstance(entry, slice):
            taken, stretch = _sliced(entry, shape[axis])
            if stretch is not None:
                found.stretches[len(layout)] = stretch
        elif isinstance(entry, int):
            taken = Along(_inside(entry, axis, shape), 1, keep=False)
        elif _is_mask(entry):
            _add_mask(found, entry, len(layout), shape[axis : axis + len(entry.shape)])
            for size in entry.shape:
                layout.append(len(along))
                along.append(Along(0, size))
            found.is_element = False
            continue
        elif not entry.shape and isinstance(entry, Operand):
            taken = Along(traced_place(entry, shape[axis]), 1, keep=False)
        else:
            found.picks[len(layout)] = _indices(entry, axis, shape)
            taken = Along(0, shape[axis])
        if taken.keep:
            layout.append(axis)
            found.is_element = False
        along.append(taken)
    if not (layout == list(range(len(shape))) and all(map(_is_all, along, shape))):
        found.basic = Index(shape, tuple(along), tuple(layout))
    if found.picks:
        places = [place for place, entry in enumerate(entries) if entry is not None and not isinstance(entry, slice)]
        found.front = places != list(range(places[0], places[-1] + 1))
    if found.mask is not None and (found.picks or found.stretches):
        raise NxTypeError(
            message("a mask stands between brackets alone, or with slices and numbers.", "Index in two steps.")
        )
    return found


def _read(entry: Any) -> Any:
    """An entry as None, `...`, a slice, a number, or an operand."""
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if isinstance(entry, bool | np.bool_):
        raise NxTypeError(message("a single truth value is no index.", "np.where(condition, a, b) chooses elements."))
    if hasattr(entry, "compact"):
        entry = entry.compact()
    if hasattr(entry, "stretched"):
        return entry
    if isinstance(entry, int | np.integer):
        return int(entry)
    if isinstance(entry, range):
        entry = list(entry)
    if isinstance(entry, list):
        from nxkernel.numpy.array import stacked

        entry = stacked(entry) if entry else np.zeros(0, np.int64)
    if isinstance(entry, Operand | Proxy | np.ndarray):
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
    raise NxIndexError(message(f"an index is a whole number, a slice, None, `...` or an array, got {describe(entry)}."))


def known_number(value: Any) -> int | None:
    """A whole number that is known now, None for one that only the running program knows."""
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Proxy):
        value = operand(value)
    if type(value) is Tensor:
        return int(value.data)
    low, high = bounds.interval(value)
    return low if low is not None and low == high else None


def static(value: Any) -> int:
    """A whole number that is known while tracing: a size, an axis, how often; a traced one is asked for its value."""
    known = known_number(value) if isinstance(value, Operand | Proxy) else None
    return value.__index__() if known is None else known


def needed(value: Any, *texts: str) -> TracedValueError:
    """The error for a number that has to be known while tracing, and tells which one that is."""
    error = TracedValueError(message(*texts))
    error.value = operand(value) if isinstance(value, Proxy) else value
    return error


def _axes_of(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    return len(entry.shape) if _is_mask(entry) else 1


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, Operand) and entry.type is types.bool_


def _is_all(along: Along, size: int) -> bool:
    return along.keep and along.count == size and isinstance(along.start, int) and along.start == 0 and along.step == 1


def _inside(place: int, axis: int, shape: Shape) -> int:
    size = shape[axis]
    if not -size <= place < size:
        raise NxIndexError(
            message(
                f"index {place} is out of bounds for axis {axis} of an array of the shape {text(shape)}.",
                f"It goes from {-size} to {size - 1}." if size else "The axis is empty.",
            )
        )
    return place % size


def traced_place(place: Operand, size: int) -> Operand:
    """A traced index: a negative one counts from the end. Reads and writes clamp what is still outside."""
    unsigned = place.type.kind == "u"
    low = bounds.interval(place)[0]
    place = convert(place, s64)
    if unsigned or (low is not None and low >= 0):
        return place
    shape = place.shape
    negative = apply(p.less, place, filled(0, s64, shape))
    return apply(p.select, negative, apply(p.add, place, filled(size, s64, shape)), place)


def _indices(entry: Any, axis: int, shape: Shape) -> Any:
    if hasattr(entry, "stretched"):
        return entry
    if type(entry) is Tensor:
        numbers, size = entry.to_numpy(), shape[axis]
        outside = numbers[(numbers < -size) | (numbers >= size)]
        if outside.size:
            _inside(int(outside.flat[0]), axis, shape)
        return operand(np.where(numbers < 0, numbers + size, numbers).astype(np.int64))
    return traced_place(entry, shape[axis])


def _add_mask(found: Parsed, mask: Operand, axis: int, sizes: Shape) -> None:
    if found.mask is not None:
        raise NxTypeError(message("an index has at most one mask.", "Join them: x[a & b]."))
    if mask.shape != tuple(sizes):
        raise NxIndexError(f"a mask of the shape {text(mask.shape)} does not fit axes of the shape {text(sizes)}")
    found.mask, found.mask_axis = mask, axis


def _sliced(entry: slice, size: int) -> tuple[Along, Stretch | None]:
    """A slice of an axis; with the stretch of it that is taken where that is traced."""
    step = 1 if entry.step is None else known_number(entry.step)
    if step == 0:
        raise NxValueError("the step of a slice cannot be 0")
    ends = [None if end is None else _bound(end) for end in (entry.start, entry.stop)]
    if all(end is None or isinstance(end, int) for end in ends):
        start, stop, step = slice(*ends, step).indices(size)
        count = len(range(start, stop, step))
        return Along(start if count else 0, count, step if count else 1), None
    if step > 0:
        low, high = _clipped(ends[0], size, 0), _clipped(ends[1], size, size)
    else:
        # Backwards from `high - 1` down to `low`.
        high, low = _clipped(ends[0], size, size, after=1), _clipped(ends[1], size, 0, after=1)
    apart = bounds.difference(high, low)
    if apart is not None and apart <= 0:
        return Along(0, 0), None
    if apart is not None and apart <= size and step == 1:
        return Along(low, apart), None
    if step not in (1, -1):
        raise NxTypeError(
            message(
                f"a slice with traced bounds has the step 1 or -1, got {step}.",
                "np.arange(start, stop, step) with known numbers makes indices for the whole axis.",
            )
        )
    length = apart if apart is not None else _positive(_minus(high, low))
    if step == 1:
        return Along(0, size), Stretch(low, length)
    return Along(size - 1, size, -1), Stretch(_minus(size, high), length)


def _is_spread(entry: slice) -> bool:
    """Whether a slice takes every so many-th element, from or to a place that is traced, or with a traced step."""
    step = None if entry.step is None else known_number(entry.step)
    if entry.step is None or step is None:
        return entry.step is not None
    return step > 1 and any(end is not None and not isinstance(_bound(end), int) for end in (entry.start, entry.stop))


def _every(entry: slice, size: int) -> Operand:
    """Which elements of an axis such a slice takes."""
    step = _bound(entry.step)
    start, stop = (None if end is None else _bound(end) for end in (entry.start, entry.stop))
    step = as_number(step)
    forth = apply(p.greater, step, filled(0, s64, ()))

    def either(one: Any, other: Any) -> Operand:
        return apply(p.select, forth, as_number(one), as_number(other))

    # Backwards from `high - 1` down to `low`.
    low = either(_clipped(start, size, 0), _clipped(stop, size, 0, after=1))
    high = either(_clipped(stop, size, size), _clipped(start, size, size, after=1))
    first = either(low, apply(p.subtract, high, filled(1, s64, ())))
    shape = (size,)
    place = apply(p.iota, type=s64, shape=shape, names=unnamed(shape), axis=0)
    inside = apply(
        p.logical_and, apply(p.greater_equal, place, spread(low, shape)), apply(p.less, place, spread(high, shape))
    )
    rest = apply(p.remainder, apply(p.subtract, place, spread(first, shape)), spread(step, shape))
    return apply(p.logical_and, inside, apply(p.equal, rest, filled(0, s64, shape)))


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
    """A bound between 0 and the size of an axis, counted from its beginning; `after` moves it by so many."""
    if end is None:
        return otherwise
    if isinstance(end, int):
        return min(max((end + size if end < 0 else end) + after, 0), size)
    end = traced_place(end, size)
    if after:
        end = apply(p.add, end, filled(after, s64, ()))
    low, high = bounds.interval(end)
    if high is None or high > size:
        end = apply(p.minimum, end, filled(size, s64, ()))
    if low is None or low < 0:
        end = apply(p.maximum, end, filled(0, s64, ()))
    return end


def as_number(value: Any) -> Operand:
    """A number or node as a node of type s64."""
    return filled(value, s64, ()) if isinstance(value, int) else convert(value, s64)


def _minus(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if isinstance(b, int) and b == 0:
        return a
    return apply(p.subtract, as_number(a), as_number(b))


def _positive(length: Any) -> Any:
    low = bounds.interval(length)[0]
    if low is not None and low >= 0:
        return length
    return apply(p.maximum, as_number(length), filled(0, s64, ()))


def same_step(one: Step, other: Step) -> bool:
    """Whether two steps show the same."""
    if type(one) is not type(other):
        return False
    if not isinstance(one, Index):
        return one == other
    if (one.before, one.layout) != (other.before, other.layout):
        return False
    return all(
        (a.count, a.step, a.keep) == (b.count, b.step, b.keep) and bounds.same(a.start, b.start)
        for a, b in zip(one.along, other.along, strict=True)
    )
