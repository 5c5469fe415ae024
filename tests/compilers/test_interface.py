"""What compilers and executables do that say nothing of it themselves."""

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of
from nxkernel.backends.graph_evaluation import GraphWalk
from nxkernel.compilers.interface import Compiler, Executable, KernelRecord, WholeClock, contiguous, host_machine

X = np.arange(12.0).reshape(3, 4)


class Walked(Executable):
    def __init__(self, graph, kernels=1):
        self.graph = graph
        self.kernels = [KernelRecord("walk", "walk of the graph", "walk", "library", 0.0)] * kernels

    def run(self, arrays):
        return [np.ascontiguousarray(array) for array in GraphWalk(self.graph).run(arrays)]


class Walking(Compiler):
    name = "walking"

    def compile(self, graph):
        return Walked(graph)


def test_what_a_compiler_must_say():
    class Nothing(Compiler):
        name = "nothing"

    class NoProgram(Executable):
        pass

    with pytest.raises(TypeError, match=r"abstract.*compile"):
        Nothing()
    with pytest.raises(TypeError, match=r"abstract.*run"):
        NoProgram()
    assert isinstance(Walking(), Compiler)


def test_a_compiler_that_says_no_more():
    compiler = Walking()
    assert (compiler.on_devices, compiler.without_kernels) == (False, ("no kernels", "the compiler tells of none"))
    assert compiler.foresee(graph_of(lambda x: x + 1, X)) == []
    assert compiler.for_device(1) is None
    assert compiler.warm_up() is None
    assert (compiler.processors(), compiler.get_threads(), compiler.set_threads(4)) == (1, 1, None)
    assert (compiler.code_in_memory(), compiler.forget_code(), tuple(compiler.code_version())) == ([], 0, ())


def test_an_executable_that_says_no_more():
    program = Walked(graph_of(lambda x: x + 1, X))
    assert (program.own, program.device, program.single) == (None, None, None)
    assert (program.lower_ms, program.native_ms) == (0.0, 0.0)
    assert (program.in_place(), program.launches(), program.open_loop()) == (frozenset(), {}, None)
    with pytest.raises(NotImplementedError):
        program.launch(X)


def test_a_loop_in_a_graph_is_one_that_ends_by_its_values():
    @nx.defn(compiler="evaluator")
    def halvings(x):
        if nx.sum(x) > 0.0:
            while nx.sum(x) > 1.0:
                x = x / 2.0
        return x

    halvings(X)
    graph = halvings.compilations()
    assert len(graph) == 1
    program = max(halvings._entry_group.programs(), key=lambda each: each.made)
    assert Walked(program.executable.graph).open_loop().primitive.name == "while"


@pytest.mark.parametrize("kernels", [0, 1, 2])
def test_a_program_is_measured_as_a_whole(kernels):
    clock = WholeClock(Walked(graph_of(lambda x: x + 1, X), kernels))
    found = clock.run(clock.placed([X.T.copy().T]))
    assert found.seconds > 0
    assert found.kernels == ({0: (found.seconds, 1)} if kernels == 1 else {})
    assert clock.machine() == host_machine()


def test_arrays_that_native_code_can_read():
    same, turned = contiguous([X, X.T])
    assert same is X
    assert turned.flags.c_contiguous
    np.testing.assert_array_equal(turned, X.T)
