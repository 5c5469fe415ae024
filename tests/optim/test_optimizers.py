"""Optimizers: they converge, pass through jit as containers, and take a learning rate at each step."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel import optim
from nxkernel.errors import NxTypeError, NxValueError


def rosenbrock(p):
    return (1 - p["x"]) ** 2 + 100 * (p["y"] - p["x"] ** 2) ** 2


MINIMIZERS = {
    "sgd": (optim.sgd(2e-4, 0.99, nesterov=True), 3000),
    "adam": (optim.adam(0.05), 2000),
    "nadam": (optim.nadam(0.05), 2000),
    "adabelief": (optim.adabelief(0.05), 2000),
    "adamax": (optim.adamax(0.1), 6000),
    "radam": (optim.chain(optim.clip_by_global_norm(1.0), optim.radam(0.05)), 2500),
    "rmsprop": (optim.rmsprop(optim.exponential_decay(0.02, 500, 0.3)), 4000),
    "adagrad": (optim.adagrad(0.5), 8000),
    "lion": (optim.lion(optim.exponential_decay(0.01, 500, 0.4), weight_decay=0.0), 4000),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", MINIMIZERS)
def test_the_minimum_of_rosenbrocks_function_is_found(name):
    optimizer, count = MINIMIZERS[name]

    @nx.defn
    def descend(params, state, count):
        for _ in range(count):
            slope = nx.grad(params, rosenbrock)
            updates, state = optimizer.update(slope, state, params)
            params = optim.apply_updates(params, updates)
        return params

    start = {"x": nx.tensor(-1.2, type="f64"), "y": nx.tensor(1.0, type="f64")}
    found = descend(start, optimizer.init(start), count)
    assert abs(float(found["x"]) - 1) < 0.02
    assert abs(float(found["y"]) - 1) < 0.04


def test_least_squares_are_found_exactly():
    x = np.random.default_rng(0).normal(size=(50, 3))
    y = x @ [1.0, -2.0, 3.0] + 0.5
    optimizer = optim.adam(optim.cosine_decay_schedule(0.1, 600))

    @nx.jit
    def step(params, state, x, y):
        slope = nx.grad(lambda p: nx.mean((nx.dot(x, p["w"]) + p["b"] - y) ** 2))(params)
        updates, state = optimizer.update(slope, state, params)
        return optim.apply_updates(params, updates), state

    params = {"w": nx.broadcast(nx.tensor(0.0, type="f64"), (3,)), "b": nx.tensor(0.0, type="f64")}
    state = optimizer.init(params)
    for _ in range(600):
        params, state = step(params, state, x, y)
    np.testing.assert_allclose(params["w"].to_numpy(), [1.0, -2.0, 3.0], atol=1e-5)
    assert abs(float(params["b"]) - 0.5) < 1e-5


def test_a_learning_rate_as_an_argument_costs_no_compilation():
    optimizer = optim.adamw()
    update = nx.jit(optimizer.update)
    params = {"w": nx.tensor([1.0, 2.0])}
    grads = {"w": nx.tensor([0.5, -0.5])}
    updates, state = update(grads, optimizer.init(params), params, 0.1)
    with nx.no_compile():
        for count in range(20):
            updates, state = update(grads, state, params, 0.1 / (count + 1))
    fixed, state = optim.adamw(0.1), optim.adamw(0.1).init(params)
    for _ in range(21):
        expected, state = fixed.update(grads, state, params)
    np.testing.assert_allclose(20 * updates["w"].to_numpy(), expected["w"].to_numpy(), rtol=1e-5)


def test_a_learning_rate_that_an_update_is_given_goes_before_the_optimizers():
    optimizer = optim.sgd(0.1)
    assert float(optimizer.update(nx.tensor(1.0), optimizer.init(nx.tensor(0.0)), None, 0.5)[0]) == -0.5


def test_a_rate_that_the_optimizer_was_made_with_is_never_stale():
    optimizer = optim.sgd(0.5)

    @nx.jit
    def step(w):
        return optimizer.update(w, optimizer.init(w))[0]

    assert float(step(1.0)) == -0.5
    optimizer = optim.sgd(0.25)
    assert float(step(1.0)) == -0.25


def test_a_rate_that_is_a_captured_tensor_changes_without_compilation():
    rate = nx.tensor(0.5)

    @nx.jit
    def step(w):
        optimizer = optim.sgd(rate)
        return optimizer.update(w, optimizer.init(w))[0]

    assert float(step(1.0)) == -0.5
    rate = nx.tensor(0.25)
    with nx.no_compile():
        assert float(step(1.0)) == -0.25


def test_states_are_named_tuples_that_keep_types_through_jit():
    optimizer = optim.chain(optim.clip(1.0), optim.adam(0.1))
    params = [nx.tensor([1.0], type="bf16"), nx.tensor([2.0], type="f64")]
    state = optimizer.init(params)
    _, after = nx.jit(optimizer.update)(params, state, params)
    assert type(after[1][0]).__name__ == "MomentsState"
    assert [leaf.type for leaf in after[1][0].mean] == ["bf16", "f64"]
    assert int(after[1][0].count) == 1
    updates, _ = optimizer.update(params, state, params)
    assert [leaf.type for leaf in optim.apply_updates(params, updates)] == ["bf16", "f64"]


def test_a_first_step_of_adam_is_the_learning_rate_even_with_a_decay_next_to_one():
    optimizer = optim.adam(0.1, b2=0.9999999)
    updates, _ = optimizer.update(nx.tensor([3.0, -4.0]), optimizer.init(nx.tensor([0.0, 0.0])))
    np.testing.assert_allclose(updates.to_numpy(), [-0.1, 0.1], rtol=1e-5)


def test_gradients_of_zero_leave_parameters_where_they_are():
    params = nx.tensor([1.0, -1.0])
    for optimizer in (optim.adagrad(0.1, initial=0.0), optim.adam(0.1), optim.rmsprop(0.1), optim.lamb(0.1)):
        updates, _ = optimizer.update(nx.tensor([0.0, 0.0]), optimizer.init(params), params)
        assert updates.to_list() == [0.0, 0.0]


def test_an_optimizer_without_learning_rate_asks_for_one():
    optimizer = optim.adam()
    with pytest.raises(NxTypeError) as caught:
        optimizer.update(nx.tensor(1.0), optimizer.init(nx.tensor(1.0)))
    assert str(caught.value) == (
        "the optimizer was made without a learning rate, and this update was given none.\n"
        "  Write update(grads, state, params, learning_rate=0.01), or make it with one: optim.adam(0.01)."
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: optim.adam(0.1, b1=1.0), "scale_by_adam: b1 is at least 0 and less than 1, got 1.0"),
        (lambda: optim.adam(0.1, eps=-1.0), "scale_by_adam: eps is at least 0, got -1.0"),
        (lambda: optim.sgd(-0.1), "an optimizer: learning_rate is at least 0, got -0.1"),
        (lambda: optim.sgd(0.1, 2), "sgd: momentum is at least 0 and less than 1, got 2"),
        (
            lambda: optim.sgd(0.1, nesterov=True),
            "sgd: nesterov is a kind of momentum.\n  Give one: sgd(0.1, 0.9, nesterov=True).",
        ),
    ],
)
def test_numbers_out_of_range_are_refused(make, text):
    with pytest.raises(NxValueError) as caught:
        make()
    assert str(caught.value) == text


def test_what_is_no_number_is_refused():
    with pytest.raises(NxTypeError, match=r"^scale_by_adam: b1 is a number, got "):
        optim.adam(0.1, b1="much")
    with pytest.raises(NxTypeError, match=r"^sgd: momentum is a number, got 'much'"):
        optim.sgd(0.1, "much")
    with pytest.raises(NxTypeError, match=r"^sgd: nesterov is True or False, got 'yes'"):
        optim.sgd(0.1, 0.9, nesterov="yes")
    with pytest.raises(NxTypeError, match=r"^scale_by_rms: centered is True or False, got 1"):
        optim.rmsprop(0.1, centered=1)
    with pytest.raises(NxTypeError, match=r"^the learning rate is one number, got '0.1'"):
        optim.sgd(0.1).update(nx.tensor(1.0), ((),), learning_rate="0.1")


def test_parameters_of_whole_numbers_are_refused_by_path():
    with pytest.raises(NxTypeError) as caught:
        optim.adam(0.1).init({"w": [nx.tensor([1, 2])]})
    assert str(caught.value) == (
        "params['w'][0] is s64[2]; optimizers change floating-point numbers.\n"
        '  Convert it with nx.as_type(t, "f32"), or keep it apart from the parameters.'
    )


def test_an_optimizer_that_is_made_alike_finds_the_programs_of_the_one_before():
    def made():
        optimizer = optim.chain(optim.clip(1.0), optim.adamw(optim.cosine_decay_schedule(0.1, 10)))
        return nx.jit(optimizer.update), optimizer.init(nx.tensor(1.0))

    update, state = made()
    update(nx.tensor(1.0), state, nx.tensor(1.0))
    with nx.no_compile():
        update, state = made()
        update(nx.tensor(1.0), state, nx.tensor(1.0))


def test_tensors_that_optimizers_are_made_of_are_data_and_never_stale():
    def made(rate):
        optimizer = optim.chain(optim.clip(10.0), optim.sgd(nx.tensor(rate)))
        return nx.jit(optimizer.update)

    assert float(made(0.5)(nx.tensor(1.0), ((), ((),)))[0]) == -0.5
    with nx.no_compile():
        assert float(made(0.25)(nx.tensor(1.0), ((), ((),)))[0]) == -0.25


def test_optimizers_are_shown_as_they_were_made():
    assert repr(optim.adam(0.1, b1=0.8)) == "adam(0.1, b1=0.8)"
    assert repr(optim.chain(optim.clip(1.0), optim.sgd(0.1))) == "chain(clip(1.0), sgd(0.1))"
    assert repr(optim.Transformation(lambda params: (), lambda g, s, p: (g, s))) == "<gradient transformation>"


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", ["f16", "bf16"])
@pytest.mark.parametrize(
    "optimizer",
    [optim.adam(0.1), optim.nadam(0.1), optim.adabelief(0.1), optim.radam(0.1), optim.adamax(0.1), optim.rmsprop(0.1)],
    ids=repr,
)
def test_narrow_parameters_have_squares_in_f32(optimizer, type_):
    params = nx.tensor([1.0, -1.0, 0.5], type=type_)
    grads = nx.tensor([0.0, 1e-4, -2.0], type=type_)
    state = optimizer.init(params)
    for _ in range(8):
        updates, state = nx.jit(optimizer.update)(grads, state, params)
    assert updates.type == type_
    assert np.isfinite(np.asarray(updates.to_list())).all()
    assert updates.to_list()[0] == 0
