"""Each rule of simplification, by the graph that it leaves, and what no rule may touch."""

import math
import re

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, make, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers import registry
from nxkernel.graph.expr import constant
from nxkernel.graph.printing import print_graph
from nxkernel.shapes import unnamed
from nxkernel.transforms.simplify import simplify


def left(function, *specs):
    """The lines of the simplified graph of a function, without types and parameters."""
    graph = simplify(graph_of(function, *specs))
    lines = print_graph(graph.outputs).split("\n")
    body = [re.sub(r"\s{2,}\S+$", "", line.strip()) for line in lines[lines.index("  Nx.Defn.Expr") + 1 : -1]]
    return [line for line in body if not line.startswith("parameter")]


X = spec("f32", 2, 3)
N = spec("s32", 2, 3)
Z = spec("c64", 2, 3)
MINUS_ZERO = -0.0

RULES = {
    "an integer and zero": (lambda n: (n + 0) * 1 - 0, N, []),
    "zero and an integer": (lambda n: 1 * (0 + n), N, []),
    "minus zero": (lambda x: x - 0.0, X, []),
    "times one": (lambda x: 1.0 * (x * 1.0), X, []),
    "divided by one": (lambda x: x / 1.0, X, []),
    "divided by a power of two": (lambda x: x / 8.0, X, ["b = multiply a, 0.125"]),
    "divided by a negative power of two": (lambda x: x / -0.5, X, ["b = multiply a, -2.0"]),
    "equal divisions": (lambda x: x / 2 + x / 2, X, ["b = multiply a, 0.5", "c = add b, b"]),
    "first power": (lambda x: x**1, X, []),
    "square": (lambda x: x**2, X, ["b = multiply a, a"]),
    "square by a float": (lambda x: x**2.0, X, ["b = multiply a, a"]),
    "first power of a complex number": (lambda z: z**1, Z, []),
    "square of a complex number": (lambda z: z**2, Z, ["b = multiply a, a"]),
    "cube of an integer": (lambda n: n**3, N, ["b = multiply a, a", "c = multiply b, a"]),
    "minus minus": (lambda x: nx.negate(-x), X, []),
    "select of equals": (lambda x: nx.select(x > 0, x, x), X, []),
    "select by a true number": (lambda x: nx.select(nx.broadcast(1, (2, 3)), x, x + 2), X, []),
    "select by a false number": (lambda x: nx.select(nx.broadcast(0, (2, 3)), x, x + 2), X, ["b = add a, 2.0"]),
    "numbers": (lambda x: x + nx.f32(2.0) * nx.sqrt(nx.f32(9.0)), X, ["b = add a, 6.0"]),
    "equal nodes": (lambda x: nx.exp(x + 1) * nx.exp(x + 1), X, ["b = add a, 1.0", "c = exp b", "d = multiply c, c"]),
    "transposed twice": (lambda x: nx.transpose(nx.transpose(x)), X, []),
    "reshaped twice": (
        lambda x: nx.reshape(nx.reshape(x, (6,)), (3, 2)),
        X,
        ["b = reshape a, shape=(3, 2)"],
    ),
    "reshaped and back": (lambda x: nx.reshape(nx.reshape(x, (6,)), (2, 3)), X, []),
    "a reshaped number": (lambda x: nx.reshape(x, (6,)) + nx.reshape(nx.broadcast(2.0, (2, 3)), (6,)), X,
                          ["b = reshape a, shape=(6,)", "c = add b, 2.0"]),
    "broadcast twice": (
        lambda x: nx.broadcast(nx.broadcast(x, (4, 2, 3)), (5, 4, 2, 3)),
        X,
        ["b = broadcast a, shape=(5, 4, 2, 3), axes=[2, 3]"],
    ),
    "a whole slice": (lambda x: x[0:2, 0:3], X, []),
    "a slice of a number": (lambda x: x[:, :1] * nx.broadcast(3.0, (2, 3))[:, :1], X,
                            ["b = slice a, starts=[0, 0], lengths=[2, 1], strides=[1, 1]", "c = multiply b, 3.0"]),
    "nothing reduced": (lambda x: nx.sum(x, axes=[]), X, []),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    function, of, expected = RULES[name]
    assert left(function, of) == expected


STAYS = {
    "times zero": (lambda x: x * 0.0, X, ["b = multiply a, 0.0"]),
    "plus zero, which makes minus zero plus": (lambda x: x + 0.0, X, ["b = add a, 0.0"]),
    "minus minus zero, which does too": (lambda x: x - MINUS_ZERO, X, ["b = subtract a, -0.0"]),
    "minus itself": (lambda x: x - x, X, ["b = subtract a, a"]),
    "divided by itself": (lambda x: x / x, X, ["b = divide a, a"]),
    "divided by three": (lambda x: x / 3.0, X, ["b = divide a, 3.0"]),
    "divided by what has no inverse": (
        lambda x: x / math.ldexp(1.0, -126),
        X,
        ["b = divide a, 1.1754944e-38"],
    ),
    "square root": (lambda x: x**0.5, X, ["b = pow a, 0.5"]),
    "cube of a float": (lambda x: x**3, X, ["b = pow a, 3.0"]),
    "one times a complex number": (lambda z: z * 1, Z, ["b = multiply a, 1.0+0.0i"]),
    "a complex number over one": (lambda z: z / 1, Z, ["b = divide a, 1.0+0.0i"]),
    "power of a complex number": (lambda z: z**2j, Z, ["b = pow a, 0.0+2.0i"]),
    "all of no axis": (lambda n: make(p.all_, n, axes=(), keep_axes=False), N, ["b = all a, axes=[], keep_axes=False"]),
    "a slice backwards": (lambda x: x[::-1], X, ["b = slice a, starts=[1, 0], lengths=[2, 3], strides=[-1, 1]"]),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_would_change_a_result_stays(name):
    function, of, expected = STAYS[name]
    assert left(function, of) == expected


def test_the_same_type_again():
    assert left(lambda x: make(p.as_type, x, type=types.f32), X) == []
    assert left(lambda x: make(p.as_type, make(p.as_type, x, type=types.s32), type=types.f32), X) == [
        'b = as_type a, type="s32"',
        'c = as_type b, type="f32"',
    ]


def test_names_are_kept_where_a_node_is_dropped():
    named = X._replace(names=("row", None))
    graph = simplify(graph_of(lambda x: nx.rename(x, ["row", None]) * 1.0, named))
    assert graph.outputs[0] is graph.parameters[0]
    graph = simplify(graph_of(lambda x: nx.rename(x, ["line", None]), named))
    assert str(graph.outputs[0].spec) == "f32[line: 2][3]"


@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (1, 1.0), (1, True)])
def test_numbers_that_are_equal_in_python_stay_apart(one, other):
    def function(x):
        first = constant(one, types.f32, (2, 3))
        return make(p.atan2, x, first), make(p.atan2, x, constant(other, types.f32, (2, 3)))

    outputs = simplify(graph_of(function, X)).outputs
    assert outputs[0] is not outputs[1]


