"""Factorizations: products of the factors are the matrices."""

import re

import numpy as np
import pytest
import scipy.linalg

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

rng = np.random.default_rng(0)
REAL = rng.normal(size=(4, 3, 3))
COMPLEX = REAL + 1j * rng.normal(size=(4, 3, 3))
BOTH = pytest.mark.parametrize("x", [REAL, COMPLEX], ids=["real", "complex"])


def _adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


@BOTH
def test_cholesky(x):
    positive = x @ _adjoint(x) + np.eye(3)
    np.testing.assert_allclose(nx.linalg.cholesky(positive), np.linalg.cholesky(positive))
    assert np.isnan(nx.linalg.cholesky([[[1.0]], [[-1.0]]]).to_numpy()).ravel().tolist() == [False, True]


def test_cholesky_keeps_names_and_narrow_types():
    t = nx.tensor([[4, 0], [0, 9]], type="f16", names=["a", "b"])
    assert nx.linalg.cholesky(t).spec == t.spec
    assert nx.linalg.cholesky(t).to_list() == [[2.0, 0.0], [0.0, 3.0]]


@BOTH
def test_lu(x):
    p, lower, upper = nx.linalg.lu(x)
    for index in range(4):
        for found, wanted in zip((p, lower, upper), scipy.linalg.lu(x[index]), strict=True):
            np.testing.assert_allclose(found[index], wanted)
    assert nx.linalg.lu(nx.u8([[1, 2], [3, 4]]))[0].spec == nx.template((2, 2), "u8").spec
    assert nx.linalg.lu(nx.u8([[1, 2], [3, 4]]))[2].type == "f32"


@BOTH
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", [(3, 3), (3, 2), (2, 3)])
def test_qr(x, mode, shape):
    x = x[:, : shape[0], : shape[1]]
    q, r = nx.linalg.qr(x, mode=mode)
    wanted = np.linalg.qr(x, mode)
    assert (q.shape, r.shape) == (wanted.Q.shape, wanted.R.shape)
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    np.testing.assert_allclose(np.tril(r, -1), 0)
    np.testing.assert_allclose(
        _adjoint(q.to_numpy()) @ q.to_numpy(), np.broadcast_to(np.eye(q.shape[-1]), (4, *[q.shape[-1]] * 2)), atol=1e-12
    )


@BOTH
def test_eigh(x):
    x = x + _adjoint(x)
    values, vectors = nx.linalg.eigh(x, max_iter=10, eps=1e-3)
    np.testing.assert_allclose(np.sort(values), np.linalg.eigvalsh(x))
    assert (np.diff(np.abs(values)) <= 0).all()
    np.testing.assert_allclose(x @ vectors.to_numpy(), vectors.to_numpy() * values.to_numpy()[:, None], atol=1e-12)
    assert values.type == "f64"


def test_eigenvalues_of_a_diagonal_matrix_are_its_diagonal():
    values, vectors = nx.linalg.eigh([[[2, 5], [5, 6]], [[1, 0], [0, 4]], [[-1, 0], [0, 1]]])
    np.testing.assert_allclose(values, [[9.385165, -1.3851649], [1, 4], [-1, 1]], rtol=1e-6)
    np.testing.assert_array_equal(vectors[1:], [np.eye(2)] * 2)
    assert nx.linalg.eigh([[1, 0], [5j, 2]])[0].type == "f32"


@BOTH
@pytest.mark.parametrize("full", [True, False])
def test_svd(x, full):
    x = x[:, :2]
    u, s, vt = nx.linalg.svd(x, full_matrices=full)
    assert (u.shape, s.shape, vt.shape) == ((4, 2, 2), (4, 2), (4, 3 if full else 2, 3))
    np.testing.assert_allclose((u.to_numpy() * s.to_numpy()[:, None]) @ vt.to_numpy()[:, :2], x, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False))


def test_options_of_svd():
    assert nx.linalg.svd(REAL[0, :, :2], **{"full_matrices?": False})[0].shape == (3, 2)
    with pytest.raises(
        NxTypeError, match=re.escape("svd has no option 'full'; its options are full_matrices and max_iter")
    ):
        nx.linalg.svd(REAL, full=True)


@pytest.mark.parametrize("function", ["cholesky", "lu", "eigh"])
def test_square_matrices_only(function):
    with pytest.raises(NxValueError) as error:
        getattr(nx.linalg, function)(nx.f32(np.zeros((2, 3))))
    assert str(error.value) == (
        f"{function} takes square matrices, got f32[2][3].\n  Those here have 2 rows and 3 columns."
    )


@pytest.mark.parametrize("function", ["cholesky", "lu", "eigh", "qr", "svd"])
def test_matrices_only(function):
    text = f"{function} takes matrices, got s64[3].\n  They are the last two axes; axes before them are a batch."
    with pytest.raises(NxValueError, match="^" + re.escape(text)):
        getattr(nx.linalg, function)([1, 2, 3])


def test_modes_of_qr():
    with pytest.raises(NxValueError, match='qr: mode is "reduced" or "complete"'):
        nx.linalg.qr(REAL, mode="full")


@pytest.mark.parametrize("function", ["cholesky", "lu", "qr", "svd"])
@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_traced_agrees(function, compiler):
    x = (REAL @ _adjoint(REAL) + np.eye(3)).astype("f4")
    run = nx.jit(getattr(nx.linalg, function), compiler=compiler)
    found, wanted = run(x), getattr(nx.linalg, function)(x)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for got, want in pairs:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_traced_eigenvalues_come_in_the_same_order():
    x = REAL @ _adjoint(REAL)
    for found, wanted in zip(nx.jit(nx.linalg.eigh, compiler="evaluator")(x), nx.linalg.eigh(x), strict=True):
        np.testing.assert_array_equal(found, wanted)
