"""NumPy's functions that make arrays."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxValueError, message
from nxkernel.graph import values_of_call
from nxkernel.numpy.arrays import memory_order, subscripts
from nxkernel.numpy.arrays.array import Array, ArrayValue, Scalar, as_value, of_numpy, stacked, wrap
from nxkernel.numpy.arrays.casting import type_of
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice, sized
from nxkernel.numpy.arrays.masked_elements import MaskedElements, lifted
from nxkernel.numpy.arrays.subscripts import AxisRange, as_number
from nxkernel.numpy.base import integer_bounds
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions.inspection import is_of_no_numbers
from nxkernel.numpy.functions.joining import broadcast_arrays, stack
from nxkernel.numpy.functions.shaping import astype, moveaxis, sizes, without_gaps
from nxkernel.numpy.functions.shaping import copy as copied
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread, together
from nxkernel.shapes import Shape, unnamed
from nxkernel.types import Type, bool_, f64, s64, u64

__all__ = [
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "empty_like", "eye",
    "fromfunction", "fromiter", "full", "full_like", "geomspace", "identity", "indices", "linspace", "logspace",
    "meshgrid", "mgrid", "ogrid", "ones", "ones_like", "require", "tri", "tril", "tril_indices", "triu", "triu_indices",
    "vander", "zeros", "zeros_like",
]  # fmt: skip


def _made(value: Operand, order: str = "C") -> Array:
    """A new array with the elements of a value, also one without axes."""
    return Array.of(value, strides=memory_order.of_order(value.shape, order, None))


def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: str = "K", subok: bool = False, ndmin: int = 0,
    like: Any = None,
) -> Any:  # fmt: skip
    """A new array from numbers, nested lists or another array, as :func:`numpy.array`."""
    if is_of_no_numbers(object, dtype):
        return np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)  # pyright: ignore[reportCallIssue, reportArgumentType]
    object = as_value(object) if type(object) is np.ndarray and not copy else object
    if copy is False and not (isinstance(object, ArrayValue) and _is_of_type(object, dtype)):
        raise NxValueError(
            message(
                "array(copy=False) would have to copy, which NumPy refuses.", "np.asarray copies where that is needed."
            )
        )
    if not copy and isinstance(object, ArrayValue) and not object.is_scalar:
        result = asarray(object, dtype, order)
        return result[(None,) * (ndmin - result.ndim) + (...,)] if result.ndim < ndmin else result
    if isinstance(object, Scalar):
        result: Any = _made(operand(object))
    elif isinstance(object, ArrayValue):
        result = copied(object, order)
    elif type(object) is np.ndarray:
        result = copied(of_numpy(object), order)
    elif isinstance(object, list | tuple):
        result = _made(stacked(object))
    elif is_number(object):
        result = _made(_of_number(object, dtype, ()))
    elif (
        isinstance(object, Operand | Proxy | np.ndarray | np.generic)
        or hasattr(object, "__array__")
        or not np.iterable(object)
    ):
        result = _made(operand(object))
    else:
        result = _made(stacked(list(object)))
    if dtype is not None:
        result = astype(result, dtype)
    if order in ("C", "F") and not isinstance(object, ArrayValue):
        result = result.contiguous(order)
    return result[(None,) * (ndmin - result.ndim) + (...,)] if result.ndim < ndmin else result


def _is_of_type(value: ArrayValue, dtype: Any) -> bool:
    return dtype is None or type_of(dtype, value.type) is value.type


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    """An array unchanged, or one made from anything else, as :func:`numpy.asarray`."""
    if copy is False:
        return array(a, dtype, copy=False, order=order or "K")
    a = as_value(a) if type(a) is np.ndarray and not copy else a
    # A mask stays behind.
    a = getattr(a, "data", a) if hasattr(type(a), "by_ufunc") else a
    if isinstance(a, ArrayValue) and not copy and not (a.is_scalar and copy is None):
        result = a if dtype is None or type_of(dtype, a.type) is a.type else astype(a, dtype)
        return result.contiguous(order) if order in ("C", "F") and isinstance(result, Array) else result
    return array(a, dtype, order=order or "K")


def asanyarray(a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None,
               like: Any = None) -> Any:  # fmt: skip
    """An array, a masked one, too, as :func:`numpy.asanyarray`; what computes with arrays by itself stays as it is."""
    if getattr(type(a), "__array_ufunc__", a) is None:
        return a
    if hasattr(type(a), "by_ufunc"):
        return a if dtype is None else a.astype(dtype)
    return asarray(a, dtype, order, device=device, copy=copy, like=like)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """An array with at least one axis and its elements in C order, as :func:`numpy.ascontiguousarray`."""
    result = asarray(a, dtype, "C")
    return without_gaps(result) if isinstance(result, DynamicSlice) else _at_least_1d(result)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """An array with at least one axis and its elements in Fortran order, as :func:`numpy.asfortranarray`."""
    return _at_least_1d(asarray(a, dtype, "F"))


def _at_least_1d(value: Any) -> Any:
    return value if value.ndim else value.reshape(1)


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """An array that meets requirements on its type and memory, as :func:`numpy.require`."""
    wanted = {one.upper()[0] for one in requirements or ()}
    result = asarray(a, dtype, "F" if "F" in wanted else "C" if "C" in wanted else None)
    is_view = isinstance(result, Array) and (result.steps or result.root.cell.shared)
    return copied(result) if ("O" in wanted and is_view) or ("W" in wanted and not result.writeable) else result


def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None
) -> Any:
    """One value in every element, as :func:`numpy.full`."""
    most, stretches = _bounded(shape)
    if any(stretches):
        return sized(DynamicSlice(full(most, fill_value, dtype), stretches))
    wanted = sizes(most)
    if any(size < 0 for size in wanted):
        raise NxValueError("negative dimensions are not allowed")
    if is_number(fill_value):
        return _made(_of_number(fill_value, dtype, wanted), order)
    value = as_value(fill_value)
    result = _made(filled(0, type_of(dtype, value.type), wanted), order)
    result[...] = value
    return result


def _of_number(number: Any, dtype: Any, shape: Shape) -> Operand:
    """A Python number in every element; what 64 bits with a sign cannot hold is u64, as in NumPy."""
    if dtype is not None:
        type_ = type_of(dtype, f64)
    else:
        type_ = u64 if type(number) is int and number > types.limits(s64)[1] else types.infer(number)
    if type(number) is int and type_.is_integer and type_ is not bool_:
        types.refuse_outside(type_, number, "NumPy refuses it, too: give another dtype.")
    return filled(number, type_, shape)


def _bounded(shape: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The shape with each traced size replaced by its upper bound, and the parts that count; None for known sizes."""
    most, stretches = [], []
    for size in subscripts.parts(shape):
        is_traced = _known(size) is None and isinstance(size, Operand | Proxy)
        low, high = integer_bounds.interval(operand(size)) if is_traced else (None, None)
        is_bounded = low is not None and low >= 0 and high is not None
        most.append(high if is_bounded else size)
        stretches.append(AxisRange(0, operand(size)) if is_bounded else None)
    return tuple(most), tuple(stretches)


