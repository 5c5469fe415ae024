"""Dynamic slices: ``x[i:j]`` with traced bounds, whose length only the running program knows.

Such a part is kept as the whole axis with the place where the part begins and its length: element-wise functions
compute all of the axis, reductions and assignments look only at what is inside. Parts that begin at equal places stay
where they are; others are moved to the place of the first.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing, values_of_call
from nxkernel.graph.expr import Expr
from nxkernel.numpy.arrays import subscripts
from nxkernel.numpy.arrays.array import Array, ArrayValue, Scalar, as_value, fitted, wrap
from nxkernel.numpy.arrays.dynamic_broadcasting import (
    Stretches,
    Target,
    aligned,
    check_length,
    moved,
    parts_of,
    plus,
    stretches_of,
    targets_of,
)
from nxkernel.numpy.arrays.subscripts import AxisRange, as_number
from nxkernel.numpy.arrays.views import AxisSlice, Index
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread
from nxkernel.shapes import normalize_axis, unnamed
from nxkernel.types import Type, s64

Shape = tuple[int, ...]


class DynamicSlice(ArrayValue):
    """A part of an array of which at least one axis has a traced length, such as ``x[i:j]``.

    Parameters
    ----------
    base : Array
        With the whole of these axes.
    stretches : tuple of (AxisRange or None)
        For each axis which part of it, None for an axis of known size.
    """

    __slots__ = ("base", "stretches")
    stretched = True

    def __init__(self, base: Array, stretches: Stretches) -> None:
        self.base, self.stretches = base, stretches

    @property
    def type(self) -> Type:
        """The type of the elements."""
        return self.base.type

    @property
    def shape(self) -> tuple[Any, ...]:
        """The size of each axis: an int, or a traced number."""
        sizes = zip(self.base.shape, self.stretches, strict=True)
        return tuple([size if stretch is None else number(stretch.length) for size, stretch in sizes])

    @property
    def size(self) -> Any:
        """The number of elements, a traced number."""
        count: Any = 1
        for size in self.shape:
            count = size if isinstance(count, int) and count == 1 else count * size
        return count

    @property
    def T(self) -> DynamicSlice:  # noqa: N802 - NumPy's name
        """The part with its axes in reverse order."""
        return DynamicSlice(self.base.T, self.stretches[::-1])

    @property
    def real(self) -> DynamicSlice:
        """The real parts."""
        return DynamicSlice(self.base.real, self.stretches)

    @property
    def imag(self) -> DynamicSlice:
        """The imaginary parts."""
        return DynamicSlice(self.base.imag, self.stretches)

    def __len__(self) -> int:
        if self.stretches[0] is not None:
            self._refuse("len() as a number that is known now")
        return self.base.shape[0]

    def __nx_operand__(self) -> Operand:
        self._refuse("this use of it")

    def __nx_like__(self, value: Operand) -> ArrayValue:
        return wrap(value)

    def _refuse(self, what: str) -> NoReturn:
        sizes = "".join(
            f"[{size if stretch is None else f'at most {size}'}]"
            for size, stretch in zip(self.base.shape, self.stretches, strict=True)
        )
        raise subscripts.needed(
            self.traced_length,
            f"a part {self.type}{sizes} of an array has a length that only the running program knows: {what} "
            "is not possible.",
            "Sums and other reductions, products, element-wise functions and assignments take such parts.",
            "Masked, the shape stays: np.where((k >= i) & (k < j), x, 0) with k = np.arange(len(x)).",
        )

    @property
    def traced_length(self) -> Any:
        """The traced value that the length of the first part, or else its offset, was computed from."""
        stretch = next(stretch for stretch in self.stretches if stretch is not None)
        return stretch.offset if isinstance(stretch.length, int) else stretch.length

    def __getitem__(self, key: Any) -> Any:
        if is_mask(key):
            return self._where(key).copied()
        inner, taken = self._translated(key)
        stretches = _of_result(taken, max(map(_rank, inner), default=0))
        if isinstance(key, tuple) and any(entry is Ellipsis for entry in key):
            inner = (Ellipsis, *inner)  # an element is an array without axes then
        result = self.base[inner]
        if not any(stretches):
            return result
        own = result.stretches if isinstance(result, DynamicSlice) else (None,) * result.ndim
        base = result.base if isinstance(result, DynamicSlice) else result
        return DynamicSlice(base, tuple([one or other for one, other in zip(stretches, own, strict=True)]))

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_mask(key):
            self._where(key).assign(settled(value))
            return
        inner, taken = self._translated(key)
        if not any(isinstance(each, AxisRange) for each in taken):
            self.base[inner] = value
        elif any(map(_rank, inner)):
            # What is read at indices is a copy: the array itself is assigned into, of which parts are slices.
            pairs = [pair for pair in zip(inner, taken, strict=True) if pair[0] is not None]
            slices = [entry if isinstance(each, AxisRange) else builtins.slice(None) for entry, each in pairs]
            self.base[tuple(slices)][tuple(map(_entry, inner, taken))] = value
        else:
            assign_part(self[key], value)

    def _where(self, mask: ArrayValue) -> Any:
        """The elements of this part where a mask holds."""
        from nxkernel.numpy.arrays.masked_elements import masked

        return masked(self, mask)

    def _translated(self, key: Any) -> tuple[tuple[Any, ...], list[Any]]:
        """A key into the part as a key into the whole array, and for each entry the part that it leaves, None or
        _INDEX.
        """
        entries = list(key) if isinstance(key, tuple) else [key]
        used = sum(entry is not None and entry is not Ellipsis for entry in entries)
        gap = [builtins.slice(None)] * (self.ndim - used)
        position = next((k for k, entry in enumerate(entries) if entry is Ellipsis), len(entries))
        entries[position : position + 1] = gap
        inner: list[Any] = []
        taken: list[Any] = []
        axis = 0
        for entry in entries:
            if entry is None:
                inner.append(None)
                taken.append(None)
                continue
            stretch, size = self.stretches[axis], self.base.shape[axis]
            axis += 1
            if stretch is None:
                inner.append(entry)
                taken.append(None if isinstance(entry, builtins.slice) else _INDEX)
            elif isinstance(entry, builtins.slice):
                backwards, left = _within(entry, stretch, size)
                inner.append(builtins.slice(None, None, -1) if backwards else builtins.slice(None))
                taken.append(left)
            else:
                inner.append(_index_within(entry, stretch))
                taken.append(_INDEX)
        return tuple(inner), taken


#: Stands for an axis that an index takes.
_INDEX = object()


def _rank(entry: Any) -> int:
    """The number of axes of an index."""
    return as_value(entry).ndim if is_array(entry) else 0


def _of_result(taken: list[Any], rank: int) -> list[AxisRange | None]:
    """For each axis of the result of an index, the part of it that counts; arrays in the key have `rank` axes.

    Theirs stand where the first index was, or in front where something else is between two of them.
    """
    positions = [position for position, each in enumerate(taken) if each is _INDEX]
    kept = [each for each in taken if each is not _INDEX]
    first = positions[0] if positions and positions[-1] - positions[0] < len(positions) else 0
    return [*kept[:first], *[None] * rank, *kept[first:]]


def _entry(entry: Any, taken: Any) -> Any:
    """A key's entry, for a key into axes of which parts are taken."""
    if isinstance(taken, AxisRange):
        return builtins.slice(number(taken.offset), number(plus(taken.offset, taken.length)))
    return entry


