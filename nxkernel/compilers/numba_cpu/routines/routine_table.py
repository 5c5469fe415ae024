"""The table of routines: primitives that are no loop nests (sorts, scans), and the kernels that run them.

Such a primitive reads its operands from memory and writes its results there, each in C order. Its routine is a
sequence of launches; like the kernels of nests, theirs know no sizes: what depends on a shape is a scalar parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends import MEANING
from nxkernel.backends.library_routines import transform_into
from nxkernel.compilers.plan.program_plan import OpaqueStep
from nxkernel.graph.expr import Expr
from nxkernel.primitives import Primitive


class ArgumentKind(StrEnum):
    """The kinds of memory that a launch reads or writes."""

    OPERAND = "operand"
    RESULT = "result"
    SCRATCH = "scratch"


class LaunchArgument(NamedTuple):
    """One memory argument of a launch.

    Parameters
    ----------
    kind : ArgumentKind
    number : int
        Of the operand or result; of scratch memory the byte that it begins at.
    """

    kind: ArgumentKind
    number: int


#: The first operand, and the first result.
SOURCE, TARGET = LaunchArgument(ArgumentKind.OPERAND, 0), LaunchArgument(ArgumentKind.RESULT, 0)


@dataclass(frozen=True)
class Launch:
    """One kernel, run over a parallel range of steps.

    The kernel is ``void symbol(ptr args, ptr dims, ptr steps, ptr table)``: it runs the steps ``args[0]`` to
    ``args[0] + dims[0]``; the table has the addresses of the memory, then the scalar parameters.

    Parameters
    ----------
    symbol : str
        A hash of what decides the code.
    text : callable
        Gives the LLVM IR; called only where the code is in no cache.
    memory : tuple of LaunchArgument
    scalars : tuple of int
        64 bits each.
    count : int
        Steps of the parallel range.
    work : int
        What one step costs, in simple instructions.
    title : str
        What it does, for people.
    source : str
        How it does that, in the words of Python; empty where nobody wrote it down.
    blas : bool
        Whether several of its steps may call BLAS at the same time, which then has one thread.
    """

    symbol: str
    text: Callable[[], str]
    memory: tuple[LaunchArgument, ...]
    scalars: tuple[int, ...]
    count: int
    work: int
    title: str
    source: str = ""
    blas: bool = False


@dataclass(frozen=True)
class HostCall:
    """A callback that runs a compiled SciPy or NumPy routine for an opaque operation.

    Parameters
    ----------
    node : Expr
    """

    node: Expr

    @property
    def title(self) -> str:
        """What the call does, for people."""
        node = self.node
        operand_specs = ", ".join(str(operand.spec) for operand in node.operands[:1])
        if node.primitive is p.njit_call:
            function = node.params["function"]
            return f"{function} of {operand_specs or 'nothing'}, {function.origin}"
        return f"{node.primitive.name} of {operand_specs} by the compiled routine of SciPy or NumPy"

    def run(self, operands: Sequence[np.ndarray], results: Sequence[np.ndarray | None]) -> None:
        """Compute the results from the operands."""
        node = self.node
        if node.primitive is p.fft:
            return transform_into(*results, *operands, **node.params)
        values = MEANING[node.primitive](node.spec, *operands, **node.params)
        for value, result in zip(values if type(node.spec) is tuple else (values,), results, strict=True):
            if result is not None:
                result[...] = value
        return None


@dataclass(frozen=True)
class NativeRoutine:
    """How an opaque operation runs: launches of kernels, or a callback.

    Parameters
    ----------
    launches : tuple of Launch or HostCall
        One after the other.
    scratch : int
        Bytes of memory that they share besides operands and results.
    """

    launches: tuple[Launch | HostCall, ...]
    scratch: int = 0


def launches_of(step: OpaqueStep) -> tuple[Launch | HostCall, ...]:
    """The launches or calls that run an opaque step, in order."""
    assert isinstance(step.routine, NativeRoutine)
    return step.routine.launches


#: The values that an opaque operation computes; None for one that nobody needs.
Results = Sequence[Expr | None]

#: For each primitive the function that gives the routine of a node of it, for the results that are needed.
ROUTINES: dict[Primitive, Callable[[Expr, Results], NativeRoutine]] = {}


def routine(*primitives: Primitive) -> Callable[[Any], Any]:
    """A decorator that registers the function which makes the routine of some primitives."""

    def register(function: Callable[[Expr, Results], NativeRoutine]) -> Callable[[Expr, Results], NativeRoutine]:
        for primitive in primitives:
            ROUTINES[primitive] = function
        return function

    return register


@routine(p.fft, p.njit_call)
def by_library(node: Expr, results: Results) -> NativeRoutine:
    """The routine of a primitive that a library computes, by way of Python."""
    return NativeRoutine((HostCall(node),))
