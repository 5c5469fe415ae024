"""Tensors as text."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel import types
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.tensor import printing


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (nx.tensor(1.5), "Tensor(1.5, f32)"),
        (nx.f64(1 / 3), "Tensor(0.3333333333333333, f64)"),
        (nx.f16(1 / 3), "Tensor(0.3333, f16)"),
        (nx.bf16(1 / 3), "Tensor(0.334, bf16)"),
        (nx.tensor(True), "Tensor(True, bool)"),
        (nx.tensor(1 + 2j), "Tensor((1+2j), c64)"),
        (nx.tensor([1, 2, 3]), "Tensor([1, 2, 3], s64[3])"),
        (nx.tensor([1.0, 1 / 3]), "Tensor([1.        , 0.33333334], f32[2])"),
        (nx.f64([1.0, 1 / 3]), "Tensor([1.                , 0.3333333333333333], f64[2])"),
        (nx.bf16([1.0, 1 / 3]), "Tensor([1.0, 0.334], bf16[2])"),
        (nx.iota((2, 2), names=["row", None]), "Tensor([[0, 1],\n        [2, 3]], s64[row: 2][2])"),
        (nx.vectorize(nx.iota((2, 2)), "x"), "Tensor([[0, 1],\n        [2, 3]], vectorized[x: 2] s64[2])"),
        (nx.broadcast(0, (0, 2)), "Tensor([], s64[0][2])"),
        (nx.iota(1000), "Tensor([  0,   1,   2, ..., 997, 998, 999], s64[1000])"),
        (
            nx.iota((4, 3, 100)),
            "Tensor([[[   0,    1, ...,   98,   99],\n"
            "         [ 100,  101, ...,  198,  199],\n"
            "         [ 200,  201, ...,  298,  299]],\n\n"
            "        [[ 300,  301, ...,  398,  399],\n"
            "         [ 400,  401, ...,  498,  499],\n"
            "         [ 500,  501, ...,  598,  599]],\n\n"
            "        [[ 600,  601, ...,  698,  699],\n"
            "         [ 700,  701, ...,  798,  799],\n"
            "         [ 800,  801, ...,  898,  899]],\n\n"
            "        [[ 900,  901, ...,  998,  999],\n"
            "         [1000, 1001, ..., 1098, 1099],\n"
            "         [1100, 1101, ..., 1198, 1199]]], s64[4][3][100])",
        ),
    ],
)
def test_the_compact_form(tensor, text):
    assert repr(tensor) == text


def test_the_compact_form_is_wrapped_between_numbers():
    lines = repr(nx.iota(60) + 1000).splitlines()
    assert max(map(len, lines)) <= 75
    assert lines[0] == "Tensor([1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010,"
    assert lines[-1] == "        1055, 1056, 1057, 1058, 1059], s64[60])"
    # The type has a line of its own where there is no room for it behind the numbers.
    assert repr(nx.iota(50)).splitlines()[-1] == "       s64[50])"


def test_a_vector_that_would_take_many_lines_is_shortened():
    few = nx.tensor(np.arange(72) / 7)
    assert "..." not in repr(few)
    assert repr(nx.tensor(np.arange(99) / 7)) == (
        "Tensor([ 0.                 ,  0.14285714285714285,  0.2857142857142857 ,\n"
        "        ..., 13.714285714285714  , 13.857142857142858  ,\n"
        "        14.                 ], f64[99])"
    )
    assert repr(nx.tensor(np.arange(100, dtype="f4") / 7)).count("\n") > 10
    with np.printoptions(threshold=500):
        assert "..." not in repr(nx.tensor(np.arange(99) / 7))
    # All numbers of a small matrix are shown, below its picture too.
    assert "..." not in repr(nx.tensor(np.arange(100).reshape(10, 10) / 7))


def test_the_compact_form_follows_what_numpy_was_asked_for():
    tensor = nx.f64([1 / 3, 100.0])
    with np.printoptions(precision=2):
        assert repr(tensor) == "Tensor([  0.33, 100.  ], f64[2])"
    with np.printoptions(threshold=10**6):
        assert repr(nx.iota(150)).count(",") == 150
    with np.printoptions(edgeitems=1):
        assert repr(nx.iota(101)) == "Tensor([  0, ..., 100], s64[101])"


def test_inspect_shows_what_there_is_and_how_much_is_asked_for():
    tensor = nx.iota((3, 30))
    assert nx.inspect(tensor, limit=1) == "#Nx.Tensor<\n  s64[3][30]\n  [\n    [0, ...],\n    ...\n  ]\n>"
    assert nx.inspect(tensor, limit=None).count(",") == 29 * 3 + 2
    assert nx.inspect(1.5) == "#Nx.Tensor<\n  f32\n  1.5\n>"
    assert tensor.inspect() == nx.inspect(tensor)
    # A cell shows it as it is printed.
    assert repr(nx.inspect(tensor)) == nx.inspect(tensor)
    with pytest.raises(NxValueError, match=r"^limit is how many elements are shown, from 0 on, or None"):
        nx.inspect(tensor, limit=-1)
    with pytest.raises(NxTypeError, match=r"^expected a tensor, an array or a number for 'tensor', got None"):
        nx.inspect(None)


def test_inspect_shows_the_graph_of_a_traced_value():
    seen = []

    def f(t):
        seen.append(nx.inspect(nx.tanh(t)))
        return t

    nx.jit(f)(1.0)
    assert seen == ["#Nx.Tensor<\n  f32\n  \n  Nx.Defn.Expr\n  parameter a:0   f32\n  b = tanh a      f32\n>"]


def test_a_scalar():
    assert nx.inspect(nx.tensor(1)) == "#Nx.Tensor<\n  s64\n  1\n>"


def test_a_vector_is_one_line():
    assert nx.inspect(nx.tensor([1, 2, 3], names=["x"])) == "#Nx.Tensor<\n  s64[x: 3]\n  [1, 2, 3]\n>"


def test_axes_nest():
    assert nx.inspect(nx.iota((2, 1, 2), type="f32")) == (
        "#Nx.Tensor<\n  f32[2][1][2]\n  [\n    [\n      [0.0, 1.0]\n    ],\n    [\n      [2.0, 3.0]\n    ]\n  ]\n>"
    )


def test_vectorized_axes_have_a_line_and_their_entries_nest():
    assert nx.inspect(nx.vectorize(nx.iota((2, 1, 2), names=[None, None, "k"]), ["x", "y"])) == (
        "#Nx.Tensor<\n  vectorized[x: 2][y: 1]\n  s64[k: 2]\n  [\n    [\n      [0, 1]\n    ],\n    [\n      [2, 3]\n"
        "    ]\n  ]\n>"
    )


def test_fifty_elements_are_printed():
    assert nx.inspect(nx.iota(50)).endswith("48, 49]\n>")
    assert nx.inspect(nx.iota(51)).endswith("48, 49, ...]\n>")
    assert nx.inspect(nx.iota((20, 20))).splitlines()[-4:] == [
        "    [40, 41, 42, 43, 44, 45, 46, 47, 48, 49, ...],",
        "    ...",
        "  ]",
        ">",
    ]
    assert nx.inspect(nx.iota((6, 10))).splitlines()[-5:] == [
        "    [30, 31, 32, 33, 34, 35, 36, 37, 38, 39],",
        "    [40, 41, 42, 43, 44, 45, 46, 47, 48, 49],",
        "    ...",
        "  ]",
        ">",
    ]
    assert nx.inspect(nx.iota(5), limit=2) == "#Nx.Tensor<\n  s64[5]\n  [0, 1, ...]\n>"


def test_empty_tensors():
    assert nx.inspect(nx.broadcast(0, (0,))) == "#Nx.Tensor<\n  s64[0]\n  []\n>"
    assert nx.inspect(nx.broadcast(0, (0, 2))) == "#Nx.Tensor<\n  s64[0][2]\n  []\n>"


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (0.1, "f64", "0.1"),
        (1.0, "f64", "1.0"),
        (-0.0, "f64", "-0.0"),
        (100.0, "f64", "100.0"),
        (1000.0, "f64", "1.0e3"),
        (123456.0, "f64", "123456.0"),
        (1e-10, "f64", "1.0e-10"),
        (1e22, "f64", "1.0e22"),
        (1.5e-7, "f64", "1.5e-7"),
        (0.00123, "f64", "0.00123"),
        (1 / 3, "f64", "0.3333333333333333"),
        (5e-324, "f64", "5.0e-324"),
        (1.7976931348623157e308, "f64", "1.7976931348623157e308"),
        (0.1, "f32", "0.1"),
        (1 / 3, "f32", "0.33333334"),
        (1e-10, "f32", "1e-10"),
        (16777216.0, "f32", "16777216.0"),
        (3.4028235e38, "f32", "3.4028235e38"),
        (0.1, "f16", "0.1"),
        (6e-5, "f16", "6e-5"),
        (65504.0, "f16", "6.55e4"),
        (0.1, "bf16", "0.1"),
        (1 / 3, "bf16", "0.334"),
        (3.39e38, "bf16", "3.39e38"),
        (-1.5, "bf16", "-1.5"),
        (0.0, "bf16", "0.0"),
        (math.nan, "f32", "NaN"),
        (math.inf, "f16", "Inf"),
        (-math.inf, "bf16", "-Inf"),
        (255, "u8", "255"),
        (-1, "s64", "-1"),
        (1, "bool", "True"),
        (1 - 2j, "c64", "1.0-2.0i"),
        (complex(math.nan, -math.inf), "c64", "NaN-Infi"),
        (complex(1e-10, 0.0), "c128", "1.0e-10+0.0i"),
    ],
)
def test_numbers(value, type_, text):
    tensor = nx.tensor(value, type=type_)
    assert nx.inspect(tensor).splitlines()[2] == f"  {text}"


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["f16", "bf16", "f32", "f64"]), st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_float_gives_it_back(type_, value):
    element = nx.tensor(value, type=type_).data
    text = printing.number(element.item() if type_ != "bf16" else element[()], types.TYPES[type_])
    again = float(text.replace("Inf", "inf"))
    assert element.dtype.type(again) == element
    assert "." in text or "e" in text or "Inf" in text


def test_no_shorter_text_gives_a_bfloat_back():
    for bits in range(0x3F00, 0x4100, 7):
        value = np.uint16(bits).view(ml_dtypes.bfloat16)
        digits = printing.number(value, types.bf16).replace(".", "").strip("0")
        shorter = f"{float(value):.{max(len(digits) - 2, 0)}e}"
        assert len(digits) == 1 or ml_dtypes.bfloat16(float(shorter)) != value
