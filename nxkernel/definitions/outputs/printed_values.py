"""Printing values after a program has run: calls of ``print``, formatted text, and labelled values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.definitions.keys import containers
from nxkernel.tensor.tensor import StoredTensor


@dataclass(frozen=True)
class FixedText:
    """A value that was known while tracing.

    Parameters
    ----------
    value : Any
    """

    value: Any

    def formatted(self, leaves: Iterator[Any]) -> Any:
        """The value itself; takes no leaves."""
        return self.value


@dataclass(frozen=True)
class RunTimeValue:
    """A value, or a container of values, that the program computes.

    Parameters
    ----------
    structure : containers.Structure
    numbers : tuple of bool
        For each leaf, whether it becomes a Python number.
    of_numpy : bool
        Whether other leaves become NumPy's arrays and scalars, and stay no tensors.
    """

    structure: containers.Structure
    numbers: tuple[bool, ...]
    of_numpy: bool = True

    def formatted(self, leaves: Iterator[Any]) -> Any:
        """The value as it would be without tracing, from the next leaves."""
        shown = [_shown(next(leaves), number, self.of_numpy) for number in self.numbers]
        return containers.rebuild(self.structure, iter(shown))


@dataclass(frozen=True)
class PickedElements:
    """A part of an array whose size only the program knows: by a mask, or by the bounds of some axes.

    Parameters
    ----------
    axis : int or None
        The first axis of the mask; None for bounds.
    bounds : tuple of bool
        For each axis whether it has bounds: where its part begins, and how long it is.
    """

    axis: int | None
    bounds: tuple[bool, ...] = ()

    def formatted(self, leaves: Iterator[Any]) -> np.ndarray:
        """The part, of an array and a mask or bounds that are the next leaves."""
        array = np.asarray(next(leaves))
        if self.axis is not None:
            return array[(*(slice(None),) * self.axis, np.asarray(next(leaves)))]
        key = [slice(None)] * array.ndim
        for place, has_bounds in enumerate(self.bounds):
            if has_bounds:
                first, length = int(np.asarray(next(leaves))), int(np.asarray(next(leaves)))
                key[place] = slice(first, first + length)
        return array[tuple(key)]


@dataclass(frozen=True)
class TextTemplate:
    """Text with values in it, as by ``str.format``.

    Parameters
    ----------
    form : str
        For ``str.format``.
    parts : tuple of (FixedText, RunTimeValue or TextTemplate)
        The values for its numbered fields.
    """

    form: str
    parts: tuple[Any, ...]

    def formatted(self, leaves: Iterator[Any]) -> str:
        """The text, with values from the next leaves."""
        return self.form.format(*[part.formatted(leaves) for part in self.parts])


@dataclass(frozen=True)
class Several:
    """A tuple of parts, as ``%`` takes it.

    Parameters
    ----------
    parts : tuple
    """

    parts: tuple[Any, ...]

    def formatted(self, leaves: Iterator[Any]) -> tuple:
        """The tuple, with values from the next leaves."""
        return tuple([part.formatted(leaves) for part in self.parts])


@dataclass(frozen=True)
class OutputStream:
    """``sys.stdout`` or ``sys.stderr``, which may be another object when the program runs.

    Parameters
    ----------
    name : {"stdout", "stderr"}
    """

    name: str

    def formatted(self, leaves: Iterator[Any]) -> Any:
        """The stream of that name now; takes no leaves."""
        return getattr(sys, self.name)


@dataclass(frozen=True)
class Percent:
    """Text with values in it, as by ``%``.

    Parameters
    ----------
    form : str
    values : FixedText, RunTimeValue, Several or TextTemplate
    """

    form: str
    values: Any

    def formatted(self, leaves: Iterator[Any]) -> str:
        """The text, with values from the next leaves."""
        return self.form % self.values.formatted(leaves)


@dataclass(frozen=True)
class DeferredCall:
    """A call in a definition that is made each time the program has run.

    Parameters
    ----------
    function : callable
    args : tuple of (FixedText, RunTimeValue, TextTemplate or Percent)
    options : tuple of (str, FixedText, RunTimeValue, TextTemplate or Percent)
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, leaves: tuple) -> Any:
        """Make the call, with these leaves as the values that the program computed; returns what it gives."""
        supply = iter(leaves)
        args = [part.formatted(supply) for part in self.args]
        return self.function(*args, **{name: part.formatted(supply) for name, part in self.options})


@dataclass(frozen=True)
class DeferredAssertion(DeferredCall):
    """A call that raises an error where what the program has computed is not as it was asserted."""

    #: Whether the caller's arrays are to be as they were where this is called.
    raises = True


@dataclass(frozen=True)
class Labelled:
    """Prints a value after its label.

    Parameters
    ----------
    label : str
        As it is printed.
    """

    label: str

    def __call__(self, value: Any) -> None:
        """Print a value of a program that has run."""
        print(f"{self.label}{value!r}")


def _shown(value: Any, number: bool, of_numpy: bool) -> Any:
    if not isinstance(value, StoredTensor | np.ndarray | np.generic) or not (number or of_numpy):
        return value
    array = np.asarray(value)
    return array.item() if number else array[()]
