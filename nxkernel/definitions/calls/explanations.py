"""Explanations of calls: why one compiled again (`why`), and programs as data for display."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nxkernel import primitives as p
from nxkernel.compilers import registry
from nxkernel.compilers.display import opaque_operations
from nxkernel.compilers.interface import Executable, KernelRecord
from nxkernel.definitions.calls.arguments import CallArguments
from nxkernel.definitions.calls.graph_cache import PROGRAMS, CachedProgram, CacheEntryGroup
from nxkernel.definitions.calls.key_changes import MADE_ANEW, Change, changes, is_type, lines
from nxkernel.definitions.calls.recompilation_advice import Declared, advice, unwatched
from nxkernel.definitions.keys.static_values import is_code
from nxkernel.definitions.observe import graph_stages, kernel_timing, launch_groups, source_functions
from nxkernel.definitions.observe.compilation_report import CompilationView, KernelView
from nxkernel.definitions.observe.node_records import names_of, node_views
from nxkernel.graph.expr import Expr, Graph, node_with
from nxkernel.graph.printing import constant_text, print_graph
from nxkernel.messages.grammar import counted
from nxkernel.operand import VectorizedSpec

#: How many kinds of loops are told that a new shape takes.
_LOOPS = 3


@dataclass(frozen=True)
class Case:
    """Why a call is new: what `why` says before it, and its event after it.

    Parameters
    ----------
    reason : tuple of Change
        What differs from the closest call before.
    closest : CachedProgram or None
        The program of that.
    advice : str
        What the person could change, when there is something.
    """

    reason: tuple[Change, ...]
    closest: CachedProgram | None
    advice: str


def case(family: CacheEntryGroup, arguments: CallArguments, declared: Declared) -> Case:
    """Why a call is new to a function that has no program for it."""
    if arguments.anew:
        found = [f"{label}: {what}, is read anew at each call" for label, what in arguments.anew.items()]
        return Case(tuple([Change.saying(text, "unwatched") for text in found]), None, unwatched(arguments.anew))
    parts = arguments.parts()
    closest = family.closest(parts)
    found = changes(closest.parts, parts) if closest is not None else []
    told = advice(found, arguments, declared, len(family.programs()))
    if family.unkept is not None and closest is family.unkept[0]:
        told = family.unkept[1]
    if family.was_dropped(arguments.ident):
        dropped = f"its program was dropped: the function had more than {PROGRAMS}, and it was unused for longest"
        return Case((Change.saying(dropped, "evicted"),), closest, told)
    if closest is None:
        return Case(_first(family), None, "")
    return Case(lines(found) or (Change.saying(MADE_ANEW, "anew"),), closest, told)


def _first(family: CacheEntryGroup) -> tuple[Change, ...]:
    """The reason for a call of a function that has no programs."""
    if not family.before or family.before == family.content:
        return (Change.saying("first call", "first"),)
    (code, way, face), (old_code, old_way, old_face) = family.content.split(), family.before.split()
    if code != old_code:
        return (Change.saying("first call since its code changed", "first"),)
    if face != old_face:
        return (Change.of("", ["promotion"], "value", repr(old_face), repr(face)),)
    return (Change.of("", ["made by"], "value", _MADE_BY[old_way], _MADE_BY[way]),)


_MADE_BY = {"syntax": "nx.defn", "plain": "nx.jit"}


def other_loops(told: Case, kernels: Sequence[KernelRecord]) -> tuple[str, ...]:
    """A note on a call that only has other shapes, for which other loops are best than for those before.

    Parameters
    ----------
    told : Case
    kernels : sequence of KernelRecord
        Those of the call's program.
    """
    only_shapes = told.reason and all(
        change.kind == "type" and change.there.partition("[")[0] == change.here.partition("[")[0]
        for change in told.reason
    )
    if told.closest is None or not only_shapes:
        return ()
    before = told.closest.executable.kernels
    known, new = ({kernel.symbol for kernel in each} for each in (before, kernels))
    here = [_loops(kernel) for kernel in kernels if kernel.symbol not in known]
    there = [_loops(kernel) for kernel in before if kernel.symbol not in new]
    if not here or not there:
        return ()
    shown = [", ".join(list(dict.fromkeys(each))[:_LOOPS]) for each in (there, here)]
    return (f"The new shape takes other loops: {shown[0]} → {shown[1]}.",)


def _loops(kernel: KernelRecord) -> str:
    return kernel.title.partition(",")[0]


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
        ``"disk"``, be part of the ``"program"`` of a loop, or that of a ``"library"``. The loops and choices of a
        program are the last one.
    closest : str
        Where and when the closest program was made, and how many calls it answered.
    advice : str
        What the person could change so that the call is answered, when there is something.
    notes : tuple of str
        How the function would be traced, and into what loops, where that may surprise.
    """

    function: str
    hit: bool
    difference: tuple[str, ...]
    kernels: tuple[tuple[str, str], ...]
    closest: str
    advice: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.hit:
            return f"{self.function}: answered from the cache\n  {self.closest}"
        lines = [f"{self.function} {self._verb()}: {'; '.join(self.difference)}"]
        for number, (title, where) in enumerate(self.kernels, start=1):
            lines.append(f"kernel {number} ({title}): {_WHERE[where]}")
        if self.closest:
            lines.append(f"closest: {self.closest}")
        return "\n  ".join([*lines, *([self.advice] if self.advice else []), *self.notes])

    def _verb(self) -> str:
        if any(where == "compiled" for _, where in self.kernels):
            return "would compile"
        return "would be traced, and reuse every kernel" if self.kernels else "would be traced"

    __repr__ = __str__


