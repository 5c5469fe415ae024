"""Integer quotients, remainders and powers that are defined for all operands and never trap."""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import WIDTH, FunctionBuilder, IRValue, suffix, vector


def division(b: FunctionBuilder, left: IRValue, right: IRValue, which: str, *, signed: bool) -> IRValue:
    """The quotient (``"div"``) or remainder (``"rem"``): division by zero gives 0, and the least
    number over -1 wraps.
    """
    zero, one = b.constant(right.element, 0, right.lanes), b.constant(right.element, 1, right.lanes)
    by_zero = b.icmp("eq", right, zero)
    if not signed:
        result = _divided(b, left, b.select(by_zero, one, right), "u", which)
        return b.select(by_zero, zero, result)
    by_minus = b.icmp("eq", right, b.constant(right.element, -1, right.lanes))
    safe = b.select(b.integer("or", by_zero, by_minus), one, right)
    result = _divided(b, left, safe, "s", which)
    negated = b.integer("sub", zero, left) if which == "div" else zero
    return b.select(by_zero, zero, b.select(by_minus, negated, result))


def _divided(b: FunctionBuilder, left: IRValue, right: IRValue, sign: str, which: str) -> IRValue:
    """The quotient or remainder where the divisor is neither 0 nor -1.

    Processors divide integers one by one but floats as vectors. In floats of more digits than the integers have bits,
    a quotient that is no whole number is not rounded to one, so that cutting its fraction off is exact.
    """
    if left.lanes == 1 or WIDTH[left.element] == 64:
        return b.integer(f"{sign}{which}", left, right)
    wide = "float" if WIDTH[left.element] < 32 else "double"
    floats = [b.convert(f"{sign}itofp", value, wide) for value in (left, right)]
    quotient = b.convert(f"fpto{sign}i", b.fdiv(*floats), left.element)
    return quotient if which == "div" else b.integer("sub", left, b.integer("mul", quotient, right))


def power(b: FunctionBuilder, left: IRValue, right: IRValue, *, signed: bool) -> IRValue:
    """A wrapping power; truncated toward zero where the exponent is negative."""
    symbol = _define_power(b, left.element, left.lanes)
    result = b.call(symbol, left.element, left.lanes, left, right)
    if not signed:
        return result
    # A negative power is a fraction, which truncates to zero, but for 1 and -1; an unsigned exponent keeps its parity.
    zero, one = b.constant(left.element, 0, left.lanes), b.constant(left.element, 1, left.lanes)
    unit = b.icmp("ule", b.integer("add", left, one), b.constant(left.element, 2, left.lanes))
    unit = b.integer("and", unit, b.icmp("ne", left, zero))
    fraction = b.integer("and", b.icmp("slt", right, zero), b.integer("xor", unit, b.constant("i1", 1, left.lanes)))
    return b.select(fraction, zero, result)


def _define_power(b: FunctionBuilder, element: str, lanes: int) -> str:
    """The function for integer powers by squaring, with an unsigned exponent; it wraps."""
    symbol = f"nx.whole_pow.{suffix(element, lanes)}"
    if symbol in b.module.defined:
        return symbol
    kind = vector(element, lanes)
    f = FunctionBuilder(
        b.module, symbol, kind, [("base", kind), ("exponent", kind)], linkage="internal", attributes="noinline"
    )
    one, zero = f.constant(element, 1, lanes), f.constant(element, 0, lanes)
    head, body, done = f.label("head"), f.label("body"), f.label("done")
    f.branch(head)
    f.start(head)
    phis = [f.phi(element, lanes) for _ in range(3)]
    first = [one, IRValue(element, lanes, "%base"), IRValue(element, lanes, "%exponent")]
    for phi, value in zip(phis, first, strict=True):
        phi.add(value, "entry")
    result, base, exponent = (phi.value for phi in phis)
    f.branch_if(f.any(f.icmp("ne", exponent, zero)), body, done)
    f.start(body)
    odd = f.icmp("ne", f.integer("and", exponent, one), zero)
    following = [
        f.select(odd, f.integer("mul", result, base), result),
        f.integer("mul", base, base),
        f.integer("lshr", exponent, one),
    ]
    for phi, value in zip(phis, following, strict=True):
        phi.add(value, body)
    f.branch(head)
    f.start(done)
    f.do(f"ret {result}")
    f.finish()
    return symbol
