"""Updates in place: which values take over the memory of others, and what must be computed before."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, graph_of, planned, spec
from nxkernel import primitives as p
from nxkernel.compilers.plan import in_place_updates
from nxkernel.compilers.plan.program_plan import Control
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.graph.traverse import post_order, users
from nxkernel.ops.machinery.dispatch import apply, filled
from nxkernel.ops.programs import control_flow
from nxkernel.transforms.simplify import simplify
from nxkernel.types import s64

X, I = spec("f32", 4, 5), spec("s64")  # noqa: E741 - an index


def found(function, *specs, writable=(0,)):
    """The update of a graph, what it could be in the memory of, and what must be computed before."""
    graph = simplify(graph_of(function, *specs))
    order = post_order(graph.outputs)
    allowed = {graph.parameters[place] for place in writable}
    shared = in_place_updates.candidates(order, graph.outputs, users(order), allowed, lambda node: {})
    named = {parameter: parameter.params["name"] for parameter in graph.parameters}
    apart = []
    for node, old in shared.items():
        apart += [
            value.primitive.name
            for value in in_place_updates.computed_before(node, old, lambda value: shared.get(value, value))
        ]
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


def test_a_row_computed_from_another_one_needs_no_memory():
    def function(x, i):
        return nx.put_slice(x, [i, 0], row(x, i + 1) * 2)

    assert found(function, X, I) == (["x0"], [])
    x = np.random.default_rng(0).random((4, 5))
    for place in range(4):
        agree(function, x, np.int64(place))


def eliminated(x):
    """Rows from which a multiple of the first one is taken, each by a number that is read from them."""

    def body(s):
        i, a = s
        return [i + 1, nx.put_slice(a, [i, 0], row(a, i) - row(a, 0) * (a[i, 0] / a[0, 0]))]

    return control_flow.run_while([1, x], lambda s: nx.less(s[0], x.shape[0]), body, "ix")[1]


def test_single_numbers_of_a_program_are_computed_before_in_any_case():
    x = np.random.default_rng(0).random((4, 50)) + 1
    (loop,) = [step.work for step in planned(eliminated, x).steps if isinstance(step.work, Control)]
    assert sum(isinstance(step.work, BoundNest) for step in loop.parts[1].steps) == 1
    (changed,) = agree(eliminated, x, atol=1e-13)
    np.testing.assert_allclose(changed[1:], x[1:] - x[0] * (x[1:, :1] / x[0, 0]), atol=1e-13)


def test_a_row_that_is_turned_is_computed_before():
    assert found(lambda x, i: nx.put_slice(x, [i, 0], row(x, i)[:, ::-1]), X, I) == (["x0"], ["slice"])


def test_a_square_that_is_transposed_is_computed_before():
    def function(x):
        return nx.put_slice(x, [0, 0], nx.transpose(x[:64, :64]) + 1)

    assert found(function, spec("f64", 64, 70)) == (["x0"], ["add"])
    agree(function, np.random.default_rng(0).random((64, 70)))


def test_a_part_shifted_over_itself_is_computed_before():
    assert found(lambda x: nx.put_slice(x, [0, 1], x[:, :4] + 1), X) == (["x0"], ["add"])


def test_a_part_that_stays_where_it_is():
    assert found(lambda x: nx.put_slice(x, [0, 1], x[:, 1:] + 1), X) == (["x0"], [])


def every_second(x, change):
    zero = filled(0, s64, ())
    return apply(p.put_strided, x, change(x[::2, 1:]), zero, filled(1, s64, ()), strides=(2, 1))


def test_places_that_lie_apart_keep_their_elements():
    assert found(lambda x: every_second(x, lambda part: part + 1), X) == (["x0"], [])
    assert found(lambda x: every_second(x, lambda part: part[::-1] + 1), X) == (["x0"], ["add"])
    assert found(lambda x: every_second(x, lambda part: nx.put_slice(part, [0, 0], part[:1] * 0)), X)[0] == ["x0"]
    before = np.arange(20.0).reshape(4, 5)
    expected = before.copy()
    expected[::2, 1:] += 1
    assert (
        nx.jit(lambda x: every_second(x, lambda part: part + 1), promotion="nx")(before).to_list() == expected.tolist()
    )


def test_sums_at_places_of_what_is_read():
    def function(x, places):
        return nx.indexed_add(x, places, x[0, :2])

    assert found(function, X, spec("s64", 2, 2)) == (["x0"], ["reshape"])


def test_below():
    (output,) = graph_of(lambda x: nx.reshape(nx.reshape(nx.exp(x), (20,)), (2, 10)), X).outputs
    assert in_place_updates.below(output).primitive is p.exp


@pytest.mark.parametrize(
    "function",
    [
        lambda x: nx.put_slice(x, [0, 0], nx.transpose(x[0:3, 0:3])),
        lambda x: nx.put_slice(x, [1, 1], x[1:3, 1:3] + nx.transpose(x[1:3, 1:3])),
        lambda x: nx.put_slice(x, [1, 0], nx.reverse(x[1:3])),
        lambda x: nx.put_slice(x, [1, 0], nx.broadcast(nx.sum(x[1:3], axes=[0]), (2, 5))),
    ],
    ids=["turned", "added to what is turned", "backwards", "sums"],
)
def test_elements_that_are_written_elsewhere_than_they_were_read(function):
    before = np.arange(20.0).reshape(4, 5)
    after = np.array(before)
    again = np.asarray(nx.jit(lambda x: function(x) * 1)(before))

    @nx.defn
    def assigned(x):
        x[:, :] = function(x * 1)

    assigned(after)
    np.testing.assert_array_equal(after, again)
    agree(lambda x: nx.add(function(nx.add(x, 1.0)), 1.0), before)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: nx.put_slice(nx.dot(x, nx.transpose(x)), [0, 0], nx.broadcast(nx.f64(1.0), (1, 1))),
        lambda x: nx.put_slice(nx.sum(x * x, axes=[1]), [2], nx.broadcast(nx.f64(1.0), (1,))),
        lambda x: nx.put_slice(nx.cumulative_sum(x), [2, 0], nx.broadcast(nx.f64(1.0), (1, 5))),
    ],
    ids=["a product", "sums", "running sums"],
)
def test_what_is_updated_is_computed_first(function):
    agree(function, np.arange(20.0).reshape(4, 5), rtol=1e-14)


def test_a_copy_that_is_returned_stays_as_it_was():
    @nx.defn
    def doubled(a):
        a[0] = 5.0
        before = a * 1.0
        a *= 2.0
        return before

    array = np.ones(3)
    assert doubled(array).tolist() == [5.0, 1.0, 1.0]
    assert array.tolist() == [10.0, 2.0, 2.0]


def factor(a):
    """The Cholesky factor of a matrix, put into it."""
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] **= 0.5


def orthonormal(q):
    """Columns made orthonormal, one after the other."""
    for j in range(q.shape[1]):
        for i in range(j):
            q[:, j] -= np.dot(q[:, i], q[:, j]) * q[:, i]
        q[:, j] /= np.sqrt(np.dot(q[:, j], q[:, j]))


def relaxed(a, b):
    """Neighbours' means, from one array to the other and back."""
    for _ in range(3):
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[1:-1, 1:-1] = 0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


LOOPS = {
    factor: [np.eye(40) * 40 + 1.0],
    orthonormal: [np.random.default_rng(0).random((40, 30))],
    relaxed: [np.random.default_rng(1).random((40, 40)), np.zeros((40, 40))],
}


@pytest.mark.parametrize("program", LOOPS, ids=lambda program: program.__name__)
def test_no_program_of_loops_copies_an_array(program):
    expected, arrays = ([array.copy() for array in LOOPS[program]] for _ in range(2))
    program(*expected)
    definition = nx.defn(program)
    definition(*arrays)
    for found, wanted in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    titles = [kernel.title for kernel in definition.compilations()[-1].kernels]
    assert not any(title.startswith(f"map of {array.size}, 1 read, 1 write") for title in titles for array in arrays)
