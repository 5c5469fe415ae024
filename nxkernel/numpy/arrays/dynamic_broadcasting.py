"""Broadcasting of slices with traced lengths: the common length, and the index that each element is read from.

Lengths that are equal whatever the program is given leave parts where they are, or move them as a whole. Of others one
may be 1 when the program runs: the one element of such a part is then read for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nxkernel import primitives as p
from nxkernel.errors import NxValueError, message
from nxkernel.graph import deferred_calls
from nxkernel.numpy.arrays import fancy_indexing
from nxkernel.numpy.arrays.array import ArrayValue, wrap
from nxkernel.numpy.arrays.subscripts import AxisRange, as_number
from nxkernel.numpy.arrays.views import AxisSlice, Index
from nxkernel.numpy.base import integer_bounds
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, filled, operand, spread
from nxkernel.types import s64

Stretches = tuple[AxisRange | None, ...]
#: What the parts along an axis become: where they begin and how long they are, and the size of the whole axis.
Target = tuple[AxisRange, int]


def plus(a: Any, b: Any, minus: bool = False) -> Any:
    """The sum, or the difference with `minus`, of two integers, each a Python int or traced."""
    if isinstance(b, int) and b == 0:
        return a
    if isinstance(a, int) and isinstance(b, int):
        return a - b if minus else a + b
    if isinstance(a, int) and a == 0 and not minus:
        return b
    return apply(p.subtract if minus else p.add, as_number(a), as_number(b))


def parts_of(value: ArrayValue) -> tuple[ArrayValue, Stretches]:
    """The whole arrays behind a value, and for each axis the part of it that the value covers (None for all)."""
    stretches = getattr(value, "stretches", None)
    return (value, (None,) * value.ndim) if stretches is None else (value.base, stretches)


def targets_of(values: Sequence[ArrayValue], rank: int) -> list[Target | None]:
    """The part that each axis of the broadcast result covers; None if no value has an axis of traced length.

    Parameters
    ----------
    values : sequence of ArrayValue
    rank : int
        How many axes.
    """
    along: list[list[tuple[AxisRange | None, int]]] = [[] for _ in range(rank)]
    for base, stretches in map(parts_of, values):
        for axis, pair in enumerate(zip(stretches, base.shape, strict=True), start=rank - len(stretches)):
            along[axis].append(pair)
    return [_target(pair) if any(stretch for stretch, _ in pair) else None for pair in along]


def _target(pairs: Sequence[tuple[AxisRange | None, int]]) -> Target:
    first = next((stretch, size) for stretch, size in pairs if stretch)
    several = [(stretch or AxisRange(0, size), size) for stretch, size in pairs if stretch or size != 1]
    others = [one for one in several if not integer_bounds.same(one[0].length, first[0].length)]
    if not others:
        return first
    target = next((one for one in (first, *others) if is_several(one[0].length)), None)
    if target is None:
        length = first[0].length
        for other, _ in others:
            if not is_one(other.length):
                length = apply(p.select, _equals_one(length), as_number(other.length), as_number(length))
        most = max(size for _, size in several)
        if not isinstance(length, int):
            integer_bounds.assume(length, 0, most)
        target = AxisRange(0, length), most
    for own, _ in (first, *others):
        check_length(own.length, target[0].length)
    return target


def check_length(own: Any, wanted: Any, broadcasts: bool = True) -> None:
    """Have the program tell of a length that is another than is wanted; in loops only where programs are checked.

    Parameters
    ----------
    own, wanted : int or traced
    broadcasts : bool, optional
        Whether a length of 1 goes with each.

    Raises
    ------
    NxValueError
        If that is known while tracing.
    """
    if integer_bounds.same(own, wanted) or (broadcasts and is_one(own)) or not deferred_calls.are_checked():
        return
    if isinstance(own, int) and isinstance(wanted, int):
        raise _length_error(own, wanted)
    lengths = [as_number(own), as_number(wanted)]
    wrong = apply(p.not_equal, *lengths)
    if broadcasts and not is_several(own):
        wrong = apply(p.logical_and, wrong, apply(p.not_equal, lengths[0], as_number(1)))
    deferred_calls.raise_if(wrong, lengths, _length_error)


def _length_error(own: int, wanted: int) -> NxValueError:
    return NxValueError(
        message(
            f"parts of {own} and {wanted} elements do not fit together.",
            "They are as long as each other, or one has a single element.",
        )
    )


def stretches_of(targets: Sequence[Target | None]) -> Stretches:
    """For each target the part of its axis; None for a whole axis."""
    return tuple([None if target is None or _is_whole(*target) else target[0] for target in targets])


def _is_whole(stretch: AxisRange, size: int) -> bool:
    return all(isinstance(number, int) for number in (stretch.offset, stretch.length)) and stretch == AxisRange(0, size)


def is_one(length: Any) -> bool:
    """Whether a length is 1 for every input of the program."""
    return integer_bounds.interval(length) == (1, 1)


def is_several(length: Any) -> bool:
    """Whether a length is 1 for no input of the program, so that broadcasting keeps it."""
    low, high = integer_bounds.interval(length)
    return (low is not None and low > 1) or (high is not None and high < 1)


def _equals_one(length: Any) -> Operand:
    return apply(p.equal, as_number(length), as_number(1))


def aligned(value: ArrayValue, targets: Sequence[Target | None]) -> ArrayValue:
    """The whole array of a value, shifted so that each of its parts begins where the target's does and is as long."""
    base, stretches = parts_of(value)
    data = operand(base)
    for axis, target in enumerate(targets[len(targets) - len(stretches) :]):
        size, own = data.shape[axis], stretches[axis]
        if target is None or (own is None and size == 1):
            continue
        own = own or AxisRange(0, size)
        wanted, length = target
        if is_one(own.length) and not is_one(wanted.length):
            data = _taken(data, axis, own.offset, 1)
            continue
        if isinstance(own.length, int) and isinstance(wanted.length, int) and own.length != wanted.length:
            raise _length_error(own.length, wanted.length)
        there = data
        if size != length or not integer_bounds.same(own.offset, wanted.offset):
            there = moved(data, axis, plus(own.offset, wanted.offset, minus=True), length)
        if not integer_bounds.same(own.length, wanted.length) and not is_several(own.length):
            one = spread(_taken(data, axis, own.offset, 1), there.shape)
            there = apply(p.select, spread(_equals_one(own.length), there.shape), one, there)
        data = there
    return base if data is operand(base) else wrap(data)


