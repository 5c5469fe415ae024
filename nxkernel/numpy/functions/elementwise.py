"""NumPy's element-wise functions: a table of their names, the types that they compute in, and what they compute."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.errors import NxTypeError, message
from nxkernel.numpy.functions.ufunc import Comparison, Division, Power, Ufunc, zero_like
from nxkernel.operand import Operand
from nxkernel.ops.machinery.dispatch import apply, convert, filled
from nxkernel.primitives import Primitive
from nxkernel.types import Type, bool_

_UFUNCS: dict[str, Ufunc] = {}


def _ufunc(names: str, inputs: int, compute: Callable[..., Any], rule: Any, identity: Any = None) -> Ufunc:
    first, *others = names.split()
    ufunc = _UFUNCS[first] = Ufunc(first, inputs, compute, rule, identity)
    for other in others:
        _UFUNCS[other] = ufunc
    return ufunc


# Types -----------------------------------------------------------------------------------------------------------


def _same(type_: Type) -> Type:
    return type_


def _counted(type_: Type) -> Type:
    return types.s8 if type_ is bool_ else type_


def _fractions(type_: Type) -> Type:
    """The result type of a sine and the like: NumPy gives narrow integers narrow floats."""
    if not type_.is_integer or not types.follows_numpy():
        return types.to_floating(type_)
    return {8: types.f16, 16: types.f32}.get(type_.bits, types.f64)


def _real(name: str, rule: Any = _same) -> Any:
    def checked(type_: Type) -> Type:
        if type_.is_complex:
            raise NxTypeError(
                message(f"{name} takes no complex numbers, got {type_}.", "Take x.real, x.imag or abs(x) first.")
            )
        return rule(type_)

    return checked


def _whole(name: str, rule: Any = _same) -> Any:
    def checked(type_: Type) -> Type:
        if not type_.is_integer:
            raise NxTypeError(message(f"{name} takes integers, got {type_}.", "x.astype(np.int64) cuts fractions off."))
        return rule(type_)

    return checked


def _no_bool(name: str, instead: str) -> Any:
    def checked(type_: Type) -> Type:
        if type_ is bool_:
            raise NxTypeError(message(f"{name} of truth values is not defined, as in NumPy.", f"Write {instead}."))
        return type_

    return checked


# What is computed ------------------------------------------------------------------------------------------------


def _apply(primitive: Primitive) -> Callable[..., Operand]:
    return functools.partial(apply, primitive)


def _with_bool(primitive: Primitive, of_bool: Primitive) -> Callable[..., Operand]:
    """A function that applies one primitive, or another one to booleans."""

    def compute(*values: Operand) -> Operand:
        return apply(of_bool if values[0].type is bool_ else primitive, *values)

    return compute


def _next_after(value: Operand, toward: Operand) -> Operand:
    """The next number of a type in the direction of another one: by its bits, which count numbers of one sign."""
    zero, whole = zero_like(value), types.normalize(f"s{value.type.bits}")
    bits = apply(p.bitcast, value, type=whole)
    is_away = apply(p.equal, apply(p.less, value, toward), apply(p.less, zero, value))
    one, least = _number(1, bits), _number(types.limits(whole)[0], bits)
    moved = apply(p.select, is_away, apply(p.add, bits, one), apply(p.subtract, bits, one))
    # From zero it goes to the smallest number of the sign that the direction has.
    first = apply(p.select, apply(p.less, toward, zero), apply(p.add, least, one), one)
    moved = apply(p.select, apply(p.equal, value, zero), first, moved)
    result = apply(p.select, apply(p.equal, value, toward), toward, apply(p.bitcast, moved, type=value.type))
    return apply(p.select, _either(_is_nan(value), _is_nan(toward)), apply(p.add, value, toward), result)


def _number(value: Any, like: Operand) -> Operand:
    return filled(value, like.type, like.shape)


def _either(left: Operand, right: Operand) -> Operand:
    return apply(p.logical_or, left, right)


def _rest(left: Operand, right: Operand) -> Operand:
    rest = apply(p.remainder, left, right)
    if left.type.kind == "u":
        return rest
    zero = zero_like(rest)
    negative = apply(p.less, right, zero)
    opposite = apply(p.not_equal, apply(p.less, rest, zero), negative)
    moved = apply(p.logical_and, apply(p.not_equal, rest, zero), opposite)
    result = apply(p.select, moved, apply(p.add, rest, right), rest)
    if left.type.is_integer:
        return result
    # What is zero has the sign of the divisor.
    nothing = apply(p.select, negative, _number(-0.0, rest), zero)
    return apply(p.select, apply(p.equal, rest, zero), nothing, result)


def _rounded_once(compute: Callable[..., Operand]) -> Callable[..., Operand]:
    """A composite function that computes f16 and bf16 in f32, as NumPy does, to round once at the end."""

    def computed(*values: Operand) -> Operand:
        type_ = values[0].type
        wide = types.compute_type(type_)
        if wide is type_:
            return compute(*values)
        return convert(compute(*[convert(value, wide) for value in values]), type_)

    return computed


@_rounded_once
def _floored(left: Operand, right: Operand) -> Operand:
    if left.type.kind == "u":
        return apply(p.quotient, left, right)
    zero = zero_like(left)
    rest = apply(p.remainder, left, right)
    opposite = apply(p.not_equal, apply(p.less, rest, zero), apply(p.less, right, zero))
    moved = apply(p.logical_and, apply(p.not_equal, rest, zero), opposite)
    if left.type.is_integer:
        whole = apply(p.quotient, left, right)
        return apply(p.select, moved, apply(p.subtract, whole, _number(1, whole)), whole)
    whole = apply(p.round_half_even, apply(p.divide, apply(p.subtract, left, rest), right))
    whole = apply(p.select, moved, apply(p.subtract, whole, _number(1, whole)), whole)
    ratio = apply(p.divide, left, right)
    # What is zero has the sign of the ratio, which is no more than one then.
    whole = apply(p.select, apply(p.equal, whole, zero), apply(p.multiply, ratio, zero), whole)
    return apply(p.select, apply(p.equal, right, zero), ratio, whole)


def _power(left: Operand, right: Operand) -> Operand:
    return apply(p.power, left, right)


def _square(value: Operand) -> Operand:
    return apply(p.multiply, value, value)


def _reciprocal(value: Operand) -> Operand:
    return apply(p.quotient if value.type.is_integer else p.divide, _number(1, value), value)


def _sign(value: Operand) -> Operand:
    if not value.type.is_complex:
        return apply(p.sign, value)
    parts = [apply(part, value) for part in (p.real, p.imag)]
    infinite = [apply(p.is_infinity, part) for part in parts]
    # One infinite part is all that counts; of two nobody knows the angle.
    is_axis = apply(p.logical_xor, *infinite)
    ends = [apply(p.select, each, apply(p.sign, part), zero_like(part))
            for each, part in zip(infinite, parts, strict=True)]  # fmt: skip
    parts = [apply(p.select, is_axis, end, part) for end, part in zip(ends, parts, strict=True)]
    size = apply(p.absolute, apply(p.make_complex, *parts))
    is_zero = apply(p.equal, size, zero_like(size))
    size = apply(p.select, is_zero, _number(1, size), size)
    parts = [apply(p.select, is_zero, zero_like(size), apply(p.divide, part, size)) for part in parts]
    return apply(p.make_complex, *parts)


def _absolute(value: Operand) -> Operand:
    return value if value.type is bool_ or value.type.kind == "u" else apply(p.absolute, value)


def _unless_whole(primitive: Primitive) -> Callable[[Operand], Operand]:
    return lambda value: value if value.type.is_integer else apply(primitive, value)


def _rint(value: Operand) -> Operand:
    if value.type.is_complex:
        return apply(p.make_complex, *(apply(p.round_half_even, apply(part, value)) for part in (p.real, p.imag)))
    return apply(p.round_half_even, value)


def _is_nan(value: Operand) -> Operand:
    return filled(False, types.bool_, value.shape) if value.type.is_integer else apply(p.is_nan, value)


def _is_infinite(value: Operand) -> Operand:
    return filled(False, types.bool_, value.shape) if value.type.is_integer else apply(p.is_infinity, value)


def _is_finite(value: Operand) -> Operand:
    return apply(p.logical_not, _either(_is_nan(value), _is_infinite(value)))


def _signbit(value: Operand) -> Operand:
    if value.type.is_integer:
        return apply(p.less, value, zero_like(value))
    # By its bits, which tell of zeros and NaN as well.
    bits = apply(p.bitcast, value, type=types.normalize(f"s{value.type.bits}"))
    return apply(p.less, bits, zero_like(bits))


def _copysign(left: Operand, right: Operand) -> Operand:
    size = apply(p.absolute, left)
    return apply(p.select, _signbit(right), apply(p.negate, size), size)


@_rounded_once
def _hypot(left: Operand, right: Operand) -> Operand:
    left, right = apply(p.absolute, left), apply(p.absolute, right)
    high, low = apply(p.maximum, left, right), apply(p.minimum, left, right)
    ratio = apply(p.divide, low, apply(p.select, apply(p.equal, high, zero_like(high)), _number(1, high), high))
    result = apply(p.multiply, high, apply(p.sqrt, apply(p.add, _number(1, high), apply(p.multiply, ratio, ratio))))
    endless = _either(apply(p.is_infinity, left), apply(p.is_infinity, right))
    return apply(p.select, endless, _number(math.inf, high), result)


def _log_add(log1p: Callable[[Operand], Operand], exp: Callable[[Operand], Operand]) -> Callable[..., Operand]:
    def compute(left: Operand, right: Operand) -> Operand:
        # By selections, whose slopes and curvatures are those of the function where both are equal, too.
        greater = apply(p.greater, left, right)
        high, low = apply(p.select, greater, left, right), apply(p.select, greater, right, left)
        gap = apply(p.subtract, low, high)
        alike = apply(p.logical_and, apply(p.equal, left, right), _is_infinite(left))
        return apply(p.add, high, log1p(exp(apply(p.select, alike, _number(0, gap), gap))))

    return _rounded_once(compute)


def _order(primitive: Primitive, strict: Primitive) -> Callable[..., Operand]:
    """A comparison; complex numbers compare as NumPy orders them, by real parts, then imaginary parts."""

    def compute(left: Operand, right: Operand) -> Operand:
        if not left.type.is_complex:
            return apply(primitive, left, right)
        (x, y), (u, v) = ([apply(part, value) for part in (p.real, p.imag)] for value in (left, right))
        known = apply(p.logical_not, _either(apply(p.is_nan, y), apply(p.is_nan, v)))
        by_imaginary = apply(p.logical_and, apply(p.equal, x, u), apply(primitive, y, v))
        return _either(apply(p.logical_and, apply(strict, x, u), known), by_imaginary)

    return compute


def _exp2(value: Operand) -> Operand:
    return apply(p.power, _number(2, value), value)


def _log2_of_next(value: Operand) -> Operand:
    return apply(p.divide, apply(p.log1p, value), _number(math.log(2), value))


def _ignoring_nan(primitive: Primitive, of_bool: Primitive) -> Callable[..., Operand]:
    def compute(left: Operand, right: Operand) -> Operand:
        if left.type.is_integer:
            return _with_bool(primitive, of_bool)(left, right)
        result = apply(p.select, apply(p.is_nan, right), left, apply(primitive, left, right))
        return apply(p.select, apply(p.is_nan, left), right, result)

    return compute


def _heaviside(value: Operand, at_zero: Operand) -> Operand:
    zero = zero_like(value)
    step = apply(p.select, apply(p.less, value, zero), zero, _number(1, value))
    step = apply(p.select, apply(p.equal, value, zero), at_zero, step)
    return apply(p.select, apply(p.is_nan, value), value, step)


def _modf(value: Operand) -> tuple[Operand, Operand]:
    whole = apply(p.truncate, value)
    rest = apply(p.select, apply(p.is_infinity, value), zero_like(value), apply(p.subtract, value, whole))
    return _copysign(rest, value), whole


def _times(factor: float) -> Callable[[Operand], Operand]:
    def times(value: Operand) -> Operand:
        # A factor of 16 bits would be another one; NumPy rounds the product alone.
        wide = convert(value, types.f32) if value.type.bits < 32 else value
        return convert(apply(p.multiply, wide, _number(factor, wide)), value.type)

    return times


def _bit_count(value: Operand) -> Operand:
    return convert(apply(p.population_count, _absolute(value)), types.u8)


# The table -------------------------------------------------------------------------------------------------------

_ufunc("add", 2, _with_bool(p.add, p.logical_or), _same, 0)
_ufunc("subtract", 2, _apply(p.subtract), _no_bool("subtract", "a ^ b, or np.logical_xor(a, b)"))
_ufunc("multiply", 2, _with_bool(p.multiply, p.logical_and), _same, 1)
_UFUNCS["divide"] = _UFUNCS["true_divide"] = Division("divide", 2, _apply(p.divide), types.to_floating)
_ufunc("floor_divide", 2, _floored, _real("floor_divide", _counted))
_ufunc("remainder mod", 2, _rest, _real("remainder", _counted))
_ufunc("fmod", 2, _apply(p.remainder), _real("fmod", _counted))
_ufunc("divmod", 2, lambda a, b: (_floored(a, b), _rest(a, b)), _real("divmod", _counted))
_UFUNCS["power"] = _UFUNCS["pow"] = Power("power", 2, _power, _counted)
_ufunc("float_power", 2, _power, lambda t: types.c128 if t.is_complex else types.f64)
_ufunc("maximum", 2, _with_bool(p.maximum, p.logical_or), _real("maximum"))
_ufunc("minimum", 2, _with_bool(p.minimum, p.logical_and), _real("minimum"))
_ufunc("fmax", 2, _ignoring_nan(p.maximum, p.logical_or), _real("fmax"))
_ufunc("fmin", 2, _ignoring_nan(p.minimum, p.logical_and), _real("fmin"))
_ufunc("arctan2 atan2", 2, _apply(p.atan2), _real("arctan2", _fractions))
_ufunc("hypot", 2, _hypot, _real("hypot", _fractions), 0)
_ufunc("copysign", 2, _copysign, _real("copysign", _fractions))
_ufunc("nextafter", 2, _next_after, _real("nextafter", _fractions))
_ufunc("heaviside", 2, _heaviside, _real("heaviside", _fractions))
_ufunc("logaddexp", 2, _log_add(_apply(p.log1p), _apply(p.exp)), _real("logaddexp", _fractions), -math.inf)
_ufunc("logaddexp2", 2, _log_add(_log2_of_next, _exp2), _real("logaddexp2", _fractions), -math.inf)

for _name in ("equal", "not_equal"):
    _UFUNCS[_name] = Comparison(_name, 2, _apply(getattr(p, _name)), _same)
for _name in ("greater", "less", "greater_equal", "less_equal"):
    _UFUNCS[_name] = Comparison(_name, 2, _order(getattr(p, _name), getattr(p, _name.removesuffix("_equal"))), _same)
_ufunc("logical_and", 2, _apply(p.logical_and), _same, True)
_ufunc("logical_or", 2, _apply(p.logical_or), _same, False)
_ufunc("logical_xor", 2, _apply(p.logical_xor), _same, False)
_ufunc("logical_not", 1, _apply(p.logical_not), _same)
_ufunc("bitwise_and", 2, _with_bool(p.bitwise_and, p.logical_and), _whole("bitwise_and"), -1)
_ufunc("bitwise_or", 2, _with_bool(p.bitwise_or, p.logical_or), _whole("bitwise_or"), 0)
_ufunc("bitwise_xor", 2, _with_bool(p.bitwise_xor, p.logical_xor), _whole("bitwise_xor"), 0)
_ufunc("invert bitwise_not bitwise_invert", 1, _with_bool(p.bitwise_not, p.logical_not), _whole("invert"))
_ufunc("left_shift bitwise_left_shift", 2, _apply(p.left_shift), _whole("left_shift", _counted))
_ufunc("right_shift bitwise_right_shift", 2, _apply(p.right_shift), _whole("right_shift", _counted))
_ufunc("bitwise_count", 1, _bit_count, _whole("bitwise_count"))

_ufunc("negative", 1, _apply(p.negate), _no_bool("negative", "~a, or np.logical_not(a)"))
_ufunc("positive", 1, _same, _no_bool("positive", "a"))
_ufunc("absolute abs", 1, _absolute, _same)
_ufunc("fabs", 1, _apply(p.absolute), _real("fabs", _fractions))
_ufunc("sign", 1, _sign, _no_bool("sign", "a.astype(int)"))
_ufunc("square", 1, _square, _counted)
_ufunc("reciprocal", 1, _reciprocal, _counted)
_ufunc("conjugate conj", 1, lambda x: apply(p.conjugate, x) if x.type.is_complex else x, _counted)
_ufunc("floor", 1, _unless_whole(p.floor), _real("floor"))
_ufunc("ceil", 1, _unless_whole(p.ceil), _real("ceil"))
_ufunc("trunc", 1, _unless_whole(p.truncate), _real("trunc"))
_ufunc("rint", 1, _rint, _fractions)
_ufunc("isnan", 1, _is_nan, _same)
_ufunc("isinf", 1, _is_infinite, _same)
_ufunc("isfinite", 1, _is_finite, _same)
_ufunc("signbit", 1, _signbit, _real("signbit", _counted))
_ufunc("modf", 1, _modf, _real("modf", _fractions))
_ufunc("deg2rad radians", 1, _times(math.pi / 180), _real("deg2rad", _fractions))
_ufunc("rad2deg degrees", 1, _times(180 / math.pi), _real("rad2deg", _fractions))
_ufunc("exp2", 1, _exp2, _fractions)
for _names, _primitive in (
    ("sqrt", p.sqrt), ("cbrt", p.cbrt), ("exp", p.exp), ("expm1", p.expm1), ("log", p.log), ("log1p", p.log1p),
    ("log2", p.log2), ("log10", p.log10), ("sin", p.sin), ("cos", p.cos), ("tan", p.tan), ("arcsin asin", p.asin),
    ("arccos acos", p.acos), ("arctan atan", p.atan), ("sinh", p.sinh), ("cosh", p.cosh), ("tanh", p.tanh),
    ("arcsinh asinh", p.asinh), ("arccosh acosh", p.acosh), ("arctanh atanh", p.atanh),
):  # fmt: skip
    _ufunc(_names, 1, _apply(_primitive), _fractions)

globals().update(_UFUNCS)
__all__ = sorted(_UFUNCS)
