"""The lowering of each element-wise primitive to LLVM IR, on any number of lanes.

Half-width floats are held as ``float`` and rounded after each operation; predicates are held as single bits until their
number is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.codegen import (
    elementary,
    half_precision,
    integer_arithmetic,
    threefry,
    user_functions,
)
from nxkernel.compilers.numba_cpu.codegen.complex import elementwise
from nxkernel.compilers.numba_cpu.codegen.complex.register_pairs import ComplexRegisters, Register, each
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import WIDTH, FunctionBuilder, IRValue, suffix, vector
from nxkernel.compilers.numba_cpu.target.element_types import REGISTER
from nxkernel.types import Type


class Emitter:
    """Emits element-wise instructions with one builder.

    Parameters
    ----------
    b : FunctionBuilder
    inline : bool
        Whether elementary functions are inlined; a kernel with many of them calls them instead, so that its code and
        the time to compile it stay small.

    Attributes
    ----------
    mask : IRValue or None
        The lanes that count, those before an end; all where there is none.
    failure : IRValue or None
        The address at which a function of the user's that raises an error says so.
    """

    def __init__(self, b: FunctionBuilder, inline: bool) -> None:
        self.b, self.inline = b, inline
        self.mask: IRValue | None = None
        self.failure: IRValue | None = None
        self._blocks: dict[tuple[str, ...], tuple[IRValue, IRValue]] = {}

    # Values ----------------------------------------------------------------------------------------------------

    def splat(self, value: Register, lanes: int) -> Register:
        """A scalar broadcast to every lane."""
        return each(lambda part: self.b.splat(part, lanes), value)

    def number(self, value: Register, type_: Type) -> Register:
        """A value as a number: a truth value becomes 0 or 1 of its type."""
        if value.element == "i1" and REGISTER[type_] != "i1":
            return self.b.convert("zext", value, REGISTER[type_])
        return value

    def truth(self, value: Register) -> IRValue:
        """Whether a value is not zero, as an i1 a lane."""
        if isinstance(value, ComplexRegisters):
            return self.b.integer("or", self.truth(value.re), self.truth(value.im))
        if value.element == "i1":
            return value
        zero = self.b.constant(value.element, 0, value.lanes)
        if value.element in ("float", "double"):
            return self.b.fcmp("une", value, zero)
        return self.b.icmp("ne", value, zero)

    def rounded(self, value: IRValue, type_: Type) -> IRValue:
        """A float rounded to half width and back; other types unchanged."""
        if type_ is types.f16:
            return half_precision.widened(self.b, half_precision.narrowed(self.b, value))
        if type_ is types.bf16:
            return self.b.bitcast(self._brain_bits(value, keep=True), "float")
        return value

    def _brain_bits(self, value: IRValue, *, keep: bool) -> IRValue:
        """The bits of a float rounded to the nearest bf16, ties to even: as 32 bits, or as 16."""
        b, lanes = self.b, value.lanes
        bits = b.bitcast(value, "i32")
        odd = b.integer("and", b.integer("lshr", bits, b.constant("i32", 16, lanes)), b.constant("i32", 1, lanes))
        up = b.integer("add", bits, b.integer("add", odd, b.constant("i32", 0x7FFF, lanes)))
        nan = b.integer("or", bits, b.constant("i32", 0x400000, lanes))
        chosen = b.select(b.fcmp("uno", value, value), nan, up)
        if keep:
            return b.integer("and", chosen, b.constant("i32", -65536, lanes))
        return b.convert("trunc", b.integer("lshr", chosen, b.constant("i32", 16, lanes)), "i16")

    def from_memory(self, value: Register, type_: Type) -> Register:
        """An element as loaded, converted to its form in registers."""
        if type_ is types.f16:
            return half_precision.widened(self.b, value)
        if type_ is types.bf16:
            wide = self.b.convert("zext", value, "i32")
            return self.b.bitcast(self.b.integer("shl", wide, self.b.constant("i32", 16, value.lanes)), "float")
        return value

    def to_memory(self, value: Register, type_: Type) -> Register:
        """A register value converted to the form that memory holds."""
        value = self.number(value, type_)
        if type_ is types.f16:
            return half_precision.narrowed(self.b, value)
        if type_ is types.bf16:
            return self._brain_bits(value, keep=False)
        return value

    def elementary(self, name: str, *values: IRValue) -> IRValue:
        """Call an elementary function of ours by name."""
        element, lanes = values[0].element, values[0].lanes
        symbol = elementary.define(self.b.module, name, element, lanes, inline=self.inline)
        return self.b.call(symbol, element, lanes, *values)

    def threefry(self, *values: IRValue) -> tuple[IRValue, IRValue]:
        """Both words of a Threefry block; instructions that want one word each share it within a basic block."""
        key = (self.b.block, *(value.text for value in values))
        if key not in self._blocks:
            self._blocks[key] = threefry.block(self.b, *values)
        return self._blocks[key]

    # Dispatch --------------------------------------------------------------------------------------------------

    def apply(self, name: str, type_: Type, values: list[Register], operand: Any) -> Register:
        """The instructions of a primitive.

        Parameters
        ----------
        name : str
            The primitive's.
        type_ : Type
            Of the result.
        values : list of IRValue or ComplexRegisters
        operand : Type, int, ScalarFunction, bool or None
            The type of the first operand, where the result's does not tell it; which word, of random bits; the
            function of the user's; whether a product is rounded before anything is added to it.
        """
        if name == "njit":
            numbers = [self.number(value, own) for value, own in zip(values, operand.types, strict=True)]
            return user_functions.call(self.b, operand, numbers, self.mask, self.failure)
        if (
            type_.is_complex or any(isinstance(value, ComplexRegisters) for value in values)
        ) and name in elementwise.TABLE:
            return elementwise.TABLE[name](self, type_, values, operand or type_)
        if name in ELEMENTARY:
            return self.rounded(self.elementary(name, *values), type_)
        result = _TABLE[name](self, type_, values, type_ if operand is None else operand)
        return self.rounded(result, type_) if name in _ROUNDING else result


Lower = Callable[[Emitter, Type, list[IRValue], Type], IRValue]
_TABLE: dict[str, Lower] = {}

_ROUNDING = frozenset(["add", "subtract", "multiply", "divide", "pow", "remainder", "sqrt", "rsqrt", "as_type"])


def _row(name: str) -> Callable[[Lower], Lower]:
    def add(lower: Lower) -> Lower:
        _TABLE[name] = lower
        return lower

    return add


#: Primitives whose code for real operands does for complex ones too.
_BY_TRUTH = ("logical_and", "logical_or", "logical_xor", "logical_not", "select", "stop_grad", "after")


def lowered(complex: bool = False) -> frozenset[str]:
    """The names of the element-wise primitives that have a lowering, for real or complex numbers."""
    if complex:
        return frozenset((*elementwise.TABLE, *_BY_TRUTH, "njit"))
    return frozenset((*_TABLE, *ELEMENTARY, "njit"))


def _arithmetic(name: str, for_floats: str, for_integers: str) -> None:
    def lower(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
        left, right = (e.number(value, type_) for value in values)
        if type_.is_float:
            return getattr(e.b, for_floats)(left, right)
        return e.b.integer(for_integers, left, right)

    _TABLE[name] = lower


_arithmetic("add", "fadd", "add")
_arithmetic("subtract", "fsub", "sub")


@_row("multiply")
def _multiply(e: Emitter, type_: Type, values: list[IRValue], operand: Type | bool) -> IRValue:
    left, right = (e.number(value, type_) for value in values)
    if type_.is_float:
        # LLVM contracts where both the product and the sum allow it.
        return e.b.fmul(left, right, "" if operand is True else "contract")
    return e.b.integer("mul", left, right)


@_row("divide")
def _divide(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    return e.b.fdiv(*values)


@_row("remainder")
def _remainder(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    if type_.is_float:
        return e.elementary("fmod", *values)
    return _integer_division(e, type_, values, "rem")


@_row("quotient")
def _quotient(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    return _integer_division(e, type_, values, "div")


def _integer_division(e: Emitter, type_: Type, values: list[IRValue], which: str) -> IRValue:
    left, right = (e.number(value, type_) for value in values)
    return integer_arithmetic.division(e.b, left, right, which, signed=type_.kind == "s")


@_row("pow")
def _power(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    if type_.is_float:
        return e.elementary("pow", *values)
    return integer_arithmetic.power(e.b, *(e.number(value, type_) for value in values), signed=type_.kind == "s")


def _extreme(name: str, predicate: str, for_integers: str) -> None:
    def lower(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
        left, right = (e.number(value, type_) for value in values)
        if type_.is_float:
            chosen = e.b.select(e.b.fcmp(predicate, left, right), left, right)
            return e.b.select(e.b.fcmp("uno", left, left), left, chosen)
        return e.b.intrinsic(("s" if type_.kind == "s" else "u") + for_integers, left, right)

    _TABLE[name] = lower


_extreme("max", "ogt", "max")
_extreme("min", "olt", "min")


def _bits(name: str, instruction: str) -> None:
    def lower(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
        left, right = values
        if left.element == right.element == "i1":
            return e.b.integer(instruction, left, right)
        return e.b.integer(instruction, e.number(left, type_), e.number(right, type_))

    _TABLE[name] = lower


_bits("bitwise_and", "and")
_bits("bitwise_or", "or")
_bits("bitwise_xor", "xor")


@_row("bitwise_not")
def _bitwise_not(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    if type_ is types.bool_:
        return _logical_not(e, type_, values, operand)
    value = e.number(values[0], type_)
    return e.b.integer("xor", value, e.b.constant(value.element, -1, value.lanes))


@_row("left_shift")
def _left_shift(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    return _shift(e, type_, values, "shl")


@_row("right_shift")
def _right_shift(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    return _shift(e, type_, values, "ashr" if type_.kind == "s" else "lshr")


def _shift(e: Emitter, type_: Type, values: list[IRValue], instruction: str) -> IRValue:
    """A shift by any amount: beyond the width only the sign is left."""
    b = e.b
    left, right = (e.number(value, type_) for value in values)
    bits = WIDTH[left.element]
    most = b.constant(left.element, bits - 1, left.lanes)
    beyond = b.icmp("ugt", right, most)
    shifted = b.integer(instruction, left, b.select(beyond, most, right))
    if instruction == "ashr":
        return shifted
    return b.select(beyond, b.constant(left.element, 0, left.lanes), shifted)


def _count(name: str, intrinsic: str, extra: str) -> None:
    def lower(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
        return e.b.intrinsic(intrinsic, e.number(values[0], type_), extra=extra)

    _TABLE[name] = lower


_count("population_count", "ctpop", "")
_count("count_leading_zeros", "ctlz", "i1 false")


def _compare(name: str, for_floats: str, for_integers: str) -> None:
    def lower(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
        left, right = (e.number(value, operand) for value in values)
        if operand.is_float:
            return e.b.fcmp(for_floats, left, right)
        signed = operand.kind == "s" or for_integers in ("eq", "ne")
        predicate = for_integers if signed else "u" + for_integers[1:]
        return e.b.icmp(predicate, left, right)

    _TABLE[name] = lower


_compare("equal", "oeq", "eq")
_compare("not_equal", "une", "ne")
_compare("greater", "ogt", "sgt")
_compare("less", "olt", "slt")
_compare("greater_equal", "oge", "sge")
_compare("less_equal", "ole", "sle")


def _logic(name: str, instruction: str) -> None:
    def lower(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
        return e.b.integer(instruction, *(e.truth(value) for value in values))

    _TABLE[name] = lower


_logic("logical_and", "and")
_logic("logical_or", "or")
_logic("logical_xor", "xor")


@_row("logical_not")
def _logical_not(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    value = e.truth(values[0])
    return e.b.integer("xor", value, e.b.constant("i1", 1, value.lanes))


@_row("is_nan")
def _is_nan(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    value = values[0]
    return e.b.fcmp("uno", value, value) if operand.is_float else e.b.constant("i1", 0, value.lanes)


@_row("is_infinity")
def _is_infinity(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    value = values[0]
    if not operand.is_float:
        return e.b.constant("i1", 0, value.lanes)
    return e.b.fcmp("oeq", e.b.intrinsic("fabs", value), e.b.constant(value.element, math.inf, value.lanes))


@_row("negate")
def _negate(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    value = e.number(values[0], type_)
    return e.b.fneg(value) if type_.is_float else e.b.integer("sub", e.b.constant(value.element, 0, value.lanes), value)


@_row("sign")
def _sign(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    b, value = e.b, e.number(values[0], type_)
    zero, one, minus = (b.constant(value.element, n, value.lanes) for n in (0, 1, -1))
    if type_.is_float:
        sign = b.select(b.fcmp("ogt", value, zero), one, b.select(b.fcmp("olt", value, zero), minus, zero))
        return b.select(b.fcmp("uno", value, value), value, sign)
    if type_.kind != "s":
        return b.select(b.icmp("ne", value, zero), one, zero)
    return b.select(b.icmp("sgt", value, zero), one, b.select(b.icmp("slt", value, zero), minus, zero))


@_row("abs")
def _abs(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    value = e.number(values[0], type_)
    if type_.is_float:
        return e.b.intrinsic("fabs", value)
    return e.b.intrinsic("abs", value, extra="i1 false") if type_.kind == "s" else value


def _rounding(name: str, function: str) -> None:
    def lower(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
        return e.elementary(function, values[0]) if type_.is_float else values[0]

    _TABLE[name] = lower


_rounding("floor", "floor")
_rounding("ceil", "ceil")
_rounding("truncate", "trunc")
_rounding("round", "round")
_rounding("round_half_even", "rint")


@_row("sqrt")
def _sqrt(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    return e.b.intrinsic("sqrt", values[0])


@_row("rsqrt")
def _rsqrt(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    value = values[0]
    return e.b.fdiv(e.b.constant(value.element, 1, value.lanes), e.b.intrinsic("sqrt", value))


@_row("stop_grad")
@_row("after")
@_row("conjugate")
@_row("real")
def _real(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    return values[0]


@_row("imag")
def _imag(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    return e.b.constant(values[0].element, 0, values[0].lanes)


@_row("phase")
def _phase(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    b, value = e.b, values[0]
    signed = b.icmp("slt", b.bitcast(value, "i32" if value.element == "float" else "i64"), _zero_bits(b, value))
    angle = b.select(signed, b.constant(value.element, math.pi, value.lanes), b.constant(value.element, 0, value.lanes))
    return b.select(b.fcmp("uno", value, value), value, angle)


def _zero_bits(b: FunctionBuilder, value: IRValue) -> IRValue:
    return b.constant("i32" if value.element == "float" else "i64", 0, value.lanes)


@_row("select")
def _select(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> IRValue:
    mask, then, otherwise = values
    if then.element != otherwise.element:
        then, otherwise = e.number(then, type_), e.number(otherwise, type_)
    chosen = e.truth(mask)
    return each(lambda left, right: e.b.select(chosen, left, right), then, otherwise)


@_row("threefry2x32")
def _threefry(e: Emitter, type_: Type, values: list[IRValue], word: int) -> IRValue:
    return e.threefry(*values)[word]


@_row("as_type")
def _as_type(e: Emitter, type_: Type, values: list[IRValue], source: Type) -> IRValue:
    """Conversions; a float outside the range of an integer becomes the nearest integer, NaN becomes 0."""
    b, value = e.b, values[0]
    if type_ is types.bool_:
        return e.truth(value)
    element = REGISTER[type_]
    if value.element == "i1" and type_.is_float:
        return b.select(value, b.constant(element, 1, value.lanes), b.constant(element, 0, value.lanes))
    value = e.number(value, source)
    if type_.is_float:
        if source is types.f64 and type_ is types.f16:
            value = _odd(b, value)
        if source.is_float:
            return b.convert("fpext" if element == "double" else "fptrunc", value, element)
        return b.convert("sitofp" if source.kind == "s" else "uitofp", value, element)
    if source.is_float:
        kind, own = vector(element, value.lanes), suffix(element, value.lanes)
        name = f"llvm.{'fptosi' if type_.kind == 's' else 'fptoui'}.sat.{own}.{suffix(value.element, value.lanes)}"
        b.module.declare(name, kind, [value.type])
        return b.call(name, element, value.lanes, value)
    if WIDTH[element] < WIDTH[value.element]:
        return b.convert("trunc", value, element)
    return b.convert("sext" if source.kind == "s" else "zext", value, element)


def _odd(b: FunctionBuilder, value: IRValue) -> IRValue:
    """A double rounded to f32 precision with round-to-odd, so that rounding it again gives the correctly rounded
    result.
    """
    bits, lanes = b.bitcast(value, "i64"), value.lanes
    lost, last = b.constant("i64", (1 << 29) - 1, lanes), b.constant("i64", 1 << 29, lanes)
    kept = b.integer("and", bits, b.constant("i64", -1 << 29, lanes))
    inexact = b.icmp("ne", b.integer("and", bits, lost), b.constant("i64", 0, lanes))
    return b.bitcast(b.select(inexact, b.integer("or", kept, last), kept), "double")


@_row("bitcast")
def _bitcast(e: Emitter, type_: Type, values: list[IRValue], source: Type) -> IRValue:
    b, value = e.b, e.number(values[0], source)
    bits = value
    if source in (types.f16, types.bf16):
        bits = b.bitcast(e.to_memory(value, source), "i16")
    if type_ is types.f16:
        return e.from_memory(b.bitcast(bits, "half"), type_)
    if type_ is types.bf16:
        return e.from_memory(bits, type_)
    return b.bitcast(bits, REGISTER[type_])


#: Primitives that are functions of :mod:`nxkernel.compilers.numba_cpu.codegen.elementary`, and have no row here.
ELEMENTARY = frozenset(elementary.FUNCTIONS.keys() & p.TABLE.keys() - _TABLE.keys())
