"""The intrinsics that kernel source may call on a GPU, for Numba CUDA.

The names are those of :mod:`~nxkernel.compilers.numba_cuda.language.intrinsics`.

Functions of a kernel's own cannot be called where there is no driver that tells for which processor they are, so that
what kernels need becomes LLVM's instructions in place.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core import targetconfig  # pyright: ignore[reportMissingImports]  found by a hook of numba-cuda
from numba.cuda.extending import intrinsic

from nxkernel.backends.threefry import PARITY, ROTATIONS
from nxkernel.compilers.numba_cuda.toolchain import memory_intrinsics
from nxkernel.primitives import ELEMENTARY

Codegen = Callable[[ir.IRBuilder, list[Any], list[Any]], Any]
TABLE: dict[str, Any] = {"inf": math.inf, "nan": math.nan, **memory_intrinsics.TABLE}

_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_BIT, _I16, _I32, _I64 = ir.IntType(1), ir.IntType(16), ir.IntType(32), ir.IntType(64)
_FLOAT, _DOUBLE, _HALF = ir.FloatType(), ir.DoubleType(), ir.HalfType()


def _intrinsic(name: str, result: Any, *parameters: Any) -> Callable[[Codegen], Codegen]:
    """A decorator that registers an intrinsic: ``write(builder, arguments, their types)`` gives the result's value.

    A parameter is a type that its argument is converted to, or a class of types of which it must be, or None where it
    has the type of the one before. The result is a type, or the number of the parameter that has it.
    """

    def typed(typingctx: Any, *operands: Any) -> Any:
        if len(operands) != len(parameters):
            return None
        arguments: list[Any] = []
        for parameter, actual in zip(parameters, map(types.unliteral, operands), strict=True):
            if isinstance(parameter, types.Type):
                actual = parameter
            elif parameter is None:
                if actual != arguments[-1]:
                    return None
            elif not isinstance(actual, parameter):
                return None
            arguments.append(actual)
        returned = arguments[result] if isinstance(result, int) else result
        return returned(*arguments), codegen

    def codegen(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        value = write(builder, list(arguments), list(signature.args))
        return context.make_tuple(builder, signature.return_type, value) if isinstance(value, list) else value

    write: Codegen

    def add(function: Codegen) -> Codegen:
        nonlocal write
        write = function
        typed.__name__ = name
        # Numba counts the arguments by the names of the parameters.
        names = ("typingctx", *(f"argument{position}" for position in range(len(parameters))))
        typed.__signature__ = inspect.Signature([inspect.Parameter(one, _POSITIONAL) for one in names])
        TABLE[name] = intrinsic(typed)
        return function

    return add


def _call(builder: ir.IRBuilder, name: str, result: Any, *arguments: Any) -> Any:
    """Call a function of the module, of libdevice or of LLVM."""
    declared = builder.module.globals.get(name)
    if declared is None:
        declared = ir.Function(builder.module, ir.FunctionType(result, [value.type for value in arguments]), name)
    return builder.call(declared, arguments)


def _libdevice(builder: ir.IRBuilder, name: str, *arguments: Any) -> Any:
    type_ = arguments[0].type
    return _call(builder, f"__nv_{name}{'f' if type_ == _FLOAT else ''}", type_, *arguments)


def _zero(value: Any) -> ir.Constant:
    return ir.Constant(value.type, 0 if isinstance(value.type, ir.IntType) else 0.0)


def _one(value: Any) -> ir.Constant:
    return ir.Constant(value.type, 1 if isinstance(value.type, ir.IntType) else 1.0)


def _like(value: Any, number: float) -> ir.Constant:
    return ir.Constant(value.type, number)


def _is_nan(b: ir.IRBuilder, value: Any) -> Any:
    return b.fcmp_unordered("uno", value, value)


def _before(b: ir.IRBuilder, sign: str, left: Any, right: Any, type_: Any) -> Any:
    """Compare two numbers of a type."""
    if isinstance(type_, types.Float):
        return b.fcmp_ordered(sign, left, right)
    return (b.icmp_signed if type_.signed else b.icmp_unsigned)(sign, left, right)


# Indices ---------------------------------------------------------------------------------------------------------


# Unsigned division is shorter, and where both numbers have 32 bits the processor is asked for no more.
@_intrinsic("div", types.int64, types.int64, types.int64)
def _div(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return b.udiv(*operands)


@_intrinsic("rem", types.int64, types.int64, types.int64)
def _rem(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return b.urem(*operands)


# Conversions -----------------------------------------------------------------------------------------------------


def _converted(b: ir.IRBuilder, value: Any, source: Any, target: Any) -> Any:
    """A number converted to another type."""
    if source == target:
        return value
    if isinstance(target, types.Float):
        kind = _FLOAT if target == types.float32 else _DOUBLE
        if isinstance(source, types.Float):
            return (b.fptrunc if kind == _FLOAT else b.fpext)(value, kind)
        signed = isinstance(source, types.Integer) and source.signed
        return (b.sitofp if signed else b.uitofp)(value, kind)
    kind = ir.IntType(target.bitwidth)
    if isinstance(source, types.Float):
        return _saturated(b, value, target, kind)
    width = value.type.width
    if width > kind.width:
        return b.trunc(value, kind)
    if width == kind.width:
        return value
    return (b.sext if isinstance(source, types.Integer) and source.signed else b.zext)(value, kind)


def _saturated(b: ir.IRBuilder, value: Any, target: Any, kind: ir.IntType) -> Any:
    """A float converted to an integer: truncated and saturated; NaN becomes 0."""
    low, high = target.minval, target.maxval
    below = b.fcmp_ordered("<", value, _like(value, float(low)))
    above = b.fcmp_ordered(">=", value, _like(value, float(high + 1)))
    outside = b.or_(b.or_(below, above), _is_nan(b, value))
    inside = b.select(outside, _zero(value), value)
    whole = (b.fptosi if target.signed else b.fptoui)(inside, kind)
    return b.select(above, ir.Constant(kind, high), b.select(below, ir.Constant(kind, low), whole))


for _name, _target in {
    **{f"s{bits}": getattr(types, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(types, f"uint{bits}") for bits in (8, 16, 32, 64)},
    "f32": types.float32,
    "f64": types.float64,
}.items():

    @_intrinsic(_name, _target, (types.Number, types.Boolean))
    def _cast(b: ir.IRBuilder, operands: list[Any], kinds: list[Any], target: Any = _target) -> Any:
        return _converted(b, operands[0], kinds[0], target)


def _nonzero(b: ir.IRBuilder, value: Any) -> Any:
    if isinstance(value.type, ir.IntType):
        return b.icmp_unsigned("!=", value, _zero(value))
    return b.fcmp_unordered("!=", value, _zero(value))


@_intrinsic("truth", types.boolean, (types.Number, types.Boolean))
def _truth(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return _nonzero(b, operands[0])


def _half_bits(b: ir.IRBuilder, value: Any) -> Any:
    return b.bitcast(b.fptrunc(value, _HALF), _I16)


def _half_value(b: ir.IRBuilder, bits: Any) -> Any:
    return b.fpext(b.bitcast(bits, _HALF), _FLOAT)


def _brain_bits(b: ir.IRBuilder, value: Any) -> Any:
    """The bits of the nearest bf16, ties to even."""
    if value.type == _DOUBLE:
        value = b.fptrunc(value, _FLOAT)
    if targetconfig.ConfigStack().top().compute_capability >= (8, 0):
        kind = ir.FunctionType(_I16, [_FLOAT])
        return b.call(ir.InlineAsm(kind, "cvt.rn.bf16.f32 $0, $1;", "=h,f", side_effect=False), [value])
    bits = b.bitcast(value, _I32)
    odd = b.and_(b.lshr(bits, ir.Constant(_I32, 16)), ir.Constant(_I32, 1))
    up = b.add(bits, b.add(odd, ir.Constant(_I32, 0x7FFF)))
    chosen = b.select(_is_nan(b, value), b.or_(bits, ir.Constant(_I32, 0x400000)), up)
    return b.trunc(b.lshr(chosen, ir.Constant(_I32, 16)), _I16)


def _brain_value(b: ir.IRBuilder, bits: Any) -> Any:
    return b.bitcast(b.shl(b.zext(bits, _I32), ir.Constant(_I32, 16)), _FLOAT)


for _name, _to_bits, _to_value in (("f16", _half_bits, _half_value), ("bf16", _brain_bits, _brain_value)):
    for _join in ("add", "multiply", "max", "min"):
        TABLE[f"atomic_{_join}_{_name}"] = memory_intrinsics.of_halves(_join, _to_value, _to_bits)

    @_intrinsic(f"{_name}_value", types.float32, types.uint16)
    def _value(b: ir.IRBuilder, operands: list[Any], kinds: list[Any], value: Any = _to_value) -> Any:
        return value(b, operands[0])

    @_intrinsic(f"{_name}_bits", types.uint16, types.Float)
    def _bits(b: ir.IRBuilder, operands: list[Any], kinds: list[Any], bits: Any = _to_bits) -> Any:
        return bits(b, operands[0])

    @_intrinsic(f"{_name}_rounded", types.float32, types.Float)
    def _rounded(
        b: ir.IRBuilder, operands: list[Any], kinds: list[Any], bits: Any = _to_bits, value: Any = _to_value
    ) -> Any:
        return value(b, bits(b, operands[0]))


# The type of the result is not that of an argument, so that these two are written out.
@intrinsic
def float_bits(typingctx: Any, x: Any) -> Any:
    """The bits of a float as an unsigned integer."""
    if not isinstance(x, types.Float):
        return None
    result, kind = (types.uint32, _I32) if x == types.float32 else (types.uint64, _I64)
    return result(x), lambda context, b, signature, operands: b.bitcast(operands[0], kind)


@intrinsic
def bits_float(typingctx: Any, x: Any) -> Any:
    """The float with the bits of an integer."""
    if not isinstance(x, types.Integer) or x.bitwidth < 32:
        return None
    result, kind = (types.float32, _FLOAT) if x.bitwidth == 32 else (types.float64, _DOUBLE)
    return result(types.unliteral(x)), lambda context, b, signature, operands: b.bitcast(operands[0], kind)


TABLE |= {"float_bits": float_bits, "bits_float": bits_float}


# Arithmetic ------------------------------------------------------------------------------------------------------


@_intrinsic("select", 1, types.boolean, (types.Number, types.Boolean), None)
def _select(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return b.select(*operands)


@_intrinsic("times", 0, types.Float, None)
def _times(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return _call(b, f"__nv_{'f' if kinds[0] == types.float32 else 'd'}mul_rn", operands[0].type, *operands)


@_intrinsic("divide", 0, types.Float, None)
def _divide(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return b.fdiv(*operands)


def _division(b: ir.IRBuilder, operands: list[Any], kinds: list[Any], which: str) -> Any:
    """A quotient or remainder: by zero it is 0, and the least number over -1 wraps."""
    left, right = operands
    zero, one = _zero(right), _one(right)
    by_zero = b.icmp_unsigned("==", right, zero)
    if not kinds[0].signed:
        return b.select(by_zero, zero, getattr(b, f"u{which}")(left, b.select(by_zero, one, right)))
    by_minus = b.icmp_signed("==", right, _like(right, -1))
    result = getattr(b, f"s{which}")(left, b.select(b.or_(by_zero, by_minus), one, right))
    negated = b.sub(zero, left) if which == "div" else zero
    return b.select(by_zero, zero, b.select(by_minus, negated, result))


@_intrinsic("quotient", 0, types.Integer, None)
def _quotient(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return _division(b, operands, kinds, "div")


@_intrinsic("remainder", 0, types.Integer, None)
def _remainder(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return _division(b, operands, kinds, "rem")


@_intrinsic("whole_power", 0, types.Integer, None)
def _whole_power(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    """A wrapping integer power by squaring; truncated toward zero where the exponent is negative."""
    base, exponent = operands
    zero, one = _zero(base), _one(base)
    entry, head = b.block, b.append_basic_block("power")
    body, done = b.append_basic_block("power.turn"), b.append_basic_block("power.done")
    b.branch(head)
    b.position_at_end(head)
    result, square, rest = (b.phi(base.type) for _ in range(3))
    for phi, first in ((result, one), (square, base), (rest, exponent)):
        phi.add_incoming(first, entry)
    b.cbranch(b.icmp_unsigned("!=", rest, zero), body, done)
    b.position_at_end(body)
    odd = b.icmp_unsigned("!=", b.and_(rest, one), zero)
    result.add_incoming(b.select(odd, b.mul(result, square), result), body)
    square.add_incoming(b.mul(square, square), body)
    rest.add_incoming(b.lshr(rest, one), body)
    b.branch(head)
    b.position_at_end(done)
    if not kinds[0].signed:
        return result
    # A negative power is a fraction, but for 1 and -1, whose unsigned exponent keeps its parity.
    unit = b.or_(b.icmp_signed("==", base, one), b.icmp_signed("==", base, _like(base, -1)))
    fraction = b.and_(b.icmp_signed("<", exponent, zero), b.not_(unit))
    return b.select(fraction, zero, result)


def _shift(b: ir.IRBuilder, operands: list[Any], instruction: str) -> Any:
    """A shift by any amount: beyond the width only the sign is left."""
    left, right = operands
    most = _like(right, right.type.width - 1)
    beyond = b.icmp_unsigned(">", right, most)
    shifted = getattr(b, instruction)(left, b.select(beyond, most, right))
    return shifted if instruction == "ashr" else b.select(beyond, _zero(left), shifted)


@_intrinsic("shift_left", 0, types.Integer, None)
def _shift_left(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return _shift(b, operands, "shl")


@_intrinsic("shift_right", 0, types.Integer, None)
def _shift_right(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return _shift(b, operands, "ashr" if kinds[0].signed else "lshr")


@_intrinsic("population_count", 0, types.Integer)
def _population_count(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return b.ctpop(operands[0])


@_intrinsic("leading_zeros", 0, types.Integer)
def _leading_zeros(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return b.ctlz(operands[0], ir.Constant(_BIT, 0))


for _name, _sign in (("maximum", ">"), ("minimum", "<")):

    @_intrinsic(_name, 0, types.Number, None)
    def _extreme(b: ir.IRBuilder, operands: list[Any], kinds: list[Any], sign: str = _sign) -> Any:
        left, right = operands
        chosen = b.select(_before(b, sign, left, right, kinds[0]), left, right)
        return b.select(_is_nan(b, left), left, chosen) if isinstance(kinds[0], types.Float) else chosen


def _fabs(b: ir.IRBuilder, value: Any) -> Any:
    return _libdevice(b, "fabs", value)


@_intrinsic("absolute", 0, types.Number)
def _absolute(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    value = operands[0]
    if isinstance(kinds[0], types.Float):
        return _fabs(b, value)
    zero = _zero(value)
    return b.select(b.icmp_signed("<", value, zero), b.sub(zero, value), value) if kinds[0].signed else value


@_intrinsic("sign", 0, types.Number)
def _sign_of(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    value, zero, one = operands[0], _zero(operands[0]), _one(operands[0])
    whole = b.select(_before(b, ">", value, zero, kinds[0]), one, zero)
    if isinstance(kinds[0], types.Float) or kinds[0].signed:
        whole = b.select(_before(b, "<", value, zero, kinds[0]), _like(value, -1), whole)
    return b.select(_is_nan(b, value), value, whole) if isinstance(kinds[0], types.Float) else whole


# Functions of floats ---------------------------------------------------------------------------------------------

_LIBDEVICE = {name: row.libdevice or name for name, row in ELEMENTARY.items() if row.libdevice != "-"}
_LIBDEVICE |= {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "round_away": "round", "round_even": "rint"}

for _name, _function in _LIBDEVICE.items():

    @_intrinsic(_name, 0, types.Float)
    def _of_one(b: ir.IRBuilder, operands: list[Any], kinds: list[Any], function: str = _function) -> Any:
        return _libdevice(b, function, *operands)


for _name in ("atan2", "fmod", "pow"):

    @_intrinsic(_name, 0, types.Float, None)
    def _of_two(b: ir.IRBuilder, operands: list[Any], kinds: list[Any], function: str = _name) -> Any:
        return _libdevice(b, function, *operands)


@_intrinsic("sigmoid", 0, types.Float)
def _sigmoid(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    """The sigmoid by the exponential of ``-|x|``, which does not overflow."""
    value, one = operands[0], _one(operands[0])
    power = _libdevice(b, "exp", b.fsub(_like(value, -0.0), _fabs(b, value)))
    above = b.select(b.fcmp_ordered(">=", value, _zero(value)), one, power)
    return b.fdiv(above, b.fadd(one, power))


@_intrinsic("is_infinite", types.boolean, types.Float)
def _is_infinite(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    return b.fcmp_ordered("==", _fabs(b, operands[0]), _like(operands[0], math.inf))


@_intrinsic("phase", 0, types.Float)
def _phase(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> Any:
    """The phase of a real number: π if its sign bit is set, even of zero."""
    value = operands[0]
    bits = b.bitcast(value, _I32 if value.type == _FLOAT else _I64)
    angle = b.select(b.icmp_signed("<", bits, _zero(bits)), _like(value, math.pi), _zero(value))
    return b.select(_is_nan(b, value), value, angle)


@_intrinsic("threefry", types.UniTuple(types.uint32, 2), *[types.uint32] * 4)
def _threefry(b: ir.IRBuilder, operands: list[Any], kinds: list[Any]) -> list[Any]:
    k0, k1, x0, x1 = operands
    keys = (k0, k1, b.xor(b.xor(k0, k1), ir.Constant(_I32, PARITY)))
    first, second = b.add(x0, k0), b.add(x1, k1)
    for count, rotations in enumerate(ROTATIONS, start=1):
        for bits in rotations:
            first = b.add(first, second)
            turned = b.or_(b.shl(second, ir.Constant(_I32, bits)), b.lshr(second, ir.Constant(_I32, 32 - bits)))
            second = b.xor(turned, first)
        first = b.add(first, keys[count % 3])
        second = b.add(second, b.add(keys[(count + 1) % 3], ir.Constant(_I32, count)))
    return [first, second]
