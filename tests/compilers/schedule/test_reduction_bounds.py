"""Sums over parts of an axis: the loop runs over the part alone, and gives what the mask gives."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, graph_of, nests, spec
from nxkernel.compilers.schedule import reduction_bounds
from nxkernel.graph.expr import Expr
from nxkernel.transforms.simplify import simplify

X = np.random.default_rng(0).random(40)


def places(x):
    return nx.iota((x.shape[-1],))


def below(x, stop):
    return nx.sum(nx.select(nx.less(places(x), stop), x, 0.0))


def between(x, start, stop):
    inside = nx.logical_and(nx.greater_equal(places(x), start), nx.less(places(x), stop))
    return nx.sum(nx.select(inside, x, 0.0) * nx.select(inside, x + 1, 0.0))


def of_one_factor(x, stop):
    return nx.sum(nx.select(nx.less(places(x), stop), x, 0.0) * (x + 1))


def otherwise_one(x, stop):
    return nx.sum(nx.select(nx.less(places(x), stop), x, 1.0))


def found(function, *specs):
    """The names of the limits of what a function sums."""
    graph = simplify(graph_of(function, spec("f64", 40), *specs))
    (operand,) = graph.outputs[0].operands
    limit = reduction_bounds.of(operand, 0)
    if limit is None:
        return None
    return tuple(number.params["name"] if isinstance(number, Expr) else None for number in limit[1:])


def test_what_limits_are():
    number = spec("s64")
    assert found(below, number) == (None, "x1")
    assert found(between, number, number) == ("x1", "x2")
    assert found(of_one_factor, number) is None
    assert found(otherwise_one, number) is None
    assert found(lambda x: nx.sum(x)) is None


@pytest.mark.parametrize("stop", [-3, 0, 1, 7, 8, 39, 40, 50])
def test_upper_limits(stop):
    (found,) = agree(below, X, np.int64(stop), rtol=1e-12)
    np.testing.assert_allclose(found, X[: max(stop, 0)].sum())


@pytest.mark.parametrize(("start", "stop"), [(0, 40), (3, 17), (16, 16), (20, 10), (-5, 90), (39, 40)])
def test_both_limits(start, stop):
    (found,) = agree(between, X, np.int64(start), np.int64(stop), rtol=1e-12)
    part = X[max(start, 0) : max(stop, 0)]
    np.testing.assert_allclose(found, (part * (part + 1)).sum())


def test_infinities_outside_do_not_count():
    x = X.copy()
    x[10:] = np.inf
    (found,) = agree(lambda x, n: between(x, nx.s64(0), n), x, np.int64(10), rtol=1e-12)
    np.testing.assert_allclose(found, (X[:10] * (X[:10] + 1)).sum())


def test_rows_with_limits():
    def function(x, stop):
        mask = nx.less(nx.iota(x.shape, axis=1), stop)
        return nx.sum(nx.select(mask, x, 0.0), axes=[1])

    x = np.random.default_rng(1).random((6, 40))
    (found,) = agree(function, x, np.int64(11), rtol=1e-12)
    np.testing.assert_allclose(found, x[:, :11].sum(1))


def test_the_limits_are_part_of_the_nest():
    (nest,) = nests(below, spec("f64", 40), spec("s64"))
    assert nest.limits == (-1, 0)
    (nest,) = nests(otherwise_one, spec("f64", 40), spec("s64"))
    assert nest.limits == ()
