"""numpy.linalg on traced arrays: values and types as NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import check, traced

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


def test_a_singular_matrix_gives_nan():
    assert np.isnan(traced(lambda np, a: np.linalg.inv(a), np.ones((2, 2)))[0]).all()


@pytest.mark.parametrize("p", [None, 1, "fro"])
def test_condition_of_a_singular_matrix_is_infinite(p):
    condition = nx.jit(lambda x: np.linalg.cond(x, p))
    for x in (np.zeros((2, 2)), np.array([[4.0, 1], [1, 3]])):
        np.testing.assert_allclose(condition(x), np.linalg.cond(x, p))
