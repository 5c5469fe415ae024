"""Views and copies by memory order: what NumPy gives of arrays in C order, Fortran's or with gaps, or a refusal.

Each program sees the result of a function in another way, which is a view or a copy by the order of its elements, and
then assigns into the result; what was seen must be what NumPy's plain run gives, which knows nothing of a trace.
"""

import linecache
import time

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

BASE = np.random.default_rng(0).normal(size=(3, 4)).round(2)
LAYOUTS = {
    "C": np.copy,
    "Fortran": np.asfortranarray,
    "gaps": lambda array: np.repeat(array, 2, 1)[:, ::2],
    "reversed": lambda array: array[::-1].copy()[::-1],
}
USES = [
    "np.asfortranarray(v)", "np.ascontiguousarray(v)", "v.ravel()", "v.ravel('K')", "v.ravel('F')", "v.reshape(-1)",
    "v.reshape(-1, order='F')", "v.T.reshape(-1)", "np.ravel(v.copy('K'))", "np.asarray(v, order='F')",
    "v.astype(v.dtype, copy=False, order='F')", "v.astype(v.dtype, copy=False)",
]  # fmt: skip
FUNCTIONS = [
    "np.pad(a, 1)", "np.pad(a, 1, mode='edge')", "np.pad(a, ((1,0),(0,2)), mode='wrap')", "np.delete(a, 1, axis=0)",
    "np.delete(a, 1, axis=1)", "np.insert(a, 1, 5.0, axis=0)", "np.insert(a, 1, 5.0, axis=1)",
    "np.append(a, a, axis=0)", "np.append(a, a, axis=1)", "np.roll(a, 1, axis=0)", "np.roll(a, 1, axis=1)",
    "np.roll(a, 1)", "np.roll(a, (1, 2), axis=(0, 1))", "np.flip(a)", "np.flip(a, 0)", "np.fliplr(a)", "np.rot90(a)",
    "np.rot90(a, 2)", "np.sort(a, axis=0)", "np.sort(a, axis=1)", "np.partition(a, 1, axis=0)",
    "np.partition(a, 1, axis=1)", "np.argsort(a, axis=0)", "np.argsort(a, axis=1)", "np.cumsum(a, axis=0)",
    "np.cumsum(a, axis=1)", "np.cumprod(a, axis=0)", "np.diff(a, axis=0)", "np.diff(a, axis=1)",
    "np.diff(a, n=2, axis=1)", "np.gradient(a, axis=0)", "np.gradient(a, axis=1)", "np.clip(a, 0, 1)",
    "np.round(a, 1)", "np.around(a)", "np.where(a > 0, a, 0)", "np.where(a > 0, 1, 0)", "np.tril(a)", "np.triu(a)",
    "np.tile(a, (1, 1))", "np.tile(a, (2, 1))", "np.tile(a, 2)", "np.repeat(a, 2, axis=0)", "np.repeat(a, 2, axis=1)",
    "np.take(a, [0, 1], axis=0)", "np.take(a, [0, 1], axis=1)", "a[[0, 1]]", "a[:, [0, 1]]", "a[[0, 1]][:, [1, 0]]",
    "a[np.ix_([0, 1], [1, 2])]", "np.take_along_axis(a, np.argsort(a, axis=1), axis=1)", "np.nan_to_num(a)",
    "np.real(a)", "np.conj(a)", "np.conjugate(a)", "np.abs(a)", "-a", "a + 1",
    "a + a.T[:a.shape[0], :a.shape[1]] if a.shape[0] == a.shape[1] else a * 2", "a + a[0]", "a * a[:, :1]",
    "np.outer(a[0], a[1])", "a @ a.T", "a.T @ a", "np.dot(a, a.T)", "np.matmul(a, a.T)", "np.einsum('ij->ij', a)",
    "np.einsum('ij->ji', a)", "np.einsum('ij,jk->ik', a, a.T)", "np.einsum('ij,ij->ij', a, a)",
    "np.tensordot(a, a.T, axes=1)", "np.kron(a, a)", "np.concatenate([a, a])", "np.concatenate([a, a], axis=1)",
    "np.stack([a, a])", "np.stack([a, a], axis=-1)", "np.stack([a, a], axis=1)", "np.vstack([a, a])",
    "np.hstack([a, a])", "np.dstack([a, a])", "np.column_stack([a, a])", "np.block([[a, a]])", "np.array([a, a])",
    "np.array(a)", "np.array(a, order='C')", "np.array(a, order='F')", "np.array(a, order='A')",
    "np.array(a, order='K')", "np.asarray(a)", "np.asarray(a, order='F')", "np.asarray(a, order='C')",
    "np.ascontiguousarray(a)", "np.asfortranarray(a)", "np.copy(a)", "np.copy(a, order='C')", "np.copy(a, order='A')",
    "a.copy()", "a.copy('K')", "a.copy('F')", "a.astype(np.float32)", "a.astype(np.float64)",
    "a.astype(np.float64, copy=False)", "a.astype(np.float32, order='C')", "a.astype(np.float32, order='F')",
    "np.zeros_like(a)", "np.ones_like(a)", "np.negative(a, out=np.empty_like(a))", "np.full_like(a, 2.0)",
    "np.full_like(a, 2.0, order='C')", "np.zeros(a.shape)", "np.full(a.shape, 3.0, order='F')",
    "np.broadcast_to(a, (2,) + a.shape) + 0", "np.broadcast_arrays(a, 1.0)[0] + 0", "np.moveaxis(a, 0, 1)",
    "np.swapaxes(a, 0, 1)", "np.transpose(a)", "np.transpose(a).copy()", "np.atleast_2d(a)", "np.atleast_3d(a)",
    "np.expand_dims(a, 0)", "np.expand_dims(a, 2)", "a[None]", "a[:, None]", "a[..., None] + 0",
    "np.squeeze(a[None])", "np.reshape(a, (-1, 2))", "np.reshape(a, (2, -1), order='F')",
    "np.reshape(a, (2, -1), order='A')", "a.ravel()", "a.ravel('F')", "a.ravel('K')", "a.flatten()", "a.flatten('F')",
    "np.ravel(a, 'A')", "np.linalg.inv(a @ a.T + 10*np.eye(a.shape[0]))",
    "np.linalg.solve(a @ a.T + 10*np.eye(a.shape[0]), a)", "np.linalg.cholesky(a @ a.T + 10*np.eye(a.shape[0]))",
    "np.linalg.matrix_power(a @ a.T, 2)", "np.linalg.matrix_power(a @ a.T, 1)", "np.cov(a)", "np.corrcoef(a)",
    "np.fft.fft(a, axis=0).real", "np.fft.fft(a, axis=1).real", "np.sum(a[None] * np.ones((2,1,1)), axis=0)",
    "np.mean(a[None] * np.ones((2,1,1)), axis=0)", "np.max(a[..., None] * np.ones(2), axis=2)",
    "np.median(a[None] * np.ones((2,1,1)), axis=0)", "np.std(a[None] * np.ones((2,1,1)), axis=0)",
    "np.cumsum(a[None] * np.ones((2,1,1)), axis=0)[1]", "np.sum(a, axis=0, keepdims=True)",
    "np.sum(a, axis=1, keepdims=True) * np.ones(3)", "np.apply_along_axis(np.sort, 0, a)",
    "np.apply_along_axis(np.sort, 1, a)", "np.maximum(a, 0)", "np.minimum(a, a[::1])", "np.hypot(a, a)",
    "np.add.outer(a[0], a[1])", "np.multiply.outer(a[:, 0], a[0])", "np.maximum.accumulate(a, axis=0)",
    "np.add.accumulate(a, axis=1)", "np.add.reduce(a[None], axis=0)", "np.unwrap(a, axis=0)", "np.unwrap(a)",
    "np.meshgrid(a[0], a[1])[0] * 1", "np.isnan(a) * 1.0", "np.sign(a)", "np.interp(a, [-1., 0., 1.], [0., 1., 2.])",
    "np.digitize(a, [0., .5]) * 1.0", "np.searchsorted([0., .5], a) * 1.0", "np.eye(3) * a[:3, :3]",
    "np.split(a, [1], axis=0)[1]", "np.split(a, [1], axis=1)[1]", "np.array_split(a, 2, axis=1)[0]",
    "np.select([a > 0, a < 0], [a, -a], 0.0)", "np.piecewise(a, [a < 0, a >= 0], [-1.0, 1.0])",
    "np.choose((a > 0).astype(int), [a, a * 2])", "np.resize(a, (2, 3))", "np.nan_to_num(a, copy=False)",
    "np.positive(a)", "np.square(a)", "np.exp(a.T)", "(a.T + 1).T", "np.add(a.T, 1).copy()", "np.fmax(a, 0)",
    "np.modf(a)[0]", "np.divmod(a, 2.0)[1]", "np.percentile(a[None] * np.ones((2,1,1)), 50, axis=0)",
    "np.quantile(a[None] * np.ones((3,1,1)), [0.2, .5], axis=0)", "np.average(a[None] * np.ones((2,1,1)), axis=0)",
    "np.nancumsum(a, axis=0)", "np.nansum(a[None], axis=0)", "np.ptp(a[None] * np.ones((2,1,1)), axis=0)",
    "np.cross(a[:, :3], a[:, :3] + 1)", "np.linalg.qr(a)[0]", "np.linalg.qr(a)[1]",
    "np.linalg.svd(a, full_matrices=False)[2] * 1", "np.linalg.pinv(a)", "np.linalg.eigh(a @ a.T)[1]",
    "np.lib.stride_tricks.sliding_window_view(a, 2, axis=0) * 1", "np.triu(a, 1)", "np.rollaxis(a, 1)", "np.sinc(a)",
    "np.heaviside(a, .5)", "np.logaddexp(a, a)", "a * 1", "np.fix(a)", "np.trunc(a)", "np.deg2rad(a)", "np.angle(a)",
    "np.real_if_close(a)", "np.isclose(a, 0) * 1",
    "np.put_along_axis(a, np.argmax(a, axis=1)[:, None], 9.0, axis=1) or a * 1", "np.block([[a], [a + 1]])",
    "np.block([a, a])", "np.block(a)", "np.einsum('ij,jk->ki', a, a.T)", "np.einsum('ij,ij->ji', a, a, order='F')",
    "np.einsum('ij,k->ikj', a, a[0])", "np.tile(a, 1)", "a.astype('f4', order='A')",
    "a.astype('f8', copy=False, order='A')", "a.astype('f8', copy=False, order='C')",
    "np.eye(3, 4, order='F')", "np.identity(3)", "np.array([[1.0, 2.0], [3.0, 4.0]], order='F')",
    "np.ones((2, 3), order='F')", "np.zeros((2, 3), order='C')", "np.ones_like(a, order='F')",
    "np.negative(a, out=np.empty_like(a, order='A'))", "np.arange(6.0).reshape((2, 3), order='F')",
    "np.fromfunction(np.add, (2, 3))",
    "np.asarray([[1.0, 2.0], [3.0, 4.0]], order='F')", "np.indices((2, 3))[0] * 1.0", "np.linspace(a[0], a[1], 3)",
    "np.linspace(a[0], a[1], 3, axis=1)", "np.tri(3)", "np.add(a, 1, order='F') * 1", "np.add(a, 1, order='C')",
    "np.multiply(a, a[::-1], order='K')", "np.sqrt(np.abs(a), order='F')", "np.add(a, a.T[:1].T, order='A')",
    "np.arange(6.0).reshape(3, 2, order='F')", "np.reshape(a[0], (2, 2), order='F')",
    "np.reshape(a, (4, 3), order='F')", "np.reshape(a[0, 0], (1, 1), order='F')", "np.reshape(a.T, (6, 2), order='A')",
    "a.ravel('F').reshape((3, 4), order='F')",
    "a.reshape(2, 3, 2, order='F')", "a.flatten('F').reshape(4, 3)", "np.resize(a.T, (2, 6))",
]  # fmt: skip


