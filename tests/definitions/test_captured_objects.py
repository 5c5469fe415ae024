"""Captured objects, containers and classes count by their contents, as deep as they go."""

import types
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel.errors import NxTypeError

ONE = np.ones(3, np.float32)


def value(tensor):
    """A result as Python numbers."""
    return tensor.tolist()


class Config:
    depth = 1

    def __init__(self, rate):
        self.rate = rate
        self.inner = types.SimpleNamespace(bias=0.0)

    def scale(self, t):
        return t * self.rate + self.inner.bias

    @property
    def doubled(self):
        return self.rate * 2


def test_attributes_of_an_object(misses):
    config = Config(2.0)
    f = nx.jit(lambda t: t * config.rate + config.inner.bias)
    assert value(f(1.0)) == 2.0
    config.rate = 3.0
    assert value(f(1.0)) == 3.0
    assert misses()[-1] == ("captured config.rate: 2.0 → 3.0",)
    config.inner.bias = 1.0
    assert value(f(1.0)) == 4.0
    config = Config(5.0)
    assert value(f(1.0)) == 5.0


def test_methods_and_properties_of_an_object():
    config = Config(2.0)
    f = nx.jit(lambda t: config.scale(t) + config.doubled)
    assert value(f(1.0)) == 6.0
    config.rate = 3.0
    assert value(f(1.0)) == 9.0
    config.inner.bias = 1.0
    assert value(f(1.0)) == 10.0
    config = Config(1.0)
    assert value(f(1.0)) == 3.0


def test_an_object_that_is_handed_on():
    config = Config(2.0)

    def rate_of(c):
        return c.rate

    f = nx.jit(lambda t: t * rate_of(config))
    assert value(f(1.0)) == 2.0
    config.rate = 3.0
    assert value(f(1.0)) == 3.0


def test_attributes_of_a_class(monkeypatch):
    f = nx.jit(lambda t: t * Config.depth)
    assert value(f(1.0)) == 1.0
    monkeypatch.setattr(Config, "depth", 2)
    assert value(f(1.0)) == 2.0


def test_a_method_that_is_replaced(monkeypatch):
    config = Config(2.0)
    f = nx.jit(lambda t: config.scale(t))
    assert value(f(1.0)) == 2.0
    monkeypatch.setattr(Config, "scale", lambda self, t: t * 10)
    assert value(f(1.0)) == 10.0


def test_arrays_in_objects_are_read_at_every_call():
    class Layer:
        def __init__(self, w):
            self.w = w

        def __call__(self, t):
            return t * self.w[0] + self.norm

        @property
        def norm(self):
            return self.w * 0

    layer = Layer(ONE.copy())
    f = nx.jit(lambda t: layer(t))
    assert value(f(1.0)) == [1.0] * 3
    with nx.no_compile():
        layer.w[:] = 2.0
        assert value(f(1.0)) == [2.0] * 3
        layer.w = ONE * 3
        assert value(f(1.0)) == [3.0] * 3


def test_slots():
    class Slotted:
        __slots__ = ("k", "w")

    slotted = Slotted()
    slotted.k, slotted.w = 2.0, ONE.copy()

    def first(s):
        return s.k * s.w[0]

    f = nx.jit(lambda t: t * first(slotted))
    assert value(f(1.0)) == 2.0
    slotted.k = 3.0
    assert value(f(1.0)) == 3.0
    slotted.w[:] = 2.0
    with nx.no_compile():
        assert value(f(1.0)) == 6.0


def test_lists_and_dicts(misses):
    table, params = [1.0, 2.0], {"w": ONE.copy(), "k": 2.0}
    f = nx.jit(lambda t: t * table[0] + table[1] + params["w"] * params["k"])
    assert value(f(1.0)) == [5.0] * 3
    table[0] = 3.0
    assert value(f(1.0)) == [7.0] * 3
    assert misses()[-1] == ("captured table: [1.0, 2.0] → [3.0, 2.0]",)
    table.append(9.0)
    with nx.assert_compiles(1):
        f(1.0)
    params["k"] = 1.0
    assert value(f(1.0)) == [6.0] * 3
    assert misses()[-1] == ("captured params['k']: 2.0 → 1.0",)
    with nx.no_compile():
        params["w"] = ONE * 2
        assert value(f(1.0)) == [7.0] * 3
        params["w"][:] = 0.0
        assert value(f(1.0)) == [5.0] * 3


def test_sets_and_tuples(run):
    space = {"nx": nx, "marks": {"a"}, "pair": (1.0, [2.0])}
    f = run("f = nx.jit(lambda t: t * (2 if 'b' in marks else 1) + pair[1][0])", space)["f"]
    assert value(f(1.0)) == 3.0
    space["marks"].add("b")
    assert value(f(1.0)) == 4.0
    space["pair"][1][0] = 5.0
    assert value(f(1.0)) == 7.0


