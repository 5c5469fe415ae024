"""NumPy's index tricks: ``ix_``, ``r_`` and ``c_``, ``ndenumerate``, ``unravel_index``, ``apply_along_axis``."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import Expr
from nxkernel.numpy.arrays.array import ArrayValue, Scalar, as_value, of_numpy, wrap
from nxkernel.numpy.arrays.views import Windows
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.creation import arange, linspace, vander, zeros
from nxkernel.numpy.functions.joining import concatenate, stack
from nxkernel.numpy.functions.selection import within
from nxkernel.numpy.functions.shaping import as_array, moveaxis, sizes
from nxkernel.numpy.functions.ufunc import finished
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread, together
from nxkernel.ops.programs.control_flow import run_while
from nxkernel.shapes import broadcast_shapes
from nxkernel.types import Type

__all__ = [
    "apply_along_axis", "apply_over_axes", "as_strided", "c_", "diag_indices", "gcd", "index_exp", "ix_", "lcm",
    "ndenumerate", "ndindex", "polyfit", "r_", "ravel_multi_index", "roots", "s_", "sliding_window_view",
    "unravel_index",
]  # fmt: skip

s_, index_exp, ndindex = np.s_, np.index_exp, np.ndindex


class _Joined:
    """The objects ``np.r_`` and ``np.c_``: ``np.r_[...]`` joins arrays, numbers and ranges."""

    def __init__(self, columns: bool) -> None:
        self.columns = columns

    def __getitem__(self, key: Any) -> Any:
        entries = key if isinstance(key, tuple) else (key,)
        parts = _in_one_type(entries, [_part(entry) for entry in entries])
        if self.columns:
            return concatenate([part[:, None] if part.ndim == 1 else part for part in parts], axis=-1)
        return concatenate(parts, axis=-1 if max(part.ndim for part in parts) == 1 else 0)


def _in_one_type(entries: tuple, parts: list[ArrayValue]) -> list[ArrayValue]:
    """The parts converted to their common type, in which Python numbers are weak."""
    kinds: tuple[list[Type], list[Type]] = [], []
    for entry, part in zip(entries, parts, strict=True):
        number = is_number(entry) or (isinstance(entry, Scalar) and tracing.weak(entry.node))
        kinds[number or (type(entry) is Expr and tracing.weak(entry))].append(part.type)
    strong, weak = kinds
    if not strong:
        return parts
    type_ = functools.reduce(types.merge_weak, weak, functools.reduce(types.merge, strong))
    return [part.astype(type_.dtype) for part in parts]


def _part(entry: Any) -> ArrayValue:
    if isinstance(entry, str):
        raise NxTypeError(message("np.r_ and np.c_ take no text.", "np.concatenate has axis=, np.stack a new one."))
    if not isinstance(entry, slice):
        return as_array(entry).reshape(-1) if not as_value(entry).ndim else as_value(entry)
    if isinstance(entry.step, complex):
        return linspace(entry.start or 0, entry.stop, int(abs(entry.step)))
    return arange(entry.start or 0, entry.stop, entry.step)


r_, c_ = _Joined(False), _Joined(True)


def ix_(*args: Any) -> tuple[Any, ...]:
    """Index arrays for an open mesh, as :func:`numpy.ix_`."""
    return tuple(
        _indices(one)[tuple(slice(None) if k == axis else None for k in range(len(args)))]
        for axis, one in enumerate(args)
    )


def _indices(one: Any) -> ArrayValue:
    """Index arrays unchanged; a mask that is known while tracing as the indices where it holds."""
    value = as_value(one)
    if value.dtype != np.bool_:
        return value
    if tracing.current() is None:
        return of_numpy(np.flatnonzero(np.asarray(operand(value))))
    if isinstance(one, list | tuple | np.ndarray) and all(isinstance(each, bool | np.bool_) for each in one):
        return as_value(np.flatnonzero(one))
    raise NxTypeError(
        message(
            "np.ix_() of a mask gives indices whose number only the running program knows.",
            "Masked, the shape stays: np.where(rows[:, None] & columns, x, 0). Or pass np.flatnonzero(mask) in.",
        )
    )


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Pairs of index and element, as :class:`numpy.ndenumerate`."""
    value = as_value(arr)
    return ((index, value[index]) for index in np.ndindex(*value.shape))


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The indices of the main diagonal, as :func:`numpy.diag_indices`."""
    return (arange(n),) * ndim


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """Flat indices as one index array for each axis, as :func:`numpy.unravel_index`."""
    rest, result = as_value(indices), []
    # The last axis changes fastest, or in Fortran order the first one.
    direction = slice(None, None, -1 if order == "C" else 1)
    for size in sizes(shape)[direction]:
        result.append(e.mod(rest, size))
        rest = e.floor_divide(rest, size)
    return tuple(result[direction])


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """One index array for each axis as flat indices, as :func:`numpy.ravel_multi_index`."""
    shape, result = sizes(dims), 0
    modes = mode if isinstance(mode, tuple) else (mode,) * len(shape)
    for axis, (indices, how) in enumerate(zip(multi_index, modes, strict=True)):
        apart = math.prod(shape[axis + 1 :] if order == "C" else shape[:axis])
        result = e.add(result, e.multiply(within(indices, shape[axis], how), apart))
    return result


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a function to each 1-d slice along an axis, as :func:`numpy.apply_along_axis`; unrolled while tracing."""
    lines = moveaxis(as_array(arr), axis, -1)
    outer = lines.shape[:-1]
    if 0 in outer:
        raise NxValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    results = [as_value(func1d(lines[place], *args, **kwargs)) for place in np.ndindex(*outer)]
    inner = results[0].shape
    whole = stack(results).reshape((*outer, *inner))
    place = axis % lines.ndim
    for k in range(len(inner)):
        whole = moveaxis(whole, len(outer) + k, place + k)
    return whole


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """Apply a reduction over several axes in turn, keeping them, as :func:`numpy.apply_over_axes`."""
    value = as_value(a)
    for axis in sizes(axes):
        result = func(value, axis)
        value = result if result.ndim == value.ndim else result[(*(slice(None),) * (axis % value.ndim), None)]
    return value


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None, **options: Any) -> Any:
    """All windows of a size, read-only, as :func:`numpy.lib.stride_tricks.sliding_window_view`."""
    value = as_array(x)
    lengths = sizes(window_shape)
    axes = [k % value.ndim for k in (range(value.ndim) if axis is None else sizes(axis))]
    for position, length in zip(axes, lengths, strict=True):
        if length > value.shape[position]:
            raise NxValueError(f"a window of {length} elements in an axis of {value.shape[position]}")
        value = value.through(Windows(value.shape, position, length))
    if options.get("writeable"):
        raise NxTypeError(message("windows overlap: they cannot be assigned into.", "Assign into the array itself."))
    return value


