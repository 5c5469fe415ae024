"""Functions as graphs of one entry, and graphs put into a trace."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.definitions.autodiff import differentiated_variables
from nxkernel.definitions.keys import containers
from nxkernel.definitions.tracing import subgraphs
from nxkernel.errors import NxTypeError
from nxkernel.graph.tracing import VectorizedValueError
from nxkernel.graph.traverse import post_order
from nxkernel.primitives import Spec

ROW = Spec(types.f64, (3,), (None,))
ROWS = np.array([[0.5, 1.0, 2.0], [-1.0, 3.0, 0.25]])
REFUSE = differentiated_variables.no_value("f")


def test_what_is_used_from_outside_comes_last():
    w = nx.f64([1.0, 2.0, 3.0])

    def whole(x):
        graph, outside, structure = subgraphs.traced("f", lambda t: {"s": t * w, "x": x}, [("t", ROW)], REFUSE)
        assert [str(one.spec) for one in graph.parameters] == ["f64[3]", "f64[3]", "f64"]
        assert [one.params["index"] for one in graph.parameters] == [0, 1, 2]
        assert containers.describe(structure) == "{'s': ·, 'x': ·}"
        product, same = subgraphs.placed(graph, [nx.f64([1.0, 1.0, 2.0]), *outside])
        return product, same

    product, same = nx.jit(whole)(nx.f64(7.0))
    assert (product.to_list(), same.to_number()) == ([1.0, 2.0, 6.0], 7.0)


def test_arrays_that_were_assigned_into_are_read():
    def program(a):
        a[0] = 5.0
        graph, outside, _ = subgraphs.traced("f", lambda t: t * a[0], [("t", ROW)], REFUSE)
        (made,) = subgraphs.placed(graph, [nx.f64([1.0, 2.0, 3.0]), *outside])
        return np.sum(made)

    assert float(nx.defn(program, promotion="numpy")(np.array([1.0, 2.0]))) == 30.0


def test_entries_of_vectorized_axes():
    def whole(rows, by):
        graph, outside, _ = subgraphs.traced("f", lambda t, k: [nx.sum(t) * k, k], [("t", ROW), ("k", by.spec)], REFUSE)
        return tuple(subgraphs.placed(graph, [rows, by, *outside]))

    product, same = nx.jit(whole)(nx.vectorize(nx.tensor(ROWS), "row"), nx.f64(2.0))
    assert product.vectorized_axes == same.vectorized_axes == (("row", 2),)
    assert (product.to_list(), same.to_list()) == ([7.0, 4.5], [2.0, 2.0])


def test_what_nothing_goes_into_is_made_where_it_is_needed():
    def whole(x):
        graph, _, _ = subgraphs.traced("f", lambda t: t * nx.iota((3,)), [("t", ROW)], REFUSE)
        (made,) = subgraphs.placed(graph, [x])
        inside, before = (
            [node for node in post_order([one]) if node.primitive is p.iota] for one in (made, graph.outputs[0])
        )
        assert len(inside) == len(before) == 1
        assert inside[0] is not before[0]
        return made

    assert nx.jit(whole)(nx.f64([1.0, 1.0, 1.0])).to_list() == [0.0, 1.0, 2.0]


def test_what_is_refused():
    rows = nx.tensor(ROWS)

    def vectorized(x):
        return subgraphs.traced("f", lambda t: nx.vectorize(rows, "row"), [("t", ROW)], REFUSE)

    with pytest.raises(VectorizedValueError, match="a value with vectorized axes cannot be part of a loop"):
        nx.jit(vectorized)(1.0)
    with pytest.raises(NxTypeError, match="f: the function gives no tensor: the result is None"):
        nx.jit(lambda x: subgraphs.traced("f", lambda t: None, [("t", ROW)], REFUSE))(1.0)
