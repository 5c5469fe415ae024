"""Programs that change between calls give what plain Python gives, and why says before what a call then does."""

import itertools
import linecache

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxError
from recompilation.changing_programs import PROGRAMS

X = np.ones(3)
WRAPPERS = {"defn": nx.defn, "jit": nx.jit}
#: What stands in programs that are refused whatever changes.
REFUSED = {"defn": ["yield"], "jit": ["astype", "contextmanager"]}
_numbers = itertools.count()


def run(text, *spaces):
    file = f"program {next(_numbers)}"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    for space in spaces:
        exec(compile(text, file, "exec"), space)


@pytest.mark.sampled(every=24)
@pytest.mark.sampled(every=3, lane="fuzz")
@pytest.mark.parametrize("wrap", WRAPPERS)
@pytest.mark.parametrize("program", PROGRAMS, ids=map(str, range(len(PROGRAMS))))
def test_calls_between_changes(program, wrap):
    text, *changes = program
    here, plain = {"__name__": "cell"}, {"__name__": "cell"}
    run(text, here, plain)
    answered = 0
    try:
        definition = WRAPPERS[wrap](here["f"])
    except NxError:
        return  # Such as a generator in a definition, which is refused whatever changes.
    for change in ("", *changes):
        run(change, here, plain)
        for _ in range(2):
            expected = plain["f"](X)
            try:
                hit, before = definition.why(X).hit, definition.cache_info().misses
                got = definition(X)
            except NxError:
                continue
            np.testing.assert_allclose(np.asarray(got), expected, err_msg=change)
            assert hit == (definition.cache_info().misses == before), change
            answered += 1
    assert answered or any(part in text for part in REFUSED[wrap])
