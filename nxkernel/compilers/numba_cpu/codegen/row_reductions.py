"""Row reductions: several rows at a time, so that their sums do not wait for each other.

What rows share, as the vector in a product with a matrix, is read once for all of them. Each row is reduced in the
order that it has by itself, so it does not matter which rows come together.
"""

from __future__ import annotations

from nxkernel.compilers.numba_cpu.codegen.buffer_access import BufferAccess, CodePosition
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRModule, IRValue, RangeLoop
from nxkernel.compilers.numba_cpu.codegen.lower_nest import SHORT, Lowering, index_type
from nxkernel.compilers.numba_cpu.codegen.reductions import RegisterAccumulator
from nxkernel.compilers.schedule.loop_nest import LaneAxis, Nest, Section, SectionLevel

#: Rows at a time.
ROWS = 4


def suits(nest: Nest) -> bool:
    """Whether a nest does nothing with its elements but reduce them, in a few instructions."""
    plain = nest.lanes is LaneAxis.INNER and nest.outer > 0 and nest.inner == 1
    if not plain or nest.tiled or nest.flat or nest.split >= 0 or nest.limits or nest.scratches:
        return False
    full = [section for section in nest.sections if section.level is SectionLevel.FULL]
    return (
        bool(full)
        and all(section.reduces and not section.stores for section in full)
        and not any(section.scatters for section in nest.sections)
        and sum(len(section.code) for section in full) <= SHORT
    )


class RowsLowering(Lowering):
    """Writes the kernel of such a nest."""

    def run(self) -> IRModule:
        """The module."""
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
        for section in self.nest.sections:
            if section.level is SectionLevel.FULL:
                self._reduce(section, locations, kept)
                continue
            for located, slots in zip(locations, kept, strict=True):
                self.m.located, self.slots = located, slots
                self._row_section(section)

    def _reduce(self, section: Section, locations: list, kept: list[dict]) -> None:
        """One section of several rows, each with accumulators of its own."""
        lanes = self._lanes(section, wide=True)
        accumulators = [
            RegisterAccumulator(self.e, reduce, lanes, index_type(section, reduce)) for reduce in section.reduces
        ]
        start = [value for _ in locations for accumulator in accumulators for value in accumulator.start()]
        first, stop = self._bounds(0)
        self.held.clear()
        self._hold_constants(section, lanes)

        def iteration(lane: IRValue, mask: IRValue | None, held: list[IRValue]) -> list[IRValue]:
            following: list[IRValue] = []
            for located, slots in zip(locations, kept, strict=True):
                self.m.located, self.slots = located, slots
                values = self._code(section, CodePosition(lanes, mask, lane, {}))
                for accumulator in accumulators:
                    mine, held = held[: accumulator.width], held[accumulator.width :]
                    fed = [values[number] for number in accumulator.reduce.args]
                    following += accumulator.step(mine, fed, mask)
            return following

        ends = self._vectors(first, stop, lanes, start, iteration, with_full_vectors=self._is_short(section))
        for slots in kept:
            for accumulator in accumulators:
                held, ends = ends[: accumulator.width], ends[accumulator.width :]
                slots[accumulator.reduce.slot] = accumulator.finish(held, first)
