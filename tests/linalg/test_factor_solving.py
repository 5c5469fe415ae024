"""Equations solved by factors that are there, beside SciPy's."""

import numpy as np
import pytest
import scipy.linalg as sl

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 4, 4)) + 1j * RNG.normal(size=(3, 4, 4))
S = A @ A.conj().transpose(0, 2, 1) + np.eye(4)
B = RNG.normal(size=(4, 2))


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(lower):
    for s in (S[0].real, S[0]):
        factor, told = nx.linalg.cho_factor(s, lower=lower)
        assert told is lower
        np.testing.assert_allclose(factor.to_numpy(), sl.cholesky(s, lower=lower), rtol=1e-9, atol=1e-12)
        for b in (B, B[:, 0]):
            found = nx.jit(lambda s, b: nx.linalg.cho_solve(nx.linalg.cho_factor(s, lower=lower), b))(s, b)
            np.testing.assert_allclose(found.to_numpy(), np.linalg.solve(s, b), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_lu(trans):
    for a in (A[0].real, A[0]):
        packed, exchanges = nx.linalg.lu_factor(a)
        theirs = sl.lu_factor(a)
        np.testing.assert_allclose(packed.to_numpy(), theirs[0], rtol=1e-9)
        assert (exchanges.type, exchanges.to_list()) == ("s32", theirs[1].tolist())
        for b in (B, B[:, 0]):
            found = nx.jit(lambda a, b: nx.linalg.lu_solve(nx.linalg.lu_factor(a), b, trans=trans))(a, b)
            np.testing.assert_allclose(found.to_numpy(), sl.lu_solve(theirs, b, trans=trans), rtol=1e-9)


@pytest.mark.slow
def test_many_and_gradients():
    found = nx.vmap(lambda a: nx.linalg.lu_solve(nx.linalg.lu_factor(a), B))(A.real)
    np.testing.assert_allclose(found.to_numpy(), np.linalg.solve(A.real, B), rtol=1e-8)
    by_factors = nx.grad(lambda a: nx.sum(nx.linalg.lu_solve(nx.linalg.lu_factor(a), B)))(A[0].real)
    at_once = nx.grad(lambda a: nx.sum(nx.linalg.solve(a, B)))(A[0].real)
    np.testing.assert_allclose(by_factors.to_numpy(), at_once.to_numpy(), rtol=1e-7)
    assert nx.linalg.lu_solve(nx.linalg.lu_factor([[2, 0], [0, 4]]), [2, 4]).type == "f32"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nx.linalg.cho_solve(S[0], B), NxTypeError, "cho_solve takes a pair (c, lower), got"),
        (lambda: nx.linalg.lu_solve(S[0], B), NxTypeError, "lu_solve takes a pair (lu, piv), got"),
        (lambda: nx.linalg.cho_solve((S[0], 1), B), NxTypeError, "cho_solve: lower says which triangle the factor is"),
        (
            lambda: nx.linalg.lu_solve(nx.linalg.lu_factor(B.T @ B), B),
            NxValueError,
            "lu_solve: b f64[4][2] does not fit",
        ),
        (lambda: nx.linalg.lu_solve((B, B), B, trans=3), NxValueError, "lu_solve: trans is 0, 1 or 2, got 3"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).startswith(text)
