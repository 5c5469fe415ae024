"""Selecting and assigning elements (where, select, clip, take, put), rounding, and predicates of numbers."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing, values_of_call
from nxkernel.numpy.arrays import fancy_indexing, masked_elements, subscripts
from nxkernel.numpy.arrays.array import Array, ArrayValue, as_value, fitted, holds_traced, in_order_of, wrap
from nxkernel.numpy.arrays.dynamic_slices import DynamicSlice
from nxkernel.numpy.arrays.masked_elements import lifted
from nxkernel.numpy.functions import elementwise as e
from nxkernel.numpy.functions import reductions
from nxkernel.numpy.functions.creation import arange
from nxkernel.numpy.functions.joining import stack
from nxkernel.numpy.functions.shaping import along, in_one_axis, resize
from nxkernel.numpy.functions.shaping import copy as copied
from nxkernel.numpy.functions.ufunc import common_shape, finished
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled, is_number, operand, spread, together
from nxkernel.ops.numpy_names import selection as sized
from nxkernel.shapes import normalize_axis

__all__ = [
    "allclose",
    "angle",
    "argwhere",
    "around",
    "array_equal",
    "array_equiv",
    "choose",
    "clip",
    "compress",
    "copyto",
    "extract",
    "fill_diagonal",
    "fix",
    "flatnonzero",
    "imag",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "isscalar",
    "nan_to_num",
    "nonzero",
    "piecewise",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "real",
    "real_if_close",
    "round",
    "select",
    "sinc",
    "take",
    "take_along_axis",

    "where",
]  # fmt: skip


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of `x` where a condition holds and of `y` elsewhere, as :func:`numpy.where`."""
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise NxValueError("either both or neither of x and y should be given")
    inputs = [as_value(condition), *[side if is_number(side) else as_value(side) for side in (x, y)]]
    return lifted(_where, inputs)


def _where(condition: ArrayValue, x: Any, y: Any) -> ArrayValue:
    sides = [side if is_number(side) else operand(side) for side in (x, y)]
    one, other, type_ = together(*sides)
    mask = operand(condition)
    shape = common_shape(condition, wrap(one), wrap(other)) if one.shape or other.shape else condition.shape
    one, other = (spread(convert(side, type_), shape) for side in (one, other))
    result = apply(p.select, spread(mask, shape), one, other)
    # Also of numbers NumPy makes an array.
    return wrap(result, condition, x, y) if shape else Array.of(result)


def nonzero(a: Any, *, size: int | None = None, fill_value: int = 0) -> tuple[Any, ...]:
    """The indices of nonzero elements for each axis, as :func:`numpy.nonzero`; their number is traced.

    With ``size=`` there are so many: the rest is left out, and `fill_value` stands where there are less.
    """
    value = as_value(a)
    if not value.ndim:
        raise NxValueError(message("nonzero takes an array with axes, got a number.", "np.atleast_1d(x) has one."))
    if size is not None:
        return tuple(map(wrap, sized.nonzero(operand(value), size=size, fill_value=fill_value)))
    if tracing.current() is None:
        return tuple([wrap(operand(places)) for places in np.nonzero(np.asarray(operand(value)))])
    known = subscripts.known_elements(value) if isinstance(value, Array) else None
    if known is not None:
        return tuple([Array.of(operand(places)) for places in np.nonzero(known)])
    return masked_elements.places(value)


def flatnonzero(a: Any, *, size: int | None = None, fill_value: int = 0) -> Any:
    """The indices of nonzero elements of a flattened array, as :func:`numpy.flatnonzero` and :func:`nonzero`."""
    return nonzero(in_one_axis(as_value(a)), size=size, fill_value=fill_value)[0]


def argwhere(a: Any) -> Any:
    """The indices of nonzero elements, one row for each, as :func:`numpy.argwhere`."""
    value = as_value(a)
    result = nonzero(value if value.ndim else value.reshape(1))
    if not value.ndim:
        # A place without axes has no indices.
        if isinstance(result[0], Array):
            return wrap(filled(0, types.s64, (result[0].size, 0)))
        return DynamicSlice(wrap(filled(0, types.s64, (1, 0))), (*result[0].stretches, None))
    if isinstance(result[0], Array):
        return stack(result, axis=-1)
    return DynamicSlice(stack([part.base for part in result], axis=-1), (*result[0].stretches, None))


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """The slices along an axis where a condition holds, as :func:`numpy.compress`."""
    value, position = along(as_value(a), axis)
    if isinstance(condition, list | tuple) and not holds_traced(condition):
        return take(value, np.flatnonzero(condition), position, out)
    mask = as_value(condition)
    mask = mask if mask.type is types.bool_ else e.not_equal(mask, 0)
    result = value[(*(slice(None),) * position, mask)]
    return finished(result, out, True, "compress")


