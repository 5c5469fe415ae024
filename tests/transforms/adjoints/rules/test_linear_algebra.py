"""Gradients of Fourier transforms and linear algebra against central differences."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.central_differences import check, close_to_wide, numbers
from nxkernel import primitives as p
from nxkernel.errors import NxTypeError
from nxkernel.ops.machinery.dispatch import apply

BOTH = pytest.mark.parametrize("complex_", [False, True])
BATCHES = pytest.mark.parametrize("batch", [(), (2,), (2, 1, 2)])


def adjoint_products(a):
    return nx.dot(a, [a.rank - 1], list(range(a.rank - 2)), nx.linalg.adjoint(a), [a.rank - 2], list(range(a.rank - 2)))


def hermitian(a):
    return adjoint_products(a) + nx.eye(a.shape[-2], type="f64") * 0.5


def hermitian_part(a):
    return (a + nx.linalg.adjoint(a)) * 0.5


@BOTH
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1), (-1,)])
def test_fourier(axes, inverse, complex_):
    x = numbers(3, 4, complex_=complex_)
    check(lambda x: apply(p.fft, x, axes=tuple(a % 2 for a in axes), inverse=inverse), x, order=2)


def test_fourier_of_a_length_that_changes():
    check(lambda x: (nx.fft(x, length=7), nx.ifft(x, length=3), nx.abs(nx.rfft(x))), numbers(2, 5))


def test_fourier_of_whole_numbers():
    found = nx.grad(lambda x: nx.real(nx.fft(x))[1])(np.arange(4))
    assert found.type == "f32"
    np.testing.assert_allclose(found.to_numpy(), [1, 0, -1, 0], atol=1e-7)


@pytest.mark.sampled(every=6)
@BOTH
@BATCHES
def test_solve(batch, complex_):
    a, b = numbers(*batch, 3, 3, complex_=complex_), numbers(*batch, 3, 2, seed=1, complex_=complex_)
    check(nx.linalg.solve, a, b, order=2)
    check(nx.linalg.invert, a)


def test_solve_for_a_vector():
    check(nx.linalg.solve, numbers(3, 3), numbers(3), order=2)


@pytest.mark.sampled(every=24)
@pytest.mark.sampled(every=3, lane="fuzz")
@BOTH
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("transform", ["none", "transpose", "conjugate"])
@pytest.mark.parametrize("left_side", [False, True])
def test_triangular_solve(left_side, transform, lower, complex_):
    a = numbers(2, 3, 3, complex_=complex_) + 3 * np.eye(3)
    b = numbers(2, 3, 3, seed=1, complex_=complex_)
    how = {"lower": lower, "transform_a": transform, "left_side": left_side}
    found, _ = check(lambda a, b: nx.linalg.triangular_solve(a, b, **how), a, b, order=2)
    outside = np.triu(np.ones((3, 3)), 1) if lower else np.tril(np.ones((3, 3)), -1)
    assert not (found * outside).any()


@pytest.mark.sampled(every=12)
@BOTH
@BATCHES
def test_cholesky(batch, complex_):
    check(lambda a: nx.linalg.cholesky(hermitian(a)), numbers(*batch, 3, 3, complex_=complex_), order=2)


def test_gradients_of_symmetric_matrices_are_symmetric():
    a = hermitian(nx.tensor(numbers(3, 3)))
    for function in (
        lambda a: nx.sum(nx.log(nx.take_diagonal(nx.linalg.cholesky(a)))) * 2,
        lambda a: nx.sum(nx.log(nx.linalg.eigh(a)[0])),
    ):
        np.testing.assert_allclose(nx.grad(function)(a).to_numpy(), np.linalg.inv(a.to_numpy()), rtol=1e-9)


@pytest.mark.sampled(every=12)
@BOTH
@BATCHES
def test_lu(batch, complex_):
    check(lambda a: nx.linalg.lu(a)[1:], numbers(*batch, 3, 3, complex_=complex_), order=2)


@pytest.mark.sampled(every=40)
@pytest.mark.sampled(every=3, lane="fuzz")
@BOTH
@BATCHES
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (3, 1), (1, 3)])
def test_qr(shape, batch, complex_):
    check(nx.linalg.qr, numbers(*batch, *shape, complex_=complex_), order=2)


def test_one_factor_of_qr():
    a = numbers(4, 2)
    check(lambda a: nx.linalg.qr(a)[0], a)
    check(lambda a: nx.linalg.qr(a)[1], a)
    check(lambda a: nx.linalg.qr(a, mode="complete"), numbers(2, 3))


def test_complete_qr_of_high_matrices_is_refused():
    with pytest.raises(NxTypeError) as error:
        nx.grad(lambda a: nx.sum(nx.linalg.qr(a, mode="complete")[1]))(numbers(3, 2))
    assert str(error.value).splitlines()[1:] == [
        "  The columns of q beyond those of the matrix are not determined by it.",
        '  mode="reduced" leaves them out.',
        "  nx.stop_grad(t) says that nothing is to flow through it, nx.custom_grad gives a gradient of your own.",
    ]


@BATCHES
def test_eigh(batch):
    check(lambda a: nx.linalg.eigh(hermitian(a)), numbers(*batch, 3, 3), order=2)


def test_eigh_of_complex_matrices():
    # The phase of a vector is anybody's choice.
    def function(a):
        values, vectors = nx.linalg.eigh(hermitian(a))
        return values, nx.abs(vectors), vectors[:, 0:1] @ nx.linalg.adjoint(vectors[:, 0:1])

    check(function, numbers(3, 3, complex_=True), order=2)


def test_eigh_of_a_diagonal_matrix():
    # Near by, eigenvalues are ordered by magnitude, and vectors have LAPACK's signs.
    def function(a):
        values, vectors = nx.linalg.eigh(hermitian_part(a))
        return values, *[nx.outer(vectors[:, k], vectors[:, k]) for k in range(3)]

    check(function, np.diag([3.0, -2.0, 1.0]), order=2, rtol=1e-5)


def test_the_order_of_a_diagonal_matrix():
    slope = nx.grad(lambda a: nx.sum(nx.linalg.eigh(a)[0] * np.array([1.0, 10.0, 100.0])))
    assert slope(np.diag([1.0, 3.0, 2.0])).to_list() == np.diag([1.0, 10.0, 100.0]).tolist()


def test_eigenvalues_that_are_equal():
    found = nx.grad(lambda a: nx.sum(nx.linalg.eigh(a)[0] ** 2))(nx.tensor(np.ones((3, 3)) - np.eye(3)))
    np.testing.assert_allclose(found.to_numpy(), 2 * (np.ones((3, 3)) - np.eye(3)), atol=1e-12)


@pytest.mark.sampled(every=9)
@BATCHES
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_svd(shape, batch):
    check(lambda a: nx.linalg.svd(a, full_matrices=False), numbers(*batch, *shape), order=2)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_svd_of_complex_matrices(shape):
    def function(a):
        u, s, vt = nx.linalg.svd(a, full_matrices=False)
        return nx.abs(u), s, nx.abs(vt), u[:, 0:1] @ vt[0:1]

    check(function, numbers(*shape, complex_=True), order=2)


def test_singular_values_with_all_vectors():
    for shape in ((4, 2), (2, 4)):
        check(lambda a: nx.linalg.svd(a)[1], numbers(*shape), order=2)
    check(lambda a: nx.linalg.svd(a)[0], numbers(2, 4), order=2)
    check(nx.linalg.svd, numbers(3, 3))


def test_vectors_beyond_the_singular_values_are_refused():
    with pytest.raises(NxTypeError) as error:
        nx.grad(lambda a: nx.sum(nx.linalg.svd(a)[0]))(numbers(3, 2))
    first, *rest = str(error.value).splitlines()
    assert first.startswith("svd of f64[3][2] has no gradient (")
    assert first.endswith("), and the loss depends on it.")
    assert rest[:2] == [
        "  The singular vectors beyond the singular values are not determined by the matrix.",
        "  full_matrices=False leaves them out.",
    ]


@pytest.mark.sampled(every=12)
@BOTH
@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
def test_determinant(size, complex_):
    check(nx.linalg.determinant, numbers(2, size, size, complex_=complex_), order=2)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_determinants_of_singular_matrices(size):
    a = numbers(size, size)
    a[-1] = 2 * a[0]
    check(nx.linalg.determinant, a)
    a[-1] = 0
    check(nx.linalg.determinant, a)


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_pseudoinverse(shape):
    check(nx.linalg.pinv, numbers(*shape), order=2)
    check(nx.linalg.pinv, numbers(*shape, complex_=True))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("ord", [None, 1, 2, 3.5, "inf", "neg_inf"])
def test_norms_of_vectors(ord):
    check(lambda x: nx.linalg.norm(x, ord=ord), numbers(4), order=2)
    check(lambda x: nx.linalg.norm(x, ord=ord), numbers(4, complex_=True))


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("ord", [None, "nuclear", 1, -1, 2, -2, "inf", "neg_inf"])
def test_norms_of_matrices(ord):
    check(lambda x: nx.linalg.norm(x, ord=ord), numbers(3, 4), order=2)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("power", [-2, 0, 1, 3])
def test_powers_of_matrices(power):
    check(lambda a: nx.linalg.matrix_power(a, power), numbers(3, 3))


def test_least_squares():
    check(nx.linalg.least_squares, numbers(5, 3), numbers(5), order=2)


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 2, 2)])
def test_no_elements(shape):
    def loss(a):
        q, r = nx.linalg.qr(a)
        u, s, vt = nx.linalg.svd(a, full_matrices=False)
        several = nx.linalg.cholesky(a) + nx.linalg.invert(a) + q + r + u + vt
        return nx.sum(several) + nx.sum(s) + nx.sum(nx.linalg.determinant(a))

    assert nx.grad(loss)(np.empty(shape)).shape == shape


def test_narrow_types():
    close_to_wide(lambda a: nx.linalg.svd(a, full_matrices=False)[1], numbers(4, 3))
    close_to_wide(nx.linalg.solve, numbers(3, 3), numbers(3, 2))
    close_to_wide(nx.linalg.solve, numbers(3, 3) + 3 * np.eye(3), numbers(3, 2), type_="bf16", rtol=0.05)


def test_many_matrices_by_vectorized_axes():
    a, b = numbers(4, 3, 3), numbers(4, 3)

    def loss(a, b):
        x = nx.linalg.solve(nx.vectorize(a, "batch"), nx.vectorize(b, "batch"))
        return nx.sum(nx.devectorize(x) ** 2)

    found = nx.grad(loss)(a, b).to_numpy()
    each = [
        nx.grad(lambda a, b: nx.sum(nx.linalg.solve(a, b) ** 2))(*pair).to_numpy() for pair in zip(a, b, strict=True)
    ]
    np.testing.assert_allclose(found, each, rtol=1e-9)


@pytest.mark.slow
@BOTH
def test_gradients_are_those_of_jax(complex_):
    jax = pytest.importorskip("jax")
    a, right = numbers(4, 4, complex_=complex_), numbers(4, 2, seed=1, complex_=complex_)
    weights = numbers(4, 4, seed=2, complex_=True)

    def losses(library, linalg, h):
        """What both libraries compute, of matrices that are Hermitian and positive definite."""

        def weighed(x):
            return library.sum(library.real(x * weights[: x.shape[0], : x.shape[1]]))

        vectors, values = linalg.eigh(h)[::-1]
        u, s, vt = linalg.svd(h[:, :2], full_matrices=False)
        return [
            weighed(linalg.cholesky(h)), weighed(linalg.solve(h, right)), weighed(linalg.qr(h)[0]),
            library.sum(values**3), library.sum(library.abs(vectors) ** 4), library.sum(s**3),
            library.sum(library.abs(u @ vt) ** 3),
        ]  # fmt: skip

    def ours(a):
        h = a @ nx.linalg.adjoint(a) + np.eye(4)
        return sum(losses(nx, nx.linalg, h))

    def theirs(a):
        h = a @ a.conj().T + np.eye(4)
        return sum(losses(jax.numpy, jax.numpy.linalg, h))

    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        expected = np.asarray(jax.jit(jax.grad(theirs))(a))
    np.testing.assert_allclose(nx.grad(ours)(a).to_numpy(), expected, rtol=1e-7, atol=1e-9)
