"""Views: which part of its base's memory an array shows, how it is read, and how assignments write to the base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.numpy.arrays import memory_order
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, spread
from nxkernel.ops.numpy_names import memory
from nxkernel.ops.shapes.indexing import index
from nxkernel.ops.shapes.shaping import concatenate
from nxkernel.types import Type, bool_, s64, to_real

Shape = tuple[int, ...]


def reshaped(value: Operand, shape: Shape) -> Operand:
    """A value in another shape, without axis names."""
    if value.shape == shape:
        return value
    return apply(p.reshape, value, shape=shape, names=shapes.unnamed(shape))


class ViewStep:
    """One step of a view: a function from the elements of its base to the elements that it shows, which can be
    inverted.

    Attributes
    ----------
    shape : tuple of int
        Of what it gives.
    writeable : bool
    """

    shape: Shape
    writeable = True

    def type(self, type_: Type) -> Type:
        """The element type of the view, from that of the base."""
        return type_

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        raise NotImplementedError

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The base with the viewed part replaced."""
        raise NotImplementedError

    def strides(self, strides: Shape) -> Shape | None:
        """Strides of the view, from those of the base; None if NumPy has no such view.

        Parameters
        ----------
        strides : tuple of int
            Of what it shows a part of, in elements.
        """
        return None


@dataclass(frozen=True)
class AxisSlice:
    """A slice of one axis: `count` elements from `start`, `step` apart; `keep` tells whether the axis stays."""

    start: Any
    count: int
    step: int = 1
    keep: bool = True


@dataclass(frozen=True)
class Index(ViewStep):
    """Basic indexing: slices, integers and new axes.

    Parameters
    ----------
    before : tuple of int
        The shape that it is for.
    along : tuple of AxisSlice
        For each of its axes.
    layout : tuple of (int or None)
        For each axis of the result which it was, None for a new one.
    """

    before: Shape
    along: tuple[AxisSlice, ...]
    layout: tuple[int | None, ...]

    @property
    def shape(self) -> Shape:
        """The shape of the view."""
        return tuple([1 if axis is None else self.along[axis].count for axis in self.layout])

    @property
    def counts(self) -> Shape:
        """The number of elements along each axis."""
        return tuple([axis.count for axis in self.along])

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        lengths = shapes.spans(self.counts, [abs(axis.step) for axis in self.along])
        if any(isinstance(axis.start, Operand) and axis.count for axis in self.along):
            steps, backwards = self._forwards()
            part = apply(p.dynamic_slice, whole, *map(_start, self._lowest()), lengths=lengths, strides=steps)
            part = apply(p.reverse, part, axes=backwards) if backwards else part
        elif lengths == self.before and all(axis.step == 1 for axis in self.along):
            part = whole
        else:
            starts = tuple([axis.start if axis.count else 0 for axis in self.along])
            steps = tuple([axis.step if axis.count else 1 for axis in self.along])
            part = apply(p.slice_, whole, starts=starts, lengths=lengths, strides=steps)
        return reshaped(part, self.shape)

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The base with the viewed part replaced."""
        part = reshaped(part, self.counts)
        if 0 in self.counts:
            return whole
        steps, backwards = self._forwards()
        if backwards:
            part = apply(p.reverse, part, axes=backwards)
        if self.counts == self.before:
            return part
        starts = map(_start, self._lowest())
        if set(steps) == {1}:
            return apply(p.put_slice, whole, part, *starts)
        return apply(p.put_strided, whole, part, *starts, strides=steps)

    def strides(self, strides: Shape) -> Shape:
        """Strides of the view."""
        along = [stride * axis.step for stride, axis in zip(strides, self.along, strict=True)]
        return tuple([0 if axis is None else along[axis] for axis in self.layout])

    def _lowest(self) -> list[Any]:
        """The smallest index along each axis."""
        return [_sum(axis.start, min((axis.count - 1) * axis.step, 0)) if axis.count else 0 for axis in self.along]

    def _forwards(self) -> tuple[Shape, Shape]:
        """The absolute steps, and the axes whose step is negative."""
        steps = tuple([abs(axis.step) if axis.count > 1 else 1 for axis in self.along])
        return steps, tuple([position for position, axis in enumerate(self.along) if axis.step < 0 and axis.count > 1])

    def then(self, other: ViewStep) -> ViewStep | None:
        """Both steps as one, this one first; None if that takes two."""
        if not isinstance(other, Index):
            return None
        along = list(self.along)
        for position, axis in enumerate(other.along):
            was = self.layout[position]
            if was is None:
                if axis.count != 1:
                    return None
                continue
            one = self.along[was]
            if isinstance(axis.start, Operand) and one.step != 1:
                return None
            start = _sum(one.start, axis.start if one.step == 1 else axis.start * one.step)
            along[was] = AxisSlice(start, axis.count, one.step * axis.step, axis.keep)
        layout = tuple([None if position is None else self.layout[position] for position in other.layout])
        return Index(self.before, tuple(along), layout)


def _sum(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int) and a == 0:
        return b
    if isinstance(b, int) and b == 0:
        return a
    return apply(p.add, _start(a), _start(b))


def _start(start: Any) -> Operand:
    return filled(start, s64, ()) if isinstance(start, int) else convert(start, s64)


@dataclass(frozen=True)
class Transpose(ViewStep):
    """A permutation of the axes."""

    before: Shape
    axes: Shape

    @property
    def shape(self) -> Shape:
        """The sizes in the new order."""
        return tuple([self.before[axis] for axis in self.axes])

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        return apply(p.transpose, whole, axes=self.axes) if self.axes != tuple(range(len(self.axes))) else whole

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The base with the viewed part replaced."""
        return apply(p.transpose, part, axes=inverse(self.axes))

    def strides(self, strides: Shape) -> Shape:
        """Strides of the view."""
        return tuple([strides[axis] for axis in self.axes])


