"""What modules are called."""

import functools

from nxkernel import nn
from nxkernel.nn.module_names import name_of, names_of


def found(function, builder=lambda: None):
    named = names_of(builder, function, nn.Module)
    return sorted(f"{shown} {key}".strip() for key, shown in named.values())


def test_by_variables_around_a_function():
    first, rest, heads, other = nn.relu, [nn.dense(1), nn.dense(2)], {"a": nn.dense(3)}, nn.dense(4)

    def apply(x):
        return first(rest, heads, other)

    assert found(apply) == ["heads_a", "other", "rest_0", "rest_1"]
    assert found(functools.partial(apply)) == ["heads_a", "other", "rest_0", "rest_1"]


def test_by_places_in_what_a_maker_takes_any_number_of():
    def maker(*layers):
        return None

    layers = (nn.dense(1), nn.dense(2))
    assert found(lambda x: layers, maker) == ["[0]", "[1]"]


def test_by_attributes_of_an_object():
    class Net:
        def __init__(self):
            self.hidden, self.size = nn.dense(1), 3

        def __call__(self, x):
            return self.hidden(x)

        def apply(self, x):
            return self.hidden(x)

    assert found(Net()) == found(Net().apply) == ["hidden"]


def test_names_are_identifiers():
    assert name_of(nn.relu) == "relu"
    assert name_of(lambda x: x) == "function"
    assert name_of(functools.partial(nn.relu)) == "partial"
