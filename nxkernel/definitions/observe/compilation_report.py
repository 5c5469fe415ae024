"""The report of one compilation as plain data, which widgets, magics and text views read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nxkernel.compilers import registry
from nxkernel.messages.grammar import counted
from nxkernel.messages.quantities import duration


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node of the graph as it is shown.

    Parameters
    ----------
    id : str
        The variable name of the printed graph: ``a``, ``b``, …
    label : str
        The primitive's name, or the argument's for a parameter.
    detail : str
        Its static parameters, such as ``axes=[0]``; the value of a constant.
    spec : str
        Type and shape, such as ``f32[2][3]``; in brackets those of all results where there are several. Arguments and
        returned values have their vectorized axes.
    role : str
        ``"argument"``, ``"captured"``, ``"constant"`` or ``"operation"``.
    operands : tuple of str
        Ids of the nodes that it reads.
    kernels : tuple of int
        Indices of the kernels that compute it; more than one when it is cheaper to compute twice than to keep.
    output : bool
        Whether the function returns it.
    cell : str
        Where its line stands: ``"cell 4"`` or a file name; empty when unknown.
    line : int
        The line there, from 1.
    code : str
        That line's text.
    body : tuple of str
        The steps of the function that is part of it, as in a fold; empty where `detail` has them.
    function : str
        The name of the function whose line it is.
    module : str
        The network module that made it, such as ``"encoder/dense_1"``; empty for none.
    gradient : bool
        Whether it was made by differentiation.
    moved : int
        Bytes that it would read and write if it ran by itself; in a kernel with others it may move none of them.
    operations : int
        Arithmetic operations; 0 where they are not known.
    parts : tuple of PartView
        The functions of a loop or a branch, as graphs.
    """

    id: str
    label: str
    detail: str
    spec: str
    role: str
    operands: tuple[str, ...]
    kernels: tuple[int, ...] = ()
    output: bool = False
    cell: str = ""
    line: int = 0
    code: str = ""
    body: tuple[str, ...] = ()
    function: str = ""
    module: str = ""
    gradient: bool = False
    moved: int = 0
    operations: int = 0
    parts: tuple[PartView, ...] = ()


@dataclass(frozen=True, slots=True)
class PartView:
    """A function that is part of a loop or a branch.

    Parameters
    ----------
    name : str
        ``"condition"``, ``"body"``, ``"then"`` or ``"otherwise"``.
    nodes : tuple of NodeView
        Its nodes; their ids are unique in the whole graph.
    inputs : mapping
        For each of its parameters, by id, the id of the operand that is its initial value.
    outputs : tuple of str
        The ids of its outputs: one for each result of the loop or branch, one for a condition.
    """

    name: str
    nodes: tuple[NodeView, ...]
    inputs: Mapping[str, str]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepView:
    """The graph at one step of a compilation.

    Parameters
    ----------
    name : str
        ``"traced"``, ``"differentiated"`` or ``"simplified"``.
    count : str
        How many nodes the step added or removed, such as ``"−14"``; for the first step, how many there are.
    about : str
        What the step did, in a line.
    nodes : callable
        Gives its nodes, a tuple of NodeView as in a compilation, without kernels.
    changes : mapping
        For nodes that this step made, or that the next one removes, what happens to them: a word (``"new"``,
        ``"merged"``, ``"gone"``) and a line.
    """

    name: str
    count: str
    about: str
    nodes: Callable[[], tuple[NodeView, ...]]
    changes: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class SourceView:
    """A function whose lines made nodes.

    Parameters
    ----------
    name : str
        The function's.
    cell : str
        Its cell or file, as in nodes.
    first : int
        The number of its first line.
    lines : tuple of str
        Its text.
    """

    name: str
    cell: str
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KernelTime:
    """What a kernel took in a measured run.

    Parameters
    ----------
    seconds : float
        The total of all its runs.
    runs : int
        The number of runs: more than one in a loop.
    """

    seconds: float
    runs: int


@dataclass(frozen=True, slots=True)
class Measurement:
    """A run of a program with a clock around each of its kernels.

    Parameters
    ----------
    seconds : float
        The time of the whole run.
    kernels : mapping
        The time of each kernel, by its index.
    how : str
        How it was measured, in a line.
    bandwidth, arithmetic : float
        The bandwidth of memory in bytes a second, and of matrix products in operations a second, that this processor or
        GPU reaches; 0 for a simulator, whose times mean nothing.
    inputs : str
        The inputs of the run: ``"made-up inputs"`` or ``"your call"``.
    """

    seconds: float
    kernels: Mapping[int, KernelTime]
    how: str
    bandwidth: float
    arithmetic: float
    inputs: str = "made-up inputs"


