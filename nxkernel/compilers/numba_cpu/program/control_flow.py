"""LLVM IR of loops and branches in a program; loop-carried buffers are swapped instead of copied."""

from __future__ import annotations

from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRValue
from nxkernel.compilers.numba_cpu.program.interrupt_polling import Poll, is_short
from nxkernel.compilers.numba_cpu.program.program_text import Address
from nxkernel.compilers.numba_cpu.program.program_writer import NativeScope
from nxkernel.compilers.numba_cpu.program.scalar_instructions import Inline
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.plan.loop_buffers import brought, loop_buffers_of, swaps_of
from nxkernel.compilers.plan.program_plan import Control, ProgramPlan
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec


class _ControlParts:
    def __init__(self, scope: NativeScope, control: Control) -> None:
        self.scope, self.w = scope, scope.w
        self.control, self.node, self.results = control, control.node, control.results
        self.shared = control.shared
        self.loop_buffers = loop_buffers_of(self.node, self.results, control.parts, self.shared)

    @property
    def b(self) -> FunctionBuilder:
        """The builder of the function that is being written."""
        return self.w.b

    def scratch(self, offset: int) -> IRValue:
        return self.w.further(self.scope.address(self.control.scratch), self.w.scalar(offset))

    def work(self) -> IRValue:
        return self.scratch(self.loop_buffers.work)

    def operand_address(self, operand: Expr) -> Address:
        """The address of an operand for all bodies: of an array its own, of a scalar a stack slot."""
        if scalars.is_single(operand):
            slot = self.b.stack_slot("i8", 16)
            inline = Inline(self.scope)
            inline.keep(inline.value(operand), operand.type, slot)
            return lambda: slot
        address = self.scope.address(operand)
        return lambda: address

    def tag(self, operand: Expr) -> object:
        """The alias tag of an operand's memory, for all bodies; None for scalars."""
        return None if scalars.is_single(operand) else self.scope.tag(operand)

    def result_tag(self, index: int, operand: Expr | None) -> object:
        """The alias tag of the memory that a result is computed in."""
        if self.shared[index] is not None:
            return self.scope.tag(operand)
        if self.results[index] is not None:
            return self.scope.tag(self.results[index])
        return (id(self), index)

    def result_address(self, index: int, operand: Expr | None) -> IRValue:
        """The address of the memory that an array result is computed in."""
        if self.shared[index] is not None:
            return self.scope.address(operand)
        if self.results[index] is not None:
            return self.scope.address(self.results[index])
        return self.scratch(self.loop_buffers.results[index])

    def copy_one(self, target: IRValue, source: IRValue, like: Expr | Spec) -> None:
        """Copy a single element."""
        self.b.store(self.b.load(_bits(like), source), target)


class LoopParts(_ControlParts):
    """The common part of sequential and parallel loops."""

    @property
    def count(self) -> int:
        """The number of values in the loop's state."""
        return self.node.params["state"]

    def state_address(self, index: int) -> Address:
        """The address of a state value, initialized."""
        operand = self.node.operands[index]
        if scalars.is_single(operand):
            return self.operand_address(operand)
        target = self.result_address(index, operand)
        if self.shared[index] is None:
            self.w.copy(target, self.scope.address(operand), bytes_of(operand))
        return lambda: target

    def tags(self) -> list[object]:
        """The alias tags of the state and of captured values."""
        operands = self.node.operands
        state = [
            None if scalars.is_single(operand) else self.result_tag(index, operand)
            for index, operand in enumerate(operands[: self.count])
        ]
        return state + [self.tag(operand) for operand in operands[self.count :]]