Point = namedtuple("Point", "x y")


@dataclass
class State:
    w: object
    k: float


def test_named_tuples_and_dataclasses():
    state, point = State(ONE.copy(), 2.0), Point(ONE.copy(), 1.0)
    f = nx.jit(lambda t: t * state.w * state.k + point.x + point.y)
    assert value(f(1.0)) == [4.0] * 3
    with nx.no_compile():
        state.w[:] = 2.0
        assert value(f(1.0)) == [6.0] * 3
    state.k = 3.0
    assert value(f(1.0)) == [8.0] * 3
    point = point._replace(y=0.0)
    assert value(f(1.0)) == [7.0] * 3


def test_arrays_that_are_made_when_they_are_looked_at_count_by_their_contents():
    class Frame(dict):
        @property
        def column(self):
            return np.array(self["column"])

    frame = Frame(column=[1.0, 2.0])
    f = nx.jit(lambda t: t + frame.column)
    assert value(f(0.0)) == [1.0, 2.0]
    frame["column"] = [3.0, 2.0]
    assert value(f(0.0)) == [3.0, 2.0]


def test_a_class_that_holds_an_array():
    class Tables:
        w = ONE.copy()

    f = nx.jit(lambda t: t * Tables.w * np.sum(Tables.w))
    assert value(f(1.0)) == [3.0] * 3
    Tables.w[:] = 2.0
    assert value(f(1.0)) == [12.0] * 3


# Whatever happens --------------------------------------------------------------------------------------------------


class World:
    """Captured things of several kinds, a function of them, and ways to change them."""

    def __init__(self):
        self.k, self.w = 1.0, np.ones(2)
        self.params = {"w": np.ones(2), "k": 1.0}
        self.layers = [Layer(np.ones(2)), Layer(np.ones(2))]
        self.config = types.SimpleNamespace(rate=1.0, inner=types.SimpleNamespace(bias=np.zeros(2)))

    def function(self):
        def f(t):
            t = t * self.k * self.w + self.params["w"] * self.params["k"] - self.config.inner.bias[0]
            for layer in self.layers:
                t = layer(t) * self.config.rate
            return t

        return f


class Layer:
    def __init__(self, w):
        self.w, self.sign = w, 1.0

    def __call__(self, t):
        return t * self.w * self.sign


def replace_constant(world, x):
    world.k = x


def replace_array(world, x):
    world.w = np.full(2, x)


def write_array(world, x):
    world.w[0] = x


def replace_member(world, x):
    world.params["w"] = np.full(2, x)


def write_member(world, x):
    world.params["w"][:] = x


def replace_number(world, x):
    world.params["k"] = x


def replace_attribute(world, x):
    world.config.rate = x


def replace_object(world, x):
    world.config = types.SimpleNamespace(rate=x, inner=types.SimpleNamespace(bias=np.full(2, x)))


def share_array(world, x):
    world.w = world.params["w"] = world.layers[0].w


def add_layer(world, x):
    world.layers.append(Layer(np.full(2, x)))


def swap_layers(world, x):
    world.layers.reverse()


def write_layer(world, x):
    world.layers[-1].w[1] = x


def turn_layer(world, x):
    world.layers[0].sign = -world.layers[0].sign


CHANGES = [
    replace_constant, replace_array, write_array, replace_member, write_member, replace_number, replace_attribute,
    replace_object, share_array, add_layer, swap_layers, write_layer, turn_layer,
]  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(CHANGES), st.sampled_from([0.5, 1.0, 2.0])), max_size=8))
def test_no_change_is_missed(changes):
    world = World()
    plain = world.function()
    f = nx.jit(plain)
    argument = np.array([1.0, 3.0])
    for change, x in [(lambda world, x: None, 0.0), *changes]:
        change(world, x)
        for _ in range(2):
            np.testing.assert_allclose(np.asarray(f(argument)), plain(argument))
    with nx.no_compile():
        f(argument)


TABLE = np.ones(2)


def total():
    return np.sum(TABLE)


class Tables:
    """Its methods find arrays by themselves, and compute with them before any value of the definition is there."""

    own = np.ones(2)

    def __init__(self):
        self.mine = np.ones(2)

    @property
    def of_property(self):
        return np.sum(TABLE)

    @property
    def as_number(self):
        return float(TABLE[0])

    def of_method(self, x):
        return x * np.sum(TABLE)

    def of_helper(self, x):
        return x * total()

    def of_default(self, x, table=TABLE):
        return x * np.sum(table)

    def of_attribute(self, x):
        return x * np.sum(self.mine)

    @classmethod
    def of_class(cls, x):
        return x * np.sum(TABLE)

    @staticmethod
    def of_nothing(x):
        return x * np.sum(TABLE)

    def __call__(self, x):
        return x * np.sum(TABLE)

    def __getitem__(self, key):
        return np.sum(TABLE)


