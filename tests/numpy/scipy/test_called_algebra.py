"""Functions of scipy.linalg that a program calls: values, gradients, entries, and what is refused."""

import numpy as np
import pytest
import scipy.linalg as sl
from scipy.linalg import lapack

import nxkernel as nx
from numpy_comparison.slopes import check_slopes
from nxkernel.errors import NxTypeError, NxValueError

RNG = np.random.default_rng(1)
A = RNG.normal(size=(4, 4)) + 4 * np.eye(4)
BANDS = RNG.normal(size=(4, 6)) + np.array([0.0, 5.0, 0.0, 0.0])[:, None]
RIGHT = RNG.normal(size=(6, 2))
LOW, DIAGONAL, HIGH = RNG.normal(size=5), RNG.normal(size=6) + 5, RNG.normal(size=5)


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_values_are_scipys(compiler):
    def all_of_them(a, bands, right, low, diagonal, high):
        return (
            sl.expm(a), sl.sqrtm(a @ a.T), *sl.schur(a), sl.solve_banded((2, 1), bands, right),
            sl.solve_banded((2, 1), bands, right[:, 0]), *lapack.dgtsv(low, diagonal, high, right[:, 0])[1:4],
        )  # fmt: skip

    given = A, BANDS, RIGHT, LOW, DIAGONAL, HIGH
    for one, other in zip(nx.jit(all_of_them, compiler=compiler)(*given), all_of_them(*given), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13 * np.abs(other).max())


def test_eigenvalues_are_complex():
    found, vectors = nx.jit(lambda a: sl.eig(a))(A)
    wanted, theirs = sl.eig(A)
    assert found.dtype == vectors.dtype == np.complex128
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(vectors, theirs)
    np.testing.assert_array_equal(nx.jit(lambda a: sl.eigvals(a))(A), wanted)


def test_a_solver_of_an_ocean_model():
    def solved(a, b, c, d):
        a[..., 0] = c[..., -1] = 0
        return lapack.dgtsv(a.flatten()[1:], b.flatten(), c.flatten()[:-1], d.flatten())[3].reshape(d.shape)

    given = [RNG.normal(size=(2, 3, 5)) + shift for shift in (0, 6, 0, 0)]
    found = nx.defn(solved)(*[array.copy() for array in given])
    np.testing.assert_array_equal(found, solved(*[array.copy() for array in given]))
    _, x = nx.jit(lambda *given: lapack.sgtsv(*given)[2:4])(LOW, DIAGONAL, HIGH, RIGHT)
    assert (x.dtype, x.shape) == (np.float32, (6, 2))


def test_gradients():
    check_slopes(lambda a: sl.expm(a * 0.3), A)
    check_slopes(lambda a: sl.sqrtm(a @ a.T), A, tolerance=1e-5)
    check_slopes(lambda a: sl.eigvals(a).real ** 2, np.diag([1.0, 2, 3, 4]) + 0.1 * A, tolerance=1e-5)
    check_slopes(lambda bands, right: sl.solve_banded((2, 1), bands, right), BANDS, RIGHT)
    check_slopes(lambda bands, right: sl.solve_banded((1, 2), bands, right), BANDS[::-1], RIGHT[:, 0])
    check_slopes(lambda *given: lapack.dgtsv(*given)[3], LOW, DIAGONAL, HIGH, RIGHT)
    check_slopes(lambda *given: lapack.dgtsv(*given)[3], LOW, DIAGONAL, HIGH, RIGHT[:, 0])


def test_entries():
    stacked = np.stack([A, A.T, A @ A])
    found = nx.vmap(lambda a: sl.expm(a), promotion="numpy")(stacked)
    np.testing.assert_allclose(found, np.stack([sl.expm(one) for one in stacked]), rtol=1e-11)
    solve = lambda right: sl.solve_banded((2, 1), BANDS, right)  # noqa: E731
    np.testing.assert_array_equal(nx.vmap(solve, promotion="numpy")(RIGHT.T), solve(RIGHT).T)
    slopes = nx.vmap(nx.grad(lambda a: sl.expm(a).sum()), promotion="numpy")(stacked)
    np.testing.assert_allclose(slopes[1], nx.grad(lambda a: sl.expm(a).sum(), promotion="numpy")(stacked[1]))


def test_what_is_refused():
    with pytest.raises(NxTypeError, match=r"scipy\.linalg\.schur of f64\[4\]\[4\] has no gradient") as told:
        nx.grad(lambda a: sl.schur(a)[0].sum())(A)
    assert "No derivative of this function of SciPy's is known here." in str(told.value)
    with pytest.raises(NxTypeError, match="The derivative of eigenvalues is known, that of eigenvectors of symmetric"):
        nx.grad(lambda a: abs(sl.eig(a)[1]).sum())(A)
    with pytest.raises(NxTypeError, match="The derivative of the solution x is known, and that of the factors is not"):
        nx.grad(lambda d: lapack.dgtsv(LOW, d, HIGH, RIGHT)[1].sum())(DIAGONAL)
    with pytest.raises(NxTypeError, match=r"eig\(left=True\) is not there in a program"):
        nx.jit(lambda a: sl.eig(a, left=True)[0])(A)
    with pytest.raises(NxValueError, match="sqrtm: the square root of this real matrix is complex"):
        nx.jit(lambda a: sl.sqrtm(a))(-np.eye(2))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        nx.jit(lambda bands: sl.solve_banded((1, 1), bands, np.ones(3)))(np.zeros((3, 3)))
