"""Checks of data: errors that the user's code raises on a condition that only the running program knows.

The program computes the condition and what the error tells of; the error is raised when it has run, as the user's
code would have raised it, and nothing else of the call is seen then. Two facts are carried by mutable cells of the
outermost trace, which loops and branches hand on: whether any check has failed, and for each check whether it was the
first one, with its values. What comes after a failed check is computed in vain; `while` loops end.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.retracing import LearntError, MustUnrollError, UndispatchedError
from nxkernel.definitions.keys import argument_errors, source_locations
from nxkernel.definitions.outputs.raised_again import Line, raised_at
from nxkernel.errors import CompilationError, NxError, NxValueError, TracedValueError
from nxkernel.graph import deferred_calls, python_numbers, tracing, values_of_call
from nxkernel.graph.expr import constant
from nxkernel.graph.tracing import MutableCell
from nxkernel.numpy.arrays.array import ArrayValue
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.machinery.dispatch import apply, convert, operand, spread
from nxkernel.ops.programs.control_flow import choose, scalar
from nxkernel.ops.reductions import reduction
from nxkernel.ops.shapes import gathering

#: Where an exception that traced code made keeps how: a function that records it, with the leaves that it needs.
_ORIGIN = "__nx_origin__"
#: What is raised to trace again.
_OF_TRACING = (UndispatchedError, LearntError, MustUnrollError)
#: Under which key the outermost trace remembers in which one the cells of checks begin.
_OWNER = "owner of the checks"
#: What the cells of checks are called, and those of the tokens of what is said.
_CELL, SAID = "a check", "what is said"
#: Under which key it remembers what writes to the cells of faults.
FAULTS = "faults"
#: Under which key the outermost trace remembers the cells that count turns, by the bodies of loops.
_TURNS = "turns of loops"
#: Under which key the outermost trace remembers the blocks of `try` that are being traced.
_ATTEMPTS = "attempts"
#: Under which key the outermost trace remembers the cell that tells whether a check has failed.
_FAILED = "whether a check has failed"
#: The module whose functions run what is traced.
_TRACER = "nxkernel.definitions.tracing.trace"
#: Makes an exception of the values that a program has computed.
Maker = Callable[[tuple], BaseException]


class RaisingSideError(BaseException):
    """One side of a branch raises an error of the user's: the branch is a check.

    Parameters
    ----------
    error : Exception
    """

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class Around(NamedTuple):
    """What a number of a failed check tells: in which "turn" of a loop it failed, for which "entry", or at which
    "element" of a shape.
    """

    kind: str
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class FailedCheck:
    """Raises the error of a check when the program has run and the check has failed.

    Parameters
    ----------
    make : callable
        Makes the error of the leaves that the program has computed for it.
    count : int
        How many these are; those of its cause come after them.
    cause : FailedCheck or None
        What the error was raised from.
    hides_context : bool
        Whether it was raised ``from`` something.
    trail : tuple of Line
        The lines of the user's that lead to the `raise`, the outermost first.
    around : tuple of Around
        What the last leaves tell, of which a note is made.
    """

    make: Maker
    count: int = 0
    cause: FailedCheck | None = None
    hides_context: bool = False
    trail: tuple[Line, ...] = ()
    around: tuple[Around, ...] = ()

    #: Whether the caller's arrays are to be as they were where this is called.
    raises = True
    #: Whether the first value tells if there is anything to be done.
    has_flag = True

    def __call__(self, leaves: tuple) -> None:
        """Raise the error."""
        count = len(leaves) - len(self.around)
        error = self.error(leaves[:count])
        if self.around:
            error.add_note(told([(each, int(leaf)) for each, leaf in zip(self.around, leaves[count:], strict=True)]))
        raised_at(error, self.trail)

    def error(self, leaves: tuple) -> BaseException:
        """The error, with these values."""
        error = self.make(leaves[: self.count])
        error.__cause__ = None if self.cause is None else self.cause.error(leaves[self.count :])
        error.__suppress_context__ = self.hides_context
        return error


@dataclass(frozen=True)
class _Copy:
    """Makes an error like one that was there while tracing."""

    error: BaseException

    def __call__(self, leaves: tuple) -> BaseException:
        return copy.copy(self.error)


def told(around: Sequence[tuple[Around, int]]) -> str:
    """Where a check has failed, as a line of text.

    Examples
    --------
    >>> told([(Around("element", (2, 3)), 4), (Around("turn"), 7), (Around("turn"), 2), (Around("entry"), 0)])
    'At [1, 1], in turn 7 of the loop, in turn 2 of the loop around it, for entry 0 of what is mapped.'
    """
    words, met = [], set()
    for (kind, shape), number in around:
        where = " around it" if kind in met else ""
        met.add(kind)
        if kind == "element":
            words.append(f"at [{', '.join(map(str, np.unravel_index(number, shape)))}]")
        elif kind == "turn":
            words.append(f"in turn {number} of the loop{where}")
        else:
            words.append(f"for entry {number} of what is mapped{where}")
    text = ", ".join(words)
    return f"{text[0].upper()}{text[1:]}."


def came_from(error: BaseException, make: Maker, leaves: tuple) -> BaseException:
    """Remember on an exception how it is made of the values of a program; returns it."""
    setattr(error, _ORIGIN, (make, leaves))
    return error


def is_raised(error: BaseException) -> bool:
    """Whether the user's code has raised an error by a statement of its own."""
    if isinstance(error, NxError) or not isinstance(error, Exception) or values_of_call.is_of_call(error):
        return False
    if hasattr(error, _ORIGIN):
        return True
    trail = error.__traceback__
    while trail is not None and trail.tb_next is not None:
        trail = trail.tb_next
    own = trail is not None and source_locations.is_users(trail.tb_frame.f_code.co_filename)
    # An import fails at its own line, as plain Python's does there.
    return own and (isinstance(error, ImportError) or source_sites.is_raised(error))


