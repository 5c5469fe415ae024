"""The steps of a program on a device: launches, copies, library calls and host scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import numpy as np

from nxkernel.backends.cuda.arrays import DeviceArray
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.backends.cuda.launching import SCALAR_DTYPES, DeviceKernel, Prepared
from nxkernel.compilers.numba_cuda.language.kernel_launches import KernelLaunch
from nxkernel.errors import VerificationError
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Spec

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cuda.program.executable import Ready
    from nxkernel.compilers.numba_cuda.routines.library_products import ProductCall
    from nxkernel.compilers.numba_cuda.routines.routine_table import DeviceRoutine

#: A number that the host knows, as an array of one element; where a program says which, its register or itself.
HostValue: TypeAlias = np.ndarray | np.generic
HostNumber: TypeAlias = int | HostValue


class Address(NamedTuple):
    """A device address that a run knows: what is in a register, plus an offset in bytes."""

    register: int
    offset: int = 0


class LiveScalar(NamedTuple):
    """A scalar parameter that each run sets.

    Parameters
    ----------
    argument : int
        Its position among the kernel's arguments.
    register : int
        The host's register of the number.
    part : int or None
        0 for the real part of a complex number, 1 for the imaginary one, None for a real number.
    """

    argument: int
    register: int
    part: int | None


class HostOperation(NamedTuple):
    """A number that the host computes: the register of the result, the function, and its operands."""

    register: int
    function: Callable[..., HostValue]
    operands: list[HostNumber]


#: The registers that every program has: the workspace, its single numbers, and memory of one step.
WORK, NUMBERS, SCRATCH = range(3)
#: Where the workspace begins, and the memory of one step.
WORKSPACE, STEP_MEMORY = Address(WORK), Address(SCRATCH)


class ProgramRun:
    """The state of one run of a program.

    Parameters
    ----------
    device : Device
    addresses : list of int
        What is in the registers.
    values : list
        The numbers that the host knows, as arrays of one element.
    watch : callable, optional
        Called with each step that does something on the device, and this run, instead of doing it.
    """

    __slots__ = ("addresses", "device", "memory", "now", "values", "watch")

    def __init__(
        self,
        device: Device,
        addresses: list[int],
        values: list[HostValue | None],
        watch: Callable[[HostStep, ProgramRun], None] | None = None,
    ) -> None:
        self.device, self.addresses, self.values, self.watch = device, addresses, values, watch
        #: What holds the memory that only this run uses.
        self.memory: DeviceArray | None = None
        #: The step that is being done, for those who tell what went wrong.
        self.now: HostStep | None = None

    def at(self, where: Address) -> int:
        """The current value of an address."""
        return self.addresses[where.register] + where.offset


class HostStep(Protocol):
    """A step of a host program."""

    def do(self, run: ProgramRun) -> None:
        """Run the step, or queue it on the device."""
        ...


def do_all(steps: Sequence[HostStep], run: ProgramRun) -> None:
    """Run steps in order."""
    if run.watch is None:
        for step in steps:
            run.now = step
            step.do(run)
        return
    for step in steps:
        run.now = step
        if isinstance(step, DeviceStep):
            run.watch(step, run)
        else:
            step.do(run)


@dataclass(eq=False)
class DeviceStep:
    """A step that runs on the device.

    Parameters
    ----------
    title : str
        What it does, for people.
    nodes : list of Expr
        What it computes.
    record : int or None
        The number of the kernel that it is, among those of the executable.
    """

    title: str = ""
    nodes: list[Expr] = field(default_factory=list, kw_only=True)
    record: int | None = field(default=None, kw_only=True)

    #: Whether it can be a part of a graph of launches that was captured.
    capturable = True


@dataclass(eq=False)
class LaunchStep(DeviceStep):
    """The launch of a kernel.

    Parameters
    ----------
    launch : KernelLaunch
    places : list of Address
        Of its pointers.
    numbers : list of LiveScalar
        The scalar parameters that each run sets.
    """

    launch: KernelLaunch = None
    places: list[Address] = field(default_factory=list)
    numbers: list[LiveScalar] = field(default_factory=list)
    prepared: Prepared | None = None
    #: The places as plain tuples, which Python takes apart faster at each launch than named ones.
    _pointers: list[tuple[int, int]] = field(default_factory=list)
    _scalars: list[tuple[np.ndarray, int, int | None]] = field(default_factory=list)

    def prepare(self, device: Device, kernel: DeviceKernel) -> None:
        """Take the loaded kernel, and lay out the arguments."""
        launch = self.launch
        self.prepared = device.prepare(kernel, launch.grid, launch.block, launch.shared, launch.scalars)
        self._pointers = [(*one,) for one in self.places]
        arguments = self.prepared.arguments
        for position, value, part in self.numbers:
            dtype = SCALAR_DTYPES[launch.source.parameters[position]]
            self._scalars.append((arguments[position : position + 1].view(dtype), value, part))

    def do(self, run: ProgramRun) -> None:
        """Queue the launch."""
        addresses = run.addresses
        self.prepared.point([addresses[register] + offset for register, offset in self._pointers])
        for scalar, value, part in self._scalars:
            scalar[0] = part_of(run.values[value].item(), part)
        run.device.launch(self.prepared)


def part_of(number: complex, part: int | None) -> float:
    """The real part (0) or imaginary part (1) of a number; None for the number itself."""
    return number if part is None else number.imag if part else number.real


@dataclass(eq=False)
class FillStep(DeviceStep):
    """Filling of memory with a byte, before a launch that needs it."""

    where: Address = STEP_MEMORY
    byte: int = 0
    size: int = 0

    def do(self, run: ProgramRun) -> None:
        """Queue the fill."""
        run.device.fill(run.at(self.where), self.byte, self.size)


@dataclass(eq=False)
class CopyStep(DeviceStep):
    """A copy within the device; skipped when source and target are the same address."""

    target: Address = WORKSPACE
    source: Address = WORKSPACE
    size: int = 0

    def do(self, run: ProgramRun) -> None:
        """Queue the copy."""
        target, source = run.at(self.target), run.at(self.source)
        if target != source and self.size:
            run.device.copy(target, source, self.size)


@dataclass(eq=False)
class LibraryCallStep(DeviceStep):
    """A call of a library routine.

    Parameters
    ----------
    routine : DeviceRoutine
    operands, results : list
        Spec and place of each; None for a result that nobody needs.
    scratch : (Spec, Address) or None
    """

    routine: DeviceRoutine | None = None
    operands: list[tuple[Spec, Address]] = field(default_factory=list)
    results: list[tuple[Spec, Address] | None] = field(default_factory=list)
    scratch: tuple[Spec, Address] | None = None

    def do(self, run: ProgramRun) -> None:
        """Call the routine."""
        operands = [_array(run, *one) for one in self.operands]
        results = [None if one is None else _array(run, *one) for one in self.results]
        scratch = None if self.scratch is None else _array(run, *self.scratch)
        self.routine.run(run.device, operands, results, scratch)

    @property
    def capturable(self) -> bool:
        """Whether the routine never waits for the device."""
        return getattr(self.routine, "capturable", False)


def _array(run: ProgramRun, spec: Spec, where: Address) -> DeviceArray:
    return DeviceArray(run.device, run.at(where), spec.shape, spec.type.dtype, None)


@dataclass(eq=False)
class HostArithmetic:
    """Computation of host numbers.

    Parameters
    ----------
    operations : list of HostOperation
        In order.
    """

    operations: list[HostOperation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._plain: list[tuple[int, Callable[..., HostValue], list[HostNumber]]] = [(*one,) for one in self.operations]

    def do(self, run: ProgramRun) -> None:
        """Compute the numbers."""
        values = run.values
        for register, function, operands in self._plain:
            values[register] = function(*[values[o] if type(o) is int else o for o in operands])


@dataclass(eq=False)
class HostNumbers:
    """Initialization of host numbers, before a loop or branch.

    Parameters
    ----------
    numbers : list of (int, int or number)
        The register, and that of the number, or the number itself.
    """

    numbers: list[tuple[int, HostNumber]] = field(default_factory=list)

    def do(self, run: ProgramRun) -> None:
        """Set the numbers."""
        for register, number in self.numbers:
            run.values[register] = run.values[number] if type(number) is int else number


@dataclass(eq=False)
class MatmulStep(DeviceStep):
    """A matrix product by a library.

    Parameters
    ----------
    call : ProductCall
    places : list of Address
        Of the left side, the right side and the product.
    """

    call: ProductCall | None = None
    places: list[Address] = field(default_factory=list)

    def do(self, run: ProgramRun) -> None:
        """Queue the product."""
        self.call.run(run.device, *map(run.at, self.places))


# Verifying -------------------------------------------------------------------------------------------------------


class LaunchedProgram(Protocol):
    """The attributes of a program that are verified: its launches, and the number of its registers."""

    launched: Sequence[LaunchStep]
    registers: int
    values: int


#: The most threads of a block, and blocks along the second and third axes of a grid, that any GPU has.
MOST_THREADS, MOST_BLOCKS = 1024, 65535


def verify_program(program: LaunchedProgram, after: str) -> None:
    """Check the launches of a program: arguments match parameters, registers exist, geometry is possible.

    Parameters
    ----------
    program : HostProgram
    after : str
        The pass that made it, which the error names.

    Raises
    ------
    VerificationError
        At the first thing that is wrong.
    """
    for number, step in enumerate(program.launched):
        for expected, actual in _launch_problems(program, step):
            raise VerificationError(after, f"launch {number}, {step.launch.source.name}", expected, actual)


def verify_kernels(ready: Ready, after: str) -> None:
    """Check that each launch of a program has a loaded kernel, and memory for its arguments."""
    for number, step in enumerate(ready.program.launched):
        what, expected = f"launch {number}, {step.launch.source.name}", len(step.launch.source.parameters)
        if step.prepared is None:
            raise VerificationError(after, what, "a kernel on the device", "none")
        if len(step.prepared.arguments) < expected:
            raise VerificationError(after, what, f"{expected} arguments", f"{len(step.prepared.arguments)}")


def _launch_problems(program: LaunchedProgram, step: LaunchStep) -> Iterator[tuple[str, str]]:
    """The faults of a launch: what was expected, and what was found."""
    launch = step.launch
    parameters = launch.source.parameters
    pointers = [parameter for parameter in parameters if parameter.endswith("*")]
    if len(step.places) != len(pointers) or list(parameters[: len(pointers)]) != pointers:
        yield f"addresses for {len(pointers)} pointers, which come first", f"{len(step.places)}"
    if len(launch.scalars) != len(parameters) - len(pointers):
        yield f"{len(parameters) - len(pointers)} scalar parameters", f"{len(launch.scalars)}"
    for register, offset in step.places:
        if not 0 <= register < program.registers or offset < 0:
            yield f"addresses in registers below {program.registers}", f"{offset} bytes behind register {register}"
    for argument, value, part in step.numbers:
        if (
            not len(pointers) <= argument < len(parameters)
            or not 0 <= value < program.values
            or part not in (None, 0, 1)
        ):
            yield (
                f"numbers of the host in scalar parameters, out of {program.values}",
                f"number {value} in argument {argument}",
            )
    if not 0 < np.prod(launch.block) <= MOST_THREADS or not all(size > 0 for size in launch.grid):
        yield f"blocks of up to {MOST_THREADS} threads", f"a grid {launch.grid} of blocks {launch.block}"
    if any(size > MOST_BLOCKS for size in launch.grid[1:]):
        yield f"up to {MOST_BLOCKS} blocks along all axes but the first", f"a grid {launch.grid}"
    if f"def {launch.source.name}(" not in launch.source.text:
        yield "a source with a function of that name", launch.source.text.partition("\n")[0]