@dataclass(frozen=True, slots=True)
class KernelView:
    """A kernel as it is shown; texts are made when asked for.

    Parameters
    ----------
    index : int
        Its place in the program.
    kind : str
        ``"map"``, ``"rows"``, ``"columns"``, ``"tiles"``, ``"matrix product"``, or an opaque operation such as
        ``"sort"``.
    title : str
        One line: kind, number of reads and writes, loop sizes.
    symbol : str
        The name of its native code.
    origin : str
        ``"compiled"``, ``"memory"`` or ``"disk"``; ``"program"`` of what is part of the loop around it, ``"library"``
        of a library's routine.
    milliseconds : float
        The time that it took to get its native code.
    moved : int
        Bytes that it reads and writes in memory at the least.
    operations : int
        Arithmetic operations in one run.
    texts : dict
        Name of a form (``"Numba source"``, ``"LLVM"``, ``"assembly"``, for opaque operations ``"NumPy"`` and
        ``"algorithm"``, on GPUs ``"Numba CUDA source"`` and ``"PTX"``) to a function that gives its text.
    launch : str
        How it is launched on a GPU, in a line: blocks, threads, resources and occupancy.
    """

    index: int
    kind: str
    title: str
    symbol: str
    origin: str
    milliseconds: float
    moved: int = 0
    operations: int = 0
    texts: dict[str, Callable[[], str]] = field(default_factory=dict)
    launch: str = ""


@dataclass(frozen=True, slots=True)
class CompilationView:
    """One compilation of one definition as it is shown.

    Parameters
    ----------
    function : str
        The definition's name.
    signature : str
        The call that it answers, such as ``smooth(u: f64[512][512], steps=100)``.
    compiler : str
        ``"numba_cpu"``, ``"numba_cuda"`` or ``"evaluator"``.
    reason : tuple of str
        Why it was made: ``("first call",)`` or the differences from the closest one before.
    nodes : tuple of NodeView
        In the order of the printed graph, operands before their users.
    kernels : tuple of KernelView
        In the order in which they run; empty for the evaluator.
    calls : int
        How many calls it has answered.
    cell : str
        Where it was compiled.
    text : str
        The printed graph.
    trace_ms, lower_ms, native_ms : float
        The time for tracing, making loop nests, and getting native code, in milliseconds.
    baked : tuple of str
        Values that are constants of the program, so that another value makes another program: captured numbers,
        options and static arguments, such as ``"captured rate = 0.1"``.
    key : mapping
        The cache key: for each part by name, what is compared, and its text.
    steps : callable
        Returns the graph at each step of the compilation, as `StepView`.
    module : callable
        Returns the program as a module for Numba; raises CompilationError if it cannot be one.
    sources : callable
        Returns the functions whose lines made its nodes, as `SourceView`.
    measure : callable
        Runs the program on made-up inputs with a clock around each kernel and returns a `Measurement`; raises
        NxValueError if it cannot be measured.
    measurement : Measurement, optional
        The times of its kernels on the inputs of a call, if one was measured.
    rules : str
        Whose rules of types hold, and what says so.
    """

    function: str
    signature: str
    compiler: str
    reason: tuple[str, ...]
    nodes: tuple[NodeView, ...]
    kernels: tuple[KernelView, ...]
    calls: int
    cell: str
    text: str
    trace_ms: float
    lower_ms: float
    native_ms: float
    baked: tuple[str, ...] = ()
    key: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    steps: Callable[[], tuple[StepView, ...]] = tuple
    sources: Callable[[], tuple[SourceView, ...]] = tuple
    module: Callable[[], str] = str
    measure: Callable[[], Measurement] | None = None
    measurement: Measurement | None = None
    rules: str = ""

    def __repr__(self) -> str:
        alone = registry.get(self.compiler).without_kernels[0]
        kernels = counted(len(self.kernels), "kernel") if self.kernels else alone
        took = ""
        if self.measurement:
            # What a simulator takes says nothing of a GPU.
            how = "" if self.measurement.bandwidth else ", simulated"
            took = f", {duration(1e3 * self.measurement.seconds)}{how}"
        return f"<compilation {self.signature}: {kernels}{took}>"
