"""Random functions of nested choices, loops and jumps: their twins do the same, whichever side is tried first."""

import contextlib
import linecache
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nxkernel.defn.syntax import rewritten
from plain_runtime import Frozen, PlainRuntime, Unassigned


class BothSides(PlainRuntime):
    """Tries the side that is not taken too, before and after the other, as a tracer does; not for ever."""

    def __init__(self):
        super().__init__()
        self.left = 100

    def attempt(self, function, *arguments):
        self.left -= 1
        if self.left > 0:
            with contextlib.suppress(NameError, ZeroDivisionError, TypeError):
                function(*arguments)

    def if_(self, test, then, otherwise, state, names, site):
        taken, other = (then, otherwise) if test else (otherwise, then)
        self.attempt(other, *state)
        found = taken(*state)
        self.attempt(other, *state)
        return found

    def if_return(self, test, then, otherwise, site):
        taken, other = (then, otherwise) if test else (otherwise, then)
        self.attempt(other)
        return taken()


class Writer:
    """Writes a function."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = ["def f(a, b, x, c=2):"]
        self.loops = 0

    def text(self):
        captured = self.random.random() < 0.3
        if captured:
            self.lines.append("    g = lambda v: v + a - 2 * b")
        self.block(1, 0, False)
        self.lines.append(f"    return a, b, x{', g(1)' if captured else ''}")
        return "\n".join(self.lines) + "\n"

    def add(self, depth, line):
        self.lines.append("    " * depth + line)

    def block(self, depth, inside, last=True):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, inside)
        if last and self.random.random() < 0.35:
            jumps = ["return a, b", "return", "return x"] + (["break", "continue"] * 3 if inside else [])
            self.add(depth, self.random.choice(jumps))

    def statement(self, depth, inside):
        kind = self.random.choice(["assign", "assign", "part", "if", "if", "for", "while"])
        if depth > 4 or len(self.lines) > 40:
            kind = "assign"
        name, value = self.random.choice("abct"), self.value()
        if kind == "assign":
            self.add(depth, f"{name} {self.random.choice(['=', '=', '+='])} {value}")
        elif kind == "part":
            self.add(depth, f"x[{self.random.randint(0, 2)}] {self.random.choice(['=', '-='])} {value}")
        elif kind == "if":
            self.add(depth, f"if {self.condition()}:")
            self.block(depth + 1, inside)
            if self.random.random() < 0.3:
                self.add(depth, f"elif {self.condition()}:")
                self.block(depth + 1, inside)
            if self.random.random() < 0.5:
                self.add(depth, "else:")
                self.block(depth + 1, inside)
        else:
            self.loops += 1
            counter = self.random.choice(["i", f"k{self.loops}"])
            if kind == "for":
                self.add(depth, f"for {counter} in range({self.random.randint(0, 3)}):")
            else:
                counter = f"k{self.loops}"
                self.add(depth, f"{counter} = {self.random.randint(0, 3)}")
                test = self.random.choice([f"{counter} > 0", f"{counter} > 0 and ({self.condition()})", "True"])
                self.add(depth, f"while {test}:")
                self.add(depth + 1, f"{counter} -= 1")
                if test == "True":
                    self.add(depth + 1, f"if {counter} < 0: {self.random.choice(['break', 'return b'])}")
            self.block(depth + 1, inside + 1)
            if self.random.random() < 0.3:
                self.add(depth, "else:")
                self.block(depth + 1, inside)

    def value(self):
        return self.random.choice(
            ["a + 1", "b * 2", "a - b", "c", "t + 1", "x[0] + a", "x[1]", "3", "a if b > a else 7"]
        )

    def condition(self):
        return self.random.choice(
            [
                "a > b",
                "b < 4",
                "a % 3 == 0",
                "x[0] > a",
                "0 < a < b",
                "a > 2 or b > 5",
                "not a % 2",
                "a % 2 and b",
                "c > 3",
            ]
        )


def outcome(function, *arguments):
    try:
        result = function(*arguments)
    except ZeroDivisionError:
        return ZeroDivisionError
    except NameError:
        return UnboundLocalError
    if any(isinstance(part, Unassigned) for part in (result if isinstance(result, tuple) else [result])):
        return UnboundLocalError
    return result


def compare(seed):
    text = Writer(seed).text()
    file = f"random-{seed}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {}
    try:
        exec(compile(text, file, "exec"), space)
        twins = [rewritten(space["f"], runtime) for runtime in (PlainRuntime(), BothSides())]
        for arguments in [(0, 1), (3, 2), (-1, 5)]:
            expected = outcome(space["f"], *arguments, Frozen(1, 2, 3))
            for twin in twins:
                assert outcome(twin, *arguments, Frozen(1, 2, 3)) == expected, text
    finally:
        del linecache.cache[file]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_random_functions(seed):
    compare(seed)


@pytest.mark.fuzz
def test_many_random_functions():
    for seed in range(20_000):
        compare(seed)
