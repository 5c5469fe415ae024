"""Threefry-2x32 random bits as LLVM IR, on any number of lanes."""

from __future__ import annotations

from nxkernel.backends.threefry import PARITY, ROTATIONS
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRValue


def block(b: FunctionBuilder, k0: IRValue, k1: IRValue, x0: IRValue, x1: IRValue) -> tuple[IRValue, IRValue]:
    """Both 32-bit words of the Threefry blocks of a key and counters.

    Parameters
    ----------
    b : FunctionBuilder
    k0, k1 : IRValue
        The words of the key, 32 bits each.
    x0, x1 : IRValue
        The words of the counter.
    """

    def number(value: int) -> IRValue:
        return b.constant("i32", value, x0.lanes)

    def add(left: IRValue, right: IRValue) -> IRValue:
        return b.integer("add", left, right)

    keys = (k0, k1, b.integer("xor", b.integer("xor", k0, k1), number(PARITY)))
    first, second = add(x0, k0), add(x1, k1)
    for count, rotations in enumerate(ROTATIONS, start=1):
        for bits in rotations:
            first = add(first, second)
            # A funnel shift of a value with itself turns it: one instruction where the processor has it.
            second = b.integer("xor", b.intrinsic("fshl", second, second, number(bits)), first)
        first = add(first, keys[count % 3])
        second = add(second, add(keys[(count + 1) % 3], number(count)))
    return first, second
