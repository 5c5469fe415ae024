"""Functions of complex numbers as arithmetic with their parts: errors, infinities, branch cuts; and what stays."""

import itertools

import mpmath
import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, inputs, make, spec
from graph_comparison.complex_numbers import COMPLEX, EPSILON, EXACT, GRID, INF, NAN, NUMBERS, OPEN, ordinary, same
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.compilers import registry
from nxkernel.compilers.rewrite.complex_functions import FUNCTIONS
from nxkernel.compilers.rewrite.complex_to_real import DIRECT, split
from nxkernel.graph.expr import Graph, constant
from nxkernel.graph.traverse import post_order
from nxkernel.ops.programs import control_flow
from nxkernel.primitives import Spec


def rewritten(graph):
    """A whole graph, the same one where its outputs are, and where new nodes came from."""
    outputs, origin = split(graph.outputs)
    if all(new is old for new, old in zip(outputs, graph.outputs, strict=True)):
        return graph, origin
    return Graph(graph.name, graph.parameters, outputs, graph.rebuild, graph.updates), origin


def left_over(outputs):
    """The primitives of nodes that have to do with complex numbers, in the graphs of loops and folds, too."""
    found = set()
    for node in post_order(outputs):
        for value in node.params.values():
            if isinstance(value, Graph):
                found |= left_over(value.outputs)
        specs = [one.spec for one in (node, *node.operands) if type(one.spec) is not tuple]
        if any(one.type.is_complex for one in specs):
            found.add(node.primitive)
    return found


def evaluated(graph, *arrays):
    return registry.get("evaluator").compile(graph).run([np.ascontiguousarray(array) for array in arrays])


def both(primitive, *arrays, **params):
    """What one primitive's arithmetic with parts and what its meaning give."""
    parameters = inputs(*arrays)
    node = make(primitive, *parameters, **params)
    graph, origin = rewritten(Graph("one", parameters, [node], list))
    (output,) = graph.outputs
    assert left_over([output]) <= DIRECT | {p.parameter}
    assert output.spec == node.spec
    assert set(post_order([output])) <= {*origin, *parameters}
    (found,) = evaluated(graph, *arrays)
    return found, MEANING[primitive](node.spec, *arrays, **params)


@pytest.mark.sampled(every=20)
@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("primitive", EXACT, ids=str)
def test_errors_are_small_beside_the_modulus(primitive, type_, numbers):
    z = numbers(np.random.default_rng(0), 30, type_).astype(type_.dtype)
    found, _ = both(primitive, z)
    info = np.finfo(type_.dtype)
    with mpmath.workprec(160):
        for point, got in zip(z.tolist(), found.tolist(), strict=True):
            exact = EXACT[primitive](mpmath.mpmathify(point))
            size = abs(exact)
            if size > float(info.max):
                continue
            assert abs(mpmath.mpmathify(got) - exact) <= 10 * EPSILON[type_] * size + float(info.smallest_subnormal)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_sigmoid(type_):
    z = ordinary(np.random.default_rng(0), 500, type_).astype(type_.dtype)
    found, expected = both(p.sigmoid, z)
    np.testing.assert_allclose(found, expected, rtol=40 * EPSILON[type_])
    ends = np.array([-1000 + 1j, 1000 + 1j, -INF + 2j, INF - 2j], type_.dtype)
    np.testing.assert_array_equal(both(p.sigmoid, ends)[0], [0, 1, 0, 1])


# Special operands ----------------------------------------------------------------------------------------------------


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("primitive", [*EXACT, p.phase], ids=str)
def test_special_operands(primitive, type_):
    points = [z for z in GRID if primitive not in OPEN or not OPEN[primitive](z)]
    found, expected = both(primitive, np.array(points, type_.dtype))
    for point, got, want in zip(points, found.astype("c16"), expected.astype("c16"), strict=True):
        tolerance = 16 * EPSILON[type_]
        assert same(got.real, want.real, tolerance), (point, got, want)
        assert same(got.imag, want.imag, tolerance), (point, got, want)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("primitive", [*EXACT, p.phase, p.sigmoid], ids=str)
def test_everywhere_what_numba_cpu_gives(primitive, type_):
    z = np.array(GRID, type_.dtype)
    found, _ = both(primitive, z)
    (expected,) = registry.get("numba_cpu").compile(graph_of(lambda x: make(primitive, x), z)).run([z])
    for point, got, want in zip(GRID, found.astype("c16"), expected.astype("c16"), strict=True):
        tolerance = 16 * EPSILON[type_]
        assert same(got.real, want.real, tolerance), (point, got, want)
        assert same(got.imag, want.imag, tolerance), (point, got, want)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_the_modulus_neither_overflows_nor_vanishes(type_):
    info = np.finfo(type_.dtype)
    sizes = [float(info.max) / 2, float(info.smallest_normal), float(info.smallest_subnormal) * 64, 1.0]
    z = np.array([complex(0.75 * size, size) for size in sizes], type_.dtype)
    np.testing.assert_allclose(both(p.absolute, z)[0], [1.25 * size for size in sizes], rtol=2 * EPSILON[type_])
    np.testing.assert_array_equal(both(p.absolute, np.array([3 - 4j, 5 + 12j], type_.dtype))[0], [5, 13])


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_quotients(type_):
    rng = np.random.default_rng(0)
    left, right = (ordinary(rng, 300, type_).astype(type_.dtype) for _ in range(2))
    found, expected = both(p.divide, left, right)
    np.testing.assert_allclose(found, expected, rtol=6 * EPSILON[type_])
    left, right = (np.array(column, type_.dtype) for column in zip(*itertools.product(GRID, repeat=2), strict=True))
    found, expected = both(p.divide, left, right)
    np.testing.assert_allclose(found, expected, rtol=6 * EPSILON[type_])
    great = np.array([complex(float(np.finfo(type_.dtype).max), 0) / 2], type_.dtype)
    np.testing.assert_allclose(both(p.divide, great, great * (1 + 1j))[0], [0.5 - 0.5j], rtol=4 * EPSILON[type_])


