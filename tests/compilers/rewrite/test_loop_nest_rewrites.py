"""What is rewritten before scheduling: reversals, products, narrow places, and reductions cut into blocks."""

import re

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import agree, graph_of, make, spec
from lanes.fuzzing import make_small
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers import registry
from nxkernel.compilers.analysis.partial_reductions import partial
from nxkernel.compilers.rewrite.loop_nest_rewrites import ON_GPU, prepare
from nxkernel.compilers.rewrite.loop_nest_rewrites import make as made_of
from nxkernel.graph.expr import constant
from nxkernel.graph.printing import print_graph
from nxkernel.primitives import Spec

BLAS = frozenset((types.f32, types.f64))


def left(function, *specs, blas=BLAS, limits=None):
    """The operations of a prepared function, without their types."""
    outputs, _ = prepare(graph_of(function, *specs).outputs, blas, limits=limits)
    lines = print_graph(outputs).split("\n")
    body = [re.sub(r"\s{2,}\S+$", "", line.strip()) for line in lines[lines.index("  Nx.Defn.Expr") + 1 : -1]]
    return [line for line in body if not line.startswith("parameter")]


def by(reduce, **params):
    return lambda x: make(reduce, x, **params)


def test_a_reversal_is_a_slice_backwards():
    assert left(lambda x: nx.reverse(x, axes=[1]), spec("f32", 2, 3)) == [
        "b = slice a, starts=[0, 2], lengths=[2, 3], strides=[1, -1]"
    ]


@pytest.mark.parametrize("swapped", [False, True])
def test_twice_a_single_number_is_a_sum_where_products_are_rounded(swapped):
    def twice(rounded):
        def function(x):
            two = constant(2.0 if x.type.is_float else 2, x.type, x.shape, x.names)
            return make(p.multiply, *((two, x) if swapped else (x, two)), rounded=rounded)

        return function

    assert left(twice(True), spec("f64")) == left(twice(True), spec("f64", 1))[:1] == ["b = add a, a"]
    product = "b = multiply 2.0, a" if swapped else "b = multiply a, 2.0"
    assert left(twice(True), spec("f64", 3)) == left(twice(False), spec("f64")) == [product]
    assert left(twice(True), spec("s64")) == [product.replace("2.0", "2")]


@pytest.mark.parametrize(
    ("read", "type_", "is_one"),
    [("bool", "s64", True), ("u8", "s32", True), ("s64", "u64", False), ("s64", "s32", False), ("f32", "f64", False)],
)
def test_scans_convert_what_is_narrower(read, type_, is_one):
    def function(x):
        return make(p.cumulative_sum, make(p.as_type, x, type=types.TYPES[type_]), axis=0, reverse=False)

    outputs, _ = prepare(graph_of(function, spec(read, 9)).outputs, BLAS, converting_scans=True)
    assert (outputs[0].operands[0].primitive is p.parameter) is is_one
    assert outputs[0].spec == Spec(types.TYPES[type_], (9,), (None,))
    outputs, _ = prepare(graph_of(function, spec(read, 9)).outputs, BLAS)
    assert outputs[0].operands[0].primitive is p.as_type


def test_places_are_found_in_s64():
    assert left(by(p.argmax, axis=0, keep_axis=False, tie_break="low", type=types.u8), spec("f32", 9)) == [
        'b = argmax a, axis=0, keep_axis=False, tie_break="low", type="s64"',
        'c = as_type b, type="u8"',
    ]


@pytest.mark.parametrize("primitive", [p.sum_, p.product])
@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_narrow_floats_are_reduced_in_f32(primitive, type_):
    assert left(by(primitive, axes=(0,), keep_axes=False), spec(type_, 9)) == [
        'b = as_type a, type="f32"',
        f"c = {primitive.name} b, axes=[0], keep_axes=False",
        f'd = as_type c, type="{type_}"',
    ]


