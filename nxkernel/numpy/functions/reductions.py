"""NumPy's reductions: sums, extremes, averages and their like, along axes or all, with ``where=`` and without NaN."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.numpy.arrays import casting, dynamic_slices, masked_elements, memory_order
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value, holds_traced, in_order_of, wrap
from nxkernel.numpy.arrays.casting import cast, type_of
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice
from nxkernel.numpy.arrays.masked_elements import MaskedElements
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions.shaping import broadcast_to, of_scalar
from nxkernel.numpy.functions.ufunc import REDUCE, finished
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread
from nxkernel.primitives import Primitive
from nxkernel.shapes import axes_of
from nxkernel.types import Type, bool_, s64

__all__ = [
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "max", "mean", "min", "nanargmax",
    "nanargmin", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "prod", "ptp", "std", "sum",
    "var",
]  # fmt: skip

Shape = tuple[int, ...]
#: Reductions of NumPy's that know no axis 0 of an array without axes, which the others take for all of it.
_STRICT = {"mean", "std", "var"}
#: Of a value, axes, whether they stay, and a mask of what counts or None.
Function = Callable[[Operand, Shape, bool, Operand | None], Operand]


def run(function: Function, array: Any, axis: Any, keepdims: Any, where: Any, out: Any, name: str) -> Any:
    """Reduce any value: an array, a part of traced length, or masked elements."""
    if isinstance(array, tuple | list) and tracing.current() is not None and not holds_traced(array):
        # Of numbers that are known the result is known too, such as the product of a shape.
        with tracing.suspended():
            known = run(function, array, axis, keepdims, where, None, name).__nx_operand__()
        return finished(wrap(known if known.shape else filled(known.to_number(), known.type, ())), out, True, name)
    value = as_value(array)
    if not value.shape and name not in _STRICT:
        axis = of_scalar(axis)
    keep = builtins.bool(keepdims)
    if where is not True and isinstance(value, DynamicSlice | MaskedElements):
        if value.ndim > 1:
            raise NxTypeError(
                message(
                    f"{name}(where=...) of a part of traced length with several axes is not possible.",
                    "Reduce the whole array, and say what counts with where=: np.sum(x, where=mask).",
                )
            )
        value, where = value[where], True
    if isinstance(value, MaskedElements):
        result = masked_elements.reduced(function, value, axis, keep)
    elif isinstance(value, DynamicSlice):
        result = dynamic_slices.reduced(function, value, axes_of(axis, value.ndim), keep)
    else:
        data = operand(value)
        mask = None if where is True else spread(operand(as_value(where)), data.shape)
        axes = axes_of(axis, value.ndim)
        result = wrap(function(data, axes, keep, mask))
        if isinstance(result, Array) and isinstance(value, Array):
            strides = memory_order.of_reduction(value.shape, value.strides_in_memory, axes, keep)
            result.laid_out_as([value], strides)
    return finished(result, out, True, name)


def _only(value: Operand, mask: Operand | None, identity: Any) -> Operand:
    """A value in which the elements outside of the mask are replaced by the identity of the reduction."""
    if mask is None:
        return value
    return apply(p.select, mask, value, filled(identity, value.type, value.shape))


def _joined(total: Operand, initial: Any, ufunc: Any, unless: Any) -> Operand:
    if initial is None or (unless is not None and is_number(initial) and initial == unless):
        return total
    if is_number(initial):
        initial = wrap(casting.filled_as(initial, total.type, ()))
    return convert(operand(ufunc(wrap(total), initial)), total.type)


def _total(primitive: Primitive, identity: int, ufunc: Any) -> Callable[..., Any]:
    def total(dtype: Any, initial: Any) -> Function:
        def function(value: Operand, axes: Shape, keep: bool, mask: Operand | None) -> Operand:
            value = cast(value, type_of(dtype, types.to_aggregate(value.type)))
            result = apply(primitive, _only(value, mask, identity), axes=axes, keep_axes=keep)
            return _joined(result, initial, ufunc, identity)

        return function

    return total


_sum_total, _prod_total = _total(p.sum_, 0, e.add), _total(p.product, 1, e.multiply)


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = 0,
    where: Any = True,
) -> Any:  # fmt: skip
    """The sum of elements, as :func:`numpy.sum`."""
    return run(_sum_total(dtype, initial), a, axis, keepdims, where, out, "sum")


def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = 1,
    where: Any = True,
) -> Any:  # fmt: skip
    """The product of elements, as :func:`numpy.prod`."""
    return run(_prod_total(dtype, initial), a, axis, keepdims, where, out, "prod")


def _extreme(primitive: Primitive, of_bool: Primitive, identity: Any, ufunc: Any) -> Callable[..., Any]:
    def extreme(initial: Any) -> Function:
        def function(value: Operand, axes: Shape, keep: bool, mask: Operand | None) -> Operand:
            refuse_complex(value.type)
            if initial is None and 0 in [value.shape[axis] for axis in axes]:
                raise NxValueError("an array without elements has no greatest and no least one; give initial=")
            if value.type is bool_:
                result = apply(of_bool, _only(value, mask, of_bool is p.all_), axes=axes, keep_axes=keep)
            else:
                result = apply(primitive, _only(value, mask, identity(value.type)), axes=axes, keep_axes=keep)
            return _joined(result, initial, ufunc, None)

        return function

    return extreme


def refuse_complex(type_: Type) -> None:
    """Raise an error for complex numbers, which have no order.

    Raises
    ------
    NxTypeError
    """
    if type_.is_complex:
        raise NxTypeError(message(f"{type_} has no order here.", "Take x.real, x.imag or abs(x) first."))


_max_of = _extreme(p.reduce_max, p.any_, types.least, e.maximum)
_min_of = _extreme(p.reduce_min, p.all_, types.greatest, e.minimum)


def max(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Any:
    """The greatest element, as :func:`numpy.max`."""
    return run(_max_of(initial), a, axis, keepdims, where, out, "max")


def min(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Any:
    """The least element, as :func:`numpy.min`."""
    return run(_min_of(initial), a, axis, keepdims, where, out, "min")


amax, amin = max, min


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The range from the least to the greatest element, as :func:`numpy.ptp`."""
    return e.subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims), out=out)


