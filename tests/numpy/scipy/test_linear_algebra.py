"""scipy.linalg in programs: values, shapes and types are SciPy's, and gradients."""

import functools

import numpy as np
import pytest
import scipy.linalg as sl

import nxkernel as nx
from numpy_comparison.slopes import check_slopes
from nxkernel.errors import NxTypeError, NxValueError

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4)) + 4 * np.eye(4)
S = A @ A.T
B = RNG.normal(size=(4, 2))
V = RNG.normal(size=4)
TALL = RNG.normal(size=(5, 3))


def agrees(function, *arrays, rtol=1e-10):
    """A call within a function that is compiled as it stands, against SciPy's own."""
    found, wanted = nx.jit(function, promotion="numpy", compiler="evaluator")(*arrays), function(*arrays)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in pairs:
        assert (np.shape(one), np.asarray(one).dtype) == (np.shape(other), np.asarray(other).dtype)
        np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-12)


def _solved_as(kind, a, b):
    return sl.solve(a, b, lower=True, assume_a=kind), sl.solve(a, b, assume_a=kind)


def _solved_by_lu(trans, a, b):
    return sl.lu_solve(sl.lu_factor(a), b, trans)


def test_solve():
    agrees(lambda a, b: (sl.solve(a, b), sl.solve(a, b, transposed=True)), A, B)
    agrees(lambda a, b: sl.solve(a, b), np.arange(9).reshape(3, 3) ** 2 + np.eye(3, dtype=int), np.arange(3))
    for kind in ("pos", "sym"):
        agrees(functools.partial(_solved_as, kind), S if kind == "pos" else A, V)
    check_slopes(lambda a, b: sl.solve(a, b), A, B)
    with pytest.raises(NxValueError, match="solve: assume_a is no kind of matrix: 'round'"):
        nx.jit(lambda a, b: sl.solve(a, b, assume_a="round"))(A, V)


@pytest.mark.parametrize("trans", [0, "T", 2])
@pytest.mark.parametrize("lower", [False, True])
def test_solve_triangular(trans, lower):
    agrees(lambda a, b: sl.solve_triangular(a, b, trans, lower), A, V)
    agrees(lambda a, b: sl.solve_triangular(a, b, trans, lower, unit_diagonal=True), A, B)
    agrees(lambda a, b: sl.solve_triangular(a, b, trans, lower), A + 1j * A.T, B)


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky(lower):
    agrees(lambda a: sl.cholesky(a, lower), S)
    agrees(lambda a: sl.cho_factor(a, lower)[0], S)
    agrees(lambda a, b: sl.cho_solve(sl.cho_factor(a, lower), b), S, B)
    check_slopes(lambda a, b: sl.cho_solve(sl.cho_factor(a @ a.T, lower), b), A, V, tolerance=1e-5)


def test_lu():
    agrees(lambda a: sl.lu_factor(a), A[::-1].copy())
    agrees(lambda a: sl.lu(a) + sl.lu(a, permute_l=True) + sl.lu(a, p_indices=True), A[::-1].copy())
    for trans in (0, 1, 2):
        agrees(functools.partial(_solved_by_lu, trans), A[::-1].copy(), B)
        agrees(functools.partial(_solved_by_lu, trans), A[::-1] + 1j * A, V)
    check_slopes(lambda a, b: sl.lu_solve(sl.lu_factor(a), b), A[::-1], B, tolerance=1e-5)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("kind", ["gen", "sym", "pos", "upper triangular", "lower triangular"])
def test_inverse_of_a_kind_reads_what_scipy_reads(kind, lower):
    matrix = A + 9 * np.eye(len(A))
    agrees(lambda a: (sl.inv(a, assume_a=kind, lower=lower),), matrix)


