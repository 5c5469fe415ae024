"""Programs, written statement by statement while NumPy runs them; what NumPy does not take is left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from random_numpy_source import inputs, statements
from random_numpy_source.names import Names
from random_numpy_source.statements import HELPERS, Statement

#: Beyond this, sums are not exact, and differences lose digits.
_LARGEST = 1e4
_INEXACT = ("f4", "f2", "c8")
#: What NumPy and Python raise for statements that make no sense.
NOT_TAKEN = (
    ValueError, IndexError, TypeError, ZeroDivisionError, OverflowError, NameError, AttributeError, SyntaxError,
)  # fmt: skip


@dataclass
class Program:
    """A program: its text, and for which arguments it is.

    Attributes
    ----------
    seed : int
    arguments : list of (shape, kind, layout) or int
        For each of the parameters; an int is a whole number that only the running program knows.
    helpers : list of str
        Names of functions that it calls.
    body : list of Statement
    results : list of str
        What it returns.
    is_total : bool
        Whether it returns one number, the sum of all results.
    """

    seed: int
    arguments: list[Any]
    helpers: list[str]
    body: list[Statement]
    results: list[str]
    is_total: bool = False

    @property
    def parameters(self) -> list[str]:
        """Their names: ``a0`` for arrays, ``i2`` for whole numbers."""
        return [f"{'i' if isinstance(given, int) else 'a'}{place}" for place, given in enumerate(self.arguments)]

    @property
    def source(self) -> str:
        """Its text."""
        helpers = "".join(HELPERS[name] + "\n" for name in self.helpers)
        lines = [line for statement in self.body for line in statement.lines("    ")]
        returned = ", ".join(self.results)
        if self.is_total:
            returned = " + ".join(f"np.sum({name})" for name in self.results)
        body = "\n".join(lines)
        return f"{helpers}def f({', '.join(self.parameters)}):\n{body}\n    return {returned or '0'}\n"

    def values(self, turn: int) -> list[Any]:
        """Arguments, other ones for each turn."""
        random = Random(self.seed * 1000 + turn)
        return [
            (given + turn) % 4 if isinstance(given, int) else inputs.array(random, *given) for given in self.arguments
        ]


class _Writer:
    def __init__(self, seed: int, is_smooth: bool) -> None:
        self.random = Random(seed)
        self.is_smooth = is_smooth
        arguments: list[Any] = []
        for _ in range(self.random.choice([1, 2, 2, 3])):
            shape, kind = inputs.shape_and_kind(self.random, is_smooth)
            arguments.append((shape, kind, "C" if is_smooth else self.random.choice(inputs.LAYOUTS)))
        if self.random.random() < 0.6:
            arguments.append(self.random.randint(0, 3))
        self.program = Program(seed, arguments, [], [], [], is_smooth)
        self.names = Names(self.random, {}, set(), is_smooth)
        #: Names that only bodies of loops and choices have.
        self.hidden: set[str] = set()
        self.before: set[str] = set()
        self.is_tried = False
        self.start()

    def start(self) -> None:
        """Run what there is, from the beginning."""
        self.space: dict[str, Any] = {"np": np}
        exec("".join(HELPERS.values()), self.space)
        self.names.space = self.space
        self.space |= dict(zip(self.program.parameters, self.program.values(0), strict=True))
        for statement in self.program.body:
            self.run(statement)
        self.look()

    def run(self, statement: Statement) -> None:
        """Run a statement."""
        exec("\n".join(statement.lines("")), self.space)

    def look(self) -> None:
        """Find out what the names have."""
        left = self.names.counters.keys() | self.hidden | {"np", "__builtins__", *HELPERS}
        self.names.values = {name: value for name, value in self.space.items() if name not in left}

    def is_good(self) -> bool:
        """Whether all values are numbers of a size that is exact, or as good as."""
        for value in self.names.values.values():
            if not isinstance(value, np.ndarray | np.generic | int | float | complex | bool):
                return False
            array = np.asarray(value)
            if array.dtype.kind not in "biufc" or array.size > 200 or array.ndim > 4:
                return False
            if array.dtype.kind in "fc" and array.size and not np.all(np.abs(array) < _LARGEST):
                return False
        return True

    def spoil(self, statement: Statement) -> None:
        """Remember which names have rounded numbers after a statement."""
        if statement.name:
            rough = statement.is_rough
            value = self.space.get(statement.name)
            if rough:
                self.names.rough.add(statement.name)
            elif statement.text.startswith(f"{statement.name} = ") and not self.names.counters:
                self.names.rough.discard(statement.name)
            if isinstance(value, np.ndarray) and statement.name in self.names.rough:
                for name, other in self.names.values.items():
                    if isinstance(other, np.ndarray) and np.may_share_memory(value, other):
                        self.names.rough.add(name)
        for name, value in self.names.values.items():
            if name not in self.program.parameters and np.asarray(value).dtype.str[1:] in _INEXACT:
                self.names.rough.add(name)
        for inner in statement.body:
            self.spoil(inner)

    def add(self, statement: Statement) -> bool:
        """Run a statement and keep it, unless NumPy refuses it or numbers become too large."""
        rough = set(self.names.rough)
        try:
            self.run(statement)
            self.look()
            self.forget(statement)
            if self.is_good():
                self.spoil(statement)
                self.program.body.append(statement)
                return True
        except NOT_TAKEN:
            pass
        self.names.rough = rough
        self.start()
        return False

    def forget(self, statement: Statement) -> None:
        """Nothing later uses what the body of a loop or a branch has names for."""
        for inner in statement.body:
            if inner.text.startswith(f"{inner.name} = ") and inner.name not in self.before:
                self.hidden.add(inner.name)
                self.names.values.pop(inner.name, None)
            self.forget(inner)

    def block(self, count: int) -> list[Statement]:
        """Statements for a body, which are tried on what there is now; that is run again afterwards."""
        self.is_tried = True
        found = []
        for _ in range(count):
            statement = self.statement(2)
            if statement is None:
                continue
            try:
                self.run(statement)
                self.look()
                self.forget(statement)
                if not self.is_good():
                    break
            except NOT_TAKEN:
                break
            self.spoil(statement)
            found.append(statement)
        return found

    def statement(self, depth: int) -> Statement | None:
        """A statement of any kind."""
        roll = self.random.random()
        if roll < 0.08:
            return statements.called(self.names)
        if roll < 0.3 and depth < 3 and len(self.names.counters) < 2:
            return self.compound(depth)
        return statements.simple(self.names)

    def compound(self, depth: int) -> Statement | None:
        """A loop or a choice."""
        random, names = self.random, self.names
        kept = names.kept
        roll = random.random()
        names.kept = set(names.values)
        try:
            if roll < 0.3:
                asked = statements.condition(names)
                if asked is None:
                    return None
                return self.filled(Statement(f"if {asked}:"), random.randint(1, 2))
            counter = f"k{len(names.counters)}"
            high = random.randint(1, 4)
            names.counters[counter] = (0, high)
            self.space[counter] = random.randint(0, high)
            try:
                return self.loop(counter, high, roll)
            finally:
                del names.counters[counter]
                self.space.pop(counter, None)
        finally:
            names.kept = kept

    def loop(self, counter: str, high: int, roll: float) -> Statement | None:
        random = self.random
        if roll < 0.75:
            limit = random.choice([str(high + 1), str(high + 1), f"{high}, -1, -1", f"0, {high + 1}, 2"])
            ints = [name for name, value in self.names.values.items() if name[0] == "i" and value <= high + 1]
            if ints and random.random() < 0.3:
                limit = random.choice(ints)
            head = Statement(f"for {counter} in range({limit}):")
        else:
            head = Statement(f"while {counter} < {high}:")
        made = self.filled(head, random.randint(1, 3))
        if made is None:
            return None
        asked = statements.condition(self.names)
        if asked and random.random() < 0.25:
            leave = random.choice(["break", "continue"])
            if head.text.startswith("for") or leave == "break":
                made.body.insert(random.randint(0, len(made.body)), Statement(f"if {asked}:", [Statement(leave)]))
        if head.text.startswith("while"):
            made.body.append(Statement(f"{counter} += 1"))
            return Statement("if True:", [Statement(f"{counter} = 0"), made])
        return made

    def filled(self, head: Statement, count: int) -> Statement | None:
        """A loop or a choice with a body, whose names are gone again: what is around it may go on without it."""
        before = set(self.space)
        head.body = self.block(count)
        for name in self.space.keys() - before:
            del self.space[name]
        self.look()
        return head if head.body else None

    def write(self, count: int) -> Program:
        """The whole program."""
        for _ in range(count):
            self.before = set(self.names.values)
            rough = set(self.names.rough)
            self.is_tried = False
            statement = self.statement(1)
            if self.is_tried:
                # A body has been tried: once more from the beginning.
                self.names.rough = rough
                self.start()
            if statement is not None:
                self.add(statement)
        arrays = [name for name in self.names.values if name[0] == "v" and name not in self.names.counters]
        self.program.results = arrays[-4:] + [name for name in self.program.parameters if name[0] == "a"][:1]
        self.program.helpers = sorted(self.names.used)
        return self.program


def written(seed: int, count: int = 8) -> Program:
    """A random program of so many statements at most.

    Parameters
    ----------
    seed : int
    count : int
    """
    return _write(seed, count, False)


def smooth_program(seed: int, count: int = 6) -> Program:
    """A random program that gives one number and has derivatives by its arguments."""
    return _write(seed, count, True)


def _write(seed: int, count: int, is_smooth: bool) -> Program:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _Writer(seed, is_smooth).write(count)