def _truth(primitive: Primitive, identity: bool) -> Function:
    def function(value: Operand, axes: Shape, keep: bool, mask: Operand | None) -> Operand:
        return apply(primitive, _only(value, mask, identity), axes=axes, keep_axes=keep)

    return function


def all(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    """Whether all elements are true, as :func:`numpy.all`."""
    return run(_truth(p.all_, True), a, axis, keepdims, where, out, "all")


def any(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True) -> Any:
    """Whether any element is true, as :func:`numpy.any`."""
    return run(_truth(p.any_, False), a, axis, keepdims, where, out, "any")


def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """The number of nonzero elements, as :func:`numpy.count_nonzero`."""

    def function(value: Operand, axes: Shape, keep: bool, mask: Operand | None) -> Operand:
        result = apply(p.not_equal, value, filled(0, value.type, value.shape))
        return apply(p.sum_, convert(_only(result, mask, 0), s64), axes=axes, keep_axes=keep)

    return run(function, a, axis, keepdims, True, None, "count_nonzero")


def _count(value: Operand, axes: Shape, mask: Operand | None, type_: Type) -> Operand:
    """The number of elements that count, in a shape that broadcasts against the kept axes."""
    if mask is None:
        count = 1
        for axis in axes:
            count *= value.shape[axis]
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(value.shape))
        return filled(count, type_, kept)
    return convert(apply(p.sum_, convert(mask, s64), axes=axes, keep_axes=True), type_)


def _averaged(value: Operand, axes: Shape, mask: Operand | None, fewer: Any = 0) -> Operand:
    """Sums divided by the number of elements (minus `fewer`), with the axes kept."""
    total = apply(p.sum_, _only(value, mask, 0), axes=axes, keep_axes=True)
    count = _count(value, axes, mask, types.to_real(value.type))
    if not (isinstance(fewer, int) and fewer == 0):
        less = filled(fewer, count.type, count.shape)
        count = apply(p.maximum, apply(p.subtract, count, less), filled(0, count.type, count.shape))
    if not total.type.is_integer:
        return apply(p.divide, total, convert(count, total.type))
    # Where dtype= asks for whole numbers, fractions are cut off.
    return cast(apply(p.divide, convert(total, types.f64), convert(count, types.f64)), total.type)


