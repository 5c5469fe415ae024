"""The interface of compilers: a compiler turns a graph into an executable, which is called on arrays.

Whoever writes one makes classes of :class:`Compiler` and :class:`Executable`, and needs to write the methods without a
default only. :mod:`nxkernel.compilers.registry` finds it by its name.
"""

from __future__ import annotations

import functools
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import while_


@dataclass(slots=True)
class KernelRecord:
    """The description of one kernel of an executable, for explanations and the inspector.

    Parameters
    ----------
    kind : str
        In a word or two: ``"map"``, ``"rows"``, ``"columns"``, ``"matrix product"``.
    title : str
        One line for people.
    symbol : str
        The name of its native code.
    origin : str
        ``"compiled"``, ``"memory"`` or ``"disk"``; ``"program"`` of what is part of the loop around it, ``"library"``
        of a library's routine.
    milliseconds : float
        What getting its native code took.
    nodes : list of Expr
        The nodes that it computes.
    moved, operations : int
        Bytes read and written at the least, and arithmetic operations, in one run.
    texts : dict
        Form (``"Numba source"``, or ``"algorithm"`` for what is no loop nest; ``"LLVM"``, ``"assembly"``) to a function
        that gives its text.
    continues : bool
        Whether it goes on with the one node that the kernel before it computes, such as the next pass of a sort.
    """

    kind: str
    title: str
    symbol: str
    origin: str
    milliseconds: float
    nodes: list[Expr] = field(default_factory=list)
    moved: int = 0
    operations: int = 0
    texts: dict[str, Callable[[], str]] = field(default_factory=dict)
    continues: bool = False


@dataclass(frozen=True)
class Timed:
    """The times of one measured run.

    Parameters
    ----------
    seconds : float
        The whole run.
    kernels : dict
        By the index of a kernel its seconds, in all its runs together, and how often it ran.
    """

    seconds: float
    kernels: dict[int, tuple[float, int]]


@dataclass(frozen=True, slots=True)
class CodeInMemory:
    """One piece of machine code that a compiler has loaded.

    Parameters
    ----------
    kind : str
        ``"kernel"``, ``"program"``, or ``"shared"`` for what all programs call.
    size : int
        Bytes of object code.
    loaded : float
        When, in seconds since the epoch.
    """

    kind: str
    size: int
    loaded: float


class Clock(Protocol):
    """Measures an executable by running it repeatedly."""

    #: What measured times are of, as the end of a sentence.
    note: str

    def placed(self, arrays: Sequence[Any]) -> list[Any]:
        """The inputs moved to where runs need them, such as a device; this is not part of the measured time."""
        ...

    def run(self, arrays: Sequence[Any]) -> Timed:
        """Measure one run on placed inputs: its time, and that of each kernel; only arrays that are updated change."""
        ...

    def machine(self) -> tuple[float, float]:
        """The peak of the hardware: bytes copied a second, and operations a second in an f32 product; 0 if unknown."""
        ...


