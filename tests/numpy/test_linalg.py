"""numpy.linalg on traced arrays: values and types as NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import check

A = np.array([[4.0, 1.0, -2.0], [1.0, 5.0, 0.5], [-2.0, 0.5, 6.0]])
B = np.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0], [7.0, 8.0, 10.0], [1.0, 0.0, 1.0]])

ROWS = {
    "cholesky": lambda np, a, b: (np.linalg.cholesky(a), np.linalg.cholesky(a, upper=True)),
    "inv": lambda np, a, b: (np.linalg.inv(a), np.linalg.inv(np.stack([a, a + np.eye(3)]))),
    "solve": lambda np, a, b: (np.linalg.solve(a, b[0]), np.linalg.solve(a, b.T), np.linalg.solve(b[:3], a)),
    "det": lambda np, a, b: (np.linalg.det(a), np.linalg.det(b[:3]), *np.linalg.slogdet(b[:3]), *np.linalg.slogdet(a)),
    "qr": lambda np, a, b: (*np.linalg.qr(b), np.linalg.qr(b, mode="r")),
    "eigh": lambda np, a, b: (np.linalg.eigh(a)[0], np.linalg.eigvalsh(a), abs(np.linalg.eigh(a).eigenvectors)),
    "svd": lambda np, a, b: (np.linalg.svd(b)[1], np.linalg.svd(b, compute_uv=False), np.linalg.svdvals(b)),
    "pinv": lambda np, a, b: (np.linalg.pinv(b), np.linalg.matrix_rank(b), np.linalg.cond(b), np.linalg.cond(a, 1)),
    "lstsq": lambda np, a, b: np.linalg.lstsq(b, b[:, 0] * 2 + 1)[:1],
    "powers": lambda np, a, b: (
        np.linalg.matrix_power(a, 3), np.linalg.matrix_power(a, -2), np.linalg.matrix_power(a, 0),
    ),
    "products": lambda np, a, b: (np.linalg.multi_dot([b, a, b.T]), np.linalg.outer(b[0], b[1]), np.linalg.trace(a)),
    "norms": lambda np, a, b: (
        np.linalg.norm(b), np.linalg.norm(b, axis=1), np.linalg.norm(b[0], 1), np.linalg.norm(b[0], np.inf),
        np.linalg.norm(b[0], 3), np.linalg.norm(b, 1), np.linalg.norm(b, np.inf), np.linalg.norm(b, 2),
        np.linalg.norm(b, "nuc"), np.linalg.norm(b, axis=0, keepdims=True), np.linalg.norm(b.astype(int)),
        np.linalg.norm(b + 1j), np.linalg.vector_norm(b), np.linalg.matrix_norm(b), np.linalg.norm(b[0], 0),
    ),
    "types": lambda np, a, b: (np.linalg.inv(a.astype(np.float32)), np.linalg.det((a * 2).astype(int))),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_linalg(row):
    check(row, A, B, rtol=1e-9)


@pytest.mark.parametrize(("name", "matrix", "text"), [
    ("inv", np.ones((2, 2)), "Singular matrix"),
    ("cholesky", -np.eye(2), "Matrix is not positive definite"),
    ("eigh", np.full((2, 2), np.nan), "Eigenvalues did not converge"),
])  # fmt: skip
def test_matrices_without_a_result(name, matrix, text):
    function = getattr(np.linalg, name)
    compiled = nx.jit(lambda a: function(a)[0])
    np.testing.assert_allclose(compiled(2 * np.eye(2)), function(2 * np.eye(2))[0])
    with pytest.raises(np.linalg.LinAlgError, match=text):
        compiled(matrix)


def test_a_right_side_of_another_length_is_told_as_it_was_given():
    with pytest.raises(ValueError, match=r"^solve: a f64\[3\]\[3\] has no solutions for a right side s64\[4\]\n"):
        nx.jit(lambda a, b: np.linalg.solve(a, b))(A, np.arange(4))


def test_of_nan_there_is_nan():
    matrix = np.eye(3) + 1
    matrix[1, 2] = matrix[2, 1] = np.nan
    inverse, factor = nx.jit(lambda a: (np.linalg.inv(a), np.linalg.cholesky(a)))(matrix)
    np.testing.assert_array_equal(inverse, np.full((3, 3), np.nan))
    np.testing.assert_allclose(factor, np.linalg.cholesky(matrix))


def test_a_try_catches_them_one_by_one():
    def program(a):
        try:
            size = np.linalg.norm(a)
            return np.linalg.cholesky(a) / size
        except np.linalg.LinAlgError:
            return np.linalg.inv(a)

    compiled = nx.jit(program)
    for matrix in (np.eye(2) * 2, -np.eye(2)):
        np.testing.assert_allclose(compiled(matrix), program(matrix))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        compiled(np.zeros((2, 2)))


def test_eigenvalues_of_any_matrices():
    a = np.array([[[1.0, 2, 0.5], [0, 3, 1], [2, 1, 1]], [[2.0, 0, 0], [1, 3, 0], [0, 0, -1]]])
    values, vectors = nx.jit(lambda a: tuple(np.linalg.eig(a)))(a)
    assert values.dtype == vectors.dtype == np.linalg.eig(a)[0].dtype
    np.testing.assert_allclose(a @ vectors, vectors * values[:, None, :], atol=1e-12)
    largest = nx.jit(lambda a: np.max(np.abs(np.linalg.eigvals(a)), axis=-1))
    np.testing.assert_allclose(largest(a), np.abs(np.linalg.eigvals(a)).max(axis=-1))
    slope = nx.grad(nx.jit(lambda a: np.sum(np.linalg.eigvals(a).real ** 2), promotion="numpy"))(a[0])
    step = 1e-6 * np.eye(3)[0][:, None] * np.eye(3)[1]
    total = lambda a: np.sum(np.linalg.eigvals(a).real ** 2)  # noqa: E731
    np.testing.assert_allclose(slope[0, 1], (total(a[0] + step) - total(a[0] - step)) / 2e-6, rtol=1e-5)


def test_tensor_equations():
    a, b = np.random.default_rng(0).normal(size=(2, 3, 6)), np.arange(6.0).reshape(2, 3)
    solved = nx.jit(lambda a, b: np.linalg.tensorsolve(a, b))(a, b)
    np.testing.assert_allclose(solved, np.linalg.tensorsolve(a, b))
    moved = np.moveaxis(a, 2, 0)
    found = nx.jit(lambda a, b: np.linalg.tensorsolve(a, b.reshape(6), axes=(0,)))(moved.reshape(6, 6), b)
    np.testing.assert_allclose(found, np.linalg.tensorsolve(moved.reshape(6, 6), b.reshape(6), axes=(0,)))
    np.testing.assert_allclose(nx.jit(np.linalg.tensorinv, static_argnames="ind")(a, ind=2), np.linalg.tensorinv(a))


def test_eigenvalues_of_general_matrices_are_real_or_complex():
    function = nx.jit(lambda a: (*np.linalg.eig(a), np.linalg.eigvals(a)), promotion="numpy")
    for matrix in (np.array([[2.0, 1], [0, 3]]), np.array([[0, 1], [-1, 0]]), np.eye(2) * 1j):
        values, vectors = np.linalg.eig(matrix)
        for ours, theirs in zip(function(matrix), (values, vectors, values), strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs)


@pytest.mark.parametrize("p", [None, 1, "fro"])
def test_condition_of_a_singular_matrix_is_infinite(p):
    condition = nx.jit(lambda x: np.linalg.cond(x, p))
    for x in (np.zeros((2, 2)), np.array([[4.0, 1], [1, 3]])):
        np.testing.assert_allclose(condition(x), np.linalg.cond(x, p))
