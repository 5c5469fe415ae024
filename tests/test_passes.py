"""The list of passes is what the compilers go through, and what a pass leaves is verified behind it."""

import inspect
import os
import subprocess
import sys

import numpy as np
import pytest

import nxkernel as nx
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel import passes
from nxkernel.backends.cuda import devices
from nxkernel.compilers import registry
from nxkernel.compilers.numba_cpu.program import saved_programs
from nxkernel.errors import VerificationError
from nxkernel.graph.expr import Graph

CPU = """\
simplify: a traced graph -> constants are folded, equal nodes are one, gradients of the user's are taken
legality: a simplified graph -> each node has code, or an error names the user's line
columns: a simplified graph -> loops over planes go column by column where that is faster
array layouts: a simplified graph -> arrays that loops take apart along their last axis have it first
loop nest rewrites: a graph, or body, with legal nodes -> nodes are those that nests and routines have; large \
reductions are cut
integer ranges: prepared outputs -> bounds of single integers are known
bodies: bounds of single integers -> each body of a loop or branch has its plan, by these passes from the loop nest \
rewrites on
updates in place: the plans of bodies -> results that could be in the memory of what they are made from are known
fusion: outputs, and the updates in place that are possible -> each value is in memory, or computed in the nests that \
read it; each nest has one space
loop nests: the groups of fusion -> steps say what they read and write; nests are canonical, with sizes, strides and \
constants apart
step order: steps -> each follows those that write what it reads
buffer assignment: steps in order -> each value has memory; two share it only one after the other, or by decision
plan: steps with memory -> a plan, which says where outputs are
program text: a plan -> LLVM of the function that strings kernels together, without sizes and names
kernels: a plan -> the native code of each nest and routine, from memory, from disk, or compiled, is loaded
link: the program's text, and its kernels' addresses -> the program's native code is loaded"""
ORDER = {
    "evaluator": ["simplify", "walk"],
    "numba": [
        "simplify", "legality", "loop nest rewrites", "integer ranges", "bodies", "updates in place", "fusion",
        "loop nests", "step order", "buffer assignment", "plan", "source", "njit",
    ],
    "numba_cpu": [line.partition(":")[0] for line in CPU.splitlines()],
    "numba_cuda": [
        "simplify", "legality", "loop nest rewrites", "complex parts", "integer ranges", "bodies", "updates in place",
        "fusion", "loop nests", "step order", "buffer assignment", "plan", "launch modes",
        "program steps", "kernels",
    ],
}  # fmt: skip


def test_the_list_is_printed():
    assert passes.listing("numba_cpu") == CPU


@pytest.mark.parametrize("compiler", passes.COMPILERS)
def test_each_pass_is_a_function_that_is_there(compiler):
    assert [one.name for one in passes.passes_of(compiler)] == ORDER[compiler]
    for one in passes.passes_of(compiler):
        assert inspect.isfunction(one.function)
        # Behind each pass its form is verified.
        assert inspect.isfunction(passes.imported(one.verifier))


def test_every_compiler_of_ours_has_passes():
    assert {"evaluator", "numba", "numba_cpu", "numba_cuda"} <= set(registry.names())
    assert set(passes.COMPILERS) == set(ORDER)


@pytest.mark.parametrize("compiler", passes.COMPILERS)
def test_compilers_go_through_their_passes_in_order(compiler, monkeypatch):
    monkeypatch.setattr(devices._Simulation, "count", 1)
    monkeypatch.setattr(saved_programs, "name_of", lambda graph: None)
    ran = []
    with passes.watched(lambda one, made: ran.append(one.name)):
        graph = passes.SIMPLIFY(graph_of(nx.exp, spec("f32", 3)))
        registry.get(compiler).compile(graph)
    assert ran == ORDER[compiler]


def test_bodies_go_through_the_passes_of_plans():
    def counted(n):
        total = n * 0
        while total < n:
            total = total + 3
        return total

    ran = []
    with passes.watched(lambda one, made: ran.append(one.name)):
        nx.defn(counted)(np.int64(7))
    # The loop's condition and its body, and the program around it.
    assert [ran.count(name) for name in ("loop nest rewrites", "bodies", "fusion", "plan")] == [3, 3, 3, 3]


def broken(graph):
    """A graph with one output more, which has several values."""
    (output,) = graph.outputs
    return Graph(graph.name, graph.parameters[1:], [output], graph.rebuild)


def test_a_fault_is_told_by_the_name_of_the_pass(monkeypatch):
    graph = graph_of(nx.add, spec("f32", 3), spec("f32", 3))
    monkeypatch.setitem(passes.SIMPLIFY.__dict__, "function", broken)
    with pytest.raises(VerificationError) as error:
        passes.SIMPLIFY(graph)
    assert str(error.value) == (
        "after the pass 'simplify': parameter 0 of f: expected index 0, found index 1.\n"
        "  This is a fault of nxkernel's: please report it, with the definition."
    )
    assert error.value.after == "simplify"
    with passes.verifying(False):
        passes.SIMPLIFY(graph)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("value", "on"), [(None, False), ("", False), ("0", False), ("1", True)])
def test_the_environment_switches_it_on(value, on):
    environment = {**os.environ} if value is None else {**os.environ, "NXKERNEL_VERIFY": value}
    if value is None:
        environment.pop("NXKERNEL_VERIFY", None)
    code = "from nxkernel import passes; print(passes.is_verifying())"
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout == f"{on}\n"


def verified_in_a_child():
    """Whether a process that a test starts as it is verifies what passes leave."""
    code = "from nxkernel import passes; print(passes.is_verifying())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"


def test_it_is_on_in_tests_and_in_processes_that_they_start():
    assert passes.is_verifying()
    assert verified_in_a_child() == (os.environ["NXKERNEL_VERIFY"] not in ("", "0"))


@pytest.mark.alone
def test_processes_of_tests_that_measure_do_without():
    assert not verified_in_a_child()
