"""Slices with a traced start, step or length, such as ``x[i::k]``.

Assignments go through the elements one by one, in a loop of the program: others are not touched. Whatever else is done
with such a part goes by a mask of its elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nxkernel import primitives as p
from nxkernel.errors import NxTypeError, message
from nxkernel.numpy.arrays import dynamic_slices, fancy_indexing, subscripts
from nxkernel.numpy.arrays.array import Array, ArrayValue, Scalar, as_value, wrap
from nxkernel.numpy.arrays.dynamic_broadcasting import number_or_first, numbered, parts_of
from nxkernel.numpy.arrays.dynamic_slices import settled
from nxkernel.numpy.arrays.masked_elements import MaskedElements
from nxkernel.numpy.arrays.subscripts import AxisRange, ParsedKey, StridedAxis, as_number
from nxkernel.numpy.arrays.views import Index, Shape, ViewStep, reshaped
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand
from nxkernel.ops.arithmetic import comparison, elementwise
from nxkernel.ops.machinery.dispatch import apply, filled, is_number, operand, spread
from nxkernel.ops.programs import control_flow
from nxkernel.shapes import unnamed
from nxkernel.types import bool_, s64


@dataclass(frozen=True, eq=False)
class EarlierRead:
    """Elements of an array as it was at an earlier moment, when something was computed from them.

    Parameters
    ----------
    view : Array
    axis : int
    spread : StridedAxis
    before : operand
        What was in the memory of the array.
    """

    view: Array
    axis: int
    spread: StridedAxis
    before: Operand

    def at(self, count: Operand, now: Sequence[EarlierRead]) -> ArrayValue:
        """The element at position `count`, or all elements with that position along the axis."""
        whole = self.view.root.read() if self in now else self.before
        index = self.spread.index_of(count, self.view.shape[self.axis])
        for step in _one(self.view, self.axis, index).steps:
            whole = step.read(whole)
        return wrap(whole)


@dataclass(frozen=True)
class ElementRule:
    """A function that computes elements one by one, for a loop over them.

    Attributes
    ----------
    at : callable
        Gives the element with a number; takes the reads that look at what is in memory by then, too.
    reads : tuple of EarlierRead
    """

    at: Callable[[Operand, Sequence[EarlierRead]], Any]
    reads: tuple[EarlierRead, ...] = ()


@dataclass(frozen=True, eq=False)
class StridedView(ViewStep):
    """The view of a strided slice whose elements are moved to the front of an axis; the values behind are arbitrary.

    Parameters
    ----------
    before : tuple of int
    axis : int
    spread : StridedAxis
    """

    before: Shape
    axis: int
    spread: StridedAxis

    @property
    def shape(self) -> Shape:
        """The shape, with the largest possible number of elements along the axis."""
        return (*self.before[: self.axis], self._most, *self.before[self.axis + 1 :])

    @property
    def _most(self) -> int:
        return self.spread.most(self.before[self.axis])

    def read(self, whole: Operand) -> Operand:
        """The elements of the slice, then arbitrary ones."""
        most = self._most
        numbers = apply(p.iota, type=s64, shape=(most,), names=unnamed((most,)), axis=0)
        indices = apply(p.multiply, numbers, spread(as_number(self.spread.step), (most,)))
        indices = apply(p.add, spread(as_number(self.spread.first), (most,)), indices)
        return fancy_indexing.read(whole, {self.axis: indices}, False) if most else whole

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The whole value with the elements of the slice replaced."""
        size = self.before[self.axis]
        if not size:
            return whole
        ones = tuple([size if k == self.axis else 1 for k in range(len(self.before))])
        mask = spread(reshaped(self.spread.mask(size), ones), self.before)
        order = self.spread.order(size, self._most)
        return apply(p.select, mask, fancy_indexing.read(part, {self.axis: order}, False), whole)


