"""CUDA graphs: a program that runs again with the same addresses is launched as one graph."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.numba_cuda.program.control_flow import BranchStep, LoopStep
from nxkernel.compilers.numba_cuda.program.host_steps import DeviceStep, HostStep, ProgramRun, do_all
from nxkernel.errors import DeviceFaultError, DeviceMemoryError

if TYPE_CHECKING:
    from nxkernel.compilers.numba_cuda.program.program_writer import HostProgram

#: Fewest launches that are worth a graph: two are queued as fast as one.
FEWEST = 3
#: Most steps of a graph, loops written out.
MOST = 4096
#: How many graphs a program keeps, and how many sets of addresses it remembers having seen once.
KEPT, REMEMBERED = 4, 16


class Graphs:
    """The captured graphs of a program on a device, by addresses.

    Parameters
    ----------
    program : HostProgram
    device : Device
    """

    def __init__(self, program: HostProgram, device: Device) -> None:
        self.program, self.device = program, device
        self._possible = is_capturable(program.steps)
        self._graphs: OrderedDict[Any, Any] = OrderedDict()
        self._seen: OrderedDict[Any, None] = OrderedDict()

    def run(self, run: ProgramRun) -> bool:
        """Launch the graph for a run's addresses, if there is one or one can be captured; whether it was.

        Returns
        -------
        bool
            False where the steps have to be done one by one.
        """
        if not self._possible:
            return False
        key = (tuple(run.addresses), tuple(_contents(run.values[k]) for k in self.program.known.values()))
        graph = self._graphs.get(key)
        if graph is None:
            if key not in self._seen:
                self._seen[key] = None
                if len(self._seen) > REMEMBERED:
                    self._seen.popitem(last=False)
                return False
            graph = self._captured(run)
            if graph is None:
                self._possible = False
                return False
            self._graphs[key] = graph
            if len(self._graphs) > KEPT:
                self._graphs.popitem(last=False)
        self._graphs.move_to_end(key)
        graph.launch()
        return True

    def _captured(self, run: ProgramRun) -> Any:
        counter = _Counter()

        def work() -> None:
            run.watch = counter
            do_all(self.program.steps, run)

        try:
            graph = self.device.capture(work)
        except (DeviceFaultError, DeviceMemoryError):
            raise
        except (_TooManyError, RuntimeError):
            # What a library does may be nothing that can be captured: then steps are done one by one.
            return None
        finally:
            run.watch = None
        return graph if counter.steps >= FEWEST else None


class _TooManyError(Exception):
    """A program has more steps than a graph should have."""


class _Counter:
    """Runs steps and counts them."""

    steps = 0

    def __call__(self, step: HostStep, run: ProgramRun) -> None:
        self.steps += 1
        if self.steps > MOST:
            raise _TooManyError
        step.do(run)


def is_capturable(steps: list[HostStep]) -> bool:
    """Whether no step waits for the device or may allocate memory on it."""
    for step in steps:
        if isinstance(step, LoopStep):
            inner = [*step.condition, *step.body, *step.copies]
            if step.answer.value is None or not is_capturable(inner):
                return False
        elif isinstance(step, BranchStep):
            if step.answer.value is None or not all(map(is_capturable, step.sides)):
                return False
        elif isinstance(step, DeviceStep) and not step.capturable:
            return False
    return True


def _contents(value: Any) -> bytes:
    return value.tobytes()