def _within(entry: builtins.slice, stretch: AxisRange, size: int) -> tuple[bool, AxisRange]:
    """A slice of a part: whether it is reversed, and the part of the axis that remains, in its new direction."""
    step = 1 if entry.step is None else subscripts.known_number(entry.step)
    if step not in (1, -1) or (step == -1 and (entry.start, entry.stop) != (None, None)):
        raise NxTypeError(
            message("a slice of a part has the step 1, or is [::-1].", "Take the slice of the whole array instead.")
        )
    if step == -1:
        end = plus(stretch.offset, stretch.length)
        return True, AxisRange(plus(size, end, minus=True), stretch.length)
    low = _end(entry.start, stretch.length, 0)
    high = _end(entry.stop, stretch.length, stretch.length)
    length = plus(high, low, minus=True)
    if integer_bounds.interval(length)[0] is None or integer_bounds.interval(length)[0] < 0:
        length = apply(p.maximum, as_number(length), as_number(0))
    return False, AxisRange(plus(stretch.offset, low), length)


def _end(end: Any, length: Any, otherwise: Any) -> Any:
    """A bound of a slice of a part, clamped to the part."""
    if end is None:
        return otherwise
    known = subscripts.known_number(end)
    if known == 0:
        return 0
    if known is not None and known > 0 and (integer_bounds.interval(length)[0] or 0) >= known:
        return known
    end, length = as_number(operand(end)) if known is None else as_number(known), as_number(length)
    low = integer_bounds.interval(end)[0]
    if low is None or low < 0:
        end = apply(p.select, apply(p.less, end, as_number(0)), apply(p.add, end, length), end)
        end = apply(p.maximum, end, as_number(0))
    return apply(p.minimum, end, length)