def zeros(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """Zeros, as :func:`numpy.zeros`."""
    return full(shape, 0, f64 if dtype is None else dtype, order)


def ones(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """Ones, as :func:`numpy.ones`."""
    return full(shape, 1, f64 if dtype is None else dtype, order)


def empty(shape: Any, dtype: Any = None, order: str = "C", *, device: Any = None, like: Any = None) -> Any:
    """Zeros, where :func:`numpy.empty` leaves elements as they are in memory."""
    return zeros(shape, dtype, order)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Any:  # fmt: skip
    """One value in every element, in the shape and type of an array, as :func:`numpy.full_like`."""
    value = as_value(a)
    type_ = type_of(dtype, value.type)
    if (hasattr(type(value), "stretched") or isinstance(value, MaskedElements)) and shape is None:
        return lifted(lambda one: full(one.shape, fill_value, type_), [value])
    result = full(value.shape if shape is None else shape, fill_value, type_)
    if isinstance(value, Array) and isinstance(result, Array) and result.shape == value.shape:
        strides = memory_order.of_order(value.shape, order, value.strides_in_memory)
        result.laid_out_as([value] if order in ("A", "K") else [], strides)
    return result


def zeros_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Zeros in the shape and type of an array, as :func:`numpy.zeros_like`."""
    return full_like(a, 0, dtype, order, shape=shape)


def ones_like(
    a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Ones in the shape and type of an array, as :func:`numpy.ones_like`."""
    return full_like(a, 1, dtype, order, shape=shape)


def empty_like(
    prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """As :func:`zeros_like`, where :func:`numpy.empty_like` leaves elements as they are in memory."""
    return full_like(prototype, 0, dtype, order, shape=shape)


def _counting(count: int, type_: Type) -> Operand:
    return apply(p.iota, type=type_, shape=(count,), names=(None,), axis=0)


def arange(
    start: Any, stop: Any = None, step: Any = None, dtype: Any = None, *, device: Any = None, like: Any = None
) -> Any:
    """Evenly spaced values, as :func:`numpy.arange`; their number must be known while tracing."""
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    bounds = [_known(value) for value in (start, stop, step)]
    if any(value is None for value in bounds):
        return _moving_range(start, stop, step, dtype)
    first, last, by = bounds
    # Each has to be in its type, which their sum may leave.
    for bound in bounds:
        types.infer(bound)
    natural = types.infer(type(first + last + by)())
    type_ = type_of(dtype, natural)
    count = max(math.ceil((last - first) / by), 0)
    if natural is s64:
        whole = _counting(count, s64)
        whole = apply(p.multiply, whole, filled(by, s64, (count,))) if by != 1 else whole
        whole = apply(p.add, whole, filled(first, s64, (count,))) if first else whole
        return _made(convert(whole, type_))
    # NumPy adds multiples of the distance between the first two numbers, which are of the result's type.
    start, second = np.array([first, first + by]).astype(type_.dtype)
    result = apply(p.multiply, _counting(count, type_), filled(second - start, type_, (count,)))
    return _made(apply(p.add, result, filled(start, type_, (count,))))


def _known(value: Any) -> Any:
    if is_number(value):
        return value
    if isinstance(value, np.generic):
        return value.item()
    return subscripts.known_number(value) if isinstance(value, Operand | Proxy) else None


def _moving_range(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    """Evenly spaced values of which the first is traced, or whose number is traced and bounded."""
    if step == 1:
        low, high = (value if isinstance(value, int) else operand(as_value(value)) for value in (start, stop))
        apart = integer_bounds.difference(high, low)
        if apart is not None:
            return e.add(arange(max(apart, 0)), start).astype(dtype or np.int64)
        most = integer_bounds.interval(high)[1]
        first = integer_bounds.interval(low)[0]
        if most is not None and first is not None:
            length = apply(p.subtract, as_number(high), as_number(low))
            if integer_bounds.interval(length)[0] is None or integer_bounds.interval(length)[0] < 0:
                length = apply(p.maximum, length, as_number(0))
            numbers = arange(first, max(most, first), dtype=dtype)
            offset = low - first if isinstance(low, int) else apply(p.subtract, as_number(low), as_number(first))
            return sized(DynamicSlice(numbers, (AxisRange(offset, length),)))
    sum_ = as_value(e.add(e.add(start, step), stop))
    if sum_.type.is_integer:
        known = [value if _known(value) is not None else values_of_call.number(value) for value in (start, stop, step)]
        if None not in known:
            return arange(*known, dtype=dtype)
    else:
        count = values_of_call.number(operand(e.ceil(e.divide(e.subtract(stop, start), step)).astype(np.int64)))
        if count is not None:
            type_ = type_of(dtype, sum_.type).dtype
            first = as_value(start).astype(type_)
            apart = e.subtract(e.add(start, step).astype(type_), first)
            return e.add(e.multiply(arange(max(count, 0)).astype(type_), apart), first)
    raise subscripts.needed(
        next(value for value in (stop, start, step) if _known(value) is None),
        "arange with traced bounds gives as many numbers as only the running program knows.",
        "np.arange(n) with the greatest n, and a mask: np.where(k < count, x, 0).",
    )


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """Evenly spaced values between two bounds, as :func:`numpy.linspace`."""
    num = subscripts.static(num)
    parts_of = (num - 1) if endpoint else num
    ends = [end if is_number(end) else operand(as_value(end)) for end in (start, stop)]
    type_ = types.to_floating(together(*ends)[2])
    start, stop = (as_value(end).astype(type_) for end in ends)
    apart = e.subtract(stop, start)
    index = as_value(_made(_counting(num, s64)))[(slice(None), *[None] * max(start.ndim, stop.ndim))].astype(
        apart.dtype
    )
    step = e.divide(apart, parts_of) if parts_of > 0 else e.multiply(apart, math.nan)
    if parts_of > 0:
        result = e.add(e.multiply(index, step), start)
    else:
        result = e.add(e.multiply(index, apart), start)
    if endpoint and num > 1:
        result[-1] = stop
    if dtype is not None and type_of(dtype, result.type).is_integer and type_of(dtype, result.type) is not bool_:
        result = e.floor(result)
    result = result if dtype is None else result.astype(dtype)
    result = moveaxis(result, 0, axis) if axis else result
    return (result, step) if retstep else result


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """Values evenly spaced on a logarithmic scale, as :func:`numpy.logspace`."""
    result = e.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return result if dtype is None else result.astype(dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """A geometric sequence between two positive bounds, as :func:`numpy.geomspace`."""
    first, last = as_value(start), as_value(stop)
    # As wide as its bounds and what it is to become together, and f64 where nothing is said.
    type_ = functools.reduce(types.merge, [first.type, last.type, type_of(dtype, types.f64)])
    first, last = (bound.astype((types.f64 if type_.is_integer else type_).dtype) for bound in (first, last))
    result = e.multiply(logspace(0.0, e.log10(e.divide(last, first)), num, endpoint), first)
    if num:
        result[0] = first
    if endpoint and num > 1:
        result[-1] = last
    return moveaxis(result.astype(type_of(dtype, type_).dtype), 0, axis)


def _places(rows: int, columns: int) -> tuple[Operand, Operand]:
    shape = (rows, columns)
    return tuple(apply(p.iota, type=s64, shape=shape, names=unnamed(shape), axis=axis) for axis in (0, 1))


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, order: str = "C", *, device: Any = None,  # noqa: N803
    like: Any = None,
) -> Any:  # fmt: skip
    """Ones on a diagonal, as :func:`numpy.eye`."""
    rows, columns = _places(*sizes((N, N if M is None else M)))
    # Beyond the matrix, any place is as good as another.
    k = max(-(1 << 62), min(subscripts.static(k), 1 << 62))
    on_it = apply(p.equal, apply(p.subtract, columns, rows), filled(k, s64, rows.shape))
    return _made(convert(on_it, type_of(dtype, f64)), order)


def identity(n: int, dtype: Any = None, *, like: Any = None) -> Any:
    """Ones on the diagonal of a square matrix, as :func:`numpy.identity`."""
    return eye(n, dtype=dtype)


def _lower(rows: int, columns: int, k: int) -> Operand:
    down, right = _places(rows, columns)
    return apply(p.less_equal, apply(p.subtract, right, down), filled(k, s64, down.shape))


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None, *, like: Any = None) -> Any:  # noqa: N803
    """Ones on and below a diagonal, as :func:`numpy.tri`."""
    return _made(convert(_lower(*sizes((N, N if M is None else M)), k), type_of(dtype, f64)))


def _triangle(m: Any, k: int, lower: bool) -> Any:
    value = as_value(m)
    if value.ndim < 2:
        value = value[None, :] + zeros((value.size, 1), value.dtype)
    mask = _lower(*value.shape[-2:], k)
    mask = mask if lower else apply(p.logical_not, mask)
    zero = filled(0, value.type, value.shape)

    return wrap(apply(p.select, spread(mask, value.shape), operand(value), zero), wrap(mask), value)


def tril(m: Any, k: int = 0) -> Any:
    """The lower triangle, with zeros above, as :func:`numpy.tril`."""
    return _triangle(m, k, True)


def triu(m: Any, k: int = 0) -> Any:
    """The upper triangle, with zeros below, as :func:`numpy.triu`."""
    return _triangle(m, k - 1, False)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """The indices of the lower triangle, as :func:`numpy.tril_indices`."""
    return tuple(array(side) for side in np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """The indices of the upper triangle, as :func:`numpy.triu_indices`."""
    return tuple(array(side) for side in np.triu_indices(n, k, m))


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """The coordinates of a grid, as :func:`numpy.meshgrid`."""
    values = [as_value(x).ravel() for x in xi]
    rank = len(values)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = [1, 0]
    grids = [
        value[tuple(slice(None) if k == axis else None for k in range(rank))]
        for value, axis in zip(values, order, strict=True)
    ]
    result = grids if sparse else broadcast_arrays(*grids)
    return tuple([grid.copy() for grid in result] if copy else result)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The index of each element along each axis, as :func:`numpy.indices`."""
    wanted, type_ = sizes(tuple(dimensions)), type_of(dtype, s64)
    if sparse:
        return tuple(
            _made(apply(p.iota, type=type_, shape=(n,), names=(None,), axis=0)).reshape(
                tuple(n if k == axis else 1 for k in range(len(wanted)))
            )
            for axis, n in enumerate(wanted)
        )
    grids = [
        wrap(apply(p.iota, type=type_, shape=wanted, names=unnamed(wanted), axis=axis)) for axis in range(len(wanted))
    ]
    return stack(grids)


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **options: Any) -> Any:
    """A function applied to the indices of all elements, as :func:`numpy.fromfunction`."""
    return function(*indices(shape, dtype=dtype), **options)


def fromiter(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """The elements of an iterable as an array along one axis, as :func:`numpy.fromiter`."""
    values = list(iter if count < 0 else itertools.islice(iter, count))
    if len(values) < count:
        raise NxValueError(f"fromiter: the iterable has {len(values)} elements, {count} are asked for")
    return array(values, dtype) if values else zeros(0, dtype)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:  # noqa: N803 - NumPy's name
    """The Vandermonde matrix of a vector, as :func:`numpy.vander`."""
    value = as_value(x)
    count = value.shape[0] if N is None else N
    exponents = np.arange(count) if increasing else np.arange(count)[::-1]
    return e.power(value[:, None], exponents[None, :].copy())


def _known_slice(entry: slice) -> slice:
    """A slice whose bounds are known while tracing."""
    ends = (entry.start, entry.stop, entry.step)
    return slice(*[subscripts.static(end) if isinstance(end, Operand | Proxy) else end for end in ends])


def _line(entry: slice) -> Any:
    """The numbers of a slice with traced bounds; an imaginary step says how many there are."""
    start = 0 if entry.start is None else entry.start
    step = _known(entry.step) if entry.step is not None else 1
    if not isinstance(step, complex):
        return arange(start, entry.stop, entry.step)
    count = int(abs(step))
    apart = e.divide(e.subtract(entry.stop, start), float(max(count - 1, 1)))
    return e.add(e.multiply(arange(count).astype(apart.dtype), apart), start)


def _number(bound: Any) -> Any:
    """A bound or step of a slice; the number that an imaginary one counts."""
    return abs(bound) if isinstance(bound, complex) else bound


class _Grid:
    """The objects ``np.mgrid`` and ``np.ogrid``: ``np.mgrid[0:3, 0:4]`` gives the coordinates of a grid."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        if any(_known(end) is None for one in slices for end in (one.start, one.stop, one.step) if end is not None):
            lines = list(map(_line, slices))
            if not isinstance(key, tuple):
                return lines[0]
            if any(hasattr(type(line), "stretched") for line in lines):
                return self._moving(lines)
            ends = [_number(end) for one in slices for end in (one.start, one.stop, one.step) if end is not None]
            type_ = as_value(sum(ends)).dtype
            parts = meshgrid(*[line.astype(type_) for line in lines], indexing="ij", sparse=self.sparse)
            return tuple(parts) if self.sparse else stack(parts)
        entries = tuple(map(_known_slice, key)) if isinstance(key, tuple) else _known_slice(key)
        grid = (np.ogrid if self.sparse else np.mgrid)[entries]
        return tuple(array(part) for part in grid) if isinstance(grid, tuple | list) else array(grid)

    def _moving(self, lines: list[Any]) -> tuple[Any, ...]:
        """A grid with traced bounds."""
        apart = [
            line[tuple(slice(None) if k == axis else None for k in range(len(lines)))]
            for axis, line in enumerate(lines)
        ]
        if self.sparse:
            return tuple(apart)
        zero = e.multiply(functools.reduce(e.add, apart), 0)
        return tuple([e.add(zero, line) for line in apart])


mgrid, ogrid = _Grid(False), _Grid(True)
