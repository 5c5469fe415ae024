"""Single elements: which values they are, and where an element of an array is."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, inputs, make, spec
from nxkernel import primitives as p
from nxkernel.compilers.analysis import scalars
from nxkernel.compilers.analysis.scalars import Term
from nxkernel.graph.traverse import post_order

I = spec("s64")  # noqa: E741 - an index


def place(function, *specs):
    """Buffer, fixed part and terms of the element that a function reads."""
    graph = graph_of(function, *specs)
    node = graph.outputs[0]
    while node.primitive is p.reshape:
        node = node.operands[0]
    found = scalars.element_of(node)
    named = {parameter: parameter.params["name"] for parameter in graph.parameters}
    terms = [(named[t.index], t.most, t.stride) for t in found.offset.terms]
    return named[found.base], found.offset.fixed, terms


def test_an_element_at_computed_places():
    assert place(lambda x, i, j: x[i, j], spec("f32", 3, 4), I, I) == ("x0", 0, [("x1", 2, 4), ("x2", 3, 1)])


def test_an_element_of_a_part():
    found = place(lambda x, i: x[1:, ::2][i, 1], spec("f32", 3, 4), I)
    assert found == ("x0", 6, [("x1", 1, 4)])


def test_an_element_of_a_transposed_array():
    assert place(lambda x, i: nx.transpose(x)[i, 2], spec("f32", 3, 4), I) == ("x0", 8, [("x1", 3, 1)])


def test_an_element_of_a_row_of_an_array_in_another_shape():
    found = place(lambda x, i: nx.reshape(x, (2, 6))[i, 5], spec("f32", 3, 4), I)
    assert found == ("x0", 5, [("x1", 1, 6)])


def test_an_element_that_is_gathered():
    x, i = inputs(spec("f32", 3, 4), spec("s64", 1))
    node = make(p.gather, x, i, axes=(1,))
    row = make(p.slice_, node, starts=(0, 2), lengths=(1, 1), strides=(1, 1))
    found = scalars.element_of(row)
    assert (found.base, found.offset.fixed, found.offset.terms) == (x, 8, [Term(i, 3, 1, 1)])


def test_what_the_program_computes_by_itself():
    graph = graph_of(lambda x, i: nx.sum(x) * nx.exp(x[i]) + nx.sum(x + 1), spec("f32", 3), I)
    found = scalars.inline(post_order(graph.outputs))
    names = sorted(node.primitive.name for node in found)
    assert names == ["add", "dynamic_slice", "exp", "multiply"]


def test_one_of_several_picked_elements_is_read_where_they_were_put():
    # Each element of what was picked has an index of its own: after a loop, the first one's was taken for all.
    picked = nx.jit(lambda c: nx.take(nx.fori(0, 3, lambda j, s: s * 2, c), nx.tensor([16, 5, 20]))[1])
    assert picked(np.arange(30)).to_number() == 40
    along = nx.jit(lambda c, i: nx.take_along_axis(nx.fori(0, 2, lambda j, s: s + 1, c), i, axis=0)[2, 1])
    assert along(np.arange(12).reshape(4, 3), np.array([[0, 1, 2], [3, 3, 3], [1, 2, 0]])).to_number() == 9


BEFORE = {
    "a loop before": lambda c: nx.fori(0, 3, lambda _, s: s * 2, c),
    "a choice before": lambda c: nx.cond(nx.sum(c) > 0, lambda: c * 8, lambda: c),
    "nothing before": lambda c: c * 8,
}
PICKS = {
    "take": (lambda c, k: nx.take(c, k, axis=0), lambda c, k: np.take(c, k, axis=0)),
    "gather": (lambda c, k: nx.gather(c, nx.new_axis(k, -1), axes=[0]), lambda c, k: c[k]),
    "take_along_axis": (
        lambda c, k: nx.take_along_axis(c, nx.broadcast(k[:, None], (3, 5)), axis=0),
        lambda c, k: np.take_along_axis(c, np.broadcast_to(k[:, None], (3, 5)), axis=0),
    ),
}
PLACES = {
    "a known one": lambda t, i: t[1, 2],
    "a traced one": lambda t, i: t[i, i + 1],
    "one of a row": lambda t, i: t[2][i],
    "one of a column": lambda t, i: t[:, 1][i],
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
@pytest.mark.parametrize(("mine", "theirs"), PICKS.values(), ids=PICKS)
def test_elements_of_what_was_picked(before, mine, theirs):
    def places(c, k, i):
        picked = mine(before(c), k)
        found = [place(picked, i) for place in PLACES.values()]
        # In a loop they are single numbers of the program, too.
        return *found, nx.fori(0, 3, lambda j, s: s + picked[j, i], nx.tensor(0))

    c, k = np.arange(30).reshape(6, 5), np.array([4, 1, 5])
    picked = theirs(c * 8, k)
    expected = [place(picked, 1) for place in PLACES.values()]
    found = nx.jit(places)(c, k, np.int64(1))
    assert [one.to_number() for one in found] == [*expected, picked[:, 1].sum()]
