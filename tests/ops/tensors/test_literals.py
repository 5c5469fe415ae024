"""Vectors and matrices written as text."""

import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError


@pytest.mark.parametrize(
    ("text", "type", "values"),
    [
        ("1 2 -3", "s64", [1, 2, -3]),
        (" 1  2.5\n", "f32", [1.0, 2.5]),
        ("NaN Inf -Inf 1e3", "f32", [np.nan, np.inf, -np.inf, 1000.0]),
        ("1 2j", "c64", [1, 2j]),
    ],
)
def test_vec(text, type, values):
    found = nx.vec(text)
    assert found.type == type
    np.testing.assert_array_equal(found, values)


def test_mat():
    assert nx.mat("1 2\n3 4\n", type="f32").to_list() == [[1.0, 2.0], [3.0, 4.0]]
    assert nx.mat("1 2; 3 4.5").type == "f32"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nx.vec("1, 2"), NxValueError, "vec: '1,' is no number.\n  Blanks separate numbers"),
        (lambda: nx.vec("1 2; 3"), NxValueError, "vec takes the numbers of one row, got 2 rows; nx.mat makes"),
        (lambda: nx.mat("1 2; 3"), NxValueError, "mat: row 0 has 2 numbers, row 1 has 1"),
        (lambda: nx.mat(" \n"), NxValueError, "mat needs at least one number, got ' \\n'"),
        (lambda: nx.mat([1]), NxTypeError, "mat takes a text, got a list.\n  nx.tensor takes lists."),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        call()
