"""Transformations by parameter group: `masked`, `multi_transform` by label, and `set_to_zero` to freeze."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import nn, optim, training
from nxkernel.errors import NxTypeError, NxValueError

PARAMS = {"dense": {"w": nx.tensor([1.0, 2.0]), "b": nx.tensor(0.5)}, "rest": (nx.tensor(1.0),)}
PARTS = {"fast": optim.sgd(0.5), "slow": optim.adam(0.1), "frozen": optim.set_to_zero()}


def refusal(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


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
    assert refusal(NxTypeError, lambda: optim.masked(optim.scale(2.0), {"w": 1.0})) == (
        "a mask has True or False for each leaf, mask['w'] is 1.0"
    )
    assert refusal(NxTypeError, lambda: optim.masked(3, True)) == (
        "optim.masked takes a gradient transformation, the first argument is 3.\n  Such as optim.adam(1e-3)."
    )


def test_one_flag_stands_for_a_whole_part():
    decay = optim.masked(optim.scale(2.0), {"dense": True, "rest": False})
    updates, _ = decay.update(PARAMS, decay.init(PARAMS))
    assert (updates["dense"]["w"].to_list(), float(updates["rest"][0])) == ([2.0, 4.0], 1.0)


def test_each_part_goes_by_its_own_optimizer():
    labels = {"dense": {"w": "slow", "b": "fast"}, "rest": "frozen"}
    optimizer = optim.multi_transform(PARTS, labels)

    @nx.jit
    def step(params, state):
        grads = nx.grad(lambda p: nx.sum(p["dense"]["w"] ** 2) + p["dense"]["b"] ** 2 + p["rest"][0] ** 2)(params)
        updates, state = optimizer.update(grads, state, params)
        return optim.apply_updates(params, updates), state

    params, state = PARAMS, optimizer.init(PARAMS)
    alone, its = PARAMS["dense"]["w"], PARTS["slow"].init(PARAMS["dense"]["w"])
    for _ in range(5):
        params, state = step(params, state)
        updates, its = PARTS["slow"].update(2 * alone, its, alone)
        alone = optim.apply_updates(alone, updates)
    np.testing.assert_allclose(params["dense"]["w"], alone, rtol=1e-6)
    assert (float(params["dense"]["b"]), float(params["rest"][0])) == (0.0, 1.0)
    assert state["slow"][0].mean["dense"]["b"] == ()


def test_a_rate_that_is_given_goes_to_all_parts_that_have_one():
    optimizer = optim.multi_transform(PARTS, lambda params: {"dense": "fast", "rest": "frozen"})
    updates, _ = optimizer.update(PARAMS, optimizer.init(PARAMS), learning_rate=2.0)
    assert (updates["dense"]["w"].to_list(), float(updates["rest"][0])) == ([-2.0, -4.0], 0.0)


def test_a_part_of_a_network_stays_as_it_is():
    x, y = nx.iota((4, 2), type="f32"), nx.iota((4, 1), type="f32")
    net = nn.serial(nn.dense(3).named("encoder"), nn.tanh, nn.dense(1).named("head"))
    params = net.init(nx.random.key(0), x)
    optimizer = optim.multi_transform(PARTS, {"encoder": "frozen", "head": "slow"})
    fitted = training.fit(net, nn.losses.mean_squared_error, optimizer, params, [(x, y)], epochs=3, progress=False)
    assert fitted.params["encoder"]["kernel"].to_list() == params["encoder"]["kernel"].to_list()
    assert fitted.params["head"]["kernel"].to_list() != params["head"]["kernel"].to_list()


@pytest.mark.parametrize(
    ("kind", "call", "text"),
    [
        (
            NxTypeError,
            lambda: optim.multi_transform([optim.adam()], "a"),
            "optim.multi_transform takes transformations by label in a dict, got a list.\n"
            '  Such as {"fine": optim.adam(1e-4), "frozen": optim.set_to_zero()}.',
        ),
        (
            NxTypeError,
            lambda: optim.multi_transform({"a": 3}, "a"),
            "optim.multi_transform takes gradient transformations, that of 'a' is 3.\n  Such as optim.adam(1e-3).",
        ),
        (
            NxTypeError,
            lambda: optim.multi_transform(PARTS, {"dense": {"w": 1}}),
            "labels are a str for each leaf, labels['dense']['w'] is 1",
        ),
        (
            NxValueError,
            lambda: optim.multi_transform(PARTS, {"dense": "fast", "rest": "still"}).init(PARAMS),
            "optim.multi_transform: params['rest'][0] has the label 'still', and there are 'fast', 'slow', 'frozen'",
        ),
        (
            NxTypeError,
            lambda: optim.multi_transform(PARTS, {"dense": "fast"}).init(PARAMS),
            "params and labels are not built alike.\n  There is params['rest'], and no labels['rest'].",
        ),
        (
            NxTypeError,
            lambda: optim.multi_transform(PARTS, {"dense": {"w": ("fast",), "b": "fast"}, "rest": "fast"}).init(PARAMS),
            "params['dense']['w'] and labels['dense']['w'] are not built alike.\n"
            "  params['dense']['w'] is a tensor, labels['dense']['w'] is a tuple.",
        ),
        (
            NxTypeError,
            lambda: optim.multi_transform(PARTS, "fast").update(PARAMS, ()),
            "the state of multi_transform is a dict, got a tuple.\n"
            "  It belongs to another optimizer: make one with init(params).",
        ),
        (
            NxValueError,
            lambda: optim.multi_transform(PARTS, "fast").update(PARAMS, {"a": ()}),
            "the state of optim.multi_transform has the labels ['fast', 'frozen', 'slow'], got ['a'].\n"
            "  It belongs to another optimizer: make one with init(params).",
        ),
    ],
)
def test_what_does_not_fit_is_told(kind, call, text):
    assert refusal(kind, call) == text
