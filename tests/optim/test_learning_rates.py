"""Learning rates where none belongs."""

import pytest

import nxkernel as nx
from nxkernel import optim
from nxkernel.errors import NxTypeError


def refusal(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_a_rate_for_what_has_none_is_refused():
    assert refusal(NxTypeError, lambda: optim.clip(1.0).update(nx.tensor(1.0), (), None, 0.1)) == (
        "this transformation has no learning rate that learning_rate= could replace.\n"
        "  Put optim.scale_by_learning_rate() at the end of the chain."
    )
