"""Loop unrolling at trace time: when, how far, and the warnings about it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.control.loop_iterables import Unrolled
from nxkernel.definitions.flow.retracing import MustUnrollError
from nxkernel.errors import NxError, NxTypeError, TracedValueError, UnrolledWarning, message
from nxkernel.graph import tracing

#: The most iterations that are written out.
MOST = 10_000
#: So many of them are written out without a word.
FEW = 64
_NOTES = "notes"


def gathered(name: str, value: Any) -> str:
    """What to write instead of changing one of Python's objects in a loop."""
    if not isinstance(value, list):
        return ""
    return f"What a loop gathers goes into an array of its full size that is made before it: `{name}[i] = …`."


def reason(error: Exception) -> str:
    """Why a loop is not one of the compiled program."""
    if isinstance(error, MustUnrollError):
        return str(error)
    what = str(error).partition("\n")[0]
    if isinstance(error, TracedValueError):
        asked, found, _ = what.partition(" asks for the data")
        if found:
            return f"{asked[:1].lower()}{asked[1:]} is needed in it"
    return what.removesuffix(".")


class _Written:
    """The unrolled iterations of a trace, counted by loop.

    Attributes
    ----------
    plans : list
        Of the loops that are, as far as is known, each with an attribute `unroll`.
    turns : dict
        For the place of each, how many iterations, and why.
    """

    def __init__(self) -> None:
        self.plans: list[Any] = []
        self.turns: dict[tuple, list[Any]] = {}


def _written() -> _Written:
    trace = tracing.current()
    return _Written() if trace is None else trace.outermost.memory.setdefault("written out", _Written())


def keep(plan: Any) -> None:
    """Write a loop out from now on, without trying first."""
    plan.unroll = True
    _written().plans.append(plan)


def mark() -> tuple[int, dict[tuple, tuple], dict[Any, str]]:
    """The count of unrolled iterations at the beginning of a loop."""
    found, trace = _written(), tracing.current()
    said = {} if trace is None else trace.outermost.memory.get(_NOTES, {})
    return len(found.plans), {site: tuple(turns) for site, turns in found.turns.items()}, dict(said)


def undo(marked: tuple[int, dict[tuple, tuple], dict[Any, str]]) -> None:
    """Forget what was written out since: other loops in one that is written out itself need not be."""
    found, (kept, turns, said) = _written(), marked
    for plan in found.plans[kept:]:
        plan.unroll = False
    del found.plans[kept:]
    recount(marked)
    found.turns = {site: found.turns[site] for site in turns}
    trace = tracing.current()
    if trace is not None:
        trace.outermost.memory[_NOTES] = said


def recount(marked: tuple[int, dict[tuple, tuple], dict[Any, str]]) -> None:
    """Count from what was written out then: what has been traced since is traced anew."""
    turns = marked[1]
    for site, counted in _written().turns.items():
        counted[0] = turns[site][0] if site in turns else 0


class IterationCount:
    """Counts the iterations of a loop that is written out, in all runs of it in one trace, and warns when they are
    many.

    Parameters
    ----------
    site : Site
    body : callable
        What runs in an iteration: a function of the user's module.
    error : Exception or None
        Why it is no loop of the compiled program; None where it goes over a Python sequence.
    iterable : object, optional
    """

    def __init__(self, site: Any, body: Callable[..., Any], error: Exception | None, iterable: Any = None) -> None:
        self.count = 0
        self._site, self._body, self._iterable = site, body, iterable
        self._total = _written().turns.setdefault(tuple(site), [0, error])
        self._error = self._total[1]

    def another(self) -> None:
        """Count one more.

        Raises
        ------
        NxTypeError
            Where there are too many.
        """
        self.count += 1
        self._total[0] += 1
        if self.count > MOST:
            raise too_long(self._site, self._error)
        if self._total[0] == FEW + 1 and not isinstance(self._iterable, Unrolled):
            self._warn()

    def _warn(self) -> None:
        file, line, *_ = self._site
        text = message(
            f"{source_sites.name(self._site)}: this loop is written out turn by turn, more than {FEW} of them so far: "
            f"{self._why()}.",
            "Each turn becomes part of the program, and takes its time to trace and to compile.",
            *self._instead(),
            "`for i in nx.unroll(…)` says that it is meant to be.",
        )
        registry = getattr(self._body, "__globals__", {}).setdefault("__warningregistry__", {})
        warnings.warn_explicit(text, UnrolledWarning, file, line, registry=registry)

    def _why(self) -> str:
        if self._error is not None:
            return reason(self._error)
        return f"it goes over a Python {type(self._iterable).__name__}"

    def _instead(self) -> list[str]:
        """What the error says to write, or what makes a loop one of the program."""
        if self._error is None:
            return ["A loop over an array, or over range(n), is one of the program."]
        if isinstance(self._error, MustUnrollError):
            return [self._error.hint or _KEEP]
        hints = [line.strip() for line in str(self._error).split("\n")[1:]]
        if getattr(self._error, "pointed_out", False):
            hints = hints[-1:]
        return [hint for hint in hints if not hint.startswith(_GENERAL)] or [_KEEP]


_GENERAL = "While a definition is traced"
_KEEP = "Keep what it computes in tensors of one type and shape."


def note(site: Any, turns: int, error: Exception | None) -> None:
    """Have the event of the program that is being traced say that a loop was written out."""
    trace = tracing.current()
    if trace is None or error is None:
        return
    add_note(trace, tuple(site), f"{source_sites.name(site)}: this loop is written out {turns} times: {reason(error)}")


def add_note(trace: tracing.Trace, key: Any, text: str) -> None:
    """Have the event of a program say something of how it was traced, once for a key."""
    trace.outermost.memory.setdefault(_NOTES, {})[key] = text


def notes(trace: tracing.Trace) -> tuple[str, ...]:
    """What was noted in a trace."""
    return tuple(trace.outermost.memory.get(_NOTES, {}).values())


def loop_refusal(error: Exception, site: Any) -> Exception:
    """The error for a loop that would have to be written out and cannot be."""
    if not isinstance(error, MustUnrollError):
        return error
    or_ = "give it a number of turns that is known while it is traced: that of an option or of a shape."
    hints = [error.hint, f"Or {or_}"] if error.hint else [f"{_KEEP.removesuffix('.')}, or {or_}"]
    what = f"this loop cannot be compiled: {error}."
    return source_sites.error(NxTypeError, what, *source_sites.shown(site), *hints)


def too_long(site: Any, error: Exception | None) -> NxError:
    """The error for a loop that would be written out without end."""
    why = "" if error is None else f" because {reason(error)}"
    return source_sites.error(
        NxTypeError,
        f"this loop is written out while it is traced{why}, and takes more than {MOST} turns.",
        *source_sites.shown(site),
        "What it changes must be tensors, for it to become a loop of the compiled program.",
    )
