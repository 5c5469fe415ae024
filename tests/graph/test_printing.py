"""Graphs as text."""

import time

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.graph.expr import Graph, parameter
from nxkernel.graph.printing import print_graph, variable_names
from nxkernel.graph.traverse import post_order


def test_a_softmax(record):
    def softmax(x):
        e = nx.exp(x - nx.reduce_max(x, axes=[-1], keep_axes=True))
        return e / nx.sum(e, axes=[-1], keep_axes=True)

    assert repr(record(softmax, nx.template((2, 3), "f32", names=["row", None]))) == (
        "#Nx.Tensor<\n"
        "  f32[row: 2][3]\n"
        "  \n"
        "  Nx.Defn.Expr\n"
        "  parameter a:0                                f32[row: 2][3]\n"
        "  b = reduce_max a, axes=[1], keep_axes=True   f32[row: 2][1]\n"
        "  c = broadcast b, shape=(2, 3), axes=[0, 1]   f32[row: 2][3]\n"
        "  d = subtract a, c                            f32[row: 2][3]\n"
        "  e = exp d                                    f32[row: 2][3]\n"
        "  f = sum e, axes=[1], keep_axes=True          f32[row: 2][1]\n"
        "  g = broadcast f, shape=(2, 3), axes=[0, 1]   f32[row: 2][3]\n"
        "  h = divide e, g                              f32[row: 2][3]\n"
        ">"
    )


def test_parameters_come_first_and_captured_tensors_by_name(record):
    weights = nx.f32([0.5])
    found = record(lambda x, y: nx.tanh(x) + y * weights, nx.template((), "f32"), nx.template((2, 3), "f32"))
    assert repr(found).splitlines()[4:-1] == [
        "  parameter a:0                             f32",
        "  parameter d:1                             f32[2][3]",
        "  ",
        "  Captured, read at every call:",
        "  tensor e: t0                              f32[1]",
        "  ",
        "  b = tanh a                                f32",
        "  c = broadcast b, shape=(2, 3), axes=[]    f32[2][3]",
        "  f = broadcast e, shape=(2, 3), axes=[1]   f32[2][3]",
        "  g = multiply d, f                         f32[2][3]",
        "  h = add c, g                              f32[2][3]",
    ]


def test_constants_stand_where_they_are_used(record):
    found = record(lambda x: (0.1 * x, x > np.inf, nx.tensor(5)), nx.template((2,), "f32"))
    assert print_graph(found) == (
        "#Nx.Tensor<\n"
        "  (f32[2], bool[2], s64)\n"
        "  \n"
        "  Nx.Defn.Expr\n"
        "  parameter a:0         f32[2]\n"
        "  b = multiply 0.1, a   f32[2]\n"
        "  c = greater a, Inf    bool[2]\n"
        "  5                     s64\n"
        "  (b, c, 5)\n"
        ">"
    )


def test_static_parameters_read_as_python(record):
    def function(x):
        parts = nx.pad(x, 0, [(1, 0, 0), (0, 0, 0)]), nx.argmax(x, axis=1), nx.dot(x, x.transpose())
        return [nx.as_type(part, "f64") for part in parts]

    assert [
        line.split("   ")[0].strip() for line in print_graph(record(function, nx.template((2, 3), "f32"))).splitlines()
    ] == [
        "#Nx.Tensor<",
        "(f64[3][3], f64[2], f64[2][2])",
        "",
        "Nx.Defn.Expr",
        "parameter a:0",
        "b = pad a, 0.0, config=[(1, 0, 0), (0, 0, 0)]",
        'c = as_type b, type="f64"',
        'd = argmax a, axis=1, keep_axis=False, tie_break="low", type="s64"',
        'e = as_type d, type="f64"',
        "f = transpose a, axes=[1, 0]",
        "g = dot a, f, contract=[[1], [0]], batch=[[], []]",
        'h = as_type g, type="f64"',
        "(c, e, h)",
        ">",
    ]


def test_a_graph_of_vectorized_values_says_so_above(record):
    template = nx.template((3,), "f32", vectorized_axes={"x": 2})
    assert repr(record(nx.sum, template)).splitlines() == [
        "#Nx.Tensor<",
        "  vectorized[x: 2]",
        "  f32",
        "  ",
        "  Nx.Defn.Expr",
        "  parameter a:0                          f32[2][3]",
        "  b = sum a, axes=[1], keep_axes=False   f32[2]",
        ">",
    ]


def halved(element, so_far):
    return nx.max(element * 0.5, so_far) + nx.exp(-so_far)