class NativeLoop(LoopParts):
    """Writes a sequential loop."""

    def write(self) -> None:
        """Write the loop."""
        b, w = self.b, self.w
        condition, body = self.control.parts
        w.loops = True
        count = self.count
        state, captured = self.node.operands[:count], self.node.operands[count:]
        changes = swaps_of(body, count)
        inputs: list[Address] = []
        targets: dict[int, IRValue] = {}
        pointers: dict[Location, IRValue] = {}
        for index, operand in enumerate(state):
            address = self.state_address(index)
            if not scalars.is_single(operand):
                targets[index] = address()
                address = self._variable(pointers, Location.input(index), targets[index])
            inputs.append(address)
        inputs += [self.operand_address(operand) for operand in captured]
        moved = [Location.input(position) in changes.moves for position in range(len(inputs))]
        tags = [None if is_moved else tag for is_moved, tag in zip(moved, self.tags(), strict=True)]
        outputs: list[Address] = []
        for number in range(len(body.arrays)):
            if number in self.loop_buffers.fresh:
                outputs.append(
                    self._variable(pointers, Location.output(number), self.scratch(self.loop_buffers.fresh[number]))
                )
            else:
                slot = b.stack_slot("i8", 16)
                outputs.append(lambda slot=slot: slot)
        answer = b.stack_slot("i8", 16)
        test = NativeScope(w, condition, inputs, [lambda: answer], self.work, tags)
        iteration = NativeScope(w, body, inputs, outputs, self.work, tags)
        head, inside, done = b.label("while"), b.label("body"), b.label("after")
        poll = Poll(w, body) if not is_short(self.control) else None
        b.branch(head)
        b.start(head)
        test.run()
        truth = Inline(test).truth(condition.graph.outputs[0].type, test.at(condition.outputs[0]))
        b.branch_if(truth, inside, done)
        b.start(inside)
        iteration.run()
        self._next(iteration, body, count, changes, pointers)
        if poll is not None:
            poll.write()
        b.branch(head)
        b.start(done)
        for index in changes.tangled:
            self.w.copy(self.scratch(self.loop_buffers.spare[index]), inputs[index](), bytes_of(state[index]))
        for index, operand in enumerate(state):
            if index in changes.tangled:
                self.w.copy(targets[index], self.scratch(self.loop_buffers.spare[index]), bytes_of(operand))
            elif index in targets and Location.input(index) in changes.moves:
                self._copy_back(inputs[index](), targets[index], bytes_of(operand))
            elif index not in targets and self.results[index] is not None:
                self.copy_one(self.scope.address(self.results[index]), inputs[index](), operand)

    def _variable(self, pointers: dict[Location, IRValue], buffer: Location, address: IRValue) -> Address:
        """An address that is kept in a stack slot, as it may change after each iteration."""
        slot = pointers[buffer] = self.b.stack_slot("ptr", 1)
        self.b.store(address, slot)
        return lambda: self.b.load("ptr", slot)

    def _next(self, iteration: NativeScope, body: ProgramPlan, count: int, changes, pointers: dict) -> None:
        """Make the results of an iteration the state of the next one."""
        b = self.b
        for source, target in changes.copies:
            self.w.copy(iteration.at(target), iteration.at(source), self._size(body, target))
        before = {buffer: b.load("ptr", pointers[buffer]) for buffer in changes.moves.values()}
        for buffer, other in changes.moves.items():
            b.store(before[other], pointers[buffer])
        # All are read before any is written: they may change places.
        changed = [
            k for k in range(count) if Location.input(k) not in pointers and body.outputs[k] != Location.input(k)
        ]
        values = [b.load(_bits(body.graph.parameters[k]), iteration.at(body.outputs[k])) for k in changed]
        for k, value in zip(changed, values, strict=True):
            b.store(value, iteration.at(Location.input(k)))

    @staticmethod
    def _size(body: ProgramPlan, buffer: Location) -> int:
        kind, number = buffer
        return bytes_of(body.graph.parameters[number] if kind is MemoryKind.INPUT else body.arrays[number])

    def _copy_back(self, address: IRValue, target: IRValue, size: int) -> None:
        """Copy an array that the last iteration left in another buffer to where it belongs."""
        b = self.b
        moved, done = b.label("moved"), b.label("in_place")
        b.branch_if(b.icmp("ne", address, target), moved, done)
        b.start(moved)
        self.w.copy(target, address, size)
        b.branch(done)
        b.start(done)


class NativeBranch(_ControlParts):
    """Writes a branch, of which one side runs."""

    def write(self) -> None:
        """Write the branch."""
        b = self.b
        self.w.loops = True
        predicate, *operands = self.node.operands
        addresses = [self.operand_address(operand) for operand in operands]
        targets: list[IRValue] = []
        for index, spec in enumerate(self.node.spec):
            if scalars.is_single(spec):
                targets.append(b.stack_slot("i8", 16))
            else:
                position = self.shared[index]
                targets.append(self.result_address(index, None if position is None else self.node.operands[position]))
        inline = Inline(self.scope)
        truth = inline.e.truth(inline.value(predicate))
        sides, done = [b.label("then"), b.label("otherwise")], b.label("chosen")
        b.branch_if(truth, *sides)
        for label, plan in zip(sides, self.control.parts, strict=True):
            b.start(label)
            self._side(plan, operands, addresses, targets)
            b.branch(done)
        b.start(done)
        for result, target, spec in zip(self.results, targets, self.node.spec, strict=True):
            if result is not None and scalars.is_single(spec):
                self.copy_one(self.scope.address(result), target, spec)

    def _side(self, plan: ProgramPlan, operands: list[Expr], addresses: list[Address], targets: list[IRValue]) -> None:
        inputs, tags = list(addresses), [self.tag(operand) for operand in operands]
        for position in sorted(plan.overwritten & set(self.loop_buffers.copies)):
            copy = self.scratch(self.loop_buffers.copies[position])
            self.w.copy(copy, addresses[position](), bytes_of(operands[position]))
            inputs[position], tags[position] = lambda copy=copy: copy, None
        first = {where: index for index, where in reversed(list(enumerate(plan.outputs)))}
        arrays = [targets[first[Location.output(number)]] for number in range(len(plan.arrays))]
        outputs = [lambda target=target: target for target in arrays]
        side = NativeScope(self.w, plan, inputs, outputs, self.work, tags)
        side.run()
        for index in brought(plan, self.shared):
            spec, source = self.node.spec[index], side.at(plan.outputs[index])
            if scalars.is_single(spec):
                self.copy_one(targets[index], source, spec)
            else:
                self.w.copy(targets[index], source, bytes_of(spec))


def _bits(like: Expr | Spec) -> str:
    """The LLVM integer type as wide as an element."""
    return f"i{8 * like.type.size}"
