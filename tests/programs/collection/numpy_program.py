"""What a program of the collection is: a function written for NumPy alone, and the data that it is tried with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """A function written for NumPy alone.

    Parameters
    ----------
    function : callable
    inputs : callable
        Takes a random generator and a size, gives the arguments.
    sizes : (int, int)
        A small one and a larger one.
    tolerance : float
        How far results may lie apart, relative to the largest value.
    changes : tuple of str
        The arguments that it writes into.
    grows : str
        Why its graph grows with the data, for those that do.
    """

    function: Callable[..., Any]
    inputs: Callable[[np.random.Generator, int], tuple[Any, ...]]
    sizes: tuple[int, int] = (8, 13)
    tolerance: float = 1e-10
    changes: tuple[str, ...] = ()
    grows: str = ""

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.function.__name__

    def arguments(self, size: int) -> tuple[Any, ...]:
        """The arguments of a size, fresh, and the same every time."""
        return self.inputs(np.random.default_rng(size), size)
