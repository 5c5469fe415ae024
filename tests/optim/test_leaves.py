"""What is said of containers that do not fit: the first place where they differ."""

import pytest

import nxkernel as nx
from nxkernel import optim
from nxkernel.errors import NxTypeError, NxValueError

PARAMS = {"dense": {"w": nx.tensor([1.0, 2.0]), "b": nx.tensor(0.5)}, "rest": (nx.tensor(1.0),)}


def refusal(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_a_missing_leaf_is_named_by_its_path():
    optimizer = optim.adam(0.1)
    grads = {"dense": {"w": nx.tensor([1.0, 2.0])}, "rest": (nx.tensor(1.0),)}
    assert refusal(NxTypeError, lambda: optimizer.update(grads, optimizer.init(PARAMS), PARAMS)) == (
        "grads and state.mean are not built alike.\n  There is state.mean['dense']['b'], and no grads['dense']['b']."
    )


def test_a_leaf_too_many_is_named_by_its_path():
    updates = {"dense": {**PARAMS["dense"], "c": nx.tensor(1.0)}, "rest": (nx.tensor(1.0),)}
    assert refusal(NxTypeError, lambda: optim.apply_updates(PARAMS, updates)) == (
        "params and updates are not built alike.\n  There is updates['dense']['c'], and no params['dense']['c']."
    )


def test_a_container_of_another_kind_is_named_by_its_path():
    updates = {"dense": PARAMS["dense"], "rest": [nx.tensor(1.0)]}
    assert refusal(NxTypeError, lambda: optim.apply_updates(PARAMS, updates)) == (
        "params and updates are not built alike.\n  params['rest'] is a tuple, updates['rest'] is a list."
    )


def test_another_shape_is_named_by_its_path():
    updates = {"dense": {"w": nx.tensor([1.0]), "b": nx.tensor(0.5)}, "rest": (nx.tensor(1.0),)}
    assert refusal(NxValueError, lambda: optim.apply_updates(PARAMS, updates)) == (
        "params['dense']['w'] is f32[2], updates['dense']['w'] is f32[1]: their shapes differ.\n"
        "  A state belongs to the parameters that it was made for by init."
    )


def test_none_among_gradients_is_named_by_its_path():
    assert refusal(NxTypeError, lambda: optim.apply_updates({"w": nx.tensor(1.0)}, {"w": None})) == (
        "params and updates are not built alike.\n  params['w'] is a tensor, updates['w'] is None."
    )


def test_what_is_no_tensor_stays_where_it_is():
    params = {"w": nx.tensor([1.0]), "b": None, "name": "dense"}
    made = optim.apply_updates(params, {"w": nx.tensor([2.0]), "b": None, "name": "dense"})
    assert (made["w"].to_list(), made["b"], made["name"]) == ([3.0], None, "dense")
    assert refusal(NxTypeError, lambda: optim.scale(2.0).update(None, ())) == (
        "optimizers work on tensors and containers of them: grads is None.\n"
        "  Leave it out of the container, or put () in its place."
    )
