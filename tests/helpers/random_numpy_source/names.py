"""What is known of the names of a program that is being written: their values on the first arguments, and how exact."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np


class Names:
    """The names that a statement may use.

    Parameters
    ----------
    random : Random
    values : dict
        What Python has for each name by now.
    rough : set of str
        Names of numbers that are rounded: they are nothing to compare, count or round, since a last digit may differ.
    is_smooth : bool
        Whether results are to have derivatives.
    """

    def __init__(self, random: Random, values: dict[str, Any], rough: set[str], is_smooth: bool) -> None:
        self.random, self.values, self.rough, self.is_smooth = random, values, rough, is_smooth
        #: Those and all else that a statement can name.
        self.space: dict[str, Any] = {}
        self.counter = 0
        #: Names of numbers that loops count, and between which values they lie.
        self.counters: dict[str, tuple[int, int]] = {}
        #: Names that a loop or a branch may assign to, as they keep their type and shape; None outside of those.
        self.kept: set[str] | None = None
        self.used: set[str] = set()

    def new(self) -> str:
        """A name that is not there yet."""
        self.counter += 1
        return f"v{self.counter}"

    def arrays(
        self, *, rank: int | None = None, kinds: str = "biufc", least: int = 0, exact: bool = False
    ) -> list[str]:
        """Names of arrays of a rank, of kinds of types, with so many elements."""
        return [
            name
            for name, value in self.values.items()
            if isinstance(value, np.ndarray)
            and name[0] in "av"
            and value.dtype.kind in kinds
            and (rank is None or value.ndim == rank)
            and value.size >= least
            and not (exact and name in self.rough)
        ]

    def array(self, **wanted: Any) -> str | None:
        """One of them, the later ones rather than the earlier ones."""
        found = self.arrays(**wanted)
        return self.random.choice(found + found[-3:]) if found else None

    def numbers(self, *, exact: bool = False) -> list[str]:
        """Names of single numbers."""
        return [
            name
            for name, value in self.values.items()
            if name[0] in "sv"
            and isinstance(value, int | float | np.generic)
            and not isinstance(value, bool | np.bool_)
            and not (exact and name in self.rough)
        ]

    def is_rough(self, text: str) -> bool:
        """Whether an expression has a rounded number in it."""
        return any(name in text for name in self.rough)
