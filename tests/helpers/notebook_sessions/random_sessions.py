"""Random sessions of a notebook: definitions read what other cells made, which changes, beside plain Python.

A session is data: the texts of its cells and its steps. Each is run twice, by definitions and by Python itself, and
what a call gives is compared, as is what `why` says before a call with what the call then does. A session that fails is
made as short as it can be, and printed as cells.
"""

import ast
import copy
import itertools
import linecache
import pickle
import random
import re
import sys
import threading
import types
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

import nxkernel as nx
from nxkernel.definitions.calls import graph_cache
from nxkernel.definitions.observe.events import stream
from recompilation.captured_objects import OBJECTS, REFUSED

#: What changes the whole process, takes long to make, or cannot be had twice.
_LEFT_OUT = {
    "DataFrame",
    "Series",
    "matrix",
    "memory map",
    "Decimal in another context",
    "generator of random numbers",
    "lock",
}
KINDS = [kind for kind in OBJECTS if kind.name not in _LEFT_OUT and REFUSED not in (kind.answer, kind.in_defn)]
#: How what is read, `{0}` and so on, becomes the body of a function.
BODIES = [
    "return x * {0} + {1}",
    "return x * ({0} + {1})",
    "y = x * {0}\n    return y - {1}",
    "return x * {0} if {1} > 3 else x - {0}",
    "y = 1 * x\n    for v in [{0}, {1}]:\n        y = y * v + v\n    return y",
    "def inner(v): return v * {0}\n    return inner(x) + {1}",
    "return x * sum([{0}, {1}])",
]
#: How an object gets to where it is read: a cell that goes before, and the expression.
WAYS = [
    ("", "({read})"),
    ("def read{n}({o}): return {read}\n", "read{n}({o})"),
    ("def read{n}({o}={o}): return {read}\n", "read{n}()"),
    ("box{n} = [{o}]\ndef read{n}({o}): return {read}\n", "read{n}(box{n}[0])"),
    (
        "class Box{n}:\n    def read(self):\n        {o} = self.o\n        return {read}\n"
        "box{n} = Box{n}()\nbox{n}.o = {o}\n",
        "box{n}.read()",
    ),
    ("def around{n}({o}):\n    def read(): return {read}\n    return read\nread{n} = around{n}({o})\n", "read{n}()"),
]  # fmt: skip
ARGUMENTS = {
    "ones": lambda: np.ones(3),
    "matrix": lambda: np.arange(6.0).reshape(2, 3),
    "floats": lambda: np.arange(4, dtype=np.float32),
    "number": lambda: 2.0,
}


@dataclass(frozen=True)
class Session:
    """What happens, step by step.

    Parameters
    ----------
    wrapper : str
        The text that makes a definition of ``f``.
    steps : tuple of (str, ...)
        ``("cell", text)``, ``("call", argument, asked)`` and others.
    """

    wrapper: str
    steps: tuple[tuple, ...]
    kinds: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"# made by {self.wrapper}; {', '.join(self.kinds)}"]
        lines += [step[1] if step[0] == "cell" else f"# {' '.join(map(str, step))}" for step in self.steps]
        return "\n".join(lines)


@dataclass
class Told:
    """How many calls were made, and what went wrong in the last one."""

    calls: int = 0
    asked: int = 0
    failure: str = ""
    answers: Counter = field(default_factory=Counter)