def test_not_a_number_is_one_node():
    def function(x):
        return make(p.add, x, constant(math.nan, types.f32, (2, 3))), make(
            p.add, x, constant(math.nan, types.f32, (2, 3))
        )

    outputs = simplify(graph_of(function, X)).outputs
    assert outputs[0] is outputs[1]


def test_parameters_stay_whether_used_or_not():
    graph = simplify(graph_of(lambda x, y: y * 1.0, X, X))
    assert [parameter.params["name"] for parameter in graph.parameters] == ["x0", "x1"]
    assert graph.outputs == [graph.parameters[1]]


def test_what_nothing_needs_is_gone():
    def function(x):
        nx.exp(x)
        return x + 1

    assert left(function, X) == ["b = add a, 1.0"]


def test_source_lines_are_kept():
    graph = simplify(graph_of(lambda x: (x / 4.0) ** 2, X))
    (square,) = graph.outputs
    assert square.source.file == __file__
    assert square.operands[0].source.file == __file__


@pytest.mark.parametrize("type_", ["u8", "s16", "u64", "bf16", "f16", "f32", "f64"])
def test_numbers_are_folded_in_their_own_type(type_):
    def function(x):
        big = constant(200, x.type, (3,))
        return make(p.add, x, make(p.multiply, big, constant(3, x.type, (3,))))

    x = np.ones(3, types.normalize(type_).dtype)
    graph = graph_of(function, x)
    folded = simplify(graph)
    assert folded.outputs[0].operands[1].primitive is p.constant
    run = registry.get("evaluator").compile
    np.testing.assert_array_equal(run(folded).run([x])[0], run(graph).run([x])[0])


@pytest.mark.slow
def test_ten_thousand_nodes_are_simplified_without_recursion():
    def function(x):
        for _ in range(5000):
            x = x * 1.0 + 1.0
        return x

    graph = simplify(graph_of(function, spec("f32", 2)))
    node, count = graph.outputs[0], 0
    while node.operands:
        node, count = node.operands[0], count + 1
    assert count == 5000


def test_rules_apply_to_what_rules_made():
    rows = make(p.broadcast, constant(2.0, types.f32, (3,)), shape=(2, 3), axes=(1,), names=unnamed((2, 3)))
    assert left(lambda x: (x / rows) * 1.0, X) == ["b = multiply a, 0.5"]


def test_powers_of_zero_are_one():
    assert left(lambda x: x * x**0.0, X) == []
    found = nx.jit(lambda x: x**0.0)(np.array([0.0, np.nan, -np.inf, 3.0]))
    np.testing.assert_array_equal(found, np.ones(4))


def start(number):
    return constant(number, types.s64, ())


def put(target, part, *starts):
    return make(p.put_slice, target, part, *starts)


def taken(whole, *starts, lengths):
    return make(p.dynamic_slice, whole, *starts, lengths=lengths, strides=(1,) * len(lengths))


WIDE, INDEX = spec("f32", 3, 7), spec("s64")


def test_slices_at_known_starts_are_plain_and_inside():
    assert left(lambda x: taken(x, start(-2), start(6), lengths=(2, 3)), WIDE) == [
        "b = slice a, starts=[0, 4], lengths=[2, 3], strides=[1, 1]"
    ]


def test_what_was_put_stays_in_memory_for_those_who_read_it():
    # Versions of one array share its memory: reading a value past them, or leaving one out, would cost a copy.
    def read(x, i, y):
        return taken(put(x, y, i, start(1)), i, start(1), lengths=(2, 3))

    def again(x, i, y):
        return put(put(x, y + 1.0, i, start(1)), y, i, start(1))

    assert len(left(read, WIDE, INDEX, spec("f32", 2, 3))) == 2
    assert len(left(again, WIDE, INDEX, spec("f32", 2, 3))) == 3


def test_a_part_put_back_where_it_was_changes_nothing():
    def function(x, i):
        return put(x, taken(x, i, start(9), lengths=(2, 3)), i, start(4)) + 1.0

    def elsewhere(x, i):
        return put(x, taken(x, i, start(9), lengths=(2, 3)), i, start(3)) + 1.0

    assert left(function, WIDE, INDEX) == ["b = add a, 1.0"]
    assert len(left(elsewhere, WIDE, INDEX)) == 3
