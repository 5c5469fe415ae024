"""`CubicSpline` and `PPoly`: SciPy's values, derivatives and integrals, gradients, and what they refuse."""

import numpy as np
import pytest
from scipy import interpolate as scipy_interpolate

import nxkernel as nx
from nxkernel import interpolate
from nxkernel.errors import NxValueError

RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize(
    "ends", ["not-a-knot", *(pytest.param(one, marks=pytest.mark.slow) for one in ("natural", "clamped"))]
)
@pytest.mark.parametrize("count", [9, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_what_scipy_gives(count, ends):
    x = np.sort(RANDOM.normal(size=count))
    places = np.linspace(x[0] - 0.5, x[-1] + 0.5, 7)
    for y, axis in ((RANDOM.normal(size=count), 0), (RANDOM.normal(size=(2, count)), 1)):
        found = interpolate.CubicSpline(x, y, axis, ends)
        expected = scipy_interpolate.CubicSpline(x, y, axis, ends)
        for order in range(5):
            scale = np.abs(expected(places, order)).max()
            np.testing.assert_allclose(found(places, order), expected(places, order), atol=1e-8 * scale + 1e-12)
        np.testing.assert_allclose(found.integrate(x[0], x[-1]), expected.integrate(x[0], x[-1]), rtol=1e-8)
        grid = places.reshape(1, 7)
        np.testing.assert_allclose(found.derivative()(grid), expected.derivative()(grid), rtol=1e-6, atol=1e-6)
        assert type(found(places)) is np.ndarray
        assert found.c.shape == expected.c.shape


def test_outside_of_the_points():
    spline = interpolate.CubicSpline([0, 1, 2], [0, 1, 4], extrapolate=False)
    np.testing.assert_allclose(spline([-1, 1.5, 3]), [np.nan, 2.25, np.nan])
    assert float(spline(3.0, extrapolate=True)) == pytest.approx(9)
    assert repr(spline) == "<CubicSpline of degree 3, 2 intervals>"


@pytest.mark.slow
def test_tensors_gradients_and_entries():
    x = np.arange(5.0)
    of_tensors = interpolate.CubicSpline(nx.tensor([0.0, 1.0, 2.0]), nx.tensor([0.0, 1.0, 4.0]))(1.5)
    assert (float(of_tensors), of_tensors.type) == (pytest.approx(2.25), "f32")
    found = nx.grad(lambda y: nx.sum(interpolate.CubicSpline(x, y)(np.array([0.5, 2.2]))))(x**2)
    theirs = [scipy_interpolate.CubicSpline(x, unit)([0.5, 2.2]).sum() for unit in np.eye(5)]
    np.testing.assert_allclose(found, theirs, atol=1e-12)
    assert float(nx.grad(lambda t: interpolate.CubicSpline(x, x**2)(t))(2.0)) == pytest.approx(4)
    many = nx.vmap(lambda y: interpolate.CubicSpline(x, y)(2.5))(np.stack([x**2, x**3]))
    np.testing.assert_allclose(many, [6.25, 15.625])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: interpolate.CubicSpline([0, 0, 1], [1, 2, 3]), "x is not in order"),
        (lambda: interpolate.CubicSpline([0], [1]), "x is a row of at least two places, got the shape \\(1,\\)"),
        (lambda: interpolate.CubicSpline([0, 1], [1, 2, 3]), "y has 2 values along axis 0, as x has places"),
        (lambda: interpolate.CubicSpline([0, 1], [1, 2], bc_type="periodic"), "bc_type is one of 'not-a-knot'"),
        (lambda: interpolate.PPoly([[1.0]], [0.0]), "one breakpoint more than intervals"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(NxValueError, match=text):
        call()
