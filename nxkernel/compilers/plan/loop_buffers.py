"""Loop-carried buffers: the memory of loops and branches beside operands and results, and how it is swapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nxkernel import primitives as p
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.plan.buffer_assignment import aligned, bytes_of
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec

if TYPE_CHECKING:
    from nxkernel.compilers.plan.program_plan import ProgramPlan


@dataclass(frozen=True)
class LoopBuffers:
    """The private memory of a loop or branch: offsets in bytes of its buffers.

    Parameters
    ----------
    work : int
        Where the workspace of its parts begins.
    results : dict
        For each result that has no memory from outside, where it is.
    fresh : dict
        Of a loop: for each array that its body makes, where it is at first.
    copies : dict
        Of a branch: for each operand that a side writes over, where its copy is.
    spare : dict
        Of a loop: for each array that may end in the buffer of another one, where it is kept on its way to its own.
    size : int
    """

    work: int
    results: dict[int, int]
    fresh: dict[int, int]
    copies: dict[int, int]
    spare: dict[int, int]
    size: int


def loop_buffers_of(
    node: Expr, results: Sequence[Expr | None], parts: Sequence[ProgramPlan], shared: Sequence[int | None]
) -> LoopBuffers:
    """The buffers that a loop or branch needs beside its operands and results.

    Parameters
    ----------
    node : Expr
    results : sequence of (Expr or None)
        None for one that nobody needs.
    parts : sequence of ProgramPlan
    shared : sequence of (int or None)
        For each result the operand whose memory it takes over.
    """
    total = 0
    own, fresh, copies, spare = {}, {}, {}, {}

    def reserved(size: int) -> int:
        nonlocal total
        position, total = total, total + (aligned(size) if size else 0)
        return position

    def allocated(array: Expr | Spec) -> int:
        # An array without elements has an address too.
        return reserved(max(1, bytes_of(array)))

    work = reserved(max(part.workspace for part in parts))
    for index, spec in enumerate(node.spec):
        if results[index] is None and shared[index] is None and not scalars.is_single(spec):
            own[index] = allocated(spec)
    if node.primitive is p.while_:
        for number, array in enumerate(parts[1].arrays):
            if not scalars.is_single(array):
                fresh[number] = allocated(array)
        for position in swaps_of(parts[1], node.params["state"]).tangled:
            spare[position] = allocated(node.operands[position])
    else:
        taken = {operand - 1 for operand in shared if operand is not None}
        for operand in sorted(parts[0].overwritten | parts[1].overwritten):
            if operand not in taken:
                copies[operand] = allocated(node.operands[1 + operand])
    return LoopBuffers(work, own, fresh, copies, spare, total)


def copied(node: Expr, parts: Sequence[ProgramPlan], shared: Sequence[int | None]) -> set[int]:
    """The operands of a loop or branch that it copies first, or whose buffers it may swap.

    Parameters
    ----------
    node : Expr
    parts : sequence of ProgramPlan
    shared : sequence of (int or None)
        For each result the operand whose memory it takes over.
    """
    if node.primitive is p.while_:
        body, count = parts[1], node.params["state"]
        changes = swaps_of(body, count)
        operands = {number for kind, number in (source for source, _ in changes.copies) if kind is MemoryKind.INPUT}
        operands |= {number for kind, number in changes.moves if kind is MemoryKind.INPUT}
        return operands | {number for number in range(count) if shared[number] != number}
    taken = {operand for operand in shared if operand is not None}
    operands = {1 + operand for part in parts for operand in part.overwritten} - taken
    for part in parts:
        operands |= {
            1 + part.outputs[index].number
            for index in brought(part, shared)
            if part.outputs[index].memory is MemoryKind.INPUT
        }
    return operands


def brought(side: ProgramPlan, shared: Sequence[int | None]) -> list[int]:
    """The results of a branch that a side computes in another buffer and that are copied at its end.

    Parameters
    ----------
    side : ProgramPlan
    shared : sequence of (int or None)
        For each result the operand whose memory it takes over.
    """
    first = {where: index for index, where in reversed(list(enumerate(side.outputs)))}
    return [
        index
        for index, where in enumerate(side.outputs)
        if (where.memory is not MemoryKind.OUTPUT or first[where] != index)
        and (shared[index] is None or where != Location.input(shared[index] - 1))
    ]


@dataclass(frozen=True)
class BufferSwaps:
    """How a loop permutes and copies its buffers after an iteration.

    Parameters
    ----------
    copies : list of (Location, Location)
        What is copied first: from, to.
    moves : dict
        For each buffer the one that it is from then on, where that is another.
    tangled : list of int
        The parts of the state that may come to be in the buffers of others.
    """

    copies: list[tuple[Location, Location]]
    moves: dict[Location, Location]
    tangled: list[int]


def swaps_of(body: ProgramPlan, count: int) -> BufferSwaps:
    """Compute how the buffers of a loop are swapped or copied after an iteration.

    Parameters
    ----------
    body : ProgramPlan
    count : int
        How many parts its state has.
    """
    arrays = [k for k in range(count) if not scalars.is_single(body.graph.parameters[k])]
    sizes: dict[Location, int] = {Location.input(k): bytes_of(body.graph.parameters[k]) for k in arrays}
    for number, array in enumerate(body.arrays):
        if not scalars.is_single(array):
            sizes[Location.output(number)] = bytes_of(array)
    now: dict[int, Location] = {}
    for k in arrays:
        where = body.outputs[k]
        if where in sizes and where not in now.values():
            now[k] = where
    copies = []
    for k in arrays:
        if k not in now:
            # Another part is in that buffer too, or it belongs to somebody else.
            free = [b for b, size in sizes.items() if size == sizes[Location.input(k)] and b not in now.values()]
            own = Location.input(k)
            now[k] = own if own in free else free[0]
            copies.append((body.outputs[k], now[k]))
    moves = {Location.input(k): buffer for k, buffer in now.items()}
    rest = [buffer for buffer in sizes if buffer not in now.values()]
    turned = {other: buffer for buffer, other in moves.items()}
    for buffer in sizes:
        if buffer.memory is MemoryKind.OUTPUT:
            # What became a part of the state takes the place of what that was, so that few buffers go around together.
            own = turned.get(buffer)
            fits = own if own in rest else next(other for other in rest if sizes[other] == sizes[buffer])
            rest.remove(fits)
            moves[buffer] = fits
    moves = {buffer: other for buffer, other in moves.items() if buffer != other}
    return BufferSwaps(copies, moves, [k for k in arrays if _goes_through_others(Location.input(k), moves)])


def _goes_through_others(buffer: Location, moves: dict[Location, Location]) -> bool:
    other = moves.get(buffer, buffer)
    while other != buffer:
        if other.memory is MemoryKind.INPUT:
            return True
        other = moves[other]
    return False
