"""What tests of compilers share: graphs of functions and of single primitives, compiled and compared."""

import numpy as np

from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cpu.program.graph_compilation import planner
from nxkernel.compilers.rewrite.loop_nest_rewrites import make
from nxkernel.compilers.schedule.build_nest import BoundNest
from nxkernel.graph.expr import Graph, parameter
from nxkernel.graph.tracing import Trace
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.transforms.simplify import simplify

__all__ = ["agree", "both", "compiled", "graph_of", "inputs", "make", "nests", "planned", "spec"]


def spec(type_, *shape):
    """The spec of a tensor without names."""
    return Spec(types.normalize(type_), shape, unnamed(shape))


def inputs(*specs):
    """One parameter for each spec (or array)."""
    specs = [s if isinstance(s, Spec) else spec(s.dtype, *s.shape) for s in specs]
    return [parameter(place, f"x{place}", s) for place, s in enumerate(specs)]


def graph_of(function, *specs):
    """The graph of a function of traced values, as it was recorded."""
    parameters = inputs(*specs)
    with Trace(capture=None):
        outputs = function(*parameters)
    outputs = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
    return Graph("f", parameters, outputs, list)


def compiled(function, *specs):
    """The executable of numba_cpu for a function of such specs, or arrays."""
    return registry.get("numba_cpu").compile(simplify(graph_of(function, *specs)))


def planned(function, *specs):
    """The plan of a function: its steps, and where values live."""
    return planner().program(simplify(graph_of(function, *specs)))


def agree(function, *arrays, rtol=0.0, atol=0.0):
    """Run a function on arrays with numba_cpu and with the evaluator; compare, and give what numba_cpu gave."""
    arrays = [np.asarray(array) for array in arrays]
    graph = graph_of(function, *arrays)
    expected = registry.get("evaluator").compile(graph).run(arrays)
    found = registry.get("numba_cpu").compile(simplify(graph)).run(arrays)
    for output, want, got in zip(graph.outputs, expected, found, strict=True):
        assert (got.dtype, got.shape) == (output.type.dtype, output.shape)
        if output.type.is_integer:
            np.testing.assert_array_equal(got, want)
        else:
            wide = np.complex128 if output.type.is_complex else np.float64
            np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=rtol, atol=atol)
    return found


def both(primitive, *arrays, **params):
    """What the instructions and what the meaning of one primitive give, for operands in memory."""
    arrays = [np.ascontiguousarray(array) for array in arrays]
    parameters = inputs(*arrays)
    node = make(primitive, *parameters, **params)
    graph = Graph("one", parameters, [node], list)
    (found,) = registry.get("numba_cpu").compile(graph).run(arrays)
    return found, MEANING[primitive](node.spec, *arrays, **params)


def nests(function, *specs):
    """The loop nests of a function, in the order in which they run."""
    return [step.work.nest for step in planned(function, *specs).steps if isinstance(step.work, BoundNest)]
