"""Programs for GPUs as they are written: their steps, and the memory that they ask for."""

import numpy as np

import nxkernel as nx
from emulated_gpu.programs import agree, plan_of
from graph_comparison.compiled_graphs import graph_of
from nxkernel.compilers.numba_cuda.program import launch_modes
from nxkernel.compilers.numba_cuda.program.control_flow import LoopStep
from nxkernel.compilers.numba_cuda.program.graph_compilation import program_of as plan_and_program
from nxkernel.compilers.numba_cuda.program.host_steps import (
    NUMBERS,
    WORK,
    Address,
    FillStep,
    LaunchStep,
    LibraryCallStep,
    MatmulStep,
)
from nxkernel.compilers.numba_cuda.program.program_writer import NUMBER, further
from nxkernel.ops.programs import control_flow
from nxkernel.transforms.simplify import simplify

X = np.arange(900.0).reshape(30, 30) / 900


def program_of(function, device, *arrays, numbers=()):
    graph = simplify(graph_of(function, *arrays))
    return plan_and_program(graph, plan_of(function, *arrays), device, frozenset(numbers))[1]


def test_a_chain_is_one_launch_without_memory(device):
    program = program_of(lambda x: nx.exp(x) + 1, device, X)
    (step,) = program.steps
    assert isinstance(step, LaunchStep)
    assert (program.workspace, program.numbers, program.scratch) == (0, 0, 0)
    assert step.places == [(program.used[0], 0), (program.outputs[0], 0)]


def test_values_in_between_are_in_the_workspace(device):
    program = program_of(lambda x: nx.dot(nx.sort(x, axis=0) + 1, x), device, X)
    kinds = [type(step) for step in program.steps]
    assert kinds.count(MatmulStep) == 1
    (product,) = [step for step in program.steps if isinstance(step, MatmulStep)]
    assert product.places[0][0] == WORK or product.places[0] == (program.outputs[0], 0)
    assert program.workspace >= X.nbytes


def test_single_numbers_have_memory_of_their_own(device):
    program = program_of(lambda x: x[:, :20] * nx.sum(x), device, X)
    assert program.numbers >= NUMBER
    assert any(where[0] == NUMBERS for step in program.launched for where in step.places)


def test_inputs_that_nobody_reads_have_no_register(device):
    assert sorted(program_of(lambda x, y, z: x + z, device, X, X, X).used) == [0, 2]


def test_libraries_are_called(device):
    program = program_of(lambda x: nx.linalg.eigh(x)[0], device, X)
    (call,) = [step for step in program.steps if isinstance(step, LibraryCallStep)]
    assert call.results[1] is None
    assert call.operands[0][0].shape == X.shape


def test_memory_of_one_step_is_filled_before_it(device):
    def function(x, places):
        return nx.indexed_put(x, nx.new_axis(places, 1), nx.exp(x[:5]))

    places = np.array([3, 1, 3, 3, 0])
    program = program_of(function, device, X, places)
    fills = [step for step in program.steps if isinstance(step, FillStep)]
    assert [fill.byte for fill in fills] == [255]
    assert program.scratch >= fills[0].size > 0
    agree(function, X, places, rtol=1e-12, times=2)


def test_loops_have_memory_that_changes_places(device, monkeypatch):
    monkeypatch.setattr(launch_modes, "WAITING", -1)

    def function(x):
        return control_flow.run_while([0, x], lambda s: nx.less(s[0], 3), lambda s: [s[0] + 1, s[1] * 2], "ix")[1]

    program = program_of(function, device, X)
    (loop,) = [step for step in program.steps if isinstance(step, LoopStep)]
    assert len(loop.moves) == 2
    assert {one for one, _ in loop.moves} == {other for _, other in loop.moves}


def test_places_further_on():
    assert further(Address(3, 16), 8) == Address(3, 24)
