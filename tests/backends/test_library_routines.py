"""Fourier transforms and linear algebra as NumPy, SciPy and LAPACK compute them, whole batches at a time."""

import numpy as np
import pytest
import scipy.linalg

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING, library_routines
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed

rng = np.random.default_rng(0)


def _spec(array):
    return Spec(types.normalize(array.dtype), array.shape, unnamed(array.shape))


def _run(primitive, *arrays, **params):
    """The meaning of a primitive with the spec that its rule gives; results have the types and shapes of the spec."""
    spec = primitive.rule(*map(_spec, arrays), **params)
    found = MEANING[primitive](spec, *arrays, **params)
    for part, part_spec in zip(found, spec, strict=True) if type(spec) is tuple else [(found, spec)]:
        assert (part.dtype, part.shape) == (part_spec.type.dtype, part_spec.shape)
    return found


def _matrices(batch, n, turn=1, dtype=None):
    return ((rng.normal(size=(*batch, n, n)) + 2 * np.eye(n)) * turn).astype(dtype or np.asarray(turn).dtype)


SIZES = pytest.mark.parametrize(
    ("batch", "n"), [((), 4), ((3, 2), 4), ((10, 20), 3), ((70,), 8), ((70,), 9), ((17,), 33)]
)
TURNS = pytest.mark.parametrize("turn", [1.0, 1 + 1j], ids=["real", "complex"])


@TURNS
@SIZES
def test_lu_has_lapacks_factors(batch, n, turn):
    a = _matrices(batch, n, turn)
    packed, order = _run(p.lu, a)
    for index in np.ndindex(batch):
        wanted, pivots = scipy.linalg.lu_factor(a[index])
        np.testing.assert_allclose(packed[index], wanted, rtol=1e-9, atol=1e-12)
        rows = np.arange(n)
        for row, pivot in enumerate(pivots):
            rows[[row, pivot]] = rows[[pivot, row]]
        np.testing.assert_array_equal(order[index], rows)


@pytest.mark.parametrize("batch", [1, 100])
def test_lu_of_singular_matrices_is_finite(batch):
    packed, order = _run(p.lu, np.ones((batch, 3, 3)))
    np.testing.assert_array_equal(packed, np.broadcast_to([[1, 1, 1], [1, 0, 0], [1, 0, 0]], packed.shape))
    np.testing.assert_array_equal(order, np.broadcast_to([0, 1, 2], order.shape))


@pytest.mark.sampled(every=6)
@TURNS
@SIZES
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transform", ["none", "transpose", "conjugate"])
def test_triangular_solve(batch, n, turn, lower, transform):
    a = _matrices(batch, n, turn) + 4 * np.eye(n)
    b = rng.normal(size=(*batch, n, 2)).astype(a.dtype)
    found = _run(p.triangular_solve, a, b, lower=lower, transform=transform)
    op = np.tril(a) if lower else np.triu(a)
    op = op if transform == "none" else np.swapaxes(op, -1, -2)
    op = np.conj(op) if transform == "conjugate" else op
    np.testing.assert_allclose(op @ found, b, atol=1e-8)


@pytest.mark.parametrize("batch", [2, 40])
def test_only_singular_triangles_give_nan(batch):
    a = np.stack([np.eye(2)] * batch)
    a[1, 0, 0] = 0
    found = _run(p.triangular_solve, a, np.ones((batch, 2, 1)), lower=True, transform="none")
    assert np.isnan(found).all(axis=(1, 2)).nonzero()[0].tolist() == [1]
    assert np.isnan(found).sum() == 2


@pytest.mark.parametrize(("shape", "columns"), [((0, 0), 2), ((3, 0, 0), 1), ((40, 4, 4), 0), ((0, 3, 3), 2)])
def test_matrices_without_elements(shape, columns):
    a, b = np.broadcast_to(np.eye(shape[-1]), shape), np.ones((*shape[:-1], columns))
    for primitive, params in ((p.solve, {}), (p.triangular_solve, {"lower": True, "transform": "none"})):
        np.testing.assert_array_equal(_run(primitive, a, b, **params), b)
    packed, order = _run(p.lu, a)
    np.testing.assert_array_equal(packed, a)
    assert order.shape == shape[:-1]


