"""The executable of a native program: parameters, output arrays, description."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from nxkernel import compile_thread
from nxkernel.compilers.interface import Clock, Executable, KernelRecord
from nxkernel.compilers.numba_cpu.runtime import host_calls, library_routines, native_call, workspace
from nxkernel.compilers.numba_cpu.runtime.loader import LoadedCode
from nxkernel.compilers.plan.buffer_assignment import bytes_of
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.errors import message
from nxkernel.graph.expr import Expr, Graph, at_line
from nxkernel.messages.quantities import amount
from nxkernel.types import Type, normalize

if TYPE_CHECKING:
    from nxkernel.compilers.plan.program_plan import ProgramPlan


@dataclass(frozen=True)
class NativeProgram:
    """A program's LLVM IR, and its scalar parameters for one graph.

    Parameters
    ----------
    symbol : str
    text : str
        LLVM IR.
    params : numpy.ndarray
        64-bit scalar parameters. The first one, the address of the thread pool's state, is another one in each
        process.
    libraries : frozenset of Type
        The types of which it multiplies matrices.
    blas : bool
        Whether it has BLAS use one thread.
    calls : tuple of host.Call
        What it asks Python for; they must live as long as the program may run.
    loops : bool
        Whether it has loops of its own, which LLVM is to optimize, and which may be interrupted.
    kernels : mapping of int to str
        The kernels whose addresses are scalar parameters, by position; these are 0 here.
    """

    symbol: str
    text: str
    params: np.ndarray
    libraries: frozenset[Type]
    blas: bool
    calls: tuple[host_calls.HostRequest, ...]
    loops: bool
    kernels: Mapping[int, str]

    def define_symbols(self) -> None:
        """Define what its code calls, before that is loaded; routines of libraries are found by their names."""
        native_call.prepare()
        if self.calls:
            host_calls.provide()
        if self.blas:
            library_routines.provide_control()

    def function(self, code: LoadedCode, kernels: Mapping[str, LoadedCode]) -> Callable[..., bool]:
        """The Python function that runs a program's loaded code, given its loaded kernels."""
        scalars, used = self.params.copy(), [kernels[name] for name in self.kernels.values()]
        scalars[list(self.kernels)] = [one.address for one in used]
        launch = native_call.callable_program(code, scalars, used)
        return host_calls.raising(launch) if self.calls else launch

    def named(self, kernels: Mapping[str, LoadedCode]) -> dict[str, LoadedCode]:
        """The kernels that the text calls by name and that its code must be linked with."""
        addressed = set(self.kernels.values())
        return {name: code for name, code in kernels.items() if name not in addressed}


@dataclass(frozen=True)
class Layout:
    """The shapes and types of a program's arrays, and where its results are.

    Parameters
    ----------
    arrays : sequence of ((int, ...), str)
        Shape and type of those that it writes.
    workspace : int
        Bytes that it needs besides.
    outputs : sequence of Location
        Where each output is: the kind of array, and its number.
    """

    arrays: Sequence[tuple[tuple[int, ...], str]]
    workspace: int
    outputs: Sequence[Location]


@dataclass(frozen=True)
class Native:
    """Native code of a program, its origin, compile time, and kernels by name."""

    code: LoadedCode
    origin: str
    milliseconds: float
    kernels: Mapping[str, LoadedCode]


def own_code(text: NativeProgram, origin: str, milliseconds: float = 0.0) -> KernelRecord | None:
    """The record of a program's own loops and branches; None for one that only calls kernels in order."""
    if not text.loops:
        return None
    return KernelRecord("program", "loops and choices of the program", text.symbol, origin, milliseconds)