def extract(condition: Any, arr: Any) -> Any:
    """The elements where a condition holds, as :func:`numpy.extract`."""
    return in_one_axis(as_value(arr))[in_one_axis(as_value(e.not_equal(condition, 0)))]


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Elements chosen by the first condition that holds, as :func:`numpy.select`."""
    result = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        result = where(condition, choice, result)
    return in_order_of(as_value(result))


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """Elements chosen from several arrays by an index array, as :func:`numpy.choose`."""
    count = len(choices)
    which, result = within(as_value(a), count, mode), choices[count - 1]
    for position in reversed(range(count - 1)):
        result = where(e.less_equal(which, position), choices[position], result)
    return finished(result, out, True, "choose")


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **options: Any) -> Any:
    """A piecewise-defined function, as :func:`numpy.piecewise`."""
    value = as_value(x)
    conditions = condlist if isinstance(condlist, list | tuple) else [condlist]
    cases = [case(value, *args, **options) if callable(case) else case for case in funclist]
    result = cases[len(conditions)] if len(cases) > len(conditions) else 0
    for condition, case in zip(conditions, cases, strict=False):
        result = where(condition, case, result)
    return as_value(result).astype(value.dtype)


def clip(
    a: Any, min: Any = None, max: Any = None, out: Any = None, *, a_min: Any = None, a_max: Any = None,
    where: Any = True, **options: Any,
) -> Any:  # fmt: skip
    """Elements clipped to a range, as :func:`numpy.clip`."""
    low, high = a_min if min is None else min, a_max if max is None else max
    result = as_value(a)
    if low is not None:
        result = e.maximum(result, _held(low, result.type), **options)
    if high is not None:
        result = e.minimum(result, _held(high, result.type), **options)
    return finished(result if result is not a else copied(result), out, where, "clip")


def _held(bound: Any, type_: types.Type) -> Any:
    """A bound of `clip`: a Python int out of range of the integer type is replaced by the nearest that fits."""
    if isinstance(bound, bool) or not type_.is_integer or type_ is types.bool_:
        return bound
    low, high = types.limits(type_)
    if isinstance(bound, int):
        return max(low, min(bound, high))
    number = operand(as_value(bound))
    if not tracing.weak(number) or not number.type.is_integer or number.type in (types.bool_, type_):
        return bound
    least, most = types.limits(number.type)
    result = apply(p.maximum, number, filled(max(low, least), number.type, ()))
    return convert(apply(p.minimum, result, filled(min(high, most), number.type, ())), type_)


def _clip_method(self: ArrayValue, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
    """Elements clipped to a range, as :meth:`numpy.ndarray.clip`."""
    return clip(self, min, max, out, **options)


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    """Elements rounded to decimals, halves to even, as :func:`numpy.round`."""

    def one(value: ArrayValue) -> ArrayValue:
        if value.type.is_integer and (decimals >= 0 or value.type is types.bool_):
            return value.astype("float16") if value.type is types.bool_ else copied(value)
        if value.type.is_complex:
            return e.add(one(value.real), e.multiply(one(value.imag), 1j)).astype(value.dtype)
        if decimals == 0:
            return e.rint(value)
        scale = 10.0 ** abs(decimals)
        if decimals > 0:
            return e.divide(e.rint(e.multiply(value, scale)), scale)
        return e.multiply(e.rint(e.divide(value, scale)), scale).astype(value.dtype)

    return finished(lifted(one, [as_value(a)]), out, True, "round")


around = round


def fix(x: Any, out: Any = None) -> Any:
    """Elements rounded toward zero, as :func:`numpy.fix`."""
    return e.trunc(x, out=out)


def real(val: Any) -> Any:
    """The real parts, as :func:`numpy.real`; a Python number stays one."""
    return val.real if isinstance(val, int | float | complex) else as_value(val).real


def imag(val: Any) -> Any:
    """The imaginary parts, as :func:`numpy.imag`; a Python number stays one."""
    return val.imag if isinstance(val, int | float | complex) else as_value(val).imag


def _scalar_part(imaginary: bool) -> Any:
    def part(self: Any) -> Any:
        node = self.node
        if node.type.is_complex:
            return wrap(apply(p.imag if imaginary else p.real, node))
        return wrap(filled(0, node.type, ())) if imaginary else self

    return property(part)


def _is_integer(self: Any) -> Any:
    """Whether a number has no fraction, as :meth:`float.is_integer`."""
    return e.logical_and(e.equal(self, e.trunc(self)), e.isfinite(self))


def angle(z: Any, deg: bool = False) -> Any:
    """The angle of complex numbers, as :func:`numpy.angle`."""
    value = as_value(z)
    result = e.arctan2(value.imag, value.real) if value.type.is_complex else e.arctan2(0, value)
    return e.multiply(result, 180 / math.pi) if deg else result


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether elements are equal within a tolerance, as :func:`numpy.isclose`."""
    if as_value(b).type.is_integer:
        # So that differences of unsigned integers and of truth values are differences.
        b = as_value(b).astype("float64")
    away = e.less_equal(e.absolute(e.subtract(a, b)), e.add(atol, e.multiply(rtol, e.absolute(b))))
    result = e.logical_or(e.logical_and(away, e.isfinite(b)), e.equal(a, b))
    return e.logical_or(result, e.logical_and(e.isnan(a), e.isnan(b))) if equal_nan else result


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are equal within a tolerance, as :func:`numpy.allclose`."""
    return _fact(reductions.all(isclose(a, b, rtol, atol, equal_nan)))


def _fact(value: ArrayValue) -> ArrayValue:
    """A boolean that stands for a Python bool, and so is weak in types."""
    run, node = tracing.current(), operand(value)
    if run is not None:
        run.weak.add(node)
    return wrap(node)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether two arrays have the same shape and equal elements, as :func:`numpy.array_equal`."""
    one, other = as_value(a1), as_value(a2)
    if one.ndim != other.ndim:
        return False
    same = []
    for size, there in zip(one.shape, other.shape, strict=True):
        if not isinstance(size, int) or not isinstance(there, int):
            same.append(e.equal(size, there))
        elif size != there:
            return False
    result = e.equal(one, other)
    if equal_nan:
        result = e.logical_or(result, e.logical_and(e.isnan(one), e.isnan(other)))
    return _fact(functools.reduce(e.logical_and, same, reductions.all(result)))


