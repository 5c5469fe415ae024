"""`root_scalar`: SciPy's roots and counts, gradients of roots, and what it refuses."""

import numpy as np
import pytest
from scipy import optimize as scipy_optimize

import nxkernel as nx
from nxkernel import optimize
from nxkernel.errors import NxTypeError, NxValueError


def cubic(x, a):
    return x**3 - a


def slope(x, a):
    return 3 * x * x


def curvature(x, a):
    return 6 * x


@pytest.mark.parametrize(
    ("method", "given", "more"),
    [
        ("brentq", {"bracket": [0, 2]}, {}),
        pytest.param("bisect", {"bracket": [0, 2]}, {}, marks=pytest.mark.slow),
        pytest.param("secant", {"x0": 1.0, "x1": 2.0}, {}, marks=pytest.mark.slow),
        ("newton", {"x0": 1.0}, {"fprime": slope}),
        pytest.param("halley", {"x0": 1.0}, {"fprime": slope, "fprime2": curvature}, marks=pytest.mark.slow),
    ],
)
def test_what_scipy_gives(method, given, more):
    for target in (2.0, 0.3):
        expected = scipy_optimize.root_scalar(cubic, args=(target,), method=method, **given, **more)
        for derivatives in ({}, more):
            found = optimize.root_scalar(cubic, args=(target,), method=method, **given, **derivatives)
            assert found.root == pytest.approx(expected.root, rel=1e-12)
            assert (found.iterations, found.converged, found.flag) == (expected.iterations, True, "converged")
            assert (type(found.root), found.method) == (float, method)


@pytest.mark.slow
def test_methods_by_what_is_given():
    choices = [({"bracket": (1, 1.5)}, "brentq"), ({"x0": 1}, "newton"), ({"x0": 1, "x1": 2}, "secant")]
    for given, method in choices:
        assert optimize.root_scalar(cubic, args=(2,), **given).method == method
    both = optimize.root_scalar(lambda x: (x**2 - 2, 2 * x), x0=1.0, fprime=True)
    assert both.root == pytest.approx(2**0.5)
    assert optimize.root_scalar(lambda x: x, bracket=(0, 3)).root == 0


def test_another_bracket_or_argument_does_not_compile():
    optimize.root_scalar(cubic, args=(2.0,), bracket=(0, 3))
    with nx.no_compile():
        assert optimize.root_scalar(cubic, args=(1.0,), bracket=(0, 4), xtol=1e-6).root == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
def test_what_does_not_converge_says_so():
    assert optimize.root_scalar(cubic, args=(2,), x0=100.0, maxiter=2).flag.startswith("convergence error")
    flat = optimize.root_scalar(lambda x: x**2 + 1, x0=0.0)
    assert (flat.converged, flat.flag[:11]) == (False, "value error")


def test_gradients_and_entries():
    cube_root = nx.grad(lambda a: optimize.root_scalar(cubic, args=(a,), bracket=(0, 5)).root)
    assert float(cube_root(np.float64(8))) == pytest.approx(1 / 12)
    assert float(nx.grad(cube_root)(np.float64(8))) == pytest.approx(-2 / 9 * 8 ** (-5 / 3))
    many = nx.vmap(lambda a: optimize.root_scalar(cubic, args=(a,), bracket=(0, 3)))(np.array([1.0, 8.0, 64.0]))
    np.testing.assert_allclose(many.root, [1, 2, np.nan])
    assert np.asarray(many.converged).tolist() == [True, True, False]
    assert many.flag[2].startswith("sign error")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: optimize.root_scalar(cubic, args=(2,), bracket=(2, 3)), NxValueError, "must have different signs"),
        (lambda: optimize.root_scalar(cubic, args=(2,)), NxValueError, "newton takes a start, x0"),
        (
            lambda: optimize.root_scalar(cubic, args=(2,), method="brentq", x0=1),
            NxValueError,
            "takes bracket=\\(a, b\\)",
        ),
        (lambda: optimize.root_scalar(cubic, args=(2,), method="ridder"), NxValueError, "brentq takes a bracket, too"),
        (
            lambda: optimize.root_scalar(cubic, args=(2,), x0=np.ones(2)),
            NxValueError,
            "begins with numbers, got an array",
        ),
        (lambda: optimize.root_scalar(lambda x: [x, x], x0=1.0), NxValueError, "gives one number, got f64\\[2\\]"),
        (lambda: optimize.root_scalar("f", x0=1.0), NxTypeError, "f is a function, got 'f'"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
