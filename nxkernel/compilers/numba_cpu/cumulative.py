"""Cumulative sums, products and extremes: which kernels run, on which blocks of which lines."""

from __future__ import annotations

import functools
import math

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.routines import Launch, Memory, Routine, routine
from nxkernel.compilers.numba_cpu.scans import BLOCK, Scan
from nxkernel.graph.expr import Expr
from nxkernel.shapes import ceil_div

#: Lines from which each is walked by one thread alone.
_LINES = 8
#: Vectors of columns that walk down together.
_VECTORS = 4

_NAMES = {
    p.cumulative_sum: "add",
    p.cumulative_product: "multiply",
    p.cumulative_max: "max",
    p.cumulative_min: "min",
}
#: Of truth values a sum is "any so far", a product "all so far".
_OF_TRUTH = {"add": "max", "multiply": "min"}


@routine(p.cumulative_sum, p.cumulative_product, p.cumulative_max, p.cumulative_min)
def _cumulative(node: Expr) -> Routine:
    (operand,), axis, reverse = node.operands, node.params["axis"], node.params["reverse"]
    name, type_ = _NAMES[node.primitive], operand.type
    outer, length = math.prod(operand.shape[:axis]), operand.shape[axis]
    columns = math.prod(operand.shape[axis + 1 :])
    if not outer * length * columns:
        return Routine(())
    if type_ is types.bool_:
        name = _OF_TRUTH.get(name, name)
    if type_.is_complex:
        # Both parts of a number are two columns.
        name, type_, columns = "complex_multiply" if name == "multiply" else name, types.to_real(type_), 2 * columns
    if columns == 1:
        scan, tiles = Scan(name, type_, 0, reverse), 1
    else:
        lanes = Scan(name, type_, 1).lanes
        scan = Scan(name, type_, 1 if columns <= lanes else _VECTORS)
        tiles = ceil_div(columns, scan.vectors * lanes)
    lines, blocks = outer * tiles, ceil_div(length, BLOCK)
    alone = blocks == 1 or lines >= _LINES
    share = blocks if alone else 1
    step = -columns if reverse else columns
    words = (length * columns, length, columns, tiles, step, ceil_div(blocks, share), share, blocks)
    work = 2 * ceil_div(length, blocks) * share * (max(scan.vectors, 1) if scan.vectors else 0.5)
    what = f"{node.primitive.name.replace('_', ' ')} of {outer} x {length} x {columns}"

    def launch(kernel: str, memory: tuple[Memory, ...], title: str) -> Launch:
        text = functools.partial(scan.text, kernel)
        return Launch(scan.symbol(kernel), text, memory, words, lines * words[5], int(work), title)

    source, totals, target = ("operand", 0), ("scratch", 0), ("result", 0)
    if alone:
        # No totals are read where one step has all blocks of a line.
        return Routine((launch("apply", (source, source, target), f"{what}, a line a step"),))
    return Routine(
        (
            launch("totals", (source, totals), f"{what}: totals of {blocks} blocks"),
            launch("apply", (source, totals, target), f"{what}: each block from what those before it give"),
        ),
        scratch=lines * blocks * scan.held,
    )
