"""Random bits as instructions: the rounds of Threefry-2x32, on any number of lanes."""

from __future__ import annotations

from nxkernel.backends.threefry import PARITY, ROTATIONS
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import Builder, Value


def block(b: Builder, k0: Value, k1: Value, x0: Value, x1: Value) -> tuple[Value, Value]:
    """Both words of the blocks that a key makes of counters.

    Parameters
    ----------
    b : Builder
    k0, k1 : Value
        The words of the key, 32 bits each.
    x0, x1 : Value
        The words of the counter.
    """

    def number(value: int) -> Value:
        return b.constant("i32", value, x0.lanes)

    def add(left: Value, right: Value) -> Value:
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
