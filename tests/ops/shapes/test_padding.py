"""Borders around a tensor."""

import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxValueError

X = np.arange(6).reshape(2, 3)
NUMPYS = {"cyclic": "wrap", "mirror": "symmetric", "replicate": "edge", "reflect": "reflect"}


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
@pytest.mark.parametrize("mode", NUMPYS)
@pytest.mark.parametrize("config", [[(0, 0), (1, 2)], [(3, 5), (7, 0)]])
def test_modes_are_numpys(mode, config, compiler):
    found = nx.pad_outer(nx.tensor(X, names=["a", "b"]), mode, config)
    np.testing.assert_array_equal(found, np.pad(X, config, NUMPYS[mode]))
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(nx.pad_outer([7], mode, [(2, 1)]), [7, 7, 7, 7])
    traced = nx.jit(lambda t: nx.pad_outer(t, mode, config), compiler=compiler)
    np.testing.assert_array_equal(traced(X), found)


def test_values_and_cropping():
    np.testing.assert_array_equal(
        nx.pad_outer(X, 9, [(1, 0), (0, -1)]), np.pad(X[:, :2], [(1, 0), (0, 0)], constant_values=9)
    )
    np.testing.assert_array_equal(nx.pad_outer(X, "reflect", [(-1, 0), (1, -1)]), [[4, 3, 4]])
    np.testing.assert_array_equal(
        nx.reflect(X, padding_config=[(0, 1), (2, 0)]), np.pad(X, [(0, 1), (2, 0)], "reflect")
    )


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: nx.pad_outer(X, "edge", [(0, 0)] * 2),
            "pad_outer pads with a number or a mode, got 'edge'.\n  "
            "The modes are 'cyclic', 'replicate', 'mirror', 'reflect'.",
        ),
        (
            lambda: nx.pad_outer(X, 0, [(1, 1)]),
            "pad_outer needs one (low, high) for each of the 2 axes of s64[2][3], got [(1, 1)].\n  "
            "To leave all as they are, write [(0, 0), (0, 0)].",
        ),
        (lambda: nx.reflect(X, padding_config=[(1, 1, 0)] * 2), "reflect needs one (low, high) for each of the 2 axes"),
        (
            lambda: nx.reflect(X, padding_config=[(-2, -1), (0, 0)]),
            "reflect: (-2, -1) removes more than the 2 elements of an axis",
        ),
        (
            lambda: nx.pad_outer(np.zeros(0), "mirror", [(1, 0)]),
            "pad_outer: axis 0 of f64[0] has no elements to make a border of",
        ),
    ],
)
def test_refused(call, text):
    with pytest.raises(NxValueError, match="^" + re.escape(text)):
        call()
