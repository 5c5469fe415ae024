"""Squares of elements in registers: rows become columns, for every type and size that kernels use."""

import numpy as np
import pytest

from native_code.handwritten_kernels import run
from nxkernel.compilers.numba_cpu.routines.vector_transpose import turned


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(
    ("element", "dtype"),
    [("i8", np.uint8), ("i16", np.int16), ("i32", np.int32), ("float", np.float32), ("i64", np.int64)],
)
def test_rows_become_columns(element, dtype, size):
    def write(f, pointers, scalars):
        source, target = pointers
        steps = f.loop(f.begin, f.end)

        def address(base, k):
            return f.b.offset(base, element, f.plus(f.times(steps.index, size * size), k * size))

        rows = [f.b.load(element, address(source, k), lanes=size) for k in range(size)]
        for k, column in enumerate(turned(f.b, rows)):
            f.b.store(column, address(target, k))
        steps.end()

    x = np.random.default_rng(0).integers(0, 100, (3, size, size)).astype(dtype)
    found = np.zeros_like(x)
    run(write, [x, found], steps=3)
    np.testing.assert_array_equal(found, x.transpose(0, 2, 1))
