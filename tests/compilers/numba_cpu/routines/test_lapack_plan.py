"""Linear algebra by kernels that call LAPACK: what NumPy gives for each matrix, and NaN where it raises."""

import math
import os

import numpy as np
import pytest

from graph_comparison.compiled_graphs import compiled, inputs, make, planned, spec
from nxkernel import primitives as p
from nxkernel.compilers.numba_cpu.routines.routine_table import HostCall
from nxkernel.compilers.plan.program_plan import OpaqueStep

TYPES = ("f4", "f8", "c8", "c16")
#: Around the lines that are turned at a time, and LAPACK's blocks.
SIZES = (1, 2, 5, 15, 16, 17, 33, 70)
BATCHES = ((), (1,), (3,), (2, 3), (130,))


def matrices(shape, dtype, seed=0):
    """Random matrices of a type; complex ones have both parts."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape) if dtype.startswith("c") else values).astype(dtype)


def regular(shape, dtype, seed=0):
    """Matrices that are far from singular ones."""
    return matrices(shape, dtype, seed) + (shape[-1] * np.eye(shape[-1])).astype(dtype)


def hermitian(shape, dtype):
    a = regular(shape, dtype)
    return a @ np.conj(np.swapaxes(a, -1, -2))


def close(found, expected, dtype, scale=1.0):
    tolerance = (2e-4 if np.dtype(dtype).name in ("float32", "complex64") else 1e-11) * scale
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(
        found, expected, rtol=tolerance, atol=tolerance * max(1, np.abs(expected).max(initial=1))
    )


def run(function, *arrays):
    return compiled(function, *arrays).run(list(arrays))


def by_kernels(function, *arrays):
    """Whether none of the operations goes by way of Python."""
    steps = [step.work for step in planned(function, *(a.spec for a in inputs(*arrays))).steps]
    routines = [work.routine for work in steps if isinstance(work, OpaqueStep)]
    return bool(routines) and not any(isinstance(one, HostCall) for each in routines for one in each.launches)


CASES = [(n, batch, dtype) for n in SIZES for batch in BATCHES for dtype in TYPES if n * math.prod(batch) < 3000]


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize(("n", "batch", "dtype"), CASES, ids=str)
def test_square_matrices(n, batch, dtype):
    a, b = regular((*batch, n, n), dtype), matrices((*batch, n, 3), dtype, 1)
    close(run(lambda a: make(p.cholesky, a), h := hermitian((*batch, n, n), dtype))[0], np.linalg.cholesky(h), dtype)
    close(run(lambda a, b: make(p.solve, a, b), a, b)[0], np.linalg.solve(a, b), dtype)
    close(run(lambda a: make(p.inverse, a), a)[0], np.linalg.inv(a), dtype)
    small = a / np.asarray(n, dtype)
    close(run(lambda a: make(p.determinant, a), small)[0], np.linalg.det(small), dtype, 10)
    for lower in (True, False):
        triangle = np.tril(a) if lower else np.triu(a)
        for transform, turned in (
            ("none", triangle),
            ("transpose", np.swapaxes(triangle, -1, -2)),
            ("conjugate", np.conj(np.swapaxes(triangle, -1, -2))),
        ):
            (found,) = run(
                lambda a, b, lower=lower, transform=transform: make(
                    p.triangular_solve, a, b, lower=lower, transform=transform
                ),
                # The other triangle is not read.
                np.where(triangle == 0, np.asarray(np.nan, dtype), triangle),
                b,
            )
            close(found, np.linalg.solve(turned, b), dtype)


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize(("n", "batch", "dtype"), CASES, ids=str)
def test_lu(n, batch, dtype):
    a = matrices((*batch, n, n), dtype)
    packed, order = run(lambda a: [make(p.elem, make(p.lu, a), index=k) for k in (0, 1)], a)
    lower, upper = np.tril(packed, -1) + np.eye(n, dtype=dtype), np.triu(packed)
    close(lower @ upper, np.take_along_axis(a, order[..., None], -2), dtype, n)
    # Pivots are the largest of their columns, as LAPACK chooses them.
    assert np.abs(np.tril(packed, -1)).max(initial=0) <= (1.0001 if dtype in ("f4", "f8") else 1.5)
    assert order.dtype == np.int64
    np.testing.assert_array_equal(np.sort(order), np.broadcast_to(np.arange(n), order.shape))


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize(("n", "batch", "dtype"), CASES, ids=str)
def test_eigh(n, batch, dtype):
    a = hermitian((*batch, n, n), dtype) / n
    # The upper triangle is not read.
    given = np.tril(a)
    values, vectors = run(lambda a: [make(p.elem, make(p.eigh, a), index=k) for k in (0, 1)], given)
    close(values, np.linalg.eigvalsh(a), dtype, 10)
    close(a @ vectors, vectors * values[..., None, :], dtype, 10)
    (alone,) = run(lambda a: make(p.elem, make(p.eigh, a), index=0), given)
    close(alone, values, dtype, 10)
    (other,) = run(lambda a: make(p.elem, make(p.eigh, a), index=1), given)
    np.testing.assert_array_equal(other, vectors)


SHAPES = [(1, 1), (3, 1), (1, 4), (5, 3), (3, 5), (17, 16), (16, 33), (70, 20)]


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES[:4], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_qr(shape, batch, dtype):
    a = matrices((*batch, *shape), dtype)
    for mode in ("reduced", "complete"):
        q, r = run(lambda a, mode=mode: [make(p.elem, make(p.qr, a, mode=mode), index=k) for k in (0, 1)], a)
        expected_q, expected_r = np.linalg.qr(a, mode=mode)
        close(q, expected_q, dtype, 10)
        close(r, expected_r, dtype, 10)
        (alone,) = run(lambda a, mode=mode: make(p.elem, make(p.qr, a, mode=mode), index=1), a)
        np.testing.assert_array_equal(alone, r)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES[:4], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_svd(shape, batch, dtype):
    a = matrices((*batch, *shape), dtype)
    for full in (False, True):
        parts = run(
            lambda a, full=full: [make(p.elem, make(p.svd, a, full_matrices=full), index=k) for k in range(3)], a
        )
        for found, expected in zip(parts, np.linalg.svd(a, full_matrices=full), strict=True):
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        u, s, vh = parts
        least = min(shape)
        close((u[..., :least] * s[..., None, :]) @ vh[..., :least, :], a, dtype, 10)
        close(
            np.conj(np.swapaxes(u, -1, -2)) @ u,
            np.broadcast_to(np.eye(u.shape[-1], dtype=dtype), (*batch, u.shape[-1], u.shape[-1])),
            dtype,
            10,
        )
        close(s, np.linalg.svd(a, compute_uv=False), dtype, 10)
    (alone,) = run(lambda a: make(p.elem, make(p.svd, a, full_matrices=True), index=1), a)
    close(alone, s, dtype, 10)
    (right,) = run(lambda a: make(p.elem, make(p.svd, a, full_matrices=True), index=2), a)
    np.testing.assert_array_equal(right, vh)


@pytest.mark.parametrize("dtype", TYPES)
def test_matrices_without_a_result_are_nan_and_their_neighbours_are_not(dtype):
    a = regular((5, 6, 6), dtype)
    a[1] = 0
    a[3, :, 2] = a[3, :, 4] = 0
    b = matrices((5, 6, 2), dtype)
    good = [0, 2, 4]
    for found, expected in (
        (run(lambda a, b: make(p.solve, a, b), a, b)[0], np.linalg.solve(a[good], b[good])),
        (run(lambda a: make(p.inverse, a), a)[0], np.linalg.inv(a[good])),
        (
            run(lambda a, b: make(p.triangular_solve, a, b, lower=True, transform="none"), a, b)[0],
            np.linalg.solve(np.tril(a[good]), b[good]),
        ),
    ):
        assert np.isnan(found[[1, 3]]).all()
        close(found[good], expected, dtype)
    h = hermitian((3, 6, 6), dtype)
    h[1, 4, 4] = -1
    (found,) = run(lambda a: make(p.cholesky, a), h)
    assert np.isnan(found[1]).all()
    close(found[[0, 2]], np.linalg.cholesky(h[[0, 2]]), dtype)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_determinants_whose_products_are_beyond_any_number_on_the_way(dtype):
    big, small = (1e30, 1e-30) if dtype == "f4" else (1e300, 1e-300)
    a = np.diag(np.array([big, big, small, small, -2.0], dtype))[[1, 0, 2, 3, 4]]
    for given, expected in ((a, 2.0), (np.zeros((3, 3), dtype), 0.0), (np.full((3, 3), np.inf, dtype), np.nan)):
        (found,) = run(lambda a: make(p.determinant, a), given)
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert np.isinf(run(lambda a: make(p.determinant, a), np.diag(np.full(3, big, dtype)))[0])
    assert run(lambda a: make(p.determinant, a), np.diag(np.full(3, small, dtype)))[0] == 0


@pytest.mark.parametrize(
    ("pivots", "expected"),
    [((1, 5e-324, 1e300), 5e-324 * 1e300), ((0, 1, np.inf), 0), ((1, np.nan, 0), 0), ((-1, 0, 1), 0)],
)
def test_determinants_with_pivots_that_are_tiny_or_zero(pivots, expected):
    a = np.diag([*pivots, *[1.0] * 9])
    (found,) = run(lambda a: make(p.determinant, a), a)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=0)
    assert not np.signbit(found)


def test_a_batch_of_large_matrices_takes_little_scratch_memory():
    def of(*shape):
        steps = planned(lambda a: make(p.inverse, a), spec("f64", *shape)).steps
        (routine,) = [step.work.routine for step in steps if isinstance(step.work, OpaqueStep)]
        return routine

    assert of(200, 8, 8).launches[0].count == 64
    parts = of(200, 2000, 2000).launches[0].count
    assert parts == min(64, max(os.cpu_count(), 1))
    assert of(200, 2000, 2000).scratch < (parts + 1) * 2 * 2000 * 2000 * 8


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("n", [3, 9, 20])
def test_vectors_have_the_signs_of_numpys(n, dtype):
    for seed in range(10):
        a = matrices((n, n), dtype, seed)
        h = a + np.conj(a.T)
        parts = run(lambda a: [make(p.elem, make(p.svd, a, full_matrices=False), index=k) for k in range(3)], a)
        for found, expected in zip(parts, np.linalg.svd(a), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-3)
        _, vectors = run(lambda a: [make(p.elem, make(p.eigh, a), index=k) for k in range(2)], h)
        np.testing.assert_allclose(vectors, np.linalg.eigh(h)[1], atol=1e-3)


def test_which_go_by_way_of_python():
    a = regular((9, 9), "f8")
    for dtype, expected in (("f8", True), ("c16", True), ("f4", False), ("c8", False)):
        parts = [lambda a, k=k: make(p.elem, make(p.eigh, a), index=k) for k in (0, 1)]
        assert [by_kernels(part, a.astype(dtype)) for part in parts] == [True, expected]
    assert by_kernels(lambda a: make(p.solve, a, a), a)
    assert by_kernels(lambda a: make(p.determinant, a), a)
    assert not by_kernels(lambda a: make(p.determinant, a), a.astype("c16"))
    assert not by_kernels(lambda a: make(p.solve, a, a), a.astype("f2"))
    assert not by_kernels(lambda a: make(p.cholesky, a), np.zeros((2, 0, 0)))


def test_operands_stay_as_they_are():
    a, b = regular((3, 20, 20), "f8"), matrices((3, 20, 2), "f8")
    before = a.copy(), b.copy()
    run(
        lambda a, b: [
            make(p.solve, a, b),
            make(p.inverse, a),
            make(p.elem, make(p.svd, a, full_matrices=False), index=1),
        ],
        a,
        b,
    )
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(b, before[1])


def test_kernels_know_no_sizes():
    def symbols(n, batch):
        a = regular((batch, n, n), "f8")
        plan = planned(lambda a: make(p.inverse, a), inputs(a)[0].spec)
        return [
            one.symbol for step in plan.steps if isinstance(step.work, OpaqueStep) for one in step.work.routine.launches
        ]

    assert symbols(5, 1) == symbols(90, 7)
