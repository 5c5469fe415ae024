"""Whether a loop nest is well-formed: legal instructions of fitting types, reads after writes, all in bounds.

The scalar parameters of a bound nest are checked, too: as many as its form says, and sizes and strides that stay in the
buffers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from nxkernel import shapes, types
from nxkernel.compilers.analysis import reduction_table
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import (
    Access,
    BufferRole,
    LaneAxis,
    Nest,
    NestConstant,
    NestPass,
    Op,
    PassLevel,
    ScalarKind,
    StoreMode,
    Stride,
)
from nxkernel.errors import VerificationError
from nxkernel.graph.verify import Problem
from nxkernel.primitives import TABLE
from nxkernel.types import Type

#: Instructions that are no primitives: how many arguments they have at most.
SPECIAL = {"load": 1, "gather": 1, "const": 0, "index": 0, "slot": 0, "scratch": 0, "carry": 0}
#: Reductions that a pass may have.
REDUCTIONS = frozenset([*reduction_table.REDUCTIONS, "reduce"])
#: Element-wise primitives whose arguments have the type of their result.
_SAME = frozenset(
    name for name, row in TABLE.items() if row.family == "elementwise" and row.rule.__name__ in ("_same", "_product")
)


def verify(bound: BoundNest, after: str) -> None:
    """Check a nest and what fills it in.

    Parameters
    ----------
    bound : BoundNest
    after : str
        The pass that made it, which the error names.

    Raises
    ------
    VerificationError
        At the first thing that is wrong.
    """
    for subject, expected, found in problems(bound):
        raise VerificationError(after, subject, expected, found)


def problems(bound: BoundNest) -> Iterator[Problem]:
    """The faults of a nest: for each its subject, what was expected, and what was found."""
    nest = bound.nest
    malformed = [*_form(nest), *_passes(nest)]
    yield from malformed
    if not malformed:
        yield from _scalars(bound)


# The form --------------------------------------------------------------------------------------------------------


def _form(nest: Nest) -> Iterator[Problem]:
    yield from _of_kind("the nest", "lanes", nest.lanes, LaneAxis)
    if bool(nest.tile) != (nest.lanes is LaneAxis.TILE) or len(nest.tile) not in (0, 3):
        yield "the nest", "a tile of rows, vectors and lanes where lanes are those of a tile", f"tile {nest.tile}"
    if nest.lanes is not LaneAxis.INNER and not nest.outer:
        yield "the nest", "an outer axis that lanes run along", "none"
    if not -1 <= nest.split < nest.inner:
        yield "the nest", f"a split axis among the {nest.inner} inner ones", f"axis {nest.split}"
    if len(nest.limits) not in (0, 2):
        yield "the nest", "two limits or none", f"{len(nest.limits)}"
    for slot in nest.limits:
        if not -1 <= slot < len(nest.slots):
            yield "the nest", f"limits in slots below {len(nest.slots)}", f"slot {slot}"
    for number, access in enumerate(nest.buffers):
        yield from _access(nest, number, access)


def _access(nest: Nest, number: int, access: Access) -> Iterator[Problem]:
    what = f"buffer {number}"
    yield from _of_kind(what, "the role", access.role, BufferRole)
    if len(access.strides) != nest.outer + nest.inner:
        yield what, f"strides of {nest.outer + nest.inner} axes", f"{len(access.strides)}"
    for axis, stride in enumerate(access.strides):
        yield from _of_kind(what, f"along axis {axis} a stride", stride, Stride)
    if access.like >= 0:
        other = nest.buffers[access.like] if access.like < number else None
        if other is None or other.like >= 0 or other._replace(like=access.like) != access:
            yield what, "an earlier buffer that moves as it does", f"buffer {access.like}"


def _of_kind(subject: str, what: str, value: object, kind: type[Enum]) -> Iterator[Problem]:
    """A member of an enumeration is one, and no text that reads as one."""
    if not isinstance(value, kind):
        yield subject, f"{what} {', '.join(one.value for one in kind)}", repr(value)


class _WrittenSoFar:
    """The slots and scratch rows that earlier passes have written."""

    def __init__(self) -> None:
        self.slots: set[int] = set()
        self.scratches: set[int] = set()


def _passes(nest: Nest) -> Iterator[Problem]:
    written = _WrittenSoFar()
    for number, nest_pass in enumerate(nest.passes):
        where = f"pass {number}"
        yield from _of_kind(where, "the level", nest_pass.level, PassLevel)
        for position, op in enumerate(nest_pass.code):
            yield from _op(nest, nest_pass, op, position, f"instruction {position} of {where}, {op.name}", written)
        yield from _results(nest, nest_pass, where)
        written.slots.update(slot for slot, _ in nest_pass.keeps)
        written.slots.update(reduce.slot for reduce in nest_pass.reduces)
        written.scratches.update(row for row, _ in nest_pass.scratches)
    for slot in set(nest.limits) - {-1} - written.slots:
        yield "the nest", "limits that a pass keeps", f"slot {slot}, which none does"


def _op(nest: Nest, nest_pass: NestPass, op: Op, position: int, what: str, written: _WrittenSoFar) -> Iterator[Problem]:
    row = TABLE.get(op.name)
    if op.name not in SPECIAL and (row is None or row.family != "elementwise"):
        yield what, "an element-wise primitive, or one that reads", op.name
        return
    if any(not 0 <= arg < position for arg in op.args):
        yield what, "arguments among the instructions before it", f"{list(op.args)}"
        return
    if op.name in SPECIAL:
        yield from _read(nest, nest_pass, op, what, written)
    elif op.name in _SAME and any(nest_pass.code[arg].type is not op.type for arg in op.args):
        yield what, f"arguments of type {op.type}", " and ".join(nest_pass.code[arg].type for arg in op.args)


def _read(nest: Nest, nest_pass: NestPass, op: Op, what: str, written: _WrittenSoFar) -> Iterator[Problem]:
    if len(op.args) > SPECIAL[op.name]:
        yield what, f"at most {SPECIAL[op.name]} arguments", f"{len(op.args)}"
    table: dict[str, Sequence[Type]] = {
        "const": nest.constants, "slot": nest.slots, "scratch": nest.scratches,
        "carry": [reduce.type for reduce in nest_pass.reduces],
    }  # fmt: skip
    kinds = table.get(op.name, [access.type for access in nest.buffers])
    if not 0 <= op.entry < len(kinds):
        yield what, f"a number below {len(kinds)}", f"{op.entry}"
        return
    if op.name in ("load", "gather", "index"):
        role = BufferRole.INDEX if op.name == "index" else BufferRole.READ
        if nest.buffers[op.entry].role is not role:
            yield what, f"a buffer to {role}", f"buffer {op.entry} to {nest.buffers[op.entry].role}"
    if op.name != "index" and kinds[op.entry] is not op.type:
        yield what, f"the type {kinds[op.entry]}", str(op.type)
    if op.name == "slot" and op.entry not in written.slots:
        yield what, "a slot that an earlier pass wrote", f"slot {op.entry}"
    if op.name == "scratch" and op.entry not in written.scratches:
        yield what, "a row that an earlier pass wrote", f"row {op.entry}"


def _results(nest: Nest, nest_pass: NestPass, where: str) -> Iterator[Problem]:
    """The stores, slots, reductions and scratch rows of a pass exist and have matching types."""
    code = nest_pass.code

    def written(kinds: Sequence[Type], place: int, number: int, what: str) -> Iterator[Problem]:
        if not 0 <= place < len(kinds) or not 0 <= number < len(code):
            yield f"{what} of {where}", f"one of {len(kinds)} and one of {len(code)} instructions", f"{place}, {number}"
        elif code[number].type is not kinds[place]:
            yield f"{what} {place} of {where}", f"the type {kinds[place]}", f"{code[number].type} ({code[number].name})"

    buffers = [access.type for access in nest.buffers]
    stores = [*nest_pass.stores, *((scatter.buffer, scatter.value) for scatter in nest_pass.scatters)]
    for buffer, number in stores:
        yield from written(buffers, buffer, number, "the store into buffer")
        if 0 <= buffer < len(buffers) and nest.buffers[buffer].role is not BufferRole.WRITE:
            yield f"the store into buffer {buffer} of {where}", "a buffer to write", nest.buffers[buffer].role
    for scatter in nest_pass.scatters:
        if not 0 <= scatter.offset < len(code) or code[scatter.offset].type is not types.s64:
            yield f"the store into buffer {scatter.buffer} of {where}", "an offset of type s64", f"{scatter.offset}"
        yield from _of_kind(f"the store into buffer {scatter.buffer} of {where}", "the mode", scatter.mode, StoreMode)
    for slot, number in nest_pass.keeps:
        yield from written(nest.slots, slot, number, "what is kept in slot")
    for row, number in nest_pass.scratches:
        yield from written(nest.scratches, row, number, "scratch row")
    if nest_pass.level is PassLevel.ROW and (nest_pass.reduces or nest_pass.scratches):
        several = len(nest_pass.reduces or nest_pass.scratches)
        yield where, "no reductions or scratch rows at the row level", f"{several}"
    for reduce in nest_pass.reduces:
        what = f"the reduction {reduce.name} of {where}"
        if reduce.name not in REDUCTIONS:
            yield what, "a reduction that there is", reduce.name
        if not reduce.args or any(not 0 <= arg < len(code) for arg in reduce.args):
            yield what, f"arguments among {len(code)} instructions", f"{list(reduce.args)}"
        elif code[reduce.args[0]].type is not reduce.type:
            yield what, f"an argument of type {reduce.type}", str(code[reduce.args[0]].type)
        if not 0 <= reduce.slot < len(nest.slots):
            yield what, f"a slot below {len(nest.slots)}", f"slot {reduce.slot}"


# What fills it in ------------------------------------------------------------------------------------------------


def _scalars(bound: BoundNest) -> Iterator[Problem]:
    nest, form = bound.nest, list(bound.nest.scalars())
    if len(form) != len(bound.scalars):
        yield "the scalar parameters of the nest", f"{len(form)}", f"{len(bound.scalars)}"
        return
    if len(bound.buffers) != len(nest.memory):
        yield "the buffers of the nest", f"{len(nest.memory)}", f"{len(bound.buffers)}"
        return
    sizes = [0] * (nest.outer + nest.inner)
    strides: dict[tuple[int, int], int] = {}
    for (kind, number, axis), scalar in zip(form, bound.scalars, strict=True):
        if (kind is ScalarKind.CONSTANT) != isinstance(scalar, NestConstant):
            yield f"the scalar parameter {kind} {number} of the nest", "a number", repr(scalar)
            return
        if kind is ScalarKind.SIZE:
            sizes[axis] = scalar
        elif kind is ScalarKind.STRIDE:
            strides[number, axis] = scalar
    if any(size < 0 for size in sizes):
        yield "the nest", "sizes of 0 and more", f"{sizes}"
    elif shapes.size(sizes) != bound.elements:
        yield "the nest", f"sizes of {bound.elements} elements", f"{sizes}"
    elif bound.elements:
        yield from _bounds(bound, sizes, strides)


def _bounds(bound: BoundNest, sizes: Sequence[int], strides: dict[tuple[int, int], int]) -> Iterator[Problem]:
    """All reads and writes lie in the buffers, apart from indices that are computed later and clamped."""
    nest = bound.nest
    for number, (owner, offset) in zip(nest.memory, bound.buffers, strict=True):
        access = nest.buffers[number]
        low = high = offset
        for axis, (stride, size) in enumerate(zip(access.strides, sizes, strict=True)):
            if stride is Stride.DYNAMIC:
                step = strides[nest.mover(number), axis]
            elif stride is Stride.MERGED:
                step = sizes[axis + 1]
            else:
                step = stride.elements
            reach = step * (size - 1) * access.type.size
            low, high = low + min(reach, 0), high + max(reach, 0)
        size = shapes.size(owner.shape) * owner.type.size
        if low < 0 or high + access.type.size > size:
            what = f"buffer {number}, in {owner.primitive.name} {owner.spec}, to {access.role}"
            yield what, f"bytes below {size}", f"those from {low} to {high + access.type.size}"
