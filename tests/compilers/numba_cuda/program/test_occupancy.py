"""How launches fill a device, in words."""

import math
import re
from types import SimpleNamespace

import nxkernel as nx
from emulated_gpu.programs import compiled
from nxkernel.backends.cuda.device_interface import Resources
from nxkernel.compilers.numba_cuda.program.occupancy import launches_told, told


def launched(grid, block, shared=0):
    launch = SimpleNamespace(grid=grid, block=block, shared=shared)
    return SimpleNamespace(launch=launch, prepared=SimpleNamespace(kernel="a kernel"))


class Gpu:
    """A device that says what it is asked for."""

    simulated = False

    def __init__(self, resources, occupancy):
        self._resources, self._occupancy = resources, occupancy

    def resources(self, kernel):
        return self._resources

    def occupancy(self, kernel, block, shared):
        assert (kernel, shared) == ("a kernel", 4096)
        return self._occupancy


def test_a_launch_on_a_gpu():
    gpu = Gpu(Resources(registers=32, shared=128, spilled=0, threads=1024), 0.75)
    assert told(launched((1056, 2), (32, 8), 4096), gpu) == (
        "2,112 blocks of 256 threads, 32 registers, 4.2 kB shared, occupancy 75 %"
    )


def test_registers_that_ran_out_are_told():
    gpu = Gpu(Resources(registers=255, shared=0, spilled=64, threads=256), 0.125)
    assert told(launched((1,), (1,), 4096), gpu) == (
        "1 block of 1 thread, 255 registers, 4.1 kB shared, 64 B a thread in memory, as registers ran out, "
        "occupancy 12 %"
    )


def test_a_simulated_launch(device):
    executable = compiled(lambda x: nx.exp(x), nx.template((40,), "f32"))
    launch = executable.program.launched[0].launch
    (line,) = launches_told(executable).values()
    assert re.fullmatch(r"(\d+) blocks? of (\d+) threads?, simulated", line).groups() == (
        str(math.prod(launch.grid)),
        str(math.prod(launch.block)),
    )
