"""Programs written for NumPy alone give NumPy's results as definitions, with graphs that do not grow with the data."""

import pytest

from collection.catalogue import PROGRAMS
from collection.comparing import compare, graph_size


@pytest.mark.sampled(every=48)
@pytest.mark.parametrize("program", [program for program in PROGRAMS if not program.grows], ids=lambda p: p.name)
def test_gives_numpys_results_with_a_graph_that_does_not_grow(program):
    small, large = (graph_size(compare(program, size)) for size in program.sizes)
    assert small == large


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("program", [program for program in PROGRAMS if program.grows], ids=lambda p: p.name)
def test_gives_numpys_results_where_every_step_has_other_shapes(program):
    small, large = (graph_size(compare(program, size)) for size in program.sizes)
    assert small < large < 10 * small


def test_names_are_unique():
    names = [program.name for program in PROGRAMS]
    assert sorted(set(names)) == sorted(names)
