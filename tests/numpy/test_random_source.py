"""Random programs of NumPy source text, beside NumPy: in values, types, shapes, and what became of their arguments.

``pytest -m fuzz tests/numpy/test_random_source.py`` goes on for ``NXKERNEL_FUZZ_SECONDS`` and prints how many there
were; ``python -m random_numpy_source --kind plain --seed 7 --programs 1000``, with ``tests/helpers`` on the path, runs
some again.
"""

import ast
import builtins
import os
import time

import numpy as np
import pytest

from lanes import fuzzing
from random_numpy_source import Difference, gradient, mapped, plain, shrunk, smooth_program, written
from random_numpy_source.__main__ import campaign
from random_numpy_source.statements import HELPERS, Statement

#: How many programs run at a time: their seeds are the same every time.
ALWAYS = {"plain": 8, "gradient": 3, "mapped": 3}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("first", [1, 101, 201])
@pytest.mark.parametrize("kind", ALWAYS)
def test_programs_give_what_numpy_gives(kind, first):
    tally = campaign(kind, first, 1e9, ALWAYS[kind], quiet=True)
    assert not tally.failed, "\n\n".join(text for _, text in tally.failed)
    assert not tally.rough, "\n\n".join(text for _, text in tally.rough)
    assert tally.agreed > 0.7 * tally.programs, str(tally)


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", ALWAYS)
def test_programs_for_hours(kind, capsys):
    with capsys.disabled():
        tally = campaign(kind, time.time_ns() % 10**9, float(os.environ.get(fuzzing.SECONDS, "60")))
    assert not tally.failed, "\n\n".join(text for _, text in tally.failed)
    assert len(tally.rough) <= 0.01 * tally.programs, "\n\n".join(f"seed {seed}: {text}" for seed, text in tally.rough)


def test_programs_are_what_their_seed_says():
    for write in (written, smooth_program):
        assert write(3).source == write(3).source
        assert len({write(seed).source for seed in range(20)}) == 20


def test_every_kind_of_statement_is_written():
    text = "\n".join(written(seed).source for seed in range(60))
    for part in (
        "for k",
        "while k",
        "break",
        "continue",
        "if ",
        "np.add.at",
        " += ",
        "[::-1]",
        ".T",
        "axis=",
        "where=",
        "i2",
    ):
        assert part in text, part
    kinds = {given[1] for seed in range(60) for given in written(seed).arguments if not isinstance(given, int)}
    assert {"f8", "f4", "f2", "i8", "i1", "u4", "?", "c16"} <= kinds


def test_what_differs_is_found_and_reduced():
    program = written(5)
    program.body.append(Statement("a0 = a0 * 1.0", name="a0"))

    def check(program):
        values = [np.asarray(value).copy() for value in program.values(0)]
        if any("* 1.0" in line for statement in program.body for line in statement.lines("")):
            raise Difference(str(values))
        return 1

    least = shrunk(program, check)
    assert [statement.text for statement in least.body] == ["a0 = a0 * 1.0"]
    assert len(least.results) == 1
    assert [plain(smooth_program(1)), gradient(smooth_program(1)), mapped(smooth_program(1))] == [3, 1, 3]


def test_names_have_a_value_wherever_they_are_used():
    # Also in what NumPy does not run: a compiled program looks at every side.
    for seed in range(120):
        (function,) = ast.parse(written(seed).source).body[-1:]
        given = {argument.arg for argument in function.args.args} | set(HELPERS) | {"np", *dir(builtins)}
        assert not unknown_names(function.body, given), seed


def unknown_names(body, known):
    """The names that statements use before something on the way to them assigns to them."""
    unknown, known = set(), set(known)
    for statement in body:
        inner = getattr(statement, "body", [])
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        if inner:
            head = statement.iter if isinstance(statement, ast.For) else statement.test
            counters = {statement.target.id} if isinstance(statement, ast.For) else set()
            unknown |= {node.id for node in ast.walk(head) if isinstance(node, ast.Name)} - known
            unknown |= unknown_names(inner, known | counters)
        else:
            unknown |= {node.id for node in names if isinstance(node.ctx, ast.Load)} - known
            known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return unknown
