"""Loops that are written out turn by turn: which ones, and what is said of it."""

import numpy as np
import pytest

import nxkernel as nx


def nodes(definition, *args):
    """The size of a graph as it is printed."""
    return len(repr(nx.debug_expr(definition)(*args)).splitlines())


def notes(name):
    return nx.events(name, "miss")[-1].notes


def test_a_loop_whose_counter_is_a_shape_is_written_out(run):
    f = run("@nx.defn\ndef f(x):\n    for i in range(1, 4):\n        x = x + nx.sum(nx.iota((i,)))\n    return x\n")[
        "f"
    ]
    assert float(f(1.0)) == 5.0
    assert notes("f") == (
        "cell.py, line 3: this loop is written out 3 times: "
        "a static whole number (a shape, an axis, range()) is needed in it",
    )
    assert str(nx.events("f", "miss")[-1]).endswith("is needed in it")


def test_only_the_loop_that_needs_it_is_written_out():
    @nx.defn
    def f(x):
        total = 0.0
        for size in range(1, 3):
            for i in range(1000):
                total += x * i + nx.sum(nx.iota((size,)))
        return total

    assert float(f(1.0)) == 2 * 499500.0 + 1000.0
    (note,) = notes("f")
    assert "this loop is written out 2 times" in note
    assert nodes(f, 1.0) < 50


def test_a_loop_that_fills_a_list_and_reads_it_is_written_out(run):
    f = run(
        "@nx.defn\n"
        "def f(x):\n"
        "    found = []\n"
        "    for i in range(3):\n"
        "        found.append(x * i)\n"
        "        x = x + len(found)\n"
        "    return nx.stack(found)\n"
    )["f"]
    assert f(2.0).to_list() == [0.0, 3.0, 10.0]
    assert notes("f") == ("cell.py, line 4: this loop is written out 3 times: it changes `found`, a Python list",)


def test_lists_of_a_failed_attempt_are_as_before():
    found = []

    @nx.defn
    def f(x):
        for i in range(3):
            found.append(i)
            x = x + nx.sum(nx.iota((len(found),)))
        return x

    f(1.0)
    assert found == [0, 1, 2]


def test_static_whiles_that_need_static_values_are_written_out():
    @nx.defn
    def fold(x):
        n = len(x)
        while n > 1:
            n = n // 2
            x = x[:n] + x[n : 2 * n]
        return x[0]

    assert float(fold(nx.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]))) == 36.0


def test_sequences_and_unroll_are_written_out():
    @nx.defn
    def f(x):
        for factor in (2.0, 3.0):
            x = x * factor
        for name, size in {"a": 1, "b": 2}.items():
            x = x + nx.sum(nx.iota((size,))) + len(name)
        for size in nx.unroll(range(3)):
            x = x + size * 10
        return x

    assert float(f(1.0)) == 6.0 + 1 + 2 + 30.0
    assert notes("f") == ()


def test_break_in_a_loop_that_is_written_out():
    @nx.defn
    def f(x):
        count = 0
        for factor in (2.0, 3.0, 4.0):
            if x > 5:
                break
            x = x * factor
            count += 1
        return x, count

    assert [[float(v) for v in f(x)] for x in (1.0, 3.0, 9.0)] == [[6.0, 2.0], [6.0, 1.0], [9.0, 0.0]]


def test_loops_of_vectorized_values_are_written_out():
    @nx.defn
    def f(x, w):
        total = 0.0
        for i in range(3):
            x = x * 2
            total += nx.sum(x) + w * i
        return total

    x, w = nx.vectorize(nx.tensor([1.0, 2.0]), "row"), nx.tensor(10.0)
    assert nx.devectorize(f(x, w)).to_list() == [44.0, 58.0]
    assert nx.devectorize(f(w, x)).to_list() == [143.0, 146.0]
    assert notes("f")[0].split(": ", 1)[1] == (
        "this loop is written out 3 times: a value with vectorized axes cannot be part of a loop or a choice of the "
        "program: vectorized[row: 2] f32"
    )


