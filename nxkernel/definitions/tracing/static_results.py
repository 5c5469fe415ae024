"""Static values in the results of a trace: whether they are those of the call, and whose they are else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nxkernel.definitions.keys import containers
from nxkernel.definitions.keys.static_values import by_contents


class StaticResults:
    """What static values in results are: those of the call, others that the function reads, or its own.

    Parameters
    ----------
    seen : sequence
        The static values in the arguments, as the function sees them.
    given : sequence
        The same ones, as they are.
    original : callable
        Gives what a copy with placeholders was made of.
    """

    def __init__(self, seen: Sequence[Any], given: Sequence[Any], original: Callable[[Any], Any]) -> None:
        self._given, self._original = given, original
        self._numbers: dict[int, int] = {}
        for number, value in enumerate(seen):
            self._numbers.setdefault(id(value), number)

    def of_call(self, value: Any) -> containers.Structure | None:
        """The structure of a static value, which may be the call's."""
        number = self._numbers.get(id(value))
        return self.of_trace(value) if number is None else ("held", number, ())

    def of_trace(self, value: Any) -> containers.Structure | None:
        """The structure of a static value; each result has lists and dicts of its own."""
        number = self._numbers.get(id(value))
        value = self._original(value) if number is None else self._given[number]
        static = containers.Static(value)
        is_copied = not static.is_fixed and by_contents(value) is not None
        return ("copied" if is_copied else "static", static, ())