def moved(data: Operand, axis: int, by: Any, size: int) -> Operand:
    """An axis shifted and resized to `size`: element ``k`` is what was at ``k + by``, clamped to the axis."""
    if isinstance(by, int) and by >= 0 and by + size <= data.shape[axis]:
        return _taken(data, axis, by, size)
    indices = apply(p.iota, type=s64, shape=(size,), names=(None,), axis=0)
    indices = apply(p.add, indices, spread(as_number(by), (size,)))
    return fancy_indexing.read(data, {axis: indices}, False)


def _taken(data: Operand, axis: int, first: Any, count: int) -> Operand:
    """`count` elements along an axis, from `first` on."""
    along = [AxisSlice(first, count) if k == axis else AxisSlice(0, n) for k, n in enumerate(data.shape)]
    return Index(data.shape, tuple(along), tuple(range(len(along)))).read(data)


def numbered(value: ArrayValue, axis: int, numbers: Operand) -> ArrayValue:
    """The elements of a part at the given positions along an axis; a part of length 1 is broadcast.

    Parameters
    ----------
    value : ArrayValue
        A part begins with its axis.
    axis : int
    numbers : operand
    """
    base, stretches = parts_of(value)
    length = base.shape[axis] if stretches[axis] is None else stretches[axis].length
    return wrap(fancy_indexing.read(operand(base), {axis: number_or_first(length, numbers)}, False))


def number_or_first(length: Any, numbers: Operand) -> Operand:
    """Positions along an axis, replaced by 0 if the axis has one element, which is then broadcast."""
    if is_several(length):
        return numbers
    zero = filled(0, s64, numbers.shape)
    return zero if is_one(length) else apply(p.select, spread(_equals_one(length), numbers.shape), zero, numbers)
