"""Buffer swaps in loops, as in ``a, b = b, a``, of arrays that the caller passed and that are assigned into.

The state of a loop has what is in the array of each variable. In which of the caller's arrays that is, which the caller
sees at the end, is counted along.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from nxkernel.definitions.flow import source_sites
from nxkernel.definitions.flow.values.array_aliases import written_back
from nxkernel.definitions.flow.values.mutable_arguments import MutableArgument, assigned, is_shared, own_copy
from nxkernel.errors import NxError, NxTypeError
from nxkernel.numpy.arrays.array import Array
from nxkernel.ops.arithmetic import comparison
from nxkernel.ops.programs import control_flow


class Exchange:
    """The variables of one loop that hold arrays of the caller's and are bound to others in its iterations.

    Parameters
    ----------
    variables : sequence
        All that are part of the state.
    site : Site
    """

    def __init__(self, variables: Sequence[Any], site: Any) -> None:
        self.site = site
        # An array of the function's own may change places with one of the caller's.
        any_shared = any(map(_is_shared, variables))
        self.places = [place for place, variable in enumerate(variables) if any_shared and _is_whole(variable)]
        self.variables = [variables[place] for place in self.places]
        #: Where the caller's arrays are, which get back what the iterations write.
        self.home = frozenset(variable.value.root for variable in self.variables if _is_shared(variable))
        #: Which array each variable has before the loop.
        self.initial = list(range(len(self.places)))
        #: For each variable whether an iteration binds it to one of these arrays, and not to a new one.
        self._kept = [True] * len(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def after_turn(self, results: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
        """Which array each variable has after an iteration.

        Raises
        ------
        NxTypeError
            When an array was assigned into that no variable has any more.
        """
        given = [variable.given for variable in self.variables]
        after = [results[place] for place in self.places]
        for array, value in zip(given, after, strict=True):
            if type(array) is MutableArgument:
                # The name of an array that is assigned into is bound to another argument: the next iteration changes
                # that.
                assigned(value)
        for variable, array in zip(self.variables, given, strict=True):
            written = _is_shared(variable) and array.root.content() is not variable.entered
            if written and not any(array is value for value in after):
                raise source_sites.error(
                    NxTypeError,
                    f"this loop assigns into the array of `{variable.name}`, which is the caller's, and binds the name "
                    "to another one.",
                    *source_sites.shown(self.site),
                    f"Begin with a copy of it, {own_copy(variable.name)}, or assign the new elements: "
                    f"{variable.name}[...] = ....",
                )
        found = []
        for value in after:
            source = next((k for k, array in enumerate(given) if array is value), None)
            found.append(-1 if source is None else numbers[source])
        self._kept = [any(array is value for array in given) for value in after]
        return found

    def bring_home(self, numbers: Sequence[Any], variables: Sequence[Any], leaves: Sequence[Any]) -> None:
        """Put what the variables have after the loop into the caller's arrays that they have it in."""
        if not self.places:
            return
        values = [self._leaf(variables, leaves, place) for place in range(len(self))]
        for place, variable in enumerate(self.variables):
            if not _is_shared(variable):
                continue
            before = content = variable.value.root.content()
            for number, value, kept in zip(numbers, values, self._kept, strict=True):
                # A new array is in none of the caller's, and one of another shape or type never in this one.
                if not kept or (value.type, value.shape) != (content.type, content.shape):
                    continue
                there = comparison.equal(number, place)
                (content,) = control_flow.choose(there, lambda v=value: [v], lambda v=content: [v])
            if content is not before:
                written_back(variable.value.root)
                variable.value.root.write(content)

    def look_back(self, variables: Sequence[Any], values: Sequence[Any]) -> None:
        """Refuse assignments after the loop into arrays of which only the running program knows whose they are."""
        if not any(map(_is_shared, self.variables)):
            return
        for variable, value in zip(variables, values, strict=True):
            exchanged = variable in self.variables and self._kept[self.variables.index(variable)]
            if exchanged and isinstance(value, Array | MutableArgument) and value is not variable.value:
                value.root.doubt = functools.partial(self._whose, variable.name)

    def _whose(self, name: str) -> NxError:
        return source_sites.error(
            NxTypeError,
            f"`{name}` is assigned into after this loop, in which arrays of the caller's change places: only the "
            "running program knows which of them it is.",
            *source_sites.shown(self.site),
            f"Assign the new elements in the loop, or to the names that arrays have before it; or {own_copy(name)} "
            "makes a copy.",
        )

    def _leaf(self, variables: Sequence[Any], leaves: Sequence[Any], number: int) -> Any:
        before = sum(variable.size for variable in variables[: self.places[number]])
        return leaves[before]


def _is_whole(variable: Any) -> bool:
    """Whether a variable that is made anew in iterations began with a whole array."""
    value = variable.value
    return not (variable.held or variable.fresh) and isinstance(value, Array | MutableArgument) and not value.steps


def _is_shared(variable: Any) -> bool:
    """Whether it began with an array of the caller's."""
    return _is_whole(variable) and is_shared(variable.value)
