"""Printing values after a program has run: calls of ``print``, formatted text, and labelled values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.definitions.keys import containers
from nxkernel.tensor.tensor import Tensor


@dataclass(frozen=True)
class FixedText:
    """What is known before a program runs.

    Parameters
    ----------
    value : Any
    """

    value: Any

    def told(self, leaves: Iterator[Any]) -> Any:
        """What it is when the program has run, of the leaves that are next."""
        return self.value


@dataclass(frozen=True)
class Asked:
    """A value, or a container of values, that only the running program knows.

    Parameters
    ----------
    structure : Any
    numbers : tuple of bool
        Whether each of its leaves is a number of Python's.
    """

    structure: Any
    numbers: tuple[bool, ...]

    def told(self, leaves: Iterator[Any]) -> Any:
        """What it is when the program has run, as NumPy or Python would have it."""
        return containers.rebuild(self.structure, iter([_shown(next(leaves), number) for number in self.numbers]))


@dataclass(frozen=True)
class TextTemplate:
    """Text with values in it.

    Parameters
    ----------
    form : str
        As ``str.format`` takes it.
    parts : tuple of (Known, Asked or Text)
        What it takes by number.
    """

    form: str
    parts: tuple[Any, ...]

    def told(self, leaves: Iterator[Any]) -> str:
        """What it is when the program has run."""
        return self.form.format(*[part.told(leaves) for part in self.parts])


@dataclass(frozen=True)
class Several:
    """A tuple of parts.

    Parameters
    ----------
    parts : tuple
    """

    parts: tuple[Any, ...]

    def told(self, leaves: Iterator[Any]) -> tuple:
        """What they are when the program has run."""
        return tuple([part.told(leaves) for part in self.parts])


@dataclass(frozen=True)
class OutputStream:
    """One of Python's own streams, which somebody may put another one in the place of.

    Parameters
    ----------
    name : {"stdout", "stderr"}
    """

    name: str

    def told(self, leaves: Iterator[Any]) -> Any:
        """The stream of that name as it is now."""
        return getattr(sys, self.name)


@dataclass(frozen=True)
class Percent:
    """Text with values in it, as by ``%``.

    Parameters
    ----------
    form : str
    given : FixedText, Asked, Several or TextTemplate
    """

    form: str
    given: Any

    def told(self, leaves: Iterator[Any]) -> str:
        """What it is when the program has run."""
        return self.form % self.given.told(leaves)


@dataclass(frozen=True)
class Said:
    """A call that is made when a program has run, in place of the one that stands in the definition.

    Parameters
    ----------
    function : callable
    args : tuple of (Known, Asked, Text or Percent)
    options : tuple of (str, Known, Asked, Text or Percent)
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, leaves: tuple) -> None:
        """Make the call."""
        supply = iter(leaves)
        args = [part.told(supply) for part in self.args]
        self.function(*args, **{name: part.told(supply) for name, part in self.options})


@dataclass(frozen=True)
class Labelled:
    """Prints a value beside its label.

    Parameters
    ----------
    label : str
        As it is printed.
    """

    label: str

    def __call__(self, value: Any) -> None:
        """Print a value of a program that has run."""
        print(f"{self.label}{value!r}")


def _shown(value: Any, number: bool) -> Any:
    if not isinstance(value, Tensor):
        return value
    array = np.asarray(value)
    return array.item() if number else array[()]