def by_user(error: BaseException) -> BaseException:
    """Mark an exception as one that the user's code would raise; returns it."""
    return came_from(error, _Copy(error), ())


def is_pythons(error: BaseException) -> bool:
    """Whether an exception that came while tracing would come in plain Python, too.

    Other ones are raised to trace again, or say that nxkernel cannot do something.
    """
    if not isinstance(error, Exception) or isinstance(error, _OF_TRACING) or values_of_call.is_of_call(error):
        return False
    if hasattr(error, _ORIGIN):
        return True
    if isinstance(error, AttributeError) and isinstance(error.obj, ArrayValue):
        return not (hasattr(np.ndarray, error.name) or hasattr(np.generic, error.name))
    if not isinstance(error, NxError):
        return not argument_errors.is_of_traced(error)
    if types.follows_numpy() and type(error) is NxValueError:
        # Shapes, places and numbers that do not fit, of which NumPy says so, too; what it can do is refused otherwise.
        return True
    # By Nx's rules, a call that runs at once raises it, too.
    at_once = not (types.follows_numpy() or isinstance(error, TracedValueError | CompilationError))
    return error.of_python or (at_once and not getattr(error, "pointed_out", False))


def attempts() -> list[Any]:
    """The blocks of `try` that are being traced, the innermost last."""
    return tracing.current().outermost.memory.setdefault(_ATTEMPTS, [])


def catching(kind: type[BaseException]) -> Any:
    """The innermost `try` that catches exceptions of a class; None where there is none."""
    run = tracing.current()
    active = () if run is None else run.outermost.memory.get(_ATTEMPTS, ())
    return next((attempt for attempt in reversed(active) if attempt.would_catch(kind)), None)


def has_failed() -> Any:
    """Whether a check has failed so far, as a value of the program."""
    return tracing.current().read(_failed())


def is_first_failure(fails: Any) -> Any:
    """Whether something that fails here, as a value of the program, is the first that does; from now on one has."""
    run, cell = tracing.current(), _failed()
    before = run.read(cell)
    run.write(cell, run.node(apply(p.logical_or, before, fails)))
    return apply(p.logical_and, fails, apply(p.logical_not, before))


def new_cell(value: Any) -> MutableCell:
    """A cell that begins with a value where those of checks do."""
    cell = MutableCell(_CELL)
    _owner().write(cell, value)
    return cell


def has_failed_for_call() -> bool:
    """Whether a check has failed before for the call, where a trace that asks for its numbers cannot go on."""
    run = tracing.current()
    cell = run.outermost.memory.get(_FAILED)
    return cell is not None and bool(values_of_call.number(run.read(cell)))


def mark() -> Callable[[], None]:
    """What undoes that a check has failed since."""
    run = tracing.current()
    cell = _failed()
    before = run.read(cell)
    return lambda: run.write(cell, before)


def forget_later(run: Any) -> Callable[[], Any]:
    """As :func:`mark`, where there may be no check yet; what undoes it is called in the same trace."""
    memory = run.outermost.memory
    return mark() if _FAILED in memory else lambda: memory.pop(_FAILED, None)


