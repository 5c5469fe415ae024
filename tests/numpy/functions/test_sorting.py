"""Orders, places in an order, and counts, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from graph_comparison.compiled_graphs import graph_of, spec
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxTypeError
from nxkernel.graph.traverse import post_order

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])

ROWS = {
    "sort": lambda np, m: (
        np.sort(m),
        np.sort(m, axis=0),
        np.sort(m, axis=None),
        np.sort(m)[:, ::-1],
        m[0][np.argsort(m[0])],
    ),
    "argsort": lambda np, m: (np.argsort(m, kind="stable"), m.argsort(axis=0, kind="stable"), np.lexsort((m[0], m[1]))),
    "partition": lambda np, m: np.partition(m, 1)[:, 1],
    "searchsorted": lambda np, m: (
        np.searchsorted(np.sort(m[0]), 2),
        np.searchsorted(np.sort(m[1]), m[2], side="right"),
    ),
    "digitize": lambda np, m: np.digitize(m, np.array([2, 5])),
    "histogram": lambda np, m: np.histogram(m, bins=4, range=(0, 8))[0],
    "isin": lambda np, m: (np.isin(m, [1, 5]), np.isin(m[0], m[1])),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)


@pytest.mark.parametrize("bins", [1, 3, 10, 49, 256])
def test_values_on_the_bounds_of_bins_and_beyond_are_in_numpys_bins(bins):
    bounds = np.linspace(0.1, 7.3, bins + 1)
    x = np.concatenate([bounds, np.nextafter(bounds, 9), np.nextafter(bounds, -9), [np.nan, np.inf, -np.inf]])
    check(lambda np, m: np.histogram(m, bins=bins, range=(0.1, 7.3)), x)
    check(lambda np, m: np.histogram(m[: bins + 1], bins=bins), x)


def test_bins_of_one_size_are_computed_and_not_searched():
    graph = graph_of(lambda m: nnp.histogram(nnp.wrap(m), bins=256)[0].__nx_operand__(), spec("f64", 90))
    reads = [node for node in post_order(graph.outputs) if node.primitive.name == "gather"]
    assert len(reads) == 2


def test_complex_numbers_are_not_searched():
    with pytest.raises(NxTypeError, match="c128 has no order here"):
        nx.defn(lambda x: np.searchsorted(x, 1.0), promotion="numpy")(np.ones(3, complex))


def test_counts_of_known_numbers():
    weights = np.array([0.5, 1.5, 2.0])
    function = nx.defn(lambda w: (np.bincount([0, 3, 3], weights=w), np.bincount(np.array([0, 2, 2]), minlength=2)))
    for result, expected in zip(function(weights), ([0.5, 0, 0, 3.5], [1, 0, 2]), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_complex_numbers_are_sorted_by_their_parts():
    def f(x):
        return np.sort(x), np.argsort(x, axis=0), np.sort_complex(x.real), np.sort(x, axis=None)

    x = np.array([[1 + 2j, 1 - 1j, 0.5], [-1j, 3, 1 + 1j]])
    for one, other in zip(nx.jit(f)(x), f(x), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("wrapped", [nx.jit, nx.defn])
def test_counts_of_nothing_and_of_negative_numbers(wrapped):
    def shares(x):
        counts = np.bincount(x)
        return counts / counts.sum()

    assert wrapped(shares, promotion="numpy")(np.zeros(0, np.int64)).shape == (0,)
    np.testing.assert_array_equal(wrapped(shares, promotion="numpy")(np.array([0, 2, 2, 0])), [0.5, 0, 0.5])
    for x in (np.array([2, -1]), np.array([-1]), np.array([-3, -1], np.int8)):
        with pytest.raises(ValueError, match=r"^'list' argument must have no negative elements$"):
            wrapped(shares, promotion="numpy")(x)
        with pytest.raises(ValueError, match=r"^'list' argument must have no negative elements$"):
            wrapped(lambda x: np.bincount(x, minlength=4), promotion="numpy")(x)
