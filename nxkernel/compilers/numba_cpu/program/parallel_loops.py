"""Parallel loops: a loop with independent iterations becomes a function that threads run on ranges of them."""

from __future__ import annotations

from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue, RangeLoop
from nxkernel.compilers.numba_cpu.program.control_flow import LoopParts, NativeBranch, NativeLoop
from nxkernel.compilers.numba_cpu.program.interrupt_polling import Poll, begin
from nxkernel.compilers.numba_cpu.program.program_text import Address
from nxkernel.compilers.numba_cpu.program.program_writer import NativeScope, is_inlined
from nxkernel.compilers.numba_cpu.program.scalar_instructions import Inline
from nxkernel.compilers.numba_cpu.runtime import native_call
from nxkernel.compilers.plan.buffer_assignment import ALIGNMENT
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.plan.program_plan import Control, ElementStore, ProgramPlan, ScalarStep
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec, while_

#: Fewer iterations than this leave the threads to the loops inside.
FEW = 16
#: Simple instructions that a loop, and a part of it that a thread takes, are worth several threads from.
WORTH = native_call.WORTH_SHARING
#: Elements that a kernel does with one instruction.
LANES = 8
#: Iterations assumed for a loop whose number of iterations is unknown, and what a step of single numbers costs, in
#: simple instructions.
ASSUMED_ITERATIONS, STEP = 64, 4


def is_parallel(control: Control) -> bool:
    """Whether threads should share a loop's iterations: they can, and it is worth it. Plans keep the answer."""
    if not can_be_parallel(control):
        return False
    iterations = control.max_iterations
    return iterations is None or (iterations >= FEW and iterations * _work(control.parts[1]) >= WORTH)


def written(scope: NativeScope, control: Control) -> None:
    """Write a loop (on all threads where that is possible and worth it) or a branch."""
    if control.node.primitive is not while_:
        NativeBranch(scope, control).write()
    elif scope.w.function.stop is None and control.parallel:
        ParallelLoop(scope, control).write()
    else:
        NativeLoop(scope, control).write()


def can_be_parallel(control: Control) -> bool:
    """Whether a loop's iterations can be shared among threads, however little they do.

    Kernels that share their own work among the threads are better at it than the loop around them.
    """
    independence = control.independence
    if independence is None:
        return False
    _, body = control.parts
    for index in range(control.node.params["state"]):
        stays = body.outputs[index] == Location.input(index)
        if scalars.is_single(control.node.operands[index]):
            if not stays and index != independence.counter and control.results[index] is not None:
                return False
        elif not stays:
            return False
    return all(map(scalars.is_single, body.arrays)) and _work(body) is not None


def _work(plan: ProgramPlan) -> int | None:
    """The approximate number of simple instructions of one run of a plan; None if it must run on one thread or shares
    work itself.
    """
    total = 0
    for step in plan.steps:
        instructions = _work_of(plan, step.work)
        if instructions is None:
            return None
        total += instructions
    return max(total, 1)


def _work_of(plan: ProgramPlan, work: object) -> int | None:
    if isinstance(work, BoundNest):
        calls = any(op.name == "njit" for op in work.nest.ops())
        return None if calls or not is_inlined(plan, work) else work.count * work.work // LANES
    if isinstance(work, ScalarStep | ElementStore):
        return None if work.node.primitive.name == "njit" else STEP
    if not isinstance(work, Control):
        return None
    parts = [_work(part) for part in work.parts]
    if None in parts:
        return None
    if work.node.primitive is not while_:
        return max(parts)
    return sum(parts) * (ASSUMED_ITERATIONS if work.max_iterations is None else work.max_iterations)


