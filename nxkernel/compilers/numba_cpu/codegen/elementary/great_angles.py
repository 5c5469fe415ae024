"""Payne-Hanek argument reduction: sines, cosines and tangents of float64 angles of any size, one at a time.

An angle is ``m 2^e`` with a whole number m. Of ``2/π`` three words of 64 bits matter: those before stand for whole
turns, and those behind for less than the result can show (Payne and Hanek 1983). What is left of their product with m,
126 bits behind the quarter turns, is precise enough for the float64 that is nearest to a multiple of ``π/2``, where 61
of them cancel.
"""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import Lanes, fast_two_sum, fma, two_sum, where
from nxkernel.compilers.numba_cpu.codegen.elementary.small_angles import sine, tangents
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue

#: The first 1,216 bits of 2/π behind the point.
TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561"
    "b7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484"
    "e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980f"
    "ef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b"
    "3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6bab",
    16,
)
_BITS = 1216
#: π/2 as the sum of two numbers.
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
FUNCTIONS = ("sin", "cos", "tan")


def define(module: IRModule, name: str) -> str:
    """Add the scalar function of one large angle to a module, unless it is there.

    Parameters
    ----------
    module : IRModule
    name : str
        One of `FUNCTIONS`.

    Returns
    -------
    str
        The symbol to call: ``double (double)``.
    """
    symbol = f"nx.angle.{name}"
    if symbol not in module.defined:
        attributes = "cold noinline nounwind willreturn readnone"
        b = FunctionBuilder(module, symbol, "double", [("x", "double")], linkage="internal", attributes=attributes)
        b.do(f"ret {_of_angle(name, Lanes(b, IRValue('double', 1, '%x'))).value}")
        b.finish()
    return symbol


def _of_angle(name: str, x: Lanes) -> Lanes:
    quarter, rest, rest_error = _reduced(abs(x))
    if name == "tan":
        result = where((quarter & 1) == 0, *tangents(rest, rest_error))
    else:
        sine, cosine = _sines(rest, rest_error)
        turned = quarter + 1 if name == "cos" else quarter
        part = where((turned & 1) == 0, sine, cosine)
        result = where((turned & 2) == 0, part, -part)
    result = result if name == "cos" else where(x < 0.0, -result, result)
    # Infinities and NaN have no angle.
    return where(abs(x) < float("inf"), result, float("nan"))


def _reduced(x: Lanes) -> tuple[Lanes, Lanes, Lanes]:
    """Payne-Hanek reduction: the number of quarter turns (its last two bits are right), and the rest, up to ``π/4``, as
    a sum of two.
    """
    b = x.b
    bits = x.bits()
    exponent = (bits >> 52) - 1075
    significand = (bits & ((1 << 52) - 1)) | (1 << 52)
    # The first bit that matters: the product's first two bits are quarter turns.
    first = exponent + 62
    product = [_wide(b, word, significand.value) for word in _words(b, first)]
    total = b.integer("shl", product[0], b.constant("i128", 64))
    total = b.integer("add", total, product[1])
    total = b.integer("add", total, b.integer("lshr", product[2], b.constant("i128", 64)))
    half, quarters = b.constant("i128", 1 << 125), b.constant("i128", 126)
    quarter = b.integer("lshr", b.integer("add", total, half), quarters)
    rest = b.integer("sub", total, b.integer("shl", quarter, quarters))
    negative = b.icmp("slt", rest, b.constant("i128", 0))
    size = b.select(negative, b.integer("sub", b.constant("i128", 0), rest), rest)
    high, low = _as_floats(b, size)
    angle = high * _HALF_PI[0]
    error = fma(high, _HALF_PI[1], fma(low, _HALF_PI[0], fma(high, _HALF_PI[0], -angle)))
    angle, error = fast_two_sum(angle, error)
    flip = Lanes(b, negative)
    turned = Lanes(b, b.convert("trunc", quarter, "i64"))
    return turned, where(flip, -angle, angle), where(flip, -error, error)


def _words(b: FunctionBuilder, first: Lanes) -> list[IRValue]:
    """The three 64-bit words of 2/π that matter, from a bit position on."""
    count = _BITS // 64
    table = b.stack_slot("i64", count + 1)
    for k in range(count + 1):
        word = (TWO_OVER_PI >> (_BITS - 64 * k)) & (2**64 - 1)
        b.store(b.constant("i64", word), b.offset(table, "i64", b.constant("i64", k)))
    start, within = (first >> 6).value, (first & 63).value
    positions = [b.integer("add", start, b.constant("i64", k)) for k in range(4)]
    words = [b.load("i64", b.offset(table, "i64", position)) for position in positions]
    return [b.intrinsic("fshl", words[k], words[k + 1], within) for k in range(3)]


def _wide(b: FunctionBuilder, left: IRValue, right: IRValue) -> IRValue:
    """The 128-bit product of two 64-bit words."""
    return b.integer("mul", b.convert("zext", left, "i128"), b.convert("zext", right, "i128"))


def _as_floats(b: FunctionBuilder, size: IRValue) -> tuple[Lanes, Lanes]:
    """The 128-bit integer ``size`` times 2^-126, as the sum of two doubles."""
    zeros = b.intrinsic("ctlz", size, extra="i1 true")
    first = b.integer("shl", size, zeros)
    shift = Lanes(b, b.convert("trunc", zeros, "i64"))
    leading = b.convert("trunc", b.integer("lshr", first, b.constant("i128", 75)), "i64")
    next_ = b.convert("trunc", b.integer("lshr", first, b.constant("i128", 22)), "i64")
    next_ = b.integer("and", next_, b.constant("i64", (1 << 53) - 1))
    high, low = (Lanes(b, b.convert("sitofp", value, "double")) for value in (leading, next_))
    scale = ((1023 - 51 - shift) << 52).floats()
    return high * scale, low * (scale * 2.0**-53)


def _sines(r: Lanes, error: Lanes) -> tuple[Lanes, Lanes]:
    """The sine and the cosine of ``r + error`` for ``|r| <= π/4``."""
    size, size_error = abs(r), where(r < 0.0, -error, error)
    other, other_error = two_sum(-size, size.constant(_HALF_PI[0]))
    other, other_error = fast_two_sum(other, other_error + (_HALF_PI[1] - size_error))
    small, great = sine(size), sine(other)
    small, great = fma(size_error, great, small), fma(other_error, small, great)
    return small.copysign(r), great.at_most(1.0)
