"""Programs that differ, with as few statements as still differ."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace

from random_numpy_source.checking import REFUSALS, Difference
from random_numpy_source.statements import Statement
from random_numpy_source.writing import Program


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
        check(program)
    except Difference:
        return True
    except (*REFUSALS, SyntaxError, NameError):
        return False
    return False


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
