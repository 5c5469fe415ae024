"""Variables without a value: whatever is done with them says so."""

import operator

import pytest

import nxkernel as nx
from nxkernel.definitions.flow.values.unassigned_variables import (
    NxUnboundError,
    Unassigned,
    is_unassigned,
    pending,
    unassigned,
)

USES = [
    lambda v: v + 1, lambda v: 1 + v, lambda v: v[0], lambda v: v(), lambda v: v.shape, bool, int, float, len, list,
    operator.neg, lambda v: v == 1, lambda v: f"{v}", nx.sum, lambda v: v @ v,
]  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_every_use_is_an_error(use):
    with pytest.raises(NxUnboundError) as raised:
        use(unassigned("total"))
    assert str(raised.value) == "the variable `total` is used before it has a value.\n  Assign it first."


def test_it_is_pythons_error_too():
    assert issubclass(NxUnboundError, UnboundLocalError)


def test_what_it_is():
    assert is_unassigned(unassigned("a"))
    assert not is_unassigned(None)
    assert pending("value_1").pending
    assert not Unassigned("a").pending
    assert repr(unassigned("a")) == "<no value of a>"


def test_a_variable_that_is_read_before_it_is_assigned(run):
    f = run("@nx.defn\ndef f(x):\n    for i in range(3):\n        total = total + x\n    return total\n")["f"]
    with pytest.raises(NxUnboundError) as raised:
        f(1.0)
    assert str(raised.value) == (
        "the variable `total` is used before it has a value.\n  cell.py, line 4:  total = total + x\n  Assign it first."
    )