@pytest.mark.parametrize("bad", [[], [3], [0, 6], list(range(7))])
def test_only_what_has_no_result_is_nan(bad):
    a = np.stack([np.eye(2)] * 7)
    a[bad] = -1.0
    for primitive, others in ((p.cholesky, []), (p.solve, [np.ones((7, 2, 1))])):
        found = _run(primitive, a, *others)
        assert np.isnan(found).any(axis=(1, 2)).nonzero()[0].tolist() == bad
        np.testing.assert_array_equal(_run(primitive, a[:0], *[other[:0] for other in others]).shape[0], 0)
    a[bad] = np.nan
    for primitive, params in ((p.eigh, {}), (p.svd, {"full_matrices": True})):
        for part in _run(primitive, a, **params):
            assert np.isnan(part).reshape(7, -1).any(axis=1).nonzero()[0].tolist() == bad
    assert np.isnan(_run(p.cholesky, -np.eye(2))).all()


@TURNS
@pytest.mark.parametrize("shape", [(3, 2, 2), (2, 3), (3, 2)])
def test_factors_multiply_to_the_matrix(shape, turn):
    a = rng.normal(size=shape) * turn
    for mode in ("reduced", "complete"):
        q, r = _run(p.qr, a, mode=mode)
        np.testing.assert_allclose(q @ r, a, atol=1e-12)
    for full in (False, True):
        u, s, vt = _run(p.svd, a, full_matrices=full)
        least = s.shape[-1]
        np.testing.assert_allclose((u[..., :least] * s[..., None, :]) @ vt[..., :least, :], a, atol=1e-12)


def test_eigh_reads_the_lower_triangle():
    values, vectors = _run(p.eigh, np.array([[1.0, 9.0], [0.0, -2.0]]))
    np.testing.assert_array_equal(values, [-2, 1])
    np.testing.assert_array_equal(np.abs(vectors), [[0, 1], [1, 0]])


def test_narrow_types_are_computed_in_f32():
    a = (2 * np.eye(3)).astype(types.bf16.dtype)
    np.testing.assert_array_equal(_run(p.solve, a, a), np.eye(3).astype(a.dtype))
    np.testing.assert_array_equal(
        _run(p.cholesky, a).astype("f4"), (np.sqrt(2) * np.eye(3)).astype(a.dtype).astype("f4")
    )


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 2)])
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("turn", [1, 1j])
def test_fft(axes, inverse, turn):
    for size in (5, 40):
        x = rng.normal(size=(size, 6, 4)) * turn
        wanted = (np.fft.ifftn if inverse else np.fft.fftn)(x, axes=axes)
        np.testing.assert_allclose(_run(p.fft, x, axes=axes, inverse=inverse), wanted, atol=1e-12)
    large = rng.normal(size=(200, 100)).astype("f4")
    np.testing.assert_allclose(_run(p.fft, large, axes=(1,), inverse=False), np.fft.fft(large), atol=1e-4)


def test_parts_of_several_results():
    both = (np.zeros(1), np.ones(1))
    assert MEANING[p.elem](None, both, index=1) is both[1]


def test_rows_of_many_matrices_are_exchanged_as_those_of_one():
    rng = np.random.default_rng(3)
    pivots = np.stack([[rng.integers(row, 7) for row in range(7)] for _ in range(12)]).reshape(3, 4, 7)
    found = library_routines.order_of_rows(pivots)
    for place in np.ndindex(3, 4):
        rows = list(range(7))
        for row, pivot in enumerate(pivots[place]):
            rows[row], rows[pivot] = rows[pivot], rows[row]
        assert found[place].tolist() == rows
    assert library_routines.order_of_rows(pivots[:0]).shape == (0, 4, 7)


@pytest.mark.parametrize("shape", [(3, 8), (3, 8192)])
@pytest.mark.parametrize("axes", [(), (1,), (0, 1)])
@pytest.mark.parametrize("inverse", [False, True])
def test_few_elements_are_transformed_as_many_are(shape, axes, inverse):
    x = np.random.default_rng(0).normal(size=(*shape, 2)).view("c16")[..., 0]
    result = np.empty_like(x)
    before = x.copy()
    library_routines.transform_into(result, x, axes=axes, inverse=inverse)
    expected = (np.fft.ifftn if inverse else np.fft.fftn)(x, axes=axes) if axes else x
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(x, before)
