"""Functions that would run once while a definition is traced are refused, or loops that call them are written out."""

import os
import random
import time

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

X = np.ones(2)
rng = np.random.default_rng(0)
old = np.random.RandomState(0)
dice = random.Random(0)


def drawn(x):
    return nx.sin(x) + rng.normal(size=2)


def drawn_before(x):
    return nx.sin(x) + old.rand(2)


def drawn_by_python(x):
    return nx.sin(x) * random.random()


def thrown(x):
    return nx.sin(x) * dice.uniform(0, 1)


def seeded(x):
    np.random.seed(1)
    return nx.sin(x)


def made(x):
    return nx.sin(x) + np.random.default_rng().random()


def made_of_bits(x):
    return nx.sin(x) + np.random.Generator(np.random.PCG64()).random()


def made_by_python(x):
    return nx.sin(x) + random.Random().random()


def timed(x):
    return x + time.perf_counter()


def set_outside(x):
    return x * float(os.environ.get("SCALE", "1"))


def asked(x):
    return x * float(os.getenv("SCALE", "1"))


def by_text(x):
    return x * globals()["X"]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (drawn, "np.random.normal() in a definition would draw its numbers once, when it is traced."),
        (drawn_before, "np.random.rand() in a definition would draw its numbers once, when it is traced."),
        (drawn_by_python, "random.random() in a definition would draw once, when it is traced."),
        (thrown, "random.uniform() in a definition would draw once, when it is traced."),
        (seeded, "np.random.seed() in a definition would draw its numbers once, when it is traced."),
        (made, "np.random.default_rng() in a definition would draw its numbers once, when it is traced."),
        (made_of_bits, "np.random.PCG64() in a definition would draw its numbers once, when it is traced."),
        (made_by_python, "random.Random() in a definition would draw once, when it is traced."),
        (timed, "time.perf_counter() in a definition would look at the clock once, when it is traced."),
        (set_outside, "a definition would read the environment once, when it is traced."),
        (asked, "a definition would read the environment once, when it is traced."),
        (by_text, "globals() in a definition is looked at once, when it is traced."),
    ],
)
def test_what_would_run_once_is_refused(function, text):
    with pytest.raises(NxTypeError) as caught:
        nx.defn(function)(X)
    first, line, *hints = str(caught.value).split("\n")
    assert first == text
    assert line.startswith("  test_trace_time_calls.py, line ")
    assert hints


@pytest.mark.parametrize("function", [made, made_of_bits, made_by_python])
def test_jit_makes_no_generators_by_the_rules_of_nx(function):
    with pytest.raises(NxTypeError, match=r"^(np\.)?random\.\w+\(\) in a definition would draw "):
        nx.jit(function)(nx.tensor(X))


def test_the_whole_text():
    with pytest.raises(NxTypeError) as caught:
        nx.defn(timed)(X)
    line = timed.__code__.co_firstlineno + 1
    assert str(caught.value) == (
        "time.perf_counter() in a definition would look at the clock once, when it is traced.\n"
        f"  test_trace_time_calls.py, line {line}:  return x + time.perf_counter()\n"
        "  Take the time outside, around the call: the program itself runs there."
    )


def test_jit_draws_at_each_call():
    """Its functions run as they are; since they change the generator, their programs are not kept."""
    mine, theirs = np.random.default_rng(1), np.random.default_rng(1)
    f = nx.jit(lambda x: x + mine.normal())
    assert [f(0.0).item() for _ in range(3)] == [np.float32(theirs.normal()) for _ in range(3)]


@pytest.mark.usefixtures("ahead_of_calls")
def test_items_of_iterators_in_loops():
    def f(x, n):
        items = iter([1.0, 2.0, 4.0])
        for _ in range(n):
            x[0] += next(items)
        return x

    assert nx.defn(f, promotion="numpy")(np.zeros(2), 3).tolist() == [7.0, 0.0]
    with pytest.raises(NxTypeError) as caught:
        nx.defn(f, promotion="numpy")(np.zeros(2), np.int64(3))
    assert str(caught.value).startswith("this loop cannot be compiled: it takes the next item of an iterator.\n")


def test_items_of_iterators_in_choices():
    @nx.defn
    def f(x):
        items = iter([1.0, 2.0])
        y = next(items)
        if x > 0:
            y = next(items)
        return y + next(items)

    with pytest.raises(NxTypeError) as caught:
        f(1.0)
    what, *_, hint = str(caught.value).split("\n")
    assert what == "this `if` cannot be compiled: it takes the next item of an iterator."
    assert hint == "  Do that before it, whatever its condition is."


def test_files_are_opened_for_reading(tmp_path):
    path = tmp_path / "factor"
    path.write_text("3")

    @nx.defn(promotion="numpy")
    def read(x):
        with open(path) as file:
            return x * float(file.read())

    @nx.defn(promotion="numpy")
    def written(x):
        with open(path, "w") as file:
            file.write("4")
        return x

    assert read(X).tolist() == [3, 3]
    with pytest.raises(NxTypeError, match=r"^open\(..., 'w'\) in a definition would write when it is traced"):
        written(X)
    assert path.read_text() == "3"
