"""Updates in place: which values take over the memory of others, and what must be computed before."""

import nxkernel as nx
from compiling import graph_of, spec
from nxkernel import primitives as p
from nxkernel.compilers import updates
from nxkernel.graph.traverse import post_order, users
from nxkernel.transforms.simplify import simplify

X, I = spec("f32", 4, 5), spec("s64")  # noqa: E741 - an index


def found(function, *specs, writable=(0,)):
    """The update of a graph, what it could be in the memory of, and what must be computed before."""
    graph = simplify(graph_of(function, *specs))
    order = post_order(graph.outputs)
    allowed = {graph.parameters[place] for place in writable}
    shared = updates.candidates(order, graph.outputs, users(order), allowed, lambda node: {})
    named = {parameter: parameter.params["name"] for parameter in graph.parameters}
    apart = []
    for node, old in shared.items():
        apart += [value.primitive.name for value in updates.apart(node, old, lambda value: shared.get(value, value))]
    return [named.get(old, old.primitive.name) for old in shared.values()], apart


def row(x, i):
    return nx.new_axis(x[i], 0)


def test_an_update_of_a_parameter_that_may_be_written_to():
    assert found(lambda x, v: nx.put_slice(x, [0, 0], v), X, spec("f32", 1, 5)) == (["x0"], [])


def test_others_parameters_are_not_written_to():
    assert found(lambda x, v: nx.put_slice(x, [0, 0], v), X, spec("f32", 1, 5), writable=()) == ([], [])


def test_an_update_of_an_update():
    def function(x, v):
        return nx.put_slice(nx.put_slice(x, [0, 0], v), [1, 0], v)

    assert found(function, X, spec("f32", 1, 5)) == (["x0", "put_slice"], [])


def test_a_value_that_is_a_result_is_kept():
    def function(x, v):
        first = nx.put_slice(x, [0, 0], v)
        return first, nx.put_slice(first, [1, 0], v)

    assert found(function, X, spec("f32", 1, 5)) == (["x0"], [])


def test_one_of_two_updates_of_a_value():
    def function(x, v):
        return nx.put_slice(x, [0, 0], v), nx.put_slice(x, [1, 0], v)

    assert found(function, X, spec("f32", 1, 5)) == (["x0"], [])


def test_a_value_that_is_put_into_itself_is_copied():
    assert found(lambda x: nx.put_slice(x, [0, 0], x), X) == ([], [])


def test_a_row_computed_from_itself_needs_no_memory():
    assert found(lambda x, i: nx.put_slice(x, [i, 0], row(x, i) * 2), X, I) == (["x0"], [])


def test_a_row_computed_from_another_one_is_computed_before():
    assert found(lambda x, i: nx.put_slice(x, [i, 0], row(x, i + 1) * 2), X, I) == (["x0"], ["multiply"])


def test_a_part_shifted_over_itself_is_computed_before():
    assert found(lambda x: nx.put_slice(x, [0, 1], x[:, :4] + 1), X) == (["x0"], ["add"])


def test_a_part_that_stays_where_it_is():
    assert found(lambda x: nx.put_slice(x, [0, 1], x[:, 1:] + 1), X) == (["x0"], [])


def test_sums_at_places_of_what_is_read():
    def function(x, places):
        return nx.indexed_add(x, places, x[0, :2])

    assert found(function, X, spec("s64", 2, 2)) == (["x0"], ["reshape"])


def test_below():
    (output,) = graph_of(lambda x: nx.reshape(nx.reshape(nx.exp(x), (20,)), (2, 10)), X).outputs
    assert updates.below(output).primitive is p.exp
