"""Rows that are reduced several at a time: the same bits as one by one, whatever is left over."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, planned, spec
from nxkernel.compilers.numba_cpu.codegen import row_reductions

MATRIX, VECTOR = spec("f32", 30, 40), spec("f32", 40)

SUITED = {
    "sums": (lambda a: nx.sum(a, axes=[1]), [MATRIX], True),
    "a matrix and a vector": (nx.dot, [MATRIX, VECTOR], True),
    "variances, in two passes": (lambda a: nx.variance(a, axes=[1]), [MATRIX], True),
    "one sum": (nx.sum, [VECTOR], False),
    "columns": (lambda a: nx.sum(a, axes=[0]), [MATRIX], False),
    "elements that are written too": (lambda a: a / nx.sum(a, axes=[1], keep_axes=True), [MATRIX], False),
    "long terms": (lambda a: nx.sum(((((a * a + 1) * a + 2) * a + 3) * a + 4) * a + 5, axes=[1]), [MATRIX], False),
}


def nest_of(function, specs):
    return planned(function, *specs).steps[-1].work.nest


@pytest.mark.parametrize("name", SUITED)
def test_which_nests_suit(name):
    function, specs, expected = SUITED[name]
    nest = nest_of(function, specs)
    assert row_reductions.suits(nest) is expected
    rng = np.random.default_rng(0)
    agree(function, *[rng.integers(0, 3, s.shape).astype("f4") for s in specs], rtol=1e-6)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("length", [1, 15, 64, 65, 200])
def test_all_rows_are_reduced_alike(count, length):
    rng = np.random.default_rng(count * length)
    a = np.repeat(rng.standard_normal((1, length)), count, axis=0).astype("f4")
    found = nx.jit(lambda a: nx.sum(a * 0.1, axes=[1]))(a).to_numpy()
    assert len(set(found.tolist())) == 1
    agree(lambda a: nx.reduce_max(a, axes=[1]), a)
    agree(lambda a: nx.argmax(a, axis=1), a)
    agree(lambda a: nx.all(a, axes=[1]), a)
    agree(lambda a: nx.sum(a, axes=[1]), a, rtol=1e-5, atol=1e-5)
    agree(lambda a: nx.sum(a, axes=[1]), (a + 1j * a).astype("c8"), rtol=1e-5, atol=1e-5)


def test_in_a_loop_what_a_turn_has_written_is_read_by_the_next_one():
    def turns(w, x):
        state, _ = nx.scan(lambda state, x: (nx.dot(w, state) * 0.5 + x, ()), x[0], x)
        return state

    rng = np.random.default_rng(1)
    w, x = rng.standard_normal((37, 37)) / 6, rng.standard_normal((50, 37))
    state = x[0]
    for row in x:
        state = w @ state * 0.5 + row
    np.testing.assert_allclose(nx.jit(turns)(w, x).to_numpy(), state, rtol=1e-12)
