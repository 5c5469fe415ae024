"""Transposing a square of elements in vector registers."""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRValue


def turned(b: FunctionBuilder, rows: list[IRValue]) -> list[IRValue]:
    """The transposed vectors of a square: as many vectors as each has lanes, a power of two.

    Halves, then quarters and so on, that lie across the diagonal change places.
    """
    lanes, rows = len(rows), list(rows)
    distance = lanes // 2
    while distance:
        for k in (k for k in range(lanes) if not k & distance):
            above, below = rows[k], rows[k + distance]
            rows[k] = _mixed(b, above, below, [lanes + j - distance if j & distance else j for j in range(lanes)])
            far = [lanes + j if j & distance else j + distance for j in range(lanes)]
            rows[k + distance] = _mixed(b, above, below, far)
        distance //= 2
    return rows


def _mixed(b: FunctionBuilder, left: IRValue, right: IRValue, lanes: list[int]) -> IRValue:
    """A shuffle of two vectors' lanes; those of the second are numbered on from the first."""
    mask = ", ".join(f"i32 {lane}" for lane in lanes)
    return b.emit(f"shufflevector {left}, {right}, <{len(lanes)} x i32> <{mask}>", left.element, left.lanes)
