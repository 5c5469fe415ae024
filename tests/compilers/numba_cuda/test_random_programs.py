"""Random programs, with and without control flow: what a simulated GPU computes is what the evaluator computes."""

import linecache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from emulated_gpu.simulator import Simulation, make_small, quick
from graph_comparison import loop_programs
from graph_comparison.compiled_graphs import graph_of
from lanes.fuzzing import repeat
from nxkernel.compilers import registry
from random_primitives import Drawn
from random_programs import Program, compare_results
from source_rewriting.random_functions import Writer


@pytest.fixture
def simulation(monkeypatch):
    return Simulation(monkeypatch.setattr)


def check(program, simulation, small):
    """Run a program both ways and compare."""
    graph = program.graph
    expected = registry.get("evaluator").compile(graph).run(program.arrays)
    with pytest.MonkeyPatch.context() as patch:
        if small:
            make_small(patch.setattr)
        found = simulation.run(simulation.compile(graph), program.arrays)
    compare_results(program, found, expected)


@pytest.mark.parametrize("small", [False, True])
def test_random_programs(small, simulation):
    @settings(quick, max_examples=5)
    @given(st.data())
    def run(data):
        check(Program(Drawn(data.draw)), simulation, small)

    run()


# Control flow --------------------------------------------------------------------------------------------------------


class OneStructure(Writer):
    """Writes functions that return the same kinds of values everywhere."""

    def text(self):
        self.lines = ["def f(a, b, x, *, c=2):", "    t = 0"]
        self.block(1, 0, False)
        self.lines.append("    return a, b, x, t")
        return "\n".join(self.lines).replace("return b\n", "return a, b, x, t\n") + "\n"

    def block(self, depth, inside, last=True):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, inside)
        if last and self.random.random() < 0.35:
            self.add(depth, self.random.choice(["return a, b, x, t"] + (["break", "continue"] * 3 if inside else [])))


def compare(seed):
    """A random function as a definition on a device, and in Python."""
    text = OneStructure(seed).text()
    file = f"definition-{seed}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {}
    try:
        exec(compile(text, file, "exec"), space)
        definition = nx.defn(space["f"], compiler="numba_cuda")
        for a, b in [(0, 1), (3, 2), (-1, 5)]:
            array = np.array([1, 2, 3])
            expected = space["f"](a, b, array)
            given = np.array([1, 2, 3])
            for values in (definition(a, b, given), definition(a, b, nx.tensor([1, 2, 3]))):
                assert [v.tolist() for v in values] == [np.asarray(v).tolist() for v in expected], text
            assert given.tolist() == array.tolist(), text
    finally:
        del linecache.cache[file]


def test_random_definitions(simulation):
    @settings(quick, max_examples=5)
    @given(st.integers(0, 10**9))
    def run(seed):
        compare(seed)

    run()


def both(program, *arrays):
    """The result of a definition of `loop_programs`, by a GPU and by the evaluator."""
    found, expected = (nx.jit(program, compiler=name)(*arrays) for name in ("numba_cuda", "evaluator"))
    leaves = [value if isinstance(value, tuple) else (value,) for value in (found, expected)]
    for got, want in zip(*leaves, strict=True):
        assert got.type == want.type
        np.testing.assert_allclose(got.to_numpy(), want.to_numpy(), rtol=1e-10, atol=1e-12)


X, M = np.linspace(0.3, 1.2, 4), np.random.default_rng(0).normal(size=(4, 4))


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("program", loop_programs.OF_A_VECTOR, ids=lambda program: program.__name__)
def test_loops_of_a_vector(program, simulation):
    both(program, X)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("program", loop_programs.OF_A_MATRIX, ids=lambda program: program.__name__)
def test_loops_of_a_vector_and_a_matrix(program, simulation):
    both(program, X, M)


def test_other_loops(simulation):
    for turns in (0, 3):
        both(loop_programs.bound_by_argument, X, np.int64(turns))
    both(loop_programs.scalar_state, np.float64(0.4), np.float64(0.7))
    both(loop_programs.substitution, M, X)
    both(loop_programs.loop_of_linalg, M, X)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "program",
    [loop_programs.nested_while, loop_programs.in_place, loop_programs.left_early, loop_programs.nested_choices],
)
def test_gradients_of_loops(program, simulation):
    both(nx.grad(program), X)


@pytest.mark.simulator
def test_the_kernels_seen_are_ptx(simulation):
    # This process may have run none of the tests above.
    simulation.compile(graph_of(lambda x: nx.cos(x) * x, np.ones((3, 4))))
    assert Simulation.check_ptx(6) > 0


@pytest.mark.fuzz
def test_many_random_programs(simulation):
    def definitions(data):
        compare(data.draw(st.integers(0, 10**9)))

    def programs(data):
        check(Program(Drawn(data.draw)), simulation, data.draw(st.booleans()))

    def kernels(data):
        Simulation.check_ptx(30)

    assert repeat(definitions, programs, kernels, examples=20)
