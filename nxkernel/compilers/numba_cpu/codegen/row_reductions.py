"""Row reductions: several rows are reduced at a time, to hide the latency of sums.

What rows share, as the vector in a product with a matrix, is read once for all of them. Each row is reduced in the
order that it has by itself, so it does not matter which rows come together.
"""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.buffer_access import BufferAccess, CodePosition
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRModule, IRValue, RangeLoop
from nxkernel.compilers.numba_cpu.codegen.lower_nest import SHORT, Lowering, index_type
from nxkernel.compilers.numba_cpu.codegen.reductions import RegisterAccumulator
from nxkernel.compilers.schedule.loop_nest import LaneAxis, Nest, NestPass, PassLevel

#: Rows at a time.
ROWS = 4


def suits(nest: Nest) -> bool:
    """Whether a nest only reduces its rows, in a few instructions an element."""
    plain = nest.lanes is LaneAxis.INNER and nest.outer > 0 and nest.inner == 1
    if not plain or nest.tiled or nest.flat or nest.split >= 0 or nest.limits or nest.scratches:
        return False
    full = [nest_pass for nest_pass in nest.passes if nest_pass.level is PassLevel.FULL]
    return (
        bool(full)
        and all(nest_pass.reduces and not nest_pass.stores for nest_pass in full)
        and not any(nest_pass.scatters for nest_pass in nest.passes)
        and sum(len(nest_pass.code) for nest_pass in full) <= SHORT
    )


class RowsLowering(Lowering):
    """Lowers a nest of row reductions, several rows at a time."""

    def run(self) -> IRModule:
        """Lower the nest; its module."""
        b = self.b
        begin = b.load("i64", IRValue("ptr", 1, "%args"))
        count = b.load("i64", IRValue("ptr", 1, "%dims"))
        end = b.integer("add", begin, count)
        self.m = BufferAccess(self.nest, self.e)
        groups = b.integer("mul", b.integer("udiv", count, self.integer(ROWS)), self.integer(ROWS))
        edge = b.integer("add", begin, groups)
        for first, stop, rows in ((begin, edge, ROWS), (edge, end, 1)):
            loop = RangeLoop(b, first, stop, self.integer(rows))
            self._group(loop.index, rows)
            loop.end()
        b.do("ret void")
        b.finish()
        return self.module

    def _group(self, position: IRValue, rows: int) -> None:
        locations = []
        for row in range(rows):
            self.m.locate(self.b.integer("add", position, self.integer(row)))
            locations.append(self.m.located)
        kept: list[dict] = [{} for _ in range(rows)]
        for nest_pass in self.nest.passes:
            if nest_pass.level is PassLevel.FULL:
                self._reduce(nest_pass, locations, kept)
                continue
            for located, slots in zip(locations, kept, strict=True):
                self.m.located, self.slots = located, slots
                self._row_pass(nest_pass)

    def _reduce(self, nest_pass: NestPass, locations: list, kept: list[dict]) -> None:
        """Emit one pass over several rows, each with its own accumulators."""
        lanes = self._lanes(nest_pass, wide=True)
        accumulators = [
            RegisterAccumulator(self.e, reduce, lanes, index_type(nest_pass, reduce)) for reduce in nest_pass.reduces
        ]
        start = [value for _ in locations for accumulator in accumulators for value in accumulator.start()]
        first, stop = self._bounds(0)
        self.held.clear()
        self._hold_constants(nest_pass, lanes)

        def iteration(lane: IRValue, mask: IRValue | None, held: list[IRValue]) -> list[IRValue]:
            following: list[IRValue] = []
            for located, slots in zip(locations, kept, strict=True):
                self.m.located, self.slots = located, slots
                values = self._code(nest_pass, CodePosition(lanes, mask, lane, {}))
                for accumulator in accumulators:
                    mine, held = held[: accumulator.width], held[accumulator.width :]
                    fed = [values[number] for number in accumulator.reduce.args]
                    following += accumulator.step(mine, fed, mask)
            return following

        ends = self._vectors(first, stop, lanes, start, iteration, with_full_vectors=self._is_short(nest_pass))
        for slots in kept:
            for accumulator in accumulators:
                held, ends = ends[: accumulator.width], ends[accumulator.width :]
                slots[accumulator.reduce.slot] = accumulator.finish(held, first)
