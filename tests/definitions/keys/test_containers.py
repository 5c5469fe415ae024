"""Containers are taken apart into leaves, and put together again."""

from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.keys import containers
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
        ({"b": 1, "a": 2}, ["p['b']", "p['a']"], "{'b': ·, 'a': ·}"),
        (OrderedDict(b=1, a=2), ["p['b']", "p['a']"], "OrderedDict({'b': ·, 'a': ·})"),
        (defaultdict(list, b=1), ["p['b']"], "defaultdict({'b': ·})"),
        (Point(1, (2, 3)), ["p.x", "p.y[0]", "p.y[1]"], "Point(·, (·, ·))"),
        (State(1.0), ["p.w", "p.steps"], "State(·, ·)"),
        ({1: 1.0, "a": {2.5: 2, None: 3}}, ["p[1]", "p['a'][2.5]", "p['a'][None]"], "{1: ·, 'a': {2.5: ·, None: ·}}"),
        ({"a": [1, None, "x"], "b": b"y"}, ["p['a'][0]"], "{'a': [·, None, 'x'], 'b': b'y'}"),
        ((), [], "()"),
        ({}, [], "{}"),
    ],
)
def test_there_and_back(value, paths, text):
    structure, leaves = taken_apart(value)
    assert [path for path, _ in leaves] == paths
    made = containers.rebuild(structure, iter([leaf for _, leaf in leaves]))
    assert made == value
    assert type(made) is type(value)
    hash(structure)
    assert containers.describe(structure) == text


def test_the_order_of_a_dict_is_part_of_it():
    value = {"b": 1, "a": 2}
    structure, leaves = taken_apart(value)
    assert leaves == [("p['b']", 1), ("p['a']", 2)]
    assert list(containers.rebuild(structure, iter([3, 4])).items()) == [("b", 3), ("a", 4)]
    assert structure != taken_apart({"a": 2, "b": 1})[0]


def test_kinds_are_told_apart():
    values = (
        1, (1,), [1], {0: 1}, {False: 1}, {0.0: 1}, OrderedDict({0: 1}), defaultdict(None, {0: 1}),
        defaultdict(int, {0: 1}), Point(1, 1), (1, 1), Frozen(1),
    )  # fmt: skip
    structures = [taken_apart(value)[0] for value in values]
    assert len(set(structures)) == len(structures)


def test_leaves_in_the_order_of_another_container():
    wanted, _ = taken_apart({"b": (1, {"y": 2, "x": 3}), "a": [4]})
    structure, leaves = taken_apart({"a": [40], "b": (10, {"x": 30, "y": 20})})
    assert [leaf for _, leaf in containers.leaves_like(wanted, structure, leaves)] == [10, 20, 30, 40]
    assert containers.leaves_like(structure, structure, leaves) is leaves
    for other in (1, [1], {"b": 1, "a": 2}, {"b": (1, {"y": 2, "z": 3}), "a": [4]}, {"b": (1, {"y": 2, "x": 3})}):
        assert containers.leaves_like(wanted, *taken_apart(other)) is None
    ordered = OrderedDict(a=[4], b=(1, {"y": 2, "x": 3}))
    assert containers.leaves_like(wanted, *taken_apart(ordered)) is None


def test_leaves_are_counted():
    assert [containers.count(taken_apart(value)[0]) for value in (1, (), [1, {"a": 2}])] == [1, 0, 2]
    assert containers.count(containers.NOTHING) == 0


def test_what_is_no_leaf_is_refused_by_its_path():
    with pytest.raises(ValueError, match=r"p\['a'\]\[1\]: <object"):
        taken_apart({"a": [1, object()]})
    with pytest.raises(ValueError, match="p: None"):
        taken_apart(None)


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
    assert error(lambda t: {"a": (t, object())}) == (
        "<lambda> returns no tensor: the result['a'][1] is an object.\n"
        "  Return tensors, numbers, or tuples, lists and dicts of them."
    )
    assert error(lambda t: "x") == (
        "<lambda> returns no tensor: the result is a str.\n"
        "  Return tensors, numbers, or tuples, lists and dicts of them."
    )
    assert error(lambda t: (x for x in [t])) == (
        "<lambda> returns no tensor: the result is a generator.\n"
        "  Return tensors, numbers, or tuples, lists and dicts of them."
    )


def graded(x):
    grade = "none"
    for value in x:
        if value > 2:
            grade = "many" if value > 3 else "some"
    return {"grade": grade, "report": f"{x.sum():.1f} of {len(x)}", "unit": "m", "raw": b"\x00", "largest": x.max()}


@pytest.mark.parametrize("wrapper", [nx.jit, nx.defn])
def test_numpy_programs_return_texts(wrapper):
    program = wrapper(graded)
    for values in ([0.0, 1.0], [2.5, 1.0], [2.5, 4.0]):
        assert program(np.array(values)) == graded(np.array(values))
    assert program.cache_info().misses == 1


def test_a_text_alone_is_a_result():
    sign = nx.jit(lambda x: "positive" if x.sum() > 0 else "negative")
    assert [sign(np.array([value])) for value in (1.0, -1.0)] == ["positive", "negative"]
    assert nx.jit(lambda x: "always")(np.ones(2)) == "always"

    def stopped(x):
        x[:] = 0.0
        return "done"

    zeroed = np.ones(2)
    assert nx.jit(stopped)(zeroed) == "done"
    assert zeroed.tolist() == [0.0, 0.0]


def test_a_text_of_another_definition_is_part_of_one():
    @nx.defn
    def shown(x):
        return f"{np.sum(x):.2f}", "m"

    @nx.defn
    def joined(x):
        text, unit = shown(x)
        return text + " " + unit, x * 2

    assert joined(np.ones(2))[0] == "2.00 m"


def test_static_values_are_part_of_the_structure():
    leaves = []
    structure = containers.flatten({"a": containers.Static("x"), "b": 2.0}, "r", leaves, containers.no_tensor("f"))
    assert leaves == [("r['b']", 2.0)]
    assert containers.rebuild(structure, iter([5])) == {"a": "x", "b": 5}
    assert containers.describe(structure) == "{'a': 'x', 'b': ·}"
