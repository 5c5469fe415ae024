"""Graphs and values to look at."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError


def error(kind, function, *args, **opts):
    with pytest.raises(kind) as raised:
        function(*args, **opts)
    return str(raised.value)


def lines(text):
    """An error's text without the line of this file that it names."""
    return [line for line in text.split("\n") if "test_printed_graphs.py, line" not in line]


def test_debug_expr():
    traced = nx.debug_expr(lambda a, *, n=1: {"sum": nx.sum(a) * n, "all": (a,)})(nx.template((2, 3), "f32"), n=2)
    assert sorted(traced) == ["all", "sum"]
    assert repr(traced["sum"]) == (
        "#Nx.Tensor<\n  f32\n  \n  Nx.Defn.Expr\n"
        "  parameter a:0                             f32[2][3]\n"
        "  b = sum a, axes=[0, 1], keep_axes=False   f32\n"
        "  c = multiply b, 2.0                       f32\n>"
    )


def test_debug_expr_tells_whose_rules_hold():
    def total(x):
        return {"sum": np.sum(x)}

    x = np.arange(3, dtype="f4")
    traced = nx.debug_expr(total)
    assert traced.rules == "NumPy's rules: it computes with np.sum"
    assert repr(traced) == "<expression of definition total(x), NumPy's rules: it computes with np.sum>"
    assert repr(traced(x)["sum"]) == (
        "#Nx.Tensor<\n  f32\n  \n  Nx.Defn.Expr\n"
        "  NumPy's rules: it computes with np.sum\n"
        "  parameter a:0                          f32[3]\n"
        "  b = sum a, axes=[0], keep_axes=False   f32\n>"
    )
    asked = nx.debug_expr(total, promotion="nx")
    assert repr(asked) == "<expression of definition total(x), Nx's rules, as promotion='nx' says>"
    assert "rules" not in repr(asked(x)["sum"])
    definition = nx.defn(lambda x, *, k=2: x / k)
    by_numpy = nx.debug_expr(definition, promotion="numpy")
    assert (by_numpy.__name__, by_numpy(nx.iota(3), k=4).type) == ("<lambda>", "f64")
    assert nx.debug_expr(definition)(nx.iota(3), k=4).type == "f32"
    assert nx.debug_expr_apply(definition, [nx.iota(3)], promotion="numpy").type == "f64"
    with pytest.raises(NxValueError, match=r"promotion"):
        nx.debug_expr(total, promotion="np")


def test_print_expr_prints_once_and_print_value_at_every_run(capsys):
    @nx.defn
    def f(t):
        t = nx.print_expr(t + 1)
        return nx.print_value(t, "t = ")

    f(1.0)
    first = capsys.readouterr().out
    assert first == (
        "#Nx.Tensor<\n  f32\n  \n  Nx.Defn.Expr\n  parameter a:0    f32\n  b = add a, 1.0   f32\n>\n"
        "t = Tensor(2.0, f32)\n"
    )
    for _ in range(2):
        assert f(2.0).to_number() == 3.0
        assert capsys.readouterr().out == "t = Tensor(3.0, f32)\n"


def test_print_value_of_containers_constants_and_captured(capsys):
    w = nx.tensor([1, 2])

    def f(t):
        nx.print_value({"b": t * 2, "a": (1.5,)}, "both ")
        nx.print_value(w)
        return t

    f = nx.jit(f)
    expected = "both {'b': Tensor(4.0, f32), 'a': (Tensor(1.5, f32),)}\nTensor([1, 2], s64[2])\n"
    for _ in range(2):
        assert f(2.0).to_number() == 2.0
        assert capsys.readouterr().out == expected


def test_printing_outside_of_a_trace(capsys):
    tensor = nx.tensor(2)
    assert nx.print_value(tensor, "two ") is tensor
    assert nx.print_expr(tensor) is tensor
    assert capsys.readouterr().out == "two Tensor(2, s64)\nTensor(2, s64)\n"


def test_printing_what_is_no_tensor():
    assert lines(error(NxTypeError, nx.jit(lambda t: nx.print_value(None)), 1.0)) == [
        "print_value returns no tensor: the value is None.",
        "  A `return` may be missing.",
    ]


def test_a_label_of_print_value_is_followed_by_a_colon(capsys):
    for label in ("x", "x:", "x: ", ""):
        nx.print_value(nx.tensor(1), label)
        nx.jit(lambda t, *, label: nx.print_value(t, label))(1, label=label)
    text = "Tensor(1, s64)\n"
    assert capsys.readouterr().out == 6 * f"x: {text}" + 2 * text