def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether two arrays that broadcast together have equal elements, as :func:`numpy.array_equiv`."""
    return _fact(reductions.all(e.equal(a1, a2)))


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """NaN and infinities replaced by finite numbers, as :func:`numpy.nan_to_num`."""
    value = as_value(x)
    if value.type.is_integer:
        return copied(value) if copy else value
    in_place = not copy and hasattr(type(value), "__setitem__")
    if value.type.is_complex:
        parts_ = [nan_to_num(part, not in_place, nan, posinf, neginf) for part in (value.real, value.imag)]
        return value if in_place else wrap(apply(p.make_complex, *map(operand, parts_)))
    limits = np.finfo(value.dtype)
    result = where(e.isnan(value), nan, value)
    result = where(e.equal(value, math.inf), float(limits.max) if posinf is None else posinf, result)
    result = where(e.equal(value, -math.inf), float(limits.min) if neginf is None else neginf, result)
    if in_place:
        value[...] = result
        return value
    return result


def isposinf(x: Any, out: Any = None) -> Any:
    """Whether elements are positive infinity, as :func:`numpy.isposinf`."""
    return e.equal(x, math.inf, out=out)


def isneginf(x: Any, out: Any = None) -> Any:
    """Whether elements are negative infinity, as :func:`numpy.isneginf`."""
    return e.equal(x, -math.inf, out=out)


def isreal(x: Any) -> Any:
    """Whether imaginary parts are 0, as :func:`numpy.isreal`."""
    return e.equal(as_value(x).imag, 0)


def iscomplex(x: Any) -> Any:
    """Whether imaginary parts are nonzero, as :func:`numpy.iscomplex`."""
    return e.not_equal(as_value(x).imag, 0)


def iscomplexobj(x: Any) -> bool:
    """Whether the type is complex, as :func:`numpy.iscomplexobj`."""
    return as_value(x).type.is_complex


def isrealobj(x: Any) -> bool:
    """Whether the type is not complex, as :func:`numpy.isrealobj`."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Whether a value is a single number, as :func:`numpy.isscalar`."""
    return not isinstance(element, Array | list | tuple | dict) and as_value(element).ndim == 0


def real_if_close(a: Any, tol: Any = 100) -> Any:
    """The real parts where all imaginary ones are small, as :func:`numpy.real_if_close`; which is asked for a call."""
    value = as_value(a)
    if not value.type.is_complex:
        return value
    least = np.finfo(value.dtype).eps * tol if tol > 1 else tol
    is_close = operand(reductions.all(e.less(e.absolute(value.imag), least)))
    known = bool(is_close) if tracing.current() is None else values_of_call.number(is_close)
    if known is None:
        raise subscripts.needed(
            is_close,
            "real_if_close() gives real numbers or complex ones, and only the running program knows which.",
            "x.real has the real parts, whatever the imaginary ones are.",
        )
    return value.real if known else value