def inverse(axes: Sequence[int]) -> Shape:
    """The inverse of a permutation of axes."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


@dataclass(frozen=True)
class Reshape(ViewStep):
    """Another shape for the same elements in C order."""

    before: Shape
    shape: Shape

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        return reshaped(whole, self.shape)

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The base with the viewed part replaced."""
        return reshaped(part, self.before)

    def strides(self, strides: Shape) -> Shape | None:
        """Strides of the view, from those of the groups of axes that have the same elements."""
        return memory_order.reshaped(self.before, strides, self.shape)


@dataclass(frozen=True)
class ComplexPart(ViewStep):
    """The real or imaginary parts of complex numbers."""

    shape: Shape
    imaginary: bool

    def type(self, type_: Type) -> Type:
        """The real type of the parts."""
        return to_real(type_)

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        return apply(p.imag if self.imaginary else p.real, whole)

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The base with the viewed part replaced."""
        if self.imaginary:
            return apply(p.make_complex, apply(p.real, whole), part)
        return apply(p.make_complex, part, apply(p.imag, whole))

    def strides(self, strides: Shape) -> Shape:
        """Strides of the view: twice as large, counted in elements that are half as wide."""
        return tuple([2 * stride for stride in strides])


@dataclass(frozen=True)
class Diagonal(ViewStep):
    """A diagonal of two axes, whose indices are `offset` apart, as a new last axis."""

    before: Shape
    offset: int
    axes: tuple[int, int]
    writeable: bool = False

    @property
    def shape(self) -> Shape:
        """The sizes of the other axes, then that of the diagonal."""
        rest = [size for axis, size in enumerate(self.before) if axis not in self.axes]
        return (*rest, self._count)

    @property
    def _count(self) -> int:
        rows, columns = (self.before[axis] for axis in self.axes)
        return max(min(rows + min(self.offset, 0), columns - max(self.offset, 0)), 0)

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        if not self._count:
            return filled(0, whole.type, self.shape)
        result = apply(p.gather, whole, *self._indices(), axes=tuple(sorted(self.axes)))
        rank = len(result.shape)
        return apply(p.transpose, result, axes=(*range(1, rank), 0)) if rank > 1 else result

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The base with the viewed part replaced."""
        if not self._count:
            return whole
        rank = len(part.shape)
        part = apply(p.transpose, part, axes=(rank - 1, *range(rank - 1))) if rank > 1 else part
        return apply(p.scatter, whole, part, *self._indices(), axes=tuple(sorted(self.axes)), combine="put")

    def _indices(self) -> list[Operand]:
        """The indices of the diagonal's elements along each of the two axes, the lower axis first."""
        along = apply(p.iota, type=s64, shape=(self._count,), names=(None,), axis=0)
        shifts = dict(zip(self.axes, (max(-self.offset, 0), max(self.offset, 0)), strict=True))
        return [_shifted(along, shifts[axis]) for axis in sorted(self.axes)]

    def strides(self, strides: Shape) -> Shape:
        """Strides of the view: along the diagonal the sum of both axes' strides."""
        rest = [stride for axis, stride in enumerate(strides) if axis not in self.axes]
        return (*rest, strides[self.axes[0]] + strides[self.axes[1]])


