"""Writing the program of a graph: one native function that runs kernels, library calls and loops in order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nxkernel import compile_thread, shapes
from nxkernel import primitives as p
from nxkernel.compilers.analysis.matrix_products import Product
from nxkernel.compilers.numba_cpu.codegen.constant_bits import bits
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import IRValue
from nxkernel.compilers.numba_cpu.program.executable import NativeProgram
from nxkernel.compilers.numba_cpu.program.program_text import PARAMS, Address, ProgramWriter, StrideKey
from nxkernel.compilers.numba_cpu.program.scalar_instructions import SMALL, Inline
from nxkernel.compilers.numba_cpu.routines.routine_table import (
    ArgumentKind,
    HostCall,
    Launch,
    LaunchArgument,
    launches_of,
)
from nxkernel.compilers.numba_cpu.runtime import host_calls, library_routines, native_call
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.plan.program_plan import Control, ElementStore, OpaqueStep, ProgramPlan, ScalarStep, Step
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.compilers.schedule.index_clamps import facts
from nxkernel.compilers.schedule.loop_nest import ScalarKind
from nxkernel.graph.expr import Expr
from nxkernel.types import Type

#: Places of a kernel in one loop up to which it is inlined however long it takes, and the work of one for more places.
_PLACES, _SHORT = 4, 200
#: Scalar parameters of a kernel that are copied at a time: those of a vector.
_TOGETHER = 8


#: Where the workspace begins, which is no place in it.
_BASE = -1


@dataclass(frozen=True)
class KernelCall:
    """One run of a kernel, whose steps are shared among threads.

    Parameters
    ----------
    kernel : str
        Its native code.
    buffers : sequence of (Expr, int)
        The values that it takes, and how many bytes of each are before its part.
    scalars : list of int
        What it takes behind their addresses.
    count : int
        Its steps.
    work : int
        Of each of them; 0 for steps that are not worth sharing.
    blas : bool
        Whether it calls BLAS, which then has one thread.
    in_text : bool
        Whether the program has it in its text.
    """

    kernel: str
    buffers: Sequence[tuple[Expr, int]]
    scalars: list[int]
    count: int
    work: int
    blas: bool = False
    in_text: bool = False

    @property
    def grain(self) -> int:
        """The least number of steps that a thread takes at a time."""
        return max(1, native_call.WORTH_SHARING // self.work if self.work else self.count)


class NativeScope:
    """Writes the steps of one plan: the program's, or that of a body of a loop or branch.

    Parameters
    ----------
    writer : ProgramWriter
    plan : ProgramPlan
    inputs, outputs : sequence of callable
        Give their addresses.
    work : callable
        Gives the address of the workspace.
    tags : sequence
        Whose memory each input is; None where that changes.
    """

    _count = itertools.count()

    def __init__(
        self,
        writer: ProgramWriter,
        plan: ProgramPlan,
        inputs: Sequence[Address],
        outputs: Sequence[Address],
        work: Address,
        tags: Sequence[object],
    ) -> None:
        self.w, self.b, self.plan = writer, writer.b, plan
        self.tags, self._own = tags, next(self._count)
        self.inputs, self.outputs, self.work = inputs, outputs, work
        self.numbers: dict[int, IRValue] = {}
        self.divisors = _divisors(plan)
        #: The block that code is written into, and the addresses that it has computed, by where they are.
        self._block: tuple[object, str] | None = None
        self._addresses: dict[int, IRValue] = {}

    def run(self) -> None:
        """Write all steps."""
        for step in self.plan.steps:
            with self.w.around(step.work):
                self.step(step)

    def step(self, step: Step) -> None:
        """Write one step."""
        work = step.work
        if isinstance(work, BoundNest):
            self._nest(work)
        elif isinstance(work, Product):
            self._product(work)
        elif isinstance(work, OpaqueStep):
            self._opaque(work)
        elif isinstance(work, ScalarStep):
            self._numbers().scalar(work.node)
        elif isinstance(work, ElementStore):
            self._numbers().store(work.node)
        elif isinstance(work, Control):
            self._control(work)

    def _control(self, control: Control) -> None:
        """Write a loop or branch."""
        from nxkernel.compilers.numba_cpu.program.parallel_loops import written

        written(self, control)

    def _numbers(self) -> Inline:
        return Inline(self)

    # Addresses -------------------------------------------------------------------------------------------------

    def address(self, node: Expr) -> IRValue:
        """The address of a value's memory."""
        kind, where = self.plan.place[node]
        if kind is MemoryKind.SCALAR:
            if where not in self.numbers:
                self.numbers[where] = self.b.stack_slot("i8", max(node.type.size, 8))
            return self.numbers[where]
        if kind is MemoryKind.WORKSPACE:
            return self._workspace(where)
        return self.at((kind, where))

    def _workspace(self, where: int) -> IRValue:
        """An address in the workspace, computed once in a block of code: a program has thousands of steps in one."""
        block = self.w.b, self.w.b.block
        if self._block != block:
            self._block, self._addresses = block, {}
        address = self._addresses.get(where)
        if address is None:
            base = self._addresses.get(_BASE)
            if base is None:
                base = self._addresses[_BASE] = self.work()
            address = self._addresses[where] = self.w.further(base, self.w.scalar(where))
        return address

    def tag(self, node: Expr) -> object:
        """The alias tag of a value's memory; None if it may alternate between buffers."""
        kind, where = self.plan.place[node]
        if kind is MemoryKind.INPUT:
            return self.tags[where]
        return (self._own, kind, where) if self.plan.graph is None else None

    def at(self, location: Location) -> IRValue:
        """The address of a location."""
        kind, where = location
        return self.inputs[where]() if kind is MemoryKind.INPUT else self.outputs[where]()

    # Steps -----------------------------------------------------------------------------------------------------

    def _nest(self, bound: BoundNest) -> None:
        scalars = [scalar if isinstance(scalar, int) else bits(*scalar) for scalar in bound.scalars]
        if is_inlined(self.plan, bound):
            table = self._inlined(bound, scalars)
        else:
            # Steps that must follow each other are no work worth sharing.
            work = 0 if bound.in_order else bound.work
            table = self._run(KernelCall(bound.nest.key, bound.buffers, scalars, bound.count, work))
        names = [op.attribute.name for op in bound.nest.ops() if op.name == "njit"]
        if names:
            index = len(bound.buffers) + [kind for kind, *_ in bound.nest.scalars()].index(ScalarKind.FAILURE)
            self.w.raise_if(self.b.offset(table, "i64", self.w.integer(index)), names)

    def _inlined(self, bound: BoundNest, scalars: list[int]) -> IRValue:
        """Write a kernel as a function that LLVM inlines, and call it."""
        compile_thread.load("nxkernel.compilers.numba_cpu.codegen.inlined_kernels")
        from nxkernel.compilers.numba_cpu.codegen.inlined_kernels import lower

        w, b = self.w, self.b
        name = w.module.take_in(lower(bound.nest), bound.nest.key)
        table = self._table(bound.buffers, len(scalars))
        for index, scalar in enumerate(self._scalars(bound, scalars), start=len(bound.buffers)):
            b.store(scalar, b.offset(table, "i64", w.integer(index)))
        first, count = b.stack_slot("i64", 1), b.stack_slot("i64", 1)
        b.store(w.integer(0), first)
        b.store(w.integer(1) if bound.count == 1 else w.scalar(bound.count), count)
        b.do(f"call void @{name}({first}, {count}, {first}, {table})")
        return table

    def _scalars(self, bound: BoundNest, scalars: list[int]) -> Iterator[IRValue]:
        """The scalar parameters of an inlined kernel; those that are known make its code shorter."""
        w, facts_ = self.w, facts(bound, self.plan.ranges)
        for scalar, (kind, number, axis) in zip(scalars, bound.nest.scalars(), strict=True):
            if kind is ScalarKind.CONSTANT and number in facts_.numbers:
                yield w.integer(facts_.numbers[number])
            elif kind is ScalarKind.CONSTANT and number in facts_.strides:
                yield w.scalar(scalar, key=StrideKey(self.buffer(facts_.strides[number]), scalar))
            elif kind is ScalarKind.SIZE and facts_.limits_fit_size and axis == bound.nest.outer:
                yield w.integer((1 << 63) - 1)
            elif (kind is ScalarKind.SIZE and scalar <= SMALL) or (
                kind in (ScalarKind.TILES, ScalarKind.BLOCKS) and scalar == 1
            ):
                # Code for three columns, or for one tile, is shorter than code for any number of them.
                yield w.integer(scalar)
            else:
                yield w.scalar(scalar)

    def buffer(self, node: Expr) -> object:
        """A key for the buffer that a value is in, the same for all of its versions."""
        return (id(self), *self.plan.place[node])

    def _run(self, run: KernelCall) -> IRValue | None:
        """Fill a table with buffer addresses and scalar parameters, and run a kernel on it.

        Gives the table, where there is one.
        """
        w, b = self.w, self.b
        if run.blas:
            w.blas = True
            b.do(f"call void @nxk_blas_alone({w.state})")
        # What each run has comes first: the positions of these parameters depend on nothing else of it.
        kernel = IRValue("ptr", 1, f"@{run.kernel}") if run.in_text else w.kernel(run.kernel)
        count, grain = w.scalar(run.count), w.scalar(run.grain)
        w.share(kernel, count, grain, table := self._filled(run.buffers, run.scalars))
        if run.blas:
            b.do(f"call void @nxk_blas_back({w.state})")
        return table

    def _filled(self, buffers: Sequence[tuple[Expr, int]], scalars: list[int]) -> IRValue:
        """A kernel's table on the stack, filled with buffer addresses and with scalars copied from the program's.

        Their number is rounded up: programs with somewhat more or fewer parameters are the same then, as a rule.
        """
        w, b = self.w, self.b
        scalars = [*scalars, *[0] * (-len(scalars) % _TOGETHER)]
        table = self._table(buffers, len(scalars))
        if scalars:
            first = b.offset(PARAMS, "i64", w.integer(len(w.scalars)))
            rest = b.offset(table, "i64", w.integer(len(buffers)))
            w.scalars += scalars
            w.module.declare("llvm.memcpy.p0.p0.i64", "void", ["ptr", "ptr", "i64", "i1"])
            b.do(f"call void @llvm.memcpy.p0.p0.i64({rest}, {first}, i64 {8 * len(scalars)}, i1 false)")
        return table

    def _table(self, buffers: Sequence[tuple[Expr, int]], scalars: int) -> IRValue:
        """A kernel's table on the stack, with buffer addresses filled in and space for scalar parameters."""
        w, b = self.w, self.b
        table = b.stack_slot("i64", len(buffers) + scalars)
        for index, (owner, offset) in enumerate(buffers):
            address = self.address(owner)
            if offset:
                address = w.further(address, w.scalar(offset))
            b.store(address, b.offset(table, "i64", w.integer(index)))
        return table

    def _opaque(self, opaque: OpaqueStep) -> None:
        for launch in launches_of(opaque):
            with self.w.around(launch):
                self._launch(launch, opaque)

    def _launch(self, launch: Launch | HostCall, opaque: OpaqueStep) -> None:
        if isinstance(launch, HostCall):
            self._host(launch, opaque)
            return
        memory = [self._memory(opaque, argument) for argument in launch.memory]
        self._run(KernelCall(launch.symbol, memory, list(launch.scalars), launch.count, launch.work, launch.blas))

    @staticmethod
    def _memory(opaque: OpaqueStep, argument: LaunchArgument) -> tuple[Expr, int]:
        kind, number = argument
        if kind is ArgumentKind.SCRATCH:
            return opaque.scratch, number
        return (opaque.node.operands[number] if kind is ArgumentKind.OPERAND else opaque.results[number]), 0

    def _host(self, launch: HostCall, opaque: OpaqueStep) -> None:
        results = [result for result in opaque.results if result is not None]
        specs = [result.spec if result is not None else None for result in opaque.results]
        call = host_calls.HostRequest(launch.run, [operand.spec for operand in opaque.node.operands], specs)
        self.w.calls.append(call)
        table = self._table([(node, 0) for node in (*opaque.node.operands, *results)], 0)
        self.w.module.declare("nxk_host", "i64", ["i64", "ptr"])
        failed = self.b.call("nxk_host", "i64", 1, self.w.scalar(call.number), table)
        self.w.leave_if(self.b.icmp("ne", failed, self.w.integer(0)))

    def _product(self, product: Product) -> None:
        self.w.libraries.add(product.type)
        rows, columns = library_routines.tiles(product)
        down, across = shapes.ceil_div(product.rows, rows), shapes.ceil_div(product.columns, columns)
        scalars = [product.rows, product.columns, product.depth]
        scalars += [int(n) for side in (product.left, product.right) for n in (side.step, side.batch_step, side.turned)]
        scalars += [rows, columns, down, across]
        work = 2 * rows * columns * product.depth // 8
        memory = [(node, 0) for node in (product.left.base, product.right.base, product.node)]
        count = product.batch * down * across
        self._run(KernelCall(f"nxk_matmul_{product.type}", memory, scalars, count, work, blas=True, in_text=True))


