"""The roles of a nest's axes: outer, inner, vectorized, or held in registers."""

from __future__ import annotations

import math
from dataclasses import dataclass

from nxkernel import primitives as p
from nxkernel import shapes, types
from nxkernel.compilers.analysis import index_maps
from nxkernel.compilers.analysis.index_maps import Map
from nxkernel.compilers.schedule import dynamic_indices
from nxkernel.compilers.schedule.fusion import Fusion
from nxkernel.compilers.schedule.kernel_groups import KernelGroup
from nxkernel.compilers.schedule.loop_nest import LaneAxis
from nxkernel.graph.expr import Expr

#: Length of a last axis up to which vectors run on into the axis before it.
SHORT_LANES = 24
#: Bytes of a vector.
VECTOR = 64
#: Rows of a tile, the first of these that there are.
ROWS = (8, 4, 2)
#: What reading every second element, and elements further apart, is worth beside reading consecutive ones.
SECOND, STRIDED = 0.6, 0.1
#: Columns up to which a kernel may take some of them from row to row: rows are then so short that the processor reads
#: ahead all the same. The number of rows must not count: batches of other sizes are to find the same kernel.
NARROW = 256
#: Vectors of a tile with one row, and how many instructions it has at most for that.
ABREAST = {4: 12, 2: 40, 1: math.inf}
#: How much less a vector costs where a tile's rows share it.
SHARED = 4


@dataclass(frozen=True)
class AxisRoles:
    """The axes of a nest by role, how lanes run, and the shape of a register tile.

    Parameters
    ----------
    lanes : LaneAxis
        The axis that vectors run along.
    outer, inner : list of int
    sizes : dict
        Of each axis; those of size 1 are left out.
    tile : tuple of int
        Rows along the last outer axis but one, vectors along the last, and lanes of a vector; ``()`` if there is none.
    """

    lanes: LaneAxis
    outer: list[int]
    inner: list[int]
    sizes: dict[int, int]
    tile: tuple[int, ...] = ()


def walk(kernel: KernelGroup, fusion: Fusion) -> AxisRoles:
    """The axis roles for the nest of a kernel group."""
    sizes = {a: n for a, n in enumerate(kernel.space) if n != 1}
    if kernel.reduce is None:
        inner = [max(sizes)] if sizes else []
        outer = [a for a in sizes if a not in inner]
        if outer and sizes[inner[0]] <= SHORT_LANES and not kernel.stores:
            inner.insert(0, outer.pop())
        return AxisRoles(LaneAxis.INNER, outer, inner, sizes)
    inner = [a for a in sizes if a in kernel.reduce]
    outer = [a for a in sizes if a not in kernel.reduce]
    reads = _reads(kernel, fusion)
    tiled = None if kernel.block else _tiled(kernel, fusion, reads, outer, inner, sizes)
    if tiled is not None:
        return tiled
    best = _lane_axis(reads, outer, inner, sizes)
    chosen = inner if best in inner else outer
    chosen.remove(best)
    chosen.append(best)
    if chosen is inner:
        return AxisRoles(LaneAxis.INNER, outer, inner, sizes)
    lanes = _lanes(kernel)
    if kernel.block or sizes[best] > NARROW or 0 in sizes.values():
        return AxisRoles(LaneAxis.OUTER, outer, inner, sizes)
    vectors = _abreast(kernel, fusion) if sizes[best] > lanes else 1
    return AxisRoles(LaneAxis.TILE, outer, inner, sizes, (1, vectors, lanes))


def _abreast(kernel: KernelGroup, fusion: Fusion) -> int:
    """Vectors of a one-row tile: enough to hide the latency of an addition, and few enough to stay in registers."""
    inside = _inside(kernel, fusion)
    return next(count for count, nodes in ABREAST.items() if len(inside) <= nodes)


def _inside(kernel: KernelGroup, fusion: Fusion) -> set[tuple[Expr, Map]]:
    """The values that a kernel computes, each with the index maps at which it does."""
    computed: set[tuple[Expr, Map]] = set()
    for value in kernel.materialized:
        fusion.reach(value, fusion.start(value, kernel), computed)
    return computed


def _reads(kernel: KernelGroup, fusion: Fusion) -> list[tuple[Expr, dict[int, int]]]:
    """The values that a kernel reads from memory, each with its stride along each axis, in elements."""
    reads = []
    for value in kernel.materialized:
        inside: set[tuple[Expr, Map]] = set()
        for node, map_ in fusion.reach(value, fusion.start(value, kernel), inside):
            if map_ is not None and fusion.group_of.get(fusion.buffer_of(node)) is not kernel:
                reads.append((node, index_maps.linear(map_, index_maps.row_strides(node.shape))[1]))
        reads += [
            (node, dynamic_indices.walked(node, map_)[1])
            for node, map_ in inside
            if node.primitive in dynamic_indices.READS
        ]
    return reads


