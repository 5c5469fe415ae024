"""Fused multiply-add in software, for processors that have no instruction for it.

LLVM calls the C library's function for each lane there, some 50 times slower than this. What is computed is the same:
elementary functions give the same bits on every processor.
"""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue, RangeLoop, suffix, vector
from nxkernel.compilers.numba_cpu.target import target_processor

#: Of doubles: what cuts one into two halves of its digits (Veltkamp); the greatest stored exponent of an operand, and
#: the least and the greatest sum of two, with which nothing overflows and no error of a product is lost.
_CUT, _MOST, _LEAST_PRODUCT, _MOST_PRODUCT = 2.0**27 + 1, 1990, 1130, 3000


def fused(b: FunctionBuilder, left: IRValue, right: IRValue, third: IRValue) -> IRValue:
    """``left * right + third`` with one rounding."""
    if target_processor.has("fma"):
        return b.fma(left, right, third)
    symbol = _define(b.module, left.element, left.lanes)
    return b.call(symbol, left.element, left.lanes, left, right, third)


def _define(module: IRModule, element: str, lanes: int) -> str:
    """Add the software function to a module, unless it is there; its symbol."""
    symbol, kind = f"nx.fused.{suffix(element, lanes)}", vector(element, lanes)
    if symbol not in module.defined:
        attributes = "noinline nounwind willreturn readnone"
        names = ("left", "right", "third")
        b = FunctionBuilder(module, symbol, kind, [(n, kind) for n in names], linkage="internal", attributes=attributes)
        operands = [IRValue(element, lanes, f"%{name}") for name in names]
        b.do(f"ret {(_of_floats if element == 'float' else _of_doubles)(b, *operands)}")
        b.finish()
    return symbol


def _sum(b: FunctionBuilder, left: IRValue, right: IRValue) -> tuple[IRValue, IRValue]:
    """The rounded sum and its error (Knuth 1969)."""
    total = b.fadd(left, right, "")
    shift = b.fsub(total, left, "")
    return total, b.fadd(b.fsub(left, b.fsub(total, shift, ""), ""), b.fsub(right, shift, ""), "")


def _odd(b: FunctionBuilder, total: IRValue, error: IRValue) -> IRValue:
    """A double sum rounded to odd, given its error, so that rounding it again is correct."""
    lanes = total.lanes
    bits, zero, one = b.bitcast(total, "i64"), b.constant("double", 0, lanes), b.constant("i64", 1, lanes)
    wrong = b.fcmp("one", error, zero)
    even = b.icmp("eq", b.integer("and", bits, one), b.constant("i64", 0, lanes))
    # Away from zero where the error has the sign of the sum, else towards it.
    signs = b.integer("xor", bits, b.bitcast(error, "i64"))
    step = b.select(b.icmp("slt", signs, b.constant("i64", 0, lanes)), b.constant("i64", -1, lanes), one)
    moved = b.integer("add", bits, step)
    return b.bitcast(b.select(b.integer("and", wrong, even), moved, bits), "double")


def _of_floats(b: FunctionBuilder, left: IRValue, right: IRValue, third: IRValue) -> IRValue:
    """The f32 case: the product is exact in double, and the sum is rounded to odd first."""
    left, right, third = (b.convert("fpext", value, "double") for value in (left, right, third))
    return b.convert("fptrunc", _odd(b, *_sum(b, b.fmul(left, right, ""), third)), "float")


def _of_doubles(b: FunctionBuilder, left: IRValue, right: IRValue, third: IRValue) -> IRValue:
    """The f64 case (Boldo and Melquiond 2008): the product as two doubles, their sum rounded to odd, then rounded.

    Lanes near overflow and underflow, and those with infinity or NaN, are left to the C library.
    """
    lanes = left.lanes
    high, low = _product(b, left, right)
    above, below = _sum(b, third, low)
    first, second = _sum(b, high, above)
    result = b.fadd(first, _odd(b, *_sum(b, below, second)), "")
    zero = b.constant("double", 0, lanes)
    nothing = b.integer("or", b.fcmp("oeq", left, zero), b.fcmp("oeq", right, zero))
    result = b.select(nothing, b.fadd(high, third, ""), result)
    rare = _is_rare(b, left, right, third)
    some, done, entry = b.label("some"), b.label("done"), b.block
    b.branch_if(b.any(rare), some, done)
    b.start(some)
    b.module.declare("fma", "double", ["double"] * 3)
    bounds = [b.constant("i64", number) for number in (0, lanes, 1)]
    loop = RangeLoop(b, *bounds, [result])
    exact = b.call("fma", "double", 1, *(b.extract(value, loop.index) for value in (left, right, third)))
    if lanes > 1:
        exact = b.insert(loop.values[0], exact, loop.index)
    (every,) = loop.end(exact)
    chosen, behind = b.select(rare, every, result), b.block
    b.branch(done)
    b.start(done)
    phi = b.phi("double", lanes)
    phi.add(result, entry)
    phi.add(chosen, behind)
    return phi.value


def _product(b: FunctionBuilder, left: IRValue, right: IRValue) -> tuple[IRValue, IRValue]:
    """The rounded product and its error (Dekker 1971)."""
    high = b.fmul(left, right, "")
    (left_high, left_low), (right_high, right_low) = _cut(b, left), _cut(b, right)
    error = b.fsub(b.fmul(left_high, right_high, ""), high, "")
    error = b.fadd(error, b.fmul(left_high, right_low, ""), "")
    error = b.fadd(error, b.fmul(left_low, right_high, ""), "")
    return high, b.fadd(error, b.fmul(left_low, right_low, ""), "")


def _cut(b: FunctionBuilder, value: IRValue) -> tuple[IRValue, IRValue]:
    far = b.fmul(value, b.constant("double", _CUT, value.lanes), "")
    high = b.fsub(far, b.fsub(far, value, ""), "")
    return high, b.fsub(value, high, "")


def _is_rare(b: FunctionBuilder, left: IRValue, right: IRValue, third: IRValue) -> IRValue:
    """The lanes whose exponents the algorithm does not support."""
    lanes = left.lanes

    def number(bits: int) -> IRValue:
        return b.constant("i64", bits, lanes)

    def exponent(value: IRValue) -> IRValue:
        return b.integer("and", b.integer("lshr", b.bitcast(value, "i64"), number(52)), number(0x7FF))

    exponents = [exponent(value) for value in (left, right, third)]
    both = b.integer("add", exponents[0], exponents[1])
    zero = b.constant("double", 0, lanes)
    some = b.integer("and", b.fcmp("une", left, zero), b.fcmp("une", right, zero))
    rare = b.integer("and", some, b.icmp("slt", both, number(_LEAST_PRODUCT)))
    rare = b.integer("or", rare, b.icmp("sgt", both, number(_MOST_PRODUCT)))
    for each in exponents:
        rare = b.integer("or", rare, b.icmp("sgt", each, number(_MOST)))
    return rare
