"""Powers of complex numbers: by squaring for small integer exponents, by the logarithm for others."""

from __future__ import annotations

import math
from collections.abc import Callable

from nxkernel.compilers.numba_cpu.codegen.complex.numbers import LaneNumber
from nxkernel.compilers.numba_cpu.codegen.elementary.arithmetic import where
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue
from nxkernel.compilers.rewrite.complex_functions import Complex, choose, divide, exp, is_zero, log, one, product

#: Below this size whole exponents are powers by squaring, as they are in NumPy.
_SMALL = 100.0


def power(base: Complex, exponent: Complex) -> Complex:
    """The power; zero to one whose real part is not positive has no value, but for zero to the zeroth, which is 1."""
    n = exponent.re
    is_integer = (exponent.im == 0.0) & (abs(n) < _SMALL) & (n.intrinsic("rint") == n)
    result = _where_any(is_integer, lambda: _by_squaring(base, n), one(base))
    result = _where_any(~is_integer, lambda: exp(product(exponent, log(base))), result)
    nought = n.constant(math.nan)
    gone = where(n > 0.0, 0.0, nought)
    return choose(is_zero(base) & ~is_zero(exponent), Complex(gone, gone), result)


def _where_any(mask: LaneNumber, compute: Callable[[], Complex], otherwise: Complex) -> Complex:
    """`compute()` in the lanes of the mask, `otherwise` elsewhere; skipped by a branch if no lane is set."""
    b, before = mask.b, mask.b.block
    some, done = b.label("some"), b.label("done")
    b.branch_if(b.any(mask.value), some, done)
    b.start(some)
    computed = choose(mask, compute(), otherwise)
    after = b.block
    b.branch(done)
    b.start(done)
    joined = []
    for new, old in zip(computed, otherwise, strict=True):
        phi = b.phi(old.value.element, old.value.lanes)
        phi.add(old.value, before)
        phi.add(new.value, after)
        joined.append(mask.wrap(phi.value))
    return Complex(*joined)


def _by_squaring(base: Complex, n: LaneNumber) -> Complex:
    """Powers with small integer exponents; the reciprocal of the power where they are negative."""
    b, lanes = n.b, n.value.lanes
    bits = b.convert("fptosi", abs(n).value, "i32")
    nothing = b.constant("i1", 1, lanes)
    begin = [*(part.value for part in one(base)), *(part.value for part in base), bits, nothing]
    before, head, body, done = b.block, b.label("head"), b.label("body"), b.label("done")
    b.branch(head)
    b.start(head)
    phis = [b.phi(value.element, value.lanes) for value in begin]
    for phi, value in zip(phis, begin, strict=True):
        phi.add(value, before)
    re, im, x, y, left, first = (n.wrap(phi.value) for phi in phis)
    b.branch_if(b.any((left != 0).value), body, done)
    b.start(body)
    result, square = Complex(re, im), Complex(x, y)
    odd = (left & 1) != 0
    # The first factor is taken as it is: a product with one would make NaN of infinity.
    taken = choose(first, square, product(result, square))
    result, square = choose(odd, taken, result), product(square, square)
    following: list[IRValue] = [part.value for part in (*result, *square, left >> 1, first & ~odd)]
    for phi, value in zip(phis, following, strict=True):
        phi.add(value, b.block)
    b.branch(head)
    b.start(done)
    found = Complex(re, im)
    return choose(n < 0.0, divide(one(base), found), found)
