import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.observe.events import events
from nxkernel.errors import NxTypeError, NxValueError


def power(x, n, mode="up"):
    for _ in range(n):
        x = x * x if mode == "up" else x / 2
    return x


def test_named_arguments_are_static():
    made = nx.jit(power, static_argnames=("n", "mode"))
    assert float(made(2.0, 3)) == 256.0
    assert float(made(2.0, 3, "down")) == 0.25
    assert float(made(2.0, n=2)) == 16.0
    assert made.cache_info().misses == 3
    assert float(made(3.0, 3)) == 6561.0
    assert made.cache_info().misses == 3


def test_places_are_static():
    assert float(nx.jit(lambda x, n: power(x, n), static_argnums=1)(2.0, 1)) == 4.0
    assert float(nx.jit(power, static_argnums=(1, -1))(2.0, 1, "down")) == 1.0
    made = nx.defn(static_argnums=(1, 2))(power)
    assert float(made(2.0, 1, "down")) == 1.0


def test_arguments_that_follow_keep_their_place():
    @nx.defn(static_argnames="shape", promotion="nx")
    def filled(shape, value, scale=2.0):
        return nx.broadcast(value * scale, shape)

    assert filled((2,), 3.0).to_list() == [6.0, 6.0]
    assert filled((1,), 3.0, 1.0).to_list() == [3.0]
    assert filled(shape=(1,), value=1.0).to_list() == [2.0]


def test_quick_calls_tell_static_values_apart():
    made = nx.jit(lambda x, k: x * k, static_argnames="k")
    x = nx.tensor([1.0])
    for _ in range(3):
        assert made(x, 2).to_list() == [2.0]
        assert made(x, 3).to_list() == [3.0]
        assert str(made(x, True).type) == "f32"
        assert made(x, 2.0).to_list() == [2.0]
    assert made.cache_info().misses == 4


def test_the_value_that_changed_is_told():
    made = nx.jit(power, static_argnames=("n", "mode"))
    made(2.0, 1)
    made(2.0, 2)
    assert events(made, "miss")[-1].reason == ("argument n: 1 → 2",)
    assert made.why(2.0, 3).difference == ("argument n: 2 → 3",)


def test_inside_another_definition_they_are_static_too():
    inner = nx.defn(static_argnames=("n", "mode"))(power)
    assert float(nx.jit(lambda x: inner(x, 2, "down"))(8.0)) == 2.0


def test_static_arguments_are_kept_by_jit():
    made = nx.jit(nx.defn(power, static_argnames=("n", "mode")))
    assert float(made(8.0, 2, "down")) == 2.0


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (
            {"static_argnames": "m"},
            NxTypeError,
            "power(x, n, mode='up') has no parameter 'm', which static_argnames names.\n"
            "  Its parameters: 'x', 'n', 'mode'.",
        ),
        (
            {"static_argnums": 3},
            NxValueError,
            "power(x, n, mode='up') has 3 positional parameters, and static_argnums has 3.\n  Places count from 0.",
        ),
        ({"static_argnames": 1}, NxTypeError, "static_argnames takes names, such as ('n', 'mode'), got 1"),
        ({"static_argnums": "n"}, NxTypeError, "static_argnums takes places, such as (1, 2), got 'n'"),
    ],
)
def test_parameters_that_there_are_not(given, error, text):
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        nx.jit(power, **given)


def test_parameters_without_a_name():
    with pytest.raises(NxTypeError) as caught:
        nx.jit(lambda x, n, /: x * n, static_argnums=1)
    assert str(caught.value) == (
        "'n' of <lambda>(x, n, /) cannot be a static argument: it has no name that a call could use.\n"
        "  Declare it after `*`, where every argument is static."
    )


def test_what_cannot_be_part_of_a_key():
    made = nx.jit(power, static_argnames=("n", "mode"))
    with pytest.raises(NxTypeError) as caught:
        made(1.0, [2])
    assert str(caught.value) == (
        "power got a list for 'n', which is a static argument and part of the key: it must be hashable.\n"
        "  Pass a tuple."
    )
    with pytest.raises(NxTypeError) as caught:
        made(1.0, np.arange(3))
    assert str(caught.value).startswith("power got ")
    assert str(caught.value).endswith(
        " for 'n', which is a static argument.\n"
        "  Static arguments are Python values. Take 'n' out of static_argnames to pass arrays."
    )


def test_rules_that_there_are_not():
    with pytest.raises(NxValueError) as caught:
        nx.defn(promotion="jax")(power)
    assert str(caught.value) == (
        "promotion is 'nx' or 'numpy', got 'jax'.\n"
        "  It says whose rules of types hold; when it is not given, the code of the function says it."
    )
