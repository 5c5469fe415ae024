"""Tests of errors that are raised with lines of an earlier time."""

import traceback

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.outputs.raised_again import Line, raised_at


def test_the_traceback_ends_with_the_lines():
    lines = [Line("a.py", "C.f", 7, 7, 4, 9), Line("a.py", "g", 3, 3, 0, 5)]
    with pytest.raises(KeyError) as raised:
        raised_at(KeyError("k"), lines)
    steps = traceback.extract_tb(raised.value.__traceback__)[-2:]
    assert [(step.filename, step.name, step.lineno, step.colno) for step in steps] == [
        ("a.py", "f", 7, 4),
        ("a.py", "g", 3, 0),
    ]


def test_no_lines():
    with pytest.raises(KeyError):
        raised_at(KeyError("k"), ())


def test_an_error_of_a_function_of_numpys_ends_with_the_line_that_called_it():
    @nx.jit
    def solved(a, b):
        return np.linalg.solve(a, b)

    solved(np.eye(2), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError) as raised:
        solved(np.zeros((2, 2)), np.ones(2))
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (last.filename, last.name, last.line) == (__file__, "solved", "return np.linalg.solve(a, b)")
    assert raised.value.__context__ is None
