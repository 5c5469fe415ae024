"""NumPy's own functions in Python, which are traced in their text."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.operators import numpys_sources
from nxkernel.errors import NxTypeError


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.i0(x),
        lambda x: np.polynomial.polynomial.polyval(x, [1.0, 2.0, 3.0]),
        lambda x: np.polynomial.chebyshev.chebval(x, [1.0, 2.0, 3.0]),
        lambda x: np.polynomial.chebyshev.chebval(x, np.ones((3, 2))),
        lambda x: np.polynomial.legendre.legval(x, [1.0, 2.0, 3.0]),
        lambda x: np.polynomial.hermite.hermval(x, [1.0, 2.0, 3.0]),
        lambda x: np.polynomial.polynomial.polyvander(x, 2),
        lambda x: np.outer(x, x)[np.triu_indices_from(np.outer(x, x), 1)],
        lambda x: np.linalg.tensorinv(np.eye(4).reshape(2, 2, 2, 2) * x[1]),
    ],
)
@pytest.mark.parametrize("transform", [nx.defn, nx.jit])
def test_functions_of_numpys_without_a_counterpart(function, transform):
    x = np.array([1.0, 2.0, 4.0])
    expected, result = function(x), transform(function)(x)
    np.testing.assert_allclose(result, expected, rtol=1e-14)
    assert result.dtype == expected.dtype


def test_what_cannot_be_traced_is_refused_as_before():
    with pytest.raises(NxTypeError, match=r"^np\.sqrt\(\) has no counterpart for values that are traced\."):
        nx.defn(lambda x: np.emath.sqrt(x))(np.array([1.0, 2.0, 4.0]))


def test_checks_in_numpys_text_are_made():
    checked = nx.defn(lambda x: np.asarray_chkfinite(x) * 2)
    assert checked(np.array([1.0, 2.0])).tolist() == [2, 4]
    with pytest.raises(ValueError, match="array must not contain infs or NaNs"):
        checked(np.array([1.0, np.nan]))


def test_which_functions_are_traced_in_their_text():
    asked = (np.i0, np.polynomial.chebyshev.chebval, np.sum, np.emath.sqrt, np.save, np.array2string, len, 3)
    assert [numpys_sources.is_traceable(one) for one in asked] == [True, True, *[False] * 6]


POLYNOMIALS = {
    "fit": lambda x, y: np.polynomial.Polynomial.fit(x, y, 2)(x),
    "converted": lambda x, y: np.polynomial.Polynomial.fit(x, y, 2).convert().coef,
    "weighted": lambda x, y: np.polynomial.Chebyshev.fit(x, y, 1, w=y).coef,
    "called": lambda x, y: np.polynomial.Polynomial(x)(y),
    "arithmetic": lambda x, y: (np.polynomial.Polynomial(x).deriv() * 2 + 1)(y),
    "integral": lambda x, y: np.polynomial.Polynomial(x).integ(1).coef,
    "Legendre": lambda x, y: np.polynomial.Legendre(x)(y),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name):
    x, y = np.array([1.0, 2, 4, 3]), np.array([0.5, 1, 2, 2.2])
    result, expected = nx.jit(POLYNOMIALS[name])(x, y), POLYNOMIALS[name](x, y)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, atol=1e-12)
