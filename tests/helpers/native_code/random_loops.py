"""Programs of NumPy source text with loops that go through arrays, some of which may run on all threads.

A program has a nest of loops over the rows and columns of arrays, with indices that meet, cross and miss each other,
choices of which a side may change nothing, and numbers that are kept for a turn or from one turn to the next.
"""

from __future__ import annotations

import random
import warnings

import numpy as np

import nxkernel as nx
from interpreting import interpreter, spread_loops
from native_code.spread_loops import every_loop_is_spread, on_each_count
from numpy_comparison.source_text import assert_same, forget, module_of

#: Indices of an axis of `n` elements by a counter from 1 to n - 2.
INDICES = (
    "{0}", "{0}", "{0}", "-{0} - 1", "n - 1 - {0}", "n - {0}", "{0} - 1", "{0} + 1", "{0} // 2", "({0} * 2) % n", "0",
    "-1", "p[{0}]",
)  # fmt: skip
RANGES = (
    "range(1, n - 1)", "range(n - 2, 0, -1)", "range(1, n - 1, 2)", "range(1, (n + 1) // 2)", "range(n - 2, 1, -3)",
)  # fmt: skip


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.counters: list[str] = []
        self.held = False

    def source(self) -> str:
        """The program's text: a function of three matrices, a vector and the indices of another order."""
        lines = ["n = a.shape[0]", "h = 0.5"] if self.random.random() < 0.5 else ["n = a.shape[0]"]
        self.held = len(lines) == 2
        for _ in range(self.random.randint(1, 2)):
            lines += self._loop(2)
        lines.append(self.random.choice(["return a", "return a, b", "return x, a.sum()"]))
        head = "def f(a, b, c, x, p, *, gain=1, bias=0, on=True):"
        return "\n".join([head, *(f"    {line}" for line in lines), ""])

    def _loop(self, depth: int) -> list[str]:
        counter = "ijk"[len(self.counters)]
        self.counters.append(counter)
        held = self.held
        lines = self._block(depth - 1)
        self.counters.pop()
        self.held = held
        return [f"for {counter} in {self.random.choice(RANGES)}:", *(f"    {line}" for line in lines)]

    def _block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += self._statement(depth)
        return lines

    def _statement(self, depth: int) -> list[str]:
        kind = self.random.random()
        if kind < 0.3 and depth:
            return self._loop(depth)
        if kind < 0.45:
            held = self.held
            test = f"if {self._value(1)} > {self.random.choice(['0', '2', self._value(0)])}:"
            then = self._assignment()
            lines = [test, f"    {then}"]
            if self.random.random() < 0.4:
                self.held = held
                lines += ["else:", f"    {self._assignment()}"]
            self.held = held
            return lines
        if kind < 0.6:
            line = f"h = {self._value(1)}"
            self.held = True
            return [line]
        if kind < 0.68:
            index = self._index()
            return [f"a[{index}] = {self.random.choice(['b', 'a', 'c'])}[{self._index()}] * 0.5"]
        return [self._assignment()]

    def _assignment(self) -> str:
        target = self._element(changes=True)
        kind = self.random.random()
        if kind < 0.2:
            # What changes nothing by an option that says so.
            same = [f"{target} * gain", f"{target} + bias", f"{target} if on else 0"]
            return f"{target} = {self.random.choice(same)}"
        if kind < 0.45:
            return f"{target} {self.random.choice(['+=', '-=', '*='])} {self._value(1)}"
        return f"{target} = {self._value(2)}"

    def _element(self, changes: bool = False) -> str:
        if self.random.random() < 0.15:
            return f"x[{self._index()}]"
        return f"{self.random.choice('aab' if changes else 'aabc')}[{self._index()}, {self._index()}]"

    def _index(self) -> str:
        return self.random.choice(INDICES).format(self.random.choice(self.counters))

    def _value(self, depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.4:
            if self.held and kind < 0.15:
                return "h"
            return self._element() if kind < 0.35 else self.random.choice(["1.5", self.counters[-1], "bias"])
        if kind < 0.5:
            name = self.random.choice(["maximum", "minimum"])
            return f"np.{name}({self._value(depth - 1)}, {self._value(depth - 1)})"
        if kind < 0.58:
            return f"0.25 * a[{self._index()}].sum()"
        sign = self.random.choice(["+", "-", "* 0.5 +"])
        return f"({self._value(depth - 1)} {sign} {self._value(depth - 1)})"


def arrays(n: int) -> list[np.ndarray]:
    """What programs are given."""
    generator = np.random.default_rng(n)
    squares = [generator.integers(-5, 6, (n, n)).astype(float) for _ in range(3)]
    return [*squares, generator.standard_normal(n), generator.permutation(n)]


def check(seed: int, n: int = 7) -> int:
    """Compare what a program gives with NumPy: interpreted, with each turn watched, and on several numbers of threads.

    Returns
    -------
    int
        How many of its loops may be spread.
    """
    source = Writer(seed).source()
    module = module_of(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _compared(module["f"], n)
    except Exception as error:
        error.add_note(f"seed {seed}\n{source}")
        raise
    finally:
        forget(module)


def _compared(function, n: int) -> int:
    def outcome(called, size):
        given = arrays(size)
        return [called(*given), *given]

    with interpreter() as name:
        definition = nx.defn(function, promotion="numpy", compiler=name)
        assert_same(outcome(definition, n), outcome(function, n))
        loops = len(spread_loops(definition))
    if loops:
        with every_loop_is_spread():
            definition = nx.defn(function, promotion="numpy")
            wanted = outcome(function, 4 * n)
            for found in on_each_count(lambda: outcome(definition, 4 * n)):
                assert_same(found, wanted)
    return loops
