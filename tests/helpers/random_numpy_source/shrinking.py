"""Programs that differ, with as few statements as still differ."""

from __future__ import annotations

import contextlib
import copy
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace

from random_numpy_source.checking import REFUSALS, Difference
from random_numpy_source.statements import Statement
from random_numpy_source.writing import Program

#: Seconds for one program: without the statement that counts, a loop does not end.
PATIENCE = 5.0


class _EndlessError(BaseException):
    """A program does not end."""


def shrunk(program: Program, check: Callable[[Program], int]) -> Program:
    """The program without the statements and results that a difference does not take.

    Parameters
    ----------
    program : Program
    check : callable
        Raises :class:`Difference`.
    """
    smaller: Program | None = program
    while smaller is not None:
        program = smaller
        smaller = next((one for one in _smaller(program) if _differs(one, check)), None)
    return program


def _differs(program: Program, check: Callable[[Program], int]) -> bool:
    try:
        with _bounded():
            check(program)
    except Difference:
        return True
    except (*REFUSALS, SyntaxError, NameError, _EndlessError):
        return False
    return False


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _EndlessError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _smaller(program: Program) -> Iterator[Program]:
    """Programs that have a statement, a result or a helper less."""
    for body in _without_one(program.body):
        yield replace(program, body=body)
    if len(program.results) > 1:
        for place in range(len(program.results)):
            yield replace(program, results=program.results[:place] + program.results[place + 1 :])
    for name in program.helpers:
        if not any(f"{name}(" in line for statement in program.body for line in statement.lines("")):
            yield replace(program, helpers=[helper for helper in program.helpers if helper != name])


def _without_one(body: list[Statement]) -> Iterator[list[Statement]]:
    """Bodies without one of their statements, or with what is in it in its place."""
    for place in reversed(range(len(body))):
        before, statement, after = body[:place], body[place], body[place + 1 :]
        yield before + after
        if statement.body:
            yield before + statement.body + after
        for inner in _without_one(statement.body):
            if inner:
                made = copy.copy(statement)
                made.body = inner
                yield [*before, made, *after]
