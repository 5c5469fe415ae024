"""What tests of the compiler for GPUs share: programs run in the simulator, and the sources that were seen as PTX."""

import dataclasses
import time
from typing import ClassVar

import numpy as np
from hypothesis import Phase, settings

import random_primitives
from lanes.fuzzing import patient
from nxkernel import primitives as p
from nxkernel.backends.cuda import devices
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cuda.program import executable
from nxkernel.compilers.numba_cuda.toolchain import object_code
from nxkernel.compilers.rewrite import loop_nest_rewrites
from nxkernel.compilers.schedule import loop_nest
from nxkernel.transforms.simplify import simplify
from random_primitives import moving, reducing, values

#: Failures are not made smaller: in the simulator that takes minutes.
quick = settings(patient, phases=[Phase.explicit, Phase.reuse, Phase.generate])
#: For which GPUs kernels must compile.
ARCHITECTURES = ("sm_80", "sm_90")


def make_small(set_):
    """Small limits: even small programs are cut into blocks, and go to the library."""
    set_(loop_nest_rewrites, "ON_GPU", loop_nest_rewrites.MachineLimits(256, 64, 8, 4, 4, 4096, 16))
    set_(loop_nest, "TILE", 64)
    set_(loop_nest, "COLUMNS", 64)


def draw_small(set_, most=600):
    """Draw small arrays, of which each element costs the simulator as much as a thousand cost a processor."""
    set_(values, "SIZES", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65])
    set_(values, "LONG", [130, 257, 513])
    set_(values.shape, "__kwdefaults__", values.shape.__kwdefaults__ | {"total": most})
    for module in (moving, reducing):
        set_(module, "MOST", most)


class Simulation:
    """Runs graphs on a simulated GPU, and keeps the sources of their kernels.

    Parameters
    ----------
    set_ : callable
        Sets an attribute for as long as the simulation is used.
    """

    #: All sources that were seen, by symbol.
    sources: ClassVar[dict] = {}

    def __init__(self, set_):
        loaded = executable.loaded

        def kept(device, sources):
            self.sources.update({source.symbol: source for source in sources})
            return loaded(device, sources)

        set_(executable, "loaded", kept)
        set_(devices._Simulation, "count", 2)
        draw_small(set_)

    def compile(self, graph):
        """The executable of a graph."""
        return registry.get("numba_cuda").compile(simplify(graph))

    def run(self, program, arrays):
        """The results, on the host."""
        return [result.host() for result in program.run(arrays)]

    @classmethod
    def check_ptx(cls, seconds):
        """Compile the sources that were seen until the time is over; gives how many of them there was time for."""
        end, count = time.monotonic() + seconds, 0
        while cls.sources and time.monotonic() < end:
            symbol, source = cls.sources.popitem()
            for arch in ARCHITECTURES:
                text = object_code.ptx(source, arch)
                assert f".entry {symbol}(" in text
                assert f".target {arch}" in text
            count += 1
        return count


def compare(found, expected, case):
    """As that of random primitives, but that products of complex numbers may be fused with sums or not.

    Either is right then of two results that are not finite, and folds, which are exact where NumPy fuses them, have an
    error of some roundings.
    """
    if found.dtype.kind == "c":
        finite = np.isfinite(found) | np.isfinite(expected)
        found = np.where(finite, found, expected)
        if case.primitive is p.reduce:
            parts = np.abs([expected.real, expected.imag])
            error = 64 * float(np.finfo(found.dtype).eps * parts[np.isfinite(parts)].max(initial=0))
            case = dataclasses.replace(case, error=max(case.error or 0, error))
    random_primitives.compare(found, expected, case)
