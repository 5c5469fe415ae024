"""Linear algebra on batches of matrices, by cuSOLVER and cuBLAS.

As in :mod:`nxkernel.backends.library_routines` nothing raises: where there is no result, the elements are NaN. What a
routine reports stays on the device, and nobody waits for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends.library_routines import order_of_rows
from nxkernel.compilers.numba_cuda.routines.routine_table import by_library

#: How both libraries begin the names of routines for a type.
_LETTERS = {"f": "s", "d": "d", "F": "c", "D": "z"}
#: Rows up to which the matrices of a batch are factored all at once; larger ones keep the device busy by themselves.
_SMALL = 256
#: Rows up to which there is a routine for the eigenvectors of a whole batch.
_SMALL_EIGH = 32


@by_library(p.cholesky, "cuSOLVER")
def _cholesky(a: Any) -> Any:
    import cupy
    from cupy_backends.cuda.libs import cublas, cusolver

    x, letter, size = a.copy(), _LETTERS[a.dtype.char], a.shape[-1]
    flat = x.reshape(-1, size, size)
    handle, info = cupy.cuda.device.get_cusolver_handle(), cupy.empty(len(flat), np.int32)
    # Rows in memory are columns to the library, and the lower factor is the upper one.
    upper = cublas.CUBLAS_FILL_MODE_UPPER
    if len(flat) > 1 and size <= _SMALL:
        factor = getattr(cusolver, f"{letter}potrfBatched")
        addresses = _addresses(flat)
        factor(handle, upper, size, addresses.data.ptr, size, info.data.ptr, len(flat))
    else:
        factor = getattr(cusolver, f"{letter}potrf")
        work_size = getattr(cusolver, f"{letter}potrf_bufferSize")(handle, upper, size, flat.data.ptr, size)
        work = cupy.empty(work_size, a.dtype)
        for one, info_address in _each(flat, info):
            factor(handle, upper, size, one, size, work.data.ptr, work_size, info_address)
    failed = (info != 0).reshape(a.shape[:-2]) | cupy.isnan(_diagonal(x)).any(axis=-1)
    return _nan_where(failed, cupy.tril(x))


@by_library(p.triangular_solve, "cuBLAS")
def _triangular_solve(a: Any, b: Any, *, lower: bool, transform: str) -> Any:
    import cupy
    from cupy_backends.cuda.libs import cublas

    x, letter = b.copy(), _LETTERS[b.dtype.char]
    rows, columns = b.shape[-2:]
    matrices, flat = a.reshape(-1, rows, rows), x.reshape(-1, rows, columns)
    # To the library rows are columns: transpose(x) op(transpose(a)) = transpose(b).
    how = (
        cupy.cuda.device.get_cublas_handle(),
        cublas.CUBLAS_SIDE_RIGHT,
        cublas.CUBLAS_FILL_MODE_UPPER if lower else cublas.CUBLAS_FILL_MODE_LOWER,
        {"none": cublas.CUBLAS_OP_N, "transpose": cublas.CUBLAS_OP_T, "conjugate": cublas.CUBLAS_OP_C}[transform],
        cublas.CUBLAS_DIAG_NON_UNIT,
        columns,
        rows,
        _ONE[letter].ctypes.data,
    )
    if len(flat) > 1 and rows <= _SMALL:
        left, right = _addresses(matrices), _addresses(flat)
        solve = getattr(cublas, f"{letter}trsmBatched")
        solve(*how, left.data.ptr, rows, right.data.ptr, columns, len(flat))
    else:
        solve = getattr(cublas, f"{letter}trsm")
        for one, other in _each(matrices, flat):
            solve(*how, one, rows, other, columns)
    return _nan_where((_diagonal(a) == 0).any(axis=-1), x)


#: The factor of what is solved for, where it stays.
_ONE = {letter: np.ones((), char) for char, letter in _LETTERS.items()}


def _factored(a: Any) -> tuple[Any, Any, Any]:
    """The LU decomposition of matrices in column-major order.

    Returns
    -------
    (cupy.ndarray, cupy.ndarray, cupy.ndarray)
        Both factors in one matrix, transposed, [count, n, n]; the rows, counted from 1, with which rows change places,
        [count, n]; and for each matrix 0 or the place of a pivot that is zero.
    """
    import cupy
    from cupy_backends.cuda.libs import cublas, cusolver

    size, letter = a.shape[-1], _LETTERS[a.dtype.char]
    packed = cupy.swapaxes(a, -1, -2).copy(order="C").reshape(-1, size, size)
    count = len(packed)
    pivots, info = cupy.empty((count, size), np.int32), cupy.empty(count, np.int32)
    if count > 1 and size <= _SMALL:
        factor, addresses = getattr(cublas, f"{letter}getrfBatched"), _addresses(packed)
        handle = cupy.cuda.device.get_cublas_handle()
        factor(handle, size, addresses.data.ptr, size, pivots.data.ptr, info.data.ptr, count)
    else:
        factor, handle = getattr(cusolver, f"{letter}getrf"), cupy.cuda.device.get_cusolver_handle()
        work_size = getattr(cusolver, f"{letter}getrf_bufferSize")(handle, size, size, packed.data.ptr, size)
        work = cupy.empty(work_size, a.dtype)
        for one, order, info_address in _each(packed, pivots, info):
            factor(handle, size, size, one, size, work.data.ptr, order, info_address)
    return packed, pivots, info


@by_library(p.solve, "cuSOLVER")
def _solve(a: Any, b: Any) -> Any:
    import cupy
    from cupy_backends.cuda.libs import cublas, cusolver

    packed, pivots, info = _factored(a)
    (rows, columns), letter, count = b.shape[-2:], _LETTERS[a.dtype.char], len(packed)
    x = cupy.swapaxes(b, -1, -2).copy(order="C")
    flat = x.reshape(count, columns, rows)
    if count > 1 and rows <= _SMALL:
        solve, handle = getattr(cublas, f"{letter}getrsBatched"), cupy.cuda.device.get_cublas_handle()
        left, right, reported = _addresses(packed), _addresses(flat), np.zeros(1, np.int32)
        solve(
            *(handle, cublas.CUBLAS_OP_N, rows, columns, left.data.ptr, rows, pivots.data.ptr),
            *(right.data.ptr, rows, reported.ctypes.data, count),
        )
    else:
        solve, handle = getattr(cusolver, f"{letter}getrs"), cupy.cuda.device.get_cusolver_handle()
        reported = cupy.empty(count, np.int32)
        for one, order, other, info_address in _each(packed, pivots, flat, reported):
            solve(handle, cublas.CUBLAS_OP_N, rows, columns, one, rows, order, other, rows, info_address)
    return _nan_where((info > 0).reshape(a.shape[:-2]), cupy.swapaxes(x, -1, -2))


@by_library(p.inverse, "cuSOLVER")
def _inverse(a: Any) -> Any:
    import cupy

    return _solve(a, cupy.broadcast_to(cupy.eye(a.shape[-1], dtype=a.dtype), a.shape))


@by_library(p.determinant, "cuSOLVER")
def _determinant(a: Any) -> Any:
    import cupy

    packed, pivots, info = _factored(a)
    diagonal = _diagonal(packed).astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    size = cupy.abs(diagonal)
    swaps = (pivots != cupy.arange(1, a.shape[-1] + 1, dtype=np.int32)).sum(axis=-1)
    # A product of what is large and what is small may leave the range before it is done; a sum of logarithms does not.
    sign = (1 - 2 * (swaps % 2)) * (diagonal / size).prod(axis=-1)
    determinant = sign * cupy.exp(cupy.log(size).sum(axis=-1))
    return cupy.where(info > 0, determinant.dtype.type(0), determinant).reshape(a.shape[:-2])


@by_library(p.lu, "cuSOLVER")
def _lu(a: Any) -> tuple[Any, Any]:
    import cupy

    packed, pivots, _ = _factored(a)
    order = order_of_rows(cupy.asnumpy(pivots).astype(np.int64) - 1)
    return cupy.swapaxes(packed, -1, -2).reshape(a.shape), cupy.asarray(order.reshape(a.shape[:-1]))


@by_library(p.qr, "cuSOLVER")
def _qr(a: Any, *, mode: str) -> tuple[Any, Any]:
    import cupy

    return cupy.linalg.qr(a, mode=mode)


@by_library(p.eigh, "cuSOLVER")
def _eigh(a: Any) -> tuple[Any, Any]:
    import cupy

    a, failed = _finite(a, cupy.tril(a))
    if a.ndim > 2 and a.shape[-1] > _SMALL_EIGH:
        each = [cupy.linalg.eigh(one) for one in a.reshape(-1, *a.shape[-2:])]
        values, vectors = (cupy.stack(parts) for parts in zip(*each, strict=True))
        values, vectors = values.reshape(a.shape[:-1]), vectors.reshape(a.shape)
    else:
        values, vectors = cupy.linalg.eigh(a)
    return _nan_where(failed, values, 1), _nan_where(failed, vectors)


@by_library(p.svd, "cuSOLVER")
def _svd(a: Any, *, full_matrices: bool) -> tuple[Any, Any, Any]:
    import cupy

    a, failed = _finite(a, a)
    left, values, right = cupy.linalg.svd(a, full_matrices=full_matrices)
    return _nan_where(failed, left), _nan_where(failed, values, 1), _nan_where(failed, right)


def _finite(a: Any, read: Any) -> tuple[Any, Any]:
    """The matrices with zeros in place of those whose read part is not finite, for which iterations may not end; and
    which those are.
    """
    import cupy

    failed = ~cupy.isfinite(read).all(axis=(-2, -1))
    return cupy.where(failed[..., None, None], a.dtype.type(0), a), failed


def _addresses(matrices: Any) -> Any:
    """The device array of the addresses of a batch's matrices."""
    import cupy

    step, first = matrices[0].nbytes, matrices.data.ptr
    return cupy.arange(first, first + step * len(matrices), step, dtype=np.uintp)


def _each(*arrays: Any) -> zip:
    """The addresses of the parts of arrays along their first axis."""
    return zip(*[range(x.data.ptr, x.data.ptr + x.nbytes, x[0].nbytes) for x in arrays], strict=True)


def _diagonal(matrices: Any) -> Any:
    import cupy

    return cupy.diagonal(matrices, axis1=-2, axis2=-1)


def _nan_where(failed: Any, results: Any, axes: int = 2) -> Any:
    """The results, with NaN for the matrices that failed."""
    import cupy

    return cupy.where(failed[(..., *[None] * axes)], results.dtype.type(np.nan), results)