def test_a_long_body_stands_below_its_operation(record):
    found = record(lambda x: nx.tanh(nx.reduce(x, 0.0, halved, axes=[1])), nx.template((2, 3), "f32"))
    assert repr(found).splitlines()[4:-1] == [
        "  parameter a:0                                                                f32[2][3]",
        '  b = reduce a, 0.0, axes=[1], keep_axes=False, body={a, b -> g}, type="f32"   f32[2]',
        "      c = multiply a, 0.5                                                      f32",
        "      d = max c, b                                                             f32",
        "      e = negate b                                                             f32",
        "      f = exp e                                                                f32",
        "      g = add d, f                                                             f32",
        "  c = tanh b                                                                   f32[2]",
    ]


def test_a_short_body_stands_in_its_line(record):
    found = record(
        lambda x, k: nx.reduce(x, 0.0, lambda a, b: a * k + b), nx.template((2,), "f32"), nx.template((), "f32")
    )
    assert "body={d = multiply a, c; e = add d, b}" in repr(found)
    found = record(lambda x: nx.reduce(x, 0.0, lambda a, b: a), nx.template((2,), "f32"))
    assert "body={a}" in repr(found)


def test_a_long_line_does_not_push_the_types_of_others_away(record):
    found = record(
        lambda x, k: nx.tanh(nx.conv(x, k, padding="same")),
        nx.template((1, 2, 8, 8), "f32"),
        nx.template((4, 2, 3, 3), "f32"),
    )
    assert repr(found).splitlines()[4:-1] == [
        "  parameter a:0   f32[1][2][8][8]",
        "  parameter b:1   f32[4][2][3][3]",
        "  c = conv a, b, padding=[(1, 1), (1, 1)], strides=[1, 1], input_dilation=[1, 1], kernel_dilation=[1, 1], "
        "feature_groups=1, batch_groups=1   f32[1][4][8][8]",
        "  d = tanh c      f32[1][4][8][8]",
    ]


def test_several_results_are_taken_one_by_one(record):
    found = record(lambda x: nx.linalg.qr(x), nx.template((4, 3), "f32"))
    assert print_graph(found).splitlines()[1:-1] == [
        "  (f32[4][3], f32[3][3])",
        "  ",
        "  Nx.Defn.Expr",
        "  parameter a:0              f32[4][3]",
        '  b = qr a, mode="reduced"   tuple2',
        "  c = elem b, index=0        f32[4][3]",
        "  d = elem b, index=1        f32[3][3]",
        "  (c, d)",
    ]


def test_a_graph_shows_parameters_that_nothing_reads():
    x, y = (parameter(place, name, nx.template((2,), "f32").spec) for place, name in enumerate("xy"))
    graph = Graph("f", [x, y], [y], lambda leaves: leaves[0])
    assert repr(graph).splitlines()[4:-1] == ["  parameter b:0   f32[2]", "  parameter a:1   f32[2]"]


def test_variables_go_from_a_to_z_to_ba(record):
    def chain(x):
        for _ in range(30):
            x = nx.exp(x)
        return x

    order = post_order([record(chain, nx.template((), "f32"))])
    assert [*variable_names(order).values()] == [*"abcdefghijklmnopqrstuvwxyz", "ba", "bb", "bc", "bd", "be"]


@pytest.mark.alone
def test_long_chains_print_in_linear_time(record):
    def chain(x):
        for _ in range(10_000):
            x = x * 1.5
        return x

    expression = record(chain, nx.template((), "f32"))
    begin = time.perf_counter()
    text = repr(expression)
    assert time.perf_counter() - begin < 2
    assert text.count("\n") == 10_005


def test_loops_and_choices(record):
    def function(x, n):
        def body(i, s):
            return nx.cond(nx.greater(s, 3), lambda: s / 2, lambda: s + nx.sin(x) * nx.cos(x) * nx.exp(x) * nx.sqrt(x))

        return nx.fori(0, n, body, x)

    assert repr(record(function, nx.template((), "f32"), nx.template((), "s64"))) == (
        "#Nx.Tensor<\n"
        "  f32\n"
        "  \n"
        "  Nx.Defn.Expr\n"
        "  parameter a:0                                                                         f32\n"
        "  parameter b:1                                                                         s64\n"
        "  c = while 0, a, b, a, condition={e = less a, c}, body={a, b, c, d -> e, h}, state=2   tuple2\n"
        "      body\n"
        "        e = add a, 1                                                                    s64\n"
        "        f = greater b, 3.0                                                              bool\n"
        "        g = cond f, b, d, then={c = divide a, 2.0}, otherwise={a, b -> j}               tuple1\n"
        "          otherwise\n"
        "            c = sin b                                                                   f32\n"
        "            d = cos b                                                                   f32\n"
        "            e = multiply c, d                                                           f32\n"
        "            f = exp b                                                                   f32\n"
        "            g = multiply e, f                                                           f32\n"
        "            h = sqrt b                                                                  f32\n"
        "            i = multiply g, h                                                           f32\n"
        "            j = add a, i                                                                f32\n"
        "        h = elem g, index=0                                                             f32\n"
        "  d = elem c, index=1                                                                   f32\n"
        ">"
    )