class CpuExecutable(Executable):
    """A native program that is called on arrays.

    Attributes
    ----------
    graph : Graph
    kernels : list of KernelRecord
    own : KernelRecord or None
        The code of its loops and branches.
    lower_ms, native_ms : float
        Milliseconds for making loop nests, and for getting native code.
    """

    def __init__(
        self,
        graph: Graph,
        text: NativeProgram,
        layout: Layout,
        native: Native,
        kernels: Sequence[KernelRecord],
        lower_ms: float,
        native_ms: float,
        plan: Callable[[], ProgramPlan],
    ) -> None:
        self.graph, self.kernels, self._plan = graph, kernels, plan
        self.own = own_code(text, native.origin, native.milliseconds)
        self.lower_ms, self.native_ms = lower_ms, native_ms
        self.symbol = text.symbol
        launch = text.function(native.code, native.kernels)
        self.launch = self._with_workspace(launch, layout.workspace) if layout.workspace else launch
        self._calls = text.calls
        self._shapes = [(shape, normalize(type_).dtype) for shape, type_ in layout.arrays]
        changed = {number for _, number in graph.updates}
        self._results = [
            (where.memory is MemoryKind.OUTPUT, where.number, node.shape, number in changed)
            for number, (where, node) in enumerate(zip(layout.outputs, graph.outputs, strict=True))
        ]
        in_order = [(True, index, shape, False) for index, (shape, _) in enumerate(self._shapes)]
        self._as_allocated = self._results == in_order
        #: Whether the program has exactly one array to allocate, which is its one output.
        one = self._as_allocated and len(self._results) == 1 and not graph.updates
        self.single = self._shapes[0] if one else None

    @property
    def plan(self) -> ProgramPlan:
        """The program's plan; computed now if the program was found on disk."""
        return self._plan()

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs for one array a parameter; an updated parameter's output is that array itself."""
        outputs = [_allocate(shape, dtype) for shape, dtype in self._shapes]
        if not self.launch(*arrays, *outputs):
            ready = [np.require(array, requirements=["C", "A"]) for array in arrays]
            self.launch(*ready, *outputs)
            for index, _ in self.graph.updates:
                if ready[index] is not arrays[index]:
                    np.copyto(arrays[index], ready[index])
        if self._as_allocated:
            return outputs
        results = []
        for is_output, index, shape, changed in self._results:
            array = outputs[index] if is_output else arrays[index]
            # A view, as `reshape` always gives it, would be no array of its own, which callers of NumPy's rules get.
            array = array if array.shape == shape else array.reshape(shape)
            results.append(array if is_output or changed else array.copy())
        return results

    def open_loop(self) -> Expr | None:
        """A loop whose number of iterations depends on computed values; None if there is none."""
        return _nested_plans().open_loop(self.plan)

    def clock(self) -> Clock:
        """A clock whose program reads the processor's counter around each kernel."""
        compile_thread.load("nxkernel.compilers.numba_cpu.program.kernel_clocks")
        from nxkernel.compilers.numba_cpu.program.kernel_clocks import NativeClock

        return NativeClock(self)

    def _with_workspace(self, launch: Callable[..., bool], size: int) -> Callable[..., bool]:
        """The program's function, wrapped to allocate a workspace of so many bytes and pass it last."""

        def launch_with_workspace(*arrays: np.ndarray) -> bool:
            try:
                memory = workspace.take(size)
            except MemoryError:
                raise self._out_of_memory(size) from None
            done = launch(*arrays, memory)
            workspace.give_back(memory)
            return done

        return launch_with_workspace

    def _out_of_memory(self, size: int) -> MemoryError:
        """The error for a workspace that does not fit into memory."""
        kept = [node for part in _nested_plans().all_plans(self.plan) for step in part.steps for node in step.writes]
        # What is a leaf there is memory that a routine works in.
        values = sorted([node for node in kept if node.primitive.family != "leaf"], key=bytes_of)
        hint = [f"The largest of them is {v.spec}, by {v.primitive.name}{at_line(v.source)}." for v in values[-1:]]
        return MemoryError(
            message(
                f"{self.graph.name} needs {amount(size)}B for values on its way, and there is no such memory.",
                *hint,
                "Parts of the inputs take less: call it for some rows at a time.",
            )
        )


def _allocate(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.empty(shape, dtype)


def _nested_plans() -> ModuleType:
    """What goes through the plans of loops and branches, which programs from disk seldom need."""
    from nxkernel.compilers.plan import nested_plans

    return nested_plans
