"""Plans for GPUs: what is cut into blocks, what goes to a library, what is known of inputs."""

import nxkernel as nx
from emulated_gpu.programs import plan_of
from graph_comparison.compiled_graphs import graph_of, spec
from nxkernel import primitives as p
from nxkernel.compilers.analysis.matrix_products import Product
from nxkernel.compilers.numba_cuda.program import launch_modes
from nxkernel.compilers.numba_cuda.program.graph_compilation import guessed, program_of
from nxkernel.compilers.plan.program_plan import OpaqueStep
from nxkernel.ops.programs import control_flow
from nxkernel.transforms.simplify import simplify


def works(function, *specs):
    return [type(step.work) for step in plan_of(function, *specs).steps]


def test_halves_are_multiplied_by_the_library_as_they_are():
    plan = plan_of(nx.dot, spec("bf16", 64, 64), spec("bf16", 64, 64))
    (step,) = plan.steps
    assert isinstance(step.work, Product)
    assert step.work.type == "bf16"


def test_large_reductions_are_cut_finer_than_on_a_processor():
    plan = plan_of(nx.sum, spec("f32", 1 << 24))
    first, _ = [step.work for step in plan.steps]
    assert first.nest.split >= 0
    assert first.scalars[first.nest.outer + first.nest.inner :][1] > 2000


def test_functions_of_complex_numbers_are_of_their_parts():
    plan = plan_of(nx.exp, spec("c64", 5))
    (step,) = plan.steps
    names = {op.name for op in step.work.nest.ops()}
    assert {"exp", "cos", "sin", "real", "imag", p.make_complex.name} <= names
    assert {plan.origin[node].primitive.name for node in step.work.nodes if node in plan.origin} >= {"exp"}


def test_whole_operations_have_routines():
    assert works(lambda x: nx.sort(x, axis=0), spec("f32", 5, 6)) == [OpaqueStep]


def test_numbers_that_loops_go_by_are_kept_on_the_host(device, monkeypatch):
    monkeypatch.setattr(launch_modes, "WAITING", -1)

    def looping(x, n, k):
        state = control_flow.run_while([0, x], lambda s: nx.less(s[0], n), lambda s: [s[0] + 1, s[1] * 2], "ix")
        return state[1] * k

    specs = spec("f64", 3), spec("s64"), spec("f64")
    graph = simplify(graph_of(looping, *specs))
    plan = plan_of(looping, *specs)
    assert guessed(graph, plan) == frozenset([1, 2])
    made, program = program_of(graph, plan, device, frozenset([1, 2]))
    assert sorted(program.used) == [0, 2]
    assert [control.launch.reads_back for control in made.controls.values()] == [False]
    plain = simplify(graph_of(lambda x, n: x * n, *specs[::2]))
    assert guessed(plain, plan_of(lambda x, n: x * n, *specs[::2])) == frozenset()
