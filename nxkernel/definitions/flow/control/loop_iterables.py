"""Iterables of loops in the compiled program: ranges, rows of arrays, zip and enumerate of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nxkernel import shapes, types
from nxkernel.definitions.flow.values.variable_leaves import (
    entered,
    has_traced_length,
    is_traced,
    is_value,
    known,
    plain,
)
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph.expr import TracedValue
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice, settled
from nxkernel.numpy.arrays.strided_slices import StridedElements
from nxkernel.operand import Proxy
from nxkernel.ops.arithmetic import comparison, elementwise
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.types import s64


class Counted:
    """A sequence of a number of items that may be traced; each is made from its place.

    Parameters
    ----------
    length : int or scalar tensor
    item : callable
        Gives the item at a place, an int or a traced number.
    """

    def __init__(self, length: Any, item: Callable[[Any], Any]) -> None:
        self.length, self.item = length, item

    def __len__(self) -> int:
        return self.length.__index__()

    def __iter__(self) -> Iterator[Any]:
        return (self.item(place) for place in range(len(self)))

    def __next__(self) -> Any:
        raise NxTypeError(
            message(
                "enumerate(), zip() and reversed() of arrays have no next element of their own here.",
                "Write it = iter(list(enumerate(x))), or index: x[0], x[1].",
            )
        )

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            raise NxTypeError("a range of traced bounds has no parts: write the bounds of the part themselves")
        return self.item(place)


class Range(Counted):
    """``range`` with bounds that only the running program knows.

    Parameters
    ----------
    start, stop, step : int or scalar tensor
    """

    def __init__(self, start: Any, stop: Any, step: Any = 1) -> None:
        self.start, self.stop, self.step = start, stop, step

    @property
    def length(self) -> Any:
        """How many numbers there are."""
        if not any(map(is_traced, (self.start, self.stop, self.step))):
            return len(range(*map(int, (self.start, self.stop, self.step))))
        if not is_traced(self.step):
            step = int(self.step)
            span = self.stop - self.start if step > 0 else self.start - self.stop
            if abs(step) != 1:
                span = (span + (abs(step) - 1)) // abs(step)
            return elementwise.max(span, 0)
        up, down = (self.stop - self.start + (self.step - 1)), (self.start - self.stop - (self.step + 1))
        span = comparison.select(comparison.greater(self.step, 0), up, down) // elementwise.abs(self.step)
        return elementwise.max(span, 0)

    def item(self, place: Any) -> Any:
        """The number at a place."""
        offset = place if not is_traced(self.step) and self.step == 1 else place * self.step
        return offset if not is_traced(self.start) and self.start == 0 else self.start + offset

    def __len__(self) -> int:
        return len(self._static())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._static())

    def _static(self) -> range:
        """As Python's range, of bounds that are known."""
        return range(self.start, self.stop, self.step)

    def __repr__(self) -> str:
        return f"range({self.start!r}, {self.stop!r}, {self.step!r})"


def parted(sequence: range | Counted) -> tuple[Any, Any]:
    """The first item of a sequence, and the others: those of Python's range are one."""
    if isinstance(sequence, range):
        return sequence[0], sequence[1:]
    if isinstance(sequence, Range):
        return sequence.start, Range(sequence.start + sequence.step, sequence.stop, sequence.step)
    return sequence.item(0), Counted(sequence.length - 1, lambda place: sequence.item(place + 1))


class Unrolled:
    """The result of :func:`nxkernel.unroll`: a loop over it is unrolled at trace time."""

    def __init__(self, iterable: Any) -> None:
        self._iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def __len__(self) -> int:
        return len(self._iterable)

    def __getitem__(self, place: Any) -> Any:
        return self._iterable[place]


