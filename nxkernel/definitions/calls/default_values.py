"""Default values of arguments: which calls leave them out, and which are constants of the programs."""

from __future__ import annotations

import inspect
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from nxkernel.definitions.calls.graph_cache import CacheEntryGroup
from nxkernel.definitions.keys.fast_keys import CallForm
from nxkernel.definitions.keys.static_values import constant, describe
from nxkernel.numpy.forwarding import LEFT_OUT
from nxkernel.ops.machinery.dispatch import is_number

_NUMBERS = (int, float, complex)
#: Forms of calls that are remembered.
_FORMS = 256


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
        How many arguments a call has by position that leaves none out but texts and None.
    """

    __slots__ = ("_code", "_forms", "_positional", "_values", "last", "numbers")

    def __init__(self, function: Any, positional: Sequence[inspect.Parameter]) -> None:
        self._code = function if isinstance(function, types.FunctionType) else None
        self._values = None if self._code is None else self._code.__defaults__
        self._positional = positional
        self._forms: dict[tuple, CallForm] = {}
        self.numbers = {one.name: one.default for one in positional if type(one.default) in _NUMBERS}
        places = [place for place, one in enumerate(positional) if _is_data(one.default)]
        self.last = places[-1] + 1 if places and self._code is not None else 0

    def form(
        self, count: int, named: Iterable[str], of_numpy: bool, static: frozenset[str], fixed: Collection[str]
    ) -> CallForm | None:
        """How calls with so many arguments by position and these names are looked up.

        So calls that leave numbers out, or name them, are answered as those by position. None where the function has
        got other defaults.
        """
        if self._code is not None and self._code.__defaults__ is not self._values:
            return None
        key = (of_numpy, count, *named)
        form = self._forms.get(key)
        if form is None or form.fixed is not fixed:
            if len(self._forms) >= _FORMS:
                self._forms.clear()
            following = self._following(count, key[2:])
            form = CallForm(count, following, key[2:], self._positional, static, fixed, of_numpy)
            self._forms[key] = form
        return form

    def _following(self, count: int, named: tuple[str, ...]) -> list[tuple[str, Any]]:
        """The arguments after those by position, with their defaults, up to the last that the long way may not see."""
        following: list[tuple[str, Any]] = []
        last = 0
        for parameter in self._positional[count:]:
            if parameter.name not in named or parameter.kind is parameter.POSITIONAL_ONLY:
                if parameter.default is parameter.empty:
                    # The long way says what is missing.
                    break
                following.append((parameter.name, parameter.default))
                if not _is_data(parameter.default):
                    # Texts and None, which the function has by itself where nothing comes after them.
                    continue
            else:
                following.append((parameter.name, parameter.default))
            last = len(following)
        return following[:last]

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


def _is_data(default: Any) -> bool:
    """Whether there is a default, which is no text and not None."""
    none = any(default is each for each in (inspect.Parameter.empty, None, LEFT_OUT))
    return not none and not isinstance(default, str)
