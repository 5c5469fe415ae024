"""Random functions of nested choices, loops and jumps: their twins do the same, whichever side is tried first."""

import contextlib
import linecache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nxkernel.definitions.syntax import rewritten
from source_rewriting.plain_runtime import Frozen, PlainRuntime, Unassigned
from source_rewriting.random_functions import Writer


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


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9))
def test_random_functions(seed):
    compare(seed)


@pytest.mark.fuzz
def test_many_random_functions():
    for seed in range(20_000):
        compare(seed)


def test_a_rest_that_nothing_goes_on_to():
    """Both sides seem to go on, and one of them ends in a loop whose `else` returns."""
    compare(39955986)
