"""`try` in definitions: it runs while they are traced, and exceptions of Python's go to its handlers as in Python.

Whether an exception is raised may be up to the running program: a check of data raises it
(:mod:`nxkernel.definitions.flow.control.checks`), or a matrix cannot be factorized. Where a handler would catch it, the
`try` becomes a branch: its block is traced once with the exception raised, and once without.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.control import checks
from nxkernel.definitions.flow.control.branches import Words, if_
from nxkernel.definitions.flow.values.object_changes import ObjectWatch
from nxkernel.errors import NxError, NxTypeError
from nxkernel.graph import deferred_calls, tracing, values_of_call
from nxkernel.graph.expr import Expr
from nxkernel.linalg import linalg_errors
from nxkernel.ops.machinery.dispatch import apply

#: What ``int`` raises, and of which numbers.
_INTEGERS = (
    (ValueError, p.is_nan, "cannot convert float NaN to integer"),
    (OverflowError, p.is_infinity, "cannot convert float infinity to integer"),
)
#: Gives the class, or the tuple of classes, that a handler catches; None for one that catches everything.
Kind = Callable[[], Any] | None
_TRY = Words("this `try`", "this `try` and its handler", "whether an exception is raised")
_DIVISIONS = frozenset({p.divide, p.remainder, p.quotient, p.power})


class UndecidedError(BaseException):
    """Only the running program knows whether an exception is raised that a handler catches.

    Parameters
    ----------
    attempt : Attempt
    condition : Expr
        Whether it is.
    """

    def __init__(self, attempt: Attempt, condition: Any) -> None:
        super().__init__(condition)
        self.attempt, self.condition = attempt, condition


class Attempt:
    """One run of the block of a `try`, while it is traced.

    Parameters
    ----------
    kinds : sequence of callable
        What its handlers catch.
    site : Site
    decisions : sequence of bool
        Whether the first exceptions that are up to the running program are raised.
    results : dict
        By their number, the results of functions that may raise, which are computed once, and what they may raise.
    """

    #: What the handler catches that all handlers are written into.
    everything = BaseException

    def __init__(self, kinds: Sequence[Kind], site: Any, decisions: Sequence[bool], results: dict[int, Any]) -> None:
        self._kinds, self._site, self._decisions, self.results = kinds, site, decisions, results
        self._run: Any = tracing.current()
        #: How many exceptions were met that are up to the running program, and functions that may raise such.
        self.count = self.calls = 0

    def begin(self) -> None:
        """The block begins."""
        checks.attempts().append(self)

    def end(self) -> None:
        """The block is left, in whichever way."""
        active = checks.attempts()
        if self in active:
            del active[active.index(self) :]

    def catches(self, error: BaseException, kind: Kind = None) -> bool:
        """Whether a handler of some kind gets an exception that came while the block was traced."""
        if not checks.is_pythons(error) and not isinstance(error, NxError):
            return False
        if kind is not None and not isinstance(error, kind()):
            return False
        if checks.is_pythons(error):
            return True
        error.add_note(
            f"The `try` in {source_sites.name(self._site)} would catch it, but plain Python may raise nothing there."
        )
        return False

    def would_catch(self, kind: type[BaseException]) -> bool:
        """Whether a handler catches exceptions of a class."""
        return any(each is None or issubclass(kind, each()) for each in self._kinds)

    def names(self, kind: type[BaseException]) -> bool:
        """Whether a handler names a class, one below it, or one above it that is not Exception."""
        return any(
            issubclass(each, kind) or (issubclass(kind, each) and each not in (Exception, BaseException))
            for each in self._classes()
        )

    def is_raised(self, condition: Any) -> bool:
        """Whether an exception that a handler catches is raised in this run of the block.

        Raises
        ------
        UndecidedError
            Where that was not decided yet.
        """
        self.check_is_decided_here()
        decided = values_of_call.number(condition)
        if decided is not None:
            return bool(decided)
        number, self.count = self.count, self.count + 1
        if number < len(self._decisions):
            return self._decisions[number]
        raise UndecidedError(self, condition)

    def check_is_decided_here(self) -> None:
        """Refuse what may raise in a loop or branch inside of the block."""
        if tracing.current() is not self._run:
            raise source_sites.error(
                NxTypeError,
                "whether this `try` goes on in a handler is decided in a loop, or in a branch, that only the running "
                "program runs through.",
                *source_sites.shown(self._site),
                "Write what the handler does where it is decided, with `if`.",
            )

    def refuse_divisions(self, before: set[Expr]) -> None:
        """Refuse handlers for divisions by zero of Python's numbers, which programs do not tell of."""
        if self.names(ZeroDivisionError) and any(node.primitive in _DIVISIONS for node in self._run.weak - before):
            self.refuse("a division by zero", "ask for zero before, with `if`")

    def refuse(self, what: str, instead: str) -> None:
        """Refuse what raises in Python, and gives a value in a program."""
        raise source_sites.error(
            NxTypeError,
            f"this `try` catches what {what} raises, and the compiled program gives a value there.",
            *source_sites.shown(self._site),
            f"Do without `try`: {instead}.",
        )

    def _classes(self) -> list[type]:
        named = [each() for each in self._kinds if each is not None]
        return [each for kind in named for each in (kind if isinstance(kind, tuple) else (kind,))]