# Powers --------------------------------------------------------------------------------------------------------------

EXPONENTS = [0, 1, 2, 3, 5, 10, -1, -2, -7, 0.5, -0.5, 2.5, 1j, 0.3 - 0.7j, 99, -99, 100]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers(exponent, known, type_):
    rng = np.random.default_rng(0)
    angles, sizes = rng.uniform(-3, 3, 60), rng.uniform(0.8, 1.25, 60)
    ends = [0, 1, -1, 1j, *([2, 2 + 2j] if abs(exponent) < 99 else [])]
    base = np.concatenate([sizes * np.exp(1j * angles), ends]).astype(type_.dtype)

    def function(x):
        return make(p.power, x, constant(exponent, x.type, x.shape))

    if known:
        graph, _ = rewritten(graph_of(function, base))
        assert left_over(graph.outputs) <= DIRECT | {p.parameter}
        (found,) = evaluated(graph, base)
    else:
        found, _ = both(p.power, base, np.full(base.shape, exponent, type_.dtype))
    with np.errstate(all="ignore"):
        expected = base.astype("c16") ** complex(exponent)
    np.testing.assert_allclose(found, expected, rtol=1000 * EPSILON[type_])


def test_powers_that_are_known_are_a_few_products():
    graph, _ = rewritten(graph_of(lambda x: make(p.power, x, constant(5, x.type, x.shape)), spec("c64", 3)))
    products = [node for node in post_order(graph.outputs) if node.primitive is p.multiply]
    assert len(products) == 3 * 4


# Predicates, choices, folds and loops --------------------------------------------------------------------------------


@pytest.mark.parametrize("primitive", [p.is_nan, p.is_infinity, p.logical_not], ids=str)
def test_predicates_of_one(primitive):
    np.testing.assert_array_equal(*both(primitive, np.array(GRID)))


@pytest.mark.parametrize("primitive", [p.logical_and, p.logical_or, p.logical_xor], ids=str)
def test_predicates_of_two(primitive):
    operands = [np.array(column) for column in zip(*itertools.product(GRID, repeat=2), strict=True)]
    np.testing.assert_array_equal(*both(primitive, *operands))


def test_choices_by_complex_numbers():
    mask, then = np.array(GRID, "c8"), np.arange(81.0)
    np.testing.assert_array_equal(*both(p.select, mask, then, -then))


@pytest.mark.parametrize("primitive", [p.all_, p.any_], ids=str)
@pytest.mark.parametrize("values", [[0, 0], [0, 1j], [NAN, 1], [complex(-0.0, 0.0), complex(0, INF)]])
def test_reductions_of_truth(primitive, values):
    np.testing.assert_array_equal(*both(primitive, np.array(values, "c8"), axes=(0,), keep_axes=False))


def test_predicates_of_numpys_type_keep_it():
    with types.promotion("numpy"):
        graph = graph_of(lambda z: (nx.is_nan(z), nx.logical_not(z), nx.any(z)), spec("c64", 3))
    found = evaluated(rewritten(graph)[0], np.array([0, 1j, NAN], "c8"))
    assert [result.dtype for result in found] == [np.dtype(bool)] * 3
    np.testing.assert_array_equal(found[0], [False, False, True])
    np.testing.assert_array_equal(found[1], [True, False, False])
    assert found[2]


def test_names_stay():
    graph = graph_of(lambda z: nx.exp(z) / nx.abs(z), Spec(types.c64, (3,), ("x",)))
    assert rewritten(graph)[0].outputs[0].spec == graph.outputs[0].spec


def test_loops_choices_and_folds():
    def function(z):
        total = nx.reduce(z, nx.c64(1j), lambda element, held: held / (element + 3))
        (turned,) = control_flow.choose(
            nx.greater(nx.real(total), 0), lambda: [nx.exp(total)], lambda: [nx.sqrt(total)]
        )
        return control_flow.run_while(
            [0, turned], lambda s: nx.less(s[0], 3), lambda s: [s[0] + 1, nx.sin(s[1]) / 2], "ix"
        )

    z = (np.arange(4) * (1 - 0.5j)).astype("c8")
    graph = graph_of(function, z)
    new, origin = rewritten(graph)
    assert left_over(graph.outputs) & set(FUNCTIONS) == {p.divide, p.exp, p.sqrt, p.sin}
    assert not left_over(new.outputs) & set(FUNCTIONS)
    np.testing.assert_allclose(evaluated(new, z)[1], evaluated(graph, z)[1], rtol=1e-6)
    assert p.sin in {node.primitive for node in origin.values()}


def test_what_is_direct_or_real_stays_as_it_is():
    graph = graph_of(lambda x, z: (nx.sin(x) / x, nx.sum(z * nx.conjugate(z) - z)), spec("f32", 3), spec("c64", 3))
    same_graph, origin = rewritten(graph)
    assert same_graph is graph
    assert not origin
    assert split(graph.outputs)[0] == list(graph.outputs)
