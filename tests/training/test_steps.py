"""Steps of training as compiled functions."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import optim, training
from nxkernel.errors import NxTypeError, NxValueError

BATCH = (nx.tensor([[1.0, 2.0], [3.0, -1.0]]), nx.tensor([1.0, 2.0]))
PARAMS = {"w": nx.tensor([0.5, 0.25])}


def linear(params, x):
    return nx.dot(x, params["w"])


def square(y, found):
    return nx.mean((found - y) ** 2)


def worst(y, found):
    return nx.reduce_max(nx.abs(found - y))


def refusal(call, kind=NxTypeError):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_a_step_is_value_gradient_and_update():
    optimizer = optim.sgd(0.1)
    step = training.make_step(linear, square, optimizer)
    params, state, loss = step(PARAMS, optimizer.init(PARAMS), BATCH)
    x, y = (part.to_numpy() for part in BATCH)
    error = x @ [0.5, 0.25] - y
    np.testing.assert_allclose(float(loss), np.mean(error**2), rtol=1e-6)
    np.testing.assert_allclose(params["w"].to_numpy(), [0.5, 0.25] - 0.1 * x.T @ error, rtol=1e-6)
    assert state == optimizer.init(PARAMS)


def test_metrics_are_of_the_same_predictions():
    optimizer = optim.sgd(0.1)
    for metrics in ([worst], {"worst": worst}):
        step = training.make_step(linear, square, optimizer, metrics=metrics)
        told = step(PARAMS, optimizer.init(PARAMS), BATCH)[2]
        assert {name: round(float(value), 6) for name, value in told.items()} == {"loss": 0.28125, "worst": 0.75}


def test_a_learning_rate_is_an_argument_without_a_new_compilation():
    optimizer = optim.adam()
    step = training.make_step(linear, square, optimizer)
    params, state, _ = step(PARAMS, optimizer.init(PARAMS), BATCH, 0.1)
    with nx.no_compile():
        for rate in (0.05, 0.025, 0.0125):
            params, state, _ = step(params, state, BATCH, rate)
        by_name = step(params, state, BATCH, learning_rate=0.01)
    np.testing.assert_array_equal(by_name[0]["w"].to_numpy(), step(params, state, BATCH, 0.01)[0]["w"].to_numpy())


def test_a_learning_rate_as_an_option_is_traced_again_and_kernels_are_reused():
    optimizer = optim.adam()

    def step(params, state, *, rate):
        return optimizer.update(params, state, params, rate)

    step = nx.jit(step)
    step(PARAMS, optimizer.init(PARAMS), rate=0.5)
    nx.events()
    before = step.cache_info()
    step(PARAMS, optimizer.init(PARAMS), rate=0.25)
    after = step.cache_info()
    assert (after.misses - before.misses, after.compiled - before.compiled) == (1, 0)


def test_models_are_given_keys_and_told_that_they_are_in_training():
    def model(params, x, *, key=None, training=False):
        scale = nx.random.uniform_split(key) if key is not None else 1.0
        return linear(params, x) * scale * (2.0 if training else 1.0)

    optimizer = optim.sgd(0.1)
    step = training.make_step(model, lambda y, found: nx.sum(found), optimizer)
    key = nx.random.key(1)
    loss = step(PARAMS, optimizer.init(PARAMS), BATCH, key=key)[2]
    expected = 2 * 2.25 * float(nx.random.uniform_split(key))
    np.testing.assert_allclose(float(loss), expected, rtol=1e-6)
    folded = step(PARAMS, optimizer.init(PARAMS), BATCH, key=(key, 7))[2]
    expected = 2 * 2.25 * float(nx.random.uniform_split(nx.random.fold_in(key, 7)))
    np.testing.assert_allclose(float(folded), expected, rtol=1e-6)
    evaluation = training.make_evaluation(model, lambda y, found: nx.sum(found))
    assert float(evaluation(PARAMS, BATCH)["loss"]) == 2.25


def test_models_with_state_have_it_beside_the_optimizers():
    def model(params, x, *, state):
        return linear(params, x) - state["mean"], {"mean": 0.5 * state["mean"] + 0.5 * nx.mean(x)}

    optimizer = optim.sgd(0.1)
    step = training.make_step(model, square, optimizer, stateful=True)
    state = (optimizer.init(PARAMS), {"mean": nx.tensor(0.0)})
    params, state, _ = step(PARAMS, state, BATCH)
    assert float(state[1]["mean"]) == 0.625
    evaluation = training.make_evaluation(model, square, stateful=True)
    assert evaluation(params, BATCH, state[1])["loss"].shape == ()
    assert refusal(lambda: step(PARAMS, optimizer.init(PARAMS), BATCH)).split("\n  ")[1] == (
        "Write (optimizer.init(params), model.init_state(x))."
    )
    assert refusal(lambda: training.make_step(linear, square, optimizer, stateful=True)) == (
        "stateful=True is for models that take state= and give predictions and the next state.\n"
        "  This one takes no such argument."
    )


def test_what_makes_no_step_is_refused():
    optimizer = optim.sgd(0.1)
    assert refusal(lambda: training.make_step(linear, square, 0.1)) == (
        "make_step takes an optimizer of nxkernel.optim, got 0.1.\n  Such as optim.adam(1e-3)."
    )
    assert refusal(lambda: training.make_step(3, square, optimizer)) == (
        "a model is a function of parameters and inputs, got 3"
    )
    assert refusal(lambda: training.make_step(linear, None, optimizer)) == (
        "the loss is a function of targets and predictions, got None"
    )
    assert refusal(lambda: training.make_step(linear, square, optimizer, metrics=worst)).startswith(
        "metrics are functions in a dict or list, got "
    )
    assert refusal(lambda: training.make_step(linear, square, optimizer, metrics=[worst, worst]), NxValueError) == (
        "two metrics are called 'worst'.\n  Give them names: metrics={'first': f, 'second': g}."
    )


def test_a_loss_of_many_numbers_is_refused():
    optimizer = optim.sgd(0.1)
    step = training.make_step(linear, lambda y, found: (found - y) ** 2, optimizer)
    text = refusal(lambda: step(PARAMS, optimizer.init(PARAMS), BATCH))
    assert text.startswith("'loss' gives f32[2], and one number is needed.")
    assert text.endswith("Take the mean over the batch: nx.mean(t).")


def test_a_batch_is_a_pair():
    optimizer = optim.sgd(0.1)
    step = training.make_step(linear, square, optimizer)
    text = refusal(lambda: step(PARAMS, optimizer.init(PARAMS), BATCH[0]))
    assert text.startswith("a batch is a pair (x, y), got ")
