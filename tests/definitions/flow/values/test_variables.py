"""Values taken apart into leaves, merged and put together again."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.values import variables
from nxkernel.definitions.flow.values.unassigned_variables import Unassigned, pending, unassigned
from nxkernel.errors import NxTypeError


class Pair(NamedTuple):
    """A named tuple."""

    left: object
    right: object


@dataclasses.dataclass
class Layer:
    """A dataclass."""

    w: object
    name: str


VALUE = {"b": [1.0, Pair(2, "text")], "a": (Layer(np.ones(2), "dense"), None)}


def test_round_trip():
    leaves = []
    structure = variables.take_apart(VALUE, leaves)
    assert [getattr(leaf, "shape", leaf) for leaf in leaves] == [1.0, 2, (2,)]
    made = variables.rebuild(structure, iter(["x", "y", "w"]))
    assert list(made.items()) == [("b", ["x", Pair("y", "text")]), ("a", (Layer("w", "dense"), None))]
    assert variables.count(structure) == 3
    assert variables.paths(structure, "v") == ["v['b'][0]", "v['b'][1].left", "v['a'][0].w"]
    assert variables.described(structure, iter(leaves)) == (
        "{'b': [f32, Pair(s64, 'text')], 'a': (Layer(f64[2], 'dense'), None)}"
    )


def apart(value):
    return variables.take_apart(value, [])


def missing(path, side):
    return Unassigned(path, missing=str(side))


def test_common_structures():
    common = variables.fit(apart({"a": 1, "b": unassigned("b")}), apart({"a": 2.0, "b": 5}), "v", missing)
    assert variables.paths(common, "v") == ["v['a']"]
    left = variables.leaves_of(apart({"a": 1, "b": unassigned("b")}), iter([1]), common, None)
    right = variables.leaves_of(apart({"a": 2.0, "b": 5}), iter([2.0, 5]), common, None)
    assert (left, right) == ([1], [2.0])


def test_what_is_pending_takes_the_other_structure():
    common = variables.fit(apart(pending("v")), apart((1, 2)), "v", missing)
    assert variables.count(common) == 2
    assert variables.leaves_of(apart(pending("v")), iter([]), common, False) == [False, False]


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        ((1, 2), (1, 2, 3), "v"),
        ([1], (1,), "v"),
        ({"a": 1}, {"b": 1}, "v"),
        ((1, "x"), (1, "y"), "v[1]"),
        (None, 1, "v"),
        (Layer(1, "a"), Layer(1, "b"), "v.name"),
    ],
)
def test_structures_that_differ(one, other, path):
    with pytest.raises(variables.MismatchError) as raised:
        variables.fit(apart(one), apart(other), "v", missing)
    assert raised.value.path == path


def test_what_is_the_same():
    assert variables.same((1, "a", [2.0]), (1, "a", [2.0]))
    assert not variables.same(1, True)
    assert not variables.same(0.0, -0.0)
    assert not variables.same(object(), object())
    assert variables.same(nx.types.f32, nx.types.normalize("f32"))


def test_contents_go_back():
    numbers, table, layer = [1, 2], {"a": 1}, Layer(1, "a")
    assert variables.write_back(numbers, [3]) is numbers
    assert variables.write_back(table, {"b": 2}) is table
    assert variables.write_back(layer, Layer(2, "b")) is layer
    assert (numbers, table, layer) == ([3], {"b": 2}, Layer(2, "b"))
    assert [variables.is_mutable(value) for value in (numbers, table, layer, (1,), 5)] == [True] * 3 + [False] * 2


def test_vectorized_values_are_refused():
    with pytest.raises(
        NxTypeError, match="a value with vectorized axes cannot be part of a loop or a choice of the program"
    ):
        apart(nx.vectorize(nx.tensor([1.0, 2.0]), "row"))
