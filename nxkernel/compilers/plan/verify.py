"""Plan verification: values are written before they are read and not overwritten too early; memory has one owner.

The steps are gone through in order, with a table of what each piece of memory holds. Two values share memory only where
the plan has decided on an update in place, or where a loop nest writes each element over the one that it has read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nxkernel import primitives as p
from nxkernel import shapes
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.analysis.matrix_products import Product
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.plan.loop_buffers import loop_buffers_of
from nxkernel.compilers.plan.program_plan import (
    Control,
    ElementStore,
    LaunchMode,
    OpaqueStep,
    ProgramPlan,
    ScalarStep,
    Step,
)
from nxkernel.compilers.schedule import verify as nests
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.loop_nest import BufferRole
from nxkernel.errors import VerificationError
from nxkernel.graph.expr import Expr
from nxkernel.graph.verify import Problem, named

if TYPE_CHECKING:
    from nxkernel.compilers.plan.planner import PlanDraft


def verify(plan: ProgramPlan, after: str) -> None:
    """Check a plan, its nests, and the plans of its loops and branches.

    Parameters
    ----------
    plan : ProgramPlan
    after : str
        The pass that made it, which the error names.

    Raises
    ------
    VerificationError
        At the first thing that is wrong.
    """
    for subject, expected, found in problems(plan):
        raise VerificationError(after, subject, expected, found)


def verify_steps(draft: PlanDraft, after: str) -> None:
    """Check the loop nests among the steps of a plan in the making, as :func:`verify` does those of a plan."""
    for step in draft.steps:
        if isinstance(step.work, BoundNest):
            nests.verify(step.work, after)


def verify_launches(plan: ProgramPlan, after: str) -> None:
    """Check a plan for a GPU as :func:`verify` does, and the launch modes of its loops and branches."""
    verify(plan, after)
    for subject, expected, found in _launches(plan):
        raise VerificationError(after, subject, expected, found)


def problems(plan: ProgramPlan) -> Iterator[Problem]:
    """The faults of a plan: for each its subject, what was expected, and what was found."""
    malformed = [*_places(plan), *_order(plan)]
    yield from malformed
    for step in plan.steps:
        if isinstance(step.work, BoundNest):
            yield from nests.problems(step.work)
        elif isinstance(step.work, Control):
            yield from _control(plan, step.work)
    for position in sorted(plan.overwritten - plan.writable):
        yield f"input {position} of the program", "that nothing is written into it", "a result in its memory"
    if not malformed:
        yield from _MemoryContents(plan).problems()


def step_name(plan: ProgramPlan, step: Step) -> str:
    """A step's name in errors: its number, and what it computes."""
    work = step.work
    if isinstance(work, BoundNest):
        what = f"{work.nest.kind} nest" + "".join(f" of {named(node)}" for node in step.writes[-1:])
    elif isinstance(work, Product):
        what = f"matrix product {work.node.spec}"
    else:
        what = named(work.node)
    return f"step {plan.steps.index(step)}, {what}"


def _places(plan: ProgramPlan) -> Iterator[Problem]:
    """Every value that a step reads or writes has a valid location."""
    for step in plan.steps:
        for node in (*step.reads, *step.writes):
            if node not in plan.place:
                yield f"{named(node)} in {step_name(plan, step)}", "a place in memory", "none"
                continue
            yield from _place(plan, node)
    for number, where in enumerate(plan.outputs):
        is_array = where.memory is MemoryKind.OUTPUT and 0 <= where.number < len(plan.arrays)
        if where.memory is not MemoryKind.INPUT and not is_array:
            yield f"output {number}", f"an input, or one of {len(plan.arrays)} arrays", f"{where}"
    for number, (where, result) in enumerate(zip(plan.outputs, plan.results, strict=True)):
        if where.memory is MemoryKind.OUTPUT and where.number < len(plan.arrays):
            size, there = bytes_of(result), bytes_of(plan.arrays[where.number])
            if there != size:
                yield f"output {number}", f"an array of {size} bytes", f"{there}"


def _place(plan: ProgramPlan, node: Expr) -> Iterator[Problem]:
    (kind, number), size = plan.place[node], bytes_of(node)
    if not isinstance(kind, MemoryKind):
        yield named(node), f"memory that is one of {', '.join(MemoryKind)}", repr(kind)
    elif kind is MemoryKind.WORKSPACE and (number < 0 or number % node.type.size or number + size > plan.workspace):
        expected = f"bytes below {plan.workspace} of the workspace, from a multiple of {node.type.size}"
        yield named(node), expected, f"{size} bytes from {number}"
    elif kind is MemoryKind.OUTPUT and not (0 <= number < len(plan.arrays) and size <= bytes_of(plan.arrays[number])):
        there = f"{bytes_of(plan.arrays[number])} bytes" if 0 <= number < len(plan.arrays) else "no such array"
        yield f"{named(node)} in output {number}", f"an array of {size} bytes", there
    elif kind is MemoryKind.SCALAR and shapes.size(node.shape) != 1:
        yield named(node), "memory, since it is no single number", f"number {number}"


