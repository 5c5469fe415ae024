"""The plan of a program: its steps in order, and the location of each value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from nxkernel.compilers.analysis import integer_ranges
from nxkernel.compilers.analysis.integer_ranges import Interval
from nxkernel.compilers.analysis.matrix_products import Product
from nxkernel.compilers.plan.independent_iterations import Independence
from nxkernel.compilers.plan.locations import Location, MemoryKind
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.fork_safety import cached_property
from nxkernel.graph.expr import Expr, Graph
from nxkernel.graph.intervals import iteration_step
from nxkernel.primitives import while_


class Routine(Protocol):
    """How a compiler runs an opaque operation, as far as a plan has to know; each compiler has its own class."""

    @property
    def scratch(self) -> int:
        """Bytes of temporary memory besides operands and results."""
        ...


@dataclass(frozen=True, eq=False)
class OpaqueStep:
    """A step that runs an opaque operation: a routine or a library call.

    Parameters
    ----------
    node : Expr
    results : tuple of (Expr or None)
        The values that it computes; None for one that nobody needs.
    routine : Routine
        How the compiler runs it.
    scratch : Expr or None
        Memory that only it uses.
    """

    node: Expr
    results: tuple[Expr | None, ...]
    routine: Routine
    scratch: Expr | None


@dataclass(frozen=True, eq=False)
class ScalarStep:
    """A step that computes one element, in the program itself.

    Parameters
    ----------
    node : Expr
    """

    node: Expr


@dataclass(frozen=True, eq=False)
class ElementStore:
    """A step that writes one element into an array, in the program itself.

    Parameters
    ----------
    node : Expr
        The update, which is in the memory of what it updates.
    """

    node: Expr


class LaunchMode(Enum):
    """What runs a loop or branch on a GPU: one thread, many threads, one block, or the host."""

    #: A kernel of one thread.
    ONE_THREAD = "one thread"
    #: A kernel of many threads, each of which does some of the iterations of a loop.
    MANY_THREADS = "threads that share its iterations"
    #: A kernel of one block, whose threads wait for each other after each step of a loop.
    ONE_BLOCK = "one block"
    #: The host, which launches kernels in each iteration, or those of one side of a branch.
    HOST = "the host"


@dataclass(frozen=True)
class LaunchDecision:
    """The launch mode of a loop or branch on a GPU, and the reason for it.

    Parameters
    ----------
    mode : LaunchMode
    reason : str
        Why, for people who read the plan.
    known_inputs : frozenset of int
        The inputs of the condition and the body (of the two sides) that are numbers which the host knows: in every
        iteration.
    known_results : frozenset of int
        The results that are numbers which the host knows afterwards.
    reads_back : bool
        Whether the host waits for the device to learn if there is another iteration, or which side runs.
    """

    mode: LaunchMode
    reason: str
    known_inputs: frozenset[int] = frozenset()
    known_results: frozenset[int] = frozenset()
    reads_back: bool = False


@dataclass(frozen=True, eq=False)
class Control:
    """A step that is a loop or a branch.

    Parameters
    ----------
    node : Expr
    results : tuple of (Expr or None)
        The values that it computes; None for one that nobody needs.
    parts : tuple of ProgramPlan
        Of a loop its condition and its body, of a branch its two sides.
    shared : tuple of (int or None)
        For each result the operand whose memory it takes over.
    scratch : Expr or None
        Memory that only it uses.
    independence : Independence or None
        Of a loop whose iterations are independent, what makes them so.
    parallel : bool
        Whether threads of a processor share its iterations; False in programs for GPUs.
    launch : LaunchDecision or None
        How it runs on a GPU; None before that is decided, and in programs for processors.
    """

    node: Expr
    results: tuple[Expr | None, ...]
    parts: tuple[ProgramPlan, ...]
    shared: tuple[int | None, ...]
    scratch: Expr | None
    independence: Independence | None
    parallel: bool = False
    launch: LaunchDecision | None = None

    @property
    def is_loop(self) -> bool:
        """Whether it is a loop rather than a branch."""
        return self.node.primitive is while_

    @property
    def max_iterations(self) -> int | None:
        """The most iterations that a loop can have, if a counter in its state has known bounds; else None."""
        body = self.parts[1]
        for position in range(self.node.params["state"]):
            low, high = body.ranges.get(body.graph.parameters[position], (0, integer_ranges.UNKNOWN))
            step = iteration_step(body.graph, position)
            if step and high - low < integer_ranges.UNKNOWN // 4:
                return (high - low) // abs(step) + 1
        return None


@dataclass(eq=False)
class Step:
    """One step of a program, with the values that it reads and writes."""

    work: BoundNest | Product | OpaqueStep | ScalarStep | ElementStore | Control
    reads: list[Expr]
    writes: list[Expr]
    after: list[Step] = field(default_factory=list)
    #: Steps that read what this one writes over, and the update that it is.
    before: dict[Step, Expr] = field(default_factory=dict)


@dataclass
class ProgramPlan:
    """The steps and the memory of one graph.

    Parameters
    ----------
    graph : Graph or None
        Of which it is the plan; None for that of a whole program.
    steps : list of Step
        In the order in which they run.
    results : list of Expr
        The outputs of the graph as they were rewritten, which is what the steps compute.
    place : dict
        For each value where it is. Values that share memory have equal locations, or are in parts of it.
    outputs : list of Location
        Where each output of the graph is: in an array of its own, or in an input that is written to.
    arrays : list of Expr
        For each array to allocate, the value in it (a reshape of what is computed, at most).
    workspace : int
        Bytes of the memory for values that are no outputs.
    origin : dict
        For each node that was rewritten, the node that it came from.
    ranges : mapping
        What is known of single integers.
    in_place : mapping
        For each result that takes over the memory of another value that value.
    writable : frozenset of int
        The inputs whose memory may be written to.
    """

    graph: Graph | None
    steps: list[Step]
    results: list[Expr]
    place: dict[Expr, Location]
    outputs: list[Location]
    arrays: list[Expr]
    workspace: int
    origin: dict[Expr, Expr]
    ranges: Mapping[Expr, Interval]
    in_place: Mapping[Expr, Expr]
    writable: frozenset[int]

    @cached_property
    def kernels(self) -> Counter[str]:
        """By the key of each nest, how many of the steps run its kernel."""
        return Counter(step.work.nest.key for step in self.steps if isinstance(step.work, BoundNest))

    @cached_property
    def controls(self) -> dict[Expr, Control]:
        """The loops and branches among the steps, by node."""
        return {step.work.node: step.work for step in self.steps if isinstance(step.work, Control)}

    @property
    def overwritten(self) -> set[int]:
        """The positions of the inputs whose memory the steps write to."""
        return {
            self.place[node].number
            for step in self.steps
            for node in step.writes
            if node in self.place and self.place[node].memory is MemoryKind.INPUT
        }
