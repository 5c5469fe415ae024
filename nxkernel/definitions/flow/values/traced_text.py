"""Text with values in it that only the running program knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from nxkernel.definitions.outputs.printed_values import FixedText, Percent, TextTemplate
from nxkernel.errors import TracedValueError, message
from nxkernel.ops.arithmetic import comparison


@dataclass(frozen=True)
class ChosenText:
    """One of two texts.

    Parameters
    ----------
    one, other : str
        Where the condition holds, and where it does not.
    """

    one: str
    other: str

    def formatted(self, leaves: Iterator[Any]) -> str:
        """The text, by a condition that is the next leaf."""
        return self.one if np.asarray(next(leaves)) else self.other


class TracedText:
    """Text with traced values in it, which is formatted when the program has run.

    Parameters
    ----------
    template : TextTemplate, Percent or ChosenText
        The text, to be filled in with the values.
    leaves : tuple
        The values.
    """

    __slots__ = ("leaves", "template")
    #: What errors call it.
    shown_as = "a text"

    def __init__(self, template: Percent | TextTemplate | ChosenText, leaves: tuple) -> None:
        self.template, self.leaves = template, leaves

    def __add__(self, other: Any) -> TracedText:
        return _together(self, other)

    def __radd__(self, other: Any) -> TracedText:
        return _together(other, self)

    def __eq__(self, other: Any) -> Any:
        if not (isinstance(self.template, ChosenText) and isinstance(other, str)):
            self._refuse()
        first, second = self.template.one == other, self.template.other == other
        if first == second:
            return first
        (condition,) = self.leaves
        return condition if first else comparison.logical_not(condition)

    def __ne__(self, other: Any) -> Any:
        alike = self == other
        return not alike if isinstance(alike, bool) else comparison.logical_not(alike)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TracedValueError(
            message(
                "text is asked for what is in it, and it has values in it that only the running program knows.",
                "Printed, logged or warned of it is made when the program has run. For anything else return the "
                "values, and make the text of them there.",
            )
        )

    __str__ = __repr__ = __bool__ = __len__ = __iter__ = __lt__ = __hash__ = __contains__ = _refuse
    __getitem__ = __mod__ = __mul__ = __format__ = __int__ = __float__ = __index__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()


def _together(one: Any, other: Any) -> Any:
    if not all(isinstance(each, str | TracedText) for each in (one, other)):
        return NotImplemented
    parts = tuple([FixedText(each) if isinstance(each, str) else each.template for each in (one, other)])
    leaves = [each.leaves for each in (one, other) if isinstance(each, TracedText)]
    return TracedText(TextTemplate("{0}{1}", parts), sum(leaves, ()))


def chosen(condition: Any, one: str, other: str) -> TracedText:
    """One of two texts, by a condition that only the running program knows."""
    return TracedText(ChosenText(one, other), (condition,))