def _index_within(entry: Any, stretch: AxisRange) -> Any:
    """An index into a part as an index into the whole axis."""
    known = subscripts.known_number(entry) if not is_array(entry) else None
    if known is not None:
        return plus(stretch.offset, known if known >= 0 else plus(stretch.length, known))
    value = as_value(entry)
    if isinstance(value, DynamicSlice):
        return as_value(stretch.offset if isinstance(stretch.offset, int) else Scalar(stretch.offset)) + value
    index = convert(operand(value), s64)
    low = integer_bounds.interval(index)[0]
    if low is None or low < 0:
        length, zero = (spread(as_number(number), index.shape) for number in (stretch.length, 0))
        index = apply(p.select, apply(p.less, index, zero), apply(p.add, index, length), index)
    offset = spread(as_number(stretch.offset), index.shape)
    return apply(p.add, index, offset)


def is_array(value: Any) -> bool:
    """Whether an index is an array with at least one axis."""
    return isinstance(value, list) or bool(getattr(value, "shape", ()))


def number(length: Any) -> Any:
    """A length as users see it: an int, or a traced number that promotes as a Python number."""
    if isinstance(length, int):
        return length
    trace = tracing.current()
    if trace is not None and type(length) is Expr:
        trace.weak.add(length)
    return Scalar(length)


def compact_part(value: Any) -> Any:
    """Elements selected by a mask as a part of traced length; anything else unchanged."""
    return value.compact() if hasattr(type(value), "compact") else value


def settled(value: Any) -> Any:
    """Masked elements, and parts with an offset, as parts that begin at 0; anything else unchanged."""
    value = compact_part(value)
    if not isinstance(value, DynamicSlice):
        return value
    begins = [isinstance(stretch.offset, int) and stretch.offset == 0 for stretch in value.stretches if stretch]
    if all(begins):
        return value
    stretches = tuple([stretch and AxisRange(0, stretch.length) for stretch in value.stretches])
    targets = [stretch and (stretch, size) for stretch, size in zip(stretches, value.base.shape, strict=True)]
    return DynamicSlice(Array.of(operand(aligned(value, targets))), stretches)


