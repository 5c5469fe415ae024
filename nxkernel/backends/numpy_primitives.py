"""The NumPy implementation of each primitive: the reference that compilers are tested against.

``MEANING[primitive](out, *arrays, **params)`` gives a C-ordered array of the type and shape of the spec ``out``. It may
share memory with an operand, so nobody may write into operands or results.

What IEEE arithmetic and C leave open is decided here, and compilers follow it: integers wrap; their quotient and their
remainder by zero are 0; a shift by a negative distance, or by the width and more, gives 0 (-1 where a negative number
goes right); an integer to a negative power is truncated toward zero; floats become integers by truncation, saturating,
with NaN as 0; f16 and bf16 compute in f32 and round once.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel import compile_thread, types
from nxkernel import primitives as p
from nxkernel.primitives import Primitive, Spec
from nxkernel.types import Type

Number = bool | int | float | complex
Meaning = Callable[..., np.ndarray]

#: The meanings of the primitives of these families.
MEANING: dict[Primitive, Meaning] = {}


def cast(array: np.ndarray, type_: Type) -> np.ndarray:
    """An array converted to a type: integers wrap, floats truncate and saturate, complex numbers drop the imaginary
    part, anything not zero is true.
    """
    source, target = array.dtype, type_.dtype
    if source == target:
        return array
    with np.errstate(all="ignore"):
        if type_.kind == "bool":
            return np.asarray(array != 0)
        if source.kind == "c" and not type_.is_complex:
            return cast(array.real, type_)
        if type_.is_integer and source.kind not in "iub":
            return _to_integer(widened(array), type_)
        return array.astype(target)


def _to_integer(array: np.ndarray, type_: Type) -> np.ndarray:
    low, high = types.limits(type_)
    above, below = array >= float(high + 1), array < float(low)
    inside = np.where(above | below | np.isnan(array), 0, array)
    least, greatest = type_.dtype.type(low), type_.dtype.type(high)
    return np.where(above, greatest, np.where(below, least, inside.astype(type_.dtype)))


def cast_number(value: Number, type_: Type) -> np.ndarray:
    """A Python number as a 0-d array of a type, by the rules of :func:`cast`."""
    return np.array(number_of(value, type_), dtype=type_.dtype)


def number_of(value: Number, type_: Type) -> Number:
    """A Python number as the number that an element of a type stores, by the rules of :func:`cast`."""
    if type_ is types.bool_:
        return bool(value)
    if type_.is_complex:
        value = complex(value)
        return value if type_ is types.c128 else complex(_in_f32(value.real), _in_f32(value.imag))
    if isinstance(value, complex):
        value = value.real
    if type_.is_float:
        return _in_float(float(value), type_)
    low, high = types.limits(type_)
    if isinstance(value, float):
        return 0 if math.isnan(value) else low if value < low else high if value > high else int(value)
    return (int(value) - low) % 2**type_.bits + low


def _in_f32(value: float) -> float:
    return ctypes.c_float(value).value


def _in_float(value: float, type_: Type) -> float:
    if type_ is types.f64:
        return value
    if type_ is types.f32:
        return _in_f32(value)
    with np.errstate(over="ignore"):
        return float(np.array(value).astype(type_.dtype))


def widened(array: np.ndarray) -> np.ndarray:
    """The array in the type that arithmetic uses: f32 for f16 and bf16."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 and array.dtype.kind not in "iu" else array


def settled(out: Spec, result: Any) -> np.ndarray:
    """The result converted to the type, shape and memory order of the spec."""
    return np.asarray(result, dtype=out.type.dtype, order="C").reshape(out.shape)


def _elementwise(function: Callable[..., Any]) -> Meaning:
    """A NumPy function made to compute half-width floats in f32 and round once, without warnings."""

    def meaning(out: Spec, /, *arrays: np.ndarray, rounded: bool = True) -> np.ndarray:
        with np.errstate(all="ignore"):
            return settled(out, function(*[widened(array) for array in arrays]))

    return meaning