def _squeezed(value: Operand, axes: Shape, keep: bool) -> Operand:
    if keep:
        return value
    shape = tuple(size for axis, size in enumerate(value.shape) if axis not in axes)
    return apply(p.reshape, value, shape=shape, names=(None,) * len(shape)) if axes else value


def _mean_of(dtype: Any) -> Function:
    def function(value: Operand, axes: Shape, keep: bool, mask: Operand | None) -> Operand:
        type_ = type_of(dtype, types.to_floating(value.type))
        result = _averaged(cast(value, types.compute_type(type_)), axes, mask)
        return convert(_squeezed(result, axes, keep), type_)

    return function


def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    """The average, as :func:`numpy.mean`."""
    return run(_mean_of(dtype), a, axis, keepdims, where, out, "mean")


def _variance_of(dtype: Any, ddof: Any, mean: Any, root: bool) -> Function:
    def function(value: Operand, axes: Shape, keep: bool, mask: Operand | None) -> Operand:
        type_, of_complex = type_of(dtype, types.to_floating(value.type)), value.type.is_complex
        within = types.compute_type(type_)
        centre = _averaged(cast(value, within), axes, mask) if mean is None else operand(as_value(mean))
        # Distances have fractions also where dtype= asks for whole squares.
        type_of_distance = types.merge(value.type, within) if within.is_integer else within
        value, centre = (convert(side, type_of_distance) for side in (value, centre))
        away = apply(p.subtract, value, spread(centre, value.shape))
        if value.type.is_complex:
            away = apply(p.absolute, away)
        # The squares are real numbers.
        square = types.to_real(type_) if of_complex else type_
        result = _averaged(cast(apply(p.multiply, away, away), types.compute_type(square)), axes, mask, ddof)
        if root:
            result = cast(apply(p.sqrt, convert(result, types.to_floating(result.type))), result.type)
        return convert(_squeezed(result, axes, keep), square)

    return function


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """The variance, as :func:`numpy.var`."""
    return run(_variance_of(dtype, correction or ddof, mean, False), a, axis, keepdims, where, out, "var")


def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """The standard deviation, as :func:`numpy.std`."""
    return run(_variance_of(dtype, correction or ddof, mean, True), a, axis, keepdims, where, out, "std")


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = False) -> Any:
    """The weighted average, as :func:`numpy.average`."""
    value = as_value(a)
    if weights is None:
        result = mean(value, axis, keepdims=keepdims)
        return (result, _as_often(e.divide(value.size, result.size), result)) if returned else result
    factors = as_value(weights)
    # Sizes that only the running program knows are equal where the numbers of axes are.
    if factors.ndim != value.ndim:
        (position,) = axes_of(axis, value.ndim)
        factors = factors[tuple(slice(None) if k == position else None for k in range(value.ndim))]
    type_ = types.merge(value.type, factors.type)
    type_ = types.merge(type_, types.f64) if value.type.is_integer else type_
    scale = sum(factors, axis, dtype=type_, keepdims=keepdims)
    result = e.divide(sum(e.multiply(value, factors, dtype=type_), axis, keepdims=keepdims), scale)
    return (result, _as_often(scale, result)) if returned else result


def _as_often(scale: Any, found: ArrayValue) -> Any:
    """The divisor of averages, broadcast to their shape."""
    return broadcast_to(scale, found.shape).astype(found.dtype)[()]