def test_what_reduces_one_element_reduces_nothing():
    assert left(by(p.sum_, axes=(1,), keep_axes=False), spec("f32", 3, 1)) == ["b = reshape a, shape=(3,)"] + [
        "c = broadcast b, shape=(3,), axes=[0]"
    ]
    assert left(by(p.any_, axes=(1,), keep_axes=True), spec("f32", 3, 1)) == [
        "b = reshape a, shape=(3, 1)",
        "c = not_equal b, 0.0",
    ]
    place = by(p.argmax, axis=1, keep_axis=False, tie_break="low", type=types.s64)
    (output,), _ = prepare(graph_of(place, spec("f32", 3, 1)).outputs, BLAS)
    assert output.params["value"] == 0


def test_a_fold_of_one_element_is_its_body():
    def fold(x, start, outside):
        return nx.reduce(x, start, lambda element, held: held * 3 + element * outside, axes=[1])

    assert left(fold, spec("s32", 5, 1), spec("s32"), spec("s32")) == [
        "b = broadcast a, shape=(5,), axes=[]",
        "c = multiply b, 3",
        "e = reshape d, shape=(5,)",
        "g = broadcast f, shape=(5,), axes=[]",
        "h = multiply e, g",
        "i = add c, h",
    ]


def test_folds_are_not_cut(monkeypatch):
    make_small(monkeypatch.setattr)
    agree(lambda x: nx.reduce(x, 1, lambda element, held: held * 3 + element), np.arange(1 << 12))


def test_an_output_that_is_an_input_is_a_copy():
    assert left(lambda x: x, spec("f32", 3)) == ["b = broadcast a, shape=(3,), axes=[0]"]
    assert left(lambda x: nx.reshape(x, (3, 1)), spec("f32", 3)) == [
        "b = reshape a, shape=(3, 1)",
        "c = broadcast b, shape=(3, 1), axes=[0, 1]",
    ]


# Blocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "axes", "cut"),
    [
        ((1_000_000,), (0,), True),
        ((1000, 1000), (0, 1), True),
        ((3, 1_000_000), (1,), True),
        ((1_000_000, 3), (0,), True),
        ((2, 2, 1_000_000), (1, 2), True),
        ((1000,), (0,), False),
        ((1000, 1000), (1,), False),
        ((1000, 1_000_000), (1,), False),
    ],
)
def test_long_reductions_with_little_else_in_parallel_are_cut(shape, axes, cut):
    outputs, _ = prepare(graph_of(by(p.sum_, axes=axes, keep_axes=False), spec("f32", *shape)).outputs, BLAS)
    node = outputs[0]
    while node.primitive is p.reshape:
        node = node.operands[0]
    (operand,) = node.operands
    assert operand.primitive is (partial if cut else p.parameter)
    if cut:
        block, blocks = operand.params["block"], operand.params["blocks"]
        assert block * (blocks - 1) < shape[operand.params["axes"][0]] <= block * blocks
        assert operand.shape[0] == blocks > 1
        assert node.params["axes"] == (0,)


@pytest.mark.parametrize(
    ("shape", "axes", "expected"),
    [
        ((40, 28, 28, 64), (0, 1, 2, 3), 0),
        ((16, 28, 28, 64), (0, 1, 2, 3), 1),
        ((16, 2, 28, 640), (0, 3), 0),
        ((2, 3, 100_000), (0, 1, 2), 2),
        ((16, 9, 70, 64), (0, 1, 2), 2),
    ],
)
def test_the_axis_along_which_vectors_run_is_cut_last(shape, axes, expected):
    (output,), _ = prepare(graph_of(by(p.sum_, axes=axes, keep_axes=False), spec("f32", *shape)).outputs, BLAS)
    while output.primitive is not partial:
        (output,) = output.operands
    assert output.params["axes"][0] == expected


