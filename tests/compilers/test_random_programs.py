"""Random programs: what numba_cpu computes must be what the evaluator computes, in type, shape and value."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanes.fuzzing import make_small, patient, repeat
from nxkernel.compilers import registry
from nxkernel.transforms.simplify import simplify
from random_primitives import Drawn
from random_programs import Program, compare_results


@st.composite
def programs(draw):
    return Program(Drawn(draw))


def check(program):
    """Run a program both ways and compare."""
    graph = program.graph
    expected = registry.get("evaluator").compile(graph).run(program.arrays)
    before = [array.tobytes() for array in program.arrays]
    found = registry.get("numba_cpu").compile(simplify(graph)).run(program.arrays)
    assert [array.tobytes() for array in program.arrays] == before
    assert not any(np.shares_memory(got, array) for got in found for array in program.arrays)
    compare_results(program, found, expected)


@pytest.fixture(params=["small", "usual"])
def limits(request, monkeypatch):
    """With small limits even small programs are cut into blocks, tiles and columns, and run on every thread."""
    if request.param == "small":
        make_small(monkeypatch.setattr)


@settings(patient, max_examples=25)
@given(program=programs())
def test_random_programs(program, limits):
    check(program)


@pytest.mark.fuzz
def test_many_random_programs(limits):
    assert repeat(lambda data: check(Program(Drawn(data.draw))))
