"""Systems of equations, inverses and pseudoinverses."""

import re

import numpy as np
import pytest
import scipy.linalg

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

rng = np.random.default_rng(0)
A = rng.normal(size=(2, 3, 3)) + 3 * np.eye(3)
Z = A + 1j * rng.normal(size=(2, 3, 3))
B = rng.normal(size=(2, 3, 4))


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("a", [A, Z], ids=["real", "complex"])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("left_side", [True, False])
@pytest.mark.parametrize("transform", ["none", "transpose", "conjugate"])
@pytest.mark.parametrize("vector", [True, False])
def test_triangular_solve(a, lower, left_side, transform, vector):
    b = B[..., 0] if vector else B if left_side else np.swapaxes(B, -1, -2)
    found = nx.linalg.triangular_solve(a, b, lower=lower, left_side=left_side, transform_a=transform).to_numpy()
    triangle = np.tril(a) if lower else np.triu(a)
    op = {
        "none": triangle,
        "transpose": np.swapaxes(triangle, -1, -2),
        "conjugate": np.conj(np.swapaxes(triangle, -1, -2)),
    }
    sides = (op[transform], found[..., None]) if vector else (op[transform], found)
    if vector and not left_side:
        sides = (np.swapaxes(op[transform], -1, -2), found[..., None])
    product = sides[0] @ sides[1] if left_side or vector else sides[1] @ sides[0]
    np.testing.assert_allclose(product[..., 0] if vector else product, b, atol=1e-12)


def test_triangular_solve_is_scipys():
    found = nx.linalg.triangular_solve(A[0], B[0])
    np.testing.assert_allclose(found, scipy.linalg.solve_triangular(A[0], B[0], lower=True))
    named = nx.tensor(B[0], names=["r", "c"])
    assert nx.linalg.triangular_solve(A[0], named).names == ("r", "c")
    assert nx.linalg.triangular_solve(A[0], named[:, :3], left_side=False).names == ("r", "c")
    assert nx.linalg.triangular_solve(nx.bf16([[2]]), nx.bf16([[4]])).spec == nx.template((1, 1), "bf16").spec


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_a_singular_triangle(compiler):
    with pytest.raises(NxValueError) as error:
        nx.linalg.triangular_solve([[0, 0], [1, 1]], [4, 2])
    assert str(error.value) == (
        "triangular_solve: a f32[2][2] is singular, its diagonal has a 0.\n"
        "  nx.linalg.pinv and nx.linalg.least_squares find what is closest to a solution."
    )
    run = nx.jit(nx.linalg.triangular_solve, compiler=compiler)
    assert np.isnan(run(nx.f32([[0, 0], [1, 1]]), nx.f32([4, 2]))).all()


@pytest.mark.parametrize("a", [A, Z], ids=["real", "complex"])
def test_solve(a):
    np.testing.assert_allclose(nx.linalg.solve(a, B), np.linalg.solve(a, B))
    np.testing.assert_allclose(nx.linalg.solve(a, B[..., 0]), np.linalg.solve(a, B)[..., 0])
    np.testing.assert_allclose(nx.linalg.invert(a), np.linalg.inv(a))


def test_types_and_names():
    a = nx.tensor([[2, 0], [0, 4]], names=["x", "y"])
    assert nx.linalg.solve(a, nx.tensor([1, 2], names=["z"])).spec == nx.template((2,), "f32").spec
    assert nx.linalg.solve(a, nx.f64([1, 2])).type == "f64"
    assert nx.linalg.invert(nx.as_type(a, "f16")).spec == nx.template((2, 2), "f16").spec


def test_singular_matrices_give_nan():
    singular = np.array([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]]])
    assert np.isnan(nx.linalg.invert(singular).to_numpy()).any(axis=(1, 2)).tolist() == [True, False]
    assert np.isnan(nx.linalg.solve(singular, np.ones((2, 2))).to_numpy()).tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize(
    "x", [A[0], Z[0, :2], Z[0].T @ np.diag([1, 2, 0]), A], ids=["square", "wide", "singular", "batch"]
)
def test_pinv(x):
    np.testing.assert_allclose(nx.linalg.pinv(x), np.linalg.pinv(x), atol=1e-10)


def test_pinv_of_few_numbers():
    assert nx.linalg.pinv(2).to_list() == 0.5
    assert nx.linalg.pinv(0).to_list() == 0.0
    assert nx.linalg.pinv([0, 0]).to_list() == [0.0, 0.0]
    np.testing.assert_allclose(nx.linalg.pinv(Z[0, 0]), np.linalg.pinv(Z[0, :1])[:, 0])
    np.testing.assert_allclose(nx.linalg.pinv([[1.0, 0], [0, 1e-3]], eps=0.01), [[1, 0], [0, 0]])
    np.testing.assert_allclose(nx.linalg.pinv(nx.f32([[1, 2], [2, 4]])), np.array([[1, 2], [2, 4]]) / 25, rtol=1e-5)


def test_least_squares():
    a, b = rng.normal(size=(5, 3)), rng.normal(size=5)
    np.testing.assert_allclose(nx.linalg.least_squares(a, b), np.linalg.lstsq(a, b)[0])
    np.testing.assert_allclose(nx.linalg.least_squares(a.T, b[:3]), np.linalg.lstsq(a.T, b[:3])[0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: nx.linalg.solve([[1, 0], [0, 1]], [4, 2, 4]),
            NxValueError,
            "solve: b f32[3] does not fit a f32[2][2].\n  Its shape is [2] or [2][any].",
        ),
        (
            lambda: nx.linalg.solve(A, [4, 2]),
            NxValueError,
            "solve: b f64[2] does not fit a f64[2][3][3].\n  Its shape is [2][3] or [2][3][any].",
        ),
        (
            lambda: nx.linalg.solve([[3, 0, 0], [2, 1, 0]], [4]),
            NxValueError,
            "solve takes square matrices, got s64[2][3].",
        ),
        (
            lambda: nx.linalg.triangular_solve(A[0], B[0], left_side=False),
            NxValueError,
            "triangular_solve: b f64[3][4] does not fit a f64[3][3].\n  Its shape is [3] or [any][3].",
        ),
        (
            lambda: nx.linalg.triangular_solve(A[0], B[0], transform_a="other"),
            NxValueError,
            'transform_a is "none", "transpose" or "conjugate", got \'other\'',
        ),
        (lambda: nx.linalg.invert([1]), NxValueError, "invert takes matrices, got s64[1]."),
        (
            lambda: nx.linalg.least_squares(A[0], B[0]),
            NxValueError,
            "least_squares takes a matrix and a vector of as many elements as it has rows, "
            "got f64[3][3] and f64[3][4].",
        ),
        (
            lambda: nx.linalg.least_squares(Z[0], B[0, :, 0]),
            NxTypeError,
            "least_squares takes real numbers, got c128[3][3] and f64[3].",
        ),
    ],
)
def test_refused(call, error, text):
    with pytest.raises(error, match="^" + re.escape(text)):
        call()


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_traced_agrees(compiler):
    for function in (nx.linalg.solve, nx.linalg.triangular_solve):
        run = nx.jit(function, compiler=compiler)
        np.testing.assert_allclose(run(A, B), function(A, B), atol=1e-12)
    for function in (nx.linalg.invert, nx.linalg.pinv):
        run = nx.jit(function, compiler=compiler)
        np.testing.assert_allclose(run(A), function(A), atol=1e-12)
