"""Dynamic indices: reads of dynamic slices and gathers in a nest, each index clamped to its axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.analysis import index_maps
from nxkernel.compilers.analysis.index_maps import Map
from nxkernel.compilers.schedule.loop_nest import BufferRole, NestConstant, Op
from nxkernel.graph.expr import Expr
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.compilers.schedule.build_nest import NestBuilder, OpenPass

#: Primitives that read so.
READS = frozenset([p.dynamic_slice, p.gather])


def walked(node: Expr, map_: Map) -> tuple[int, dict[int, int]]:
    """The constant offset and the step along each axis of the nest, in elements, of a slice or gather, without its
    computed indices.
    """
    strides = index_maps.row_strides(node.operands[0].shape)
    if node.primitive is p.gather:
        rest = [stride for axis, stride in enumerate(strides) if axis not in node.params["axes"]]
        return index_maps.linear(map_[len(node.operands[1].shape) :], rest)
    steps = [stride * step for stride, step in zip(strides, node.params["strides"], strict=True)]
    return index_maps.linear(map_, steps)


def sliced(builder: NestBuilder, node: Expr, map_: Map, nest_pass: OpenPass, starts: list[int]) -> int:
    """Emit a load at a computed offset: each start is clamped so that the slice stays inside."""
    operand = node.operands[0]
    strides = index_maps.row_strides(operand.shape)
    most = [n - length for n, length in zip(operand.shape, node.params["lengths"], strict=True)]
    total = offset_of(builder, nest_pass, list(zip(node.operands[1:], starts, most, strides, strict=True)))
    offset, steps = walked(node, map_)
    raw = builder.raw(builder.fusion.buffer_of(operand), node.type, BufferRole.READ, offset, steps)
    return nest_pass.emit(Op("load", node.type, () if total is None else (total,), raw))


def gathered(builder: NestBuilder, node: Expr, map_: Map, nest_pass: OpenPass, indices: list[int]) -> int:
    """Emit a load at computed indices of some axes: one load if all lanes agree on them, else a gather."""
    operand, axes = node.operands[0], node.params["axes"]
    strides = index_maps.row_strides(operand.shape)
    places = [(index, number) for index, number in zip(node.operands[1:], indices, strict=True)]
    parts = [(*place, operand.shape[axis] - 1, strides[axis]) for place, axis in zip(places, axes, strict=True)]
    total = offset_of(builder, nest_pass, parts)
    offset, steps = walked(node, map_)
    raw = builder.raw(builder.fusion.buffer_of(operand), node.type, BufferRole.READ, offset, steps)
    per_lane = builder.along_lanes(map_[: len(node.operands[1].shape)])
    return nest_pass.emit(Op("gather" if per_lane else "load", node.type, (total,), raw))


def offset_of(builder: NestBuilder, nest_pass: OpenPass, parts: list[tuple[Expr, int, int, int]]) -> int | None:
    """Emit the sum of clamped indices times strides; parts are (index, its instruction, maximum, stride)."""
    total = None
    for index, number, most, stride in parts:
        if index.type is types.u64:
            number = _with(builder, nest_pass, "min", number, most, types.u64)
        if index.type is not types.s64:
            number = nest_pass.emit(Op("as_type", types.s64, (number,), attribute=index.type))
        number = _with(builder, nest_pass, "max", number, 0)
        number = _with(builder, nest_pass, "min", number, most)
        if stride != 1:
            number = _with(builder, nest_pass, "multiply", number, stride)
        total = number if total is None else nest_pass.emit(Op("add", types.s64, (total, number)))
    return total


def _with(
    builder: NestBuilder, nest_pass: OpenPass, name: str, number: int, value: int, type_: Type = types.s64
) -> int:
    builder.constants.append(NestConstant(value, type_))
    other = nest_pass.emit(Op("const", type_, (), len(builder.constants) - 1))
    return nest_pass.emit(Op(name, type_, (number, other)))
