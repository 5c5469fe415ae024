"""Graphs as bytes: equal for equal programs, different for whatever makes another program of one."""

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel.graph.content_bytes import contents

X = spec("f32", 3, 4)


def told(function, *specs):
    return contents(graph_of(function, *(specs or (X,))))


def test_the_same_function_at_another_line_is_the_same():
    def one(x):
        return nx.exp(x) + 1.5

    def other(x):
        return nx.exp(x) + 1.5

    assert told(one) == told(other)
    assert told(one)[1] == len(["x", "exp", "1.5", "add"])


def reused(x):
    y = nx.exp(x)
    return y + y


DIFFERENT = [
    lambda x: nx.exp(x) + 1.5,
    lambda x: nx.exp(x) + 1.5000001,
    lambda x: nx.exp(x) - 1.5,
    lambda x: nx.sum(x, axes=[0]),
    lambda x: nx.sum(x, axes=[1]),
    lambda x: x + 0.0,
    lambda x: x + -0.0,
    lambda x: x + float("nan"),
    lambda x: x + float("inf"),
    lambda x: (nx.exp(x), nx.sin(x)),
    lambda x: (nx.sin(x), nx.exp(x)),
    lambda x: nx.fori(0, 3, lambda i, x: x * 2.0, x),
    lambda x: nx.fori(0, 4, lambda i, x: x * 2.0, x),
    lambda x: nx.fori(0, 3, lambda i, x: x * 3.0, x),
    reused,
    lambda x: nx.exp(x) + nx.exp(x),
]


def test_different_programs_differ():
    found = [told(function)[0] for function in DIFFERENT]
    found += [told(DIFFERENT[0], spec(*other))[0] for other in (("f32", 4, 3), ("f64", 3, 4), ("f32", 12))]
    assert len(set(found)) == len(found)


def test_functions_have_no_contents_to_tell():
    import numba

    scalar = numba.njit(lambda a: a + 1)
    assert told(lambda x: nx.njit_map(scalar, x)) is None
