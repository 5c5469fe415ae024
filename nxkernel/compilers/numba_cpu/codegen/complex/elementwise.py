"""The lowering of element-wise primitives of complex numbers to LLVM IR, on any number of lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.codegen.complex import powers
from nxkernel.compilers.numba_cpu.codegen.complex.numbers import LaneNumber
from nxkernel.compilers.numba_cpu.codegen.complex.register_pairs import ComplexRegisters, Register, each
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue
from nxkernel.compilers.numba_cpu.target.element_types import REGISTER
from nxkernel.compilers.rewrite import complex_functions
from nxkernel.compilers.rewrite.complex_functions import Complex
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cpu.codegen.elementwise import Emitter

Lower = Callable[["Emitter", Type, list[Register], Type], Register]
#: By the name of a primitive: ``lower(emitter, type of the result, values, type of the first operand)``.
TABLE: dict[str, Lower] = {}


def _row(name: str) -> Callable[[Lower], Lower]:
    def add(lower: Lower) -> Lower:
        TABLE[name] = lower
        return lower

    return add


# Arithmetic ------------------------------------------------------------------------------------------------------


@_row("add")
def _add(e: Emitter, type_: Type, values: list[ComplexRegisters], operand: Type) -> ComplexRegisters:
    return each(e.b.fadd, *values)


@_row("subtract")
def _subtract(e: Emitter, type_: Type, values: list[ComplexRegisters], operand: Type) -> ComplexRegisters:
    return each(e.b.fsub, *values)


@_row("multiply")
def _multiply(e: Emitter, type_: Type, values: list[ComplexRegisters], operand: Type | bool) -> ComplexRegisters:
    b, (x, y) = e.b, values
    flags = "" if operand is True else "contract"
    return ComplexRegisters(
        b.fsub(b.fmul(x.re, y.re, flags), b.fmul(x.im, y.im, flags)),
        b.fadd(b.fmul(x.re, y.im, flags), b.fmul(x.im, y.re, flags)),
    )


@_row("negate")
def _negate(e: Emitter, type_: Type, values: list[ComplexRegisters], operand: Type) -> ComplexRegisters:
    return each(e.b.fneg, *values)


@_row("conjugate")
def _conjugate(e: Emitter, type_: Type, values: list[ComplexRegisters], operand: Type) -> ComplexRegisters:
    return ComplexRegisters(values[0].re, e.b.fneg(values[0].im))


# Parts -----------------------------------------------------------------------------------------------------------


@_row("real")
def _real(e: Emitter, type_: Type, values: list[ComplexRegisters], operand: Type) -> IRValue:
    return values[0].re


@_row("imag")
def _imag(e: Emitter, type_: Type, values: list[ComplexRegisters], operand: Type) -> IRValue:
    return values[0].im


@_row("complex")
def _complex(e: Emitter, type_: Type, values: list[IRValue], operand: Type) -> ComplexRegisters:
    return ComplexRegisters(*values)


@_row("as_type")
def _as_type(e: Emitter, type_: Type, values: list[Register], source: Type) -> Register:
    """A conversion: real to complex takes the number as real part; complex to real drops the imaginary part, but for
    bool.
    """
    (value,) = values
    if type_ is types.bool_:
        return e.truth(value)
    if source.is_complex:
        part = types.to_real(source)
        if not type_.is_complex:
            return e.apply("as_type", type_, [value.re], part)
        return each(lambda x: e.apply("as_type", types.to_real(type_), [x], part), value)
    real = e.apply("as_type", types.to_real(type_), [value], source)
    return ComplexRegisters(real, e.b.constant(REGISTER[type_], 0, real.lanes))


# Predicates ------------------------------------------------------------------------------------------------------


def _predicate(name: str, combine: str, test: Callable[..., IRValue]) -> None:
    """A predicate that tests both parts and joins the results by an instruction."""

    def lower(e: Emitter, type_: Type, values: list[ComplexRegisters], operand: Type) -> IRValue:
        both = each(lambda *parts: test(e.b, *parts), *values)
        return e.b.integer(combine, both.re, both.im)

    TABLE[name] = lower


_predicate("equal", "and", lambda b, x, y: b.fcmp("oeq", x, y))
_predicate("not_equal", "or", lambda b, x, y: b.fcmp("une", x, y))


# Functions -------------------------------------------------------------------------------------------------------


def _function(name: str, function: Callable[..., Complex | LaneNumber]) -> None:
    """A lowering by a function on :class:`LaneNumber` values."""

    def lower(e: Emitter, type_: Type, values: list[ComplexRegisters], operand: Type) -> Register:
        result = function(*(Complex(LaneNumber(e.b, z.re, e), LaneNumber(e.b, z.im, e)) for z in values))
        return ComplexRegisters(result.re.value, result.im.value) if isinstance(result, Complex) else result.value

    TABLE[name] = lower


for _primitive, _written in {**complex_functions.FUNCTIONS, p.power: powers.power}.items():
    _function(_primitive.name, _written)