def test_the_cut_does_not_depend_on_anything_but_the_shape():
    first, second = (
        prepare(graph_of(by(p.sum_, axes=(0,), keep_axes=False), spec(type_, 500_000)).outputs, BLAS)[0][0].operands[0]
        for type_ in ("f32", "s64")
    )
    assert first.params["block"] == second.params["block"]


@pytest.mark.parametrize("keep", [False, True])
def test_a_place_out_of_blocks(keep):
    def function(x):
        return make(p.argmax, x, axis=0, keep_axis=keep, tie_break="high", type=types.s64)

    x = np.random.default_rng(0).integers(0, 1000, 300_000).astype("f4")
    (found,) = agree(function, x)
    assert found.shape == ((1,) if keep else ())
    assert int(found.item()) == np.flatnonzero(x == x.max())[-1]


@pytest.mark.parametrize(
    ("shape", "axes", "blocks"),
    [
        ((1 << 28,), (0,), 1 << 13),
        ((1 << 16,), (0,), 16),
        ((1 << 14,), (0,), None),
        ((1023, 4096), (1,), None),
        ((1023, 1 << 16), (1,), 16),
        ((1024, 1 << 16), (1,), None),
        ((1 << 16, 1000), (0,), 1024),
        ((1 << 16, 8192), (0,), None),
    ],
)
def test_a_gpu_has_more_to_do_at_a_time(shape, axes, blocks):
    graph = graph_of(by(p.sum_, axes=axes, keep_axes=False), spec("f32", *shape))
    (output,), _ = prepare(graph.outputs, BLAS, limits=ON_GPU)
    while output.primitive is p.reshape:
        (output,) = output.operands
    (operand,) = output.operands
    assert operand.params.get("blocks") == blocks


# Products --------------------------------------------------------------------------------------------------------


def dot(a, b):
    return nx.dot(a, b)


def test_large_products_go_to_the_library():
    assert left(dot, spec("f32", 40, 50), spec("f32", 50, 60)) == ["c = dot a, b, contract=[[1], [0]], batch=[[], []]"]


SUMS = {
    "small": (spec("f32", 4, 5), spec("f32", 5, 6)),
    "a vector": (spec("f32", 400, 500), spec("f32", 500)),
    "two vectors": (spec("f32", 500), spec("f32", 500)),
    "whole numbers": (spec("s32", 40, 50), spec("s32", 50, 60)),
}


@pytest.mark.parametrize("name", SUMS)
def test_other_products_are_sums_of_products(name):
    lines = left(dot, *SUMS[name])
    assert not any(" dot " in line for line in lines)
    assert any(" = multiply " in line for line in lines)
    assert any(" = sum " in line for line in lines)


def test_products_of_narrow_floats_are_products_of_f32():
    lines = left(dot, spec("bf16", 40, 50), spec("bf16", 50, 60))
    assert lines == [
        'b = as_type a, type="f32"',
        'd = as_type c, type="f32"',
        "e = dot b, d, contract=[[1], [0]], batch=[[], []]",
        'f = as_type e, type="bf16"',
    ]


def test_a_library_for_narrow_floats_is_given_them_as_they_are():
    blas = BLAS | {types.bf16}
    assert left(dot, spec("bf16", 40, 50), spec("bf16", 50, 60), blas=blas) == [
        "c = dot a, b, contract=[[1], [0]], batch=[[], []]"
    ]
    assert left(dot, spec("bf16", 4, 5), spec("bf16", 5, 6), blas=blas)[0] == 'b = as_type a, type="f32"'


def test_without_a_library_every_product_is_a_sum():
    assert not any(" dot " in line for line in left(dot, spec("f32", 40, 50), spec("f32", 50, 60), blas=frozenset()))


