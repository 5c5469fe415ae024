"""Inlining of small kernels into the loop of the program that runs them."""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen import lower_nest as large
from nxkernel.compilers.numba_cpu.codegen.buffer_access import CodePosition
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRModule, IRValue, RangeLoop
from nxkernel.compilers.numba_cpu.codegen.reductions import RegisterAccumulator
from nxkernel.compilers.numba_cpu.codegen.row_reductions import suits
from nxkernel.compilers.schedule.loop_nest import LaneAxis, Nest, NestPass

#: Instructions in a pass up to which its code is written for every part of a vector.
OFTEN = 24


def lower(nest: Nest) -> IRModule:
    """The LLVM module with a nest's kernel, named by the nest's key, in the form that suits inlining into a loop."""
    return large.lower(nest) if nest.lanes is not LaneAxis.INNER or suits(nest) else _Small(nest).run()


class _Small(large.Lowering):
    """Lowers a nest as loops over vectors, then parts of vectors, then single elements, without masks.

    What the iteration before has just written is forwarded to a load of the same bytes, while a load that takes others
    too, and one near a vector that was written with a mask, waits until all is in the cache.
    """

    def _full_inner(self, nest_pass: NestPass) -> None:
        plain = not nest_pass.scratches and self._is_short(nest_pass) and len(nest_pass.code) <= OFTEN
        if not plain or self.nest.inner > 1:
            super()._full_inner(nest_pass)
            return
        b, (first, stop) = self.b, self._bounds(0)
        wide, one = self._lanes(nest_pass, wide=bool(nest_pass.reduces)), self._lanes(nest_pass, wide=False)
        kinds = [(reduce, large.index_type(nest_pass, reduce)) for reduce in nest_pass.reduces]
        accumulators = [RegisterAccumulator(self.e, reduce, wide, index) for reduce, index in kinds]
        held = [accumulator.start() for accumulator in accumulators]
        length = most = b.intrinsic("smax", b.integer("sub", stop, first), self.integer(0))
        if nest_pass.reduces:
            # The last element is often the newest one.
            widths = [wide, max(one // 2, 1)]
            most = b.intrinsic("smax", b.integer("sub", length, self.integer(1)), self.integer(0))
        else:
            widths = [one >> k for k in range(one.bit_length() - 1)]
        begin = first
        for lanes in dict.fromkeys([*widths, 1]):
            edge = b.integer("and", most, self.integer(-lanes)) if lanes > 1 else length
            edge = b.integer("add", first, edge)
            held = [a.narrowed(values, lanes) for a, values in zip(accumulators, held, strict=True)]
            held = self._by(lanes, nest_pass, accumulators, begin, edge, held)
            begin = edge
        for accumulator, values in zip(accumulators, held, strict=True):
            self.slots[accumulator.reduce.slot] = accumulator.lanewise(values, first)

    def _by(
        self,
        lanes: int,
        nest_pass: NestPass,
        accumulators: list[RegisterAccumulator],
        begin: IRValue,
        edge: IRValue,
        held: list[list[IRValue]],
    ) -> list[list[IRValue]]:
        """Emit the loop over full vectors of so many lanes; the carried values after it."""
        loop = RangeLoop(self.b, begin, edge, self.integer(lanes), [value for values in held for value in values])
        position = CodePosition(lanes, None, loop.index, {})
        values = self._code(nest_pass, position)
        self.m.stores(nest_pass, values, position)
        following, rest = [], loop.values
        for accumulator in accumulators:
            mine, rest = rest[: accumulator.width], rest[accumulator.width :]
            fed = [values[number] for number in accumulator.reduce.args]
            following += accumulator.step(mine, fed, None)
        after = iter(loop.end(*following))
        return [[next(after) for _ in values] for values in held]
