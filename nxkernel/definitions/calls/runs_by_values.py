"""Calls for which numbers that a program was traced for are other ones: the program for these is found, or made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel.definitions.calls.graph_cache import CachedProgram, CacheEntryGroup
from nxkernel.definitions.calls.missed_calls import MissedCall
from nxkernel.definitions.keys import argument_errors
from nxkernel.definitions.outputs.value_checks import ValuesChangedError

#: So often a call is traced anew for numbers that the program before has computed.
_MOST = 8


def run(
    changed: ValuesChangedError,
    program: CachedProgram,
    group: CacheEntryGroup,
    missed: Callable[[tuple[CachedProgram, Sequence[int]]], MissedCall],
    run_program: Callable[[CachedProgram], Any],
) -> Any:
    """What a call gives.

    Parameters
    ----------
    changed : ValuesChangedError
        What the program has found. Without a number, it failed before it found one.
    program : CachedProgram
    group : CacheEntryGroup
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
            call.report(other)
        program = other
        program.calls += 1
        try:
            return run_program(program)
        except ValuesChangedError as again:
            changed = again
    return _give_up(changed, group)


def _give_up(changed: ValuesChangedError, group: CacheEntryGroup) -> Any:
    """Raise what stopped the program: an error of what it calls, or numbers that it rounds otherwise."""
    raise changed.__cause__ or argument_errors.unsettled(group.name)
