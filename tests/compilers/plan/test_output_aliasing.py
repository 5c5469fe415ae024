"""Results that are computed straight into the arguments that they are assigned to."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.compilers.numba_cpu.program.graph_compilation import planner
from nxkernel.compilers.plan.locations import Location
from nxkernel.graph.expr import Graph


def whole(a, out):
    out[:, :] = a * 2.0


def its_own(a, out):
    out[:, :] = out * 2.0 + a


def by_rows(a, out):
    e = np.exp(out - out.max(axis=1, keepdims=True))
    out[:, :] = e / e.sum(axis=1, keepdims=True)


def after_a_reduction(a, out):
    total = out.sum()
    out[:, :] = a * 2.0
    return total


def read_again(a, out):
    centered = out - out.mean(axis=1, keepdims=True)
    rest = out - (centered * centered).mean(axis=1, keepdims=True)
    out[:, :] = centered
    return rest


def returned(a, out):
    out[:, :] = a + 1.0
    return out


def turned(a, out):
    out[:, :] = out[::-1] * 2.0 + a


def crossed(a, out):
    one, other = a + 1.0, out + 1.0
    a[:, :] = other
    out[:, :] = one


def one_for_both(a, out):
    value = a * 2.0
    out[:, :] = value
    a[:, :] = value


def agrees(function):
    """Compare what a definition leaves in its arguments, and gives, with NumPy."""
    random = np.random.default_rng(0)
    ours = [random.random((5, 70)), random.random((5, 70))]
    theirs = [array.copy() for array in ours]
    f = nx.defn(function)
    found, expected = f(*ours), function(*theirs)
    kept = None if found is None else np.array(np.asarray(found))
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)
    if expected is not None:
        np.testing.assert_allclose(kept, expected, rtol=1e-12)
        f(*ours)
        np.testing.assert_array_equal(np.asarray(found), kept)


@pytest.mark.parametrize(
    "function", [whole, its_own, by_rows, after_a_reduction, read_again, returned, turned, crossed, one_for_both]
)
def test_arguments_are_as_numpy_leaves_them(function):
    agrees(function)


def planned_into(function):
    """The plan of a function of two arrays whose result is to be in the second one."""
    graph = graph_of(function, spec("f64", 5, 70), spec("f64", 5, 70))
    return planner().program(Graph("f", graph.parameters, graph.outputs, list, ((1, 0),)))


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


INTO = {
    "the argument is not read": lambda a, out: a * 2.0,
    "elements are read where they are written": lambda a, out: out * 2.0 + a,
    "rows are read before they are written": lambda a, out: softmax(out),
}


@pytest.mark.parametrize("name", INTO)
def test_results_in_the_argument(name):
    plan = planned_into(INTO[name])
    assert (plan.outputs, plan.arrays) == ([Location.input(1)], [])


def test_results_in_an_array_of_their_own():
    plan = planned_into(lambda a, out: nx.reverse(out, axes=[0]) + a)
    assert (plan.outputs, len(plan.arrays)) == ([Location.output(0)], 1)
