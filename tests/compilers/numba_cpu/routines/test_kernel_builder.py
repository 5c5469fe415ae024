"""The frame of kernels: steps, scalars, loops, conditions, masks and whole numbers."""

import numpy as np
import pytest

from native_code.handwritten_kernels import run
from nxkernel.compilers.numba_cpu.routines.kernel_builder import name_of


def test_names_tell_what_decides_the_code():
    assert name_of("scan", 1) == name_of("scan", 1) != name_of("scan", 2)
    assert name_of("scan").startswith("nxk_")
    assert len(name_of("scan")) == 44


def test_steps_scalars_and_numbers():
    def write(f, pointers, scalars):
        (target,), (size, limit) = pointers, scalars
        steps = f.loop(f.begin, f.end)
        quotient, remainder = f.split(steps.index, size)
        with f.when(f.b.icmp("ne", remainder, f.integer(0))):
            value = f.least(f.plus(f.times(quotient, 10), f.minus(remainder, 1)), limit)
            f.b.store(value, f.b.offset(target, "i64", steps.index))
        steps.end()

    found = np.full(12, -1)
    run(write, [found], [4, 21], steps=12)
    assert found.tolist() == [-1, 0, 1, 2, -1, 10, 11, 12, -1, 20, 21, 21]


@pytest.mark.parametrize("left", [-3, 0, 1, 7, 8, 100])
def test_masks_have_the_first_lanes(left):
    def write(f, pointers, scalars):
        mask = f.mask(scalars[0], 8)
        f.b.store(f.b.convert("zext", mask, "i8"), pointers[0])

    found = np.full(8, 9, np.uint8)
    run(write, [found], [left])
    assert found.tolist() == [int(k < left) for k in range(8)]