def _special(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """A function of scipy.special, imported on first use as that takes long."""

    def function(x: np.ndarray) -> np.ndarray:
        compile_thread.load("scipy.special")
        import scipy.special

        return getattr(scipy.special, name)(x)

    return function


def _erfc(x: np.ndarray) -> np.ndarray:
    """The complementary error function; to the right as ``erfcx(x) e^-x²`` with an exact square, which is more accurate
    than SciPy's.
    """
    compile_thread.load("scipy.special")
    import scipy.special

    # From 28 on the result is 0.
    right = np.clip(x, 0.5, 28).astype(np.float64)
    head = right.astype(np.float32).astype(np.float64)
    power = np.exp((head - right) * (head + right)) * np.exp(-head * head)
    return np.where(x < 0.5, scipy.special.erfc(x), scipy.special.erfcx(right) * power)


def _power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if y.dtype.kind != "i" or not (y < 0).any():
        return np.power(x, y)
    parity = np.where(y & 1, x, 1)
    return np.where(y >= 0, np.power(x, np.maximum(y, 0)), np.where(np.abs(x) == 1, parity, 0))


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    floor = np.floor_divide(x, y)
    return floor if x.dtype.kind == "u" else floor + ((np.remainder(x, y) != 0) & ((x < 0) != (y < 0)))


def _round_half_away(x: np.ndarray) -> np.ndarray:
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x).astype(x.dtype)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "c":
        # The exponential of no number with a positive real part overflows.
        left = x.real < 0
        e = np.exp(np.where(left, x, -x))
        return np.where(left, e, 1) / (1 + e)
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e) / (1 + e)


