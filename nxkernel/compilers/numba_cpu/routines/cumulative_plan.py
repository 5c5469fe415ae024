"""Cumulative sums, products and extremes: which scan kernels run, on which blocks of which lines."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from nxkernel import compile_thread, types
from nxkernel import primitives as p
from nxkernel.compilers.analysis.reduction_table import running_join
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import WIDTH
from nxkernel.compilers.numba_cpu.routines.kernel_builder import name_of
from nxkernel.compilers.numba_cpu.routines.python_algorithms import SCANS
from nxkernel.compilers.numba_cpu.routines.routine_table import (
    SOURCE,
    TARGET,
    ArgumentKind,
    Launch,
    LaunchArgument,
    NativeRoutine,
    Results,
    routine,
)
from nxkernel.compilers.numba_cpu.target.element_types import REGISTER
from nxkernel.graph.expr import Expr
from nxkernel.shapes import ceil_div
from nxkernel.types import Type

#: Elements of a block; no power of two, so that the blocks that a vector's lanes read are not in one set of a cache.
BLOCK = 4080
#: Lines from which each is walked by one thread alone.
_LINES = 16
#: Rows, or blocks of rows, that go side by side.
_ROWS = 8
#: Vectors of columns that walk down together.
_VECTORS = 4


@dataclass(frozen=True)
class CumulativeForm:
    """Everything that decides the code of scan kernels.

    Parameters
    ----------
    name : str
        ``"add"``, ``"multiply"``, ``"max"`` or ``"min"``, or ``"complex_multiply"`` of parts that alternate.
    type : Type
        Of the results in memory; of the parts, if they are complex.
    source : Type
        Of the elements that are read, which are converted.
    lanes : int
        Of a vector.
    vectors : int
        Vectors of columns in a tile; 0 for rows.
    backwards : bool
        Whether rows run from their last element to their first. Columns do by a negative step.
    """

    name: str
    type: Type
    source: Type
    lanes: int
    vectors: int
    backwards: bool = False

    def symbol(self, kernel: str) -> str:
        """The name of one of the kernels."""
        return name_of("scan", kernel, self)

    def text(self, kernel: str) -> str:
        """The LLVM IR of one of the kernels."""
        compile_thread.load("nxkernel.compilers.numba_cpu.routines.scan_kernels")
        from nxkernel.compilers.numba_cpu.routines.scan_kernels import lower

        return lower(self, kernel)


@routine(p.cumulative_sum, p.cumulative_product, p.cumulative_max, p.cumulative_min)
def _cumulative(node: Expr, results: Results) -> NativeRoutine:
    (operand,), axis, reverse = node.operands, node.params["axis"], node.params["reverse"]
    name, type_ = running_join(node), node.type
    outer, length = math.prod(operand.shape[:axis]), operand.shape[axis]
    columns = math.prod(operand.shape[axis + 1 :])
    if not outer * length * columns:
        return NativeRoutine(())
    what = f"{node.primitive.name.replace('_', ' ')} of {outer} x {length} x {columns}"
    read = operand.type
    if type_.is_complex:
        # Both parts of a number are two columns.
        name, columns = "complex_multiply" if name == "multiply" else name, 2 * columns
        type_ = read = types.to_real(type_)
    # One block after the other may overflow where their product does not.
    block = length if name.endswith("multiply") and type_.is_float else BLOCK
    if columns == 1:
        return _along(what, name, type_, read, reverse, outer, length, block)
    return _across(what, name, type_, read, reverse, (outer, length, columns), block)


def _along(
    what: str, name: str, type_: Type, read: Type, reverse: bool, rows: int, length: int, block: int
) -> NativeRoutine:
    """The launches for lines whose elements are contiguous."""
    blocks = ceil_div(length, block)
    lanes = _ROWS
    is_unsplit = blocks == 1 or rows >= _LINES
    if is_unsplit and rows < _ROWS // 4:
        lanes = 1
    lines = rows if is_unsplit else rows * blocks
    scalars = (length, lines, 1 if is_unsplit else blocks, block, blocks)
    groups = ceil_div(lines, lanes)
    kernels = _Kernels(what, CumulativeForm(name, type_, read, lanes, 0, reverse), scalars)
    work = lanes * (length if is_unsplit else block) * (3 if lanes == 1 else 1)
    return (
        kernels.one_thread_per_line(groups, work) if is_unsplit else kernels.shared(groups, work, rows, groups * lanes)
    )


def _across(
    what: str, name: str, type_: Type, read: Type, reverse: bool, sizes: tuple[int, int, int], block: int
) -> NativeRoutine:
    """The launches for lines that run across adjacent columns."""
    outer, length, columns = sizes
    blocks = ceil_div(length, block)
    lanes = 512 // WIDTH[REGISTER[type_]]
    vectors = 1 if columns <= lanes else _VECTORS
    tiles = ceil_div(columns, vectors * lanes)
    lines = outer * tiles
    scalars = (length * columns, length, columns, tiles, -columns if reverse else columns, block, blocks)
    kernels = _Kernels(what, CumulativeForm(name, type_, read, lanes, vectors), scalars)
    if blocks == 1 or lines >= _LINES:
        return kernels.one_thread_per_line(lines, 5 * vectors * length)
    return kernels.shared(lines * blocks, 5 * vectors * block, lines, lines * blocks * vectors * lanes)


@dataclass(frozen=True)
class _Kernels:
    """Makes the launches of a scan."""

    what: str
    scan: CumulativeForm
    scalars: tuple[int, ...]

    def one_thread_per_line(self, steps: int, work: int) -> NativeRoutine:
        """One launch, in which each line is scanned by one thread."""
        return NativeRoutine((self._launch("whole", (SOURCE, TARGET), steps, work, "line by line"),))

    def shared(self, steps: int, work: int, lines: int, totals: int) -> NativeRoutine:
        """Three launches in which the blocks of a line are shared among threads, with `totals` sums in between."""
        kept = LaunchArgument(ArgumentKind.SCRATCH, 0)
        blocks = self.scalars[-1]
        return NativeRoutine(
            (
                self._launch("totals", (SOURCE, kept), steps, work, f"totals of {blocks} blocks a line"),
                self._launch("carry", (kept,), lines, 5 * blocks, "what the blocks before each give"),
                self._launch("apply", (SOURCE, kept, TARGET), steps, work, "block by block"),
            ),
            scratch=totals * (WIDTH[REGISTER[self.scan.type]] // 8),
        )

    def _launch(self, kernel: str, memory: tuple[LaunchArgument, ...], steps: int, work: int, title: str) -> Launch:
        text = functools.partial(self.scan.text, kernel)
        title = f"{self.what}, {title}"
        return Launch(self.scan.symbol(kernel), text, memory, self.scalars, steps, work, title, SCANS[kernel])