def _index_of(primitive: Primitive, identity: Any) -> Callable[..., Any]:
    def index_of(array: Any, axis: Any, out: Any, keepdims: Any, name: str) -> Any:
        value = as_value(array)
        if isinstance(value, MaskedElements):
            value = value.compact()

        def function(data: Operand, axes: Shape, keep: bool, mask: Operand | None) -> Operand:
            refuse_complex(data.type)
            if 0 in [data.shape[each] for each in axes] and not isinstance(value, DynamicSlice):
                raise NxValueError(f"{name} of no elements: there is no place of one")
            if data.type is bool_:
                data = convert(data, types.u8)
            data = _only(data, mask, identity(data.type))
            position = axes[0]
            if axis is None:
                shape = data.shape
                data, position = apply(p.reshape, data, shape=(shapes.size(shape),), names=(None,)), 0
            index = apply(
                primitive, data, axis=position, keep_axis=keep and axis is not None, tie_break="low", type=s64
            )
            if keep and axis is None:
                index = apply(p.reshape, index, shape=(1,) * len(shape), names=(None,) * len(shape))
            return index

        if not value.ndim:
            axes_of(of_scalar(axis), 0)
            return finished(wrap(filled(0, s64, ())), out, True, name)
        index = run(function, value, axis, keepdims, True, None, name)
        if isinstance(value, DynamicSlice):
            index = dynamic_slices.index_in_part(value, axis, index)
        return finished(in_order_of(index), out, True, name)

    return index_of


_argmax_of, _argmin_of = _index_of(p.argmax, types.least), _index_of(p.argmin, types.greatest)


def argmax(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """The index of the greatest element, as :func:`numpy.argmax`."""
    return _argmax_of(a, axis, out, keepdims, "argmax")


def argmin(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
    """The index of the least element, as :func:`numpy.argmin`."""
    return _argmin_of(a, axis, out, keepdims, "argmin")


def _numbers(a: Any) -> tuple[ArrayValue, Any]:
    """An array, and the mask of its elements that are not NaN."""
    value = as_value(a)
    return value, (e.logical_not(e.isnan(value)) if not value.type.is_integer else True)


def _both(mask: Any, where: Any) -> Any:
    """What counts by a mask, or True for all, and by ``where=``."""
    if mask is True or where is True:
        return where if mask is True else mask
    return e.logical_and(mask, where)


def _without_nan(function: Any) -> Any:
    def wrapped(a: Any, axis: Any = None, *args: Any, where: Any = True, **options: Any) -> Any:
        value, mask = _numbers(a)
        axis = axis if value.shape else of_scalar(axis)
        return function(value, axis, *args, where=_both(mask, where), **options)

    wrapped.__name__ = wrapped.__qualname__ = f"nan{function.__name__}"
    wrapped.__doc__ = f"As :func:`{function.__name__}`, without elements that are NaN."
    return wrapped


nansum, nanprod, nanmean, nanvar, nanstd = map(_without_nan, (sum, prod, mean, var, std))


def _extreme_without_nan(function: Any, name: str) -> Any:
    def wrapped(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = True
    ) -> Any:
        value, mask = _numbers(a)
        mask = _both(mask, where)
        result = function(value, axis, keepdims=keepdims, where=mask, initial=initial)
        # Of a list NumPy says so whatever `initial` is.
        if mask is not True and (initial is None or isinstance(a, list | tuple)):
            none = e.logical_not(any(mask, axis, keepdims=keepdims))
            result = wrap(
                apply(p.select, operand(none), filled(float("nan"), result.type, result.shape), operand(result))
            )
        return finished(result, out, True, name)

    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = f"As :func:`{function.__name__}`, without elements that are NaN."
    return wrapped


nanmax, nanmin = _extreme_without_nan(max, "nanmax"), _extreme_without_nan(min, "nanmin")


def _place_without_nan(function: Any, name: str, sign: int) -> Any:
    def wrapped(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        value, mask = _numbers(a)
        if mask is not True:
            data, other = operand(value), sign * float("inf")
            value = wrap(apply(p.select, operand(mask), data, filled(other, data.type, data.shape)))
        return function(value, axis, out, keepdims=keepdims)

    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = f"As :func:`{function.__name__}`, without elements that are NaN."
    return wrapped


nanargmax, nanargmin = _place_without_nan(argmax, "nanargmax", -1), _place_without_nan(argmin, "nanargmin", 1)

REDUCE.update(add=sum, multiply=prod, maximum=max, minimum=min, logical_and=all, logical_or=any)
