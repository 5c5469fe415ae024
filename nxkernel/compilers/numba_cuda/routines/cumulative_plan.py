"""Cumulative sums, products and extremes: which scan kernels run, on which parts of which lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.analysis.reduction_table import running_join
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch, KernelSource, MemoryArgument
from nxkernel.compilers.numba_cuda.language.launch_geometry import Machine
from nxkernel.compilers.numba_cuda.routines import scan_kernels
from nxkernel.compilers.numba_cuda.routines.routine_table import DeviceRoutine, routine
from nxkernel.compilers.numba_cuda.routines.scan_kernels import ITEMS, THREADS, ScanForm
from nxkernel.graph.expr import Expr
from nxkernel.shapes import ceil_div

#: Rows from which each has a block of its own, and columns from which each has a thread of its own.
MANY_ROWS, MANY_COLUMNS = 512, 1 << 16
#: Rows of at most so many elements, if there are many, have a thread each, as columns do.
SHORT_ROW = 64
#: Fewest elements of a part of a row and of a column, and the most parts of each.
ROW_PART, COLUMN_PART = 4 * THREADS * ITEMS, 64
MOST_ROW_PARTS, MOST_COLUMN_PARTS = 1024, 64
#: The most blocks of a grid; beyond, each takes several tasks.
MOST_BLOCKS = 1 << 20


@routine(p.cumulative_sum, p.cumulative_product, p.cumulative_max, p.cumulative_min)
def _cumulative(node: Expr) -> DeviceRoutine:
    (operand,), axis = node.operands, node.params["axis"]
    name, type_ = running_join(node), operand.type
    outer, length = math.prod(operand.shape[:axis]), operand.shape[axis]
    columns = math.prod(operand.shape[axis + 1 :])
    title = f"{node.primitive.name.replace('_', ' ')} of {outer} x {length} x {columns}"
    if type_.is_complex and name == "add":
        # Both parts of a number are two columns.
        type_, columns = types.to_real(type_), 2 * columns
    # A part of a line may overflow where the line up to its end does not.
    in_order = name == "multiply" and not type_.is_integer and type_ is not types.bool_
    scan = ScanForm(name, type_, node.params["reverse"], in_order)
    if not outer * length * columns:
        return DeviceRoutine(node, title, lambda device: [], capturable=True)
    along = columns == 1 and not type_.is_complex and (length > SHORT_ROW or outer < MANY_ROWS)
    lines = _Lines(node, title, scan, outer, length, columns, *_parts(scan, outer, length, columns, along))
    return DeviceRoutine(node, title, lines.of_rows if along else lines.of_columns, lines.scratch, capturable=True)


def _parts(scan: ScanForm, outer: int, length: int, columns: int, along: bool) -> tuple[int, int]:
    """The number of parts that each line is cut into, and the elements of a part."""
    if scan.in_order or outer * columns >= (MANY_ROWS if along else MANY_COLUMNS):
        return 1, length
    least, most = (ROW_PART, MOST_ROW_PARTS) if along else (COLUMN_PART, MOST_COLUMN_PARTS)
    part = ceil_div(length, min(most, ceil_div(length, least)))
    return ceil_div(length, part), part


@dataclass(frozen=True)
class _Lines:
    """Makes the launches for lines cut into parts."""

    node: Expr
    title: str
    scan: ScanForm
    outer: int
    length: int
    columns: int
    parts: int
    part: int

    @property
    def scratch(self) -> int:
        """Bytes for the totals of all parts."""
        size = types.compute_type(self.scan.type).size
        return 0 if self.parts == 1 else self.outer * self.parts * self.columns * size

    def of_rows(self, device: Machine) -> list[KernelLaunch]:
        """The launches for contiguous lines: one block a part."""
        scalars = (self.length, self.parts, self.part, self.outer * self.parts)
        block = min(THREADS, max(32, 1 << (ceil_div(self.part, ITEMS) - 1).bit_length()), device.threads)
        grid = min(scalars[-1], MOST_BLOCKS)
        kernel = scan_kernels.rows(self.scan, self.parts > 1)
        return self._launches(scan_kernels.totals_of_rows, kernel, scalars, grid, block)

    def of_columns(self, device: Machine) -> list[KernelLaunch]:
        """The launches for adjacent columns: one thread a part."""
        scalars = (self.length, self.columns, self.parts, self.part, self.outer * self.parts * self.columns)
        block = min(THREADS, device.threads)
        grid = min(ceil_div(scalars[-1], block), MOST_BLOCKS)
        kernel = scan_kernels.columns(self.scan, self.parts > 1)
        return self._launches(scan_kernels.totals_of_columns, kernel, scalars, grid, block)

    def _launches(
        self,
        totals: Callable[[ScanForm], KernelSource],
        scan_kernel: KernelSource,
        scalars: Sequence[int],
        grid: int,
        block: int,
    ) -> list[KernelLaunch]:
        source, target, kept = (MemoryArgument(one) for one in (self.node.operands[0], self.node, None))

        def launch(kernel: KernelSource, memory: Sequence[MemoryArgument], what: str) -> KernelLaunch:
            title = f"{self.title}, {what}"
            return KernelLaunch(kernel, memory, scalars, (grid,), (block,), scratch=self.scratch, title=title)

        if self.parts == 1:
            return [launch(scan_kernel, (source, target), "from end to end")]
        return [
            launch(totals(self.scan), (source, kept), f"totals of {self.parts} parts"),
            launch(scan_kernel, (source, target, kept), "part by part"),
        ]
