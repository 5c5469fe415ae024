"""Kernels in loops: reductions over short ranges, of every length, and what is known of them when code is written."""

import re

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, spec
from nxkernel.ops.programs import control_flow

X = np.random.default_rng(0).random((70, 70))


def turns(count, body, state):
    """The state after so many turns of ``body(i, state)``."""
    return control_flow.run_while(
        [0, *state], lambda s: nx.less(s[0], count), lambda s: [s[0] + 1, *body(s[0], s[1:])], ["i", "s"]
    )[1:]


def put(x, value, place):
    return nx.put_slice(x, [place], nx.reshape(value, (1,)))


def solved(a, b):
    """The solution of a triangular system, by rows: each reads what the one before has written."""
    n = b.shape[0]

    def body(i, s):
        (x,) = s
        places = nx.iota((n,))
        known = nx.less(places, i)
        done = nx.sum(nx.select(known, a[i], 0.0) * nx.select(known, x, 0.0))
        return [put(x, (b[i] - done) / a[i, i], i)]

    return turns(n, body, [nx.broadcast(nx.f64(0.0), (n,))])[0]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 33, 70])
def test_sums_over_what_was_just_written(n):
    a, b = np.tril(X[:n, :n]) + 3 * np.eye(n), X[0, :n]
    (found,) = agree(solved, a, b, rtol=1e-12)
    np.testing.assert_allclose(a @ found, b, rtol=1e-10)


def between(x):
    """Sums of a range of each row that moves and ends before it begins."""

    def body(i, s):
        places = nx.iota((x.shape[1],))
        inside = nx.logical_and(nx.greater_equal(places, i * 3 - 5), nx.less(places, 60 - i))
        return [put(s[0], nx.sum(nx.select(inside, x[i], 0.0)), i)]

    return turns(x.shape[0], body, [nx.broadcast(nx.f64(0.0), (x.shape[0],))])[0]


def test_ranges_that_are_empty_or_leave_the_axis():
    (found,) = agree(between, X, rtol=1e-12)
    assert found.tolist() == pytest.approx([X[i, max(3 * i - 5, 0) : max(60 - i, 0)].sum() for i in range(70)])


REDUCTIONS = {
    "sum": nx.sum,
    "product": nx.product,
    "max": nx.reduce_max,
    "argmin": nx.argmin,
    "all": lambda row: nx.all(nx.greater(row, 0.01)),
    "two": lambda row: nx.sum(nx.exp(row - nx.reduce_max(row))),
}


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("length", [1, 3, 8, 9, 21, 64, 70])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_every_length(name, length):
    def function(x):
        return turns(5, lambda i, s: [s[0] * 0.5 + nx.as_type(REDUCTIONS[name](x[i]), "f64")], [nx.f64(0.0)])[0]

    agree(function, X[:, :length], rtol=1e-12)
    agree(function, X[:, :length].astype(np.float32), rtol=1e-5)


def test_the_first_of_equal_elements_wins():
    x = np.zeros((5, 70))
    x[:, [3, 40, 69]] = -1
    (found,) = agree(lambda x: turns(5, lambda i, s: [s[0] + nx.argmin(x[i])], [nx.s64(0)])[0], x)
    assert found == 15


def added_rows(x):
    return turns(5, lambda i, s: [s[0] * 0.5 + x[i]], [x[0]])[0]


def texts(*shapes):
    return [compiled(added_rows, spec("f64", *shape)) for shape in shapes]


def test_few_columns_are_part_of_the_code():
    three, four, many, more = (one.symbol for one in texts((9, 3), (9, 4), (9, 30), (9, 50)))
    assert len({three, four, many}) == 3
    assert many == more


def test_loops_of_kernels_stay_as_they_are(monkeypatch):
    from nxkernel.compilers.numba_cpu.program import program_writer

    kept = []
    write = program_writer.write
    monkeypatch.setattr(program_writer, "write", lambda *given: kept.append(write(*given)) or kept[-1])
    compiled(solved, spec("f64", 30, 30), spec("f64", 30))
    (text,) = [one.text for one in kept]
    (number,) = set(re.findall(r"br label %head\.\d+, !llvm\.loop (!\d+)", text))
    left = '!{!"llvm.loop.unroll.disable"}, !{!"llvm.loop.vectorize.enable", i1 false}'
    assert f"{number} = distinct !{{{number}, {left}}}" in text
