"""Tracing again: the reasons for it, and the loop that every retrace goes through.

A trace begins with a guess: no argument is assigned into, a loop is one of the compiled program, a variable that no
iteration has changed yet is held as a static value. Where the trace shows that a guess was wrong, one of the errors of
this module leaves it, what it has learned is kept, and it begins anew. The README beside this module has the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


class AssignedError(BaseException):
    """An argument that is traced as immutable is assigned into: the function is traced again.

    It is no Exception, so that no `except` of the function keeps it.

    Parameters
    ----------
    path : str
        The path of the argument.
    augmented : bool
        Whether it was ``x += v``, which changes an array, but only rebinds the name of a tensor.
    """

    def __init__(self, path: str, augmented: bool) -> None:
        super().__init__(path)
        self.path, self.augmented = path, augmented


class UndispatchedError(Exception):
    """A function that is traced as it is asks for what only the running program knows: it has to be rewritten."""


class LearntError(Exception):
    """More is known of how a loop's variables are carried: its body is traced again."""


class MustUnrollError(Exception):
    """A loop cannot be one of the compiled program; the text says why, after the words "because".

    Attributes
    ----------
    hint : str
        What to write instead, where that is known.
    """

    def __init__(self, why: str, hint: str = "") -> None:
        super().__init__(why)
        self.hint = hint


class ChangesError(MustUnrollError):
    """An iteration gives a variable another type or shape; that may be so in the first one alone."""


def retraced(
    attempt: Callable[[], Result],
    reasons: tuple[type[BaseException], ...],
    undo: Callable[[], Any],
    learn: Callable[[BaseException], None],
) -> Result:
    """What an attempt gives that meets nothing new.

    Parameters
    ----------
    attempt : callable
        Traces.
    reasons : tuple of exception classes
        What may be learned from. Anything else leaves at once, and nothing is undone.
    undo : callable
        Puts back what an attempt has changed besides its own nodes.
    learn : callable
        Takes the error of an attempt, and keeps what it tells; raises an error where that is nothing new.
    """
    while True:
        try:
            return attempt()
        except reasons as error:
            undo()
            learn(error)
