"""NumPy implementations of primitives that move, sort or accumulate elements; rules as in :mod:`.numpy`.

Indices outside of an axis are clamped to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.backends import numpy_primitives as elements
from nxkernel.backends.numpy_primitives import Meaning, settled, widened
from nxkernel.primitives import Primitive, Spec
from nxkernel.types import Type

#: Elements that windows may be copied to; beyond, what is in them is walked step by step.
MOST = 1 << 24


def view_windows(x: np.ndarray, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> np.ndarray:
    """The windows of an array as a view of its memory."""
    counts = shapes.windows(x.shape, window, strides, dilations)
    steps = [step * stride for step, stride in zip(x.strides, strides, strict=True)]
    inner = [step * dilation for step, dilation in zip(x.strides, dilations, strict=True)]
    return as_strided(x, (*counts, *window), (*steps, *inner), writeable=False)


def _windows(out: Spec, /, x: np.ndarray, *, window: Any, strides: Any, dilations: Any) -> np.ndarray:
    return settled(out, view_windows(x, window, strides, dilations))


# Indexing --------------------------------------------------------------------------------------------------------


def clamped(index: np.ndarray, size: int) -> np.ndarray:
    """Indices clamped to an axis of `size` elements."""
    # The size may be beyond the type of the indices, and only u64 has numbers beyond the type of places.
    if index.dtype == np.uint64:
        return np.minimum(index, np.uint64(max(size - 1, 0))).astype(np.int64)
    return np.clip(index.astype(np.int64), 0, size - 1)


def _key(x: np.ndarray, indices: Sequence[np.ndarray], axes: tuple[int, ...]) -> tuple[np.ndarray, tuple]:
    """The array with the indexed axes moved to the front, and the NumPy index that picks its elements."""
    rest = [axis for axis in range(x.ndim) if axis not in axes]
    moved = x.transpose(*axes, *rest)
    return moved, tuple(clamped(index, x.shape[axis]) for index, axis in zip(indices, axes, strict=True))


def _gather(out: Spec, /, x: np.ndarray, *indices: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    moved, key = _key(x, indices, axes)
    return settled(out, moved[key])


#: What joins elements and updates of one place, by the name of the primitive for two of them.
_JOINING = {"add": np.add, "multiply": np.multiply, "max": np.maximum, "min": np.minimum}


def _scatter(
    out: Spec, /, x: np.ndarray, updates: np.ndarray, *indices: np.ndarray, axes: tuple[int, ...], combine: str
) -> np.ndarray:
    result = x.copy() if combine == "put" else widened(x.copy())
    moved, key = _key(result, indices, axes)
    with np.errstate(all="ignore"):
        if combine == "put":
            moved[key] = updates
        else:
            _JOINING[combine].at(moved, key, widened(updates))
    return settled(out, result)


def _put_slice(out: Spec, /, x: np.ndarray, part: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    return _put_strided(out, x, part, *starts, strides=(1,) * x.ndim)


def _put_strided(
    out: Spec, /, x: np.ndarray, part: np.ndarray, *starts: np.ndarray, strides: tuple[int, ...]
) -> np.ndarray:
    result = x.copy()
    key = []
    for start, size, length, stride in zip(starts, x.shape, shapes.spans(part.shape, strides), strides, strict=True):
        first = min(max(int(start), 0), size - length)
        key.append(slice(first, first + length, stride))
    result[tuple(key)] = part
    return result


# Cumulative ------------------------------------------------------------------------------------------------------


def _cumulative(accumulate: Callable[..., Any]) -> Meaning:
    def meaning(out: Spec, /, x: np.ndarray, *, axis: int, reverse: bool, type: Type | None = None) -> np.ndarray:
        x = widened(x if type is None else x.astype(type.dtype))
        with np.errstate(all="ignore"):
            if not reverse:
                return settled(out, accumulate(x, axis=axis, dtype=x.dtype))
            return settled(out, np.flip(accumulate(np.flip(x, axis), axis=axis, dtype=x.dtype), axis))

    return meaning


# Sorting ---------------------------------------------------------------------------------------------------------


def _order(x: np.ndarray, axis: int, direction: str) -> np.ndarray:
    """The indices of a stable sort; descending order is that of the reversed array, reversed."""
    x = widened(x)
    if direction == "asc":
        return np.argsort(x, axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)


def _sort(out: Spec, /, x: np.ndarray, *, axis: int, direction: str) -> np.ndarray:
    return settled(out, np.take_along_axis(x, _order(x, axis, direction), axis))


def _argsort(out: Spec, /, x: np.ndarray, *, axis: int, direction: str, type: Type) -> np.ndarray:
    return settled(out, _order(x, axis, direction))


# Convolution -----------------------------------------------------------------------------------------------------


def _conv(
    out: Spec,
    /,
    x: np.ndarray,
    kernel: np.ndarray,
    *,
    padding: Any,
    strides: tuple[int, ...],
    input_dilation: tuple[int, ...],
    kernel_dilation: tuple[int, ...],
    feature_groups: int,
    batch_groups: int,
) -> np.ndarray:
    config = [(low, high, gap - 1) for (low, high), gap in zip(padding, input_dilation, strict=True)]
    spread = shapes.pad(x.shape, [(0, 0, 0), (0, 0, 0), *config])
    x = elements.padded(widened(x), np.zeros((), widened(x).dtype), spread, [(0, 0, 0), (0, 0, 0), *config])
    kernel = widened(kernel)
    around = (1, 1)
    views = view_windows(x, around + kernel.shape[2:], around + strides, around + kernel_dilation)
    count = len(strides)
    groups, batches = feature_groups, batch_groups
    window_shape = kernel.shape[2:]
    kernel = kernel.reshape(batches, groups, kernel.shape[0] // (groups * batches), *kernel.shape[1:])
    space, window = "uvwxyz"[:count], "UVWXYZ"[:count]
    # [batch groups, batch, groups, channels of a group, spatial...], and window...
    grouped = (batches, x.shape[0] // batches, groups, x.shape[1] // groups, *views.shape[2 : 2 + count])
    with np.errstate(all="ignore"):
        if views.size <= MOST:
            views = views.reshape(*grouped, *window_shape)
            return settled(
                out, np.einsum(f"bngc{space}{window},bgoc{window}->nbgo{space}", views, kernel, optimize=True)
            )
        # Windows that overlap much take many times the operand's memory: one element of each after the other.
        result = np.zeros((grouped[1], batches, groups, kernel.shape[2], *grouped[4:]), np.result_type(x, kernel))
        for position in np.ndindex(window_shape):
            part = views[(..., 0, 0, *position)].reshape(grouped)
            result += np.einsum(f"bngc{space},bgoc->nbgo{space}", part, kernel[(..., *position)], optimize=True)
    return settled(out, result)


# Folds -----------------------------------------------------------------------------------------------------------


MEANING: dict[Primitive, Meaning] = {
    p.windows: _windows,
    p.gather: _gather,
    p.scatter: _scatter,
    p.put_slice: _put_slice,
    p.put_strided: _put_strided,
    p.cumulative_sum: _cumulative(np.add.accumulate),
    p.cumulative_product: _cumulative(np.multiply.accumulate),
    p.cumulative_max: _cumulative(np.maximum.accumulate),
    p.cumulative_min: _cumulative(np.minimum.accumulate),
    p.sort: _sort,
    p.argsort: _argsort,
    p.conv: _conv,
}
