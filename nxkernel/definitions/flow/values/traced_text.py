"""Text with values in it that only the running program knows, and text that it chooses from several."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from nxkernel import types
from nxkernel.definitions.outputs.printed_values import FixedText, Percent, TextTemplate
from nxkernel.errors import TracedValueError, message
from nxkernel.graph import tracing
from nxkernel.graph.expr import TracedValue
from nxkernel.operand import Proxy
from nxkernel.ops.arithmetic import comparison

#: Under which key the outermost trace remembers the texts of which one is chosen.
_TEXTS = "texts that are chosen"


@dataclass(frozen=True)
class ChosenText:
    """One of several texts, by its place among all that a program chooses from.

    Parameters
    ----------
    texts : list of str
    """

    texts: list[str]

    @property
    def form(self) -> str:
        """The texts, for errors."""
        return " or ".join(self.texts)

    def formatted(self, leaves: Iterator[Any]) -> str:
        """The text, by a number that is the next leaf."""
        return self.texts[int(np.asarray(next(leaves)))]


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
        if not (is_chosen(self) and (isinstance(other, str) or is_chosen(other))):
            self._refuse()
        made = comparison.equal(number_of(self), number_of(other))
        run = tracing.current()
        if run is not None and types.follows_numpy():
            # Python's `==` of texts gives a bool.
            run.weak.add(made)
        return made

    def __ne__(self, other: Any) -> Any:
        made = comparison.logical_not(self == other)
        run = tracing.current()
        if run is not None and types.follows_numpy():
            run.weak.add(made)
        return made

    def __nx_like__(self, number: Any) -> TracedText:
        """Another one of the texts, by its number."""
        return TracedText(self.template, (number,))

    def __nx_values__(self) -> tuple[Any, list[tuple[str, Any]]]:
        """How the text is made of values, and those, for a function that returns it."""
        return functools.partial(_made, self.template), [("", leaf) for leaf in self.leaves]

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


def _made(template: Percent | TextTemplate | ChosenText, *values: Any) -> str | TracedText:
    """A text of values; of those of another trace, which goes on, it is made when that program has run."""
    if any(isinstance(value, TracedValue | Proxy) for value in values):
        return TracedText(template, values)
    return template.formatted(iter(values))


def _together(one: Any, other: Any) -> Any:
    if not all(isinstance(each, str | TracedText) for each in (one, other)):
        return NotImplemented
    parts = tuple([FixedText(each) if isinstance(each, str) else each.template for each in (one, other)])
    leaves = [each.leaves for each in (one, other) if isinstance(each, TracedText)]
    return TracedText(TextTemplate("{0}{1}", parts), sum(leaves, ()))


def is_chosen(value: Any) -> bool:
    """Whether a value is one of several texts, and only the running program knows which."""
    return isinstance(value, TracedText) and isinstance(value.template, ChosenText)


def is_text(value: Any) -> bool:
    """Whether a value is a text, or one of several."""
    return isinstance(value, str) or is_chosen(value)


def number_of(value: Any) -> Any:
    """The number of a text among those that the program chooses from."""
    if not isinstance(value, str):
        return value.leaves[0]
    texts = _texts()
    if value not in texts:
        texts.append(value)
    return texts.index(value)


def as_chosen(value: Any) -> Any:
    """A text as one of several; anything else as it is."""
    return TracedText(ChosenText(_texts()), (number_of(value),)) if isinstance(value, str) else value


def _texts() -> list[str]:
    return tracing.current().outermost.memory.setdefault(_TEXTS, [])
