"""What is printed when a program has run: values beside their labels, and the lines of ``print``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel.tensor.tensor import Tensor


@dataclass(frozen=True)
class Line:
    """A call of ``print`` in a NumPy program, of which some values are known when the program has run.

    Parameters
    ----------
    texts : tuple of (str or None)
        What is known already; None for each value that is not.
    sep, end : str
    file : file or None
    """

    texts: tuple[str | None, ...]
    sep: str
    end: str
    file: Any

    def __call__(self, values: tuple) -> None:
        """Print it as Python prints what NumPy would have computed."""
        supply = iter(values)
        shown = [_shown(next(supply)) if text is None else text for text in self.texts]
        print(*shown, sep=self.sep, end=self.end, file=self.file)


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


def _shown(value: Any) -> Any:
    if isinstance(value, Tensor):
        return np.asarray(value)[()]
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return type(value)(map(_member, value))
    return {key: _member(each) for key, each in value.items()} if type(value) is dict else value


def _member(value: Any) -> Any:
    """In a container Python prints numbers as they are written."""
    shown = _shown(value)
    return shown.item() if isinstance(shown, np.generic) and shown.dtype.kind in "biufc" else shown
