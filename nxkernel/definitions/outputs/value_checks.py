"""What follows a run of a program that was traced for some of its numbers: whether these are still the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.definitions.keys import argument_errors

#: So often a call is traced anew for numbers that the program before has computed.
_MOST = 8


class ValuesChangedError(Exception):
    """A program ran for a call for which numbers that it was traced for are other ones.

    Parameters
    ----------
    values : list of int
        What they are, as far as that program computes them right: up to the first one that differs.
    """

    def __init__(self, values: list[int]) -> None:
        super().__init__(values)
        self.values = values


@dataclass(frozen=True)
class ValueCheck:
    """Compares the numbers that a program was traced for with those that a run gives, before anything is seen of it.

    Parameters
    ----------
    values : tuple of int
    lines : tuple of str
        For each of them, where the trace needed it: the file's name, the line and its text.
    """

    values: tuple[int, ...]
    lines: tuple[str, ...]

    #: Whether the caller's arrays are to be as they were where this is called.
    raises = True

    def __call__(self, values: tuple[Any]) -> None:
        """Raise a ValuesChangedError for other numbers."""
        found = [int(value) for value in np.asarray(values[0])]
        agreed = self.agreed(found)
        if agreed < len(self.values):
            raise ValuesChangedError(found[: agreed + 1])

    def agreed(self, values: Sequence[int]) -> int:
        """How many of the first numbers are those of this program."""
        pairs = zip(self.values, values, strict=False)
        return next(
            (place for place, (own, other) in enumerate(pairs) if own != other), min(len(self.values), len(values))
        )

    def change(self, values: Sequence[int]) -> tuple[str, int, int]:
        """Where the first number that is another one is needed, what it was, and what it is."""
        place = self.agreed(values)
        return self.lines[place], self.values[place], values[place]


def run_for_values(
    changed: ValuesChangedError,
    program: Any,
    group: Any,
    missed: Callable[[tuple[Any, Sequence[int]]], Any],
    run_program: Callable[[Any], Any],
) -> Any:
    """What a call gives, by the program for its numbers, which is found or made.

    Parameters
    ----------
    changed : ValuesChangedError
        What the program has found. Without a number, it failed before it found one.
    program : CachedProgram
    group : CacheEntryGroup
        All programs of the definition.
    missed : callable
        What the definition does for a call that a program is no answer to, with the numbers that it has found.
    run_program : callable
        Runs a program for the call.
    """
    __tracebackhide__ = True
    for _ in range(_MOST):
        values = changed.values
        other = group.find_for(program, values) if values else None
        if other is None:
            with group.making:
                call = missed((program, values))
                other = call.make()
                if other.convention.checked_values == program.convention.checked_values:
                    _give_up(changed, group)
                call.keep(other)
            other.new += 1
            call.report(other)
        # The call is answered by the other one.
        program.calls -= 1
        program = other
        program.calls += 1
        try:
            return run_program(program)
        except ValuesChangedError as again:
            changed = again
    return _give_up(changed, group)


def _give_up(changed: ValuesChangedError, group: Any) -> Any:
    """Raise what stopped the program: an error of what it calls, or numbers that it rounds otherwise."""
    raise changed.__cause__ or argument_errors.unsettled(group.name)