def test_inverses_and_determinants():
    agrees(lambda a: (sl.inv(a), sl.det(a), sl.norm(a), *sl.pinv(a, return_rank=True)), A)
    agrees(lambda a: (sl.pinv(a), sl.pinv(a, rtol=0.5), sl.pinv(a, atol=0.9)), TALL)
    agrees(lambda a, b: sl.lstsq(a, b), TALL, V[:1] + np.arange(5.0))
    agrees(lambda a, b: sl.lstsq(a, b), TALL.T, B[:3])
    check_slopes(lambda a: sl.pinv(a), TALL, tolerance=1e-5)
    check_slopes(lambda a, b: sl.lstsq(a, b)[0], TALL, np.arange(5.0), tolerance=1e-5)


def test_qr_and_svd():
    agrees(lambda a: sl.qr(a) + sl.qr(a, mode="r") + sl.qr(a, mode="economic"), TALL)
    agrees(lambda a: (sl.svdvals(a), sl.svd(a, compute_uv=False), sl.svd(a, full_matrices=False)[1]), TALL)
    agrees(lambda a: (sl.svd(a)[0].shape[1] * a, abs(sl.svd(a, full_matrices=False)[0])), TALL)
    with pytest.raises(NxTypeError, match=r"(?s)qr\(pivoting=True\) is not there in a program.*Call it before"):
        nx.jit(lambda a: sl.qr(a, pivoting=True))(A)


def test_eigh():
    agrees(lambda a: (sl.eigvalsh(a), sl.eigh(a, eigvals_only=True, lower=False)), S)
    agrees(lambda a: sl.eigh(a, subset_by_index=[1, 2], eigvals_only=True), S)
    agrees(lambda a, b: (sl.eigh(a, b)[0], abs(sl.eigh(a, b)[1])), A + A.T, S)
    with pytest.raises(NxTypeError, match=r"eigh\(subset_by_value\) is not there in a program"):
        nx.jit(lambda a: sl.eigh(a, subset_by_value=(0.0, 1.0))[0])(S)


def test_special_matrices():
    agrees(lambda a, b, v: sl.block_diag(a, b, v), A, B, V)
    agrees(lambda c, r: (sl.toeplitz(c), sl.toeplitz(c, r)), V, TALL[:, 0].copy())
    agrees(lambda c: sl.toeplitz(c), V + 1j)
    check_slopes(lambda c: sl.toeplitz(c), V)
    check_slopes(lambda a, b: sl.block_diag(a, b), A, B)


def test_they_are_counterparts_in_definitions_and_transformations():
    defined = nx.defn(lambda a, b: sl.solve(a, b), promotion="numpy")
    np.testing.assert_allclose(defined(A, V), sl.solve(A, V))
    stacked = np.stack([A, S])
    found = nx.vmap(lambda a: sl.inv(a), promotion="numpy")(stacked)
    np.testing.assert_allclose(found, np.linalg.inv(stacked))


def test_matrices_without_a_result():
    with pytest.raises(np.linalg.LinAlgError):
        nx.jit(lambda a: sl.inv(a))(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="array must not contain infs or NaNs"):
        nx.jit(lambda a: sl.inv(a))(np.full((2, 2), np.inf))
    assert np.isnan(nx.jit(lambda a: sl.inv(a, check_finite=False))(np.full((2, 2), np.nan))).all()
    with pytest.raises(NxValueError, match="expected square matrices in the last two axes, got f64"):
        nx.jit(lambda a: sl.inv(a))(TALL)


@pytest.mark.parametrize("dtype", ["?", "B", "h", "i", "e", "f"])
def test_types_are_those_of_scipys_lapack(dtype):
    def program(a):
        return sl.cholesky(a), sl.inv(a), sl.det(a), sl.solve(a, a[0]), sl.eigh(a)[0], sl.solve_triangular(a, a[0])

    matrix = (np.eye(2) * 4).astype(dtype)
    for found, expected in zip(nx.jit(program)(matrix), program(matrix), strict=True):
        assert found.dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5)
