"""What a layer asks for while it is applied."""

import pytest

import nxkernel as nx
from nxkernel import nn
from nxkernel.nn import scopes

KEY = nx.random.key(0)


@nn.module
def counter():
    def apply(x):
        count = nn.state("count", (), nn.initializers.zeros(), type="s64")
        if count is None:
            return x
        nn.update("count", count + 1)
        return x + nn.state("count", (), nn.initializers.zeros(), type="s64")

    return apply


def test_a_parameter_is_asked_for_twice_and_made_once():
    @nn.module
    def twice():
        def apply(x):
            return sum(x * nn.param("factor", (), nn.initializers.constant(3.0)) for _ in range(2))

        return apply

    net = twice()
    params = net.init(KEY, 1.0)
    assert params["factor"].to_list() == 3.0
    assert net(params, 2.0).to_number() == 12.0


def test_types_of_parameters():
    @nn.module
    def precise():
        def apply(x):
            return x * nn.param("factor", (), nn.initializers.ones(), type="f64")

        return apply

    net = precise()
    assert str(net.init(KEY, 1.0)["factor"].type) == "f64"
    assert str(net({"factor": nx.f32(2.0)}, nx.f32(2.0)).type) == "f32"


def test_state_goes_from_call_to_call():
    net = nn.serial(counter(), counter())
    state = net.init_state(1)
    assert {name: one["count"].to_list() for name, one in state.items()} == {"counter": 0, "counter_1": 0}
    y, state = net({}, 10, state=state)
    y, state = net({}, 10, state=state)
    assert (y.to_number(), state["counter_1"]["count"].to_number()) == (14, 2)
    assert net({}, 10).to_number() == 10


def test_state_goes_through_jit_and_is_not_changed_in_place():
    net = counter()
    state = net.init_state(1)
    step = nx.jit(lambda state, x: net({}, x, state=state))
    _, after = step(state, 1)
    assert (state["count"].to_number(), after["count"].to_number()) == (0, 1)


def test_keys_differ_by_place_and_by_turn():
    @nn.module
    def noise():
        def apply(x):
            return x + nx.random.uniform_split(nn.key(), 0.0, 1.0), x + nx.random.uniform_split(nn.key(), 0.0, 1.0)

        return apply

    found = nn.parallel(noise(), noise())({}, 0.0, key=KEY)
    numbers = [one.to_number() for pair in found for one in pair]
    assert len(set(numbers)) == 4
    again = nn.parallel(noise(), noise())({}, 0.0, key=KEY)
    assert [one.to_number() for pair in again for one in pair] == numbers


def test_training_is_known():
    @nn.module
    def loud():
        def apply(x):
            return x * 2 if nn.training() else x

        return apply

    assert loud()({}, 1.0, training=True).to_number() == 2.0
    assert loud()({}, 1.0).to_number() == 1.0


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("param", lambda: nn.param("a", (), None)),
        ("state", lambda: nn.state("a", (), None)),
        ("update", lambda: nn.update("a", 1)),
        ("key", nn.key),
        ("training", nn.training),
    ],
)
def test_outside_of_modules(name, call):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == (
        f"nn.{name} is for the function that says how a module is applied, and none is being applied here.\n"
        "  Write it inside of `def apply(x)` of an `@nn.module`, and call net.init(key, x) and net(params, x)."
    )


def test_nothing_is_left_after_an_error():
    with pytest.raises(ValueError, match="dense: expected an input"):
        nn.serial(nn.dense(3)).init(KEY, 1.0)
    assert scopes.current() is None


def test_options_of_networks_are_not_for_layers():
    @nn.module
    def outer(inner):
        def apply(x):
            return inner(x, training=True)

        return apply

    with pytest.raises(TypeError) as error:
        outer(nn.dense(3)).init(KEY, nx.tensor([1.0]))
    assert str(error.value).startswith("outer: dense was given training=, which goes with the whole network.")


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({}, r"counter: expected count s64 at state\['count'\], and state has no keys."),
        ({"count": nx.tensor([1])}, r"counter: expected count s64 for the input s64, got s64\[1\]."),
    ],
)
def test_state_of_another_network(state, text):
    with pytest.raises((TypeError, ValueError), match=text):
        counter()({}, 1, state=state)