def has_values(error: BaseException) -> bool:
    """Whether the text of an error has values that only the running program knows."""
    return bool(getattr(error, _ORIGIN, (None, ()))[1])


def record(error: BaseException, around: Sequence[tuple[Around, Any]] | None = None) -> None:
    """Have an error raised when the program has run, if it comes by here and no check has failed before.

    Parameters
    ----------
    error : Exception
        As the user's code has raised it while it was traced.
    around : sequence of (Around, traced value), optional
        What a note tells of, besides turns of loops; without it there is none.
    """
    run = tracing.current()
    check, leaves = _check(error, trail_of(error))
    if around is not None:
        around = [*around, *((Around("turn"), number) for number in turns(run))]
        check = dataclasses.replace(check, around=tuple([each for each, _ in around]))
        leaves = (*leaves, *(number for _, number in around))
    nodes = [run.node(alone(operand(leaf))) for leaf in leaves]
    _keep(check, nodes)


def turns(run: Any, most: int | None = None) -> list[Any]:
    """In which turns the loops around what is being traced are, from 1 on, the innermost first, `most` of them."""
    found, cells, trace = [], run.outermost.memory.setdefault(_TURNS, {}), run
    while trace.previous is not None and len(found) != most:
        if trace.is_turn:
            _, cell = cells.setdefault(id(trace), (trace, MutableCell(_CELL)))
            if not trace.knows(cell):
                trace.previous.write(cell, constant(0, types.s64))
                with tracing.recording_in(trace):
                    trace.write(cell, apply(p.add, trace.read(cell), constant(1, types.s64)))
            found.append(run.read(cell))
        trace = trace.previous
    return found


def _keep(check: FailedCheck, nodes: Sequence[Any]) -> None:
    """Have a check raise its error of these values, if no check has failed before."""
    run = tracing.current()
    owner, failed = _owner(), _failed()
    is_first = apply(p.logical_not, run.read(failed))
    cells = [MutableCell(_CELL) for _ in (is_first, *nodes)]
    for cell, node in zip(cells, (is_first, *nodes), strict=True):
        owner.write(cell, constant(False if node is is_first else 0, *node.spec))
        # In a loop, a later turn may come by here, too.
        if node is not is_first and not run.runs_once:
            node = apply(p.select, spread(is_first, node.shape), node, run.node(run.read(cell)))
        elif node is is_first and not run.runs_once:
            node = apply(p.logical_or, node, run.node(run.read(cell)))
        run.write(cell, run.node(node))
    run.write(failed, constant(True, types.bool_))
    loop = deferred_calls.outermost_loop(run)
    deferred_calls.entries(run).append(deferred_calls.RecordedCall(check, tuple(cells), in_branch=True, loop=loop))


def _check(error: BaseException, trail: tuple[Line, ...] = ()) -> tuple[FailedCheck, tuple]:
    """What raises an error like this one, and the leaves for it."""
    make, leaves = getattr(error, _ORIGIN, (_Copy(error), ()))
    cause, more = (None, ()) if error.__cause__ is None else _check(error.__cause__)
    return FailedCheck(make, len(leaves), cause, error.__suppress_context__, trail), (*leaves, *more)


def going_on(condition: Any, differs: Any) -> Any:
    """The condition of a loop, which ends where what is computed may never fulfill it.

    Parameters
    ----------
    condition : operand
        An error that is raised after the run ends the loop, too.
    differs : operand or None
        Whether the program is one for other numbers than those of the call.
    """
    run = tracing.current()
    failed = run.outermost.memory.get(_FAILED)
    for ends in (None if failed is None else run.read(failed), *deferred_calls.raised_before(run), differs):
        if ends is not None:
            going = scalar(condition, "the condition of this loop")
            condition = apply(p.logical_and, going, apply(p.logical_not, ends))
    return condition


def answers_differ() -> Any:
    """Whether numbers that the trace has asked for are other ones in the program; None where it has asked for none."""
    run = tracing.current()
    asked = values_of_call.questions(run)
    if not asked:
        return None
    key = ("whether answers differ", len(asked))
    if key not in run.memory:
        found = [reduction.any(comparison.not_equal(question.node, _numbers(question.answer))) for question in asked]
        run.memory[key] = functools.reduce(functools.partial(apply, p.logical_or), found)
    return run.memory[key]


def _numbers(values: np.ndarray) -> Any:
    """Whole numbers as a value of the program."""
    return constant(int(values), types.s64) if not values.shape else operand(values)


