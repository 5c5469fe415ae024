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


def graded(x):
    state, grade = "searching", ""
    for i in range(len(x)):
        if x[i] > 2:
            state = "found"
            break
    if x[0] > 1:
        grade = "good"
    elif x[0] > 0:
        grade = "fair"
    else:
        grade = state if x[1] > 0 else "bad"
    for v in x:
        grade = "none" if v > 50 else grade
    print(state, grade, state + "/" + grade)
    return i, grade == "fair", state != "found"


@pytest.mark.parametrize("x", [[1.5, 2, 3], [0.5, 1, 1], [-1, 1, 2.5], [-1.0, -1, 1], [0.5, 1, 99.0]])
def test_texts_in_loops_and_chains(x, capsys):
    expected, text = graded(np.array(x)), capsys.readouterr().out
    assert nx.defn(graded)(np.array(x)) == expected
    assert capsys.readouterr().out == text


@pytest.mark.usefixtures("ahead_of_calls")
def test_what_is_no_text():
    with pytest.raises(TypeError):
        nx.defn(lambda x: print("a" + (1 if x[0] > 0 else 2)))(X[0])
    with pytest.raises(NxTypeError, match=r"^the branches of this `if` disagree about its value\."):
        nx.defn(lambda x: print("a" if x[0] > 0 else 2))(X[0])
    with pytest.raises(TracedValueError, match=r"^text is asked for what is in it"):
        nx.defn(lambda x: ("a" if x[0] > 0 else "b").upper())(X[0])