def sized(value: Any) -> Any:
    """What a mask or a slice gives, as an array of the length that it has for the call, where that may be asked for.

    Parameters
    ----------
    value : object
        A part of traced length; anything else comes back as it is.
    """
    if not values_of_call.are_told():
        return value
    part = compact_part(value)
    if not isinstance(part, DynamicSlice):
        return value
    lengths = [stretch and values_of_call.number(stretch.length) for stretch in part.stretches]
    if any(length is None for length, stretch in zip(lengths, part.stretches, strict=True) if stretch):
        return value
    along = [AxisSlice(stretch.offset, length) if stretch else AxisSlice(0, size)
             for size, length, stretch in zip(part.base.shape, lengths, part.stretches, strict=True)]  # fmt: skip
    found = part.base.through(Index(part.base.shape, tuple(along), tuple(range(len(along)))))
    # What a mask picks is a copy.
    return found if getattr(value, "is_view", part is value) else Array.of(operand(found))


def is_mask(key: Any) -> bool:
    """Whether a key is an array of booleans."""
    return isinstance(key, ArrayValue) and key.type is types.bool_ and key.ndim > 0


def any_part(values: Iterable[Any]) -> bool:
    """Whether one of the values is a part of traced length."""
    return any(isinstance(value, DynamicSlice) for value in values)


def mask(stretches: Stretches, shape: Shape) -> Operand:
    """The mask of the elements inside of the given parts of the axes, for an array of the given shape."""
    inside = None
    for axis, stretch in enumerate(stretches):
        if stretch is None:
            continue
        index = apply(p.iota, type=s64, shape=shape, names=unnamed(shape), axis=axis)
        end = spread(as_number(plus(stretch.offset, stretch.length)), shape)
        here = apply(p.less, index, end)
        if not isinstance(stretch.offset, int) or stretch.offset:
            first = apply(p.greater_equal, index, spread(as_number(stretch.offset), shape))
            here = apply(p.logical_and, first, here)
        inside = here if inside is None else apply(p.logical_and, inside, here)
    return inside


