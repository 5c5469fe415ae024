"""Containers are taken apart into leaves, and put together again."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.defn import containers
from nxkernel.errors import NxTypeError

Point = namedtuple("Point", "x y")


@dataclass
class State:
    w: object
    steps: object = field(default=0, init=False)

    def __post_init__(self):
        if not isinstance(self.w, int | float):
            raise TypeError("made by its constructor")


@dataclass(frozen=True)
class Frozen:
    a: object


def taken_apart(value):
    leaves = []
    structure = containers.flatten(value, "p", leaves, lambda path, value: ValueError(f"{path}: {value!r}"))
    return structure, leaves


@pytest.mark.parametrize(
    ("value", "paths", "text"),
    [
        (1.0, ["p"], "·"),
        ((1, 2), ["p[0]", "p[1]"], "(·, ·)"),
        ((1,), ["p[0]"], "(·,)"),
        ([1, [2]], ["p[0]", "p[1][0]"], "[·, [·]]"),
        ({"b": 1, "a": 2}, ["p['a']", "p['b']"], "{'a': ·, 'b': ·}"),
        (Point(1, (2, 3)), ["p.x", "p.y[0]", "p.y[1]"], "Point(·, (·, ·))"),
        (State(1.0), ["p.w", "p.steps"], "State(·, ·)"),
        ({1: 1.0, "a": {2.5: 2, None: 3}}, ["p['a'][None]", "p['a'][2.5]", "p[1]"], None),
        ((), [], "()"),
        ({}, [], "{}"),
    ],
)
def test_there_and_back(value, paths, text):
    structure, leaves = taken_apart(value)
    assert sorted(path for path, _ in leaves) == sorted(paths)
    assert containers.rebuild(structure, iter([leaf for _, leaf in leaves])) == value
    hash(structure)
    if text is not None:
        assert containers.describe(structure) == text


def test_the_order_in_which_a_dict_was_filled_does_not_matter():
    assert taken_apart({"b": 1, "a": 2}) == taken_apart({"a": 2, "b": 1})
    assert taken_apart({1: 1, "a": 2, (0,): 3}) == taken_apart({(0,): 3, "a": 2, 1: 1})
    assert taken_apart(OrderedDict(b=1, a=2)) == taken_apart({"a": 2, "b": 1})


def test_kinds_are_told_apart():
    structures = [taken_apart(value)[0] for value in (1, (1,), [1], {0: 1}, Point(1, 1), (1, 1), Frozen(1))]
    assert len(set(structures)) == len(structures)


def test_what_is_no_leaf_is_refused_by_its_path():
    with pytest.raises(ValueError, match=r"p\['a'\]\[1\]: None"):
        taken_apart({"a": [1, None]})


def test_objects_are_rebuilt_without_their_constructor():
    f = nx.jit(lambda s: s)
    made = f(State(2.0))
    assert type(made) is State
    assert (made.w.to_number(), made.steps.to_number()) == (2.0, 0)
    assert f(Frozen(1.0)).a.to_number() == 1.0


def test_containers_in_and_out():
    @nx.defn
    def step(params, point, *, lr=1.0):
        return {"w": params["w"] * lr, "all": [point.x, (point.y,)]}, Point(x=point.y, y=1.0)

    ones = np.ones(2, np.float32)
    for _ in range(2):
        result, point = step({"w": ones, "b": 1}, Point(2.0, nx.tensor(3)), lr=2.0)
        assert result["w"].to_list() == [2.0, 2.0]
        assert [result["all"][0].to_number(), result["all"][1][0].to_number()] == [2.0, 3]
        assert isinstance(point, Point)
        assert (point.x.to_number(), point.y.to_number()) == (3, 1.0)
    assert step.cache_info().hits == 1


def test_what_a_function_must_return():
    def error(function):
        with pytest.raises(NxTypeError) as raised:
            nx.jit(function)(1.0)
        return str(raised.value)

    def nothing(t):
        t + 1

    assert error(nothing) == "nothing returns no tensor: the result is None.\n  A `return` may be missing."
    assert error(lambda t: {"a": (t, "x")}) == (
        "<lambda> returns no tensor: the result['a'][1] is a str.\n"
        "  Return tensors, numbers, or tuples, lists and dicts of them."
    )
    assert error(lambda t: (x for x in [t])) == (
        "<lambda> returns no tensor: the result is a generator.\n"
        "  Return tensors, numbers, or tuples, lists and dicts of them."
    )


def test_static_values_are_part_of_the_structure():
    leaves = []
    structure = containers.flatten({"a": containers.Static("x"), "b": 2.0}, "r", leaves, containers.no_tensor("f"))
    assert leaves == [("r['b']", 2.0)]
    assert containers.rebuild(structure, iter([5])) == {"a": "x", "b": 5}
    assert containers.describe(structure) == "{'a': 'x', 'b': ·}"
