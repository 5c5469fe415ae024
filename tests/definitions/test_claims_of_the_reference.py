"""What the documents of Nx that nxkernel starts from say of definitions, in our words, and what became of it here.

Longer ones have tests of their own: functions and texts by position (`calls/test_static_by_position.py`), programs
that are compiled ahead (`calls/test_compiled.py`), patterns (`syntax/test_match_statements.py`), clocks and random
numbers (`flow/operators/test_calls_named_under_jit.py`), settings of a machine (`keys/test_default_options.py`).
"""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxAttributeError, NxTypeError


def test_functions_are_arguments_as_tensors_are():
    @nx.defn
    def objective(predict_fn, loss_fn, params, inputs, targets):
        return loss_fn(predict_fn(params, inputs), targets)

    @nx.defn
    def update(params, inputs, targets, step, loss_fn=lambda p, t: nx.mean((p - t) ** 2)):
        loss, slope = nx.value_and_grad(params, lambda w: objective(nx.dot, loss_fn, w, inputs, targets))
        return params - step * slope, loss

    params, loss = update(nx.tensor([1.0, 1.0]), nx.tensor([2.0, 3.0]), 4.0, 0.1)
    assert (params.to_list(), float(loss)) == (pytest.approx([0.6, 0.4]), 1.0)
    _, loss = update(nx.tensor([1.0, 1.0]), nx.tensor([2.0, 3.0]), 4.0, 0.1, lambda p, t: nx.abs(p - t) * 3)
    assert float(loss) == 3.0


def test_a_transform_may_match_on_a_tuple_of_tags():
    @nx.deftransform
    def activation(t, tags):
        match tags:
            case ("relu", "leaky"):
                return nx.select(t > 0, t, 0.1 * t)
            case ("relu", *_):
                return nx.max(t, 0)
        raise ValueError(f"no activation is {tags}")

    @nx.defn
    def by_option(t, *, tags):
        return activation(t, tags)

    @nx.defn
    def by_position(t, tags):
        return activation(t, tags)

    t = nx.tensor([-1.0, 2.0])
    for tags, expected in ((("relu", "leaky"), [-0.1, 2.0]), (("relu", "plain"), [0.0, 2.0])):
        np.testing.assert_allclose(by_option(t, tags=tags), expected, rtol=1e-6)
        np.testing.assert_allclose(by_position(t, tags), expected, rtol=1e-6)
    with pytest.raises(ValueError, match=r"no activation is \('tanh',\)"):
        by_position(t, ("tanh",))


def test_arguments_are_taken_apart_by_patterns():
    @nx.defn
    def total(pair):
        match pair:
            case (a, (b, *_)):
                return a + b
            case {"a": a}:
                return a

    assert [float(total((1.0, (2.0, 3.0)))), float(total({"a": 4.0}))] == [3.0, 4.0]


@pytest.mark.parametrize("name", ["grad", "value_and_grad"])
def test_several_variables_are_one_argument(name):
    """In Elixir a tuple is one argument that the function takes apart; in Python this function takes two."""
    with pytest.raises(NxTypeError) as error:
        getattr(nx, name)((1.0, 2.0), lambda a, b: a * b)
    assert str(error.value) == (
        "grad of <lambda>: variables are one argument, and the function takes 2: a, b.\n"
        "  Write lambda variables: … and a, b = variables in it,\n"
        "  or nx.grad(function, argnums=(0, 1))(a, b)."
    )
    assert [float(each) for each in nx.grad((1.0, 2.0), lambda ab: ab[0] * ab[1])] == [2.0, 1.0]


def test_what_takes_the_loss_out_is_named_transform():
    for by_name in (
        nx.value_and_grad(3.0, lambda w: (w, w * w), transform=lambda pair: pair[1]),
        nx.jit(lambda w: nx.value_and_grad(w, lambda w: (w, w * w), transform=lambda pair: pair[1]))(3.0),
    ):
        (value, loss), slope = by_name
        assert [float(value), float(loss), float(slope)] == [3.0, 9.0, 6.0]


def test_to_backend_is_a_method():
    with pytest.raises(NxAttributeError) as error:
        nx.to_backend  # noqa: B018
    assert 't.to_backend("cpu")' in str(error.value)
    assert "batched" not in str(error.value)
    assert nx.tensor([1.0]).to_backend("cpu").to_list() == [1.0]


def test_hooks_need_no_tokens():
    """The reference keeps an unused hook, and the order of several, by tokens; here they are part of the program."""
    met = []

    @nx.jit
    def f(x):
        nx.hook(x + 1, "first", lambda value: met.append(("first", float(value))))
        nx.hook(x + 2, "second", lambda value: met.append(("second", float(value))))
        return x

    assert float(f(1.0)) == 1.0
    assert met == [("first", 2.0), ("second", 3.0)]


def test_the_same_random_numbers_come_from_the_same_key_and_not_from_a_generator():
    """Functions under ``jit`` are pure: what would differ from call to call is an argument."""

    @nx.jit
    def noisy(x, key):
        return x + nx.random.uniform(key, shape=x.shape)[0]

    x = nx.tensor([1.0, 2.0])
    assert noisy(x, nx.random.key(1)).to_list() == noisy(x, nx.random.key(1)).to_list()
    assert noisy(x, nx.random.key(1)).to_list() != noisy(x, nx.random.key(2)).to_list()
