"""Plain answers to "why did this compile again?", and programs as data for display."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.compilers import wholes
from nxkernel.compilers.interface import KernelRecord
from nxkernel.defn import devices, launches, measuring, sources, steps
from nxkernel.defn.arguments import Arguments, Parts
from nxkernel.defn.cache import Difference, Program, difference
from nxkernel.defn.nodes import names_of, node_views
from nxkernel.defn.report import CompilationView, KernelView
from nxkernel.defn.states import is_code
from nxkernel.graph.expr import Expr, Graph, node_with
from nxkernel.graph.printing import constant_text, print_graph
from nxkernel.operand import VectorizedSpec
from nxkernel.wording import counted

Closest = tuple[Program, Difference] | None
#: So many programs of one function are many.
MANY = 4
#: What is said of a change that has no values.
CODE_CHANGED, MADE_ANEW = "its code has changed", "something that it captures was made anew"


def reason(closest: Closest, edited: bool = False) -> tuple[str, ...]:
    """Why a call is new, in lines: what differs from the closest call before.

    Parameters
    ----------
    closest : (Program, differences), optional
    edited : bool, optional
        Whether there was an earlier state of the function's code.
    """
    if closest is None:
        return ("first call since its code changed" if edited else "first call",)
    return tuple(_line(*part) for part in closest[1]) or (MADE_ANEW,)


def _line(what: str, there: str, here: str) -> str:
    if there.startswith("code ") and here.startswith("code "):
        there, here = there.split()[1], here.split()[1]
        if there == here:
            return f"{what}: {CODE_CHANGED}"
    return f"{what}: {there} → {here}"


def advice(closest: Closest, arguments: Arguments, programs: int = 0) -> str:
    """What the person could change so that the program is found; empty when there is nothing to say.

    Parameters
    ----------
    closest : (Program, differences), optional
    arguments : Arguments
        Of the call.
    programs : int, optional
        How many programs the function has: of many, another one is told how to be avoided that is fine among a few.
    """
    if closest is None:
        return ""
    _, differences = closest
    for what, there, here in differences:
        kind, _, name = what.partition(" ")
        if kind == "argument" and there.startswith("f32") and here == "f64" + there[3:]:
            value = arguments.values[arguments.paths.index(name)]
            came = "a NumPy array" if isinstance(value, np.ndarray) else "a tensor"
            return f'float64 came in from {came}; nx.as_type({name}, "f32") keeps the compiled f32 program.'
    if len(differences) == 1:
        what, there, here = differences[0]
        kind, _, name = what.partition(" ")
        if kind in ("option", "captured") and _is_float(there) and _is_float(here):
            return (
                f"{name} is a number, and each new one makes a program of its own: if it keeps changing, pass it as a "
                "positional argument, and it will be compiled once."
            )
        if kind == "argument" and name in arguments.placed:
            return f"{name} is a static argument: each new value makes a program of its own."
        if kind == "argument" and name in arguments.fixed:
            return (
                f"The value of {name} is needed while tracing, as for a shape or an axis: each new value makes a "
                "program of its own."
            )
        if programs >= MANY and kind == "argument" and is_type(there) and is_type(here):
            return (
                f"{name} keeps changing: pad it to a few fixed shapes of one type, or group the calls by shape; each "
                "is traced once."
            )
        if programs >= MANY and kind == "option" and there != here:
            return (
                f"Each new value of the option {name} is a program of its own: keep to a few values, or declare it "
                "before `*` where it only feeds arithmetic."
            )
    return ""


def restless(function: str, before: Parts, after: Parts) -> str:
    """What to say of a function that changes what it depends on while it is traced: its program is of no use later."""
    changed = [what.partition(" ")[2] for what, _, _ in difference(before, after)]
    return (
        f"{function} changed {', '.join(changed) or 'what it captures'} while it was traced, so its program was not "
        "kept. Return values instead of storing them."
    )


def _is_float(text: str) -> bool:
    """Whether a text is that of a number with a fraction: whole numbers are often shapes, axes and counts."""
    try:
        float(text)
    except ValueError:
        return False
    return not text.lstrip("-").isdigit()


#: Where the code of a kernel would come from, in words.
_WHERE = {
    "compiled": "new",
    "memory": "from memory",
    "disk": "from disk",
    "program": "part of the loop around it",
    "library": "library code",
}


@dataclass(frozen=True)
class Explanation:
    """What a call would do.

    Parameters
    ----------
    function : str
    hit : bool
        Whether a program is there.
    difference : tuple of str
        From the closest program before; ``("first call",)`` when there is none.
    kernels : tuple of (str, str)
        For a call that would be traced: each kernel, and whether it would be ``"compiled"``, come from ``"memory"`` or
        ``"disk"``, be part of the ``"program"`` of a loop, or that of a ``"library"``.
    closest : str
        Where and when the closest program was made, and how many calls it answered.
    program : str
        Of one without kernels, such as a loop of single numbers: where its code would come from.
    """

    function: str
    hit: bool
    difference: tuple[str, ...]
    kernels: tuple[tuple[str, str], ...]
    closest: str
    program: str = "compiled"

    def __str__(self) -> str:
        if self.hit:
            return f"{self.function}: answered from the cache\n  {self.closest}"
        origins = [where for _, where in self.kernels] or [self.program]
        reused = "every kernel" if self.kernels else f"its code, {_WHERE.get(self.program)}"
        verb = "would be traced, and reuse " + reused
        if "compiled" in origins or "program" in origins:
            verb = "would compile"
        lines = [f"{self.function} {verb}: {'; '.join(self.difference)}"]
        for number, (title, where) in enumerate(self.kernels, start=1):
            lines.append(f"kernel {number} ({title}): {_WHERE[where]}")
        if self.closest:
            lines.append(f"closest: {self.closest}")
        return "\n  ".join(lines)

    __repr__ = __str__


def hit(function: str, program: Program) -> Explanation:
    """What a call would do that a program answers."""
    return Explanation(function, True, (), (), _history(program))


def miss(
    function: str, closest: Closest, edited: bool, graph: Graph | None, compiler: str = "numba_cpu"
) -> Explanation:
    """What a new call would do.

    Parameters
    ----------
    function : str
    closest, edited
        As for :func:`reason`.
    graph : Graph, optional
        What it would be traced to; None where a compiler makes no kernels.
    compiler : str, optional
        Its name.
    """
    kernels: tuple[tuple[str, str], ...] = ()
    program = "compiled"
    if graph is not None:
        if devices.is_for_devices(compiler):
            from nxkernel.compilers.numba_cuda.planning import foresee
        else:
            from nxkernel.compilers.numba_cpu.planning import foresee, whereabouts

        kernels = tuple((kernel.title, kernel.origin) for kernel in launches.joined(foresee(graph))[0])
        if not kernels and not devices.is_for_devices(compiler):
            program = whereabouts(graph)
    last = _history(closest[0]) if closest else ""
    return Explanation(function, False, reason(closest, edited), kernels, last, program)


def _history(program: Program) -> str:
    seconds = max(time.time() - program.made, 0)
    ago = counted(round(seconds), "second") if seconds < 120 else counted(round(seconds / 60), "minute")
    where = f" in {program.where}" if program.where else ""
    return f"compiled {ago} ago{where}, called {counted(program.calls, 'time')}"


def view(name: str, program: Program, given: Sequence[np.ndarray] | None = None) -> CompilationView:
    """A program as data for display, with what it takes on some inputs where they are given."""
    executable = program.executable
    graph = executable.graph
    values = list(map(node_with, graph.outputs, program.specs))
    names = names_of(graph)
    kernels, places = launches.joined(executable.kernels)
    launched = _launched(executable, places)
    return CompilationView(
        function=name,
        signature=program.signature,
        compiler=program.compiler,
        reason=program.reason,
        nodes=node_views(graph, _vectorized(program, graph), kernels),
        kernels=tuple(_kernel(number, kernel, names, launched) for number, kernel in enumerate(kernels)),
        calls=program.calls,
        cell=program.where,
        text=print_graph(values, graph.parameters),
        trace_ms=program.trace_ms,
        lower_ms=executable.lower_ms,
        native_ms=executable.native_ms,
        baked=tuple(_baked(program)),
        key=program.parts,
        steps=functools.cache(lambda: steps.views(graph)),
        # The lines of all that was traced, whatever of it is left.
        sources=lambda: sources.views(graph.traced or graph),
        measure=lambda: launches.measured(measuring.measured(executable), places),
        measurement=None if given is None else launches.measured(measuring.measured(executable, given), places),
    )


def compared(one: CompilationView, other: CompilationView) -> tuple[str, ...]:
    """How the keys of two compilations differ, in lines, from the first to the second."""
    return tuple(_line(*part) for part in difference(one.key, other.key))


def _baked(program: Program) -> Iterable[str]:
    """What of a key is a value, and neither an array, whose values are read, nor code."""
    for what, (state, text) in program.parts.items():
        named = text.startswith(_NAMED) or (what.startswith("captured ") and is_code(state))
        if what != "compiler" and not is_type(text) and not named:
            yield f"{what} = {text}"


_NAMED = ("code ", "class ", "module ")
_TYPE = re.compile(r"(vectorized|bool|bf16|[a-z]\d+)\b(?!['\"])")


def is_type(text: str) -> bool:
    """Whether a text of a key is that of a type and shape, and not of a value.

    Examples
    --------
    >>> is_type("f32[3]"), is_type("s64 (a Python int)"), is_type("0.5"), is_type("'f32'")
    (True, True, False, False)
    """
    return _TYPE.match(text) is not None


def _vectorized(program: Program, graph: Graph) -> dict[Expr, str]:
    """The specs of arguments, captured tensors and results that have vectorized axes."""
    found = {
        node: str(spec) for node, spec in zip(graph.outputs, program.specs, strict=True) if type(spec) is VectorizedSpec
    }
    for node in graph.parameters:
        role = "captured" if node.params["captured"] else "argument"
        _, text = program.parts.get(f"{role} {node.params['name']}", (None, ""))
        if text.startswith("vectorized"):
            found[node] = text
    return found


def _launched(executable: Any, places: Sequence[int]) -> dict[int, str]:
    """Of each kernel for people how a GPU launches it; of one that stands for several how the first."""
    if not hasattr(executable, "device"):
        return {}
    from nxkernel.compilers.numba_cuda.occupancy import launches_told

    found: dict[int, str] = {}
    for number, told in sorted(launches_told(executable).items()):
        found.setdefault(places[number], told)
    return found


def _kernel(number: int, kernel: KernelRecord, names: dict[Expr, str], launched: dict[int, str]) -> KernelView:
    texts = kernel.texts
    meaning = [text for node in kernel.nodes if (text := _in_numpy(node, names))]
    if meaning and "Numba source" not in texts:
        texts = {"NumPy": lambda: "\n".join(meaning), **texts}
    return KernelView(
        number, kernel.kind, kernel.title, kernel.symbol, kernel.origin, kernel.milliseconds, kernel.moved,
        kernel.operations, texts, launched.get(number, ""),
    )  # fmt: skip


def _in_numpy(node: Expr, names: dict[Expr, str]) -> str:
    """A whole operation as a statement, with the names of the printed graph; nothing for other nodes."""
    given = [constant_text(o) if o.primitive is p.constant else names.get(o, "x") for o in node.operands]
    text = wholes.in_numpy(node, given)
    return text and f"{names.get(node, 'y')} = {text}"