class Executable(Protocol):
    """A compiled graph.

    Attributes
    ----------
    graph : Graph
        What was compiled.
    kernels : list of KernelRecord
        What is told of its kernels, in the order in which they first run; none where there is nothing to tell.
    own : KernelRecord or None
        The native code of its loops and choices, which is no kernel's; None where it has none.
    lower_ms, native_ms : float
        Milliseconds for deciding what to run, and for getting native code.
    device : Device or None
        Where a program of devices runs unless an argument is on another one
        (:mod:`nxkernel.backends.cuda.device_interface`).
    single : ((int, ...), numpy.dtype) or None
        Shape and dtype of the one array that `launch` fills, where calls may go by that.
    """

    graph: Graph
    kernels: list[KernelRecord]
    own: KernelRecord | None = None
    lower_ms: float = 0.0
    native_ms: float = 0.0
    device: Any = None
    single: tuple[tuple[int, ...], np.dtype] | None = None

    @abstractmethod
    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for one array a parameter, each of the parameter's dtype and shape.

        Parameters
        ----------
        arrays : sequence of numpy.ndarray
            For programs of devices also DeviceArray. None is changed but what `graph.updates` names: for each pair in
            it the parameter of the first number gets the output of the second one.

        Returns
        -------
        list
            For each output an array of its dtype and shape that shares no memory with `arrays`; what is in a parameter
            that changes may be that array itself.
        """

    def launch(self, *arrays: np.ndarray) -> bool:
        """Run on contiguous arrays and fill the last one, whose shape and dtype `single` gives.

        Called where `single` is not None only.

        Returns
        -------
        bool
            False where an array is not contiguous and aligned, and nothing has been done: :meth:`run` copes with it.
        """
        raise NotImplementedError

    def in_place(self) -> frozenset[tuple[int, int]]:
        """The updates (input, output) of the graph that are computed in the memory of the input, without a copy."""
        return frozenset()

    def open_loop(self) -> Expr | None:
        """A loop whose number of iterations depends on computed values, or None: made-up inputs then give no meaningful
        time.
        """
        return next(_loops(self.graph), None)

    def clock(self) -> Clock:
        """A clock for this executable; the default measures it as a whole.

        Raises
        ------
        NxValueError
            Where there is nothing to measure, with the reason and what to do.
        """
        return WholeClock(self)

    def launches(self) -> dict[int, str]:
        """For the index of each kernel a line on its launch geometry and occupancy on a GPU; empty elsewhere."""
        return {}


@runtime_checkable
class Compiler(Protocol):
    """Turns graphs into executables.

    Attributes
    ----------
    name : str
        By which options name it.
    on_devices : bool
        Whether its programs take and give arrays of devices, and not only NumPy's.
    without_kernels : (str, str)
        What is told in the place of the kernels of a program that has none: in a few words, and in a sentence.
    """

    name: str
    on_devices: bool = False
    without_kernels: tuple[str, str] = ("no kernels", "the compiler tells of none")

    @abstractmethod
    def compile(self, graph: Graph) -> Executable:
        """Compile a simplified graph to an executable.

        Raises
        ------
        CompilationError
            For what it has no code for, with the user's line; what else is raised is told as it is.
        """

    def foresee(self, graph: Graph) -> list[KernelRecord]:
        """The kernels that compiling a graph would need; the origin of each says where its code would come from.

        What has compiled nothing yet is asked, too: `why` tells of a call that has not been made. None by itself.
        """
        return []

    def for_device(self, number: int) -> Compiler | None:
        """The compiler for another device by its number, named ``name:number``; None if it has no devices."""
        return None

    def warm_up(self) -> None:
        """Import what compiling needs, in the background, before the first compilation."""

    def processors(self) -> int:
        """The number of processors that kernels may run on."""
        return 1

    def get_threads(self) -> int:
        """The most threads that a kernel runs on."""
        return 1

    def set_threads(self, count: int) -> None:
        """Run kernels on at most `count` threads from now on; without effect where they run on one.

        Raises
        ------
        NxValueError
            For a count that there cannot be.
        """

    def threads_by(self) -> str:
        """What says how many these are: ``"this process"``, an environment variable, or ``"built in"``."""
        return "built in"

    def code_in_memory(self) -> list[CodeInMemory]:
        """The machine code that the compiler has loaded."""
        return []

    def forget_code(self) -> int:
        """Release machine code that is not in use; how many pieces were released."""
        return 0

    def code_version(self) -> Iterable[bytes]:
        """The version of the files in the disk cache: processor, tools, and the compiler's own sources."""
        return ()


class WholeClock:
    """Measures an executable as a whole, on NumPy arrays; a single kernel gets all of the time.

    Parameters
    ----------
    executable : Executable
    """

    note = "which caches may hold"

    def __init__(self, executable: Executable) -> None:
        self._executable = executable

    def placed(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Copies of the inputs that are contiguous and aligned."""
        return contiguous(arrays)

    def run(self, arrays: Sequence[np.ndarray]) -> Timed:
        """Measure one run; see :meth:`Clock.run`."""
        begin = time.perf_counter()
        self._executable.run(arrays)
        seconds = time.perf_counter() - begin
        return Timed(seconds, {0: (seconds, 1)} if len(self._executable.kernels) == 1 else {})

    def machine(self) -> tuple[float, float]:
        """The peak of this machine; see :func:`host_machine`."""
        return host_machine()


def _loops(graph: Graph) -> Iterator[Expr]:
    for node in post_order(graph.outputs):
        if node.primitive is while_:
            yield node
        for part in node.params.values():
            if isinstance(part, Graph):
                yield from _loops(part)


def contiguous(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The arrays in C order and aligned; those that already are stay the same objects."""
    return [np.require(each, requirements=["C", "A"]) for each in arrays]


@functools.cache
def host_machine() -> tuple[float, float]:
    """The measured peak of this machine: bytes a second to and from memory, and operations a second in an f32 product.

    Measured once, in some 50 ms.
    """
    source = np.ones(1 << 23, np.float32)
    target = np.empty_like(source)
    copied = min(_seconds(lambda: np.copyto(target, source)) for _ in range(4))
    side = 768
    left = np.ones((side, side), np.float32)
    multiplied = min(_seconds(lambda: left @ left) for _ in range(4))
    return 2 * source.nbytes / copied, 2 * side**3 / multiplied


def _seconds(function: Callable[[], object]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin
