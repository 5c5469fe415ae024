"""Register tiling on a GPU: each thread computes several rows and columns of results at once.

What rows do not depend on is computed once for all of them, as is what columns do not depend on: of a product of
matrices, each thread multiplies a few elements of one by a few of the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from nxkernel import shapes
from nxkernel.compilers.numba_cuda.kernels import axis_loops
from nxkernel.compilers.numba_cuda.kernels.axis_loops import Span
from nxkernel.compilers.numba_cuda.kernels.kernel_arguments import KernelArguments
from nxkernel.compilers.numba_cuda.kernels.pass_writer import Lane, PassWriter
from nxkernel.compilers.numba_cuda.kernels.reductions import GroupJoin, TextAccumulator
from nxkernel.compilers.numba_cuda.language import launch_geometry
from nxkernel.compilers.numba_cuda.language.element_types import Value
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch, KernelSource
from nxkernel.compilers.numba_cuda.language.launch_geometry import WARP, Machine
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import LaneAxis, Nest, NestPass, Op, PassLevel, Stride

#: Columns of a thread, the first of these that leave threads enough.
COLUMNS = (4, 2, 1)
#: Threads for each multiprocessor that are enough, as each has several results on the way.
ENOUGH = 256
#: Instructions of the longest pass, for all results of a thread, at most.
MOST = 256

#: Threads that share a tile at most.
SHARED = 16

#: A result of a thread: its row and its column.
Cell = tuple[int, int]


def chosen(bound: BoundNest, device: Machine) -> tuple[int, int, int] | None:
    """The tile of a nest (rows and columns a thread, threads that share it); None where tiling does not pay."""
    nest, arguments = bound.nest, KernelArguments(bound)
    if nest.lanes is not LaneAxis.TILE or nest.tile[0] < 2:
        return None
    if any(reduce.is_fold for nest_pass in nest.passes for reduce in nest_pass.reduces):
        return None
    *others, rows, columns = arguments.sizes[: nest.outer]
    longest = max(len(nest_pass.code) for nest_pass in nest.passes)
    deep = arguments.sizes[nest.outer] // launch_geometry.SHARE if nest.inner else 0
    wanted = ENOUGH * device.multiprocessors if not device.simulated else 8
    high = nest.tile[0]
    while high > 1:
        for wide in COLUMNS:
            threads = shapes.size(others) * shapes.ceil_div(rows, high) * shapes.ceil_div(columns, wide)
            members = launch_geometry.power_of_two(shapes.ceil_div(wanted, max(threads, 1)))
            enough = members <= min(deep, SHARED) or members == 1 or device.simulated
            if enough and high * wide * longest <= MOST:
                return high, wide, min(members, SHARED, launch_geometry.power_of_two(max(deep, 1)))
        high //= 2
    return None


class Tiling:
    """Writes the kernel of a nest with a register tile a thread.

    Parameters
    ----------
    bound : BoundNest
    device : Machine
    rows, columns : int
        Of a thread.
    members : int
        How many threads share a tile, each with a part of what is reduced.
    """

    name, title = "tiles", "tiles of results in registers"

    def __init__(self, bound: BoundNest, device: Machine, rows: int, columns: int, members: int) -> None:
        self.nest, self.device, self.rows, self.columns = bound.nest, device, rows, columns
        self.arguments = KernelArguments(bound)
        self.w = SourceWriter(1)
        self.code = PassWriter(self.arguments, self.w)
        self.members, self.together = members, GroupJoin(self.w, launch_geometry.BLOCK)
        self.cells: list[Cell] = list(itertools.product(range(rows), range(columns)))
        self._lanes: dict[Cell, dict[int, str]] = {}
        self._inside: dict[Cell, str] = {}
        self._pointers: dict[tuple[int, int, int], str] = {}

    def launches(self) -> list[KernelLaunch]:
        """The launch; an empty list if there are no results."""
        arguments = self.arguments
        if not arguments.rows:
            return []
        self._write()
        *others, rows, columns = arguments.sizes[: self.nest.outer]
        threads = shapes.size(others) * shapes.ceil_div(rows, self.rows) * shapes.ceil_div(columns, self.columns)
        grid, block = launch_geometry.flat(self.device, threads)
        if self.members > 1:
            wide = max(2 if self.device.simulated else WARP, block[0] // self.members)
            wide = min(wide, launch_geometry.BLOCK // self.members)
            grid, block = launch_geometry.grid(self.device, shapes.ceil_div(threads, wide)), (wide, self.members)
        text = f"def {self.name}({', '.join(arguments.names)}):\n{self.w.text}\n"
        source = KernelSource(self.name, text, arguments.parameters)
        return [KernelLaunch(source, arguments.memory, arguments.values, grid, block, title=self.title)]

    def _write(self) -> None:
        w, arguments, outer = self.w, self.arguments, self.nest.outer
        row_axis, column_axis = outer - 2, outer - 1
        sizes = {axis: arguments.size(axis) for axis in range(outer)}
        w.line(f"high = div({sizes[row_axis]} + {self.rows - 1}, {self.rows})")
        w.line(f"wide = div({sizes[column_axis]} + {self.columns - 1}, {self.columns})")
        spans = [Span(axis, None, sizes[axis]) for axis in range(outer - 2)]
        spans += [Span(row_axis, None, "high"), Span(column_axis, None, "wide")]
        w.line(f"groups = {' * '.join(span.count for span in spans)}")
        if self.members == 1:
            w.line("group = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")
            loop = "while group < groups:"
        else:
            self._begin_together()
            loop = "while first < groups:"
        with w.block(loop):
            if self.members > 1:
                w.line("live = first + cuda.threadIdx.x < groups")
                w.line("group = minimum(first + cuda.threadIdx.x, groups - 1)")
            indices = axis_loops.axis_indices(w, "group", spans)
            row, column = indices.pop(row_axis), indices.pop(column_axis)
            self.code.locate(indices)
            # The columns of a thread are apart, so that those of neighbouring threads follow each other.
            rows = [w.let(f"{row} * {self.rows} + {k}", "row") for k in range(self.rows)]
            columns = [w.let(f"{column} + {k} * wide", "column") for k in range(self.columns)]
            for r, c in self.cells:
                self._inside[r, c] = f"({rows[r]} < {sizes[row_axis]}) & ({columns[c]} < {sizes[column_axis]})"
                if self.members > 1:
                    self._inside[r, c] += " & live"
            # What lies beyond an edge is the edge again, and is not written.
            rows = [w.let(f"minimum({index}, {sizes[row_axis]} - 1)", "row") for index in rows]
            columns = [w.let(f"minimum({index}, {sizes[column_axis]} - 1)", "column") for index in columns]
            for r, c in self.cells:
                self._lanes[r, c] = {row_axis: rows[r], column_axis: columns[c]}
            self._point()
            for nest_pass in self.nest.passes:
                if nest_pass.level is PassLevel.ROW:
                    self._finish(nest_pass, self._values(nest_pass, {}), {})
                else:
                    self._full(nest_pass)
            w.line(f"{'group' if self.members == 1 else 'first'} += cuda.gridDim.x * cuda.blockDim.x")

    def _begin_together(self) -> None:
        """Write the shared memory for threads that share tiles; results use it one after the other."""
        passes = [nest_pass for nest_pass in self.nest.passes if nest_pass.level is PassLevel.FULL]
        for nest_pass in passes:
            self.w.extend(self.together.arrays(self._accumulators(nest_pass)))
        self.w.line("first = cuda.blockIdx.x * cuda.blockDim.x")

    def _accumulators(self, nest_pass: NestPass) -> list[TextAccumulator]:
        suffix, slots = self.code.suffix, self.nest.slots
        return [TextAccumulator(self.w, nest_pass, reduce, slots[reduce.slot], suffix) for reduce in nest_pass.reduces]

    def _point(self) -> None:
        """Write the pointers to the rows and columns of each buffer that inner loops read."""
        full = [nest_pass for nest_pass in self.nest.passes if nest_pass.level is PassLevel.FULL]
        self._pointers.clear()
        code = [op for nest_pass in full for op in nest_pass.code]
        for number in sorted({op.entry for op in code if op.name in ("load", "gather")}):
            for cell in self.cells:
                key = (number, *self._own(number, cell))
                if key not in self._pointers:
                    offset = self.code.place(number, self._lanes[cell])
                    name = self.arguments.buffers[number]
                    if offset != "0":
                        # The parts of complex numbers are elements of the memory.
                        offset = f"2 * ({offset})" if self.nest.buffers[number].type.is_complex else offset
                        name = self.w.let(f"further({name}, {offset})", "p")
                    self._pointers[key] = name

    def _own(self, number: int, cell: Cell) -> Cell:
        """The first of the cells that read a buffer at the same place as a cell."""
        strides, outer = self.nest.buffers[number].strides, self.nest.outer
        return (
            cell[0] if strides[outer - 2] is not Stride.NONE else 0,
            cell[1] if strides[outer - 1] is not Stride.NONE else 0,
        )

    def _finish(self, nest_pass: NestPass, values: dict[Cell, list[Value]], lane: Lane) -> None:
        """Write the slots and stores of a pass for each cell, at the indices of the inner axes."""
        for cell in self._each_cell():
            self.code.keep(nest_pass, values[cell])
            if nest_pass.stores or nest_pass.scatters:
                # Where threads share a tile, each has the results, and its own elements of what is reduced.
                once = " & (cuda.threadIdx.y == 0)" if self.members > 1 and nest_pass.level is PassLevel.ROW else ""
                with self.w.block(f"if {self._inside[cell]}{once}:"):
                    self.code.store(nest_pass, [values[cell]], [{**lane, **self._lanes[cell]}])

    def _each_cell(self) -> Iterator[Cell]:
        """The cells, each with the suffix of slot names set to its own."""
        for row, column in self.cells:
            self.code.suffix = f"_{row}{column}"
            yield row, column

    def _full(self, nest_pass: NestPass) -> None:
        accumulators_of = {cell: self._accumulators(nest_pass) for cell in self._each_cell()}
        for accumulators in accumulators_of.values():
            for accumulator in accumulators:
                accumulator.start()

        def iteration(lanes: Sequence[Lane], none: frozenset[int]) -> None:
            (lane,) = lanes
            values = self._values(nest_pass, lane)
            self._finish(nest_pass._replace(keeps=()), values, lane)
            for cell, accumulators in accumulators_of.items():
                for accumulator in accumulators:
                    accumulator.step(values[cell])

        spans = [Span(axis, None, self.arguments.size(axis)) for axis in self._inner()]
        before = self.code.located
        pointed = {number for number, _, _ in self._pointers}
        self.code.located = (before[0], {number: at for number, at in before[1].items() if number not in pointed})
        share = {} if self.members == 1 else {"first": "s64(cuda.threadIdx.y)", "step": "cuda.blockDim.y"}
        axis_loops.nested(self.code, spans, iteration, **share)
        self.code.located = before
        if self.members > 1:
            for accumulators in accumulators_of.values():
                self.together.along_y(accumulators)
        for cell in self._each_cell():
            for accumulator in accumulators_of[cell]:
                accumulator.result(self.code.slot(accumulator.reduce.slot), "0")

    def _inner(self) -> range:
        return range(self.nest.outer, self.nest.outer + self.nest.inner)

    def _values(self, nest_pass: NestPass, lane: Lane) -> dict[Cell, list[Value]]:
        """Write the instructions of a pass for each cell; those that are the same for several cells once."""
        values: dict[Cell, list[Value]] = {cell: [] for cell in self.cells}
        depends = _depends(self.nest, nest_pass)
        for op, (by_row, by_column) in zip(nest_pass.code, depends, strict=True):
            known: dict[Cell, Value] = {}
            for cell in self._each_cell():
                key = (cell[0] if by_row else 0, cell[1] if by_column else 0)
                if key not in known:
                    known[key] = self._instruction(op, nest_pass, values[cell], lane, cell)
                values[cell].append(known[key])
        return values

    def _instruction(self, op: Op, nest_pass: NestPass, values: list[Value], lane: Lane, cell: Cell) -> Value:
        if nest_pass.level is PassLevel.ROW or op.name not in ("load", "gather"):
            return self.code.instruction(op, nest_pass.code, values, {**lane, **self._lanes[cell]})
        self.code.pointers = {op.entry: self._pointers[(op.entry, *self._own(op.entry, cell))]}
        value = self.code.instruction(op, nest_pass.code, values, lane)
        self.code.pointers = {}
        return value


def _depends(nest: Nest, nest_pass: NestPass) -> list[tuple[bool, bool]]:
    """For each instruction whether it differs between the rows, and between the columns, of a thread's tile."""
    dependences: list[tuple[bool, bool]] = []
    for op in nest_pass.code:
        by_row = by_column = op.name == "slot"
        if op.name in ("load", "gather", "index"):
            strides = nest.buffers[op.entry].strides
            by_row, by_column = strides[nest.outer - 2] is not Stride.NONE, strides[nest.outer - 1] is not Stride.NONE
        by_row |= any(dependences[number][0] for number in op.args)
        by_column |= any(dependences[number][1] for number in op.args)
        dependences.append((by_row, by_column))
    return dependences