def hit(function: str, program: CachedProgram) -> Explanation:
    """What a call would do that a program answers."""
    return Explanation(function, True, (), (), _history(program))


def miss(function: str, told: Case, graph: Graph | None, compiler: str, notes: tuple[str, ...]) -> Explanation:
    """What a new call would do.

    Parameters
    ----------
    function : str
    told : Case
    graph : Graph or None
        What it would be traced to; None where that cannot be known before.
    compiler : str
        What would make a program of that.
    notes : tuple of str
        Of the trace.
    """
    kernels: list[KernelRecord] = []
    if graph is not None:
        kernels = launch_groups.joined(registry.get(compiler).foresee(graph))[0]
    shown = tuple((kernel.title, kernel.origin) for kernel in kernels)
    last = _history(told.closest) if told.closest is not None else ""
    notes = (*notes, *other_loops(told, kernels))
    return Explanation(function, False, told.reason, shown, last, told.advice, notes)


def _history(program: CachedProgram) -> str:
    seconds = max(time.time() - program.made, 0)
    ago = counted(round(seconds), "second") if seconds < 120 else counted(round(seconds / 60), "minute")
    where = f" in {program.where}" if program.where else ""
    return f"compiled {ago} ago{where}, called {counted(program.calls, 'time')}"


def view(name: str, program: CachedProgram, given: Sequence[np.ndarray] | None = None) -> CompilationView:
    """A program as data for display, with what it takes on some inputs where they are given."""
    executable = program.executable
    graph = executable.graph
    values = list(map(node_with, graph.outputs, program.specs))
    names = names_of(graph)
    kernels, places = launch_groups.joined(executable.kernels)
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
        steps=functools.cache(lambda: graph_stages.views(graph)),
        # The lines of all that was traced, whatever of it is left.
        sources=lambda: source_functions.views(graph.traced or graph),
        measure=lambda: launch_groups.measured(kernel_timing.measured(executable), places),
        measurement=None
        if given is None
        else launch_groups.measured(kernel_timing.measured(executable, given), places),
    )


def compared(one: CompilationView, other: CompilationView) -> tuple[str, ...]:
    """How the keys of two compilations differ, in lines, from the first to the second."""
    return lines(changes(one.key, other.key))


def _baked(program: CachedProgram) -> Iterable[str]:
    """What of a key is a value, and neither an array, whose values are read, nor code."""
    for what, (state, text) in program.parts.items():
        named = text.startswith(_NAMED) or (is_code(state) and not what.startswith("option "))
        if what != "compiler" and not is_type(text) and not named:
            yield f"{what} = {text}"


_NAMED = ("class ", "module ")


def _vectorized(program: CachedProgram, graph: Graph) -> dict[Expr, str]:
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


def _launched(executable: Executable, places: Sequence[int]) -> dict[int, str]:
    """Of each kernel for people how a GPU launches it; of one that stands for several how the first."""
    found: dict[int, str] = {}
    for number, told in sorted(executable.launches().items()):
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
    text = opaque_operations.in_numpy(node, given)
    return text and f"{names.get(node, 'y')} = {text}"