def _shifted(value: Operand, by: int) -> Operand:
    return apply(p.add, value, filled(by, s64, value.shape)) if by else value


@dataclass(frozen=True)
class Windows(ViewStep):
    """All windows of a length along an axis; a new last axis goes through the window. Read-only."""

    before: Shape
    axis: int
    length: int
    writeable = False

    @property
    def shape(self) -> Shape:
        """The shape of the view: the axis has one element for each window."""
        count = self.before[self.axis] - self.length + 1
        return (*self.before[: self.axis], count, *self.before[self.axis + 1 :], self.length)

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        ones = (1,) * len(self.before)
        window = (*ones[: self.axis], self.length, *ones[self.axis + 1 :])
        return reshaped(apply(p.windows, whole, window=window, strides=ones, dilations=ones), self.shape)

    def strides(self, strides: Shape) -> Shape:
        """Strides of the windows: the window axis repeats its axis' stride."""
        return (*strides, strides[self.axis])


@dataclass(frozen=True)
class Broadcast(ViewStep):
    """The same elements repeated along axes. Read-only."""

    before: Shape
    shape: Shape
    writeable = False

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        return spread(whole, self.shape)

    def strides(self, strides: Shape) -> Shape:
        """Strides of the view: 0 along the repeated axes."""
        own = [0 if size == 1 else stride for size, stride in zip(self.before, strides, strict=True)]
        return (*(0,) * (len(self.shape) - len(own)), *own)


@dataclass(frozen=True)
class ElementField(ViewStep):
    """A view of a part of the bytes of each element.

    Parameters
    ----------
    shape : tuple of int
    whole_type, field_type : Type
        Of the elements, and of the part.
    offset : int
        The byte of an element at which the part begins.
    """

    shape: Shape
    whole_type: Type
    field_type: Type
    offset: int

    def type(self, type_: Type) -> Type:
        """The type of the part."""
        return self.field_type

    def read(self, whole: Operand) -> Operand:
        """Apply the view to its base."""
        if self.whole_type is bool_:
            return convert(whole, self.field_type)
        if self._is_whole:
            return apply(p.bitcast, whole, type=self.field_type)
        return memory.getfield(whole, self.field_type, self.offset)

    def put(self, whole: Operand, part: Operand) -> Operand:
        """The base with the bytes of the part replaced."""
        if self.whole_type is bool_:
            return convert(part, bool_)
        if self._is_whole:
            return apply(p.bitcast, part, type=self.whole_type)
        octets, end = memory.octets_of(whole), self.offset + self.field_type.size
        before, after = index(octets, (..., slice(self.offset))), index(octets, (..., slice(end, None)))
        pieces = [one for one in (before, memory.octets_of(part), after) if one.shape[-1]]
        return memory.joined_octets(concatenate(pieces, axis=-1), self.whole_type)

    def strides(self, strides: Shape) -> Shape:
        """Strides of the view, counted in its narrower elements."""
        return tuple([self.whole_type.size // self.field_type.size * stride for stride in strides])

    @property
    def _is_whole(self) -> bool:
        """Whether the part is the whole of an element, and no pair of numbers."""
        is_pair = self.whole_type.is_complex or self.field_type.is_complex
        return self.field_type.size == self.whole_type.size and not is_pair
