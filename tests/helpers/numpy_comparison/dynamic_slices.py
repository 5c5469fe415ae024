"""Programs of NumPy source text whose slices have bounds, and steps, that only the running program knows."""

from __future__ import annotations

import random
import warnings

import numpy as np

import nxkernel as nx
from numpy_comparison.source_text import assert_same, forget, module_of
from nxkernel.errors import NxTypeError

#: Slices that a program takes of a vector, where `i` is at most `j`; `s` is 1, 2 or 3.
SLICES = (
    "i:j", "i:i + 1", "k:k + 1", "j - 1:j", "i:", ":j", ":1", ":", "i + 1:j", "i:j - 1", "j:i:-1", "j:i:-2", "i:j:2",
    "i:j:s", "j + 0:i + 0:-2", "i:i + 1:2", "::-1", "j:i:-s", "i:k", "k:j",
)  # fmt: skip
OPERATORS = ("+", "-", "*")
#: The numbers that programs are called with.
CALLS = ((2, 6, 3, 1), (0, 9, 8, 2), (3, 4, 0, 3), (1, 8, 5, 2))
#: How many of these give a result in NumPy, where other lengths do not fit together.
FITTING = 2


def arrays() -> tuple[np.ndarray, np.ndarray]:
    """What programs are given."""
    return np.arange(9.0) % 7 + 1, np.arange(9.0)[::-1] * 2 - 5


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def source(self) -> str:
        """The program's text."""
        lines = [self._line() for _ in range(self.random.randint(1, 2))]
        result = self.random.choice(["a", "b", f"np.sum({self._value(2)})", f"np.max({self._value(2)}, initial=-99.0)"])
        return "\n".join(["def f(a, b, i, j, k, s):", *(f"    {line}" for line in lines), f"    return {result}", ""])

    def _line(self) -> str:
        target = self._part()
        return self.random.choice(
            [f"{target} = {self._value(2)}", f"{target} {self.random.choice(OPERATORS)}= {self._value(1)}"]
        )

    def _part(self) -> str:
        return f"{self.random.choice('ab')}[{self.random.choice(SLICES)}]"

    def _value(self, depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            return self._part() if kind < 0.25 else self.random.choice(["a", "2.0", "a[k]", f"{self._part()}[:1]"])
        if kind < 0.85:
            return f"({self._value(depth - 1)} {self.random.choice(OPERATORS)} {self._value(depth - 1)})"
        if kind < 0.93:
            return f"np.where({self._value(depth - 1)} > 1, {self._value(depth - 1)}, {self._value(depth - 1)})"
        return f"np.maximum({self._value(depth - 1)}, {self._value(depth - 1)})"


def check(seed: int) -> bool:
    """Compare what a program gives with NumPy; False for one that is wrong in NumPy, or refused.

    Raises
    ------
    AssertionError
        With the program's text, where results differ.
    """
    source = Writer(seed).source()
    module = module_of(source)
    plain, definition = module["f"], nx.defn(module["f"], promotion="numpy")
    try:
        expected = {call: wanted for call in CALLS if (wanted := _given(plain, call)) is not None}
        if len(expected) < FITTING:
            return False
        for call, wanted in expected.items():
            found = arrays()
            try:
                result = definition(*found, *map(np.int64, call))
            except NxTypeError:
                return False
            try:
                assert_same([result, *found], wanted)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}, {call}\n{source}\n{error}") from error
        return True
    finally:
        forget(module)


def _given(plain, call):
    """What NumPy gives for a call, and what is in the arrays then; None where it raises an error."""
    given = arrays()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [plain(*given, *map(np.int64, call)), *given]
        except (ValueError, IndexError):
            return None
