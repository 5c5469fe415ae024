"""Blocks and grids."""

import pytest

from emulated_gpu.loop_nests import Machine
from nxkernel.compilers.numba_cuda.language import launch_geometry

GPU = Machine(multiprocessors=132, simulated=False, threads=1024)


def test_elements():
    assert launch_geometry.flat(GPU, 1) == ((1,), (256,))
    assert launch_geometry.flat(GPU, 257) == ((2,), (256,))
    assert launch_geometry.flat(GPU, 1 << 40) == ((132 * 32,), (256,))


@pytest.mark.parametrize(
    ("count", "length", "expected"),
    [
        (1 << 20, 3, (1, 256)),
        (1 << 20, 100, (32, 8)),
        (1 << 16, 4096, (256, 1)),
        (1 << 16, 1 << 16, (512, 1)),
        (4096, 4096, (256, 1)),
        (10, 1000, (256, 1)),
        (10, 10000, (512, 1)),
        (1, 1, (1, 256)),
    ],
)
def test_rows(count, length, expected):
    assert launch_geometry.rows(GPU, count, length, 5) == expected


def test_long_passes_leave_registers():
    assert launch_geometry.rows(GPU, 1 << 16, 1 << 16, 100) == (256, 1)


@pytest.mark.parametrize(
    ("count", "length", "expected"),
    [(1 << 20, 1000, (256, 1)), (1000, 1000, (32, 16)), (1, 1000, (1, 256)), (8, 3, (32, 1)), (1000, 20, (32, 8))],
)
def test_columns(count, length, expected):
    assert launch_geometry.columns(GPU, count, length, 512) == expected


def test_the_simulator_has_few_threads():
    simulated = Machine()
    assert launch_geometry.flat(simulated, 1000) == ((4,), (4,))
    members, groups = launch_geometry.rows(simulated, 100, 1000, 5)
    assert members * groups <= 32
    wide, members = launch_geometry.columns(simulated, 100, 1000, 256)
    assert wide > 1 < members
    assert wide * members <= 8