def drawn(seed: int, length: int = 24) -> Session:
    """A session by its number."""
    rng = random.Random(seed)
    kinds = rng.sample(KINDS, rng.randint(1, 3))
    objects = [_own_names(kind, number) for number, kind in enumerate(kinds)]
    ways = [rng.choice(WAYS) for _ in kinds]
    wrapper = rng.choice(["nx.defn(f)", "nx.jit(f)", "nx.defn(f, promotion='numpy')", "nx.jit(nx.jit(f))"])
    # Only definitions have an `if` that asks for an array.
    bodies = [body for body in BODIES if "defn" in wrapper or " if " not in body]
    body, other = rng.choice(bodies), rng.choice(bodies)
    used_up = any(kind.answer != "seen" for kind in kinds)

    def made(number: int) -> tuple:
        make, read, _ = objects[number]
        before = ways[number][0].format(n=number, o=f"o_{number}", read=read)
        return ("cell", f"{_other_numbers(make, rng)}\n{before}".rstrip())

    def defined(text: str) -> tuple:
        reads = [
            way[1].format(n=number, o=f"o_{number}", read=read)
            for number, (way, (_, read, _)) in enumerate(zip(ways, objects, strict=True))
        ]
        return ("cell", f"def f(x):\n    {text.format(reads[0], reads[-1])}")

    steps = [*map(made, range(len(kinds))), defined(body)]
    todo = (
        ["call"] * 8 + ["change"] * 4 + ["make", "define", "redefine", "copy", "pickle", "evict", "thread", "threads"]
    )
    for _ in range(length):
        what = rng.choice(todo)
        number = rng.randrange(len(kinds))
        if what == "call":
            steps.append(("call", rng.choice([*ARGUMENTS]), rng.random() < 0.5))
        elif what == "change":
            steps.append(("cell", _other_numbers(objects[number][2], rng)))
        elif what == "make":
            steps.append(made(number))
        elif what in ("define", "redefine"):
            steps.append(defined(body if what == "define" else other))
        elif what != "threads" or not used_up:
            steps.append((what,))
            steps.append(("call", rng.choice([*ARGUMENTS]), rng.random() < 0.5))
    return Session(wrapper, tuple(steps), tuple(kind.name for kind in kinds))


def _other_numbers(text: str, rng: random.Random) -> str:
    """The text of a cell, with another number in the place of each 2.0 and 5.0."""
    return re.sub(r"(?<![\w.])[25]\.0\b", lambda _: f"{rng.randint(1, 9)}.0", text)