def _order(plan: ProgramPlan) -> Iterator[Problem]:
    """Each step comes once, after the steps that it depends on."""
    position: dict[Step, int] = {}
    for number, step in enumerate(plan.steps):
        if step in position:
            yield step_name(plan, step), "each step once", f"it is step {number}, too"
        position.setdefault(step, number)
    for step, number in position.items():
        for other in (*step.after, *step.before):
            if position.get(other, -1) > number:
                yield step_name(plan, step), f"to follow {step_name(plan, other)}", "that it comes before"


def _control(plan: ProgramPlan, control: Control) -> Iterator[Problem]:
    """The bodies of a loop or branch have plans, and results take over memory of matching operands."""
    node = control.node
    for part in control.parts:
        yield from problems(part)
    if control.parallel and control.independence is None:
        yield named(node), "independent iterations, since threads share them", "others"
    needed = loop_buffers_of(node, control.results, control.parts, control.shared).size
    there = 0 if control.scratch is None else bytes_of(control.scratch)
    if there < needed:
        yield f"the memory of {named(node)}", f"{needed} bytes", f"{there}"
    for number, (result, operand) in enumerate(zip(control.results, control.shared, strict=True)):
        if result is None or operand is None:
            continue
        if result not in plan.in_place:
            yield f"result {number} of {named(node)}", "an update in place that is planned", "none"
        elif plan.place.get(result) != plan.place.get(node.operands[operand]):
            where = f"{plan.place.get(result)} and {plan.place.get(node.operands[operand])}"
            yield f"result {number} of {named(node)}", f"the place of operand {operand}", where


#: What may run the loops and branches inside of one that is run so.
_INSIDE = {
    LaunchMode.ONE_THREAD: {LaunchMode.ONE_THREAD},
    LaunchMode.MANY_THREADS: {LaunchMode.ONE_THREAD},
    LaunchMode.ONE_BLOCK: {LaunchMode.ONE_THREAD, LaunchMode.MANY_THREADS, LaunchMode.ONE_BLOCK},
    LaunchMode.HOST: set(LaunchMode),
}
#: Steps that are part of the kernel of such a loop or branch.
_STEPS = {
    LaunchMode.ONE_THREAD: (ScalarStep, ElementStore, Control),
    LaunchMode.MANY_THREADS: (ScalarStep, ElementStore, Control),
    LaunchMode.ONE_BLOCK: (ScalarStep, ElementStore, Control, BoundNest),
    LaunchMode.HOST: (ScalarStep, ElementStore, Control, BoundNest, Product, OpaqueStep),
}


def _launches(plan: ProgramPlan) -> Iterator[Problem]:
    """Every loop and branch has a launch mode that is possible for it."""
    for control in plan.controls.values():
        launch, subject = control.launch, named(control.node)
        if launch is None:
            yield subject, "what runs it", "none"
            continue
        if launch.mode is LaunchMode.MANY_THREADS and control.independence is None:
            yield subject, "iterations that are independent", f"that it is run by {launch.mode.value}"
        if launch.mode is LaunchMode.ONE_BLOCK and not control.is_loop:
            yield subject, "one thread or the host for a branch", launch.mode.value
        if launch.mode is not LaunchMode.HOST and (launch.known_results or launch.reads_back):
            yield subject, "that the host learns nothing of it", f"that it is run by {launch.mode.value}"
        inputs = control.node.operands if control.is_loop else control.node.operands[1:]
        for number in sorted(launch.known_inputs):
            if not scalars.is_single(inputs[number]):
                yield f"input {number} of {subject}", "a number, since the host knows it", str(inputs[number].spec)
        for part in control.parts:
            for step in part.steps:
                if not isinstance(step.work, _STEPS[launch.mode]):
                    yield step_name(part, step), "no step that only the host runs", f"it in {launch.mode.value}"
            for inner in part.controls.values():
                if inner.launch is not None and inner.launch.mode not in _INSIDE[launch.mode]:
                    found = f"{inner.launch.mode.value} in {launch.mode.value}"
                    yield named(inner.node), "what a part of a kernel can be run by", found
            yield from _launches(part)


@dataclass(frozen=True)
class _Piece:
    """A range of bytes in one memory."""

    memory: Location
    begin: int
    end: int

    def meets(self, other: _Piece) -> bool:
        """Whether two ranges overlap."""
        return self.memory == other.memory and self.begin < other.end and other.begin < self.end

    def __str__(self) -> str:
        if self.memory.memory is MemoryKind.WORKSPACE:
            return f"bytes {self.begin} to {self.end} of the workspace"
        return str(self.memory)


