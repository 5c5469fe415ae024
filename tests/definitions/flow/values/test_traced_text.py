"""Texts that a condition of the running program chooses."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, TracedValueError

X = [np.array([1.0, 2.0]), np.array([-1.0, 0.5]), np.array([-9.0, 0.0])]


def said(x):
    print(f"{'good' if x.sum() > 0 else 'bad'}: {x.sum():.1f}")
    if x[0] > 0:
        mode = "up"
    else:
        mode = "down"
    print("it goes " + mode + ".")
    if np.any(x < -5):
        raise ValueError(f"too far {mode}")
    if mode == "up":
        x = x * 2
    if mode != "up":
        x = x * 3
    return x if mode != "sideways" else x * 0


@pytest.mark.parametrize("wrap", [nx.jit, nx.defn])
def test_as_in_python(wrap, capsys):
    for x in X[:2]:
        expected, text = said(x), capsys.readouterr().out
        np.testing.assert_array_equal(wrap(said)(x), expected)
        assert capsys.readouterr().out == text
    for function in (said, wrap(said)):
        with pytest.raises(ValueError, match=r"^too far down$"):
            function(X[2])
        assert capsys.readouterr().out == "bad: -9.0\nit goes down.\n"


@pytest.mark.usefixtures("ahead_of_calls")
def test_what_is_no_text():
    with pytest.raises(TypeError):
        nx.defn(lambda x: print("a" + (1 if x[0] > 0 else 2)))(X[0])
    with pytest.raises(NxTypeError, match=r"^the branches of this `if` disagree about its value\."):
        nx.defn(lambda x: print("a" if x[0] > 0 else 2))(X[0])
    with pytest.raises(TracedValueError, match=r"^text is asked for what is in it"):
        nx.defn(lambda x: ("a" if x[0] > 0 else "b").upper())(X[0])
