"""Fourier transforms and linear algebra on batches of NumPy arrays, by SciPy and NumPy.

None of them raises: where there is no result (a matrix that is singular, not positive definite, or on which an
iteration does not converge), the elements are NaN.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from nxkernel import compile_thread
from nxkernel import primitives as p
from nxkernel.backends.numpy_primitives import Meaning, settled, widened
from nxkernel.primitives import Primitive, Spec


def _fft(out: Spec, /, x: np.ndarray, *, axes: tuple[int, ...], inverse: bool) -> np.ndarray:
    result = np.empty(out.shape, out.type.dtype)
    transform_into(result, x, axes=axes, inverse=inverse)
    return result


def transform_into(result: np.ndarray, x: np.ndarray, *, axes: tuple[int, ...], inverse: bool) -> None:
    """A Fourier transform that writes into existing memory; for large arrays this halves the time."""
    if len(axes) == 1 and not inverse and x.dtype == result.real.dtype:
        _transform_reals(result, x, axes[0])
        return
    if axes and x.size < _FEW and x.dtype == result.dtype:
        transform = np.fft.ifft if inverse else np.fft.fft
        for axis in axes:
            x = transform(x, axis=axis, out=result)
        return
    compile_thread.load("scipy.fft")
    import scipy.fft

    transform = functools.partial(scipy.fft.ifftn if inverse else scipy.fft.fftn, axes=axes, workers=_workers(x))
    if x.dtype == result.dtype:
        result[...] = x
        transformed = transform(result, overwrite_x=True)
    else:
        transformed = transform(widened(x))
    if not np.may_share_memory(transformed, result):
        result[...] = transformed


def _transform_reals(result: np.ndarray, x: np.ndarray, axis: int) -> None:
    """The transform of real numbers along an axis: one half, and its mirror image."""
    result, x = np.moveaxis(result, axis, -1), np.moveaxis(x, axis, -1)
    length = x.shape[-1]
    half = length // 2 + 1
    if x.size == length or _workers(x) == 1:
        np.fft.rfft(x, out=result[..., :half])
    else:
        compile_thread.load("scipy.fft")
        import scipy.fft

        result[..., :half] = scipy.fft.rfft(x, workers=_workers(x))
    np.conjugate(result[..., length - half : 0 : -1], out=result[..., half:])


#: Elements up to which a transform is not worth a second thread, nor what SciPy does before it begins, which is more
#: than NumPy's transform of 256.
_FEW = 1 << 14


def _workers(x: np.ndarray) -> int:
    """The number of threads for a transform."""
    import os

    return 1 if x.size < _FEW else len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else -1


def _batched(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A routine made to fill the `count` results of a matrix with NaN where it would raise for that matrix."""

    def run(*arrays: np.ndarray) -> Any:
        try:
            with np.errstate(all="ignore"):
                return function(*arrays)
        except np.linalg.LinAlgError:
            pass
        length = arrays[0].shape[0] if arrays[0].ndim > 2 else 0
        if length:
            # Halves, so that few that fail among many cost few more calls.
            places = [slice(None, length // 2), slice(length // 2, None)] if length > 1 else [0]
            parts = [run(*[array[index] for array in arrays]) for index in places]
            join = np.concatenate if length > 1 else np.stack
            return join(parts) if count == 1 else tuple(join(part) for part in zip(*parts, strict=True))
        with np.errstate(all="ignore"):
            shaped = function(*[_harmless(array) for array in arrays])
        outputs = (shaped,) if count == 1 else shaped
        empty = tuple(np.full_like(part, np.nan) for part in outputs)
        return empty[0] if count == 1 else empty

    return run


def _harmless(array: np.ndarray) -> np.ndarray:
    """An array of the same shape and type for which no routine fails."""
    return np.broadcast_to(np.eye(*array.shape[-2:], dtype=array.dtype), array.shape)


#: Rows from which SciPy's LAPACK, called once for each matrix, takes less time than NumPy's, called once for all.
_LARGE = 48


def _driver(name: str, *arrays: np.ndarray) -> Callable[..., Any]:
    """The SciPy wrapper of a LAPACK routine for the arrays' type."""
    compile_thread.load("scipy.linalg.lapack")
    import scipy.linalg.lapack

    (routine,) = scipy.linalg.lapack.get_lapack_funcs((name,), arrays)
    return routine


def _cholesky(out: Spec, /, a: np.ndarray) -> np.ndarray:
    a = widened(a)
    if a.shape[-1] < _LARGE:
        return settled(out, _batched(np.linalg.cholesky, 1)(a))
    result, potrf = np.empty(a.shape, a.dtype), _driver("potrf", a)
    for index in np.ndindex(a.shape[:-2]):
        # Transposed views are in the order that LAPACK wants: transpose(a) = adjoint(u) u, with u = transpose(l).
        factor, info = potrf(a[index].T, lower=0, clean=1)
        result[index] = np.nan if info else factor.T
    return settled(out, result)


def _solve(out: Spec, /, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = widened(a), widened(b)
    if a.shape[-1] < _LARGE:
        return settled(out, _batched(np.linalg.solve, 1)(a, b))
    result, gesv = np.empty(b.shape, b.dtype), _driver("gesv", a, b)
    for index in np.ndindex(a.shape[:-2]):
        *_, solution, info = gesv(a[index], b[index])
        result[index] = np.nan if info else solution
    return settled(out, result)


def _inverse(out: Spec, /, a: np.ndarray) -> np.ndarray:
    return _solve(out, a, np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape))


def _determinant(out: Spec, /, a: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return settled(out, np.asarray(np.linalg.det(widened(a))))


def _triangular_solve(out: Spec, /, a: np.ndarray, b: np.ndarray, *, lower: bool, transform: str) -> np.ndarray:
    a, b = widened(a), widened(b)
    if a.shape[-1] <= 32 and a.size >= 16 * a.shape[-1] ** 2:
        return settled(out, _substituted(a, b, lower, transform))
    compile_thread.load("scipy.linalg.blas")
    import scipy.linalg.blas

    # LAPACK's trtrs starts threads for the smallest of matrices (OpenBLAS 0.3), BLAS's trsm does not. Transposed views
    # are in the order that BLAS wants: transpose(x) op(transpose(a)) = transpose(b).
    (trsm,) = scipy.linalg.blas.get_blas_funcs(("trsm",), (a, b))
    result = np.empty(b.shape, b.dtype)
    how = {"none": 0, "transpose": 1, "conjugate": 2}[transform]
    for index in np.ndindex(a.shape[:-2]):
        if a[index].diagonal().all():
            result[index] = trsm(1, a[index].T, b[index].T, side=1, lower=not lower, trans_a=how).T
        else:
            result[index] = np.nan
    return settled(out, result)


def _substituted(a: np.ndarray, b: np.ndarray, lower: bool, transform: str) -> np.ndarray:
    """The solution of many small triangular systems, all at once step by step."""
    if transform != "none":
        a, lower = np.swapaxes(a, -1, -2), not lower
    if transform == "conjugate":
        a = np.conj(a)
    x, a = _batch_last(b), _batch_last(a)
    size = a.shape[0]
    with np.errstate(all="ignore"):
        for row in range(size) if lower else reversed(range(size)):
            known = slice(0, row) if lower else slice(row + 1, size)
            x[row] -= np.einsum("jb,jmb->mb", a[row, known], x[known])
            x[row] /= a[row, row]
    x[..., (np.einsum("iib->ib", a) == 0).any(axis=0)] = np.nan
    return _batch_first(x, b.shape)


def _batch_last(matrices: np.ndarray) -> np.ndarray:
    """A copy with the batch as last axis, so that the same element of all matrices is contiguous: [rows, columns,
    batch].
    """
    flat = matrices.reshape(math.prod(matrices.shape[:-2]), *matrices.shape[-2:])
    return np.array(flat.transpose(1, 2, 0), order="C")


def _batch_first(matrices: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.ascontiguousarray(matrices.transpose(2, 0, 1)).reshape(shape)


def _lu(out: tuple[Spec, Spec], /, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = widened(a)
    if wide.shape[-1] <= 8 and wide.size >= 64 * wide.shape[-1] ** 2:
        packed, order = _eliminated(wide)
        return settled(out[0], packed), order
    compile_thread.load("scipy.linalg.lapack")
    import scipy.linalg.lapack

    (getrf,) = scipy.linalg.lapack.get_lapack_funcs(("getrf",), (wide,))
    packed, pivots = np.empty(wide.shape, wide.dtype), np.empty(out[1].shape, np.int64)
    for index in np.ndindex(wide.shape[:-2]):
        packed[index], pivots[index], _ = getrf(wide[index])
    return settled(out[0], packed), order_of_rows(pivots)


def order_of_rows(pivots: np.ndarray) -> np.ndarray:
    """The permutation of rows that results from exchanging each with its pivot, for all matrices."""
    size = pivots.shape[-1]
    flat = pivots.reshape(math.prod(pivots.shape[:-1]), size)
    order, each = np.tile(np.arange(size), (len(flat), 1)), np.arange(len(flat))
    for row, pivot in enumerate(flat.T):
        chosen = order[each, pivot]
        order[each, pivot] = order[:, row]
        order[:, row] = chosen
    return order.reshape(pivots.shape)


def _eliminated(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """LU factors of many small matrices, all at once step by step, with LAPACK's choice of pivots."""
    packed = _batch_last(a)
    size, _, count = packed.shape
    order = np.repeat(np.arange(size)[:, None, None], count, axis=2)
    with np.errstate(all="ignore"):
        for step in range(size):
            column = packed[step:, step]
            magnitude = np.abs(column.real) + np.abs(column.imag) if np.iscomplexobj(column) else np.abs(column)
            pivot = (magnitude.argmax(axis=0) + step)[None, None]
            for rows in (packed, order):
                chosen = np.take_along_axis(rows, pivot, axis=0)[0]
                np.put_along_axis(rows, pivot, rows[step][None].copy(), axis=0)
                rows[step] = chosen
            divisor = packed[step, step]
            packed[step + 1 :, step] /= np.where(divisor == 0, 1, divisor)
            packed[step + 1 :, step + 1 :] -= packed[step + 1 :, step, None] * packed[step, step + 1 :]
    return _batch_first(packed, a.shape), _batch_first(order, (*a.shape[:-1], 1))[..., 0]


def _qr(out: tuple[Spec, Spec], /, a: np.ndarray, *, mode: str) -> tuple[np.ndarray, ...]:
    return _settled_all(out, np.linalg.qr(widened(a), mode=mode))


def _eigh(out: tuple[Spec, Spec], /, a: np.ndarray) -> tuple[np.ndarray, ...]:
    return _settled_all(out, _batched(np.linalg.eigh, 2)(widened(a)))


def _svd(out: tuple[Spec, ...], /, a: np.ndarray, *, full_matrices: bool) -> tuple[np.ndarray, ...]:
    if min(a.shape[-2:]) >= _LARGE:
        return _svd_of_each(out, widened(a), full_matrices)
    decompose = _batched(lambda x: np.linalg.svd(x, full_matrices=full_matrices), 3)
    return _settled_all(out, decompose(widened(a)))


def _svd_of_each(out: tuple[Spec, ...], a: np.ndarray, full_matrices: bool) -> tuple[np.ndarray, ...]:
    """SVD by LAPACK's gesdd of the transposed matrices, which are in LAPACK's memory order already."""
    rows, columns = a.shape[-2:]
    gesdd = _driver("gesdd", a)
    work = int(_driver("gesdd_lwork", a)(columns, rows, full_matrices=full_matrices)[0].real)
    left, values, right = (np.empty(spec.shape, widened(np.empty(0, spec.type.dtype)).dtype) for spec in out)
    for index in np.ndindex(a.shape[:-2]):
        v, s, ut, info = gesdd(a[index].T, full_matrices=full_matrices, lwork=work)
        if info:
            left[index] = values[index] = right[index] = np.nan
        else:
            left[index], values[index], right[index] = ut.T, s, v.T
    return _settled_all(out, (left, values, right))


def _settled_all(out: tuple[Spec, ...], results: Any) -> tuple[np.ndarray, ...]:
    return tuple(settled(spec, result) for spec, result in zip(out, results, strict=True))


MEANING: dict[Primitive, Meaning] = {
    p.fft: _fft,
    p.cholesky: _cholesky,
    p.triangular_solve: _triangular_solve,
    p.solve: _solve,
    p.inverse: _inverse,
    p.determinant: _determinant,
    p.lu: _lu,
    p.qr: _qr,
    p.eigh: _eigh,
    p.svd: _svd,
    p.elem: lambda out, /, parts, *, index: parts[index],
}
