"""Register tiling on processors: a tile of results stays in registers while the reduced axes are looped over.

What a row of a tile does not depend on is computed once for all of them, as is what a vector does not depend on: a
product of matrices multiplies each vector that it loads by one number for each row.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from nxkernel.compilers.numba_cpu.codegen.buffer_access import BufferAccess, CodePosition
from nxkernel.compilers.numba_cpu.codegen.complex.register_pairs import Register, from_parts, parts
from nxkernel.compilers.numba_cpu.codegen.elementwise import Emitter
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRModule, IRValue, RangeLoop
from nxkernel.compilers.numba_cpu.codegen.lower_nest import Lowering, index_type
from nxkernel.compilers.numba_cpu.codegen.reductions import RegisterAccumulator
from nxkernel.compilers.numba_cpu.target.element_types import MEMORY
from nxkernel.compilers.schedule.loop_nest import BufferRole, Nest, NestPass, Op, PassLevel, Stride


class TileMemory(BufferAccess):
    """Loads and stores at the rows of a tile; addresses are advanced loop by loop."""

    def __init__(self, nest: Nest, emitter: Emitter) -> None:
        super().__init__(nest, emitter)
        self._levels: list[dict[tuple[int, int], IRValue]] = []

    def locate(self, position: IRValue) -> None:
        """Compute the base addresses of the tile for a step of the parallel range."""
        b, nest = self.b, self.nest
        rows, vectors, lanes = nest.tile
        serial = list(range(nest.outer - (2 if rows > 1 else 1)))
        ranges = [(f"axis{axis}", self.sizes[axis]) for axis in serial]
        if rows > 1:
            ranges.append(("row", self._ceil(self.sizes[nest.outer - 2], rows)))
        ranges.append(("lane", self._ceil(self.sizes[nest.outer - 1], vectors * lanes)))
        indices = self.split(position, ranges)
        self.first_lane = b.integer("mul", indices["lane"], self.integer(vectors * lanes))
        self.bases = self._moved_by({axis: indices[f"axis{axis}"] for axis in serial})
        level = {}
        for row in range(rows):
            at = {}
            if rows > 1:
                # Rows beyond the last are the last one again, which gives and writes the same.
                last = b.integer("sub", self.sizes[nest.outer - 2], self.integer(1))
                number = b.integer("add", b.integer("mul", indices["row"], self.integer(rows)), self.integer(row))
                at = {nest.outer - 2: b.intrinsic("smin", number, last)}
            for buffer, base in self.bases.items():
                level[buffer, row] = self._further(buffer, base, at)
        self._levels = [level]

    def _ceil(self, size: IRValue, by: int) -> IRValue:
        return self.b.integer("sdiv", self.b.integer("add", size, self.integer(by - 1)), self.integer(by))

    def enter(self, axis: int, index: IRValue) -> None:
        """Advance the addresses to an index of an inner axis."""
        level = dict(self._levels[-1])
        for buffer, access in enumerate(self.nest.buffers):
            if access.strides[axis] is Stride.NONE:
                continue
            far = self._moved(buffer, axis, index)
            for row in range(self.nest.tile[0]):
                level[buffer, row] = self._step(buffer, self._levels[-1][buffer, row], far)
        self._levels.append(level)

    def _step(self, buffer: int, base: IRValue, far: IRValue) -> IRValue:
        access = self.nest.buffers[buffer]
        if access.role is BufferRole.INDEX:
            return self.b.integer("add", base, far)
        return self.b.offset(base, MEMORY[access.type], far)

    def leave(self) -> None:
        """Restore the addresses from before the innermost axis that was entered."""
        self._levels.pop()

    def _at(self, number: int, position: CodePosition) -> IRValue:
        return self._levels[-1][number, position.row]


class TiledLowering(Lowering):
    """Lowers a nest with a register tile."""

    def run(self) -> IRModule:
        """Lower the nest; its module."""
        b, nest = self.b, self.nest
        begin = b.load("i64", IRValue("ptr", 1, "%args"))
        count = b.load("i64", IRValue("ptr", 1, "%dims"))
        self.m = TileMemory(nest, self.e)
        self._rows, self._vectors_, self._lanes_ = nest.tile
        loop = RangeLoop(b, begin, b.integer("add", begin, count), self.integer(1))
        self.m.locate(loop.index)
        end = b.integer("add", self.m.first_lane, self.integer(self._vectors_ * self._lanes_))
        full, part, done = b.label("full"), b.label("part"), b.label("tiled")
        b.branch_if(b.icmp("sle", end, self.m.sizes[nest.outer - 1]), full, part)
        for label, masked in ((full, False), (part, True)):
            b.start(label)
            self._tile(masked)
            b.branch(done)
        b.start(done)
        loop.end()
        b.do("ret void")
        b.finish()
        return self.module

    def _tile(self, masked: bool) -> None:
        b, nest = self.b, self.nest
        self._held: dict[tuple[int, int, int], Register] = {}
        self._positions = []
        for vector in range(self._vectors_):
            lane = b.integer("add", self.m.first_lane, self.integer(vector * self._lanes_))
            mask = self._mask(lane, self.m.sizes[nest.outer - 1], self._lanes_) if masked else None
            self._positions.append(CodePosition(self._lanes_, mask, lane, {}))
        for nest_pass in nest.passes:
            if nest_pass.level is PassLevel.ROW:
                self._finish(nest_pass, self._evaluate(nest_pass, {}))
            else:
                self._full(nest_pass)

    def _finish(self, nest_pass: NestPass, values: Callable[[int, int], list[Register]]) -> None:
        """Emit the slots and stores of a pass, for every row and vector of the tile."""
        for row in range(self._rows):
            for vector, position in enumerate(self._positions):
                results = values(row, vector)
                for slot, number in nest_pass.keeps:
                    self._held[slot, row, vector] = self.e.number(results[number], self.nest.slots[slot])
                self.m.stores(nest_pass, results, dataclasses.replace(position, row=row))

    def _full(self, nest_pass: NestPass) -> None:
        nest, b = self.nest, self.b
        cells = [(row, vector) for row in range(self._rows) for vector in range(self._vectors_)]
        accumulators = [
            RegisterAccumulator(self.e, reduce, self._lanes_, index_type(nest_pass, reduce))
            for reduce in nest_pass.reduces
        ]
        carried: list[IRValue] = []
        for cell in cells:
            for accumulator in accumulators:
                carried += self._start(nest_pass, accumulator, cell)
        opened = []
        for axis in range(nest.outer, nest.outer + nest.inner):
            loop = RangeLoop(b, self.integer(0), self.m.sizes[axis], self.integer(1), carried)
            self.m.enter(axis, loop.index)
            opened.append(loop)
            carried = loop.values
        held = self._by_cell(cells, accumulators, carried)
        values = self._evaluate(nest_pass, held)
        following: list[IRValue] = []
        for cell in cells:
            results = values(*cell)
            for accumulator, mine in zip(accumulators, held[cell], strict=True):
                fed = [results[number] for number in accumulator.reduce.args]
                following += accumulator.step(mine, fed, None)
        self._finish(nest_pass, values)
        for loop in reversed(opened):
            self.m.leave()
            following = loop.end(*following)
        for cell, ends in self._by_cell(cells, accumulators, following).items():
            for accumulator, mine in zip(accumulators, ends, strict=True):
                slot = accumulator.reduce.slot
                value = from_parts([accumulator.lanewise(mine, self.integer(0))] if accumulator.arg else mine)
                self._held[slot, *cell] = self.e.number(value, nest.slots[slot])

    def _start(self, nest_pass: NestPass, accumulator: RegisterAccumulator, cell: tuple[int, int]) -> list[IRValue]:
        if not accumulator.reduce.is_fold:
            return accumulator.start()
        first = nest_pass.code[accumulator.reduce.args[1]]
        row, vector = cell
        position = dataclasses.replace(self._positions[vector], row=row)
        return parts(self.e.number(self._one(first, [], position, vector, []), first.type))

    @staticmethod
    def _by_cell(
        cells: list[tuple[int, int]], accumulators: list[RegisterAccumulator], values: list[IRValue]
    ) -> dict[tuple[int, int], list[list[IRValue]]]:
        """The carried values by cell and accumulator, from a flat list."""
        rest, by_cell = iter(values), {}
        for cell in cells:
            by_cell[cell] = [[next(rest) for _ in range(accumulator.width)] for accumulator in accumulators]
        return by_cell

    def _evaluate(
        self, nest_pass: NestPass, held: dict[tuple[int, int], list[list[IRValue]]]
    ) -> Callable[[int, int], list[Register]]:
        """A function that gives the values of a pass's instructions at a row and vector of the tile, each computed
        once.
        """
        computed: dict[tuple[int, int, int], Register] = {}
        depends = self._depends(nest_pass)

        def at(row: int, vector: int) -> list[Register]:
            values: list[Register] = []
            position = dataclasses.replace(self._positions[vector], row=row)
            for number, op in enumerate(nest_pass.code):
                by_row, by_vector = depends[number]
                key = (number, row if by_row else 0, vector if by_vector else 0)
                if key not in computed:
                    computed[key] = self._one(op, values, position, vector, held.get((row, vector), []))
                values.append(computed[key])
            return values

        return at

    def _depends(self, nest_pass: NestPass) -> list[tuple[bool, bool]]:
        """For each instruction whether it differs between the rows, and between the vectors, of a tile."""
        nest, depends = self.nest, []
        for op in nest_pass.code:
            by_row = by_vector = op.name in ("slot", "carry")
            if op.name in ("load", "gather", "index"):
                strides = nest.buffers[op.entry].strides
                by_vector = strides[nest.outer - 1] is not Stride.NONE
                by_row = self._rows > 1 and strides[nest.outer - 2] is not Stride.NONE
            by_row |= any(depends[number][0] for number in op.args)
            by_vector |= any(depends[number][1] for number in op.args)
            depends.append((by_row, by_vector))
        return depends

    def _one(
        self, op: Op, values: list[Register], position: CodePosition, vector: int, held: list[list[IRValue]]
    ) -> Register:
        if op.name == "slot":
            return self._held[op.entry, position.row, vector]
        if op.name == "carry":
            return from_parts(held[op.entry])
        return self._op(op, values, position)
