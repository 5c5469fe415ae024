"""Functions of every leaf of a container."""

from typing import NamedTuple

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError


class Point(NamedTuple):
    x: float
    y: float


def test_leaves_come_as_definitions_take_them():
    assert nx.leaves({"b": [1, (2, 3)], "a": Point(4, 5)}) == [1, 2, 3, 4, 5]
    assert nx.leaves(7) == [7]
    assert nx.leaves(()) == []


def test_containers_stay_what_they_are():
    found = nx.map_leaves(lambda a, b: a * 10 + b, {"p": Point(1, 2), "q": (3,)}, {"p": Point(4, 5), "q": (6,)})
    assert found == {"p": Point(14, 25), "q": (36,)}


def test_in_definitions_and_their_gradients():
    def loss(params):
        return sum(nx.sum(leaf * leaf) for leaf in nx.leaves(params))

    params = {"w": np.array([1.0, 2.0]), "b": np.array(3.0)}
    step = nx.jit(lambda params: nx.map_leaves(lambda p, g: p - 0.25 * g, params, nx.grad(loss)(params)))
    found = step(params)
    assert {name: np.asarray(value).tolist() for name, value in found.items()} == {"w": [0.5, 1.0], "b": 1.5}


def test_what_does_not_fit_is_told():
    with pytest.raises(NxTypeError) as caught:
        nx.map_leaves(lambda a, b: a, {"w": 1, "v": (2, 3)}, {"w": 1, "v": 2})
    assert str(caught.value) == (
        "container and others[0] are not built alike.\n  container['v'] is a tuple, others[0]['v'] is a number."
    )
    with pytest.raises(NxTypeError) as caught:
        nx.leaves({"w": [1, {2}]})
    assert str(caught.value) == (
        "container['w'][1] is a set, which is neither a tensor nor a container of tensors.\n"
        "  Containers are tuples, lists, dicts, named tuples, dataclasses and declared classes."
    )
    for left, right, said in [
        ({"w": None}, {"w": 1}, "container['w'] is None, others[0]['w'] is a number."),
        ({"w": "a"}, {"w": "b"}, "container['w'] is 'a', others[0]['w'] is 'b'."),
        (["a", 1], ["a", (1,)], "container[1] is a number, others[0][1] is a tuple."),
    ]:
        with pytest.raises(NxTypeError) as caught:
            nx.map_leaves(lambda a, b: a, left, right)
        assert str(caught.value) == f"container and others[0] are not built alike.\n  {said}"
