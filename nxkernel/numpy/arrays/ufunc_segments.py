"""``ufunc.reduceat``: an array reduced between places that are known while tracing."""

from __future__ import annotations

from typing import Any

from nxkernel import primitives as p
from nxkernel.errors import NxIndexError, NxTypeError, message
from nxkernel.numpy.arrays import subscripts
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value, wrap
from nxkernel.numpy.arrays.casting import cast
from nxkernel.ops.machinery.dispatch import apply, operand
from nxkernel.shapes import axes_of

#: With more parts of different lengths a program is too long.
_MOST = 256


def reduced(ufunc: Any, array: Any, indices: Any, axis: int, dtype: Any) -> ArrayValue:
    """The array reduced from each place to the next one, or its element there where the next one is no later.

    Parameters
    ----------
    ufunc : Ufunc
    array, indices : array
    axis : int
    dtype : data type or None
        As for ``reduce``.

    Raises
    ------
    NxTypeError
        Where only the running program knows the places, or there are many parts of different lengths.
    NxIndexError
        For a place outside of the axis.
    """
    value, places = as_value(array), as_value(indices)
    name = f"{ufunc.__name__}.reduceat"
    found = subscripts.known_elements(places) if isinstance(places, Array) and isinstance(value, Array) else None
    if found is None:
        raise NxTypeError(
            message(
                f"{name} takes places that are known while tracing, and only the running program knows these.",
                "Give them as numbers, a list or an np.arange; or write the loop over the parts.",
            )
        )
    (along,) = axes_of(axis, value.ndim)
    size, before = value.shape[along], (slice(None),) * along
    for place in found.tolist():
        if not 0 <= place < size:
            raise NxIndexError(f"{name}: {place} is no place in an axis of {size} elements")
    ends = [*found.tolist()[1:], size]
    parts = list(zip(found.tolist(), ends, strict=True))
    pieces = []
    first, alike = _alike(parts)
    if alike > 1:
        step = parts[0][1] - first
        whole = value[(*before, slice(first, first + alike * step))]
        rows = whole.reshape((*value.shape[:along], alike, step, *value.shape[along + 1 :]))
        pieces.append(ufunc.reduce(rows, axis=along + 1, dtype=dtype))
        parts = parts[alike:]
    if len(parts) > _MOST:
        raise NxTypeError(
            message(f"{name} of {len(parts)} parts of different lengths is too long.", "Write the loop over the parts.")
        )
    for begin, end in parts:
        piece = value[(*before, slice(begin, max(end, begin + 1)))]
        pieces.append(ufunc.reduce(piece, axis=along, dtype=dtype, keepdims=True))
    operands = [operand(piece) for piece in pieces]
    operands = [cast(one, operands[0].type) for one in operands]
    return wrap(operands[0] if len(operands) == 1 else apply(p.concatenate, *operands, axis=along))


def _alike(parts: list[tuple[int, int]]) -> tuple[int, int]:
    """Where the first part begins, and how many parts from it on are as long as it."""
    if not parts:
        return 0, 0
    (first, end), count = parts[0], 0
    for begin, stop in parts:
        if stop - begin != end - first or stop <= begin:
            break
        count += 1
    return first, count
