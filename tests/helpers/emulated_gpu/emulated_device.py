"""A GPU as programs see it, on the host: CuPy is a fake, kernels run in the simulator, in as many threads as on a GPU.

Simulated devices have small blocks, so that only this runs kernels as they are launched on a GPU.
"""

import collections
import ctypes
import types
import weakref

import numpy as np

from emulated_gpu import fake_cupy
from nxkernel.backends.cuda import devices, gpu_device
from nxkernel.backends.cuda.launching import DeviceKernel, pointers
from nxkernel.backends.cuda.simulated_device import SimulatedDevice
from nxkernel.backends.cuda.simulator import SimulatedKernel
from nxkernel.compilers.numba_cuda.language import intrinsics
from nxkernel.compilers.numba_cuda.program import executable
from nxkernel.compilers.numba_cuda.toolchain import object_code


class Host(SimulatedDevice):
    """Memory, and what runs kernels."""

    shared_limit = 227 << 10


class Owner:
    """Keeps a part of the pool."""


class Pool(fake_cupy.Pool):
    """A memory pool whose memory the simulator knows; what is free is used again, as in CuPy's."""

    def __init__(self, total, host):
        super().__init__(total)
        self.host, self.all, self.unused = host, [], collections.defaultdict(list)

    def malloc(self, size):
        if not self.unused[size]:
            pointer, memory = self.host._reserve(size)
            self.all.append(memory)
            self.unused[size].append(pointer)
        pointer, owner = self.unused[size].pop(), Owner()
        owner.ptr = pointer
        weakref.finalize(owner, self.unused[size].append, pointer).atexit = False
        return owner


class ImaginaryGPU(gpu_device.PhysicalDevice):
    """A GPU whose kernels are the source that machine code is compiled from."""

    def load(self, source, code=None, names=None):
        assert code.startswith(b"\x7fELF")
        kernel = super().load(source, code)
        text = SimulatedKernel(source.name, source.text, source.symbol, {"np": np, **intrinsics.simulated()})
        on_host = DeviceKernel(source, text, None, pointers(source.parameters))
        count = len(source.parameters)

        def run(sizes, addresses):
            # Arguments are eight bytes each, as they are laid out here.
            words = [ctypes.c_uint64.from_address(addresses[place]).value for place in range(count)]
            launch = types.SimpleNamespace(
                kernel=on_host, grid=sizes[:3], block=sizes[3:6], shared=sizes[6], title=kernel.title
            )
            self.host._launch(launch, np.array(words, np.uint64))

        self.machine.kernels[kernel.handle] = run
        return kernel


def imaginary(patch, compiling=True):
    """An imaginary GPU as the first device.

    Parameters
    ----------
    patch : pytest.MonkeyPatch
    compiling : bool
        Whether kernels are compiled to machine code, too, which nobody runs.
    """
    patch.delenv("CUDA_LAUNCH_BLOCKING", raising=False)
    machine, host = fake_cupy.Machine(total=1 << 30), Host(0)
    machine.pool = Pool(1 << 30, host)
    handles = iter(range(1, 1 << 20))
    machine.function = lambda name: types.SimpleNamespace(ptr=next(handles))
    machine.module.get_function = machine.function
    for name in ("cupy", "runtime", "driver"):
        patch.setattr(gpu_device, name, getattr(machine, name))
    gpu = ImaginaryGPU(0)
    gpu.machine, gpu.host = machine, host
    patch.setattr(devices, "device", lambda which=0: gpu)
    if not compiling:
        patch.setattr(object_code, "codes", lambda sources, arch: [(b"\x7fELF", "compiled", 0.0)] * len(sources))
    # Kernels of an earlier test are another device's.
    patch.setattr(object_code, "_kernels", {})
    assert executable.loaded is object_code.loaded
    return gpu