class InnerChecks:
    """A context for tracing a function on its own, whose checks become those of the program around it.

    Where it runs for many entries, the first of these that fails counts. What it says is said by the program around it,
    too.

    Attributes
    ----------
    leaves : list
        What the function has to give besides its result.
    """

    def __init__(self) -> None:
        self.leaves: list[Any] = []
        self._checks: list[tuple[FailedCheck, int]] = []
        #: What orders what is said around the function.
        self._tokens: list[MutableCell] = []

    def __enter__(self) -> InnerChecks:
        self._run = tracing.current()
        self._run.is_closed = False
        memory = self._run.outermost.memory
        self._before = {name: memory.pop(name, None) for name in (_OWNER, _FAILED, _ATTEMPTS, FAULTS)}
        memory[_OWNER] = self._run
        self._apart = deferred_calls.apart(self._run)
        self._calls = self._apart.__enter__()
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        memory, run = self._run.outermost.memory, self._run
        for name, before in self._before.items():
            memory.pop(name, None)
            memory.update({} if before is None else {name: before})
        self._apart.__exit__(None, None, None)
        self._run.is_closed = True
        self._tokens = [cell for cell in run.written if cell.name == SAID]
        run.written.difference_update(self._tokens)
        for call in self._calls if kind is None else ():
            nodes = deferred_calls.contents(run, call)
            if nodes[0].primitive is not p.constant:
                self._checks.append((call.function, len(nodes)))
                self.leaves += nodes
        self.leaves += [run.node(run.read(cell)) for cell in self._tokens]

    def keep(self, leaves: Sequence[Any], many: bool = True) -> None:
        """Have them raised: `leaves` are the function's own, with an axis of entries before the others if it has many.

        Parameters
        ----------
        leaves : sequence of traced values
        many : bool, optional
        """
        if many and leaves and not leaves[0].shape[0]:
            # Without an entry nothing fails, and nothing is said.
            return
        supply = iter(leaves)
        # The tokens follow.
        found = [(check, [next(supply) for _ in range(count)]) for check, count in self._checks]
        if found and many:
            failed = functools.reduce(functools.partial(apply, p.logical_or), [flag for _, (flag, *_) in found])
            first = reduction.argmax(convert(failed, types.u8), axis=0)
            entry = Around("entry")
            found = [
                (
                    dataclasses.replace(check, around=(*check.around, entry)),
                    [*[gathering.take(value, first, axis=0) for value in values], first],
                )
                for check, values in found
            ]
        for check, (flag, *nodes) in found:
            choose(flag, lambda check=check, nodes=nodes: _keep(check, nodes) or [], list)
        for cell, token in zip(self._tokens, supply, strict=True):
            run = tracing.current()
            run.write(cell, run.node(reduction.reduce_max(token) if token.shape else token))


def is_of_checks(cell: MutableCell) -> bool:
    """Whether a cell is one of the checks'."""
    return cell.name == _CELL


def are_apart() -> bool:
    """Whether a function is traced on its own, as that of :func:`nxkernel.vmap` is."""
    return _OWNER in tracing.current().outermost.memory


def _owner() -> Any:
    """The trace in which the cells of checks begin."""
    outermost = tracing.current().outermost
    return outermost.memory.get(_OWNER, outermost)


def _failed() -> MutableCell:
    outermost = tracing.current().outermost
    cell = outermost.memory.get(_FAILED)
    if cell is None:
        cell = outermost.memory[_FAILED] = MutableCell(_CELL)
        _owner().write(cell, constant(False, types.bool_))
    return cell


def alone(value: Any) -> Any:
    """A value as it is outside of the program, where it no longer stands for a Python number."""
    return convert(value, python_numbers.alone(value.spec.type)) if tracing.weak(value) else value


# The lines that lead to a check ------------------------------------------------------------------------------------


def trail_of(error: BaseException) -> tuple[Line, ...]:
    """The user's lines that lead to where an error was raised: those that called what is being traced, and its own."""
    outer, frame = [], sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != _TRACER:
        outer.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    steps, inner = outer[::-1], error.__traceback__
    while inner is not None:
        steps.append((inner.tb_frame.f_code, inner.tb_lasti))
        inner = inner.tb_next
    lines: list[Line] = []
    for code, last in steps:
        if source_locations.is_users(code.co_filename):
            if lines and source_locations.is_block(code):
                # A part of the function before it, which called it in place of an `if` or a loop.
                lines.pop()
            lines.append(Line.of(code, last))
    return tuple(lines)
