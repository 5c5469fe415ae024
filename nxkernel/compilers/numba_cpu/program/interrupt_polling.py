"""Keyboard interrupts: native loops check from time to time whether Python wants to stop."""

from __future__ import annotations

import platform

from nxkernel import primitives as p
from nxkernel.compilers.analysis.matrix_products import Product
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue
from nxkernel.compilers.numba_cpu.program.program_writer import is_inlined
from nxkernel.compilers.plan.program_plan import Control, OpaqueStep, ProgramPlan
from nxkernel.compilers.schedule.canonical_form import BoundNest

#: Iterations over single numbers between two looks at the clock.
ITERATIONS = 1 << 12
#: Such iterations that take a few hundredths of a second.
SHORT = 1 << 24
#: Instructions of a kernel that take as long as such an iteration.
_INSTRUCTIONS = 16
#: What the clock counts in about a tenth of a second: cycles, or nanoseconds.
CYCLES, NANOSECONDS = 1 << 28, 100_000_000
_HAS_COUNTER = platform.machine().lower() in ("x86_64", "amd64")


class Poll:
    """Emits the check after each iteration of a loop: all loops of a function share a countdown, and read the clock at
    zero.

    Parameters
    ----------
    writer : Writer
    body : ProgramPlan
        What an iteration does.
    """

    def __init__(self, writer, body: ProgramPlan) -> None:
        self.w, self.b, self.cost = writer, writer.b, cost(body)

    def write(self) -> None:
        """Emit the check, which leaves the program if it is to stop."""
        b, go_on, cost = self.b, self.b.label("later"), self.cost
        if cost < ITERATIONS:
            look, counter = b.label("look"), self.w.function.left
            # What a kernel costs depends on its size, which is no part of the text.
            left = b.integer("sub", b.load("i64", counter), self.w.integer(1) if cost == 1 else self.w.scalar(cost))
            b.store(left, counter)
            b.branch_if(b.icmp("sgt", left, self.w.integer(0)), go_on, look)
            b.start(look)
            b.store(self.w.integer(ITERATIONS), counter)
        self.w.leave_if(b.call(_define(self.w.module), "i1", 1, self.w.function.seen))
        if self.w.function.stop is not None:
            stopped = b.emit(f"load atomic i64, {self.w.function.stop} monotonic, align 8", "i64", 1)
            self.w.leave_if(b.icmp("ne", stopped, self.w.integer(0)))
        b.branch(go_on)
        b.start(go_on)


def cost(body: ProgramPlan) -> int:
    """What an iteration subtracts from the countdown: 1 for scalars only, all of it for kernels."""
    return min(1 + sum(_cost_of(body, step.work) for step in body.steps), ITERATIONS)


def _cost_of(plan: ProgramPlan, work: object) -> int:
    if isinstance(work, BoundNest):
        return work.count * work.work // _INSTRUCTIONS if is_inlined(plan, work) else ITERATIONS
    if isinstance(work, Control):
        if work.node.primitive is p.cond:
            return max(map(cost, work.parts))
        # Other loops count by themselves.
        return work.max_iterations * cost(work.parts[1]) if is_short(work) else 0
    return ITERATIONS if isinstance(work, Product | OpaqueStep) else 0


def is_short(loop: Control) -> bool:
    """Whether a loop is known to end before anybody would interrupt it."""
    return loop.max_iterations is not None and loop.max_iterations * cost(loop.parts[1]) < SHORT


def begin(writer) -> None:
    """Initialize the countdown of the function that is being written, so that Python is asked after a while only."""
    writer.b.store(clock(writer.module, writer.b), writer.function.seen)


def _define(module: IRModule) -> str:
    """Define the function that reads the clock, and asks Python if enough time has passed."""
    name = "nxk_poll"
    if name in module.defined:
        return name
    b = FunctionBuilder(module, name, "i1", [("seen", "ptr")], linkage="internal", attributes="nounwind noinline")
    seen, zero = IRValue("ptr", 1, "%seen"), b.constant("i64", 0)
    now = clock(module, b)
    wait = b.constant("i64", CYCLES if _HAS_COUNTER else NANOSECONDS)
    soon = b.icmp("ult", b.integer("sub", now, b.load("i64", seen)), wait)
    early, ask = b.label("early"), b.label("ask")
    b.branch_if(soon, early, ask)
    b.start(ask)
    b.store(now, seen)
    module.declare("nxk_signals", "i64", [])
    b.do(f"ret i1 {b.icmp('ne', b.call('nxk_signals', 'i64', 1), zero).text}")
    b.start(early)
    b.do("ret i1 false")
    b.finish()
    return name


def clock(module: IRModule, b: FunctionBuilder) -> IRValue:
    """Emit a reading of the clock: cycles if the processor counts them, nanoseconds elsewhere."""
    if _HAS_COUNTER:
        module.declare("llvm.readcyclecounter", "i64", [])
        return b.call("llvm.readcyclecounter", "i64", 1)
    module.declare("clock_gettime", "i32", ["i32", "ptr"])
    time = b.stack_slot("i64", 2)
    b.call("clock_gettime", "i32", 1, b.constant("i32", 1), time)
    seconds, rest = b.load("i64", time), b.load("i64", b.offset(time, "i64", b.constant("i64", 1)))
    return b.integer("add", b.integer("mul", seconds, b.constant("i64", 1_000_000_000)), rest)
