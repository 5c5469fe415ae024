"""Random sessions of a notebook: no answer is stale, and `why` says what a call then does."""

import os
import time

import pytest

from lanes import fuzzing
from notebook_sessions import random_sessions
from nxkernel.definitions.calls import graph_cache


@pytest.fixture(autouse=True)
def _few_programs(monkeypatch):
    """Programs have to make room for others soon."""
    monkeypatch.setattr(graph_cache, "PROGRAMS", 4)


def check(seed, compiler):
    session = random_sessions.drawn(seed)
    told = random_sessions.run(session, compiler)
    if told.failure:
        shorter = random_sessions.shrunk(session, compiler)
        failure = random_sessions.run(shorter, compiler).failure or told.failure
        pytest.fail(f"session {seed} with {compiler}:\n{shorter}\n{failure}")
    return told


def test_there_are_many_kinds():
    assert len(random_sessions.KINDS) >= 100


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("seed", range(24))
def test_a_session(seed):
    assert check(seed, "evaluator").calls


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("seed", range(1000, 1004))
def test_a_session_of_machine_code(seed):
    assert check(seed, "numba_cpu").calls


@pytest.mark.fuzz
@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_sessions_for_hours(compiler):
    end = time.monotonic() + float(os.environ.get(fuzzing.SECONDS, "60"))
    seed, calls = time.time_ns() % 2**32, 0
    while time.monotonic() < end:
        calls += check(seed, compiler).calls
        seed += 1
    print(f"{calls} calls")


def test_a_failure_is_told_as_cells():
    kind = next(kind for kind in random_sessions.KINDS if kind.name == "list")
    cells = [("cell", kind.make), ("cell", "p = 1"), ("cell", "def f(x): return x * o[1]"), ("call", "ones", False)]
    # What the definition reads and what Python reads are no longer the same.
    cells += [("cell", "import sys\nif 'session_here' in __name__: o[1] = 7."), ("call", "ones", True)]
    session = random_sessions.Session("nx.defn(f)", tuple(cells), ("list",))
    assert random_sessions.run(session).failure == "[7.0, 7.0, 7.0] came for [2.0, 2.0, 2.0]"
    shorter = random_sessions.shrunk(session)
    assert str(shorter) == (
        "# made by nx.defn(f); list\no = [1., 2.]\ndef f(x): return x * o[1]\n"
        "import sys\nif 'session_here' in __name__: o[1] = 7.\n# call ones True"
    )
