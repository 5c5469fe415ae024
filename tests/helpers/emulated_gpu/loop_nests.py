"""What tests of kernels for nests share: run each nest of a function on a simulated device, and compile it for real."""

from dataclasses import dataclass

import numpy as np

from graph_comparison.compiled_graphs import graph_of
from nxkernel.backends.cuda.devices import device, use_simulator
from nxkernel.compilers import registry
from nxkernel.compilers.analysis import operation_costs
from nxkernel.compilers.numba_cuda.kernels.nest_source import launches_of
from nxkernel.compilers.numba_cuda.language import element_types, intrinsics
from nxkernel.compilers.plan.locations import MemoryKind
from nxkernel.compilers.plan.planner import Planner
from nxkernel.compilers.rewrite import loop_nest_rewrites
from nxkernel.compilers.schedule.canonical_form import BoundNest
from nxkernel.transforms.simplify import simplify

__all__ = ["Machine", "agree_on_device", "launches_for", "ptx", "run_nests"]


@dataclass(frozen=True)
class Machine:
    """A device that launches are made for."""

    multiprocessors: int = 2
    shared_limit: int = 48 << 10
    simulated: bool = True
    threads: int = 32


def _no_routine(node):
    raise AssertionError(f"{node.primitive.name} is no nest")


def planned_nests(graph, limits=None):
    """The plan of a graph that has nothing but nests."""
    options = {} if limits is None else {"limits": limits}

    def prepared(outputs, **given):
        return loop_nest_rewrites.prepare(outputs, frozenset(), **options, **given)

    plan = Planner(_no_routine, prepared, operation_costs.ON_GPU).program(simplify(graph))
    assert all(isinstance(step.work, BoundNest) for step in plan.steps)
    return plan


def launches_for(function, *specs, machine=None, limits=None):
    """The launches of all nests of a function."""
    plan = planned_nests(graph_of(function, *specs), limits)
    return [launch for step in plan.steps for launch in launches_of(step.work, machine or Machine())]


def run_nests(graph, arrays, machine=None, limits=None, seen=None):
    """The outputs of a graph whose nests run on a simulated device, one after the other."""
    use_simulator()
    try:
        return _run(graph, arrays, machine or Machine(), limits, seen)
    finally:
        use_simulator(False)


def _run(graph, arrays, machine, limits, seen):
    on = device()
    plan = planned_nests(graph, limits)
    memory = {}
    for step in plan.steps:
        for owner, _ in step.work.buffers:
            if owner in memory:
                continue
            kind, place = plan.place.get(owner, (None, 0))
            if kind is MemoryKind.INPUT:
                memory[owner] = on.upload(arrays[place])
            else:
                memory[owner] = on.allocate(owner.shape, owner.type.dtype)
    held = {}
    for owner in memory:
        kind, place = plan.place.get(owner, (None, 0))
        if kind is MemoryKind.OUTPUT:
            held[place] = memory[owner]
    for step in plan.steps:
        launches = launches_of(step.work, machine)
        size = max([launch.scratch for launch in launches], default=0)
        scratch = on.allocate((max(size, 1),), np.uint8)
        for launch in launches:
            if seen is not None:
                seen.append(launch)
            if launch.fill is not None:
                on.fill(scratch.pointer, launch.fill, launch.scratch)
            kernel = on.load(launch.source, names={"np": np, **intrinsics.simulated()})
            prepared = on.prepare(kernel, launch.grid, launch.block, launch.shared, launch.scalars)
            prepared.point(
                [(scratch if owner is None else memory[owner]).pointer + offset for owner, offset in launch.memory]
            )
            on.launch(prepared)
    return [
        on.download(held[place]).reshape(output.shape)
        if kind is MemoryKind.OUTPUT
        else arrays[place].reshape(output.shape)
        for output, (kind, place) in zip(plan.graph.outputs if plan.graph else graph.outputs, plan.outputs, strict=True)
    ]


def agree_on_device(function, *arrays, rtol=0.0, atol=0.0, machine=None, limits=None):
    """Run the nests of a function on a simulated device and compare with the evaluator; the launches there were."""
    arrays = [np.asarray(array) for array in arrays]
    graph = graph_of(function, *arrays)
    seen = []
    found = run_nests(graph, arrays, machine, limits, seen)
    expected = registry.get("evaluator").compile(graph).run(arrays)
    for output, want, got in zip(graph.outputs, expected, found, strict=True):
        assert (got.dtype, got.shape) == (output.type.dtype, output.shape)
        if output.type.is_integer:
            np.testing.assert_array_equal(got, want)
        else:
            wide = np.complex128 if output.type.is_complex else np.float64
            np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=atol)
    return seen


def ptx(source, arch=(8, 0)):
    """The PTX of a kernel."""
    from numba import cuda

    names = {"cuda": cuda, "np": np, **intrinsics.device()}
    exec(source.text, names)
    signature = tuple(element_types.numba_type(parameter) for parameter in source.parameters)
    text, _ = cuda.compile_ptx(names[source.name], signature, cc=arch)
    return text
