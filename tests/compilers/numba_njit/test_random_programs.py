"""Random programs: what the compiler ``numba`` computes must be what the evaluator computes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lanes.fuzzing import patient, repeat
from nxkernel.compilers import registry
from nxkernel.errors import CompilationError
from nxkernel.transforms.simplify import simplify
from random_primitives import Drawn
from random_programs import Program, compare_results


def check(program):
    """Run a program both ways and compare; half-width floats are refused."""
    graph = program.graph
    expected = registry.get("evaluator").compile(graph).run(program.arrays)
    before = [array.tobytes() for array in program.arrays]
    try:
        executable = registry.get("numba").compile(simplify(graph))
    except CompilationError as error:
        if "Numba has no numbers of type" in str(error):
            return
        raise
    found = executable.run(program.arrays)
    assert [array.tobytes() for array in program.arrays] == before
    assert not any(np.shares_memory(got, array) for got in found for array in program.arrays)
    compare_results(program, found, expected)


@pytest.mark.slow
@settings(patient, max_examples=10)
@given(st.data())
def test_random_programs(data):
    check(Program(Drawn(data.draw)))


@pytest.mark.fuzz
def test_many_random_programs():
    assert repeat(lambda data: check(Program(Drawn(data.draw))))