def written(expression, use):
    source = f"def f(a):\n    v = {expression}\n    w = {use}\n    v[...] = v * 2 + 1\n    return w, v\n"
    file = f"<order {expression} {use}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"np": np}
    exec(compile(source, file, "exec"), space)
    return space["f"]


def outcome(function, layout, kind):
    """Results and argument of a call; None where there is an error of NumPy's, or a refusal."""
    a = LAYOUTS[layout](BASE if kind == "f8" else (BASE * 4).astype(kind))
    try:
        with np.errstate(all="ignore"):
            return [np.asarray(each) for each in (*function(a), a)]
    except (ValueError, NxTypeError):
        return None


@pytest.mark.sampled(every=48)
@pytest.mark.sampled(every=5, lane="fuzz")
@pytest.mark.parametrize("expression", FUNCTIONS)
def test_views_and_copies(expression):
    """Of floats or of integers, in turns from hour to hour."""
    compared, kind = 0, ("f8", "i8")[time.time_ns() // 3_600_000_000_000 % 2]
    for use in USES:
        plain = written(expression, use)
        definition = nx.defn(plain, promotion="numpy")
        for layout in LAYOUTS:
            expected, result = outcome(plain, layout, kind), outcome(definition, layout, kind)
            if expected is None or result is None:
                # Arrays in another order are refused where it matters; those in C order, which are usual, are not.
                assert expected is None or layout != "C"
                continue
            compared += 1
            for one, other in zip(expected, result, strict=True):
                np.testing.assert_allclose(other, one, rtol=1e-9, atol=1e-9, err_msg=f"{expression}, {use}, {layout}")
    assert compared >= len(USES) / 2