def is_inlined(plan: ProgramPlan, bound: BoundNest) -> bool:
    """Whether a kernel is inlined into the loop or branch around it, as a call would cost as much as it does.

    LLVM compiles what is inlined once for each place, so that a kernel of many places has to be very short.
    """
    limit = native_call.WORTH_SHARING if plan.kernels[bound.nest.key] <= _PLACES else _SHORT
    return plan.graph is not None and bound.count * bound.work < limit


def _divisors(plan: ProgramPlan) -> set[tuple[int, Type]]:
    """The integers that scalars of a plan are divided by."""
    nodes = [step.work.node for step in plan.steps if isinstance(step.work, ScalarStep)]
    divisors = [node.operands[1] for node in nodes if node.primitive in (p.quotient, p.remainder)]
    return {(d.params["value"], d.type) for d in divisors if d.primitive is p.constant and d.type.is_integer}


def write(
    plan: ProgramPlan, inputs: int, updates: Sequence[tuple[int, int]] = (), writer: ProgramWriter | None = None
) -> NativeProgram:
    """Write the program of a plan.

    Parameters
    ----------
    plan : ProgramPlan
    inputs : int
        How many arrays it takes before those that it writes.
    updates : sequence of (int, int), optional
        Inputs that change, each with the output that is in them at the end.
    writer : ProgramWriter, optional
        What it is written with, for one that adds something to its steps; these are then written one after the other.
    """
    written_out = writer is not None
    writer = writer or ProgramWriter()

    def parameter(index: int) -> Address:
        return lambda: writer.pointer(index)

    # A list is made of scopes, so that it is known only here.
    compile_thread.load("nxkernel.compilers.numba_cpu.program.step_interpreter")
    from nxkernel.compilers.numba_cpu.program import step_interpreter

    workspace = inputs + len(plan.arrays)
    scope = (NativeScope if written_out or not step_interpreter.can_be_listed(plan) else step_interpreter.StepList)(
        writer,
        plan,
        [parameter(k) for k in range(inputs)],
        [parameter(k) for k in range(inputs, workspace)],
        parameter(workspace),
        [Location.input(k) for k in range(inputs)],
    )
    with writer.around(plan):
        scope.run()
    for position, number in updates:
        if plan.outputs[number] != Location.input(position):
            writer.copy(writer.pointer(position), scope.at(plan.outputs[number]), bytes_of(plan.results[number]))
    return writer.finish()
