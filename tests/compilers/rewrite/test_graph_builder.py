"""Operators on nodes: what they compute, and that nothing is made twice."""

import math

import numpy as np
import pytest

from graph_comparison.compiled_graphs import inputs, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers import registry
from nxkernel.compilers.rewrite.graph_builder import FORMATS, NodeWriter, Number, Truth, where
from nxkernel.graph.expr import Graph

X = np.array([-2.5, -0.0, 0.0, 1.5, math.inf, math.nan])


def value(function, x=X):
    """What a function of a number gives for an array."""
    (parameter,) = inputs(x)
    found = function(Number(NodeWriter(), parameter)).node
    return registry.get("evaluator").compile(Graph("f", [parameter], [found], list)).run([x])[0]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_arithmetic(dtype):
    x = X.astype(dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(value(lambda z: (1.0 - z) * 2.0 / (z + z) - -z, x), (1 - x) * 2 / (x + x) + x)
        np.testing.assert_array_equal(value(lambda z: 1.0 / abs(z), x), 1 / abs(x))


def test_comparisons_are_false_for_nan():
    for compare, expected in [
        (lambda z: z < 0.0, [1, 0, 0, 0, 0, 0]),
        (lambda z: z > 0.0, [0, 0, 0, 1, 1, 0]),
        (lambda z: z >= 0.0, [0, 1, 1, 1, 1, 0]),
        (lambda z: z == 0.0, [0, 1, 1, 0, 0, 0]),
        (lambda z: z != 0.0, [1, 0, 0, 1, 1, 1]),
        (lambda z: ~(z < 0.0) & (z == z) | (z < -2.0), [1, 1, 1, 1, 1, 0]),
    ]:
        np.testing.assert_array_equal(value(compare), expected)


def test_bits():
    np.testing.assert_array_equal(value(lambda z: z.bits() >> 52), X.view("u8") >> np.uint64(52))
    np.testing.assert_array_equal(value(lambda z: (z.bits() ^ FORMATS[types.f64].sign).floats()), -X)
    np.testing.assert_array_equal(value(lambda z: (z.bits() & 3) | (z.bits() << 1)), X.view("u8") << np.uint64(1))
    np.testing.assert_array_equal(value(lambda z: z.constant(2.0).copysign(z)), np.copysign(2.0, X))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numbers_are_taken_apart(dtype):
    info = np.finfo(dtype)
    x = np.array([1, 1.5, 3, 1e-3, 7e20, info.smallest_normal, info.smallest_subnormal * 5, info.max], dtype)
    n, f = (value(lambda z, part=part: z.split()[part], x) for part in (0, 1))
    wide, two = x.astype("longdouble"), np.longdouble(2)
    np.testing.assert_array_equal((1 + f.astype("longdouble")) * two**n, wide)
    assert ((f >= math.sqrt(0.5) - 1) & (f < math.sqrt(2) - 1)).all()
    exponents = np.array([0, 1, -3, 100, -100], dtype)
    np.testing.assert_array_equal(value(lambda z: z.inverse_power(), exponents), 2.0**-exponents)


def test_products_with_a_sum():
    x = np.array([-2.5, 0.75, 6.0])
    np.testing.assert_array_equal(value(lambda z: z.fma(2.0, z), x), x * 3)
    np.testing.assert_array_equal(value(lambda z: z.fms(3.0, z), x), x * 2)


def test_choices():
    np.testing.assert_array_equal(value(lambda z: where(z > 1.0, 1.0, z)), np.where(X > 1, 1, X))
    np.testing.assert_array_equal(value(lambda z: z.at_most(1.0)), np.minimum(X, 1))


def test_no_node_is_made_twice():
    writer = NodeWriter()
    x = Number(writer, inputs(spec("f32", 3))[0])
    assert (x * 2.0 + 1.0).node is (x * 2.0 + 1.0).node
    assert len(writer.nodes) == 4
    assert x.constant(0.0).node is not x.constant(-0.0).node
    assert x.to(types.f64).node is not x.to(types.s64).node
    assert isinstance(x == x, Truth)
    assert x.call(p.sqrt).node.primitive is p.sqrt