def test_an_operand_that_the_library_cannot_read_is_turned():
    def function(a, b):
        return nx.dot(a, [1, 3], b, [2, 0])

    lines = left(function, spec("f32", 9, 10, 11, 12), spec("f32", 12, 13, 10))
    assert lines == [
        "b = transpose a, axes=[0, 2, 1, 3]",
        "d = transpose c, axes=[1, 2, 0]",
        "e = dot b, d, contract=[[2, 3], [1, 2]], batch=[[], []]",
    ]


PRODUCTS = {
    "matrices": ((40, 50), (50, 60), [1], [0], [], []),
    "turned": ((50, 40), (60, 50), [0], [1], [], []),
    "batch": ((7, 40, 50), (7, 50, 60), [2], [1], [0], [0]),
    "batch last": ((40, 50, 7), (50, 60, 7), [1], [0], [2], [2]),
    "two axes": ((9, 10, 11, 12), (12, 13, 10), [1, 3], [2, 0], [], []),
    "all axes": ((9, 10), (9, 10), [0, 1], [0, 1], [], []),
    "outer": ((9,), (10,), [], [], [], []),
    "nothing to sum": ((40, 0), (0, 60), [1], [0], [], []),
    "no rows": ((0, 50), (50, 60), [1], [0], [], []),
    "one row": ((1, 5000), (5000, 60), [1], [0], [], []),
    "one column": ((60, 5000), (5000, 1), [1], [0], [], []),
    "depth one": ((80, 1), (1, 90), [1], [0], [], []),
}


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("type_", ["f32", "f64", "s16", "f16"])
def test_every_form_of_product(name, type_):
    a, b, contract_a, contract_b, batch_a, batch_b = PRODUCTS[name]
    dtype = types.normalize(type_).dtype
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-3, 4, shape).astype(dtype) for shape in (a, b))
    contract, batch = (tuple(contract_a), tuple(contract_b)), (tuple(batch_a), tuple(batch_b))
    agree(lambda s, t: make(p.dot, s, t, contract=contract, batch=batch), x, y)


def test_nodes_remember_where_they_came_from():
    graph = graph_of(lambda x: nx.sum(x) * 2, spec("f32", 1_000_000))
    outputs, origin = prepare(graph.outputs, BLAS)
    (total,) = graph.outputs[0].operands[:1]
    made = outputs[0].operands[0]
    while made.primitive is p.reshape:
        made = made.operands[0]
    assert origin[made] is total
    assert origin[made.operands[0]] is total
    assert origin[outputs[0]] is graph.outputs[0]


@pytest.mark.parametrize("size", [1, 300_000])
def test_predicates_of_numpys_type_keep_it(size):
    with types.promotion("numpy"):
        graph = graph_of(lambda x: (nx.any(nx.greater(x, 2)), nx.all(nx.greater(x, -1))), spec("f64", size))
    found = registry.get("numba_cpu").compile(graph).run([np.full(size, 3.0)])
    assert [(result.dtype, bool(result)) for result in found] == [(np.dtype(bool), True)] * 2


def test_a_view_of_a_constant_is_a_constant():
    one = constant(1, types.s8)
    for made in (
        made_of(p.reshape, one, shape=(1, 1), names=(None, None)),
        made_of(p.broadcast, one, shape=(1, 1), axes=(), names=(None, None)),
        made_of(p.transpose, constant(1, types.s8, (1, 1)), axes=(1, 0)),
    ):
        assert made.primitive is p.constant
        assert (made.params["value"], made.spec) == (1, Spec(types.s8, (1, 1), (None, None)))


def test_a_number_that_loops_over_planes_assign():
    # Arrays are turned over in the loops, and the number with them.
    def filled(a, n):
        rows = a[:2, None, n]
        first = rows[0::3, -1].squeeze()
        for _ in range(n):
            k = 0
            while k < 4:
                first[...] = 1
                rows.sort()
                k += 1
        return rows

    a = np.arange(12, dtype=np.int8).reshape(3, 4)[::-1]
    np.testing.assert_array_equal(nx.defn(filled)(a.copy(), 2), filled(a.copy(), 2))
