"""Gradients of special functions against differences, and what is refused."""

import numpy as np
import pytest
from scipy import special

import nxkernel as nx
from numpy_comparison.slopes import check_slopes
from nxkernel.errors import NxTypeError

X = np.linspace(0.3, 2.7, 4)
Y = np.linspace(1.2, 3.1, 4)[::-1].copy()
P = np.linspace(0.05, 0.9, 4)
SIGNED = np.array([-1.7, -0.03, 0.4, 2.3])


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "name",
    [
        "erf",
        "erfc",
        "erfcx",
        "expit",
        "log_expit",
        "ndtr",
        "log_ndtr",
        "i0",
        "i0e",
        "i1",
        "i1e",
        "j0",
        "j1",
        "exprel",
        "dawsn",
        "erfi",
    ],
)
def test_of_any_number(name):
    check_slopes(getattr(special, name), SIGNED)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    "name",
    [
        "gammaln",
        "gamma",
        "psi",
        "loggamma",
        "rgamma",
        "k0",
        "k0e",
        "k1",
        "k1e",
        "y0",
        "y1",
        "expi",
        "exp1",
        "spence",
        "entr",
    ],
)
def test_of_positive_numbers(name):
    check_slopes(getattr(special, name), X)


@pytest.mark.parametrize("name", ["erfinv", "logit", "ndtri", "erfcinv"])
def test_of_probabilities(name):
    check_slopes(getattr(special, name), P, tolerance=1e-5)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", ["xlogy", "xlog1py", "rel_entr", "kl_div", "beta", "betaln", "poch", "huber", "binom"])
def test_by_both_arguments(name):
    check_slopes(getattr(special, name), X, Y)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "chdtr", "chdtrc", "jv", "yv", "iv", "kv", "stdtr"])
def test_by_the_second_argument(name):
    check_slopes(getattr(special, name), X, Y, by=[1])


@pytest.mark.parametrize("name", ["gammaincinv", "gammainccinv"])
def test_of_inverses(name):
    check_slopes(getattr(special, name), X, P, by=[1], tolerance=1e-5)


@pytest.mark.parametrize("name", ["betainc", "betaincc", "betaincinv", "betainccinv"])
def test_by_the_third_argument(name):
    check_slopes(getattr(special, name), X, Y, P, by=[2], tolerance=1e-5)


def test_limits():
    slope = lambda function, x: float(nx.grad(function)(np.float64(x)))  # noqa: E731
    assert slope(lambda x: special.exprel(x), 0.0) == 0.5
    assert slope(lambda x: special.i1(x), 0.0) == slope(lambda x: special.j1(x), 0.0) == 0.5
    assert slope(lambda x: special.spence(x), 1.0) == -1.0
    assert slope(lambda x: special.xlogy(x, np.e), 0.0) == 1.0
    assert slope(lambda y: special.xlogy(0.0, y), 0.0) == 0.0
    np.testing.assert_allclose(slope(lambda x: special.log_ndtr(x), -40.0), 40.0249687, rtol=1e-8)


def test_second_derivatives():
    assert float(nx.hessian(lambda x: special.gammaln(x))(2.5)) == special.polygamma(1, 2.5)
    assert float(nx.grad(nx.grad(lambda x: special.i0(x)))(1.5)) == pytest.approx(
        special.i0(1.5) - special.i1(1.5) / 1.5
    )


def test_forward():
    _, slope = nx.jvp(lambda x: special.gammaincc(0.7, x), (np.float64(1.3),), (np.float64(1.0),))
    assert float(slope) == pytest.approx(-(1.3**-0.3) * np.exp(-1.3) / special.gamma(0.7))


def test_narrow_floats_keep_their_type():
    found = nx.grad(lambda x: special.gammaln(x))(np.float32(2.5))
    assert found.dtype == np.float32


def test_what_is_not_known_is_refused():
    x = np.array([0.5, 1.5])
    with pytest.raises(
        NxTypeError, match=r"^kei of f64\[2\] has no gradient \(.*\), and the loss depends on it\."
    ) as told:
        nx.grad(lambda x: np.sum(special.kei(x)))(x)
    assert "No derivative of this function of SciPy's is known here." in str(told.value)
    assert "nx.custom_grad gives a gradient of your own" in str(told.value)
    with pytest.raises(NxTypeError, match=r"The derivative of gammainc by its argument 0 is not known, by 1 it is\."):
        nx.grad(lambda a: np.sum(special.gammainc(a, 2.0)))(x)
    with pytest.raises(NxTypeError, match=r"The derivative of gamma is known of real numbers alone\."):
        nx.grad(lambda x: np.abs(special.gamma(x + 1j)).sum())(x)
