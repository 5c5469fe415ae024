"""Everything that a function can read: a change is seen, read anew or refused, and what comes is what Python gives."""

import contextlib
import itertools
import linecache

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxError
from recompilation import captured_objects
from recompilation.captured_objects import ANEW, FILLED, OBJECTS, REFUSED, SEEN, TEXTS

# What NumPy says of its matrices, and Python of files that nobody closed, is no matter here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
X = np.ones(3)
WRAPPERS = {"defn": nx.defn, "jit": nx.jit}
#: How an object gets to the code that reads it.
ROUTES = {
    "name": "{make}\ndef f(x): return x * ({read})",
    "argument": "{make}\ndef step(x, o): return x * ({read})\ndef f(x): return step(x, o)",
    "list": "{make}\nbox = [o]\ndef f(x):\n    o = box[0]\n    return x * ({read})",
    "attribute": "{make}\nclass Box: pass\nbox = Box()\nbox.o = o\ndef f(x):\n    o = box.o\n    return x * ({read})",
    "default": "{make}\ndef step(x, o=o): return x * ({read})\ndef f(x): return step(x)",
    "partial": "import functools\n{make}\ndef step(x, o): return x * ({read})\nstep = functools.partial(step, o=o)\n"
    "def f(x): return step(x)",
    "closure": "{make}\ndef around(o):\n    def f(x): return x * ({read})\n    return f\nf = around(o)",
}
_numbers = itertools.count()


def run(text, space):
    """Run a text as a cell, whose lines are at hand."""
    file = f"what is read {next(_numbers)}"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), space)


def binds(change):
    """Whether a change gives the name `o` to another object."""
    return any(line.startswith(("o = ", "o |= ", "o: ", "def o", "class o", "del o\n")) for line in change.split("\n"))


def calls(wrap, make, change, undo=""):
    """Two calls, a change and two more: what came, what plain Python gives, and whether the call was traced."""
    here, plain = {"__name__": "cell"}, {"__name__": "cell"}
    run(make, here)
    run(make, plain)
    function = wrap(here["f"])
    try:
        for number in range(4):
            if number == 2:
                run(change, here)
                run(change, plain)
            expected = np.asarray(plain["f"](X)).tolist()
            before = function.cache_info().misses
            got = np.asarray(function(X)).tolist()
            yield got, expected, function.cache_info().misses > before
    finally:
        with contextlib.suppress(NameError):
            run(undo, plain)


def check(answer, wrap, *texts):
    if answer == REFUSED:
        with pytest.raises(NxError):
            list(calls(wrap, *texts))
        return
    found = list(calls(wrap, *texts))
    assert [got for got, _, _ in found] == [expected for _, expected, _ in found]
    traced = [traced for *_, traced in found]
    once = {ANEW: [[True] * 4], FILLED: [[True, True, True, False]]}
    assert traced in once.get(answer, [[True, False, True, False], [True, False, False, False]])


ALWAYS = [("name", "defn"), ("argument", "jit")]
PAIRS = [
    pytest.param(route, wrap, marks=() if (route, wrap) in ALWAYS else pytest.mark.stress)
    for route in ROUTES
    for wrap in WRAPPERS
]


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize(("route", "wrap"), PAIRS)
@pytest.mark.parametrize("kind", OBJECTS, ids=lambda kind: kind.name)
def test_what_an_object_holds(kind, route, wrap):
    if route not in ("name", "argument") and binds(kind.change):
        return  # What the others hold is the object that was there.
    answer = (wrap == "defn" and kind.in_defn) or (route in ("name", "closure") and kind.by_name) or kind.answer
    check(answer, WRAPPERS[wrap], ROUTES[route].format(make=kind.make, read=kind.read), kind.change)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("kind", TEXTS, ids=lambda kind: kind.name)
def test_what_a_function_reads(kind, wrap):
    answer = (wrap == "defn" and kind.in_defn) or kind.answer
    check(answer, WRAPPERS[wrap], kind.make, kind.change, kind.undo)


def test_there_are_many_kinds():
    assert len(OBJECTS) + len(TEXTS) >= 200
    assert {kind.answer for kind in [*OBJECTS, *TEXTS]} <= {SEEN, ANEW, FILLED, REFUSED}
    assert len({kind.name for kind in [*OBJECTS, *TEXTS]}) == len(OBJECTS) + len(TEXTS), captured_objects