def _own_names(kind, number: int) -> tuple[str, str, str]:
    """The texts of a kind, whose names are those of no other kind."""
    tree = ast.parse(kind.make)
    made = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    top = made | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local = {
        node.id
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    outside = {
        node.id
        for statement in tree.body
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    names = (top - (local - outside)) | {"o"}
    return tuple(_Renaming(names, number).text(text) for text in (kind.make, kind.read, kind.change))


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: set[str], number: int) -> None:
        self.names, self.number = names, number

    def text(self, source: str) -> str:
        return ast.unparse(self.visit(ast.parse(source)))

    def _new(self, name: str) -> str:
        return f"{name}_{self.number}" if name in self.names else name

    def visit_Name(self, node):
        node.id = self._new(node.id)
        return node

    def visit_arg(self, node):
        node.arg = self._new(node.arg)
        return node

    def visit_FunctionDef(self, node):
        node.name = self._new(node.name)
        return self.generic_visit(node)

    visit_ClassDef = visit_FunctionDef


# Running -------------------------------------------------------------------------------------------------------------

_cells = itertools.count()


def run(session: Session, compiler: str = "evaluator") -> Told:
    """Run a session by definitions and by plain Python."""
    told = Told()
    graph_cache.clear()
    stream.clear()
    here, plain = (_namespace(name) for name in ("session_here", "session_plain"))
    with warnings.catch_warnings(), nx.global_default_options(compiler=compiler):
        warnings.simplefilter("ignore")
        for step in session.steps:
            try:
                told.failure = _step(session, step, here, plain, told)
            except Exception as error:
                told.failure = f"{type(error).__name__}: {error}"
            if told.failure:
                break
    twice = [name for name, count in Counter(_compiled()).items() if count > 1]
    if twice and not told.failure:
        told.failure = f"compiled twice: {twice}"
    return told


def _namespace(name: str) -> dict:
    made = types.ModuleType(name)
    sys.modules[name] = made
    made.__dict__["nx"] = nx
    return made.__dict__


def _compiled() -> list[str]:
    return [event.kernel for event in nx.events(kind="kernel") if event.origin == "compiled"]


def _step(session: Session, step: tuple, here: dict, plain: dict, told: Told) -> str:
    what, *rest = step
    if what == "cell":
        file = f"session cell {next(_cells)}"
        linecache.cache[file] = (len(rest[0]), None, rest[0].splitlines(keepends=True), file)
        outcomes = []
        for space in (here, plain):
            try:
                exec(compile(rest[0], file, "exec"), space)
                outcomes.append("")
            except Exception as error:
                outcomes.append(type(error).__name__)
        if "def f(x)" in rest[0]:
            here["f"] = eval(session.wrapper, here)
        return (
            "" if outcomes[0] == outcomes[1] else f"a cell gives {outcomes[0]!r}, and {outcomes[1]!r} in plain Python"
        )
    if "f" not in here:
        return ""
    if what == "call":
        return _called(here["f"], plain["f"], ARGUMENTS[rest[0]], rest[1], told)
    if what == "copy":
        here["f"] = copy.copy(here["f"])
    elif what == "pickle":
        here["f"].__qualname__, here["f"].__module__ = "f", "session_here"
        here["f"] = pickle.loads(pickle.dumps(here["f"]))
    elif what == "evict":
        here["f"].clear_cache() if len(here) % 2 else graph_cache.clear()
    elif what == "thread":
        found = []
        thread = threading.Thread(
            target=lambda: found.append(_called(here["f"], plain["f"], ARGUMENTS["ones"], True, told))
        )
        thread.start()
        thread.join()
        return found[0]
    elif what == "threads":
        found = [("no answer", "") for _ in range(3)]

        def call(place):
            # What a thread or its context has for itself is what its own plain call reads.
            found[place] = _outcome(here["f"], ARGUMENTS["ones"]()), _outcome(plain["f"], ARGUMENTS["ones"]())

        threads = [threading.Thread(target=call, args=(place,)) for place in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        told.calls += 3
        return next((text for got, expected in found if (text := _difference(got, expected))), "")
    return ""


def _called(function, plain, argument, asked: bool, told: Told) -> str:
    explanation = None
    before = function.cache_info().misses
    if asked:
        try:
            explanation = function.why(argument())
        except Exception as error:
            explanation = error
        told.asked += 1
        if function.cache_info().misses != before:
            return "asking `why` counts as a call"
    expected = _outcome(plain, argument())
    got = _outcome(function, argument())
    told.calls += 1
    traced = function.cache_info().misses > before
    told.answers["traced" if traced else "hit"] += 1
    failure = _difference(got, expected)
    if failure or explanation is None:
        return failure
    if isinstance(explanation, Exception) or isinstance(got, Exception):
        # What gives each value once is not looked at before the call.
        same = isinstance(got, Exception) and (isinstance(explanation, Exception) or "read anew" in str(explanation))
        return "" if same else f"why gives {explanation!r}, and the call {got!r}"
    if explanation.hit is traced:
        return f"why says {str(explanation)!r}, and the call was {'traced' if traced else 'answered'}"
    if traced:
        event = nx.events(function, "miss")[-1]
        if explanation.difference != event.reason:
            return f"why says {explanation.difference}, and the event {event.reason}"
        if "read anew" in str(explanation):
            return ""
        compiled = sum(where == "compiled" for _, where in explanation.kernels)
        if compiled != event.compiled:
            return f"why says {compiled} new kernels, and the event {event.compiled}"
    return ""


def _outcome(function, argument):
    try:
        return np.asarray(function(argument), np.float64)
    except Exception as error:
        return error


def _difference(got, expected) -> str:
    if isinstance(expected, Exception):
        return "" if isinstance(got, Exception) else f"{got.tolist()} came, and plain Python raises {expected!r}"
    if isinstance(got, Exception):
        return f"{type(got).__name__}: {got}, and plain Python gives {expected.tolist()}"
    if got.shape == expected.shape and np.allclose(got, expected, rtol=1e-5, atol=1e-6, equal_nan=True):
        return ""
    return f"{got.tolist()} came for {expected.tolist()}"


def shrunk(session: Session, compiler: str = "evaluator") -> Session:
    """The same failure with as few steps as can be."""
    failure = _kind(run(session, compiler).failure)
    size = len(session.steps)
    while size:
        place = 0
        while place < len(session.steps):
            shorter = replace(session, steps=session.steps[:place] + session.steps[place + size :])
            if _kind(run(shorter, compiler).failure) == failure:
                session = shorter
            else:
                place += size
        size //= 2
    return session


def _kind(failure: str) -> str:
    """What failures of one kind have in common: their first words."""
    return re.sub(r"[\d.,\[\] -]+", " ", failure)[:30]
