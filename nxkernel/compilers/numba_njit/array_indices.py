"""Places in memory as indices of arrays: from offsets and steps in elements to ``x[i + 1, 2 * j]``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from nxkernel.compilers.analysis.index_maps import row_strides
from nxkernel.compilers.display.operation_text import term


class IndexTerm(NamedTuple):
    """A summand of a place: an index from 0 to `most`, times a step in elements.

    Parameters
    ----------
    text : str
        What the index is called.
    most : int
        Its greatest value.
    step : int
    """

    text: str
    most: int
    step: int


def indices(shape: Sequence[int], fixed: int, terms: Sequence[IndexTerm]) -> list[str] | None:
    """One index for each axis of an array in C order; None where the place leaves an axis on its way.

    Parameters
    ----------
    shape : sequence of int
        Of the array.
    fixed : int
        Elements from its beginning.
    terms : sequence of IndexTerm
        How much further.

    Examples
    --------
    >>> indices((4, 10), 11, [IndexTerm("i", 2, 10), IndexTerm("j", 7, 1)])
    ['i + 1', 'j + 1']
    >>> indices((4, 10), 0, [IndexTerm("i", 39, 1)]) is None
    True
    """
    strides = row_strides(shape)
    offsets, parts = [0] * len(shape), [list[tuple[str, int, int]]() for _ in shape]
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        if size != 1:
            offsets[axis], fixed = divmod(fixed, stride)
    for text, most, step in terms:
        for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
            times = abs(step) // stride * (1 if step > 0 else -1) if size != 1 else 0
            if times and most:
                parts[axis].append((text, most, times))
                step -= times * stride
        if step and most:
            return None
    if fixed:
        return None
    for size, offset, own in zip(shape, offsets, parts, strict=True):
        least = offset + sum(min(times, 0) * most for _, most, times in own)
        greatest = offset + sum(max(times, 0) * most for _, most, times in own)
        if least < 0 or greatest >= max(size, 1):
            return None
    return [_sum(offset, own) for offset, own in zip(offsets, parts, strict=True)]


def flat_index(fixed: int, terms: Sequence[IndexTerm], further: Sequence[str] = ()) -> str:
    """The place as an index of the array seen as one axis.

    Parameters
    ----------
    fixed : int
        Elements from its beginning.
    terms : sequence of IndexTerm
        How much further.
    further : sequence of str
        Expressions of how much further still.
    """
    text = _sum(fixed, [(text, most, step) for text, most, step in terms if step and most])
    more = [term(each) for each in further]
    return " + ".join([text, *more] if text != "0" or not more else more)


def _sum(fixed: int, parts: Sequence[tuple[str, int, int]]) -> str:
    """The text of a sum whose summands are indices times numbers, the positive ones first."""
    text = ""
    for name, _, times in sorted(parts, key=lambda part: part[2] < 0):
        own = name if abs(times) == 1 else f"{abs(times)} * {term(name)}"
        if times < 0 and not text:
            # An index of a loop on threads is unsigned: nothing is subtracted from 0.
            text, fixed = str(fixed), 0
        text = f"{text} {'-' if times < 0 else '+'} {own}" if text else own
    if not text:
        return str(fixed)
    return f"{text} {'-' if fixed < 0 else '+'} {abs(fixed)}" if fixed else text