class ParallelLoop(LoopParts):
    """Writes a loop that is shared among threads."""

    def write(self) -> None:
        """Write the loop."""
        w, b, independence = self.w, self.b, self.control.independence
        w.loops = True
        count = self.count
        addresses = [self.state_address(index)() for index in range(count)]
        addresses += [self.operand_address(operand)() for operand in self.node.operands[count:]]
        start = self._number(self.node.operands[independence.counter])
        iterations = self._iterations(start)
        stop = b.stack_slot("i64", 1, zero=True)
        table = b.stack_slot("i64", _ADDRESSES + len(addresses))
        for index, entry in enumerate([w.pointers, w.params, stop, start, *addresses]):
            b.store(entry, b.offset(table, "i64", w.integer(index)))
        each = _work(self.control.parts[1])
        name = self._function()
        grain = w.scalar(max(1, WORTH // each))
        w.share(IRValue("ptr", 1, f"@{name}"), iterations, grain, table)
        w.leave_if(b.icmp("ne", b.load("i64", stop), w.integer(0)))
        for index, operand in enumerate(self.node.operands[:count]):
            result = self.results[index]
            if result is None or not scalars.is_single(operand):
                continue
            if index == independence.counter:
                end = b.integer("add", start, b.integer("mul", iterations, w.integer(independence.step)))
                b.store(end, self.scope.address(result))
            else:
                self.copy_one(self.scope.address(result), addresses[index], operand)

    def _number(self, node: Expr) -> IRValue:
        inline = Inline(self.scope)
        return inline.e.number(inline.value(node), node.type)

    def _iterations(self, start: IRValue) -> IRValue:
        """The number of iterations, as an i64: from the start to the bound, by the step."""
        b, w, independence = self.b, self.w, self.control.independence
        condition, bound = self.node.params["condition"], independence.bound
        positions = {parameter: index for index, parameter in enumerate(condition.parameters)}
        bound = self._number(self.node.operands[positions[bound]] if bound in positions else bound)
        distance = b.integer("sub", bound, start) if independence.step > 0 else b.integer("sub", start, bound)
        length = abs(independence.step)
        if length > 1:
            distance = b.integer("sdiv", b.integer("add", distance, w.integer(length - 1)), w.integer(length))
        return b.intrinsic("smax", distance, w.integer(0))

    def _function(self) -> str:
        """Write the function that runs a range of iterations; its name."""
        w, body, independence = self.w, self.control.parts[1], self.control.independence
        with w.another() as name:
            b, table = w.b, _TABLE
            memory = self._memory(body.workspace)
            w.function.stop = b.load("ptr", b.offset(table, "i64", w.integer(_STOP)), invariant=True)

            def handed(index: int, like: Expr | Spec) -> Address:
                """Where something is for one thread: arrays where they are, numbers in a slot of its own."""
                address = b.load("ptr", b.offset(table, "i64", w.integer(_ADDRESSES + index)), invariant=True)
                if scalars.is_single(like):
                    slot = b.stack_slot("i8", 16)
                    self.copy_one(slot, address, like)
                    return lambda: slot
                return lambda: address

            inputs = [handed(index, operand) for index, operand in enumerate(self.node.operands)]
            slots = [b.stack_slot("i8", 16) for _ in body.arrays]
            outputs = [lambda slot=slot: slot for slot in slots]
            iteration = NativeScope(w, body, inputs, outputs, lambda: memory, self.tags())
            start = b.load("i64", b.offset(table, "i64", w.integer(_START)), invariant=True)
            first = b.load("i64", IRValue("ptr", 1, "%first"))
            begin(w)
            poll = Poll(w, body)
            loop = RangeLoop(b, w.integer(0), b.load("i64", IRValue("ptr", 1, "%count")), w.integer(1))
            offset = b.integer("mul", b.integer("add", first, loop.index), w.integer(independence.step))
            b.store(b.integer("add", start, offset), inputs[independence.counter]())
            iteration.run()
            poll.write()
            loop.end()
            w.function.end()
        return name

    def _memory(self, size: int) -> IRValue | None:
        """Allocate memory for this thread, freed at the end of the function; None for no bytes."""
        if not size:
            return None
        w, b = self.w, self.w.b
        w.module.declare("malloc", "ptr", ["i64"])
        w.module.declare("free", "void", ["ptr"])
        memory = b.call("malloc", "ptr", 1, w.scalar(size + ALIGNMENT))
        w.function.at_end = f"call void @free({memory})"
        address = b.convert("ptrtoint", memory, "i64")
        skip = b.integer("and", b.integer("sub", w.integer(0), address), w.integer(ALIGNMENT - 1))
        return b.offset(memory, "i8", skip)


_TABLE = IRValue("ptr", 1, "%table")
#: Where in the table of such a function things are; the first two are what the program itself is given.
_STOP, _START, _ADDRESSES = 2, 3, 4
