"""Chains and masks, and what is said of those that do not fit."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import optim
from nxkernel.errors import NxTypeError, NxValueError

PARAMS = {"dense": {"w": nx.tensor([1.0, 2.0]), "b": nx.tensor(0.5)}, "rest": (nx.tensor(1.0),)}


def refusal(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_the_state_of_another_chain_is_refused():
    chain = optim.chain(optim.clip(1.0), optim.sgd(0.1))
    assert refusal(NxValueError, lambda: chain.update(nx.tensor(1.0), ((),))) == (
        "the state of a chain of 2 transformations has a part for each, got 1 part.\n"
        "  It belongs to another optimizer: make one with init(params)."
    )


def test_a_chain_takes_transformations_alone():
    assert refusal(NxTypeError, lambda: optim.chain(optim.clip(1.0), 0.1)) == (
        "optim.chain takes gradient transformations, argument 2 is 0.1"
    )


def test_states_of_masked_transformations_have_no_leaves_for_the_rest():
    mask = {"dense": {"w": True, "b": False}, "rest": (False,)}
    optimizer = optim.masked(optim.adam(0.1), mask)
    state = optimizer.init(PARAMS)
    assert state[0].mean["dense"]["b"] == ()
    updates, _ = nx.jit(optimizer.update)(PARAMS, state, PARAMS)
    np.testing.assert_allclose(updates["dense"]["w"].to_numpy(), [-0.1, -0.1], rtol=1e-5)
    assert float(updates["dense"]["b"]) == 0.5
    assert float(updates["rest"][0]) == 1.0


def test_a_mask_can_be_a_function_of_the_parameters():
    large = optim.masked(optim.scale(0.0), lambda params: {name: leaf.size > 1 for name, leaf in params.items()})
    updates, _ = large.update(PARAMS["dense"], large.init(PARAMS["dense"]), PARAMS["dense"])
    assert (updates["w"].to_list(), float(updates["b"])) == ([0.0, 0.0], 0.5)


def test_masks_are_checked():
    decay = optim.masked(optim.scale(2.0), {"w": True})
    assert refusal(NxTypeError, lambda: decay.init({"w": nx.tensor(1.0), "b": nx.tensor(1.0)})) == (
        "params and mask are not built alike.\n  There is params['b'], and no mask['b']."
    )
    decay = optim.masked(optim.scale(2.0), {"w": 1.0})
    assert refusal(NxTypeError, lambda: decay.init({"w": nx.tensor(1.0)})) == (
        "a mask has True or False for each leaf, mask['w'] is 1.0"
    )
