"""Clipping, weight decay and noise."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import optim
from nxkernel.errors import NxTypeError

PARAMS = {"dense": {"w": nx.tensor([1.0, 2.0]), "b": nx.tensor(0.5)}, "rest": (nx.tensor(1.0),)}


def refusal(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_weight_decay_needs_the_parameters():
    optimizer = optim.adamw(0.1)
    assert refusal(NxTypeError, lambda: optimizer.update(PARAMS, optimizer.init(PARAMS))) == (
        "add_decayed_weights needs the parameters.\n  Give them to the update: update(grads, state, params)."
    )


def test_gradients_within_the_limit_are_not_touched_by_clipping():
    grads = (nx.tensor([0.3, -0.4]), nx.tensor(0.1))
    for one in (optim.clip(1.0), optim.clip_by_norm(1.0), optim.clip_by_global_norm(1.0)):
        updates, _ = one.update(grads, one.init(grads))
        assert [leaf.to_list() if leaf.shape else float(leaf) for leaf in updates] == [
            grads[0].to_list(), float(grads[1]),
        ]  # fmt: skip


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
