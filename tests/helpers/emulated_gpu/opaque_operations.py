"""Whole operations on a device: a primitive's routine, run on arrays."""

import types

import numpy as np

from graph_comparison.compiled_graphs import inputs, make
from nxkernel.compilers.numba_cuda.routines import routine_table
from nxkernel.compilers.numba_cuda.toolchain import object_code


def on_device(device, primitive, *arrays, **params):
    """What the routine of a primitive gives for arrays on a device: its results, on the host.

    Memory is full of nothing in particular before.
    """
    operands = inputs(*arrays)
    node = make(primitive, *operands, **params)
    routine = routine_table.routine_of(node)
    specs = node.spec if type(node.spec) is tuple else (node.spec,)
    given = [device.upload(np.ascontiguousarray(x).reshape(x.shape)) for x in arrays]
    made = [device.allocate(spec.shape, spec.type.dtype) for spec in specs]
    scratch = device.allocate((routine.scratch,), np.uint8)
    if routine.library:
        routine.run(device, given, made, scratch)
    else:
        memory = {node: made[0], None: scratch, **dict(zip(operands, given, strict=True))}
        run(device, routine.launches(device), memory)
    for array, before in zip(given, arrays, strict=True):
        assert array.host().tobytes() == before.tobytes()
    found = [array.host() for array in made]
    return tuple(found) if type(node.spec) is tuple else found[0]


def run(device, launches, memory):
    """Launch kernels on memory that is told by what it is for."""
    kernels = object_code.loaded(device, [launch.source for launch in launches])
    for launch, (kernel, *_) in zip(launches, kernels, strict=True):
        prepared = device.prepare(kernel, launch.grid, launch.block, launch.shared, launch.scalars)
        prepared.point([memory[owner].pointer + offset for owner, offset in launch.memory])
        device.launch(prepared)


def on_processor(primitive, *arrays, threads=64, **params):
    """What the machine code of a routine's kernels gives when so many threads of a block run at the same time."""
    from emulated_gpu.kernels_on_host import HostKernel

    operands = inputs(*arrays)
    node = make(primitive, *operands, **params)
    routine = routine_table.routine_of(node)
    result, scratch = np.empty(node.shape, node.type.dtype), np.full(max(routine.scratch, 1), 0xFB, np.uint8)
    memory = {node: result, None: scratch, **dict(zip(operands, arrays, strict=True))}
    for launch in routine.launches(types.SimpleNamespace(threads=threads)):
        pointers = [memory[owner].ctypes.data + offset for owner, offset in launch.memory]
        HostKernel(launch.source).run(launch.grid, launch.block, launch.shared, [*pointers, *launch.scalars])
    return result
