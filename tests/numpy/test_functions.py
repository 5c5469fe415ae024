"""NumPy's other functions: a row for each, values and types as NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.traced_functions import check, traced
from nxkernel.errors import NxTypeError

M = np.array([[3.5, -1.0, 2.0, 0.5], [0.0, 4.0, -2.5, 1.0], [7.0, 2.0, 2.0, -3.0]])
V = np.array([1.0, 2.0, 4.0, 7.0, 11.0, 16.0])

CREATION = {
    "zeros": lambda np, m: (np.zeros(3), np.zeros((2, 3), dtype=np.int32), np.zeros((), np.bool_)),
    "ones": lambda np, m: (np.ones(3), np.ones((2, 1), np.float32)),
    "full": lambda np, m: (np.full((2, 2), 7), np.full(3, 2.5), np.full(2, m[0, 0]), np.full((2, 4), m[0])),
    "likes": lambda np, m: (np.zeros_like(m), np.ones_like(m, dtype=int), np.full_like(m, 3), np.zeros_like(m[0] > 0)),
    "arange": lambda np, m: (
        np.arange(5),
        np.arange(2, 9, 3),
        np.arange(0, 1, 0.3),
        np.arange(5.0),
        np.arange(9, 2, -2),
    ),
    "arange types": lambda np, m: (np.arange(4, dtype=np.float32), np.arange(3, dtype=np.int8)),
    "linspace": lambda np, m: (np.linspace(0, 1, 5), np.linspace(2, 3, 4, endpoint=False), np.linspace(0, 10, 1)),
    "linspace of arrays": lambda np, m: (np.linspace(m[0], m[1], 3), np.linspace(0, m[0, 0], 4, retstep=True)[1]),
    "logspace": lambda np, m: (np.logspace(0, 2, 5), np.geomspace(1, 16, 5)),
    "eye": lambda np, m: (np.eye(3), np.eye(2, 4, k=1, dtype=int), np.identity(2), np.tri(3, 4, -1)),
    "triangles": lambda np, m: (np.tril(m), np.triu(m, 1), np.tril(m, -1)),
    "diag": lambda np, m: (np.diag(m), np.diag(m[0]), np.diag(m[0, :2], -1), np.diagflat(m[:, :2])),
    "array": lambda np, m: (np.array([1, 2]), np.array([[1, 2.5]]), np.array([m[0, 0], 2, m[1, 1]]), np.array(3)),
    "array of rows": lambda np, m: (np.array([m[0], m[1]]), np.array(m, dtype=np.float32), np.array(m[0], ndmin=2)),
    "asarray": lambda np, m: (np.asarray(m), np.ascontiguousarray(m.T), np.asarray([1, 2], dtype=np.float64)),
    "meshgrid": lambda np, m: (*np.meshgrid(m[0], m[:, 0]), *np.meshgrid(m[0], m[1], indexing="ij", sparse=True)),
    "indices": lambda np, m: (np.indices((2, 3)), np.fromfunction(lambda i, j: i * 10 + j, (2, 3))),
    "grids": lambda np, m: (np.mgrid[0:2, 0:3], *np.ogrid[0:2, 0:3]),
    "vander": lambda np, m: np.vander(m[0], 3),
    "empty": lambda np, m: (np.negative(m, out=np.empty(m.shape)), np.abs(m, out=np.empty_like(m))),
    "conversions": lambda np, m: (
        np.float32(1.5) * m.astype(np.float32),
        m.astype(int),
        m.astype(bool),
        m.astype("c16"),
    ),
}
REDUCTIONS = {
    "sum": lambda np, m: (np.sum(m), np.sum(m, 0), np.sum(m, axis=(0, 1), keepdims=True), np.sum(m > 0), np.sum(m, -1)),
    "sum types": lambda np, m: (np.sum(m.astype(np.int8)), np.sum(m.astype(np.float32)), np.sum(m, dtype=np.float32)),
    "sum where": lambda np, m: (np.sum(m, where=m > 0), np.sum(m, axis=1, initial=10)),
    "prod": lambda np, m: (np.prod(m, axis=0), np.prod(m.astype(np.uint8))),
    "extremes": lambda np, m: (np.max(m), np.min(m, 1), np.amax(m, 0, keepdims=True), np.ptp(m, 0), np.max(m > 0)),
    "extremes where": lambda np, m: (np.max(m, initial=-9, where=m < 0), np.min(m, initial=3)),
    "mean": lambda np, m: (np.mean(m), np.mean(m, 1), np.mean(m.astype(int)), np.mean(m, where=m > 0), np.average(m)),
    "average": lambda np, m: (np.average(m, 1, weights=m[0] + 2), np.average(m, weights=m + 4)),
    "var": lambda np, m: (np.var(m), np.std(m, 0), np.std(m, ddof=1), np.var(m + 1j), np.std(m.astype(np.float32))),
    "truth": lambda np, m: (np.all(m), np.any(m, 0), np.all(m > -9, axis=1), np.count_nonzero(m, axis=0)),
    "places": lambda np, m: (np.argmax(m), np.argmin(m, 0), np.argmax(m, 1, keepdims=True), np.argmax(m > 1)),
    "nan": lambda np, m: _nan_reductions(np, np.where(m == 2, np.nan, m)),
    "cumulative": lambda np, m: (np.cumsum(m), np.cumprod(m, 1), np.cumsum(m.astype(np.int32), axis=0)),
    "cumulative_sum": lambda np, m: (np.cumulative_sum(m, axis=1, include_initial=True), np.cumulative_prod(m[0])),
    "diff": lambda np, m: (np.diff(m), np.diff(m, 2, axis=0), np.diff(m, prepend=0), np.diff(m > 0), np.ediff1d(m)),
    "gradient": lambda np, m: (np.gradient(m[0]), *np.gradient(m), np.gradient(m[0], 2.0, edge_order=2)),
    "gradient of places": lambda np, m: np.gradient(m[0], np.array([0.0, 1.0, 3.0, 4.5])),
    "trapezoid": lambda np, m: (np.trapezoid(m), np.trapezoid(m, dx=0.5, axis=0), np.trapezoid(m[0], m[0] * 2)),
    "median": lambda np, m: (np.median(m), np.median(m, 0), np.median(m, axis=1, keepdims=True)),
    "percentile": lambda np, m: (np.percentile(m, 30), np.percentile(m, [10, 50, 95], axis=1), np.quantile(m, 0.7, 0)),
    "percentile methods": lambda np, m: [
        np.quantile(m, 0.4, method=method) for method in ("lower", "higher", "midpoint", "nearest")
    ],
    "cov": lambda np, m: (np.cov(m), np.cov(m, rowvar=False), np.corrcoef(m), np.cov(m[0], m[1]), np.cov(m[0])),
}


def _nan_reductions(np, m):
    return (
        np.nansum(m, 0), np.nanmean(m, 1), np.nanmax(m), np.nanmin(m, 0), np.nanstd(m), np.nanvar(m, 0), np.nanprod(m),
        np.nanargmax(m), np.nancumsum(m), np.nanmedian(m, 1), np.nanpercentile(m, 30, axis=1), np.sum(m), np.max(m, 0),
        np.median(m, 1),
    )  # fmt: skip


SHAPES = {
    "reshape": lambda np, m: (np.reshape(m, (2, -1)), np.reshape(m, (4, 3), order="F"), np.ravel(m), np.ravel(m, "F")),
    "transpose": lambda np, m: (np.transpose(m), np.swapaxes(m, 0, 1), np.moveaxis(m[None], 0, -1), np.rollaxis(m, 1)),
    "permute": lambda np, m: (np.permute_dims(m, (1, 0)), np.matrix_transpose(m), np.squeeze(m[None]), m[None].mT),
    "expand": lambda np, m: (np.expand_dims(m, (0, 2)), np.atleast_1d(3.0), np.atleast_2d(m[0]), np.atleast_3d(m)),
    "broadcast": lambda np, m: (np.broadcast_to(m[0], (2, 4)), *np.broadcast_arrays(m, m[0])),
    "flip": lambda np, m: (
        np.flip(m),
        np.flip(m, 0),
        np.fliplr(m),
        np.flipud(m),
        np.rot90(m),
        np.rot90(m, 2),
        np.rot90(m, 3),
    ),
    "roll": lambda np, m: (np.roll(m, 2), np.roll(m, -1, axis=0), np.roll(m, (1, 2), axis=(0, 1))),
    "tile": lambda np, m: (
        np.tile(m, 2),
        np.tile(m, (2, 1)),
        np.tile(m[0], (2, 2)),
        np.repeat(m, 2),
        np.repeat(m, 3, 1),
    ),
    "repeat": lambda np, m: (np.repeat(m[0], [1, 0, 2, 1]), np.resize(m, (3, 5)), np.resize(m, 5)),
    "concatenate": lambda np, m: (np.concatenate([m, m]), np.concatenate((m, m), axis=1), np.concatenate([m, m], None)),
    "stack": lambda np, m: (
        np.stack([m, m]),
        np.stack([m[0], m[1]], axis=1),
        np.hstack([m, m]),
        np.vstack([m[0], m[1]]),
    ),
    "stacks": lambda np, m: (
        np.dstack([m, m]),
        np.column_stack([m[0], m[1]]),
        np.hstack([m[0], m[1]]),
        np.append(m, 1.0),
    ),
    "types joined": lambda np, m: (np.concatenate([m[0].astype(int), m[0] > 0]), np.stack([m[0, 0], 2])),
    "block": lambda np, m: np.block([[m, m], [m[:1], m[:1]]]),
    "split": lambda np, m: (*np.split(m, 3), *np.array_split(m, 3, axis=1), *np.hsplit(m, 2), *np.split(m, [1, 3], 1)),
    "unstack": lambda np, m: np.unstack(m, axis=1),
    "insert": lambda np, m: (np.insert(m[0], 1, 9), np.delete(m, 1, axis=1), np.insert(m, 1, 5, axis=0)),
    "pad": lambda np, m: (np.pad(m, 1), np.pad(m, ((1, 0), (0, 2)), constant_values=7), np.pad(m, 1, mode="edge")),
    "pad modes": lambda np, m: [np.pad(m, 2, mode) for mode in ("reflect", "symmetric", "wrap", "maximum", "mean")],
}
CHOOSING = {
    "where": lambda np, m: (
        np.where(m > 0, m, 0),
        np.where(m > 0, 1, -1),
        np.where(m[0] > 0, m, m[0].astype(np.float32)),
    ),
    "select": lambda np, m: (np.select([m > 2, m > 0], [m, -m], 5), np.choose((m > 0).astype(int), [m, 2.0])),
    "piecewise": lambda np, m: np.piecewise(m, [m < 0, m > 2], [lambda x: -x, 3, lambda x: x * x]),
    "clip": lambda np, m: (np.clip(m, 0, 2), np.clip(m, None, m[0]), np.clip(m, a_min=1, a_max=None)),
    "round": lambda np, m: (np.round(m * 1.234, 1), np.around(m), np.fix(m), np.round(m * 100, -1), np.rint(m)),
    "take": lambda np, m: (np.take(m, [0, 5]), np.take(m, np.array([[1, 0]]), axis=1), np.take(m, 2, axis=0)),
    "along": lambda np, m: (
        np.take_along_axis(m, np.argsort(m, 1), 1),
        np.take_along_axis(m, np.argmax(m, 0)[None], 0),
    ),
    "put": lambda np, m: _put(np, m),
    "close": lambda np, m: (np.isclose(m, m + 1e-9), np.allclose(m, m), np.array_equal(m, m), np.array_equiv(m, m[0])),
    "complex": lambda np, m: (
        np.real(m + 2j),
        np.imag(m + 2j),
        np.angle(m + 1j),
        np.angle(m, deg=True),
        np.isreal(m + 0j),
    ),
    "nan_to_num": lambda np, m: np.nan_to_num(np.array([np.nan, np.inf, -np.inf, 1.0]) * abs(m[0, 0])),
    "sinc": lambda np, m: (np.sinc(m), np.unwrap(m[0] * 3), np.isposinf(m), np.signbit(m)),
    "isin": lambda np, m: (np.isin(m, [2.0, 4.0]), np.isin(m, m[0])),
}


def _put(np, m):
    np.put(m, [0, 5], [10, 20])
    np.put_along_axis(m, np.argmin(m, 1)[:, None], 99, axis=1)
    np.putmask(m, m > 50, -m)
    np.copyto(m[1], 3.0)
    np.fill_diagonal(m, 8)
    np.place(m, m == 8, 6)
    return m


SORTING = {
    "sort": lambda np, m: (np.sort(m), np.sort(m, axis=0), np.sort(m, axis=None), np.argsort(m, kind="stable")),
    "sort others": lambda np, m: (np.sort(m > 0), np.sort(m.astype(np.int16)), np.lexsort((m[0], np.round(m[1])))),
    "searchsorted": lambda np, m: (np.searchsorted(np.sort(m[0]), m), np.searchsorted(np.sort(m[0]), m, "right")),
    "digitize": lambda np, m: (
        np.digitize(m, [-1.0, 0.5, 2.0]),
        np.digitize(m, np.array([3.0, 1.0, -2.0]), right=True),
    ),
    "bincount": lambda np, m: np.bincount(abs(m[0]).astype(int), minlength=5),
    "bincount weights": lambda np, m: np.bincount(abs(m[0]).astype(int), weights=m[1], minlength=4),
    "histogram": lambda np, m: (
        *np.histogram(m, 5),
        *np.histogram(m, [-3.0, 0.0, 2.0, 4.0]),
        np.histogram(m, 4, (0, 4))[0],
    ),
    "histogram density": lambda np, m: np.histogram(m, 4, density=True)[0],
}
PRODUCTS = {
    "dot": lambda np, m: (np.dot(m, m.T), np.dot(m, m[0]), np.dot(m[0], m[1]), np.dot(2.0, m), np.dot(m > 0, m[0] > 0)),
    "matmul": lambda np, m: (m @ m.T, np.matmul(m[None], m.T), m[0] @ m.T, np.matmul(np.stack([m, m]), m[0])),
    "types": lambda np, m: (m.astype(np.float32) @ m.T, m.astype(np.int32) @ m.T.astype(np.int64), m @ (m.T + 1j)),
    "others": lambda np, m: (np.inner(m, m), np.outer(m[0], m[1]), np.vdot(m + 1j, m), np.vecdot(m, m[0]), np.trace(m)),
    "tensordot": lambda np, m: (np.tensordot(m, m, ([1], [1])), np.tensordot(m, m.T, 1), np.tensordot(m, m, 2)),
    "kron": lambda np, m: (np.kron(m, np.eye(2)), np.kron(m[0], m[1]), np.cross(m[:, :3], m[:, 1:])),
    "einsum": lambda np, m: (
        np.einsum("ij,kj->ik", m, m), np.einsum("ij->j", m), np.einsum("ii", m[:, :3]), np.einsum("ij,ij->i", m, m),
        np.einsum("i,j", m[0], m[1]), np.einsum("...j,j->...", m, m[0]), np.einsum("ij,jk,kl->il", m, m.T, m),
        np.einsum("ij->ji", m), np.einsum("i,i", m[0], m[1]), np.einsum("ii->i", m[:, :3]),
    ),
    "diagonal": lambda np, m: (np.diagonal(m, 1), np.diagonal(np.stack([m, m]), axis1=1, axis2=2)),
}  # fmt: skip
SIGNALS = {
    "convolve": lambda np, m: [np.convolve(m[0], m[1, :3], mode) for mode in ("full", "same", "valid")],
    "convolve even": lambda np, m: [np.convolve(m[0], m[1, :2], mode) for mode in ("full", "same", "valid")],
    "correlate": lambda np, m: [np.correlate(m[0], m[1, :3], mode) for mode in ("full", "same", "valid")],
    "interp": lambda np, m: (
        np.interp(m, [0.0, 1.0, 3.0], [5.0, 6.0, -2.0]), np.interp(m, [0.0, 2.0], [1.0, 3.0], -1, 9),
    ),
    "polynomials": lambda np, m: (
        np.polyval(m[0], m), np.polyadd(m[0], m[1, :2]), np.polymul(m[0], m[2]), np.polyder(m[0]), np.polyint(m[0]),
        np.poly(m[0]),
    ),
    "long polynomials": lambda np, m: [
        np.polyval(np.arange(n) % 3 - 1, part) for n in (1, 32, 33, 40, 77) for part in (m / 4, m[0, 0] * 0 - 1)
    ],
    "windows": lambda np, m: (np.hanning(5), np.hamming(6), np.blackman(7), np.bartlett(5), np.kaiser(5, 2.0)),
}  # fmt: skip
INSPECTION = {
    "shapes": lambda np, m: (np.shape(m)[0] + 0, np.ndim(m) + 0, np.size(m) + 0, np.size(m, 1) + 0),
    "types": lambda np, m: (
        np.zeros(1, np.result_type(m, np.float32)), np.zeros(1, np.result_type(m.astype(np.int8), 3)),
        np.zeros(1, np.promote_types(np.int8, np.uint8)), np.array(np.finfo(np.float32).bits),
        np.array(np.iinfo(int).max),
    ),
}  # fmt: skip
FFT = {
    "fft": lambda np, m: (np.fft.fft(m), np.fft.ifft(m), np.fft.fft(m, 6), np.fft.fft(m, axis=0), np.fft.fft(m, 3)),
    "rfft": lambda np, m: (
        np.fft.rfft(m),
        np.fft.irfft(np.fft.rfft(m)),
        np.fft.irfft(m, 5),
        np.fft.rfft(m, norm="ortho"),
    ),
    "two": lambda np, m: (np.fft.fft2(m), np.fft.ifft2(m), np.fft.fftn(m), np.fft.rfft2(m), np.fft.irfft2(m)),
    "frequencies": lambda np, m: (
        np.fft.fftfreq(5),
        np.fft.rfftfreq(6, 0.5),
        np.fft.fftshift(m),
        np.fft.ifftshift(m[0]),
    ),
    "norms": lambda np, m: (
        np.fft.fft(m, norm="forward"),
        np.fft.ifft(m, norm="ortho"),
        np.fft.hfft(m[0]),
        np.fft.ihfft(m),
    ),
}

TABLES = (CREATION, REDUCTIONS, SHAPES, CHOOSING, SORTING, PRODUCTS, SIGNALS, INSPECTION, FFT)
ALL = {name: row for table in TABLES for name, row in table.items()}


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("row", ALL.values(), ids=ALL)
def test_functions(row):
    check(row, M, rtol=1e-10)


@pytest.mark.parametrize("name", ["rand", "normal", "default_rng"])
def test_random_numbers_are_refused(name):
    from nxkernel.numpy import twin

    with pytest.raises(NxTypeError, match="would draw its numbers once"):
        twin(getattr(np.random, name))(3)


@pytest.mark.usefixtures("ahead_of_calls")
def test_refusals_tell_the_masked_form():
    with pytest.raises(NxTypeError, match=r"np.where\(k < count, x, 0\)"):
        traced(lambda np, v, n: np.arange(n), V, np.array(3))
    with pytest.raises(NxTypeError, match="minlength"):
        traced(lambda np, v: np.bincount(v.astype(int)), V)


def test_ranges_of_traced_bounds_are_parts_where_the_greatest_is_known():
    def f(np, v, n):
        np.assume(n.__nx_operand__(), 0, 6)
        return (np.arange(n) * v[:n]).sum()

    assert traced(f, V, np.array(4)) == [(np.arange(4) * V[:4]).sum()]


def test_results_of_known_numbers_are_known():
    def f(np, v):
        n = np.prod([2, 3]) * np.maximum(1, 2)
        return np.zeros(n), np.zeros(np.ceil(np.sqrt(10.0) / 2).astype(int)), v[: np.int64(3)] + (1 if n > 3 else 2)

    check(f, V)


def test_the_graph_of_a_polynomial_does_not_grow_with_it():
    f = nx.debug_expr(nx.defn(lambda p, x: np.polyval(p, x)))
    sizes = {len(str(f(np.ones(16 * n), np.ones(3))).splitlines()) for n in (3, 4, 20)}
    assert len(sizes) == 1
