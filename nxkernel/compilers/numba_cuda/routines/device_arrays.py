"""Device arrays as arrays of the libraries: CuPy's on a GPU, NumPy's in the simulator."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from nxkernel.backends.cuda.arrays import DeviceArray


def at_address(pointer: int, shape: Sequence[int], dtype: np.dtype, steps: Sequence[int] | None = None) -> np.ndarray:
    """A writable NumPy view of memory at a host address, where simulated devices have theirs.

    Parameters
    ----------
    pointer : int
    shape : sequence of int
    dtype : numpy.dtype
    steps : sequence of int, optional
        Elements from one to the next along each axis; C order without.

    Returns
    -------
    numpy.ndarray
    """
    shape, size = tuple(shape), np.dtype(dtype).itemsize
    if not math.prod(shape):
        return np.empty(shape, dtype)
    if steps is None:
        last = math.prod(shape) - 1
    else:
        last = sum((n - 1) * step for n, step in zip(shape, steps, strict=True))
    memory = (ctypes.c_char * ((last + 1) * size)).from_address(pointer)
    strides = None if steps is None else [step * size for step in steps]
    return np.ndarray(shape, dtype, memory, strides=strides)


def on_gpu(array: DeviceArray) -> Any:
    """A writable CuPy view of an array of a GPU; bf16 as u16 bits.

    Parameters
    ----------
    array : DeviceArray

    Returns
    -------
    cupy.ndarray
    """
    import cupy

    dtype = np.dtype(np.uint16) if is_bf16(array.dtype) else array.dtype
    memory = cupy.cuda.UnownedMemory(array.pointer, max(array.nbytes, 1), array.owner, array.device.index)
    return cupy.ndarray(array.shape, dtype, cupy.cuda.MemoryPointer(memory, 0))


def is_bf16(dtype: np.dtype) -> bool:
    """Whether a dtype is bf16, which CuPy does not know."""
    return dtype.name == "bfloat16"


def widened(array: Any, dtype: np.dtype) -> Any:
    """A CuPy array in the type of arithmetic: f32 for f16 and bf16.

    Parameters
    ----------
    array : cupy.ndarray
        Of bf16 the bits.
    dtype : numpy.dtype
        Of its elements.

    Returns
    -------
    cupy.ndarray
    """
    if is_bf16(dtype):
        return (array.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return array.astype(np.float32) if dtype == np.float16 else array


def settle(target: Any, dtype: np.dtype, value: Any) -> None:
    """Write a CuPy array into a destination, rounded to its type.

    Parameters
    ----------
    target : cupy.ndarray
        Of bf16 the bits.
    dtype : numpy.dtype
        Of its elements.
    value : cupy.ndarray
        In any type that becomes it.
    """
    if not is_bf16(dtype):
        target[...] = value
        return
    import cupy

    bits = value.astype(np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    # A carry out of the digits of a NaN would make it an infinity or zero.
    nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    target[...] = cupy.where(nan, (bits >> np.uint32(16)) | np.uint32(0x40), rounded).astype(np.uint16)