class StridedElements(MaskedElements):
    """A strided slice of an axis with traced bounds: a view, or a result computed element by element from such views.

    Parameters
    ----------
    base : Array
        With the whole of the axis.
    axis : int
    spread : StridedAxis
    elements : ElementRule, optional
        How it is computed, where it is no view.
    """

    __slots__ = ("_elements", "spread")

    def __init__(self, base: Array, axis: int, spread: StridedAxis, elements: ElementRule | None = None) -> None:
        self.base, self.axis, self.spread, self._elements = base, axis, spread, elements

    @property
    def mask(self) -> Operand:
        """The mask of the elements of the axis that are in the slice."""
        return self.spread.mask(self.base.shape[self.axis])

    @property
    def count(self) -> Any:
        """The number of elements along the axis, a traced number."""
        return dynamic_slices.number(self.spread.count)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.base.ndim

    @property
    def is_view(self) -> bool:
        """Whether it is a view of an array, so that assignments write to that."""
        return self._elements is None

    @property
    def elements(self) -> ElementRule:
        """The rule that computes its elements from the current memory."""
        if self._elements is not None:
            return self._elements
        read = EarlierRead(self.base, self.axis, self.spread, self.base.root.read())
        return ElementRule(read.at, (read,))

    def copied(self) -> StridedElements:
        """The slice of a copy of the elements as they are now."""
        return StridedElements(Array.of(operand(self.base)), self.axis, self.spread, self.elements)

    def __getitem__(self, key: Any) -> Any:
        if self.is_view and _is_index(key):
            return self._row(key) if self.axis else self.base[self._index(key)]
        low = integer_bounds.interval(self.spread.step)[0]
        if isinstance(key, StridedElements) and key.type is bool_ and (low is None or low < 0):
            # What a mask picks is in the order of the slice.
            return self.compact()[key.compact()]
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.is_view and _is_index(key) and self.axis:
            self._row(key).assign(value)
        elif self.is_view and _is_index(key):
            self.base[self._index(key)] = value
        elif not (key is Ellipsis or (isinstance(key, slice) and key == slice(None))):
            self._refuse("assigning to a part of it")
        elif self.is_view:
            self.assign(value)
        else:
            self.base, self._elements = self._with(value), self._source(value)

    def _row(self, key: Any) -> StridedElements:
        """The result of indexing the first axis, if that is not the axis of the slice."""
        return StridedElements(self.base[(key,)], self.axis - 1, self.spread)

    def _index(self, key: Any) -> tuple[Any, ...]:
        """An index along the slice's axis, the first one, as a key into the whole array."""
        count = as_number(key if isinstance(key, int) else operand(key))
        low = integer_bounds.interval(count)[0]
        if low is None or low < 0:
            negative = apply(p.less, count, as_number(0))
            count = apply(p.select, negative, apply(p.add, count, as_number(self.spread.count)), count)
        return (Scalar(self.spread.index_of(count, self.base.shape[0])),)

    def _alike(self, other: MaskedElements) -> bool:
        if isinstance(other, StridedElements):
            return self.axis == other.axis and self.base.ndim == other.base.ndim and self.spread.same(other.spread)
        return super()._alike(other)

    def shows_same(self, other: Any) -> bool:
        """Whether another view shows the same elements."""
        if not (isinstance(other, StridedElements) and self.is_view and other.is_view and self._alike(other)):
            return False
        return self.base.shows_same(other.base)

    def compact(self) -> dynamic_slices.DynamicSlice:
        """The elements one after the other: a part of traced length."""
        row = self.base.through(StridedView(self.base.shape, self.axis, self.spread))
        stretches = [AxisRange(0, self.spread.count) if k == self.axis else None for k in range(self.ndim)]
        return dynamic_slices.DynamicSlice(row, tuple(stretches))

    def by_element(self, function: Callable[..., Any], values: Sequence[Any]) -> Any:
        """An element-wise function of this and other values, computed in a loop over the elements."""
        return _computed(function, values) if _is_computed(values) else None

    def _in_place(self, value: ArrayValue) -> ArrayValue:
        """Values for its elements, moved to where those are in the whole array."""
        axis = self.axis - (self.ndim - value.ndim)
        if axis < 0:
            return value
        size = parts_of(value)[0].shape[axis]
        if size == 1:
            return parts_of(value)[0]
        return numbered(value, axis, self.spread.order(self.base.shape[self.axis], size))

    def _whole(self, value: Any) -> Any:
        """A value broadcast to the whole axis."""
        if is_number(value) or value.ndim == 0:
            return value
        if not isinstance(value, MaskedElements):
            return self._in_place(value)
        return value.base if self._alike(value) else self._in_place(settled(value))

    def assign(self, value: Any) -> None:
        """Assign to the elements of a view, one after the other."""
        if self.shows_same(value):
            return
        source, before = self._source(value), self.base.root.read()
        target = EarlierRead(self.base, self.axis, self.spread, before)
        mine = [read for read in source.reads if read.view.root is self.base.root and read.before is before]
        if all(_same_places(read, target) or _apart(read, target) for read in mine):
            self._put(lambda count: source.at(count, mine))
        else:
            gathered = self._gathered(source)
            self._put(lambda count: _at(gathered, self.axis, count))

    def _put(self, element: Callable[[Operand], Any]) -> None:
        size = self.base.shape[self.axis]

        def turn(count: Operand) -> None:
            _one(self.base, self.axis, self.spread.index_of(count, size)).assign(element(count))

        _each(self.spread, size, turn)

    def _gathered(self, source: ElementRule) -> Operand:
        """The elements copied into new memory, so that all are computed before any is written."""
        shape, size = list(self.base.shape), self.base.shape[self.axis]
        shape[self.axis] = self.spread.most(size)
        room = Array.of(filled(0, self.type, tuple(shape)))
        _each(self.spread, size, lambda count: _one(room, self.axis, count).assign(source.at(count, ())))
        return operand(room)

    def _source(self, value: Any) -> ElementRule:
        """The rule that gives the elements of a value broadcast to this slice."""
        if is_number(value):
            return ElementRule(lambda count, now: value)
        value = as_value(value)
        if isinstance(value, StridedElements) and (value.ndim, value.axis) == (self.ndim, self.axis):
            elements, length = value.elements, value.spread.count
            if integer_bounds.same(length, self.spread.count):
                return elements
            return ElementRule(lambda count, now: elements.at(number_or_first(length, count), now), elements.reads)
        value, stretches = parts_of(settled(value))
        data = operand(value)
        while len(data.shape) > self.ndim and data.shape[0] == 1:
            data = reshaped(data, data.shape[1:])
        if len(data.shape) > self.ndim:
            self._refuse("assigning an array of this shape")
        axis = self.axis - (self.ndim - len(data.shape))
        if axis < 0:
            return ElementRule(lambda count, now: wrap(data))
        # Axes in front of what is broadcast have been dropped.
        stretch = stretches[axis - len(data.shape)]
        length = data.shape[axis] if stretch is None else stretch.length
        return ElementRule(lambda count, now: _at(data, axis, number_or_first(length, count)))