def range_(*bounds: Any) -> Any:
    """``range``: Python's own for static bounds."""
    if not any(map(is_traced, bounds)) or not 1 <= len(bounds) <= 3:
        return range(*[known(bound) for bound in bounds])
    bounds = [_whole(bound) for bound in bounds]
    if len(bounds) == 1:
        return Range(0, bounds[0])
    if not is_traced(bounds[-1]) and len(bounds) == 3 and bounds[2] == 0:
        raise NxValueError("the step of a range cannot be 0")
    return Range(*bounds)


def _whole(bound: Any) -> Any:
    if not is_traced(bound):
        return shapes.static_int(known(bound), "a bound of a range")
    found = plain(bound)
    if found.shape or not found.type.is_integer:
        raise NxTypeError(
            message(
                f"the bounds of a range are whole numbers, got {found.spec}.",
                "int(x) cuts fractions off." if types.follows_numpy() else 'nx.as_type(t, "s64") cuts fractions off.',
            )
        )
    return convert(found, s64)


def rows(value: Any) -> Counted:
    """The rows of a tensor, an array or a part of one."""
    if has_traced_length(value):
        # A row of what shows an array shows it, too.
        value = (
            value
            if isinstance(value, DynamicSlice) or (isinstance(value, StridedElements) and value.is_view)
            else settled(value)
        )
        return Counted(value.shape[0], lambda place: value[place])
    found = operand(value)
    if not found.shape:
        raise NxTypeError(f"a scalar ({found.spec}) has no length and cannot be iterated over")
    source = value if isinstance(value, Proxy) else found
    return Counted(found.shape[0], lambda place: source[place])


def enumerated(iterable: Any, start: Any = 0) -> Any:
    """``enumerate``."""
    inner = counted(iterable)
    if inner is None:
        return enumerate(iterable, start) if not is_traced(start) else zip(_from(start), iterable, strict=False)
    inner = _numbers(inner)
    return Counted(inner.length, lambda place: (_shifted(place, start), inner.item(place)))


def _numbers(sequence: Any) -> Counted:
    return Range(sequence.start, sequence.stop, sequence.step) if isinstance(sequence, range) else sequence


def _from(start: Any) -> Iterator[Any]:
    place = 0
    while True:
        yield start + place
        place += 1


def _shifted(place: Any, start: Any) -> Any:
    return place if not is_traced(start) and start == 0 else place + start


def zipped(*iterables: Any, strict: bool = False) -> Any:
    """``zip``: of tensors and ranges alone it is a sequence that a compiled loop goes over."""
    inner = [counted(iterable) for iterable in iterables]
    if not inner or any(each is None for each in inner):
        return zip(*iterables, strict=strict)
    parts = list(map(_numbers, inner))
    return Counted(_shortest([part.length for part in parts]), lambda place: tuple([p.item(place) for p in parts]))


def product(*iterables: Any, repeat: int = 1) -> Any:
    """``itertools.product``: of ranges and arrays alone it is a sequence that a compiled loop goes over."""
    inner = [counted(iterable) for iterable in iterables]
    if not inner or any(each is None or is_traced(_numbers(each).length) for each in inner):
        return itertools.product(*iterables, repeat=repeat)
    parts = list(map(_numbers, inner)) * repeat
    sizes = [part.length for part in parts]

    def item(place: Any) -> tuple:
        found = []
        for part, size in zip(reversed(parts), reversed(sizes), strict=True):
            found.append(part.item(place % size))
            place = place // size
        return tuple(reversed(found))

    return Counted(math.prod(sizes), item)


def _shortest(lengths: Sequence[Any]) -> Any:
    static = [length for length in lengths if not is_traced(length)]
    found = min(static) if static else None
    for length in lengths:
        if is_traced(length):
            found = length if found is None else elementwise.min(length, found)
    return found


def counted(value: Any) -> Any:
    """A sequence that a compiled loop can go over: Python's range, or one of ours; None for what is to be unrolled."""
    if isinstance(value, range | Counted):
        return value
    if isinstance(value, TracedValue | Proxy) or (is_value(value) and operand(value).shape):
        return rows(*entered([value]))
    return None
