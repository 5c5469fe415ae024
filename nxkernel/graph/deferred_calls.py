"""Calls that are made when the program that is being traced has run, with values that it computes.

They belong to the run of a program, not to its trace. One is made where a program runs once, at the top of a definition
and in a branch that is taken; in loops, and in functions that are traced on their own, such as that of
:func:`nxkernel.vmap`, there is none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nxkernel.graph import tracing, values_of_call
from nxkernel.graph.expr import Expr, SourceLocation, constant
from nxkernel.graph.tracing import MutableCell, Trace
from nxkernel.types import u8

#: Under which key the outermost trace remembers the calls.
_CALLS = "deferred calls"
#: Under which key it has a function that takes what :func:`raise_if` does in loops, where no call is made.
ELSEWHERE = "errors in loops"
#: Under which key it remembers those around what goes into a list of its own; None where nothing does.
_AROUND = "deferred calls around"
#: Under which key it remembers at which conditions errors are raised after the run.
_RAISED = "conditions of errors"


@dataclass(frozen=True)
class RecordedCall:
    """A call that is made after each run of a program.

    Parameters
    ----------
    function : callable
        Takes the values as a tuple.
    cells : tuple of MutableCell
        What holds the values when the trace is over.
    in_branch : bool
        Whether the first of them is a number that says that the branch was taken.
    source : SourceLocation or None
        The line of the user's that asked for it.
    loop : Trace or None
        The body of the loop that it is asked for in, as :func:`outermost_loop` gives it.
    leads : bool
        Whether it is made before all others of its loop.
    """

    function: Callable[[Any], None]
    cells: tuple[MutableCell, ...]
    in_branch: bool
    source: SourceLocation | None = None
    loop: Trace | None = None
    leads: bool = False


def are_checked() -> bool:
    """Whether an error that is asked for here by :func:`raise_if` is raised."""
    run = tracing.current()
    return run is not None and (run.runs_once or ELSEWHERE in run.outermost.memory)


def call(function: Callable[[Any], None], values: Sequence[Expr]) -> bool:
    """Have a function called when the program that is being traced has run.

    Parameters
    ----------
    function : callable
        Takes a tuple of the values that the program has computed. It is kept, and pickled, with the program.
    values : sequence of Expr

    Returns
    -------
    bool
        Whether it will be: the program runs this place once at most.
    """
    run = tracing.current()
    if run is None or not run.runs_once:
        return False
    in_branch, cells = run.previous is not None, []
    for node in [constant(1, u8), *values] if in_branch else values:
        cells.append(MutableCell("a call"))
        if in_branch:
            run.outermost.write(cells[-1], constant(0, *node.spec))
        run.write(cells[-1], run.node(node))
    entries(run).append(RecordedCall(function, tuple(cells), in_branch, tracing.user_line()))
    return True


def outermost_loop(run: Trace) -> Trace | None:
    """The body of the loop around what is being traced that no other one encloses; None where there is no loop."""
    body, trace = None, run
    while trace.previous is not None:
        body, trace = body if trace.side else trace, trace.previous
    return body


def entries(run: Trace) -> list[Any]:
    """What is called after each run of the program, in this order; those who trace may add what is not recorded here.

    What a part of a trace has added that is dropped goes by ``del entries[count:]``.
    """
    return run.outermost.memory.setdefault(_CALLS, [])


def in_order(run: Trace) -> list[Any]:
    """What is called after each run of the program, as it is called: what leads those of a loop comes before them."""
    found, first = entries(run), {}

    def rank(place: int) -> tuple[int, bool]:
        loop = getattr(found[place], "loop", None)
        return (place, False) if loop is None else (first.setdefault(id(loop), place), not found[place].leads)

    return [found[place] for place in sorted(range(len(found)), key=rank)]


@contextlib.contextmanager
def apart(run: Trace) -> Iterator[list[Any]]:
    """A context in which what is asked for goes into a list of its own."""
    memory, own = run.outermost.memory, []
    before, memory[_CALLS] = entries(run), own
    around = memory.get(_AROUND)
    memory[_AROUND] = before if around is None else around
    try:
        yield own
    finally:
        memory[_CALLS], memory[_AROUND] = before, around


def entries_of_program(run: Trace) -> list[Any]:
    """As :func:`entries`, those around all that goes into lists of its own."""
    around = run.outermost.memory.get(_AROUND)
    return entries(run) if around is None else around


def contents(run: Trace, recorded: RecordedCall) -> list[Expr]:
    """The nodes of a call's values at the end of a trace: the final contents of its cells."""
    return [run.node(run.read(cell)) for cell in recorded.cells]


def raised_before(run: Trace) -> list[Expr]:
    """The conditions of errors of before, at the top of the program: where one holds, what follows is computed in
    vain.
    """
    return run.outermost.memory.get(_RAISED, [])


@dataclass(frozen=True)
class _Check:
    """Raises an error where the first of the values of a program that has run is true; the others go into it."""

    error: Callable[..., Exception]

    #: Whether the caller's arrays are to be as they were where this is called.
    raises = True
    #: Whether the first value tells if there is anything to be done.
    has_flag = True

    def __call__(self, values: Sequence[Any]) -> None:
        failed, *numbers = [value.item() for value in values]
        if failed:
            raise self.error(*numbers)


#: The code that raises what NumPy's functions would have raised, where no line of the user's called them.
RAISES_FOR_USERS = _Check.__call__.__code__


def raise_if(failed: Any, numbers: Sequence[Any], error: Callable[..., Exception]) -> bool:
    """Have an error raised when the program that is being traced has run, if a condition holds then.

    Parameters
    ----------
    failed : Expr
        A traced bool without axes.
    numbers : sequence of Expr
        What the error tells of, without axes.
    error : callable
        Takes the numbers as Python's, and gives the exception. It is kept, and pickled, with the program.

    Returns
    -------
    bool
        Whether it is checked; see :func:`call`.
    """
    run = tracing.current()
    elsewhere = None if run is None or run.runs_once else run.outermost.memory.get(ELSEWHERE)
    if elsewhere is not None:
        return elsewhere(failed, numbers, error)
    is_made = call(_Check(error), [failed, *numbers])
    if is_made and run.previous is None:
        run.memory.setdefault(_RAISED, []).append(failed)
        values_of_call.doubt(failed)
    return is_made
