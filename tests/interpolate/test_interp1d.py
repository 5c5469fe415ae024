"""`interp1d`: SciPy's values, what is outside of the points, gradients, and what it refuses."""

import numpy as np
import pytest
from scipy import interpolate as scipy_interpolate

import nxkernel as nx
from nxkernel import interpolate
from nxkernel.errors import NxValueError

X = np.array([3.0, 0.0, 1.0, 7.0, 5.0])
Y = np.array([[1.0, 4.0, 0.0, 2.0, 2.0], [0.0, 1.0, 8.0, 3.0, 5.0]])


@pytest.mark.parametrize("kind", ["linear", pytest.param("cubic", marks=pytest.mark.slow)])
def test_what_scipy_gives(kind):
    places = np.array([[0.0, 0.3, 7.0], [5.0, 2.0, 6.5]])
    for y, axis in ((Y, -1), (Y[0], 0), (Y.T, 0)):
        found = interpolate.interp1d(X, y, kind, axis=axis)(places)
        np.testing.assert_allclose(found, scipy_interpolate.interp1d(X, y, kind, axis=axis)(places), atol=1e-12)
        assert type(found) is np.ndarray


def test_outside_of_the_points():
    given = {"fill_value": "extrapolate"}
    np.testing.assert_allclose(
        interpolate.interp1d(X, Y, **given)([-1, 9]), scipy_interpolate.interp1d(X, Y, **given)([-1, 9])
    )
    filled = interpolate.interp1d(X, Y, fill_value=7.0, assume_sorted=False)([-1, 0.5])
    np.testing.assert_allclose(filled, [[7, 2], [7, 4.5]])
    assert np.isnan(interpolate.interp1d(X, Y[0], bounds_error=False)(-1.0))
    with pytest.raises(NxValueError, match="9 is above the points, which are from 0 to 7"):
        interpolate.interp1d(X, Y)([1.0, 9.0])
    with pytest.raises(NxValueError, match="-1 is below the points"):
        interpolate.interp1d(X, Y)(-1.0)


@pytest.mark.slow
def test_gradients_and_entries():
    slopes = nx.grad(lambda y: interpolate.interp1d(X, y)(2.0))(Y[0])
    np.testing.assert_allclose(slopes, [0.5, 0, 0.5, 0, 0])
    many = nx.vmap(lambda y: interpolate.interp1d(X, y)(2.0))(Y)
    np.testing.assert_allclose(many, [0.5, 4])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: interpolate.interp1d(X, Y, "quadratic"), "kind is one of 'linear', 'cubic'"),
        (lambda: interpolate.interp1d(X, Y, fill_value="none"), 'fill_value is a number or "extrapolate"'),
        (lambda: interpolate.interp1d(X, Y, assume_sorted=True), "x is not in order"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(NxValueError, match=text):
        call()