def _cbrt(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.cbrt(x)
    # A power would give infinities NaN for a part.
    size, angle = np.cbrt(np.abs(x)), np.angle(x) / 3
    root = np.empty_like(x)
    root.real = np.where(size == 0, 0, size * np.cos(angle))
    root.imag = np.where(size == 0, 0, np.where(angle == 0, angle, size * np.sin(angle)))
    return root


def _expm1(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.expm1(x)
    # NumPy's is NaN at infinities, where the exponential is not.
    result, half = np.array(np.exp(x)), np.sin(x.imag / 2)
    near = np.expm1(x.real) * np.cos(x.imag) - 2 * half * half
    result.real = np.where(np.abs(x.real) < 1, near, result.real - 1)
    return result


def _unsigned(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.dtype.itemsize}")


def _count_leading_zeros(x: np.ndarray) -> np.ndarray:
    bits, x = x.dtype.itemsize * 8, _unsigned(x)
    shift = 1
    while shift < bits:
        x = x | (x >> x.dtype.type(shift))
        shift *= 2
    return bits - np.bitwise_count(x)


def _make_complex(out: Spec, /, real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    result = np.empty(out.shape, out.type.dtype)
    result.real, result.imag = real, imag
    return result


MEANING |= {
    primitive: _elementwise(function)
    for primitive, function in {
        p.add: np.add,
        p.subtract: np.subtract,
        p.multiply: np.multiply,
        p.divide: np.divide,
        p.power: _power,
        p.remainder: np.fmod,
        p.quotient: _quotient,
        p.atan2: np.arctan2,
        p.maximum: np.maximum,
        p.minimum: np.minimum,
        p.bitwise_and: np.bitwise_and,
        p.bitwise_or: np.bitwise_or,
        p.bitwise_xor: np.bitwise_xor,
        p.left_shift: np.left_shift,
        p.right_shift: np.right_shift,
        p.equal: np.equal,
        p.not_equal: np.not_equal,
        p.greater: np.greater,
        p.less: np.less,
        p.greater_equal: np.greater_equal,
        p.less_equal: np.less_equal,
        p.logical_and: np.logical_and,
        p.logical_or: np.logical_or,
        p.logical_xor: np.logical_xor,
        p.logical_not: np.logical_not,
        p.is_nan: np.isnan,
        p.is_infinity: np.isinf,
        p.negate: np.negative,
        p.sign: np.sign,
        p.floor: np.floor,
        p.ceil: np.ceil,
        p.round_half_away: _round_half_away,
        p.round_half_even: lambda x: x if x.dtype.kind in "iub" else np.rint(x),
        p.truncate: np.trunc,
        p.conjugate: np.conjugate,
        p.bitwise_not: np.invert,
        p.population_count: lambda x: np.bitwise_count(_unsigned(x)),
        p.count_leading_zeros: _count_leading_zeros,
        p.absolute: np.abs,
        p.real: np.real,
        p.imag: np.imag,
        p.phase: np.angle,
        p.exp: np.exp,
        p.expm1: _expm1,
        p.log: np.log,
        p.log1p: np.log1p,
        p.log2: np.log2,
        p.log10: np.log10,
        p.sigmoid: _sigmoid,
        p.sin: np.sin,
        p.cos: np.cos,
        p.tan: np.tan,
        p.asin: np.arcsin,
        p.acos: np.arccos,
        p.atan: np.arctan,
        p.sinh: np.sinh,
        p.cosh: np.cosh,
        p.tanh: np.tanh,
        p.asinh: np.arcsinh,
        p.acosh: np.arccosh,
        p.atanh: np.arctanh,
        p.sqrt: np.sqrt,
        p.rsqrt: lambda x: 1 / np.sqrt(x),
        p.cbrt: _cbrt,
        p.erf: _special("erf"),
        p.erfc: _erfc,
        p.erf_inv: _special("erfinv"),
    }.items()
}
MEANING |= {
    p.stop_grad: lambda out, /, x: x,
    p.after: lambda out, /, x, other: x,
    p.select: lambda out, /, mask, then, otherwise: settled(out, np.where(mask, then, otherwise)),
    p.as_type: lambda out, /, x, *, type: settled(out, cast(x, type)),
    p.bitcast: lambda out, /, x, *, type: np.ascontiguousarray(x).view(type.dtype).reshape(out.shape),
    p.make_complex: _make_complex,
}


def _constant(out: Spec, /, *, value: Number, spec: Spec) -> np.ndarray:
    return np.full(out.shape, cast_number(value, out.type))


def _iota(out: Spec, /, *, type: Type, shape: tuple[int, ...], names: Any, axis: int | None) -> np.ndarray:
    if axis is None:
        return cast(np.arange(math.prod(shape)), type).reshape(shape)
    along = cast(np.arange(shape[axis]), type)
    return np.broadcast_to(along.reshape([-1] + [1] * (len(shape) - axis - 1)), shape).copy()


def _broadcast(out: Spec, /, x: np.ndarray, *, shape: tuple[int, ...], axes: tuple[int, ...], names: Any) -> np.ndarray:
    aligned = [1] * len(shape)
    for size, axis in zip(x.shape, axes, strict=True):
        aligned[axis] = size
    order = sorted(range(len(axes)), key=axes.__getitem__)
    return np.ascontiguousarray(np.broadcast_to(x.transpose(order).reshape(aligned), shape)).reshape(shape)


def _take_slices(x: np.ndarray, starts: Any, lengths: Any, strides: Any) -> np.ndarray:
    key = []
    for start, length, stride in zip(starts, lengths, strides, strict=True):
        stop = start + length if stride > 0 else start - length
        key.append(slice(start, stop if stop >= 0 else None, stride))
    return x[tuple(key)]


def _dynamic_slice(out: Spec, /, x: np.ndarray, *starts: np.ndarray, lengths: Any, strides: Any) -> np.ndarray:
    clamped = [
        min(max(int(start), 0), size - length) for start, size, length in zip(starts, x.shape, lengths, strict=True)
    ]
    return settled(out, _take_slices(x, clamped, lengths, strides))


def _pad(out: Spec, /, x: np.ndarray, value: np.ndarray, *, config: tuple[tuple[int, int, int], ...]) -> np.ndarray:
    return padded(x, value, out.shape, config)


def padded(x: np.ndarray, value: np.ndarray, shape: tuple[int, ...], config: Any) -> np.ndarray:
    """The array surrounded by a value, by (low, high, interior) for each axis; see the primitive ``pad``."""
    result = np.full(shape, value)
    places, taken = [], []
    for size, length, (low, _, interior) in zip(x.shape, shape, config, strict=True):
        step = interior + 1
        first = max(-(low // step), 0)
        end = max(min(size, -((low - length) // step)), first)
        taken.append(slice(first, end))
        places.append(slice(low + first * step, low + (end - 1) * step + 1, step) if end > first else slice(0, 0))
    result[tuple(places)] = x[tuple(taken)]
    return result


MEANING |= {
    p.constant: _constant,
    p.iota: _iota,
    p.reshape: lambda out, /, x, *, shape, names: np.reshape(x, shape),
    p.broadcast: _broadcast,
    p.transpose: lambda out, /, x, *, axes: settled(out, np.transpose(x, axes)),
    p.slice_: lambda out, /, x, *, starts, lengths, strides: settled(out, _take_slices(x, starts, lengths, strides)),
    p.dynamic_slice: _dynamic_slice,
    p.reverse: lambda out, /, x, *, axes: settled(out, np.flip(x, axes)),
    p.concatenate: lambda out, /, *xs, axis: np.concatenate(xs, axis=axis),
    p.pad: _pad,
}


def _reduction(function: Callable[..., Any]) -> Meaning:
    def meaning(out: Spec, /, x: np.ndarray, *, axes: tuple[int, ...], keep_axes: bool) -> np.ndarray:
        with np.errstate(all="ignore"):
            return settled(out, function(widened(x), axis=axes, keepdims=keep_axes))

    return meaning


def _product(x: np.ndarray, **how: Any) -> np.ndarray:
    # 1 times a complex infinity has NaN for a part, so that the first element stands for itself.
    return np.multiply.reduce(x, **how, **({"initial": None} if x.dtype.kind == "c" and x.size else {}))


def _arg_reduction(function: Callable[..., Any]) -> Meaning:
    def meaning(out: Spec, /, x: np.ndarray, *, axis: int, keep_axis: bool, tie_break: str, type: Type) -> np.ndarray:
        x = widened(x)
        if tie_break == "high":
            return settled(out, x.shape[axis] - 1 - function(np.flip(x, axis), axis=axis))
        return settled(out, function(x, axis=axis))

    return meaning


def _dot(out: Spec, /, left: np.ndarray, right: np.ndarray, *, contract: tuple, batch: tuple) -> np.ndarray:
    sides = []
    for x, contracted, batched in zip((left, right), contract, batch, strict=True):
        free = [axis for axis in range(x.ndim) if axis not in contracted and axis not in batched]
        sides.append((widened(x), list(batched), free, list(contracted)))
    (a, batch_a, free_a, contract_a), (b, batch_b, free_b, contract_b) = sides
    batches = tuple(a.shape[axis] for axis in batch_a)
    rows, columns = math.prod(a.shape[axis] for axis in free_a), math.prod(b.shape[axis] for axis in free_b)
    inner = math.prod(a.shape[axis] for axis in contract_a)
    a = a.transpose(batch_a + free_a + contract_a).reshape(*batches, rows, inner)
    b = b.transpose(batch_b + contract_b + free_b).reshape(*batches, inner, columns)
    with np.errstate(all="ignore"):
        return settled(out, np.matmul(a, b))


MEANING |= {
    p.sum_: _reduction(np.sum),
    p.product: _reduction(_product),
    p.reduce_max: _reduction(np.max),
    p.reduce_min: _reduction(np.min),
    p.all_: _reduction(np.all),
    p.any_: _reduction(np.any),
    p.argmax: _arg_reduction(np.argmax),
    p.argmin: _arg_reduction(np.argmin),
    p.dot: _dot,
}