class _MemoryContents:
    """The contents of memory while the steps of a plan run, one after the other."""

    def __init__(self, plan: ProgramPlan) -> None:
        self.plan = plan
        self.held: dict[Expr, _Piece] = {node: self.piece(node) for node in plan.place if node.primitive is p.parameter}
        #: For each value the steps that write it, by number, and what was written over it since.
        self.writers: dict[Expr, list[int]] = {}
        self.lost: dict[Expr, Expr] = {}
        for number, step in enumerate(plan.steps):
            for node in step.writes:
                self.writers.setdefault(node, []).append(number)

    def piece(self, node: Expr) -> _Piece:
        where = self.plan.place[node]
        if where.memory is MemoryKind.SCALAR:
            return _Piece(where, 0, 1)
        if where.memory is MemoryKind.WORKSPACE:
            return _Piece(Location.workspace(0), where.number, where.number + bytes_of(node))
        return _Piece(where, 0, bytes_of(node))

    def problems(self) -> Iterator[Problem]:
        """The faults found by running through the steps."""
        for position, step in enumerate(self.plan.steps):
            own = set(step.writes)
            for node in step.reads:
                if node not in own:
                    yield from self._read(position, node, step)
            yield from self._same_time(step)
            for node in step.writes:
                yield from self._write(node, step)
        for number, (result, where) in enumerate(zip(self.plan.results, self.plan.outputs, strict=True)):
            yield from self._result(number, result, where)

    def _read(self, number: int, node: Expr, reader: Step) -> Iterator[Problem]:
        if node not in self.held:
            over = self.lost.get(node)
            found = "that no step has written it" if over is None else f"{named(over)} in {self.piece(over)}"
            expected = "it in its memory"
        elif any(writer >= number for writer in self.writers.get(node, ())):
            expected, found = "all of it written before", "a part that a later step writes"
        else:
            return
        yield f"{named(node)}, read by {step_name(self.plan, reader)}", expected, found

    def _same_time(self, step: Step) -> Iterator[Problem]:
        """A step writes nothing into memory that holds a value it reads, unless element by element."""
        for new in step.writes:
            for old in step.reads:
                if old is new or self._is_version(new, old) or not self.piece(new).meets(self.piece(old)):
                    continue
                if not element_by_element(step, old, new):
                    found = f"{self.piece(new)}, where it reads {named(old)}"
                    yield f"{named(new)}, written by {step_name(self.plan, step)}", "memory of its own", found
            for other in step.writes:
                if other is not new and self.piece(new).meets(self.piece(other)):
                    found = f"{self.piece(new)}, where it writes {named(other)}, too"
                    yield f"{named(new)}, written by {step_name(self.plan, step)}", "memory of its own", found

    def _is_version(self, new: Expr, old: Expr) -> bool:
        """Whether a value results from another one by in-place updates."""
        while new in self.plan.in_place:
            new = self.plan.in_place[new]
            if _below(new) is _below(old):
                return True
        return False

    def _write(self, node: Expr, writer: Step) -> Iterator[Problem]:
        piece = self.piece(node)
        base = self.plan.in_place.get(node)
        if base is not None and node not in self.held:
            holder = next((other for other in self.held if _below(other) is _below(base)), None)
            if holder is None or self.piece(holder).memory != piece.memory or self.piece(holder).begin != piece.begin:
                what = f"{named(node)}, written by {step_name(self.plan, writer)}"
                yield what, f"{named(base)} in {piece}, to be updated", self._at(piece)
        for other in [other for other, held in self.held.items() if other is not node and held.meets(piece)]:
            del self.held[other]
            self.lost[other] = node
        self.held[node] = piece

    def _at(self, piece: _Piece) -> str:
        return " and ".join(named(other) for other, held in self.held.items() if held.meets(piece)) or "nothing"

    def _result(self, number: int, result: Expr, where: Location) -> Iterator[Problem]:
        node = result
        while node not in self.held and node not in self.lost and node.primitive is p.reshape:
            node = node.operands[0]
        if node not in self.held:
            over = self.lost.get(node)
            expected, found = "it in its memory at the end", "nothing" if over is None else f"{named(over)}"
        elif self.held[node].memory != where:
            expected, found = f"it in {where}", str(self.held[node])
        else:
            return
        yield f"output {number}, {named(result)}", expected, found


def _below(node: Expr) -> Expr:
    while node.primitive is p.reshape:
        node = node.operands[0]
    return node


def element_by_element(step: Step, old: Expr, new: Expr) -> bool:
    """Whether a step reads an element of one value only where it writes that of the other, in the same bytes."""
    work = step.work
    if isinstance(work, ScalarStep | ElementStore) or not isinstance(work, BoundNest):
        return False
    nest = work.nest
    spots: dict[BufferRole, set] = {BufferRole.READ: set(), BufferRole.WRITE: set()}
    for number, (owner, offset) in zip(nest.memory, work.buffers, strict=True):
        if owner is old or owner is new:
            access = nest.buffers[number]
            mover = nest.buffers[nest.mover(number)]
            spots[access.role].add((offset, access.type.size, mover.strides))
    loaded = [op for op in nest.ops() if op.name in ("load", "gather") and op.args]
    reads = {number for number, (owner, _) in zip(nest.memory, work.buffers, strict=True) if owner is old}
    if any(op.entry in reads for op in loaded) or len(spots[BufferRole.READ] | spots[BufferRole.WRITE]) != 1:
        return False
    passes = [one for one in nest.passes if one.stores or any(op.entry in reads for op in one.code)]
    return len(passes) == 1 or nest.kind == "map"
