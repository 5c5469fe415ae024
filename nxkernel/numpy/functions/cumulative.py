"""NumPy's cumulative sums and products, differences, gradient, trapezoid rule, and unwrap."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxValueError
from nxkernel.numpy.arrays.array import ArrayValue, as_value, wrap
from nxkernel.numpy.arrays.casting import cast, type_of
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.joining import concatenate
from nxkernel.numpy.functions.selection import where
from nxkernel.numpy.functions.shaping import along, in_one_axis
from nxkernel.numpy.functions.ufunc import ACCUMULATE, finished
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, operand, spread
from nxkernel.primitives import Primitive
from nxkernel.shapes import axes_of, normalize_axis
from nxkernel.types import Type

__all__ = [
    "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff", "ediff1d", "gradient", "nancumprod", "nancumsum",
    "trapezoid", "unwrap",
]  # fmt: skip


def _running(primitive: Primitive, rule: Callable[[Type], Type], name: str, what: str) -> Any:
    def function(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        value, position = along(as_value(a), axis)
        type_ = type_of(dtype, rule(value.type))
        # Compilers have running extremes of numbers.
        counted = types.u8 if type_ is types.bool_ else type_
        result = apply(primitive, convert(cast(operand(value), type_), counted), axis=position, reverse=False)
        return finished(wrap(convert(result, type_), value), out, True, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}, as :func:`numpy.{name}`."
    return function


def _ordered(type_: Type) -> Type:
    reductions.refuse_complex(type_)
    return type_


cumsum = _running(p.cumulative_sum, types.to_aggregate, "cumsum", "Running sums")
cumprod = _running(p.cumulative_product, types.to_aggregate, "cumprod", "Running products")
_running_max = _running(p.cumulative_max, _ordered, "maximum.accumulate", "Running maxima")
_running_min = _running(p.cumulative_min, _ordered, "minimum.accumulate", "Running minima")


def _beside_nan(function: Any, beyond: float) -> Any:
    """Running extremes of what is no NaN: a NaN counts as a number that is never the result."""

    def running(a: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        value = as_value(a) if dtype is None else as_value(a).astype(dtype)
        if not value.type.is_float:
            return function(value, axis, None, out)
        missing = e.isnan(value)
        result = where(_running_min(missing, axis), value, function(where(missing, beyond, value), axis))
        return finished(result, out, True, function.__name__)

    return running


def _of_truth(function: Any) -> Any:
    """Running extremes of truth values: whether all are true so far, or any."""

    def running(a: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        value = as_value(a)
        result = function(value if value.type is types.bool_ else e.not_equal(value, 0), axis)
        return finished(result if dtype is None else result.astype(dtype), out, True, function.__name__)

    return running


#: What ``ufunc.accumulate`` does.
ACCUMULATE.update(
    add=cumsum, multiply=cumprod, maximum=_running_max, minimum=_running_min,
    fmax=_beside_nan(_running_max, -math.inf), fmin=_beside_nan(_running_min, math.inf),
    logical_and=_of_truth(_running_min), logical_or=_of_truth(_running_max),
)  # fmt: skip


def _with_first(function: Any, first: int, name: str) -> Any:
    def wrapped(
        x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
    ) -> Any:
        value = as_value(x)
        if axis is None:
            if value.ndim > 1:
                raise NxValueError(f"{name} of several axes needs axis=")
            axis = 0
        result = function(value, axis, dtype)
        if include_initial:
            position = normalize_axis(axis, value.shape)
            shape = (*value.shape[:position], 1, *value.shape[position + 1 :])
            result = concatenate([wrap(filled(first, result.type, shape)), result], axis=position)
        return finished(result, out, True, name)

    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__doc__ = f"As :func:`numpy.{name}`."
    return wrapped


cumulative_sum = _with_first(cumsum, 0, "cumulative_sum")
cumulative_prod = _with_first(cumprod, 1, "cumulative_prod")


def _zeroed(a: Any, number: int) -> ArrayValue:
    return where(e.isnan(a), number, a)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Running sums that count NaN as 0, as :func:`numpy.nancumsum`."""
    return cumsum(_zeroed(a, 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
    """Running products that count NaN as 1, as :func:`numpy.nancumprod`."""
    return cumprod(_zeroed(a, 1), axis, dtype, out)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of consecutive elements, as :func:`numpy.diff`."""
    value = as_value(a)
    if n == 0:
        return value
    position = normalize_axis(axis, value.shape)
    before = (slice(None),) * position
    ends = [_end(prepend, value, position), value, _end(append, value, position)]
    if prepend is not None or append is not None:
        value = concatenate([end for end in ends if end is not None], axis=position)
    for _ in range(n):
        later, earlier = value[(*before, slice(1, None))], value[(*before, slice(None, -1))]
        value = e.not_equal(later, earlier) if value.type is types.bool_ else e.subtract(later, earlier)
    return value


def _end(given: Any, value: ArrayValue, axis: int) -> Any:
    if given is None:
        return None
    end = as_value(given)
    if end.ndim:
        return end
    return wrap(_filled_with(operand(end), (*value.shape[:axis], 1, *value.shape[axis + 1 :])))


def _filled_with(value: Operand, shape: tuple[int, ...]) -> Operand:
    return spread(value, shape)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """Differences of consecutive elements of the flattened array, as :func:`numpy.ediff1d`."""
    result = diff(in_one_axis(as_value(ary)))
    ends = [to_begin, result, to_end]
    return concatenate([in_one_axis(as_value(end)).astype(result.dtype) for end in ends if end is not None])


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The gradient by central differences, as :func:`numpy.gradient`."""
    value = as_value(f)
    axes = axes_of(axis, value.ndim) if not isinstance(axis, tuple) else axis
    spacing = list(varargs) or [1.0]
    if len(spacing) == 1 and len(axes) > 1:
        spacing = spacing * len(axes)
    if len(spacing) != len(axes):
        raise NxValueError(f"gradient takes one distance, or one for each of {len(axes)} axes, got {len(spacing)}")
    slopes = [_slopes(value, axis, apart, edge_order) for axis, apart in zip(axes, spacing, strict=True)]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _slopes(value: ArrayValue, axis: int, spacing: Any, edge_order: int) -> Any:
    position = normalize_axis(axis, value.shape)
    before, after = (slice(None),) * position, (None,) * (value.ndim - position - 1)
    if value.type.is_integer:
        value = value.astype("float64")

    def at(*part: Any) -> Any:
        return value[(*before, slice(*part))]

    apart = as_value(spacing)
    if apart.ndim:
        # Distances of whole numbers would wrap around below zero.
        apart = apart.astype("float64") if apart.type.is_integer else apart
        steps = diff(apart)[(slice(None), *after)]
        one, two = steps[:-1], steps[1:]
        inner = e.add(
            e.add(
                e.multiply(e.divide(e.negative(two), e.multiply(one, e.add(one, two))), at(None, -2)),
                e.multiply(e.divide(e.subtract(two, one), e.multiply(one, two)), at(1, -1)),
            ),
            e.multiply(e.divide(one, e.multiply(two, e.add(one, two))), at(2, None)),
        )
        first, last = steps[:1], steps[-1:]
    else:
        inner = e.divide(e.subtract(at(2, None), at(None, -2)), 2.0 * spacing)
        first = last = spacing
    if edge_order == 1:
        left = e.divide(e.subtract(at(1, 2), at(0, 1)), first)
        right = e.divide(e.subtract(at(-1, None), at(-2, -1)), last)
    elif apart.ndim:
        raise NxValueError("gradient: edge_order=2 takes distances that are all equal, given as one number")
    else:
        left = _edge(at(0, 1), at(1, 2), at(2, 3), first)
        right = e.negative(_edge(at(-1, None), at(-2, -1), at(-3, -2), last))
    return wrap(operand(concatenate([left, inner, right], axis=position).astype(value.dtype)), value)


def _edge(one: Any, two: Any, three: Any, apart: Any) -> Any:
    outer = e.add(e.multiply(-1.5 / apart, one), e.multiply(2.0 / apart, two))
    return e.add(outer, e.multiply(-0.5 / apart, three))


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """The integral of samples by the trapezoid rule, as :func:`numpy.trapezoid`."""
    value = as_value(y)
    position = normalize_axis(axis, value.shape)
    before = (slice(None),) * position
    if x is not None:
        dx = diff(x) if as_value(x).ndim == 1 else diff(x, axis=position)
        if dx.ndim == 1:
            dx = dx[(slice(None), *(None,) * (value.ndim - position - 1))]
    both = e.add(value[(*before, slice(1, None))], value[(*before, slice(None, -1))])
    return reductions.sum(e.divide(e.multiply(dx, both), 2.0), axis=position)


def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Any:
    """Angles with jumps larger than half a period removed, as :func:`numpy.unwrap`."""
    value = as_value(p)
    position = normalize_axis(axis, value.shape)
    steps = diff(value, axis=position)
    largest = e.divide(period, 2) if discont is None else discont
    whole = steps.type.is_integer and as_value(period).type.is_integer
    half = period // 2 if whole else period / 2
    moved = e.subtract(e.mod(e.add(steps, half), period), half)
    at_border = e.logical_and(e.equal(moved, -half), e.greater(steps, 0))
    # Of whole numbers, an odd period has a middle of its own.
    at_border = e.logical_and(at_border, e.equal(period % 2, 0)) if whole else at_border
    moved = where(at_border, half, moved)
    away = where(e.less(e.absolute(steps), largest), 0, e.subtract(moved, steps)).astype(moved.dtype)
    before = (slice(None),) * position
    rest = e.add(value[(*before, slice(1, None))], cumsum(away, axis=position))
    result = concatenate([value[(*before, slice(0, 1))], rest], axis=position).astype(moved.dtype)
    return wrap(operand(result), value)
