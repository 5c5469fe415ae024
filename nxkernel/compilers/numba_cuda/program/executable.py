"""The executable of a GPU program: the device and memory of a run, and its results."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nxkernel import fork_safety, passes
from nxkernel.backends.cuda.arrays import DeviceArray
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.interface import Clock, Executable, KernelRecord
from nxkernel.compilers.numba_cuda.program import graph_compilation
from nxkernel.compilers.numba_cuda.program.cuda_graphs import Graphs
from nxkernel.compilers.numba_cuda.program.host_steps import (
    NUMBERS,
    SCRATCH,
    WORK,
    DeviceStep,
    HostStep,
    ProgramRun,
    do_all,
)
from nxkernel.compilers.numba_cuda.toolchain.object_code import loaded
from nxkernel.compilers.plan import nested_plans
from nxkernel.compilers.plan.buffer_assignment import aligned
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.plan.program_plan import ProgramPlan
from nxkernel.errors import DeviceFaultError, DeviceMemoryError, NxValueError, message
from nxkernel.graph.expr import Expr, Graph, at_line

#: Called with each step that does something on the device, instead of doing it.
Watch = Callable[[HostStep, ProgramRun], None]


class CudaExecutable(Executable):
    """A program for GPUs, written for each device when it first runs there.

    Parameters
    ----------
    graph : Graph
    plan : ProgramPlan
    device : Device
        Where it runs unless an argument is on another one.

    Attributes
    ----------
    graph : Graph
    plan : ProgramPlan
    kernels : list of KernelRecord
    lower_ms, native_ms : float
        Milliseconds for making kernel sources, and for getting machine code.
    device : Device
    """

    def __init__(self, graph: Graph, plan: ProgramPlan, device: Device) -> None:
        self.graph, self.plan, self.device = graph, plan, device
        self.lower_ms = self.native_ms = 0.0
        self._lock = fork_safety.rlock()
        self._ready: dict[tuple[Any, frozenset[int]], Ready] = {}
        numbers = graph_compilation.guessed(graph, plan)
        #: The single inputs, where it matters whether the host knows them.
        self._singles = tuple(numbers)
        #: The program as it is written for that device.
        first = self._made(device, numbers)
        self.plan, self.program = first.plan, first.program
        self.kernels: list[KernelRecord] = self.program.records

    def run(self, arrays: Sequence[np.ndarray | DeviceArray], watch: Watch | None = None) -> list[DeviceArray]:
        """Run the program; the outputs, on the device, may still be being computed.

        Parameters
        ----------
        arrays : sequence of (numpy.ndarray or DeviceArray)
            One for each parameter, of its dtype and shape. A NumPy array that changes is changed when this returns.
        watch : callable, optional
            Called with each step that does something on the device, and the run, instead of doing it.

        Returns
        -------
        list of DeviceArray
            What is in an array that changes is that array itself.
        """
        return self.ready_for(arrays).run(arrays, watch)

    def in_place(self) -> frozenset[tuple[int, int]]:
        """The updates whose output is computed in the memory of the input."""
        places = self.plan.outputs
        return frozenset(
            (position, number) for position, number in self.graph.updates if places[number] == Location.input(position)
        )

    def open_loop(self) -> Expr | None:
        """A loop whose number of iterations depends on computed values; None if there is none."""
        return nested_plans.open_loop(self.plan)

    def clock(self) -> Clock:
        """A clock that launches one kernel at a time."""
        from nxkernel.compilers.numba_cuda.program.kernel_clocks import DeviceClock

        return DeviceClock(self)

    def launches(self) -> dict[int, str]:
        """For the index of each launched kernel a line on its geometry, resources and occupancy."""
        from nxkernel.compilers.numba_cuda.program.occupancy import launches_told

        return launches_told(self)

    def ready_for(self, arrays: Sequence[np.ndarray | DeviceArray]) -> Ready:
        """The program for the device of the arrays, and for which of the single inputs are on the host."""
        device = None
        for array in arrays:
            if type(array) is DeviceArray and array.device is not device:
                if device is not None:
                    raise NxValueError(
                        message(
                            f"arguments are on two devices, {device.name} and {array.device.name}.",
                            f'Transfer one of them: nx.backend_transfer(t, "{device.name}").',
                        )
                    )
                device = array.device
        singles = self._singles
        numbers = frozenset(k for k in singles if type(arrays[k]) is not DeviceArray) if singles else frozenset()
        key = device or self.device, numbers
        ready = self._ready.get(key)
        return ready if ready is not None else self._made(*key)

    def _made(self, device: Device, numbers: frozenset[int]) -> Ready:
        import time

        with self._lock:
            if (device, numbers) not in self._ready:
                begin = time.perf_counter()
                ready = Ready(self.graph, self.plan, device, numbers)
                written = time.perf_counter()
                passes.ON_PROGRAMS["numba_cuda"][-1](ready)
                self._ready[device, numbers] = ready
                if len(self._ready) == 1:
                    self.lower_ms += 1e3 * (written - begin)
                    self.native_ms = 1e3 * (time.perf_counter() - written)
            return self._ready[device, numbers]


class Ready:
    """A program written for a device, and its kernels once they are loaded.

    Parameters
    ----------
    graph : Graph
    plan : ProgramPlan
    device : Device
    numbers : frozenset of int
        The inputs that are numbers of the host.

    Attributes
    ----------
    plan : ProgramPlan
        With its launch modes.
    program : HostProgram
    """

    def __init__(self, graph: Graph, plan: ProgramPlan, device: Device, numbers: frozenset[int]) -> None:
        self.graph, self.device = graph, device
        self.plan, self.program = graph_compilation.program_of(graph, plan, device, numbers)
        self._arrays = [(node.shape, node.type.dtype) for node in plan.arrays]
        self._lock = fork_safety.rlock()
        changed = {number: position for position, number in graph.updates}
        self._results = [
            (where, node.shape, number in changed)
            for number, (where, node) in enumerate(zip(plan.outputs, graph.outputs, strict=True))
        ]

    def load_kernels(self) -> None:
        """Load the kernels onto the device."""
        launched = self.program.launched
        kernels = loaded(self.device, [one.launch.source for one in launched])
        seen: set[str] = set()
        for one, (kernel, origin, spent) in zip(launched, kernels, strict=True):
            one.prepare(self.device, kernel)
            # A GPU's faults come later than what made them: kernels bring along what to say of them.
            source = next((node.source for node in one.nodes if node.source), None)
            one.prepared.title = f"{kernel.title} of {self.graph.name}{at_line(source)}"
            record = self.program.records[one.record]
            if record.symbol not in seen:
                seen.add(record.symbol)
                record.origin, record.milliseconds = origin, spent
        self._graphs = Graphs(self.program, self.device)

    def run(self, arrays: Sequence[np.ndarray | DeviceArray], watch: Watch | None = None) -> list[DeviceArray]:
        """Run the program; see :meth:`CudaExecutable.run`."""
        program, device = self.program, self.device
        with self._lock:
            now = None
            try:
                inputs = self._device_inputs(arrays)
                outputs = [device.allocate(shape, dtype) for shape, dtype in self._arrays]
                now = self._begun(arrays, inputs, outputs, watch)
                if watch is not None or not self._graphs.run(now):
                    do_all(program.steps, now)
                for number, position in program.changed:
                    kind, where = self._results[number][0]
                    source = (outputs if kind is MemoryKind.OUTPUT else inputs)[where]
                    device.copy(inputs[position].pointer, source.pointer, source.nbytes)
                for position, _ in self.graph.updates:
                    if type(arrays[position]) is not DeviceArray:
                        np.copyto(arrays[position], inputs[position].host())
                return [self._result(number, inputs, outputs) for number in range(len(self._results))]
            except (DeviceFaultError, DeviceMemoryError) as error:
                if not (isinstance(error, DeviceFaultError) and error.lost):
                    _note_step(error, now)
                # Whoever keeps the error, as notebooks do, must not keep what the run had of memory.
                inputs = outputs = now = None
                traceback.clear_frames(error.__traceback__)
                raise

    def _device_inputs(self, arrays: Sequence[np.ndarray | DeviceArray]) -> dict[int, DeviceArray]:
        """The inputs on the device, by position; small host arrays are uploaded together."""
        inputs: dict[int, DeviceArray] = {}
        small: list[int] = []
        for position in self.program.used:
            array = arrays[position]
            if type(array) is DeviceArray:
                inputs[position] = array
            elif array.nbytes <= _SMALL:
                small.append(position)
            else:
                inputs[position] = self.device.upload(array)
        if small:
            sizes = [aligned(arrays[position].nbytes) for position in small]
            packed, begin = np.empty(sum(sizes), np.uint8), 0
            begins = []
            for position, size in zip(small, sizes, strict=True):
                array = np.ascontiguousarray(arrays[position])
                packed[begin : begin + array.nbytes] = array.reshape(-1).view(np.uint8)
                begins.append(begin)
                begin += size
            there = self.device.upload(packed)
            for position, begin in zip(small, begins, strict=True):
                array = arrays[position]
                inputs[position] = there.part(begin, array.shape, array.dtype)
        return inputs

    def _begun(
        self,
        arrays: Sequence[np.ndarray | DeviceArray],
        inputs: dict[int, DeviceArray],
        outputs: Sequence[DeviceArray],
        watch: Watch | None,
    ) -> ProgramRun:
        program = self.program
        addresses = [0] * program.registers
        for position, register in program.used.items():
            addresses[register] = inputs[position].pointer
        for register, array in zip(program.outputs, outputs, strict=True):
            addresses[register] = array.pointer
        size = program.workspace + program.numbers + program.scratch
        memory = None
        if size:
            memory = self.device.allocate((size,), np.uint8)
            addresses[WORK] = memory.pointer
            addresses[NUMBERS] = addresses[WORK] + program.workspace
            addresses[SCRATCH] = addresses[NUMBERS] + program.numbers
        values: list[Any] = [None] * program.values
        for position, register in program.known.items():
            values[register] = arrays[position]
        now = ProgramRun(self.device, addresses, values, watch)
        # The memory is free when the run is over for the host: what comes later on the device uses it later.
        now.memory = memory
        return now

    def _result(self, number: int, inputs: dict[int, DeviceArray], outputs: Sequence[DeviceArray]) -> DeviceArray:
        (kind, position), shape, changed = self._results[number]
        array = (
            outputs[position]
            if kind is MemoryKind.OUTPUT
            else inputs[position]
            if changed
            else self.device.bring(inputs[position])
        )
        return array if array.shape == shape else array.reshape(shape)


#: Bytes up to which an array of the host goes to the device together with others.
_SMALL = 1 << 14


def _note_step(error: Exception, now: ProgramRun | None) -> None:
    """Add a note to an error about the operation that failed, with the user's line."""
    step = None if now is None else now.now
    if not isinstance(step, DeviceStep):
        return
    lines = list(dict.fromkeys(at_line(node.source).strip(" ()") for node in step.nodes if node.source))
    what = f"It was queued by {step.title}" + (f", for {'; '.join(lines[:3])}" if lines else "")
    error.add_note(f"{what}.")