def elementwise(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Apply an element-wise function to parts, arrays and numbers; it is computed over the whole axes."""
    values = [value if is_number(value) else as_value(value) for value in inputs]
    rank = max(value.ndim for value in values if not is_number(value))
    targets = targets_of([value for value in values if not is_number(value)], rank)
    result = function(*[value if is_number(value) else aligned(value, targets) for value in values])
    stretches = stretches_of(targets)
    if not any(stretches):
        return result
    if isinstance(result, tuple):
        return tuple([DynamicSlice(value, stretches) for value in result])
    return DynamicSlice(result, stretches)


def reduced(
    function: Callable[..., Operand], part: DynamicSlice, axes: Shape, keep_axes: bool, *more: Any
) -> ArrayValue:
    """Reduce a part of traced length: the whole axes are reduced under a mask.

    Parameters
    ----------
    function : callable
        Of the value, the axes, whether they stay, and a mask of what counts, or None.
    part : DynamicSlice
    axes : tuple of int
    keep_axes : bool
    """
    data = operand(part.base)
    looked_at = tuple([stretch if axis in axes else None for axis, stretch in enumerate(part.stretches)])
    inside = mask(looked_at, data.shape) if any(looked_at) else None
    result = wrap(function(data, axes, keep_axes, inside, *more))
    rest: list[AxisRange | None] = []
    for axis, stretch in enumerate(part.stretches):
        if axis not in axes:
            rest.append(stretch)
        elif keep_axes:
            rest.append(None)
    return DynamicSlice(result, tuple(rest)) if any(rest) else result


def index_in_part(part: DynamicSlice, axis: int | None, index: ArrayValue) -> ArrayValue:
    """An index into the whole axis, as argmin and argmax compute it, as an index into the part."""
    if axis is None and part.ndim > 1:
        part._refuse("the place of an element among all of several axes")
    stretch = part.stretches[0 if axis is None else axis]
    if stretch is None or (isinstance(stretch.offset, int) and stretch.offset == 0):
        return index
    offset = stretch.offset if isinstance(stretch.offset, int) else Scalar(stretch.offset)
    return index - offset


def matmul(left: Any, right: Any, product: Callable[..., Operand]) -> Any:
    """The matrix product with parts of traced length as operands; outside of a part elements count as zero.

    Parameters
    ----------
    left, right : array, part or number
    product : callable
        Of two operands, and of the axes of each that are summed over.
    """
    left, right = as_value(left), as_value(right)
    if not 0 < left.ndim <= 2 or not 0 < right.ndim <= 2:
        (left if isinstance(left, DynamicSlice) else right)._refuse("a product of more than two axes")
    inner = left.ndim - 1, 0 if right.ndim == 1 else right.ndim - 2
    sides = [parts_of(left), parts_of(right)]
    at = [sides[k][1][inner[k]] for k in (0, 1)]
    data = [operand(base) for base, _ in sides]
    if any(at):
        size, target = data[0].shape[inner[0]], at[0] or AxisRange(0, data[0].shape[inner[0]])
        own = at[1] or AxisRange(0, data[1].shape[inner[1]])
        check_length(own.length, target.length, broadcasts=False)
        if data[1].shape[inner[1]] != size or not integer_bounds.same(own.offset, target.offset):
            data[1] = moved(data[1], inner[1], plus(own.offset, target.offset, minus=True), size)
        known = target if at[0] else AxisRange(target.offset, own.length)
        data = [_zeroed(value, axis, known) for value, axis in zip(data, inner, strict=True)]
    result = wrap(product(data[0], data[1], [inner[0]], [inner[1]]))
    rest = [
        stretch
        for (_, stretches), skip in zip(sides, inner, strict=True)
        for axis, stretch in enumerate(stretches)
        if axis != skip
    ]
    return DynamicSlice(result, tuple(rest)) if any(rest) else result


def _zeroed(data: Operand, axis: int, stretch: AxisRange) -> Operand:
    stretches = tuple([stretch if k == axis else None for k in range(len(data.shape))])
    return apply(p.select, mask(stretches, data.shape), data, filled(0, data.type, data.shape))


def flipped(part: DynamicSlice, axis: int | Sequence[int] | None) -> DynamicSlice:
    """A part with the order of its elements reversed along some axes."""
    axes = range(part.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    wanted = {normalize_axis(one, part.base.shape) for one in axes}
    return part[tuple(slice(None, None, -1) if k in wanted else slice(None) for k in range(part.ndim))]


def assign_part(target: DynamicSlice, value: Any) -> None:
    """Assign a value to the elements of a part."""
    if isinstance(value, DynamicSlice) and _shows_same(target, value):
        return
    whole = operand(target.base)
    if not is_number(value):
        value = fitting(compact_part(as_value(value)), targets_of([target], target.ndim))
    new = fitted(value, whole.shape, whole.type)
    target.base.assign(apply(p.select, mask(target.stretches, whole.shape), new, whole))


def fitting(value: ArrayValue | DynamicSlice, targets: Sequence[Target | None]) -> ArrayValue:
    """A value as it is assigned to a part with these axes; the running program tells where lengths do not fit."""
    while value.ndim > len(targets) and value.shape[0] == 1:
        value = value[0]
    if value.ndim > len(targets):
        raise NxValueError(f"cannot assign {value.ndim} axes to a part with {len(targets)}")
    base, stretches = parts_of(value)
    for there, own, size in zip(targets[len(targets) - value.ndim :], stretches, base.shape, strict=True):
        if there is not None:
            check_length(size if own is None else own.length, there[0].length)
    return aligned(value, targets)


def _shows_same(one: DynamicSlice, other: DynamicSlice) -> bool:
    return one.base.shows_same(other.base) and all(
        (a is None and b is None)
        or (
            a is not None
            and b is not None
            and integer_bounds.same(a.offset, b.offset)
            and integer_bounds.same(a.length, b.length)
        )
        for a, b in zip(one.stretches, other.stretches, strict=True)
    )
