"""Functions of scipy.special that are no ufuncs."""

import numpy as np
import pytest
from scipy import special

import nxkernel as nx
from numpy_comparison.slopes import check_slopes
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxTypeError, NxValueError

X = np.array([[0.3, -1.2, 4.0], [2.0, 2.0, -0.5]])


def defined(function):
    """A function for NumPy, called as a definition calls it."""
    return nx.defn(function, promotion="numpy", compiler="evaluator")


def agrees(function, *arrays, rtol=1e-14):
    found, wanted = defined(function)(*arrays), function(*arrays)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in pairs:
        assert (np.shape(one), np.asarray(one).dtype) == (np.shape(other), np.asarray(other).dtype)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-15)


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": (0, 1)}, {"axis": 1, "keepdims": True}])
def test_logsumexp(options):
    agrees(lambda x: special.logsumexp(x, **options), X)
    agrees(lambda x: special.logsumexp(x, b=np.array([1.0, 0.0, 2.5]), **options), X)
    agrees(lambda x: special.logsumexp(x, b=np.array([1.0, -3.0, 2.5]), return_sign=True, **options), X)


def test_logsumexp_of_special_values():
    inf, nan = np.inf, np.nan
    for row in ([inf, 1.0], [-inf, -inf], [-inf, 3.0], [inf, -inf], [nan, 1.0], [1e3, 1e3], [1e-20, -50.0]):
        agrees(lambda x: special.logsumexp(x), np.array(row))
    agrees(lambda x: special.logsumexp(x), np.arange(4))
    agrees(lambda x: special.logsumexp(x, axis=0), X[0] + 1j * X[1])
    agrees(lambda x: special.logsumexp(x.astype("float32")), X, rtol=1e-6)


def test_softmax():
    agrees(lambda x: special.softmax(x), X)
    agrees(lambda x: (special.softmax(x, axis=1), special.log_softmax(x, axis=0)), X)
    agrees(lambda x: special.log_softmax(x), np.array([-np.inf, 1.0, 1000.0]))


def test_zeta_and_polygamma():
    x = np.linspace(1.5, 4.0, 5)
    agrees(lambda x: (special.zeta(x), special.zeta(x, 0.7), special.zeta(3.0, x)), x)
    agrees(lambda x: (special.polygamma(0, x), special.polygamma(3, x)), x)
    agrees(lambda n, x: special.polygamma(n, x), np.arange(5), x)


def test_multigammaln():
    agrees(lambda x: special.multigammaln(x, 3), np.array([2.5, 4.0]))
    with pytest.raises(NxValueError, match=r"multigammaln: d is a positive whole number, got 1\.5"):
        defined(lambda x: special.multigammaln(x, 1.5))(np.ones(2))


def test_counts():
    agrees(lambda n: (special.factorial(n), special.factorial(n * 0.5)), np.arange(-2, 8))
    agrees(lambda n, k: (special.comb(n, k), special.comb(n, k, repetition=True)), np.arange(1, 8), np.arange(7) % 4)
    agrees(lambda n, k: special.comb(n, k), np.array([3.0, 2.0, -1.0]), np.array([1.0, 4.0, 1.0]))
    with pytest.raises(NxTypeError, match=r"comb\(exact=True\) has whole numbers of any size"):
        defined(lambda n: special.comb(n, 2, exact=True))(np.arange(3))
    with pytest.raises(NxValueError, match="factorial: extend is \"zero\" in a program, got 'complex'"):
        defined(lambda n: special.factorial(n, extend="complex"))(np.ones(2))


def test_gradients():
    x, y = np.array([0.3, 1.2, 2.0]), np.array([1.5, 0.4, 2.2])
    check_slopes(lambda a: special.logsumexp(a * y[:, None], axis=1), x)
    check_slopes(lambda a, b: special.logsumexp(a, b=b).reshape(1), x, y)
    check_slopes(special.softmax, x)
    check_slopes(special.log_softmax, x)
    check_slopes(lambda q: special.zeta(2.5, q), x)
    check_slopes(lambda q: special.polygamma(2, q), x, tolerance=1e-5)
    check_slopes(lambda a: special.multigammaln(a, 2), y + 1)


def test_sinc_is_numpys():
    check(lambda np, x: special.sinc(x), np.array([0.0, 0.5, 1.0]))
