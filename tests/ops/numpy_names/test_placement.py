"""Where a traced value is: where its program will run."""

import pytest

import nxkernel as nx
from nxkernel.errors import TracedValueError


def test_a_traced_value_is_where_its_program_will_run():
    seen = []

    def f(t):
        seen.append(t.device)
        return t.to_device(t.device) + 1

    assert nx.jit(f, promotion="nx")(nx.tensor([1, 2])).to_list() == [2, 3]
    assert seen == [None]


def test_a_program_runs_in_one_place():
    with pytest.raises(TracedValueError) as raised:
        nx.jit(lambda t: t.to_device("cpu"), promotion="nx")(nx.tensor([1, 2]))
    first, *_, last = str(raised.value).split("\n  ")
    assert first == "to_device() of a traced value takes None: a program runs in one place."
    assert last == "Put the tensors that the definition is called with there: f(t.to_device(…))."
