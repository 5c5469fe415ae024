"""Integrals of samples in programs."""

import numpy as np
import pytest
import scipy.integrate

import nxkernel as nx
from numpy_comparison.slopes import check_slopes
from nxkernel.errors import NxValueError

X = np.array([0.0, 0.5, 0.7, 1.5])
Y = np.random.default_rng(5).normal(size=(3, 4))


def agrees(function, *arrays):
    found, wanted = nx.jit(function, promotion="numpy", compiler="evaluator")(*arrays), function(*arrays)
    for one, other in zip(found, wanted, strict=True):
        assert (np.shape(one), np.asarray(one).dtype) == (np.shape(other), np.asarray(other).dtype)
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("name", ["trapezoid", "cumulative_trapezoid"])
def test_values_are_scipys(name):
    function = getattr(scipy.integrate, name)
    agrees(lambda y, x: (function(y), function(y, x), function(y, dx=0.5, axis=0), function(y[0], x)), Y, X)
    agrees(lambda y: (function(y, y * y, axis=0), function(y.astype("float32"))), Y)
    agrees(lambda y: (function(y),), np.arange(5))
    check_slopes(lambda y, x: function(y, x), Y, X)


def test_what_comes_first():
    agrees(lambda y, x: (scipy.integrate.cumulative_trapezoid(y, x, initial=0),), Y, X)
    with pytest.raises(NxValueError, match="cumulative_trapezoid: initial is None or 0, got 3"):
        nx.jit(lambda y: scipy.integrate.cumulative_trapezoid(y, initial=3))(Y)
