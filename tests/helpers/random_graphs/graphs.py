"""Random graphs of several kinds, each with the inputs that it runs on and what its results may be compared with."""

import contextlib

import numpy as np
import pytest

from graph_comparison.vectorized_graphs import SIZE, entries_of
from lanes.fuzzing import make_small
from nxkernel import types
from nxkernel.compilers import registry
from nxkernel.errors import NxTypeError
from nxkernel.graph.expr import Graph, parameter
from nxkernel.graph.tracing import Trace
from nxkernel.primitives import Spec
from nxkernel.shapes import unnamed
from nxkernel.transforms.gradient import gradients
from nxkernel.transforms.simplify import simplify
from nxkernel.transforms.vectorize import vectorize
from random_graphs.differing import agrees
from random_primitives import CASES, Surroundings, compare
from random_programs import Program, SmoothProgram, compare_results, near

#: How many steps a program has at most: some are long, and many are soon compiled.
STEPS = (4, 4, 8, 8, 25)


@contextlib.contextmanager
def limits(small):
    """With small limits even small graphs are cut into blocks, tiles and columns, and run on every thread."""
    with pytest.MonkeyPatch.context() as patch:
        if small:
            make_small(patch.setattr)
        yield


def evaluated(graph, arrays):
    return registry.get("evaluator").compile(graph).run(arrays)


class Compiled:
    """A graph that numba_cpu compiles and the evaluator evaluates.

    Parameters
    ----------
    choose : Choices
    """

    graph: Graph
    arrays: list

    def __init__(self, choose):
        self.small = choose.chance(50)

    def __str__(self):
        given = [f"{node.params['name']} = {x!r}" for node, x in zip(self.graph.parameters, self.arrays, strict=True)]
        return "\n".join([repr(self.graph), *given, f"with {'small' if self.small else 'usual'} limits"])

    def compiled(self, *runs):
        """The results for each list of arrays."""
        with limits(self.small):
            executable = registry.get("numba_cpu").compile(simplify(self.graph))
            found = []
            for arrays in runs or [self.arrays]:
                before = [array.tobytes() for array in arrays]
                found.append(executable.run(arrays))
                assert [array.tobytes() for array in arrays] == before, "an argument was changed"
        return found


class Plain(Compiled):
    """Up to 25 steps over one to three inputs of any real type, through complex numbers too."""

    def __init__(self, choose):
        super().__init__(choose)
        self.program = Program(choose, choose.pick(STEPS))
        self.graph, self.arrays = self.program.graph, self.program.arrays

    def check(self):
        expected = evaluated(self.graph, self.arrays)
        compare_results(self.program, *self.compiled(), expected)


class Primitive(Compiled):
    """Any primitive, of any type and shape, empty ones too, of views and moves of inputs, with readers of results."""

    def __init__(self, choose):
        super().__init__(choose)
        self.case = CASES[choose.pick(CASES)](choose)
        around = Surroundings(choose, self.case)
        self.graph, self.arrays = around.graph, around.arrays

    def check(self):
        expected = evaluated(self.graph, self.arrays)
        (found,) = self.compiled()
        for output, got, want in zip(self.graph.outputs, found, expected, strict=True):
            assert (got.dtype, got.shape) == (output.type.dtype, output.shape)
            compare(got, want, self.case)


class OfEntries(Compiled):
    """A program for three entries at once, some inputs the same for all; evaluated for one after the other."""

    def __init__(self, choose):
        super().__init__(choose)
        self.program = Program(choose, choose.pick(STEPS))
        self.mapped = [choose.chance(70) for _ in self.program.arrays]
        self.made = vectorize(self.program.graph, SIZE, self.mapped)
        self.graph = self.made.graph
        self.arrays = [
            np.ascontiguousarray(entries_of(array)) if flag else array
            for array, flag in zip(self.program.arrays, self.mapped, strict=True)
        ]

    def check(self):
        (found,) = self.compiled()
        for entry in range(SIZE):
            arrays = [a[entry].copy() if flag else a for a, flag in zip(self.arrays, self.mapped, strict=True)]
            expected = evaluated(self.program.graph, [np.asarray(array) for array in arrays])
            results = zip(self.program.graph.outputs, self.made.mapped, found, expected, strict=True)
            for output, flag, got, want in results:
                near(self.program, output, got[entry] if flag else got, want)


class Slopes(Compiled):
    """The gradients of a program by all of its inputs of floats, compared with the evaluator's and with differences."""

    def __init__(self, choose):
        super().__init__(choose)
        self.program = program = SmoothProgram(choose, choose.pick(STEPS))
        floats = [node for node in program.values if node.type is types.f64]
        outputs = [node for node in program.graph.outputs if node.type is types.f64] or floats[-1:]
        inputs = [node for node in program.parameters if node.type is types.f64]
        if not inputs or not outputs:
            raise Unsuitable
        self.weighed = Graph("weighed", program.parameters, outputs, list)
        rng = choose.rng()
        count = len(program.parameters)
        weights = [
            parameter(count + k, f"w{k}", Spec(types.f64, o.shape, unnamed(o.shape))) for k, o in enumerate(outputs)
        ]
        self.weights = [np.asarray(rng.integers(1, 9, o.shape) / 4) for o in outputs]
        try:
            with Trace(capture=None):
                slopes, _ = gradients(outputs, weights, inputs)
        except NxTypeError as error:
            if "through whole numbers only" not in str(error):
                raise
            raise Unsuitable from error
        self.graph = Graph("slopes", [*program.parameters, *weights], slopes, list)
        self.arrays = [*program.arrays, *self.weights]
        self.places = [place for place, node in enumerate(program.parameters) if node.type is types.f64]
        self.moved = [
            np.asarray(array + 0.1 * rng.normal(size=array.shape)) if place in self.places else array
            for place, array in enumerate(self.arrays)
        ]
        self.ways = [rng.normal(size=self.arrays[place].shape) for place in self.places]

    def check(self):
        expected = evaluated(self.graph, self.arrays)
        found, elsewhere = self.compiled(self.arrays, self.moved)
        for output, got, want in zip(self.graph.outputs, found, expected, strict=True):
            assert (got.dtype, got.shape) == (output.type.dtype, output.shape)
            np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9 * (1 + np.abs(want).max(initial=0)))
        slope = sum(np.sum(part * way) for part, way in zip(elsewhere, self.ways, strict=True))
        assert agrees(self.loss, slope), "differences tell another slope"

    def loss(self, distance):
        arrays = list(self.moved[: len(self.program.parameters)])
        for place, way in zip(self.places, self.ways, strict=True):
            arrays[place] = np.asarray(arrays[place] + distance * way)
        return sum(np.sum(w * o) for w, o in zip(self.weights, evaluated(self.weighed, arrays), strict=True))


class Unsuitable(Exception):
    """The choices make nothing that could be checked."""