def try_(block: Callable[..., tuple], kinds: Sequence[Kind], values: tuple, names: Sequence[str], site: Any) -> tuple:
    """A `try`: its variables, as they are after it.

    Parameters
    ----------
    block : callable
        All of the statement, as a function of an :class:`Attempt` and the variables; returns their new values.
    kinds : sequence of callable
        What its handlers catch.
    values : tuple
    names : sequence of str
    site : Site
    """
    return _Try(block, tuple(kinds), names, site, {}).run((), values)


@dataclass(frozen=True)
class _Try:
    """A `try`, with the results of functions that may raise."""

    block: Callable[..., tuple]
    kinds: tuple[Kind, ...]
    names: Sequence[str]
    site: Any
    results: dict[int, Any]

    def run(self, decisions: tuple[bool, ...], values: tuple) -> tuple:
        """Run the block where the first exceptions that are up to the running program are decided."""
        run = tracing.current()
        attempt = Attempt(self.kinds, self.site, decisions, self.results)
        if run is None:
            return self.block(attempt, *values)
        undo, weak = _mark(run, self.block, values, self.names), set(run.weak)
        try:
            after = self.block(attempt, *values)
            attempt.refuse_divisions(weak)
            return after
        except UndecidedError as found:
            if found.attempt is not attempt:
                raise
            undo()
            condition = found.condition
        sides = _Side(self, (*decisions, True)), _Side(self, (*decisions, False))
        return if_(condition, *sides, values, self.names, self.site, words=_TRY)


class _Side:
    """A side of the branch that a `try` becomes."""

    def __init__(self, tried: _Try, decisions: tuple[bool, ...]) -> None:
        self._tried, self._decisions = tried, decisions
        # As methods have them: what watches functions, and tells their lines, looks into the block.
        self.__func__, self.__code__ = tried.block, tried.block.__code__

    def __call__(self, *values: Any) -> tuple:
        return self._tried.run(self._decisions, values)


def _mark(run: Any, block: Callable[..., tuple], values: tuple, names: Sequence[str]) -> Callable[[], None]:
    """What puts back all that a run of a block changes besides its own nodes."""
    watch = ObjectWatch((block,), zip(names, values, strict=True))
    later, failed = deferred_calls.entries(run), checks.mark()
    count, cells, written = len(later), dict(run.cells), set(getattr(run, "written", ()))

    def undo() -> None:
        watch.undo()
        del later[count:]
        for cell, now in list(run.cells.items()):
            run.cells[cell] = cells.get(cell, getattr(run, "entered", {}).get(cell, now))
        if hasattr(run, "written"):
            run.written.clear()
            run.written.update(written)
        failed()

    return undo


def are_active() -> bool:
    """Whether the block of a `try` is being traced."""
    run = tracing.current()
    return run is not None and bool(checks.attempts())


def refuse_unseen(kind: type[BaseException], what: str, instead: str) -> None:
    """Refuse what may raise in Python and gives a value here, where a handler names that exception."""
    for attempt in checks.attempts():
        if attempt.names(kind):
            attempt.refuse(what, instead)


def raise_of_integers(number: Any) -> None:
    """Raise what ``int`` raises of NaN and infinity: in a `try` that catches it, else when the program has run."""
    if not number.type.is_float:
        return
    later = []
    for kind, primitive, text in _INTEGERS:
        attempt = checks.catching(kind) if are_active() else None
        if attempt is None:
            later.append(primitive)
        elif attempt.is_raised(apply(primitive, number)):
            raise checks.by_user(kind(text))
    if later and deferred_calls.are_checked():
        wrong = functools.reduce(functools.partial(apply, p.logical_or), [apply(one, number) for one in later])
        deferred_calls.raise_if(wrong, [number], _no_integer)


def _no_integer(number: float) -> Exception:
    kind, _, text = _INTEGERS[not math.isnan(number)]
    return kind(text)


# LAPACK ----------------------------------------------------------------------------------------------------------


def guarded(function: Any, twin: Callable[..., Any]) -> Callable[..., Any]:
    """A function's replacement; in a `try` that catches a LinAlgError, one that raises that of NumPy's routines."""
    if not str(getattr(function, "__module__", "")).startswith(("numpy.linalg", "scipy.linalg")):
        return twin
    attempt = checks.catching(np.linalg.LinAlgError)
    return twin if attempt is None else functools.partial(_factorized, attempt, twin)


def _factorized(attempt: Attempt, twin: Callable[..., Any], *args: Any, **options: Any) -> Any:
    number, attempt.calls = attempt.calls, attempt.calls + 1
    if number not in attempt.results:
        found: list[tuple[Any, Any]] = []
        with linalg_errors.collecting(found):
            result = twin(*args, **options)
        if not any(attempt.would_catch(type(make())) for _, make in found):
            _tell_later(found)
            return result
        # Of a body that is given up nothing is kept.
        attempt.check_is_decided_here()
        attempt.results[number] = result, found
    result, found = attempt.results[number]
    _tell_later([(failed, make) for failed, make in found if not attempt.would_catch(type(make()))])
    for failed, make in found:
        error = make()
        if attempt.would_catch(type(error)) and attempt.is_raised(failed):
            raise checks.by_user(error)
    return result


def _tell_later(found: Sequence[tuple[Any, Any]]) -> None:
    for failed, make in found:
        deferred_calls.raise_if(failed, [], make)
