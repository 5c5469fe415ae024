"""Memory order (C, Fortran, strided) of NumPy's arrays, which decides whether a reshape is a view or a copy.

Values of a program have no such order: what a compiler does with them is its own affair. An array remembers the
strides that NumPy's has, in elements, wherever they are not those of C order; for those of the caller's, C order is
taken for granted while tracing, and looked at in the call where it matters.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

Shape = tuple[int, ...]


def c_order(shape: Shape) -> Shape:
    """The strides of elements that lie in C order."""
    return tuple([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])


def between_elements(shape: Shape, strides: Shape) -> tuple[int | None, ...]:
    """The strides that matter: those of axes longer than 1; the others become None."""
    return tuple([stride if size > 1 else None for size, stride in zip(shape, strides, strict=True)])


def is_contiguous(shape: Shape, strides: Shape | None, order: str = "C") -> bool:
    """Whether the elements are contiguous, in C order (``"C"``) or Fortran order (``"F"``).

    Parameters
    ----------
    shape : tuple of int
    strides : tuple of int or None
        In elements; None where NumPy would have copied.
    order : {"C", "F"}
    """
    if strides is None or 0 in shape:
        return True
    expected = c_order(shape) if order == "C" else c_order(shape[::-1])[::-1]
    return all(size == 1 or one == other for size, one, other in zip(shape, strides, expected, strict=True))


def of_copy(shape: Shape, strides: Shape | None) -> Shape | None:
    """The strides of a copy that keeps the memory order of its axes (``order="K"``); None for C order."""
    if is_contiguous(shape, strides):
        return None
    return _in_order(shape, np.empty_like(_stand_in(shape, strides)).strides)


def of_result(shape: Shape, inputs: Sequence[tuple[Shape, Shape | None]]) -> Shape | None:
    """The strides of an element-wise function's result, from those of its inputs; None for C order.

    Parameters
    ----------
    shape : tuple of int
        Of the result.
    inputs : sequence of (shape, strides)
    """
    if len(shape) < 2 or all(is_contiguous(*each) for each in inputs):
        return None
    stand_ins = [_stand_in(one, strides) for one, strides in inputs]
    flags = [["readonly"]] * len(stand_ins) + [["writeonly", "allocate"]]
    result = np.nditer([*stand_ins, None], ["zerosize_ok"], flags, order="K").operands[-1]
    return _in_order(shape, result.strides)


def of_function(
    function: Callable[..., np.ndarray], shape: Shape, inputs: Sequence[tuple[Shape, Shape | None]]
) -> Shape | None:
    """The strides of a NumPy function's result, found by calling it with small arrays; None for C order.

    Parameters
    ----------
    function : callable
        Of NumPy arrays, to one in whose order their sizes have no say.
    shape : tuple of int
        Of the result.
    inputs : sequence of (shape, strides)
    """
    if len(shape) < 2 or all(is_contiguous(*each) for each in inputs):
        return None
    return _in_order(shape, function(*[np.ones_like(_stand_in(*each)) for each in inputs]).strides)


def of_reduction(shape: Shape, strides: Shape, axes: Shape, keep_axes: bool) -> Shape | None:
    """The strides of the result of a reduction along axes; None for C order."""
    sizes = [1 if axis in axes else size for axis, size in enumerate(shape)]
    kept = [axis for axis in range(len(shape)) if keep_axes or axis not in axes]
    return of_copy(tuple([sizes[axis] for axis in kept]), tuple([strides[axis] for axis in kept]))


def of_picked(shape: Shape, strides: Shape, picked: Sequence[int], rank: int, position: int) -> Shape | None:
    """The strides of the result of indexing some axes with arrays; None for C order.

    Parameters
    ----------
    shape : tuple of int
        Of what is picked.
    strides : tuple of int
        Of the array.
    picked : sequence of int
        The axes that have indices.
    rank : int
        How many axes the indices have, which are the slowest in memory.
    position : int
        Before which of the axes that stay those come.
    """
    rest = [abs(stride) for axis, stride in enumerate(strides) if axis not in picked]
    far = max(rest, default=0) + 1
    return _in_order(shape, (*rest[:position], *range(far + rank, far, -1), *rest[position:]))


def of_order(shape: Shape, order: str, strides: Shape | None) -> Shape | None:
    """The strides of a new array for an ``order=`` of ``"C"``, ``"F"``, ``"A"`` or ``"K"``; None for C order."""
    if order == "K":
        return of_copy(shape, strides)
    return c_order(shape[::-1])[::-1] if is_fortran(shape, order, strides) and len(shape) > 1 else None


def is_fortran(shape: Shape, order: str, strides: Shape | None) -> bool:
    """Whether an ``order=`` means Fortran order for an array with these strides."""
    if order == "A":
        return not is_contiguous(shape, strides) and is_contiguous(shape, strides, "F")
    return order == "F"


def _stand_in(shape: Shape, strides: Shape | None) -> np.ndarray:
    """A small NumPy array whose axes have the same memory order, which is all that NumPy looks at."""
    if strides is None:
        strides = c_order(shape)
    small = tuple([min(size, 2) for size in shape])
    return np.lib.stride_tricks.as_strided(np.empty(1, np.int8), small, [abs(stride) for stride in strides])


def _in_order(shape: Shape, strides: Shape) -> Shape | None:
    """The strides of contiguous elements whose axes are ordered as the given strides order them."""
    ordered, step = [0] * len(shape), 1
    for axis in sorted(range(len(shape)), key=lambda axis: -strides[axis])[::-1]:
        ordered[axis], step = step, step * shape[axis]
    return None if is_contiguous(shape, tuple(ordered)) else tuple(ordered)


def reshaped(before: Shape, strides: Shape, after: Shape) -> Shape | None:
    """The strides of a reshaped view of the same memory; None if the reshape needs a copy.

    They are found group by group of axes with the same number of elements.
    """
    if 0 in before:
        return (0,) * len(after)
    old = [(size, stride) for size, stride in zip(before, strides, strict=True) if size != 1]
    result, position = [0] * len(after), 0
    while old:
        axis, stop, count = position, position + 1, after[position]
        size, taken = old[0][0], 1
        while count != size:
            if count < size:
                count *= after[stop]
                stop += 1
            else:
                size *= old[taken][0]
                taken += 1
        group, old = old[:taken], old[taken:]
        if any(one[1] != other[0] * other[1] for one, other in itertools.pairwise(group)):
            return None
        stride, position = group[-1][1], stop
        for k in reversed(range(axis, stop)):
            result[k], stride = stride, stride * after[k]
    return tuple(result)