def _blocks(x):
    n = len(x)
    y = np.zeros(n)
    size = 2
    while size <= n:
        half = size // 2
        weights = np.exp(-np.arange(half) / size)
        for start in range(0, n, size):
            even = y[start : start + half] + x[start : start + half]
            odd = (x[start + half : start + size] - y[start + half : start + size]) * weights
            y[start : start + half] = even + odd
            y[start + half : start + size] = even - odd
        size *= 2
    return y


def test_blocks_whose_size_is_known_are_taken_in_a_loop():
    f = nx.defn(_blocks)
    x = np.arange(256.0)
    np.testing.assert_allclose(np.asarray(f(x)), _blocks(x), rtol=1e-12)
    (note,) = notes(f.__name__)
    assert "this loop is written out 8 times: arange with traced bounds" in note


def test_loops_that_are_written_out_many_times_say_so_meanwhile(run):
    source = (
        "def f(x):\n"
        "    total = 0\n"
        "    for i in range(len(x)):\n"
        "        total = total + nx.sum(nx.iota((i + 1,))) * 0 + x[i]\n"
        "    return total\n"
    )
    f = nx.defn(run(source)["f"])
    with pytest.warns(nx.errors.UnrolledWarning) as warned:
        assert float(f(np.ones(65))) == 65.0
    assert str(warned[0].message) == (
        "cell.py, line 3: this loop is written out turn by turn, more than 64 of them so far: "
        "a static whole number (a shape, an axis, range()) is needed in it.\n"
        "  Each turn becomes part of the program, and takes its time to trace and to compile.\n"
        "  Make it an option: declare it after `*`, as in def f(x, *, n), and call f(x, n=3).\n"
        "  `for i in nx.unroll(…)` says that it is meant to be."
    )
    assert (warned[0].filename, warned[0].lineno) == ("cell.py", 3)
    assert len(warned) == 1
    nx.defn(run(source)["f"])(np.ones(64))


def test_loops_over_lists_say_so_too_and_those_of_unroll_do_not(run):
    source = "def f(x, *, values):\n    for v in values:\n        x = x + v\n    return x\n"
    f = nx.defn(run(source)["f"])
    with pytest.warns(nx.errors.UnrolledWarning, match="more than 64 of them so far: it goes over a Python tuple"):
        f(1.0, values=(0.5,) * 65)
    assert float(nx.defn(lambda x: _unrolled(x))(1.0)) == 101.0


def _unrolled(x):
    for _ in nx.unroll(range(100)):
        x = x + 1
    return x


def test_turns_that_are_traced_again_count_once(run):
    source = (
        "def powers(x):\n"
        "    total = x\n"
        "    for i in range(8):\n"
        "        total = total + nx.sum(nx.iota((i + 1,))) * x\n"
        "    return total\n"
        "def f(x):\n"
        "    a = b = c = d = 0\n"
        "    while powers(x) < 1e6:\n"
        "        a, b, c, d = b + 0.5, c, nx.dot(nx.broadcast(d, (1,)), [1.0]), powers(x)\n"
        "        while a > 1:\n"
        "            e = powers(a)\n"
        "            a = a - nx.abs(e) - 1\n"
        "        x = powers(x)\n"
        "    return x + a + b + c + d\n"
    )
    space = run(source)
    assert float(nx.defn(space["f"])(1.0)) > 1e4


def test_turns_of_a_loop_in_a_loop_count_together():
    def f(x):
        total = 0
        for i in nx.unroll(range(8)):
            for j in range(9):
                total = total + nx.size(nx.iota((i * j + 1,))) * x
        return total

    with pytest.warns(nx.errors.UnrolledWarning, match="more than 64"):
        assert float(nx.defn(f)(2.0)) == 2 * sum(i * j + 1 for i in range(8) for j in range(9))
