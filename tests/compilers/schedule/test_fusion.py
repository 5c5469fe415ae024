"""Which values are kept in memory, and which nest computes each: programs as people write them."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, compiled, make, nests, planned, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.plan.locations import Location
from nxkernel.compilers.schedule.fusion import MOST_REDUCTIONS, weight
from nxkernel.compilers.schedule.loop_nest import PassLevel

M = spec("f32", 300, 200)


def softmax(x):
    e = nx.exp(x - nx.reduce_max(x, axes=[1], keep_axes=True))
    return e / nx.sum(e, axes=[1], keep_axes=True)


def layer_norm(x):
    moved = x - nx.mean(x, axes=[1], keep_axes=True)
    return moved * nx.rsqrt(nx.mean(moved * moved, axes=[1], keep_axes=True) + 1e-5)


def standardized(x):
    moved = x - nx.mean(x, axes=[0], keep_axes=True)
    return moved / nx.sqrt(nx.mean(moved * moved, axes=[0], keep_axes=True))


def chain(x):
    for number in range(200):
        x = nx.tanh(x) * 0.5 + number
    return x


def distances(x):
    squares = nx.sum(x * x, axes=[1])
    return nx.sqrt(nx.new_axis(squares, 1) + nx.new_axis(squares, 0) - 2 * nx.dot(x, nx.transpose(x)))


#: For each program the kind of each nest, and how often it goes over its full space.
PROGRAMS = {
    "element by element": (lambda x: nx.exp(x) * x + 1, [("map", 1)]),
    "a long chain": (chain, [("map", 1)]),
    "softmax": (softmax, [("rows", 3)]),
    "layer norm": (layer_norm, [("rows", 3)]),
    "standardized columns": (standardized, [("columns", 3)]),
    "log of the sum of exponentials": (lambda x: nx.logsumexp(x, axes=[1]), [("rows", 2)]),
    "mean of rows": (lambda x: nx.mean(x, axes=[1]), [("rows", 1)]),
    "mean of columns": (lambda x: nx.mean(x, axes=[0]), [("columns", 1)]),
    "variance": (lambda x: nx.variance(x, axes=[1]), [("rows", 2)]),
    "both extremes": (lambda x: (nx.reduce_max(x, axes=[1]), nx.reduce_min(x, axes=[1])), [("rows", 1)]),
    "a place": (lambda x: nx.argmax(x, axis=1), [("rows", 1)]),
    "two outputs of one input": (lambda x: (nx.sin(x), nx.cos(x)), [("map", 1)]),
    "an output and its sum": (lambda x: (nx.exp(x), nx.sum(nx.exp(x), axes=[1])), [("rows", 1)]),
    "rows, then columns": (lambda x: nx.sum(softmax(x), axes=[0]), [("rows", 2), ("columns", 1)]),
    "what follows a reduction": (lambda x: nx.sqrt(nx.mean(x * x, axes=[1])), [("rows", 1)]),
    "everything": (lambda x: nx.sum(x), [("rows", 1)]),
    "transposed": (lambda x: nx.transpose(x) * 2, [("map", 1)]),
    "a slice backwards": (lambda x: x[::-2, 3:50] + 1, [("map", 1)]),
    "turned and reduced": (lambda x: nx.sum(nx.transpose(x), axes=[0]), [("rows", 1)]),
    "joined": (lambda x: nx.concatenate([x, x * 2], axis=0), [("map", 1), ("map", 1)]),
    "padded": (lambda x: nx.pad(x, 0, [(1, 1, 0), (2, 2, 0)]), [("map", 1)] * 5),
    "one place of a table": (lambda x: x[nx.argmax(x[:, 0])], [("rows", 1), ("map", 1)]),
}  # fmt: skip


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    function, expected = PROGRAMS[name]
    found = nests(function, M)
    assert [
        (nest.kind, sum(nest_pass.level is PassLevel.FULL for nest_pass in nest.passes)) for nest in found
    ] == expected
    x = np.random.default_rng(0).standard_normal(M.shape).astype("f4")
    agree(function, x, rtol=2e-5, atol=2e-5)


def test_an_output_that_is_a_reshape_costs_no_kernel():
    plan = planned(lambda x: (nx.exp(x), nx.reshape(nx.exp(x), (60_000,))), M)
    assert len(plan.steps) == 1
    assert plan.outputs == [Location.output(0)] * 2
    x = np.random.default_rng(0).random(M.shape, "f4")
    first, second = compiled(lambda x: (nx.exp(x), nx.reshape(nx.exp(x), (60_000,))), M).run([x])
    assert np.shares_memory(first, second)
    assert second.shape == (60_000,)


def test_the_same_output_twice_is_computed_once():
    plan = planned(lambda x: (nx.exp(x), nx.exp(x)), M)
    assert (len(plan.steps), len(plan.arrays), plan.outputs) == (1, 1, [Location.output(0)] * 2)


def test_a_product_between_loops():
    plan = planned(distances, spec("f32", 100, 64))
    kinds = [getattr(getattr(step.work, "nest", None), "kind", "product") for step in plan.steps]
    assert sorted(kinds) == ["map", "product", "rows"]
    assert kinds[-1] == "map"


def count(function, name, *specs):
    """How many instructions of a name there are in all nests."""
    return sum(op.name == name for nest in nests(function, *specs) for op in nest.ops())


def test_a_costly_value_of_several_nests_is_computed_once():
    def function(x):
        y = nx.exp(x) * 2
        return nx.sum(y, axes=[0]), nx.sum(y, axes=[1]), nx.transpose(y) + x[:200, :1]

    assert count(function, "exp", M) == 1


def test_a_cheap_value_of_several_nests_is_computed_in_each():
    def function(x):
        y = x + 1
        return nx.sum(y, axes=[0]), nx.sum(y, axes=[1])

    assert len(planned(function, M).steps) == 2
    assert planned(function, M).workspace == 0
    assert count(function, "add", M) == 2


def test_a_costly_value_that_is_spread_is_computed_before():
    def function(x, y):
        return nx.exp(nx.new_axis(x, 1)) + y

    assert len(planned(function, spec("f32", 300), M).steps) == 2


def test_a_costly_value_of_two_passes_is_kept_for_the_second():
    assert count(softmax, "exp", M) == 1


def test_rows_too_long_to_be_kept_are_computed_again():
    assert count(softmax, "exp", spec("f32", 100, 30_000)) == 2


def test_a_long_row_of_reductions_is_cut():
    def function(x):
        for _ in range(40):
            x = x - nx.sum(x, axes=[1], keep_axes=True)
        return x

    found = nests(function, M)
    assert 3 < len(found) < 14
    assert all(sum(len(nest_pass.reduces) for nest_pass in nest.passes) <= MOST_REDUCTIONS for nest in found)


def test_what_waits_for_another_nest_is_not_joined_with_what_that_waits_for():
    def function(x):
        rows = nx.sum(x, axes=[1], keep_axes=True)
        columns = nx.sum(x * rows, axes=[0], keep_axes=True)
        return nx.sum(x * columns, axes=[1], keep_axes=True) + rows

    agree(function, np.random.default_rng(0).integers(-3, 3, M.shape).astype("f4") / 64)
    assert len(nests(function, M)) == 3


def test_a_table_that_is_read_at_a_computed_place_is_whole_before():
    def function(x, n):
        table = nx.exp(x)
        part = make(p.dynamic_slice, table, n, lengths=(2,), strides=(1,))
        return part * 2 + table[:2]

    agree(function, np.arange(4, dtype="f4") / 4, np.array(5), rtol=1e-6)


def test_broadcast_differences_are_never_stored():
    def function(x):
        return nx.sum((nx.new_axis(x, 1) - nx.new_axis(x, 0)) ** 2, axes=[2])

    plan = planned(function, spec("f32", 20, 96))
    assert (len(plan.steps), plan.workspace) == (1, 0)
    agree(function, np.random.default_rng(0).integers(-4, 5, (20, 96)).astype("f4"))


def test_a_nest_does_not_wait_for_a_product_that_waits_for_it():
    def function(x, w):
        return nx.dot(nx.exp(x), w) + x

    plan = planned(function, spec("f32", 64, 96), spec("f32", 96, 96))
    assert [hasattr(step.work, "nest") for step in plan.steps] == [True, False, True]
    rng = np.random.default_rng(0)
    agree(function, rng.random((64, 96), "f4"), rng.random((96, 96), "f4"), rtol=1e-5)


def test_a_value_that_is_read_at_a_computed_place_is_not_overwritten():
    def function(x, y, start):
        part = make(p.dynamic_slice, nx.exp(x), start, lengths=(300_000,), strides=(1,))
        return nx.concatenate([part, y])

    rng = np.random.default_rng(0)
    x, y = rng.random(400_000), rng.random(500_000)
    for start in (5_000, 100_000, 10**9, -3):
        agree(function, x, y, np.array(start), rtol=1e-14)


@pytest.mark.parametrize(("primitive", "least"), [(p.add, 1), (p.exp, 5), (p.power, 20), (p.reshape, 0)])
def test_weights(primitive, least):
    operands = {p.add: 2, p.power: 2}.get(primitive, 1)
    params = {"shape": (2,), "names": (None,)} if primitive is p.reshape else {}
    node = make(primitive, *[make(p.iota, type=types.f32, shape=(2,), names=(None,), axis=0)] * operands, **params)
    assert weight(node) >= least
    assert weight(node) > 0 or primitive is p.reshape


@pytest.mark.parametrize("steps", [5, 8, 11, 20])
def test_each_value_that_is_kept_has_a_kernel(steps):
    # Each round of grouping finds that one more of such values is computed at several places.
    def differences(x):
        for _ in range(steps):
            x = x[1:] - x[:-1]
        return x

    start = np.arange(25.0) ** 2 % 7
    np.testing.assert_array_equal(nx.defn(differences, promotion="numpy")(start), np.diff(start, steps))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, y: nx.tanh(nx.dot(x, y)), ["rows", "map"]),
        (lambda x, y: nx.dot(x, y) * 2.0 + 1.0, ["rows"]),
        (lambda x, y: nx.log(nx.sum(nx.exp(x), axes=[1])), ["rows"]),
    ],
    ids=["a function of short rows' sums", "little after a sum", "a function beside rows of functions"],
)
def test_functions_of_short_rows_are_computed_by_vectors(function, expected):
    found = nests(function, spec("f32", 64, 64), spec("f32", 64))
    assert [nest.kind for nest in found] == expected


def test_small_pieces_are_written_by_one_kernel():
    def rotation(a):
        return nx.stack([nx.stack([nx.cos(a), nx.sin(a)]), nx.stack([-nx.sin(a), nx.cos(a)])])

    turn = nx.jit(rotation)
    np.testing.assert_allclose(
        turn(nx.tensor(0.5)), [[np.cos(0.5), np.sin(0.5)], [-np.sin(0.5), np.cos(0.5)]], rtol=1e-6
    )
    assert len(turn.compilations()[-1].kernels) <= 4
