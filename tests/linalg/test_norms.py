"""Norms, determinants and ranks."""

import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

rng = np.random.default_rng(0)
X = rng.normal(size=(2, 3, 4))
Z = X + 1j * rng.normal(size=X.shape)


@pytest.mark.parametrize("x", [X, Z], ids=["real", "complex"])
@pytest.mark.parametrize(
    ("ord", "numpys"),
    [(None, None), (2, 2), (1, 1), (3, 3), (0.5, 0.5), (-2, -2), (0, 0), ("inf", np.inf), (-np.inf, -np.inf)],
)
def test_norms_of_vectors(x, ord, numpys):
    np.testing.assert_allclose(nx.linalg.norm(x[0, 0], ord=ord), np.linalg.norm(x[0, 0], numpys))
    np.testing.assert_allclose(nx.linalg.norm(x, ord=ord, axes=[1]), np.linalg.norm(x, numpys, axis=1))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("x", [X, Z], ids=["real", "complex"])
@pytest.mark.parametrize(
    ("ord", "numpys"),
    [
        (None, None),
        ("frobenius", "fro"),
        ("nuclear", "nuc"),
        (2, 2),
        (-2, -2),
        (1, 1),
        (-1, -1),
        ("inf", np.inf),
        ("neg_inf", -np.inf),
    ],
)
@pytest.mark.parametrize("axes", [[1, 2], [2, 0]])
def test_norms_of_matrices(x, ord, numpys, axes):
    for keep in (False, True):
        found = nx.linalg.norm(x, ord=ord, axes=axes, keep_axes=keep)
        np.testing.assert_allclose(found, np.linalg.norm(x, numpys, tuple(axes), keepdims=keep))
    assert found.type == "f64"


def test_types_and_names_of_norms():
    t = nx.tensor(X, type="f64", names=["a", "b", "c"])
    assert nx.linalg.norm(t, axes=["b"]).names == ("a", "c")
    assert nx.linalg.norm(t, ord=2, axes=["a", "c"], keep_axes=True).names == ("a", "b", "c")
    assert nx.linalg.norm(nx.f16([3, 4])).spec == nx.template((), "f16").spec
    assert nx.linalg.norm([3j, 4]).type == "f32"


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("turn", [1, 1 + 1j], ids=["real", "complex"])
def test_determinant(n, turn):
    x = rng.normal(size=(6, n, n)) * turn
    np.testing.assert_allclose(nx.linalg.determinant(x), np.linalg.det(x))


def test_determinant_of_a_permutation_is_its_sign():
    order = [3, 1, 4, 0, 2]
    assert nx.linalg.determinant(np.eye(5, dtype=int)[order]).to_list() == np.round(np.linalg.det(np.eye(5)[order]))
    assert nx.linalg.determinant(nx.f16([[2, 0], [0, 3]])).spec == nx.template((), "f16").spec


def test_matrix_rank():
    x = np.stack([X[0], X[0] * [[1], [0], [1]], np.ones((3, 4))])
    assert nx.linalg.matrix_rank(x).to_list() == [3, 2, 1]
    assert nx.linalg.matrix_rank(X[0], eps=1.0).to_list() == 0
    assert nx.linalg.matrix_rank(nx.s32([[1]])).spec == nx.template((), "u64").spec


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nx.linalg.norm(X), NxValueError, "norm is of a vector or a matrix, got 3 axes of f64[2][3][4]."),
        (lambda: nx.linalg.norm(3), NxValueError, "norm is of a vector or a matrix, got 0 axes of f32."),
        (
            lambda: nx.linalg.norm([3, 4], ord="frobenius"),
            NxValueError,
            'norm of a vector: ord is a number, "inf" or "neg_inf", got \'frobenius\'',
        ),
        (
            lambda: nx.linalg.norm([[3, 4]], ord=3),
            NxValueError,
            'norm of a matrix: ord is "frobenius", "nuclear", 1, -1, 2, -2, "inf" or "neg_inf", got 3',
        ),
        (lambda: nx.linalg.determinant([[1, 2]]), NxValueError, "determinant takes square matrices, got s64[1][2]."),
        (lambda: nx.linalg.matrix_rank([1]), NxValueError, "matrix_rank takes matrices, got s64[1]."),
        (lambda: nx.linalg.matrix_rank([[1j]]), NxTypeError, "matrix_rank takes real numbers, got c64[1][1]."),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        call()


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_traced_agrees(compiler):
    square = X[:, :, :3]
    for function in (nx.linalg.determinant, nx.linalg.matrix_rank, lambda t: nx.linalg.norm(t, ord=2, axes=[0, 1])):
        np.testing.assert_allclose(nx.jit(function, compiler=compiler)(square), function(square))
    large = rng.normal(size=(4, 4))
    np.testing.assert_allclose(nx.jit(nx.linalg.determinant, compiler=compiler)(large), nx.linalg.determinant(large))
