"""Writing the host program of a graph for a device: launches and other steps, before anything is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nxkernel import shapes
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.analysis.matrix_products import Product
from nxkernel.compilers.interface import KernelRecord
from nxkernel.compilers.numba_cuda.kernels.nest_source import launches_of
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch
from nxkernel.compilers.numba_cuda.language.launch_geometry import Machine
from nxkernel.compilers.numba_cuda.program.control_flow import DeferredSteps, all_on_device, write_control
from nxkernel.compilers.numba_cuda.program.host_steps import (
    NUMBERS,
    SCRATCH,
    STEP_MEMORY,
    WORKSPACE,
    Address,
    FillStep,
    HostNumber,
    HostStep,
    LaunchStep,
    LibraryCallStep,
    MatmulStep,
)
from nxkernel.compilers.numba_cuda.program.kernel_records import Records
from nxkernel.compilers.numba_cuda.program.scalar_kernels import Numbers
from nxkernel.compilers.numba_cuda.routines.library_products import ProductCall
from nxkernel.compilers.numba_cuda.routines.routine_table import DeviceRoutine
from nxkernel.compilers.plan.buffer_assignment import aligned
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.plan.program_plan import Control, ElementStore, OpaqueStep, ProgramPlan, ScalarStep, Step
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.graph.expr import Expr
from nxkernel.types import Type

#: Bytes for a single number, so that each begins well.
NUMBER = 16


class HostProgramWriter:
    """The state shared by all writers of a host program.

    Parameters
    ----------
    device : Device
    plan : ProgramPlan
        Of the whole program, to tell where nodes come from.
    """

    def __init__(self, device: Device, plan: ProgramPlan) -> None:
        self.device = device
        self.records = Records(plan.origin, device)
        self.registers = 3
        self.values = self.numbers = self.scratch = 0

    def register(self) -> int:
        """A new address register."""
        self.registers += 1
        return self.registers - 1

    def value(self) -> int:
        """A new register for a host number."""
        self.values += 1
        return self.values - 1

    def number(self) -> Address:
        """The address of new memory for a scalar."""
        self.numbers += 1
        return Address(NUMBERS, NUMBER * (self.numbers - 1))


class DeviceScope:
    """Writes the steps of one plan: the program's, or that of a body of a loop or branch.

    Parameters
    ----------
    writer : HostProgramWriter
    plan : ProgramPlan
    inputs : sequence of (callable or None)
        Give the places of the inputs; None for a known number that nobody has put into memory.
    outputs : sequence of callable
        Give the places of the arrays that it makes.
    work : Address
        Its workspace.
    known : mapping
        Of inputs that are known numbers the registers of the host.
    machine : Machine, optional
        What launches are made for, where that is not the whole device.
    """

    def __init__(
        self,
        writer: HostProgramWriter,
        plan: ProgramPlan,
        inputs: Sequence[Callable[[], Address] | None],
        outputs: Sequence[Callable[[], Address]],
        work: Address,
        known: Mapping[int, int],
        machine: Machine | None = None,
    ) -> None:
        self.writer, self.plan, self.machine = writer, plan, machine or writer.device
        self.inputs, self.outputs, self.work = inputs, outputs, work
        #: Where known numbers are, and their registers of the host.
        self.values: dict[Location, int] = {Location.input(position): value for position, value in known.items()}
        #: The places that something on the device reads.
        self.needed: set[Location] = set()
        self._numbers: dict[Location, Address] = {}
        self._drafts: list[Numbers | HostStep | DeferredSteps] = []
        first = Numbers(self)
        for position, value in known.items():
            if inputs[position] is None:
                first.write(Location.input(position), plan.graph.parameters[position].type, value)
        self.add(first)

    def add(self, draft: Numbers | HostStep | DeferredSteps) -> None:
        """Append an object whose ``finished()`` gives steps, once it is known which scalars are needed."""
        self._drafts.append(draft)

    def run(self) -> None:
        """Write all steps of the plan."""
        for step in self.plan.steps:
            work = step.work
            if isinstance(work, ScalarStep | ElementStore):
                self.numbers().take(work)
                continue
            if isinstance(work, Control):
                write_control(self, work)
                continue
            for node in step.writes:
                self.values.pop(self.plan.place[node], None)
            if isinstance(work, BoundNest):
                self._nest(step, work)
            elif isinstance(work, Product):
                self._product(work)
            elif isinstance(work, OpaqueStep):
                self._opaque(step, work)

    def part(
        self,
        plan: ProgramPlan,
        inputs: Sequence[Callable[[], Address] | None],
        outputs: Sequence[Callable[[], Address]],
        work: Address,
        known: Mapping[int, int],
        machine: Machine | None = None,
    ) -> DeviceScope:
        """A scope for a body of a loop or branch, with its steps written."""
        scope = DeviceScope(self.writer, plan, inputs, outputs, work, known, machine or self.machine)
        scope.run()
        return scope

    def set_number(self, where: Address, type_: Type, value: HostNumber) -> None:
        """Write a host number to an address when it is needed there.

        See :func:`~nxkernel.compilers.numba_cuda.program.scalar_kernels.known_value`.
        """
        location = ("known", self.writer.value())
        self._numbers[location] = where
        self.needed.add(location)
        self.numbers().write(location, type_, value)

    def new_numbers(self) -> Numbers:
        """Start another group of scalars."""
        self.add(Numbers(self))
        return self._drafts[-1]

    def numbers(self) -> Numbers:
        """The group of scalars that is being written."""
        if not isinstance(self._drafts[-1], Numbers) or self._drafts[-1].is_full:
            return self.new_numbers()
        return self._drafts[-1]

    def finished(self) -> list[HostStep]:
        """The steps, without those that nothing needs."""
        steps_of_drafts: list[list[HostStep]] = []
        while self._drafts:
            # What comes later says what is needed of what comes before.
            draft = self._drafts.pop()
            steps_of_drafts.append(draft.finished() if hasattr(draft, "finished") else [draft])
        return [step for steps in reversed(steps_of_drafts) for step in steps]

    # Places ----------------------------------------------------------------------------------------------------

    def where(self, node: Expr) -> Address:
        """The address of a value that the device reads or writes."""
        return self.at(self.plan.place[node])

    def at(self, location: Location) -> Address:
        """The address of a location."""
        kind, number = location
        self.needed.add(location)
        if kind is MemoryKind.WORKSPACE:
            return further(self.work, number)
        if kind is MemoryKind.OUTPUT:
            return self.outputs[number]()
        address = self.inputs[number] if kind is MemoryKind.INPUT else None
        if address is not None:
            return address()
        if location not in self._numbers:
            self._numbers[location] = self.writer.number()
        return self._numbers[location]

    # Steps -----------------------------------------------------------------------------------------------------

    def launch(self, launch: KernelLaunch, record: KernelRecord, scratch: Address = STEP_MEMORY) -> None:
        """Write a launch; its temporary memory begins at `scratch`."""
        if not all(launch.grid):
            return
        if scratch.register == SCRATCH:
            self.writer.scratch = max(self.writer.scratch, launch.scratch)
        if launch.fill is not None:
            size = launch.scratch
            self.add(FillStep("fill", scratch, launch.fill, size, nodes=record.nodes))
        places = [further(scratch if owner is None else self.where(owner), offset) for owner, offset in launch.memory]
        step = LaunchStep(launch.title, launch, places, nodes=record.nodes, record=self.writer.records.number(record))
        self.add(step)

    def _nest(self, step: Step, bound: BoundNest) -> None:
        for launch in launches_of(bound, self.machine):
            self.launch(launch, self.writer.records.nest(step, launch))

    def _product(self, product: Product) -> None:
        call = ProductCall(product)
        record = self.writer.records.product(product, call)
        places = [self.where(node) for node in (product.left.base, product.right.base, product.node)]
        self.add(MatmulStep(call.title, call, places, nodes=record.nodes, record=self.writer.records.number(record)))

    def _opaque(self, step: Step, work: OpaqueStep) -> None:
        if not any(node is not None and shapes.size(node.shape) for node in work.results):
            return
        routine, scratch = work.routine, STEP_MEMORY
        assert isinstance(routine, DeviceRoutine)
        if work.scratch is not None:
            scratch = self.where(work.scratch)
        launches = routine.launches(self.writer.device)
        for launch in launches:
            self.launch(launch, self.writer.records.routine(step, routine, launch), scratch)
        if launches:
            return
        record = self.writer.records.routine(step, routine, None)
        operands = [(node.spec, self.where(node)) for node in work.node.operands]
        results = [None if node is None else (node.spec, self.where(node)) for node in work.results]
        memory = None if work.scratch is None else (work.scratch.spec, scratch)
        number = self.writer.records.number(record)
        self.add(LibraryCallStep(record.title, routine, operands, results, memory, nodes=record.nodes, record=number))


def further(where: Address, offset: int) -> Address:
    """An address plus an offset in bytes."""
    return Address(where.register, where.offset + offset)


class HostProgram:
    """The steps of a program, and the registers and memory that they need.

    Parameters
    ----------
    plan : ProgramPlan
    inputs : int
        How many arrays it takes.
    updates : sequence of (int, int)
        Inputs that change, each with the output that is in them at the end.
    device : Device
    known : frozenset of int
        The inputs that are numbers of the host.

    Attributes
    ----------
    steps : list of HostStep
    records : list of KernelRecord
    launched : list of LaunchStep
        The launches among the steps, of which each needs a kernel.
    used : dict
        Of each input that the device reads its register.
    outputs : list of int
        The registers of the arrays that it makes.
    known : dict
        Of each input that is a number of the host its register there.
    changed : list of (int, int)
        The outputs that are made elsewhere and copied into an input, each with that input.
    registers, values : int
        How many there are.
    workspace, numbers, scratch : int
        Bytes of each kind of memory.
    """

    def __init__(
        self,
        plan: ProgramPlan,
        inputs: int,
        updates: Sequence[tuple[int, int]],
        device: Device,
        known: frozenset[int] = frozenset(),
    ) -> None:
        writer = HostProgramWriter(device, plan)
        self.used: dict[int, int] = {}
        self.outputs = [writer.register() for _ in plan.arrays]
        self.known = {position: writer.value() for position in sorted(known)}

        def input_address(position: int) -> Callable[[], Address]:
            def where() -> Address:
                if position not in self.used:
                    self.used[position] = writer.register()
                return Address(self.used[position])

            return where

        def output_address(register: int) -> Callable[[], Address]:
            return lambda: Address(register)

        input_addresses = [input_address(position) for position in range(inputs)]
        output_addresses = [output_address(register) for register in self.outputs]
        scope = DeviceScope(writer, plan, input_addresses, output_addresses, WORKSPACE, self.known)
        scope.run()
        for where in plan.outputs:
            scope.at(where)
        for position, _ in updates:
            scope.at(Location.input(position))
        self.steps = scope.finished()
        self.changed = [
            (number, position) for position, number in updates if plan.outputs[number] != Location.input(position)
        ]
        on_device = list(all_on_device(self.steps))
        self.records = writer.records.ordered(on_device)
        self.launched = [step for step in on_device if isinstance(step, LaunchStep)]
        self.registers, self.values = writer.registers, writer.values
        self.workspace, self.numbers, self.scratch = (
            aligned(size) if size else 0 for size in (plan.workspace, NUMBER * writer.numbers, writer.scratch)
        )
