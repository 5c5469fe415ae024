"""Host-driven loops and branches: conditions are read back, loop-carried buffers swapped instead of copied.

A condition that follows from numbers of the host is none that anything waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.numba_cuda.program.host_numbers import is_known
from nxkernel.compilers.numba_cuda.program.host_steps import (
    WORKSPACE,
    Address,
    CopyStep,
    DeviceStep,
    HostNumber,
    HostNumbers,
    HostStep,
    ProgramRun,
    do_all,
)
from nxkernel.compilers.numba_cuda.program.scalar_kernels import known_value
from nxkernel.compilers.numba_cuda.program.single_block_loops import SingleBlock, in_one_block
from nxkernel.compilers.numba_cuda.program.single_thread_loops import loop_title, write_single_thread
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.plan.loop_buffers import loop_buffers_of, swaps_of
from nxkernel.compilers.plan.program_plan import Control, LaunchMode, ProgramPlan
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec
from nxkernel.types import Type

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cuda.program.program_writer import DeviceScope


@dataclass(eq=False)
class Answer:
    """The condition of a loop or branch: a number of the host, or one read back from the device.

    Parameters
    ----------
    value : int or None
        A register of the host.
    where : Address or None
    dtype : numpy.dtype or None
    """

    value: int | None
    where: Address | None
    dtype: np.dtype | None

    def truth(self, run: ProgramRun) -> bool:
        """Whether the condition holds now."""
        number = run.device.read(run.at(self.where), self.dtype) if self.value is None else run.values[self.value]
        return bool(number != 0)


@dataclass(eq=False)
class LoopStep:
    """A loop that the host drives.

    Parameters
    ----------
    begins : list of (int, Address)
        Registers that may be others in each iteration, and what they are at first.
    first : list of (int, int or number)
        Numbers of the host among the state: the register, and that of what it is at first, or the number.
    condition, body : list of HostStep
    answer : Answer
    copies : list of CopyStep
        At the end of an iteration.
    moves : list of (int, int)
        Then registers become what others were: of addresses.
    passed : list of (int, int)
        And of numbers of the host.
    node : Expr
    """

    begins: list[tuple[int, Address]]
    first: list[tuple[int, HostNumber]]
    condition: list[HostStep]
    answer: Answer
    body: list[HostStep]
    copies: list[CopyStep]
    moves: list[tuple[int, int]]
    passed: list[tuple[int, int]]
    node: Expr

    def do(self, run: ProgramRun) -> None:
        """Run all iterations."""
        addresses, values = run.addresses, run.values
        for register, where in self.begins:
            addresses[register] = run.at(where)
        for register, number in self.first:
            values[register] = values[number] if type(number) is int else number
        targets, sources = [one for one, _ in self.moves], [other for _, other in self.moves]
        while True:
            do_all(self.condition, run)
            if not self.answer.truth(run):
                return
            do_all(self.body, run)
            do_all(self.copies, run)
            for register, address in zip(targets, [addresses[k] for k in sources], strict=True):
                addresses[register] = address
            # All are read before any is written: they may change places.
            for (register, _), number in zip(self.passed, [values[k] for _, k in self.passed], strict=True):
                values[register] = number


@dataclass(eq=False)
class BranchStep:
    """A branch that the host decides.

    Parameters
    ----------
    answer : Answer
    sides : tuple of list of HostStep
        Where it holds, and where it does not.
    passed : tuple of list of (int, int)
        Of each side the numbers of the host that are results: the register, and that of the side.
    node : Expr
    """

    answer: Answer
    sides: tuple[list[HostStep], list[HostStep]]
    passed: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    node: Expr

    def do(self, run: ProgramRun) -> None:
        """Run one side."""
        side = 0 if self.answer.truth(run) else 1
        do_all(self.sides[side], run)
        for register, number in self.passed[side]:
            run.values[register] = run.values[number]


def all_on_device(steps: Iterable[HostStep]) -> Iterator[DeviceStep]:
    """The steps that run on the device, including those in loops and branches, each once."""
    for step in steps:
        if isinstance(step, LoopStep):
            yield from all_on_device([*step.condition, *step.body, *step.copies])
        elif isinstance(step, BranchStep):
            yield from all_on_device([*step.sides[0], *step.sides[1]])
        elif isinstance(step, DeviceStep):
            yield step


def write_control(scope: DeviceScope, control: Control) -> None:
    """Write a loop or branch."""
    if control.launch.mode in (LaunchMode.ONE_THREAD, LaunchMode.MANY_THREADS):
        write_single_thread(scope, control)
    else:
        (_DeviceLoop if control.is_loop else _DeviceBranch)(scope, control).write()


@dataclass(eq=False)
class DeferredSteps:
    """Steps that are made when it is known which scalars of theirs are needed."""

    steps: Callable[[], list[HostStep]]

    def finished(self) -> list[HostStep]:
        """The steps."""
        return self.steps()


class _BranchParts:
    def __init__(self, scope: DeviceScope, control: Control) -> None:
        self.scope, self.writer = scope, scope.writer
        self.control, self.node, self.results = control, control.node, control.results
        self.shared = control.shared
        self.loop_buffers = loop_buffers_of(self.node, self.results, control.parts, self.shared)
        #: What is copied before the parts begin.
        self.before: list[CopyStep] = []

    def scratch(self, offset: int) -> Address:
        scratch = self.scope.where(self.control.scratch)
        return Address(scratch.register, scratch.offset + offset)

    def work(self) -> Address:
        return self.scratch(self.loop_buffers.work) if self.control.scratch is not None else WORKSPACE

    def result_address(self, index: int, operand: Expr | None) -> Address:
        """The address of the memory that an array result is computed in."""
        if self.shared[index] is not None:
            return self.scope.where(operand)
        if self.results[index] is not None:
            return self.scope.where(self.results[index])
        return self.scratch(self.loop_buffers.results[index])

    def forget_results(self) -> None:
        for result in self.results:
            if result is not None:
                self.scope.values.pop(self.scope.plan.place[result], None)

    def keep_results(self, known: Mapping[int, int]) -> None:
        """Record that results are numbers known to the host; they are written to memory only if needed there."""
        numbers = None
        for index, value in known.items():
            result = self.results[index]
            if result is not None:
                numbers = numbers or self.scope.new_numbers()
                location = self.scope.plan.place[result]
                self.scope.values[location] = value
                numbers.write(location, result.type, value)


class _DeviceLoop(_BranchParts):
    def write(self) -> None:
        scope, writer = self.scope, self.writer
        condition, body = self.control.parts
        count, operands = self.node.params["state"], self.node.operands
        launch = self.control.launch
        within, known = launch.mode is LaunchMode.ONE_BLOCK, launch.known_results
        values = {k: writer.value() for k in sorted(launch.known_inputs)}
        first = [(values[k], known_value(scope, operands[k])) for k in values]
        arrays = [k for k in range(count) if not scalars.is_single(operands[k])]
        singles = [k for k in range(count) if k not in arrays and k not in known]
        begins: list[tuple[int, Address]] = []
        registers: dict[Location, int] = {}
        targets = {k: self.result_address(k, operands[k]) for k in arrays}

        def variable(buffer: Location, where: Address) -> Callable[[], Address]:
            registers[buffer] = writer.register()
            begins.append((registers[buffer], where))
            return lambda: Address(registers[buffer])

        inputs: list[Callable[[], Address] | None] = []
        for k, operand in enumerate(operands):
            if k in values:
                inputs.append(None)
            elif k in targets:
                inputs.append(variable(Location.input(k), targets[k]))
                if self.shared[k] is None:
                    self.before.append(CopyStep("state of a loop", targets[k], scope.where(operand), bytes_of(operand)))
            elif k < count:
                own = writer.number()
                inputs.append(variable(Location.input(k), own))
                if is_known(scope.plan, operand, scope.values):
                    scope.set_number(own, operand.type, known_value(scope, operand))
                else:
                    self.before.append(CopyStep("state of a loop", own, scope.where(operand), operand.type.size))
            else:
                inputs.append(lambda operand=operand: scope.where(operand))
        outputs = []
        for number, array in enumerate(body.arrays):
            fresh = writer.number() if scalars.is_single(array) else self.scratch(self.loop_buffers.fresh[number])
            outputs.append(variable(Location.output(number), fresh))
        answers = [writer.number() for _ in condition.arrays]
        machine = SingleBlock(writer.device) if within else None
        places = [lambda where=where: where for where in answers]
        asked = scope.part(condition, inputs, places, self.work(), values, machine)
        iteration = scope.part(body, inputs, outputs, self.work(), values, machine)
        truth = condition.outputs[0]
        value = asked.values.get(truth)
        type_ = condition.graph.outputs[0].type
        answer = Answer(value, asked.at(truth) if value is None else None, type_.dtype)

        copies, moves = self._changes(body, count, iteration, singles, registers)
        passed = [(values[k], iteration.values[body.outputs[k]]) for k in sorted(known)]
        for copied in self.before:
            copied.nodes = [self.node]
            scope.add(copied)
        self.forget_results()

        def steps() -> list[HostStep]:
            # The body first: what it needs of numbers is not what the condition needs, but both ask for operands.
            inside, ask = iteration.finished(), asked.finished()
            loop = LoopStep(begins, first, ask, answer, inside, copies, moves, passed, self.node)
            return self._in_one_block(loop, after, type_) if within else [loop, *after]

        after = self._copies_of_results(body, count, registers, targets, singles)
        scope.add(DeferredSteps(steps))
        self.keep_results({k: values[k] for k in sorted(known)})

    def _changes(
        self,
        body: ProgramPlan,
        count: int,
        iteration: DeviceScope,
        singles: list[int],
        registers: Mapping[Location, int],
    ) -> tuple[list[CopyStep], list[tuple[int, int]]]:
        """How the state of the next iteration is made: what is copied, then which registers take over others."""
        changes = swaps_of(body, count)
        moves = dict(changes.moves)
        pairs = [(source, target, self._size(body, target)) for source, target in changes.copies]
        own = [Location.input(k) for k in singles]
        fresh = [Location.output(j) for j, array in enumerate(body.arrays) if scalars.is_single(array)]
        fresh = [buffer for buffer in fresh if buffer not in iteration.values]
        copied, changed = exchanged({k: body.outputs[k] for k in singles}, [*own, *fresh])
        moves |= changed
        pairs += [(source, target, 0) for source, target in copied]
        copies = [
            CopyStep("state of a loop", iteration.at(target), iteration.at(source), size or self._size(body, target))
            for source, target, size in pairs
        ]
        for k in singles:
            iteration.at(body.outputs[k])
        return copies, [(registers[buffer], registers[other]) for buffer, other in moves.items()]

    @staticmethod
    def _size(body: ProgramPlan, buffer: Location) -> int:
        kind, number = buffer
        return bytes_of(body.graph.parameters[number] if kind is MemoryKind.INPUT else body.arrays[number])

    def _copies_of_results(
        self,
        body: ProgramPlan,
        count: int,
        registers: Mapping[Location, int],
        targets: Mapping[int, Address],
        singles: Iterable[int],
    ) -> list[CopyStep]:
        """The copies, after the loop, of state that the last iteration left in another buffer."""
        copies: list[CopyStep] = []
        operands, changes = self.node.operands, swaps_of(body, count)
        for k in changes.tangled:
            spare = self.scratch(self.loop_buffers.spare[k])
            copies.append(self._copied(spare, Address(registers[Location.input(k)]), bytes_of(operands[k])))
        for k, target in targets.items():
            if k in changes.tangled:
                copies.append(self._copied(target, self.scratch(self.loop_buffers.spare[k]), bytes_of(operands[k])))
            elif Location.input(k) in changes.moves:
                copies.append(self._copied(target, Address(registers[Location.input(k)]), bytes_of(operands[k])))
        for k in singles:
            if self.results[k] is not None:
                result = self.scope.where(self.results[k])
                copies.append(self._copied(result, Address(registers[Location.input(k)]), operands[k].type.size))
        return copies

    def _copied(self, target: Address, source: Address, size: int) -> CopyStep:
        return CopyStep("state of a loop", target, source, size, nodes=[self.node])

    def _in_one_block(self, loop: LoopStep, after: Sequence[CopyStep], answer: Type) -> list[HostStep]:
        """The loop as one launch of one block."""
        writer, title = self.writer, f"{loop_title(self.control)}, by one block"
        steps = in_one_block(loop, after, answer, writer.device, title)
        launched = steps[-1]
        record = writer.records.control(launched.launch, self.node, True)
        launched.nodes, launched.record = record.nodes, writer.records.number(record)
        return [HostNumbers(loop.first), *steps] if loop.first else steps


def exchanged(
    outputs: Mapping[int, Location], buffers: Sequence[Location]
) -> tuple[list[tuple[Location, Location]], dict[Location, Location]]:
    """How the buffers of a loop's single numbers are permuted after an iteration.

    Parameters
    ----------
    outputs : mapping
        For each part of the state where an iteration leaves it.
    buffers : sequence of Location
        Those that may change places: ``Location.input(k)`` of each part, and others.

    Returns
    -------
    copies : list of (Location, Location)
        What is copied first: from, to.
    moves : dict
        For each buffer the one that it is from then on, where that is another.

    Examples
    --------
    >>> exchanged({0: Location.output(0)}, [Location.input(0), Location.output(0)])
    ([], {Location.input(0): Location.output(0), Location.output(0): Location.input(0)})
    """
    now: dict[int, Location] = {}
    for k, where in outputs.items():
        if where in buffers and where not in now.values():
            now[k] = where
    copies = []
    for k, where in outputs.items():
        if k not in now:
            free = [buffer for buffer in buffers if buffer not in now.values()]
            now[k] = Location.input(k) if Location.input(k) in free else free[0]
            copies.append((where, now[k]))
    moves = {Location.input(k): buffer for k, buffer in now.items()}
    rest = [buffer for buffer in buffers if buffer not in now.values()]
    others = [buffer for buffer in buffers if buffer not in moves]
    moves |= dict(zip(others, rest, strict=True))
    return copies, {buffer: other for buffer, other in moves.items() if buffer != other}


class _DeviceBranch(_BranchParts):
    def write(self) -> None:
        scope, writer = self.scope, self.writer
        predicate, *operands = self.node.operands
        asked = self._asked(predicate)
        known = self.control.launch.known_results
        values = {k: writer.value() for k in sorted(self.control.launch.known_inputs)}
        first = [(values[k], known_value(scope, operands[k])) for k in values]
        targets: list[Address] = []
        for index, spec in enumerate(self.node.spec):
            if not scalars.is_single(spec):
                position = self.shared[index]
                targets.append(self.result_address(index, None if position is None else self.node.operands[position]))
            elif index in known or self.results[index] is None:
                targets.append(writer.number())
            else:
                targets.append(scope.where(self.results[index]))
        results = {index: writer.value() for index in sorted(known)}
        sides = [self._side(plan, operands, values, targets, results) for plan in self.control.parts]
        self.forget_results()

        def steps() -> list[HostStep]:
            done = [[*copies, *part.finished(), *after] for copies, part, after, _ in sides]
            passed = [numbers for _, _, _, numbers in sides]
            return [HostNumbers(first), BranchStep(asked, tuple(done), tuple(passed), self.node)]

        scope.add(DeferredSteps(steps))
        self.keep_results(results)

    def _asked(self, predicate: Expr) -> Answer:
        if not self.control.launch.reads_back:
            value = known_value(self.scope, predicate)
            if type(value) is not int:
                register = self.writer.value()
                self.scope.add(HostNumbers([(register, value)]))
                value = register
            return Answer(value, None, None)
        return Answer(None, self.scope.where(predicate), predicate.type.dtype)

    def _side(
        self,
        plan: ProgramPlan,
        operands: Sequence[Expr],
        values: Mapping[int, int],
        targets: Sequence[Address],
        results: Mapping[int, int],
    ) -> tuple[list[CopyStep], DeviceScope, list[CopyStep], list[tuple[int, int]]]:
        """A side of a branch: the copies before it, its scope, the copies after it, and the host numbers that are
        results.
        """
        inputs: list[Callable[[], Address] | None] = [
            None if k in values else lambda operand=operand: self.scope.where(operand)
            for k, operand in enumerate(operands)
        ]
        copies = []
        for position in sorted(plan.overwritten & set(self.loop_buffers.copies)):
            copy = self.scratch(self.loop_buffers.copies[position])
            copies.append(self._copied(copy, self.scope.where(operands[position]), bytes_of(operands[position])))
            inputs[position] = lambda copy=copy: copy
        first = {where: index for index, where in reversed(list(enumerate(plan.outputs)))}
        arrays = [targets[first[Location.output(number)]] for number in range(len(plan.arrays))]
        outputs = [lambda target=target: target for target in arrays]
        side = self.scope.part(plan, inputs, outputs, self.work(), values)
        after: list[CopyStep] = []
        for index, where in enumerate(plan.outputs):
            spec: Spec = self.node.spec[index]
            if index in results:
                continue
            if where.memory is MemoryKind.OUTPUT and first[where] == index:
                side.at(where)
            elif self.shared[index] is None or where != Location.input(self.shared[index] - 1):
                after.append(self._copied(targets[index], side.at(where), bytes_of(spec)))
        passed = [(register, side.values[plan.outputs[index]]) for index, register in results.items()]
        return copies, side, after, passed

    def _copied(self, target: Address, source: Address, size: int) -> CopyStep:
        return CopyStep("result of a choice", target, source, size, nodes=[self.node])
