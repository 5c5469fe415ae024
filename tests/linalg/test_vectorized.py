"""Linear algebra along vectorized axes: for each entry what the function gives for that entry."""

import numpy as np
import pytest

import nxkernel as nx

rng = np.random.default_rng(0)
A = rng.normal(size=(2, 4, 4)) + 3 * np.eye(4)
S = A @ np.swapaxes(A, -1, -2)
ONE = {
    "adjoint": (nx.linalg.adjoint, A + 1j * S),
    "cholesky": (nx.linalg.cholesky, S),
    "determinant": (nx.linalg.determinant, A),
    "eigh": (nx.linalg.eigh, S),
    "invert": (nx.linalg.invert, A),
    "lu": (nx.linalg.lu, A),
    "matrix_power": (lambda t: nx.linalg.matrix_power(t, -3), A),
    "matrix_rank": (nx.linalg.matrix_rank, A),
    "norm": (lambda t: nx.linalg.norm(t, ord=2), A),
    "pinv": (nx.linalg.pinv, A),
    "pinv of vectors": (nx.linalg.pinv, A[0]),
    "qr": (nx.linalg.qr, A),
    "svd": (nx.linalg.svd, A),
}


@pytest.mark.parametrize("name", ONE)
def test_each_entry(name):
    function, x = ONE[name]
    found = function(nx.vectorize(x, "v"))
    for part, whole in enumerate(found if isinstance(found, tuple) else [found]):
        entries = [function(entry) for entry in x]
        wanted = np.stack([entry[part] if isinstance(entry, tuple) else entry for entry in entries])
        assert whole.vectorized_axes == (("v", len(x)),)
        np.testing.assert_allclose(nx.devectorize(whole), wanted, atol=1e-12)


@pytest.mark.parametrize("function", [nx.linalg.solve, nx.linalg.triangular_solve, nx.linalg.least_squares])
def test_every_matrix_with_every_vector(function):
    vectors = rng.normal(size=(3, 4))
    found = function(nx.vectorize(A, "a"), nx.vectorize(vectors, "b"))
    assert (found.vectorized_axes, found.shape) == ((("a", 2), ("b", 3)), (4,))
    wanted = [[function(a, b).to_numpy() for b in vectors] for a in A]
    np.testing.assert_allclose(nx.devectorize(found), wanted, atol=1e-12)
