"""Matrix products by cuBLAS, in the operands' own memory layout; by NumPy on a simulated device."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from nxkernel import types
from nxkernel.backends.cuda.device_interface import Device
from nxkernel.compilers.analysis.matrix_products import Matrix, Product
from nxkernel.compilers.numba_cuda.routines.device_arrays import at_address
from nxkernel.compilers.numba_cuda.routines.library_calls import compute_on
from nxkernel.types import Type

#: The types of which cuBLAS multiplies matrices; halves are added up in f32 and rounded once.
TYPES: frozenset[Type] = frozenset([types.f16, types.bf16, types.f32, types.f64, types.c64, types.c128])

#: Numbers by which the driver knows types, cuBLAS what it computes in, and what it may do to be faster.
_NUMBER = {types.f32: 0, types.f64: 1, types.f16: 2, types.c64: 4, types.c128: 5, types.bf16: 14}
_COMPUTE_32F, _COMPUTE_32F_FAST_TF32, _COMPUTE_64F = 68, 77, 70
_DEFAULT_MATH, _WIDE_REDUCTIONS = 0, 16
_DEFAULT_ALGORITHM = -1
#: The most products of a batch that one call makes: they are an axis of a grid.
_MOST = 65_535


class _Options:
    """The precision of products; set by :func:`allow_tf32`."""

    tf32 = False


def allow_tf32(allowed: bool) -> bool:
    """Set whether f32 products may round operands to TF32 (10 bits of mantissa), which is several times as fast.

    Parameters
    ----------
    allowed : bool

    Returns
    -------
    bool
        What held before.

    Examples
    --------
    >>> before = allow_tf32(True)
    >>> allow_tf32(before)
    True
    """
    before, _Options.tf32 = _Options.tf32, bool(allowed)
    return before


@dataclass(frozen=True, eq=False)
class ProductCall:
    """A batch of matrix products, run on memory given in each run.

    Parameters
    ----------
    product : Product
    """

    product: Product

    #: What a record of it is called.
    symbol = "cublasGemmStridedBatchedEx"

    @property
    def title(self) -> str:
        """What the call does, for people."""
        product = self.product
        batch = f"{product.batch} x " if product.batch > 1 else ""
        sides = f"[{product.rows}, {product.depth}] x [{product.depth}, {product.columns}]"
        return f"matrix product {batch}{sides} of {product.type} by cuBLAS"

    def run(self, device: Device, left: int, right: int, result: int) -> None:
        """Queue the product.

        Parameters
        ----------
        device : Device
        left, right : int
            Addresses of the memory that the two sides are read from, those of their bases.
        result : int
            The address of the product, in C order.
        """
        if device.simulated:
            device.do(lambda: self._simulated(left, right, result))
            return

        def work() -> None:
            from cupy.cuda.device import get_cublas_handle
            from cupy_backends.cuda.libs import cublas

            handle = get_cublas_handle()
            with _exactness(cublas, handle, self.product.type):
                for call in self._calls(left, right, result):
                    cublas.gemmStridedBatchedEx(handle, *call)

        compute_on(device, "cuBLAS", work)

    def _calls(self, left: int, right: int, result: int) -> Iterator[tuple[int, ...]]:
        """The arguments of each cuBLAS call.

        Matrices lie in rows; cuBLAS keeps them in columns, so the transposed product is asked for: C' = B' A'.
        """
        product = self.product
        a, b, size = product.left, product.right, product.type.size
        kind, far = _NUMBER[product.type], product.rows * product.columns
        one, zero = _numbers(product.type)
        for first in range(0, product.batch, _MOST):
            yield (
                int(not b.turned),
                int(a.turned),
                product.columns,
                product.rows,
                product.depth,
                one,
                right + first * b.batch_step * size,
                kind,
                b.step,
                b.batch_step,
                left + first * a.batch_step * size,
                kind,
                a.step,
                a.batch_step,
                zero,
                result + first * far * size,
                kind,
                product.columns,
                far,
                min(product.batch - first, _MOST),
                _computed_in(product.type),
                _DEFAULT_ALGORITHM,
            )

    def _simulated(self, left: int, right: int, result: int) -> None:
        product = self.product
        dtype, wide = product.type.dtype, types.compute_type(product.type).dtype
        a = _side(product.left, left, product.batch, product.rows, product.depth, dtype)
        b = _side(product.right, right, product.batch, product.columns, product.depth, dtype)
        target = at_address(result, (product.batch, product.rows, product.columns), dtype)
        with np.errstate(all="ignore"):
            target[...] = np.matmul(a.astype(wide), b.astype(wide).swapaxes(1, 2))


def _side(matrix: Matrix, pointer: int, batch: int, rows: int, depth: int, dtype: np.dtype) -> np.ndarray:
    """An operand of a simulated product as an array: [batch, rows, depth]."""
    steps = (1, matrix.step) if matrix.turned else (matrix.step, 1)
    return at_address(pointer, (batch, rows, depth), dtype, (matrix.batch_step, *steps))


def _computed_in(type_: Type) -> int:
    if type_ in (types.f64, types.c128):
        return _COMPUTE_64F
    if _Options.tf32 and type_ in (types.f32, types.c64):
        return _COMPUTE_32F_FAST_TF32
    return _COMPUTE_32F


@functools.cache
def _scalars(type_: Type) -> np.ndarray:
    """One and zero in the type of arithmetic, kept alive."""
    return np.array([1, 0], types.compute_type(type_).dtype)


def _numbers(type_: Type) -> tuple[int, int]:
    """The addresses of one and zero."""
    held = _scalars(type_)
    return held.ctypes.data, held.ctypes.data + held.itemsize


@contextmanager
def _exactness(cublas: Any, handle: int, type_: Type) -> Iterator[None]:
    """A context in which a cuBLAS handle computes f32 in full precision and accumulates halves in f32."""
    wanted = _WIDE_REDUCTIONS if type_.bits == 16 else _DEFAULT_MATH
    before = cublas.getMathMode(handle)
    if before == wanted:
        yield
        return
    cublas.setMathMode(handle, wanted)
    try:
        yield
    finally:
        cublas.setMathMode(handle, before)