def shown(view: Array, parsed: ParsedKey) -> StridedElements:
    """The result of a key that contains a strided slice with traced bounds."""
    if len(parsed.spreads) + len(parsed.stretches) > 1:
        raise NxTypeError(
            message(
                "slices with traced bounds and steps along several axes.",
                "Loop over one of them: for k in range(i, n, step).",
            )
        )
    ((axis, spread),) = parsed.spreads.items()
    return StridedElements(view, axis, spread)


def _is_index(key: Any) -> bool:
    return isinstance(key, int) or (isinstance(key, Scalar | Operand) and key.shape == () and key.type.is_integer)


def _one(view: Array, axis: int, index: Operand) -> Array:
    """A view of one index along an axis of an array."""
    return view.through(subscripts.parse((*[slice(None)] * axis, index), view.shape).basic)


def _at(data: Operand, axis: int, index: Operand) -> ArrayValue:
    return wrap(subscripts.parse((*[slice(None)] * axis, index), data.shape).basic.read(data))


def _each(spread: StridedAxis, size: int, turn: Callable[[Operand], None]) -> None:
    """A loop of the program over the element numbers."""

    def body(state: list[Any]) -> list[Any]:
        integer_bounds.assume(state[0], 0, max(spread.most(size) - 1, 0))
        turn(state[0])
        return [elementwise.add(state[0], 1)]

    control_flow.run_while([as_number(0)], lambda state: comparison.less(state[0], spread.count), body, ["element"])


def _same_places(one: EarlierRead, other: EarlierRead) -> bool:
    return one.axis == other.axis and one.view.shows_same(other.view) and one.spread.same(other.spread)


def _apart(one: EarlierRead, other: EarlierRead) -> bool:
    """Whether two parts of an array are known to be disjoint."""
    if one.axis == other.axis and one.view.shows_same(other.view):
        return one.spread.misses(other.spread)
    steps = one.view.steps, other.view.steps
    if any(len(each) != 1 or not isinstance(each[0], Index) for each in steps):
        return False
    return any(
        a.count == b.count == 1 and integer_bounds.difference(a.start, b.start) not in (None, 0)
        for a, b in zip(steps[0][0].along, steps[1][0].along, strict=True)
    )


def _is_computed(values: Sequence[Any]) -> bool:
    """Whether a function of these values can be computed element by element."""
    parts = [value for value in values if isinstance(value, MaskedElements | dynamic_slices.DynamicSlice)]
    first = parts[0]
    if not all(
        isinstance(value, StridedElements) and (value.ndim, value.axis) == (first.ndim, first.axis) for value in parts
    ):
        return False
    if not all(integer_bounds.same(value.spread.count, first.spread.count) for value in parts):
        # One of them may be broadcast, which changes how many elements there are.
        return False
    arrays = [value for value in values if not is_number(value) and not isinstance(value, StridedElements)]
    return all(value.ndim <= first.ndim and _is_for_all(value, first) for value in arrays)


def _is_for_all(value: ArrayValue, first: StridedElements) -> bool:
    """Whether a value is the same for all elements of a slice along its axis."""
    axis = first.axis - (first.ndim - value.ndim)
    return axis < 0 or value.shape[axis] == 1


def _computed(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    """An element-wise function of strided slices, arrays and numbers."""
    first = next(value for value in values if isinstance(value, StridedElements))
    sources = [None if is_number(value) else first._source(value) for value in values]
    reads = tuple([read for source in sources if source is not None for read in source.reads])

    def at(count: Operand, now: Sequence[EarlierRead]) -> Any:
        pairs = zip(values, sources, strict=True)
        return function(*[value if source is None else source.at(count, now) for value, source in pairs])

    result = function(*[first._whole(value) for value in values])
    if not isinstance(result, tuple):
        return StridedElements(result, first.axis, first.spread, ElementRule(at, reads))
    return tuple(
        [
            StridedElements(
                one, first.axis, first.spread, ElementRule(lambda count, now, k=k: at(count, now)[k], reads)
            )
            for k, one in enumerate(result)
        ]
    )
