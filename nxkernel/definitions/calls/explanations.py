"""Explanations of calls: why one compiled again, and what one would do (`why`)."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nxkernel.compilers import registry
from nxkernel.compilers.interface import KernelRecord
from nxkernel.definitions.calls.arguments import CallArguments
from nxkernel.definitions.calls.graph_cache import PROGRAMS, CachedProgram, CacheEntryGroup
from nxkernel.definitions.calls.recompilation_advice import Declared, advice, of_computed_numbers, unwatched
from nxkernel.definitions.observe import launch_groups
from nxkernel.definitions.observe.key_changes import MADE_ANEW, Change, changes, lines
from nxkernel.definitions.tracing.dialects import NUMPY
from nxkernel.graph.expr import Graph, NotedExpr
from nxkernel.messages.grammar import counted
from nxkernel.messages.line_wrapping import wrapped

#: How many kinds of loops a note on a new shape names.
_LOOPS = 3


@dataclass(frozen=True)
class CacheMiss:
    """Why a call missed the graph cache: for `why` before the call, and for the event after it.

    Parameters
    ----------
    reason : tuple of Change
        The differences from the closest program.
    closest : CachedProgram or None
        The program whose key differs least.
    advice : str
        What the user could change, if there is something.
    """

    reason: tuple[Change, ...]
    closest: CachedProgram | None
    advice: str


def cache_miss(entry_group: CacheEntryGroup, arguments: CallArguments, declared: Declared) -> CacheMiss:
    """Compare a call that has no program with the closest one that has, and say what to do about it."""
    if arguments.anew:
        changed = [f"{label}: {what}, is read anew at each call" for label, what in arguments.anew.items()]
        return CacheMiss(tuple([Change.saying(text, "unwatched") for text in changed]), None, unwatched(arguments.anew))
    parts = arguments.parts()
    closest = entry_group.closest(parts)
    changed = changes(closest.parts, parts) if closest is not None else []
    hint = advice(changed, arguments, declared, len(entry_group.programs()))
    if entry_group.unkept is not None and closest is entry_group.unkept[0]:
        hint = entry_group.unkept[1]
    if entry_group.was_dropped(arguments.ident):
        dropped = f"its program was dropped: the function had more than {PROGRAMS}, and it was unused for longest"
        return CacheMiss((Change.saying(dropped, "evicted"),), closest, hint)
    if closest is None:
        return CacheMiss(_first(entry_group), None, "")
    return CacheMiss(lines(changed) or (Change.saying(MADE_ANEW, "anew"),), closest, hint)


def other_values(program: CachedProgram, values: Sequence[int]) -> CacheMiss:
    """Why a call has no program whose key has one: it was traced for other numbers than it computes for the call."""
    check = program.convention.checked_values
    if check is None or check.agreed(values) == min(len(check.values), len(values)):
        return CacheMiss((Change.saying(MADE_ANEW, "anew"),), program, "")
    where, before, now = check.change(values)
    text = f"a number that the program computes: {before} → {now} ({where})"
    return CacheMiss((Change.saying(text, "computed"),), program, of_computed_numbers(len(program.by_values)))


def _first(entry_group: CacheEntryGroup) -> tuple[Change, ...]:
    """The reason for a miss of a function that has no programs yet."""
    if not entry_group.before or entry_group.before == entry_group.content:
        return (Change.saying("first call", "first"),)
    code, way, promotion = entry_group.content.split()
    old_code, old_way, old_promotion = entry_group.before.split()
    if code != old_code:
        return (Change.saying("first call since its code changed", "first"),)
    if promotion != old_promotion:
        return (Change.of("", ["promotion"], "value", old_promotion, promotion),)
    return (Change.of("", ["made by"], "value", _MADE_BY[old_way], _MADE_BY[way]),)


_MADE_BY = {"syntax": "nx.defn", "plain": "nx.jit"}


def other_loops(cause: CacheMiss, kernels: Sequence[KernelRecord]) -> tuple[str, ...]:
    """A note for a call that differs in shapes alone, if the new shapes get other loops than the old ones.

    Parameters
    ----------
    cause : CacheMiss
    kernels : sequence of KernelRecord
        The kernels of the new program.
    """
    only_shapes = cause.reason and all(
        change.kind == "type" and change.there.partition("[")[0] == change.here.partition("[")[0]
        for change in cause.reason
    )
    if cause.closest is None or not only_shapes:
        return ()
    before = cause.closest.executable.kernels
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
#: As many kernels in a row that are parts of a loop are told one by one.
_MOST_PARTS = 2


@dataclass(frozen=True)
class Explanation:
    """What a call would do: hit or miss, why, and the kernels that it would run.

    Parameters
    ----------
    function : str
    hit : bool
        Whether a program is there.
    difference : tuple of str
        The differences from the closest program; ``("first call",)`` if there is none.
    kernels : tuple of (str, str)
        For a call that would be traced: each kernel, and whether it would be ``"compiled"``, come from ``"memory"`` or
        ``"disk"``, be part of the ``"program"`` of a loop, or that of a ``"library"``. All loops and branches of a
        program together are the last one.
    closest : str
        Where and when the closest program was compiled, and how many calls it has answered.
    advice : str
        What the user could change so that the call hits the cache, if there is something.
    notes : tuple of str
        Notes on the trace, such as on unrolled loops.
    rules : str
        Whose rules of types hold, and what says so.
    """

    function: str
    hit: bool
    difference: tuple[str, ...]
    kernels: tuple[tuple[str, str], ...]
    closest: str
    advice: str = ""
    notes: tuple[str, ...] = ()
    rules: str = ""

    def __str__(self) -> str:
        if self.hit:
            return "\n  ".join(filter(None, [f"{self.function}: answered from the cache", self.closest, self.rules]))
        lines = [f"{self.function} {self._verb()}: {'; '.join(self.difference)}"]
        number = 1
        for where, group in itertools.groupby(self.kernels, key=lambda kernel: kernel[1]):
            titles = [title for title, _ in group]
            if where == "program" and len(titles) > _MOST_PARTS:
                lines.append(f"kernels {number} to {number + len(titles) - 1}: parts of the loop around them")
            else:
                lines += [f"kernel {at} ({title}): {_WHERE[where]}" for at, title in enumerate(titles, start=number)]
            number += len(titles)
        if self.closest:
            lines.append(f"closest: {self.closest}")
        return "\n  ".join([*lines, *filter(None, (self.rules, self.advice)), *self.notes])

    def _verb(self) -> str:
        if any(where == "compiled" for _, where in self.kernels):
            return "would compile"
        return "would be traced, and reuse every kernel" if self.kernels else "would be traced"

    __repr__ = __str__

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(wrapped(str(self)))


def hit(function: str, program: CachedProgram, rules: str) -> Explanation:
    """The explanation of a call that has a program."""
    return Explanation(function, True, (), (), _history(program), rules=rules)


def miss(
    function: str, cause: CacheMiss, graph: Graph | None, compiler: str, notes: tuple[str, ...], rules: str
) -> Explanation:
    """The explanation of a call that has none.

    Parameters
    ----------
    function : str
    cause : CacheMiss
    graph : Graph or None
        The traced graph; None if a trace cannot be undone.
    compiler : str
        The compiler that it is for.
    notes : tuple of str
        The notes of the trace.
    rules : str
    """
    kernels: list[KernelRecord] = []
    if graph is not None:
        kernels = launch_groups.joined(registry.get(compiler).foresee(graph))[0]
    shown = tuple((kernel.title, kernel.origin) for kernel in kernels)
    last = _history(cause.closest) if cause.closest is not None else ""
    notes = (*notes, *other_loops(cause, kernels))
    return Explanation(function, False, cause.reason, shown, last, cause.advice, notes, rules)


def _history(program: CachedProgram) -> str:
    seconds = max(time.time() - program.made, 0)
    ago = counted(round(seconds), "second") if seconds < 120 else counted(round(seconds / 60), "minute")
    where = f" in {program.where}" if program.where else ""
    return f"compiled {ago} ago{where}, called {counted(program.calls, 'time')}"


class TracedFunction:
    """What :func:`nxkernel.debug_expr` gives: called with the arguments of a function, it gives the traced expression.

    Parameters
    ----------
    definition : Definition
    function : callable
        Whose name and documentation it has.
    """

    def __init__(self, definition: Any, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function, updated=())
        self._definition = definition

    @property
    def rules(self) -> str:
        """Whose rules of types hold and what says so, as a definition tells it."""
        return self._definition.rules

    def __call__(self, *args: Any, **opts: Any) -> Any:
        """The traced expression of a call: traced values, in the containers that the function returns."""
        definition = self._definition
        arguments = definition._bind(args, opts, templates=True)
        graph = definition._trace(arguments)[0].graph
        if arguments.dialect != NUMPY:
            return graph.rebuild(graph.outputs)
        rules = definition._told(arguments.dialect)
        return graph.rebuild([NotedExpr(node, rules) for node in graph.outputs])

    def __repr__(self) -> str:
        return f"<expression of {repr(self._definition).removeprefix('<')}"
