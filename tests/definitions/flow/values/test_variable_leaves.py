"""Values taken apart into leaves, merged and put together again."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.values import variable_leaves
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
    structure = variable_leaves.take_apart(VALUE, leaves)
    assert [getattr(leaf, "shape", leaf) for leaf in leaves] == [1.0, 2, (2,)]
    made = variable_leaves.rebuild(structure, iter(["x", "y", "w"]))
    assert list(made.items()) == [("b", ["x", Pair("y", "text")]), ("a", (Layer("w", "dense"), None))]
    assert variable_leaves.count(structure) == 3
    assert variable_leaves.paths(structure, "v") == ["v['b'][0]", "v['b'][1].left", "v['a'][0].w"]
    assert variable_leaves.described(structure, iter(leaves)) == (
        "{'b': [f32, Pair(s64, 'text')], 'a': (Layer(f64[2], 'dense'), None)}"
    )


def apart(value):
    return variable_leaves.take_apart(value, [])


def missing(path, side):
    return Unassigned(path, missing=str(side))


def test_common_structures():
    common = variable_leaves.fit(apart({"a": 1, "b": unassigned("b")}), apart({"a": 2.0, "b": 5}), "v", missing)
    assert variable_leaves.paths(common, "v") == ["v['a']"]
    left = variable_leaves.leaves_of(apart({"a": 1, "b": unassigned("b")}), iter([1]), common, None)
    right = variable_leaves.leaves_of(apart({"a": 2.0, "b": 5}), iter([2.0, 5]), common, None)
    assert (left, right) == ([1], [2.0])


def test_what_is_pending_takes_the_other_structure():
    common = variable_leaves.fit(apart(pending("v")), apart((1, 2)), "v", missing)
    assert variable_leaves.count(common) == 2
    assert variable_leaves.leaves_of(apart(pending("v")), iter([]), common, False) == [False, False]


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
    with pytest.raises(variable_leaves.MismatchError) as raised:
        variable_leaves.fit(apart(one), apart(other), "v", missing)
    assert raised.value.path == path


def test_what_is_the_same():
    assert variable_leaves.same((1, "a", [2.0]), (1, "a", [2.0]))
    assert not variable_leaves.same(1, True)
    assert not variable_leaves.same(0.0, -0.0)
    assert not variable_leaves.same(object(), object())
    assert variable_leaves.same(nx.types.f32, nx.types.normalize("f32"))


def test_contents_go_back():
    numbers, table, layer = [1, 2], {"a": 1}, Layer(1, "a")
    assert variable_leaves.write_back(numbers, [3]) is numbers
    assert variable_leaves.write_back(table, {"b": 2}) is table
    assert variable_leaves.write_back(layer, Layer(2, "b")) is layer
    assert (numbers, table, layer) == ([3], {"b": 2}, Layer(2, "b"))
    assert [variable_leaves.is_mutable(value) for value in (numbers, table, layer, (1,), 5)] == [True] * 3 + [False] * 2


def test_vectorized_values_are_refused():
    with pytest.raises(
        NxTypeError, match="a value with vectorized axes cannot be part of a loop or a choice of the program"
    ):
        apart(nx.vectorize(nx.tensor([1.0, 2.0]), "row"))