def as_strided(x: Any, shape: Any = None, strides: Any = None, subok: Any = False, writeable: bool = True) -> Any:
    """An array with other strides, as :func:`numpy.lib.stride_tricks.as_strided`; a copy, which is read-only.

    The array lies in C order, and what is seen of it is within it.
    """
    value = as_array(x)
    shape = value.shape if shape is None else sizes(shape)
    size = value.type.dtype.itemsize
    steps = value.strides if strides is None else sizes(strides)
    if not value.flags.c_contiguous:
        raise NxTypeError(message("as_strided takes an array in C order.", "Make it one: np.ascontiguousarray(x)."))
    far = sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    if any(step < 0 or step % size for step in steps) or far >= max(value.size, 1) * size:
        raise NxValueError(f"as_strided: strides of {tuple(steps)} bytes lead out of an array of {value.size} elements")
    places: Any = 0
    for axis, (n, step) in enumerate(zip(shape, steps, strict=True)):
        line = arange(n) * (step // size)
        places = line[(slice(None), *[None] * (len(shape) - 1 - axis))] + places
    result = value.reshape(-1)[places if shape else 0]
    if shape:
        # It is a copy, which writing would show.
        result.writeable = False
    return result


def _linalg() -> Any:
    from nxkernel.numpy import linalg

    return linalg


def polyfit(
    x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:  # fmt: skip
    """The least-squares polynomial through points, as :func:`numpy.polyfit`."""
    if full:
        raise NxTypeError(message("polyfit(full=True) has results whose sizes depend on values.", "Leave it out."))
    columns, heights = vander(e.add(x, 0.0), deg + 1), e.add(y, 0.0)
    if w is not None:
        weights = e.add(w, 0.0)
        columns = e.multiply(columns, weights[:, None])
        heights = e.multiply(heights, weights[:, None] if heights.ndim > 1 else weights)
    scale = e.sqrt(reductions.sum(e.square(columns), axis=0))
    columns = e.divide(columns, scale)
    result = _linalg().lstsq(columns, heights, rcond)[0]
    fitted = e.divide(result.T, scale).T
    if not cov:
        return fitted
    base = e.divide(_linalg().inv(columns.T @ columns), scale[:, None] * scale[None, :])
    if cov != "unscaled":
        left = reductions.sum(e.square(e.subtract(heights, columns @ result)), axis=0)
        base = (base if heights.ndim == 1 else base[:, :, None]) * (left / (columns.shape[0] - deg - 1))
    return fitted, base


def roots(p: Any) -> ArrayValue:
    """Where a polynomial is zero, as :func:`numpy.roots`, for one whose first coefficient is not 0; complex always.

    How many there are, and whether they are real, depends on values in NumPy.
    """
    value = as_array(p)
    if value.ndim != 1:
        raise NxValueError(f"roots: expected coefficients along one axis, got the shape {value.shape}")
    if value.size < 2:
        return zeros(0, complex)
    first = e.divide(e.negative(value[1:]), value[0])
    below = np.eye(value.size - 1, k=-1)[1:].astype(first.dtype)
    return _linalg().eigvals(concatenate([first[None, :], below], axis=0))


def gcd(x1: Any, x2: Any, out: Any = None, *, where: Any = True) -> Any:
    """The greatest common divisor, as :func:`numpy.gcd`, by Euclid's algorithm on all elements at once."""
    return finished(_gcd(x1, x2), out, where, "gcd")


def _gcd(x1: Any, x2: Any) -> ArrayValue:
    left, right, type_ = together(*[v if isinstance(v, int) else operand(as_value(v)) for v in (x1, x2)])
    if not type_.is_integer:
        raise NxTypeError(message(f"gcd takes integers, got {type_}.", "x.astype(np.int64) cuts fractions off."))
    shape = broadcast_shapes(left.shape, right.shape)
    left, right = (spread(e.absolute.on_operands(convert(side, type_)), shape) for side in (left, right))

    def unfinished(state: list[Operand]) -> Operand:
        rest = apply(p.not_equal, state[1], filled(0, type_, shape))
        return apply(p.any_, rest, axes=tuple(range(len(shape))), keep_axes=False)

    def turn(state: list[Operand]) -> list[Operand]:
        one, other = state
        done = apply(p.equal, other, filled(0, type_, shape))
        rest = apply(p.remainder, one, apply(p.select, done, filled(1, type_, shape), other))
        return [apply(p.select, done, one, other), apply(p.select, done, other, rest)]

    if tracing.current() is None:
        while operand(unfinished([left, right])).to_number():
            left, right = turn([left, right])
        return wrap(left)
    return wrap(run_while([left, right], unfinished, turn, ["one", "other"])[0])


def lcm(x1: Any, x2: Any, out: Any = None, *, where: Any = True) -> Any:
    """The least common multiple, as :func:`numpy.lcm`."""
    divisor = e.maximum(_gcd(x1, x2), 1)
    one, other = (e.absolute(as_value(x).astype(divisor.type.dtype)) for x in (x1, x2))
    return e.multiply(e.floor_divide(one, divisor), other, out=out, where=where)


def ndarray(
    shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None, order: Any = None
) -> Any:
    """An array of zeros, where :class:`numpy.ndarray` leaves elements as they are in memory."""
    if buffer is not None or offset or strides is not None:
        raise NxTypeError(
            message(
                "np.ndarray() shows no memory of another array here.",
                "x.reshape(shape), x[offset:] and np.lib.stride_tricks.sliding_window_view show parts of one.",
            )
        )
    return zeros(shape, dtype, order or "C")


def nditer(*args: Any, **options: Any) -> NoReturn:
    """Refused: :class:`numpy.nditer` iterates over the memory of NumPy arrays.

    Raises
    ------
    NxTypeError
    """
    raise NxTypeError(
        message(
            "np.nditer() goes through elements in Python, and shows each where NumPy has it in memory.",
            "`for x in a.flat` goes through values, and `for k in np.ndindex(a.shape)` through indices, for a[k] = ...",
        )
    )
