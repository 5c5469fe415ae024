"""Which functions of SciPy's are replaced, in functions traced as they are, too, and the error of the others."""

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.stats
from scipy import special
from scipy.linalg import lapack

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel.errors import NxTypeError, TracedValueError
from nxkernel.numpy.scipy import counterparts, linear_algebra

X = np.linspace(0.5, 2.0, 5)
A = np.diag(X) + 0.1


def test_functions():
    assert nnp.twin(scipy.linalg.solve).__wrapped__ is linear_algebra.solve
    assert nnp.twin(special.gammaln).__name__ == "gammaln"
    assert nnp.twin(special.logsumexp).__wrapped__ is nnp.special.logsumexp
    assert nnp.twin(lapack.dgtsv).__name__ == "dgtsv"
    assert counterparts.counterpart(len) is None
    assert counterparts.counterpart(np.sin) is None


@pytest.mark.parametrize("wrapper", [nx.jit, nx.defn, lambda function: nx.grad(lambda a: np.sum(function(a)))])
def test_they_are_found_wherever_a_function_is_traced(wrapper):
    def inner(a):
        return scipy.linalg.expm(a)

    def function(a):
        return inner(a) @ scipy.linalg.inv(a)

    found = wrapper(function)(A)
    assert found.shape == A.shape
    if wrapper in (nx.jit, nx.defn):
        np.testing.assert_allclose(found, function(A))


def test_what_is_known_is_left_to_scipy():
    def function(x):
        assert special.comb(40, 20, exact=True) == 137846528820
        assert type(scipy.linalg.toeplitz([1, 2])) is np.ndarray
        return scipy.linalg.expm(x) * special.factorial(3)

    np.testing.assert_allclose(nx.jit(function)(A), scipy.linalg.expm(A) * 6)


def test_other_shapes_are_known_to_need_them():
    f = nx.jit(lambda a: scipy.linalg.inv(a))
    for size in (5, 3):
        np.testing.assert_allclose(f(A[:size, :size].copy()), np.linalg.inv(A[:size, :size]))


def test_an_error_of_scipys_for_known_arrays_stays_itself():
    with pytest.raises(ValueError, match="must be strictly increasing"):
        nx.jit(lambda x: x * scipy.interpolate.CubicSpline([1, 1, 1], [1, 2, 3])(0.5))(X)


def test_what_reads_numbers_is_named():
    def told(function, *arguments):
        with pytest.raises(TracedValueError) as error:
            nx.jit(function)(*arguments)
        return str(error.value)

    text = told(lambda x: scipy.signal.find_peaks(x)[0], X)
    assert text.startswith("scipy.signal.find_peaks() asks for the data of a traced value of type f64[5].")
    assert "Its code reads numbers, and a program has none before it runs." in text
    assert "or have the running program call it: nx.host_call(find_peaks, like, x), where `like` has the shape" in text
    assert "With SCIPY_ARRAY_API=1 in the environment when SciPy is imported" in text
    assert told(lambda x: scipy.linalg.orth(x), np.eye(3)).startswith("scipy.linalg.orth() asks for the data")
    with pytest.raises(TracedValueError, match=r"^scipy\.linalg\.orth\(\) asks for the data"):
        nx.defn(lambda x: scipy.linalg.orth(x))(np.eye(3))


@pytest.mark.usefixtures("ahead_of_calls")
def test_other_refusals_are_named_too():
    def picked(x):
        return x[x > 1].shape[0] * np.asarray(x[x > 1])

    picked.__module__ = "scipy.stats._picked"
    picked.__globals__["__name__"], before = "scipy.stats._picked", picked.__globals__["__name__"]
    try:
        with pytest.raises(
            NxTypeError, match=r"^scipy\.stats\.picked\(\) does not take traced values: what a mask picks"
        ):
            nx.jit(lambda x: nnp.twin(picked)(x), promotion="numpy")(X)
    finally:
        picked.__globals__["__name__"] = before


def test_what_a_function_of_the_users_asks_is_not_scipys():
    def solved(x):
        return scipy.integrate.solve_ivp(lambda t, y: y * float(x[0]), (0, 1), [1.0]).y

    with pytest.raises(TracedValueError, match=r"^float\(\) asks for the data of a traced value"):
        nx.jit(solved)(X)
