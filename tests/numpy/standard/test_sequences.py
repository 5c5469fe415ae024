"""Several arrays are a list where the standard says so, and a tuple where a program is NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp


@pytest.mark.parametrize("name", ["meshgrid", "broadcast_arrays"])
def test_calls_at_once_give_lists_and_numpys_programs_tuples(name):
    ours, theirs = getattr(nnp, name), getattr(np, name)
    one, other = np.arange(3.0), np.ones(1)
    found, expected = ours(one, other), theirs(one, other)
    assert type(found) is list
    assert type(expected) is tuple
    for part, whole in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(part), whole)
    assert type(theirs(nx.tensor(one), nx.tensor(other))) is tuple
    kinds = []

    def program(one, other):
        for function in (ours, theirs):
            parts = function(one, other)
            kinds.append(type(parts))
        return parts[0]

    np.testing.assert_array_equal(nx.jit(program)(one, other), expected[0])
    assert kinds == [tuple, tuple]