def _lane_axis(
    reads: list[tuple[Expr, dict[int, int]]], outer: list[int], inner: list[int], sizes: dict[int, int]
) -> int:
    """The axis along which most of the memory that is read is contiguous."""
    score = dict.fromkeys(sizes, 0)
    for node, steps in reads:
        for axis, step in steps.items():
            score[axis] += (step == 1) * shapes.size(node.shape)
    best = max(sizes, key=lambda axis: (score[axis], axis))
    if best in inner:
        many = [a for a in outer if sizes[a] >= 64]
        if sizes[best] <= 8 and shapes.size([sizes[a] for a in inner]) <= 64 and many:
            best = max(many)
    return best


def _tiled(
    kernel: KernelGroup,
    fusion: Fusion,
    reads: list[tuple[Expr, dict[int, int]]],
    outer: list[int],
    inner: list[int],
    sizes: dict[int, int],
) -> AxisRoles | None:
    """Axis roles with a register tile: where rows share what is read, over windows, and for folds; else None."""
    reductions = [value for value in kernel.materialized if value.primitive.family == "reduction"]
    folds = any(value.primitive is p.reduce for value in reductions)
    lanes = _lanes(kernel)
    if folds and not outer:
        sizes, outer = {**sizes, -1: 1}, [-1]
    if not outer:
        return None

    def worth(axis: int) -> float:
        """How much of the memory read vectors along an axis get for one instruction each."""
        n = sizes[axis]
        full = n / (max(shapes.ceil_div(n, lanes), 1) * lanes)
        # Exact, as the order in which a set is walked must not decide.
        return full * math.fsum(
            {1: 1.0, 2: SECOND}.get(steps[axis], STRIDED) * shapes.size(node.shape)
            for node, steps in reads
            if steps.get(axis)
        )

    over_windows = any(node.primitive is p.windows for node, _ in _inside(kernel, fusion))
    clean = [axis for axis in outer if over_windows and _is_clean(axis, reads, outer, sizes, lanes)]
    lane = max(clean or outer, key=lambda axis: (worth(axis), axis))
    row = _shared(reads, outer, lane, sizes)
    along = max(map(worth, inner), default=0.0)
    windows = over_windows and worth(lane) >= along
    contiguous = any(steps.get(lane) == 1 for _, steps in reads)
    shared = row is not None and sizes[lane] > 1 and (contiguous or SHARED * worth(lane) >= along)
    if not (folds or windows or shared):
        return None
    outer = [axis for axis in outer if axis not in (lane, row if shared else lane)]
    rows = 1
    if shared:
        outer.append(row)
        rows = next(count for count in ROWS if sizes[row] >= count)
    vectors = 2 if sizes[lane] > lanes else 1
    return AxisRoles(LaneAxis.TILE, [*outer, lane], inner, sizes, (rows, vectors, lanes))


def _lanes(kernel: KernelGroup) -> int:
    """The lanes of a vector of the type that a kernel reduces."""
    reductions = [value for value in kernel.materialized if value.primitive.family == "reduction"]
    width = max(types.compute_type(node.type).size for value in reductions for node in (value, *value.operands))
    return VECTOR // min(max(width, 4), 8)


def _is_clean(
    axis: int, reads: list[tuple[Expr, dict[int, int]]], outer: list[int], sizes: dict[int, int], lanes: int
) -> bool:
    """Whether vectors along an axis are contiguous or constant in all reads, mostly full, and shared by rows."""
    steps = {each.get(axis, 0) for _, each in reads}
    full = 2 * sizes[axis] >= lanes * shapes.ceil_div(sizes[axis], lanes)
    return steps == {0, 1} and full and _shared(reads, outer, axis, sizes) is not None


def _shared(reads: list[tuple[Expr, dict[int, int]]], outer: list[int], lane: int, sizes: dict[int, int]) -> int | None:
    """The outer axis whose rows share the vectors that are read, as in a matrix product; None if there is none."""
    vectors = [steps for _, steps in reads if steps.get(lane)]
    numbers = [steps for _, steps in reads if not steps.get(lane)]
    rows = [
        axis
        for axis in outer
        if axis != lane
        and sizes[axis] > 1
        and any(steps.get(axis) for steps in numbers)
        and not any(steps.get(axis) for steps in vectors)
    ]
    return max(rows, key=lambda axis: (min(sizes[axis], ROWS[0]), axis), default=None)
