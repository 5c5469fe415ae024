"""Calls that are made when a program has run, of values that are there only then."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.keys.containers import LEAF
from nxkernel.definitions.outputs.printed_values import (
    DeferredCall,
    FixedText,
    Labelled,
    OutputStream,
    Percent,
    RunTimeValue,
    Several,
    TextTemplate,
)

VALUE = RunTimeValue(LEAF, (False,))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2.0"),
        (np.float32(0.1), "0.1"),
        (True, "True"),
        (np.bool_(True), "True"),
        (3, "3"),
        (1 + 2j, "(1+2j)"),
        (np.arange(3), "[0 1 2]"),
        (np.ones((2, 1)), "[[1.]\n [1.]]"),
    ],
)
def test_tensors_are_printed_as_numpys(value, text, capsys):
    DeferredCall(print, (VALUE,))((nx.tensor(value),))
    assert capsys.readouterr().out == text + "\n"


def test_calls_and_labels(capsys):
    one, two = nx.tensor(np.float64(1.5)), nx.tensor(np.array([1, 2]))
    pair = RunTimeValue(("list", None, (LEAF, ("tuple", None, (LEAF,)))), (True, False))
    DeferredCall(print, (FixedText("a"), VALUE, pair), (("sep", FixedText("-")), ("file", OutputStream("stderr"))))(
        (one, one, two)
    )
    Labelled("t: ")(nx.tensor(1))
    out, err = capsys.readouterr()
    assert err == "a-1.5-[1.5, (array([1, 2]),)]\n"
    assert out == "t: Tensor(1, s64)\n"


def test_text():
    leaves = [nx.tensor(np.float64(value)) for value in (1.5, 2.5)]
    inner = TextTemplate("<{}>", (VALUE,))
    assert (
        TextTemplate("{:.2f} {} {{}} {!r}", (VALUE, inner, FixedText("a"))).formatted(iter(leaves))
        == "1.50 <2.5> {} 'a'"
    )
    assert Percent("%d of %.1f", Several((FixedText(3), VALUE))).formatted(iter(leaves)) == "3 of 1.5"
    assert Percent("%s", RunTimeValue(LEAF, (True,))).formatted(iter(leaves)) == "1.5"
