"""Chains and masks, and what is said of those that do not fit."""

import pickle

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
        "optim.chain takes gradient transformations, argument 2 is 0.1.\n  Such as optim.adam(1e-3)."
    )


def test_optimizers_are_pickled():
    optimizer = optim.chain(optim.clip(1.0), optim.adam(0.1, b1=0.5), optim.identity())
    other = pickle.loads(pickle.dumps(optimizer))
    assert repr(other) == repr(optimizer)
    state = optimizer.init(PARAMS)
    one, two = (made.update(PARAMS, state, PARAMS)[0]["dense"]["w"] for made in (optimizer, other))
    assert one.to_list() == two.to_list()
    plain = pickle.loads(pickle.dumps(optim.Transformation(tuple, max)))
    assert repr(plain) == "<gradient transformation>"


def test_what_makes_a_transformation_is_none():
    assert refusal(NxTypeError, lambda: optim.multi_steps(optim.adam, 2)).endswith(
        "\n  Make one by a call, such as optim.adam(1e-3)."
    )


@pytest.mark.parametrize(
    ("optimizer", "other", "text"),
    [
        (optim.adam(0.1), optim.sgd(0.1, 0.9), "scale_by_adam is a MomentsState, got a MomentumState"),
        (optim.lion(0.1), optim.adamw(0.1), "scale_by_lion is a MomentumState, got a MomentsState"),
        (optim.rmsprop(0.1), optim.rmsprop(0.1, centered=True), "scale_by_rms is a SquareState, got a CenteredState"),
        (optim.multi_steps(optim.sgd(0.1), 2), optim.sgd(0.1), "multi_steps is a GatheredState, got a tuple"),
        (
            optim.sgd(optim.constant_schedule(0.1)),
            optim.sgd(0.1),
            "scale_by_learning_rate is a StepState, got a tuple",
        ),
    ],
)
def test_the_state_of_another_optimizer_is_refused(optimizer, other, text):
    state = other.init(PARAMS)
    state = state if "GatheredState" in text or len(state) > 1 else state[:1]
    assert refusal(NxTypeError, lambda: optimizer.update(PARAMS, state, PARAMS)).startswith(f"the state of {text}")
