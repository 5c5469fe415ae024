"""What tests of programs for GPUs share: programs compiled for a simulated device, compared with the evaluator."""

import numpy as np

from graph_comparison.compiled_graphs import graph_of
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cuda.program import graph_compilation
from nxkernel.compilers.numba_cuda.program.host_steps import DeviceStep
from nxkernel.transforms.simplify import simplify

__all__ = ["agree", "compiled", "done", "plan_of"]


def compiled(function, *specs):
    """The executable of numba_cuda for a function of such specs, or arrays."""
    return registry.get("numba_cuda").compile(simplify(graph_of(function, *specs)))


def plan_of(function, *specs):
    """The plan of a function for GPUs."""
    return graph_compilation.plan_of(simplify(graph_of(function, *specs)))


def agree(function, *arrays, rtol=0.0, times=1):
    """Run a function on arrays with numba_cuda and with the evaluator; compare, and give the executable."""
    arrays = [np.asarray(array) for array in arrays]
    graph = graph_of(function, *arrays)
    expected = registry.get("evaluator").compile(graph).run(arrays)
    executable = registry.get("numba_cuda").compile(simplify(graph))
    for _ in range(times):
        found = [result.host() for result in executable.run(arrays)]
        for output, want, got in zip(graph.outputs, expected, found, strict=True):
            assert (got.dtype, got.shape) == (output.type.dtype, output.shape)
            wide = np.complex128 if output.type.is_complex else np.float64
            np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=0 if output.type.is_integer else rtol)
    return executable


def done(executable, arrays):
    """The steps that the device does in a run, in their order, and the results."""
    steps = []

    def watch(step, run):
        assert isinstance(step, DeviceStep)
        steps.append(step)
        step.do(run)

    results = executable.run(arrays, watch)
    return steps, [result.host() for result in results]