def sinc(x: Any) -> Any:
    """``sin(pi x) / (pi x)``, as :func:`numpy.sinc`."""
    y = e.multiply(math.pi, x)
    # Of 0 it is 1, which is the sine of something small, divided by it, in types of 16 bits, too.
    y = where(e.equal(y, 0), 1.0e-3 if y.dtype.itemsize == 2 else 1.0e-20, y)
    return e.divide(e.sin(y), y)


def within(indices: Any, size: Any, mode: str) -> Any:
    """Indices brought into the range of an axis, by ``mode=`` (raise, wrap or clip); truth values are 0 and 1."""
    if isinstance(indices, ArrayValue) and indices.type is types.bool_:
        indices = indices.astype(np.int64)
    if mode == "wrap":
        return e.mod(indices, size)
    return clip(indices, 0, size - 1) if mode == "clip" else indices


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements at indices of an axis, as :func:`numpy.take`."""
    value, position = along(as_value(a), axis)
    # An empty list has no numbers that would tell their type.
    indices = arange(0) if isinstance(indices, list | tuple) and not indices else indices
    chosen = indices if isinstance(indices, int) else as_value(indices)
    chosen = within(chosen, value.shape[position], mode)
    result = value[(*(slice(None),) * position, chosen)]
    return finished(result if isinstance(chosen, int) else in_order_of(result), out, True, "take")


def _lines(value: ArrayValue, indices: Any, axis: int) -> tuple[dict[int, Operand], int]:
    """Indices along one axis as index arrays for all axes."""
    chosen = operand(as_value(indices))
    position = normalize_axis(axis, value.shape)
    if len(chosen.shape) != value.ndim:
        raise NxValueError(
            f"indices along an axis have as many axes as the array: {value.ndim}, got {len(chosen.shape)}"
        )
    shape = tuple(
        n if k == position else max(n, m) for k, (n, m) in enumerate(zip(chosen.shape, value.shape, strict=True))
    )
    own = spread(subscripts.traced_index(chosen, value.shape[position]), shape)
    grids = {
        k: own if k == position else apply(p.iota, type=types.s64, shape=shape, names=(None,) * len(shape), axis=k)
        for k in range(value.ndim)
    }
    return grids, position


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    """Elements at indices given for each 1-d slice along an axis, as :func:`numpy.take_along_axis`."""
    value = as_value(arr)
    if axis is None:
        value, axis = value.ravel(), 0
    return wrap(fancy_indexing.read(operand(value), _lines(value, indices, axis)[0], False))


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Assign at indices given for each 1-d slice along an axis, as :func:`numpy.put_along_axis`."""
    if axis is None:
        arr, axis = arr.ravel(), 0
    picks, position = _lines(arr, indices, axis)
    new = fitted(values, picks[position].shape, arr.type)
    arr.assign(fancy_indexing.put(operand(arr), picks, False, new))


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Assign to elements at flat indices, as :func:`numpy.put`."""
    positions = within(as_value(ind).ravel(), a.size, mode)
    a.flat[positions] = resize(v, positions.shape)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Assign where a mask holds, as :func:`numpy.place`."""
    value = as_value(vals)
    if value.size != 1:
        raise NxTypeError(message("place() with several values takes them in turn.", "x[mask] = values takes as many."))
    arr[e.not_equal(mask, 0)] = value.reshape(()) if value.ndim else value


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Assign values at the same positions where a mask holds, as :func:`numpy.putmask`."""
    a[...] = where(mask, values, a)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Assign to all of an array, or where a mask holds, as :func:`numpy.copyto`."""
    if where is True:
        dst[...] = src
    else:
        putmask(dst, where, src)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Assign to the main diagonal, repeating the values, as :func:`numpy.fill_diagonal`."""
    if wrap and a.ndim == 2:
        # It begins anew below a row that is left out.
        diagonal_indices: Any = divmod(arange(0, a.size, a.shape[1] + 1), a.shape[1])
    else:
        diagonal_indices = (arange(min(a.shape)),) * a.ndim
    new = as_value(val)
    a[tuple(diagonal_indices)] = resize(new, diagonal_indices[0].shape) if new.ndim else val


SCALAR_PARTS = {"real": _scalar_part(False), "imag": _scalar_part(True), "is_integer": _is_integer}