class Inherited(Tables):
    def of_method(self, x):
        return super().of_method(x)


tables, inherited = Tables(), Inherited()
METHODS = {
    "property": lambda x: x * tables.of_property,
    "property with a number": lambda x: x * tables.as_number,
    "method": lambda x: tables.of_method(x),
    "method of a base": lambda x: inherited.of_method(x),
    "method with a helper function": lambda x: tables.of_helper(x),
    "helper function and method": lambda x: total() * tables.of_helper(x),
    "method with a default": lambda x: tables.of_default(x),
    "method with an attribute": lambda x: tables.of_attribute(x),
    "class method": lambda x: tables.of_class(x),
    "class method of a class": lambda x: Tables.of_class(x),
    "static method": lambda x: tables.of_nothing(x),
    "call": lambda x: tables(x),
    "index": lambda x: x * tables[0],
    "object": tables,
    "bound method": tables.of_method,
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("wrap", [nx.defn, nx.jit])
@pytest.mark.parametrize("function", METHODS.values(), ids=METHODS)
def test_arrays_that_methods_find_by_themselves(function, wrap):
    x, definition = np.ones(3), wrap(function)
    for number in (1.0, 5.0, 7.0, 7.0, 1.0):
        TABLE[:] = tables.mine[:] = number
        assert value(definition(x)) == function(x).tolist()


@pytest.mark.parametrize("wrap", [nx.defn, nx.jit])
def test_arrays_that_a_class_has(wrap):
    class Held:
        table = np.ones(2)

        def of_method(self):
            return np.sum(self.table)

    held, x = Held(), np.ones(3)
    for function in (lambda x: x * held.of_method(), lambda x: x * np.sum(held.table), lambda x: x * held.table[0]):
        Held.table = np.ones(2)
        definition = wrap(function)
        for change in (
            lambda: None,
            lambda: Held.table.__setitem__(0, 5.0),
            lambda: setattr(Held, "table", np.zeros(2)),
            lambda: setattr(held, "table", np.full(2, 3.0)),
            lambda: held.table.__setitem__(0, 7.0),
            lambda: delattr(held, "table"),
        ):
            change()
            assert value(definition(x)) == function(x).tolist()


def test_attributes_of_an_object_are_read_at_each_call():
    class Held:
        def __init__(self):
            self.table = np.ones(2)

        def of_method(self):
            return np.sum(self.table)

    held, x = Held(), np.ones(3)
    definition = nx.defn(lambda x: x * held.of_method())
    for number in (1.0, 5.0, 7.0):
        held.table[0] = number
        assert value(definition(x)) == [1.0 + number] * 3
    assert definition.cache_info().misses == 1


class Tabulated:
    table = np.arange(3.0)

    def by_name(self, k, x):
        t = self.table
        t[k] = x
        return t.sum() + self.table.sum()

    def by_part(self, k, x):
        t = self.table[1:]
        t[k] = x
        return t.sum() + self.table.sum()

    def as_a_whole(self, k, x):
        t = self.table
        t += k
        return t.sum() + self.table.sum() * x

    def of_an_argument(self, k, x):
        if x is self.table:
            x[k] = 7.0
        return x.sum() + self.table.sum()


def named(k, x):
    return TABULATED.by_name(k, x)


def parted(k, x):
    return TABULATED.by_part(k, x)


def whole(k, x):
    return TABULATED.as_a_whole(k, x)


def passed(k, x):
    return TABULATED.of_an_argument(k, x)


TABULATED = Tabulated()


@pytest.mark.parametrize("function", [named, parted, whole, passed])
def test_an_array_that_a_class_has_is_not_assigned_into(function):
    definition = nx.defn(function, promotion="numpy")
    for _ in range(2):
        with pytest.raises(NxTypeError) as found:
            definition(1, Tabulated.table if function is passed else 5.0)
        assert Tabulated.table.tolist() == [0.0, 1.0, 2.0]
    lines = str(found.value).splitlines()
    assert lines[0] == (
        "TABULATED.table, an array that a class has or that a method reads, is assigned into: it would stay as it is."
    )
    assert lines[-1] == "  Make it an attribute of the object or an argument, or assign into a copy: x = x.copy()."


def test_an_array_that_an_option_has_is_not_assigned_into_by_way_of_an_argument():
    def filled(x, *, owner):
        x[0] = 7.0
        return x.sum() + owner.by_is(x)

    class Owner:
        table = np.arange(3.0)

        def by_is(self, x):
            return self.table.sum()

    with pytest.raises(NxTypeError, match=r"^filled assigns into x, whose memory Owner\.table shares\."):
        nx.defn(filled, promotion="numpy")(Owner.table, owner=Owner())
