"""Conversions of f16 as LLVM IR: the processor's instructions, or integer arithmetic where it has none.

LLVM calls a function of the C compiler's library for each lane there, which few systems have.
"""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRValue
from nxkernel.compilers.numba_cpu.target import target_processor

#: Of single floats: the bits of infinity, of what rounds to infinity in half width, of the smallest normal half, of the
#: float whose unit in the last place is that of the smallest half, and how far exponents are stored apart.
_INFINITY, _TOO_GREAT, _NORMAL, _UNIT, _APART = 0x7F800000, 0x47800000, 0x38800000, 0x3F000000, 112 << 23


def widened(b: FunctionBuilder, value: IRValue) -> IRValue:
    """An f16 converted to f32, exactly."""
    if target_processor.has("f16c"):
        return b.convert("fpext", value, "float")

    def number(bits: int) -> IRValue:
        return b.constant("i32", bits, value.lanes)

    bits = b.convert("zext", b.bitcast(value, "i16"), "i32")
    sign = b.integer("shl", b.integer("and", bits, number(0x8000)), number(16))
    size = b.integer("shl", b.integer("and", bits, number(0x7FFF)), number(13))
    normal = b.integer("add", size, number(_APART))
    # Below the smallest normal number: as the end of a number of that exponent, whose beginning is taken away again.
    low = b.bitcast(b.integer("add", size, number(_NORMAL)), "float")
    small = b.bitcast(b.fsub(low, b.bitcast(number(_NORMAL), "float"), ""), "i32")
    special = b.integer("or", size, number(_INFINITY))
    quiet = b.integer("or", special, number(0x400000))
    special = b.select(b.icmp("ugt", special, number(_INFINITY)), quiet, special)
    size_or = b.select(b.icmp("ult", size, number(0x400 << 13)), small, normal)
    magnitude = b.select(b.icmp("uge", size, number(0x7C00 << 13)), special, size_or)
    return b.bitcast(b.integer("or", magnitude, sign), "float")


def narrowed(b: FunctionBuilder, value: IRValue) -> IRValue:
    """An f32 rounded to the nearest f16, ties to even."""
    if target_processor.has("f16c"):
        return b.convert("fptrunc", value, "half")

    def number(bits: int) -> IRValue:
        return b.constant("i32", bits, value.lanes)

    bits = b.bitcast(value, "i32")
    size = b.integer("and", bits, number(0x7FFFFFFF))
    sign = b.integer("lshr", b.integer("xor", bits, size), number(16))
    cut = b.integer("lshr", size, number(13))
    odd = b.integer("and", cut, number(1))
    up = b.integer("add", b.integer("add", size, number(0xFFF - _APART)), odd)
    normal = b.integer("lshr", up, number(13))
    # Below the smallest normal number: a sum with a float of that unit rounds, and its end is the half.
    unit = number(_UNIT)
    total = b.fadd(b.bitcast(size, "float"), b.bitcast(unit, "float"), "")
    small = b.integer("sub", b.bitcast(total, "i32"), unit)
    nan = b.integer("or", b.integer("and", cut, number(0x3FF)), number(0x7E00))
    great = b.select(b.icmp("ugt", size, number(_INFINITY)), nan, number(0x7C00))
    finite = b.select(b.icmp("ult", size, number(_NORMAL)), small, normal)
    magnitude = b.select(b.icmp("uge", size, number(_TOO_GREAT)), great, finite)
    return b.bitcast(b.convert("trunc", b.integer("or", magnitude, sign), "i16"), "half")
