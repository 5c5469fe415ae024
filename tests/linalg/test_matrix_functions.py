"""The exponential and the square root of matrices: SciPy's values, derivatives, entries, and what there is none of."""

import numpy as np
import pytest
import scipy.linalg as sl

import nxkernel as nx
from nxkernel.errors import NxValueError
from nxkernel.linalg.matrix_functions import exponential

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 4, 4))


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0, 100.0])
def test_exponentials(scale, compiler):
    for given in (A * scale, (A + 1j * A[::-1]) * scale, A[0] * scale):
        expected = sl.expm(given)
        found = nx.jit(nx.linalg.expm, compiler=compiler)(given).to_numpy()
        sizes = np.abs(expected).max((-2, -1), keepdims=True)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found / sizes, expected / sizes, atol=2e-12)


def test_types_and_sizes():
    assert nx.linalg.expm([[0, 1], [0, 0]]).type == "f32"
    assert nx.linalg.expm(nx.f16([[0, 1], [0, 0]])).type == "f16"
    found = nx.linalg.expm(A.astype("f4")).to_numpy()
    np.testing.assert_allclose(found, sl.expm(A), rtol=1e-4, atol=1e-5)
    assert nx.linalg.expm(np.zeros((2, 0, 0))).shape == (2, 0, 0)
    assert np.isnan(nx.linalg.expm([[np.inf, 0.0], [0.0, 1.0]]).to_numpy()).all()
    assert np.isnan(nx.linalg.expm(nx.f64([[1e30, 0.0], [0.0, 1.0]])).to_numpy()).all()
    np.testing.assert_allclose(nx.vmap(nx.linalg.expm)(A).to_numpy(), sl.expm(A), rtol=1e-10, atol=1e-12)
    with pytest.raises(NxValueError, match=r"^expm takes square matrices, got f64\[4\]\[3\]\."):
        nx.linalg.expm(A[0, :, :3])


def test_derivatives():
    direction = RNG.normal(size=(4, 4))
    slope = nx.grad(lambda a: nx.sum(nx.linalg.expm(a) * direction))(A[0]).to_numpy()
    np.testing.assert_allclose(slope, sl.expm_frechet(A[0].T, direction)[1], rtol=1e-9, atol=1e-10)
    through = nx.grad(lambda a: nx.sum(exponential(nx.as_type(a, "f64"), orders=0) * direction))(A[0]).to_numpy()
    np.testing.assert_allclose(through, slope, rtol=1e-9, atol=1e-10)
    curve = nx.hessian(lambda t: nx.sum(nx.linalg.expm(t * A[0])))(nx.f64(0.3))
    np.testing.assert_allclose(float(curve), (A[0] @ A[0] @ sl.expm(0.3 * A[0])).sum(), rtol=1e-9)


def test_square_roots():
    s = A @ A.transpose(0, 2, 1) + np.eye(4)
    expected = np.stack([sl.sqrtm(one) for one in s])
    for found in (nx.linalg.sqrtm(s), nx.jit(nx.linalg.sqrtm)(s), nx.vmap(nx.linalg.sqrtm)(s)):
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-9)
    assert np.isnan(nx.linalg.sqrtm([[-1.0, 0.0], [0.0, 1.0]]).to_numpy()).all()
    assert nx.linalg.sqrtm(nx.c64([[-1, 0], [0, 1]])).to_list() == [[1j, 0], [0, 1]]
    assert nx.linalg.sqrtm([[4, 0], [0, 9]]).type == "f32"
    slope = nx.grad(lambda a: nx.sum(nx.take_diagonal(nx.dot(nx.linalg.sqrtm(a), nx.linalg.sqrtm(a)))))(s[0])
    np.testing.assert_allclose(slope.to_numpy(), np.eye(4), atol=1e-9)


def test_eigenvalues_of_any_matrix():
    values, vectors = nx.jit(nx.linalg.eig)(A)
    assert (values.type, vectors.type, values.shape) == ("c128", "c128", (3, 4))
    np.testing.assert_allclose(A @ vectors.to_numpy(), vectors.to_numpy() * values.to_numpy()[:, None], atol=1e-10)
    assert nx.linalg.eig([[0, 1], [-1, 0]])[0].type == "c64"
    assert np.isnan(nx.linalg.eig([[np.nan, 0.0], [0.0, 1.0]])[0].to_numpy()).all()
    slope = nx.grad(lambda a: nx.sum(nx.real(nx.linalg.eig(a)[0])))(A[0]).to_numpy()
    np.testing.assert_allclose(slope, np.eye(4), atol=1e-9)
