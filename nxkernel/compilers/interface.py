"""What a compiler is: it takes a graph and gives something that can be called on arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from nxkernel import compile_thread
from nxkernel.errors import NxValueError, message
from nxkernel.graph.expr import Expr, Graph


@dataclass(slots=True)
class KernelRecord:
    """A kernel of an executable, for those who explain it.

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
    """What one run took.

    Parameters
    ----------
    seconds : float
        The whole run.
    kernels : dict
        By the index of a kernel its seconds, in all its runs together, and how often it ran.
    """

    seconds: float
    kernels: dict[int, tuple[float, int]]


class Executable(Protocol):
    """A compiled graph."""

    graph: Graph
    kernels: list[KernelRecord]
    #: The native code of its loops and choices, which is no kernel's; None where it has none.
    own: KernelRecord | None
    lower_ms: float
    native_ms: float

    def run(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The outputs for one array a parameter, each of the parameter's dtype and shape."""
        ...


class Compiler(Protocol):
    """Turns graphs into executables."""

    name: str

    def compile(self, graph: Graph) -> Executable:
        """An executable for a graph that has been simplified."""
        ...


_REGISTRY: dict[str, Callable[[], Compiler]] = {}
_MADE: dict[str, Compiler] = {}


def register(name: str, make: Callable[[], Compiler]) -> None:
    """Make a compiler known by name; `make` runs when it is first asked for, so that nothing is imported before."""
    _REGISTRY[name] = make


def names() -> list[str]:
    """The compilers that there are."""
    return sorted(_REGISTRY)


def get(name: str) -> Compiler:
    """A compiler by its name; ``"numba_cuda:1"`` is that for the second GPU."""
    compiler = _MADE.get(name)
    if compiler is None:
        device = _DEVICE.fullmatch(name) if isinstance(name, str) else None
        if device is None and name not in _REGISTRY:
            raise _unknown(name)
        compiler = _MADE[name] = _REGISTRY[name]() if device is None else _numba_cuda(int(device[1]))
    return compiler


#: The GPU compiler for a device that is not the first one.
_DEVICE = re.compile(r"numba_cuda:(\d+)")
#: What other libraries call what a compiler makes programs for.
_MEANT = {
    "numba_cuda": re.compile(r"(?:cuda|gpu|nvidia|cupy|ptx|numba[-_ ]?gpu)(:\d+)?", re.IGNORECASE),
    "numba_cpu": re.compile(r"cpu|host|numba|llvm|native|jit|xla|exla", re.IGNORECASE),
    "evaluator": re.compile(r"numpy|python|eager|binary|none", re.IGNORECASE),
}


def _unknown(name: object) -> NxValueError:
    # Imported here, as only a misspelt name needs it.
    from difflib import get_close_matches

    lines, text = [], str(name)
    meant = [(known, found) for known, form in _MEANT.items() if (found := form.fullmatch(text))]
    near = [known + (found[1] or "" if found.re.groups else "") for known, found in meant]
    near = near or get_close_matches(text.lower(), ["auto", *names()], n=1)
    if near:
        lines.append(f"Did you mean {near[0]!r}?")
    there = ", ".join(map(repr, ["auto", *names()]))
    lines.append(f"The compilers are {there}, and 'numba_cuda:1' for a second GPU.")
    return NxValueError(message(f"there is no compiler {name!r}.", *lines))


def _evaluator() -> Compiler:
    compile_thread.load("nxkernel.compilers.evaluator")
    from nxkernel.compilers.evaluator import Evaluator

    return Evaluator()


def _numba_cpu() -> Compiler:
    compile_thread.load("nxkernel.compilers.numba_cpu.compiler")
    from nxkernel.compilers.numba_cpu.compiler import NumbaCpu

    return NumbaCpu()


def _numba_cuda(which: int = 0) -> Compiler:
    from nxkernel.compilers.numba_cuda.compiler import NumbaCuda

    return NumbaCuda(which)


register("evaluator", _evaluator)
register("numba_cpu", _numba_cpu)
register("numba_cuda", _numba_cuda)
