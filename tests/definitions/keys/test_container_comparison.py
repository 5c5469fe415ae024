"""Containers side by side: rows of leaves, and the first place where two are not built alike."""

import dataclasses
from typing import ClassVar, NamedTuple

import pytest

import nxkernel as nx
from nxkernel.definitions.keys import container_comparison
from nxkernel.definitions.keys.containers import no_tensor
from nxkernel.errors import NxTypeError


class Point(NamedTuple):
    x: object
    y: object


@dataclasses.dataclass
class State:
    count: object
    LIMIT: ClassVar[int] = 3


def rows(**named):
    return container_comparison.rows(named, no_tensor("f"))[1]


def test_leaves_stand_beside_those_at_the_same_place():
    assert rows(a={"w": [1, 2], "b": Point(3, 4)}, c={"b": Point(5, 6), "w": [7, 8]}) == [
        (("a['w'][0]", 1), ("c['w'][0]", 7)),
        (("a['w'][1]", 2), ("c['w'][1]", 8)),
        (("a['b'].x", 3), ("c['b'].x", 5)),
        (("a['b'].y", 4), ("c['b'].y", 6)),
    ]
    assert rows(a=State(1)) == [(("a.count", 1),)]


@pytest.mark.parametrize(
    ("left", "right", "told"),
    [
        ({"w": 1}, {"w": 1, "b": 2}, "There is c['b'], and no a['b']."),
        ({"w": 1, "b": 2}, {"w": 1}, "There is a['b'], and no c['b']."),
        ([1, (2, 3)], [1, (2,)], "There is a[1][1], and no c[1][1]."),
        ([1, (2, 3)], [1, [2, 3]], "a[1] is a tuple, c[1] is a list."),
        (Point(1, 2), (1, 2), "a is a Point, c is a tuple."),
        ({"w": ()}, {"w": nx.tensor([1.0])}, "a['w'] is (), c['w'] is a tensor."),
        (State(1), State((1,)), "a.count is a number, c.count is a tuple."),
    ],
)
def test_the_first_difference_is_told(left, right, told):
    with pytest.raises(NxTypeError) as caught:
        rows(a=left, c=right)
    assert str(caught.value) == f"a and c are not built alike.\n  {told}"


def test_of_three_containers_the_one_that_differs_is_named():
    with pytest.raises(NxTypeError, match=r"^a and e are not built alike\.\n  a\[0\] is a number, e\[0\] is a list\.$"):
        rows(a=[1], c=[2], e=[[3]])
