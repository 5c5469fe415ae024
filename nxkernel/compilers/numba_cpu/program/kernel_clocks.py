"""A program with a clock around each kernel, for profiling.

It is written from the same plan as the program itself, and runs the same kernels on the same threads. Before and after
each of them it reads the processor's counter and adds the difference to a counter.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from nxkernel.compilers.interface import Clock, Timed, contiguous, host_machine
from nxkernel.compilers.numba_cpu.program import graph_compilation, program_writer
from nxkernel.compilers.numba_cpu.program.executable import CpuExecutable
from nxkernel.compilers.numba_cpu.program.interrupt_polling import clock
from nxkernel.compilers.numba_cpu.program.program_text import ProgramWriter
from nxkernel.compilers.numba_cpu.routines.routine_table import launches_of
from nxkernel.compilers.numba_cpu.runtime import code_store, workspace
from nxkernel.compilers.plan.nested_plans import all_plans
from nxkernel.compilers.plan.program_plan import Control, ElementStore, OpaqueStep, ProgramPlan, ScalarStep


class NativeClock(Clock):
    """A clock that measures each kernel of a native program.

    Parameters
    ----------
    executable : CpuExecutable
        The program that is to be measured; its plan is made again where it came from disk.
    """

    note = "which caches may hold"

    def __init__(self, executable: CpuExecutable) -> None:
        plan, graph = executable.plan, executable.graph
        kernels = _kernels(plan)
        # For each kernel a counter of its time and one of its runs, then the same for the program.
        self._counters = np.zeros(2 * len(kernels) + 2, dtype=np.int64)
        text = program_writer.write(
            plan, len(graph.parameters), graph.updates, _TimedWriter(self._counters, [*kernels, plan])
        )
        _, uses = graph_compilation.records(plan, text.symbol)
        linked = text.named(uses)
        code, _ = code_store.native(text.symbol, lambda: text.text, text.define_symbols, loops=text.loops, uses=linked)
        self._launch = text.function(code, uses)
        self._calls = text.calls
        self._outputs = [np.empty(node.shape, node.type.dtype) for node in plan.arrays]
        self._workspace = plan.workspace

    def placed(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The inputs as native code can read them."""
        return contiguous(arrays)

    def machine(self) -> tuple[float, float]:
        """The peak of this machine."""
        return host_machine()

    def run(self, arrays: Sequence[np.ndarray]) -> Timed:
        """Run the program once and read its counters.

        Parameters
        ----------
        arrays : sequence of numpy.ndarray
            One for each parameter, C-contiguous; those that the program changes are changed.

        Returns
        -------
        Timed
        """
        self._counters[:] = 0
        memory = [workspace.take(self._workspace)] if self._workspace else []
        begin = time.perf_counter()
        self._launch(*arrays, *self._outputs, *memory)
        seconds = time.perf_counter() - begin
        for each in memory:
            workspace.give_back(each)
        ticks, runs = self._counters[::2].tolist(), self._counters[1::2].tolist()
        unit = seconds / max(ticks.pop(), 1)
        return Timed(
            seconds, {number: (spent * unit, runs[number]) for number, spent in enumerate(ticks) if runs[number]}
        )


def _kernels(plan: ProgramPlan) -> list[object]:
    """For each of the program's records the step or loop of its plan."""
    kernels: list[object] = []
    for step in [step for part in all_plans(plan) for step in part.steps]:
        if isinstance(step.work, OpaqueStep):
            kernels += launches_of(step.work)
        elif not isinstance(step.work, ScalarStep | ElementStore | Control):
            kernels.append(step.work)
    return [*kernels, *graph_compilation.loops_on_threads(plan)]


class _TimedWriter(ProgramWriter):
    def __init__(self, counters: np.ndarray, kernels: list[object]) -> None:
        super().__init__()
        self._clock, self._numbers = counters, {id(kernel): number for number, kernel in enumerate(kernels)}

    @contextmanager
    def around(self, what: object) -> Iterator[None]:
        number_of_kernel = self._numbers.get(id(what))
        # What several threads run at once is timed as a whole, by the one that waits for it.
        if number_of_kernel is None or self.function.stop is not None:
            yield
            return
        begin = clock(self.module, self.b)
        yield
        spent = self.b.integer("sub", clock(self.module, self.b), begin)
        for number, more in enumerate((spent, self.integer(1))):
            # Not read once for all, as the scalar parameters of the program are.
            address = self.scalar(self._clock.ctypes.data + 8 * (2 * number_of_kernel + number), "ptr")
            self.b.store(self.b.integer("add", self.b.load("i64", address), more), address)
