"""Default values of arguments: which calls leave them out, and which are constants of the programs."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Sequence
from typing import Any

from nxkernel.definitions.calls.graph_cache import CacheEntryGroup
from nxkernel.definitions.keys.static_values import constant, describe
from nxkernel.ops.machinery.dispatch import is_number

_NUMBERS = (int, float, complex)
#: Forms of calls that are remembered.
_PLANS = 256
_FILLED = frozenset({*_NUMBERS, bool, str, type(None)})


class DefaultValues:
    """The positional parameters of a function that have a default.

    Parameters
    ----------
    function : callable
        The Python function behind a definition.
    positional : sequence of inspect.Parameter
        Its parameters that can be given by position.

    Attributes
    ----------
    numbers : dict
        Python's numbers among them, by name; no truth values, which are static always.
    last : int
        How many arguments a call has by position that leaves none of these out.
    """

    __slots__ = ("_code", "_plans", "_positional", "_values", "last", "numbers")

    def __init__(self, function: Any, positional: Sequence[inspect.Parameter]) -> None:
        self._code = function if isinstance(function, types.FunctionType) else None
        self._values = None if self._code is None else self._code.__defaults__
        self._positional = positional
        #: By the form of a call, what :meth:`_plan` gives.
        self._plans: dict[tuple, tuple[tuple[tuple[str, Any], ...], frozenset[str]]] = {}
        self.numbers = {one.name: one.default for one in positional if type(one.default) in _NUMBERS}
        places = [place for place, one in enumerate(positional) if type(one.default) in (*_NUMBERS, bool)]
        self.last = places[-1] + 1 if places and self._code is not None else 0

    def placed(self, args: tuple, options: dict[str, Any], of_numpy: bool) -> tuple[tuple, dict[str, Any]]:
        """A call with its arguments by position, the defaults among them; as it is where the long way has to look.

        So calls that leave numbers out, or name them, are answered as those by position.
        """
        if self._code is not None and self._code.__defaults__ is not self._values:
            return args, options
        form = (of_numpy, len(args), *options)
        plan = self._plans.get(form)
        if plan is None:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            plan = self._plans[form] = self._plan(len(args), tuple(options), of_numpy)
        following, taken = plan
        if not options:
            return args + tuple([default for _, default in following]), options
        found = args + tuple([options.get(name, default) for name, default in following])
        if len(taken) == len(options):
            return found, {}
        return found, {name: value for name, value in options.items() if name not in taken}

    def _plan(
        self, count: int, named: tuple[str, ...], of_numpy: bool
    ) -> tuple[tuple[tuple[str, Any], ...], frozenset[str]]:
        """What follows so many arguments: names with their defaults; and which names of a call are among them."""
        following: list[tuple[str, Any]] = []
        last, waiting = 0, set(named)
        for place, parameter in enumerate(self._positional[count:], count):
            kind = type(parameter.default)
            if parameter.name in waiting and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
                waiting.remove(parameter.name)
            elif kind not in _FILLED or not (of_numpy or kind in _NUMBERS or kind is bool):
                # A default array, or none at all: the long way knows.
                break
            elif place >= self.last:
                # Texts and None, which the function has by itself.
                following.append((parameter.name, parameter.default))
                continue
            following.append((parameter.name, parameter.default))
            last = len(following)
        return tuple(following[:last]), frozenset(set(named) - waiting)

    def left_out(self, count: int) -> tuple[tuple[str, Any], ...]:
        """Texts and None that a call with so many arguments by position leaves to the function."""
        return tuple([(one.name, one.default) for one in self._positional[count:]])

    def become_inputs(self, group: CacheEntryGroup, given: Mapping[str, Any], learns: bool) -> dict[str, str]:
        """Have numbers be inputs of programs from now on of which a call has other values; a note for each of these.

        Parameters
        ----------
        group : CacheEntryGroup
        given : mapping
            The arguments of the call, by name.
        learns : bool
            Whether the call is made; for a question what it would learn is only told.
        """
        notes: dict[str, str] = {}
        for name, default in self.numbers.items():
            value = given.get(name, default)
            if name in group.inputs or not is_number(value):
                continue
            known = group.defaults.setdefault(name, constant(default)) if learns else constant(default)
            if constant(value) == known == constant(default):
                if learns:
                    group.add_constant(name)
            else:
                if learns:
                    group.add_input(name)
                notes[name] = (
                    f"argument {name}: {describe(value)} is not its default, {describe(default)}, which programs had "
                    "as a constant: it is an input from now on, and further values compile nothing"
                )
        return notes
