"""Kernels written by hand in tests: made with a frame, compiled, and run on arrays."""

import ctypes

import numpy as np

from nxkernel.compilers.numba_cpu.routines.kernel_builder import KernelBuilder, name_of
from nxkernel.compilers.numba_cpu.runtime import code_store


def run(write, arrays, scalars=(), steps=1):
    """Run a kernel on arrays.

    `write(frame, pointers, scalars)` writes its body. It runs the steps from 0 in two calls, if there are several.
    """
    frame = KernelBuilder("kernel")
    write(frame, *frame.table(len(arrays), len(scalars)))
    text = frame.finish()
    symbol = name_of("test", text)
    code, _ = code_store.native(symbol, lambda: text.replace("@kernel", "@" + symbol))
    kernel = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(code.address)
    table = np.array([array.ctypes.data for array in arrays] + list(scalars), dtype=np.int64)
    for begin, end in [(0, steps // 2), (steps // 2, steps)]:
        first, count, step = (np.array([n], dtype=np.int64) for n in (begin, end - begin, 1))
        kernel(first.ctypes.data, count.ctypes.data, step.ctypes.data, table.ctypes.data)
