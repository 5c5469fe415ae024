"""Every primitive with random operands and parameters: on a simulated GPU as evaluated, and its kernels as PTX."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from emulated_gpu.simulator import Simulation, compare, make_small, quick
from graph_comparison.compiled_graphs import graph_of
from lanes.fuzzing import repeat
from nxkernel.compilers import registry
from random_primitives import CASES, Drawn, Surroundings

#: Programs of one primitive alone that are drawn in a run of all tests.
FEW, SOME = 2, 4
#: For how many seconds kernels are compiled in such a run.
SECONDS = 5


@pytest.fixture
def simulation(monkeypatch):
    return Simulation(monkeypatch.setattr)


def check(primitive, draw, simulation):
    """Draw a case of a primitive, in surroundings; compare what it gives."""
    choose = Drawn(draw)
    case = CASES[primitive](choose)
    around = Surroundings(choose, case)
    graph, arrays = around.graph, around.arrays
    expected = registry.get("evaluator").compile(graph).run(arrays)
    before = [array.tobytes() for array in arrays]
    with pytest.MonkeyPatch.context() as patch:
        if choose.chance(50):
            make_small(patch.setattr)
        program = simulation.compile(graph)
        found = simulation.run(program, arrays)
        if choose.chance(15):
            # The second time launches are captured as a graph, which gives the same, to the last bit.
            again = simulation.run(program, arrays)
            assert [result.tobytes() for result in again] == [result.tobytes() for result in found]
    assert [array.tobytes() for array in arrays] == before
    for output, want, got in zip(graph.outputs, expected, found, strict=True):
        assert (got.dtype, got.shape) == (output.type.dtype, output.shape)
        compare(got, want, case)


def examples(primitive):
    return FEW if primitive.family == "elementwise" else SOME


@pytest.mark.sampled(every=2, lane="simulator")
@pytest.mark.parametrize("primitive", CASES, ids=str)
def test_a_primitive(primitive, simulation):
    @settings(quick, max_examples=examples(primitive))
    @given(st.data())
    def run(data):
        check(primitive, data.draw, simulation)

    run()


@pytest.mark.simulator
def test_the_kernels_seen_are_ptx(simulation):
    # This process may have run none of the tests above.
    simulation.compile(graph_of(lambda x: nx.sum(nx.exp(x), axes=[0]), np.ones((3, 4))))
    assert Simulation.check_ptx(SECONDS) > 0


@pytest.mark.fuzz
def test_every_primitive_for_long(simulation):
    def of(primitive):
        return lambda data: check(primitive, data.draw, simulation)

    assert repeat(*map(of, CASES), lambda data: Simulation.check_ptx(30), examples=20)
