"""Chains, masks, accumulation, clipping and noise; and what is said of containers that do not fit."""

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
    assert refusal(NxTypeError, lambda: optim.scale(2.0).update({"w": None}, ())) == (
        "optimizers work on tensors and containers of them: grads['w'] is None.\n"
        "  Leave it out of the container, or put () in its place."
    )


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


def test_weight_decay_needs_the_parameters():
    optimizer = optim.adamw(0.1)
    assert refusal(NxTypeError, lambda: optimizer.update(PARAMS, optimizer.init(PARAMS))) == (
        "add_decayed_weights needs the parameters.\n  Give them to the update: update(grads, state, params)."
    )


def test_a_rate_for_what_has_none_is_refused():
    assert refusal(NxTypeError, lambda: optim.clip(1.0).update(nx.tensor(1.0), (), None, 0.1)) == (
        "this transformation has no learning rate that learning_rate= could replace.\n"
        "  Put optim.scale_by_learning_rate() at the end of the chain."
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


def test_accumulated_gradients_give_the_update_of_their_mean():
    inner = optim.adam(0.1)
    patient = optim.multi_steps(inner, 3)
    update = nx.jit(patient.update)
    grads = [nx.tensor([float(n), -1.0]) for n in range(6)]
    state, updates = patient.init(grads[0]), []
    with nx.assert_compiles(1):
        for one in grads:
            made, state = update(one, state)
            updates.append(made.to_list())
    assert [one for place, one in enumerate(updates) if place % 3 < 2] == [[0.0, 0.0]] * 4
    first, its = inner.update(nx.tensor([1.0, -1.0]), inner.init(grads[0]))
    second, _ = inner.update(nx.tensor([4.0, -1.0]), its)
    np.testing.assert_allclose(updates[2], first.to_list(), rtol=1e-6)
    np.testing.assert_allclose(updates[5], second.to_list(), rtol=1e-6)


def test_gradients_within_the_limit_are_not_touched_by_clipping():
    grads = (nx.tensor([0.3, -0.4]), nx.tensor(0.1))
    for one in (optim.clip(1.0), optim.clip_by_norm(1.0), optim.clip_by_global_norm(1.0)):
        updates, _ = one.update(grads, one.init(grads))
        assert [leaf.to_list() if leaf.shape else float(leaf) for leaf in updates] == [
            grads[0].to_list(), float(grads[1]),
        ]  # fmt: skip


def test_global_norm_is_that_of_all_leaves_after_clipping():
    grads = (nx.tensor([30.0, -40.0]), nx.tensor(120.0))
    updates, _ = optim.clip_by_global_norm(2.0).update(grads, ())
    assert abs(float(optim.global_norm(updates)) - 2.0) < 1e-6
    zero, _ = optim.clip_by_global_norm(2.0).update((nx.tensor([0.0]),), ())
    assert zero[0].to_list() == [0.0]


def test_noise_falls_off_and_is_that_of_its_key():
    noisy = optim.add_noise(4.0, 1.0, nx.random.key(1))
    grads = {"a": nx.broadcast(0.0, (4000,)), "b": nx.broadcast(0.0, (4000,))}
    update = nx.jit(noisy.update)
    first, state = update(grads, noisy.init(grads))
    second, _ = update(grads, state)
    again, _ = noisy.update(grads, noisy.init(grads))
    np.testing.assert_allclose(first["a"].to_numpy(), again["a"].to_numpy(), rtol=1e-5, atol=1e-6)
    assert not np.array_equal(first["a"].to_numpy(), first["b"].to_numpy())
    assert abs(first["a"].to_numpy().std() - np.sqrt(4.0 / 1)) < 0.06
    assert abs(second["a"].to_numpy().std() - np.sqrt(4.0 / 2)) < 0.06


def test_schedules_check_their_numbers():
    assert refusal(NxValueError, lambda: optim.cosine_decay_schedule(1.0, 0)) == (
        "cosine_decay_schedule: steps is at least 1, got 0"
    )
    assert refusal(NxTypeError, lambda: optim.linear_schedule(1.0, 0.0, 2.5)) == (
        "polynomial_schedule: steps is a whole number, got 2.5"
    )
    assert refusal(NxValueError, lambda: optim.join_schedules([abs, abs], [3, 4])) == (
        "join_schedules: 2 schedules have 1 boundaries, got 2"
    )
    assert refusal(NxTypeError, lambda: optim.scale_by_schedule(0.1)) == (
        "scale_by_schedule takes a function of the number of updates, got 0.1.\n  optim.scale(factor) takes a number."
    )
