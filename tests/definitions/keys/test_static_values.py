"""What static values are: in keys, for people, and whose code they are."""

import datetime
import decimal
import enum
import types

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.keys import static_values


class Mode(enum.Enum):
    FAST = 1


class Plain:
    pass


class Drawn:
    def __repr__(self):
        return "a\n| drawing\n| of a table"


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (1, True, False),
        (0.0, -0.0, False),
        (float("nan"), float("nan"), True),
        (complex(0.0, -0.0), complex(0.0, 0.0), False),
        ("a", "a", True),
        ("f32", nx.types.f32, False),
        (None, 0, False),
        (np.float32(1), np.float64(1), False),
        (np.float32("nan"), np.float32("nan"), True),
        (..., ..., True),
        (static_values.MISSING, None, False),
    ],
)
def test_constants(left, right, equal):
    assert (static_values.constant(left) == static_values.constant(right)) is equal
    hash(static_values.constant(left))


@pytest.mark.parametrize("value", [[1], (1,), {}, Plain(), np.ones(3), nx.tensor(1), Plain, len])
def test_what_is_no_constant(value):
    assert static_values.constant(value) is None


def test_values_of_python_count_by_value_and_others_by_identity():
    equal = [range(3), decimal.Decimal("0.1"), datetime.date(2020, 1, 1), np.dtype("f4"), (1, "a"), frozenset({1})]
    for value in equal:
        assert static_values.by_value(value) == static_values.by_value(value)
        hash(static_values.by_value(value))
    assert static_values.by_value(range(3)) == static_values.by_value(range(3))
    assert static_values.by_value((1, 2)) != static_values.by_value((1.0, 2))
    one, other = Plain(), Plain()
    assert static_values.by_value(one) == static_values.by_value(one)
    assert static_values.by_value(one) != static_values.by_value(other)
    assert static_values.by_value([1]) != static_values.by_value([1])
    assert static_values.members_state({1, "a"}) == static_values.members_state({"a", 1})
    assert repr(static_values.ByIdentity(1)) == "ByIdentity(1)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        ("a" * 100, "'aaaaaaaaaaaaaaaaaaaaaaaaaaa...aaaaaaaaaaaaaaaaaaaaaaaaaaaa'"),
        (np.float32(2), "np.float32(2.0)"),
        (nx.tensor([1.0], names=["x"]), "f32[x: 1]"),
        (np.zeros((2, 3), np.int8), "s8[2][3]"),
        ({"a": [1, 2]}, "{'a': [1, 2]}"),
        (np, "module numpy"),
        (Plain, "class Plain"),
        (Plain(), "a Plain"),
        (Mode.FAST, "Mode.FAST"),
        (Drawn(), "a Drawn"),
        (nx.sum, "sum"),
        (np.sin, "sin"),
        (len, "len"),
        (static_values.MISSING, "not defined"),
    ],
)
def test_values_for_people(value, text):
    assert static_values.describe(value) == text


def test_code_for_people():
    def f(x):
        return x

    assert static_values.describe(f) == static_values.describe(nx.defn(f)) == "f"
    assert static_values.describe(lambda x: x) == "<lambda>"


def test_containers_for_people_know_what_was_in_them():
    held = {"rate": 0.5, "steps": 3}
    text = static_values.describe(held)
    held["rate"] = 0.25
    assert (text, text.inside, text.shortened) == ("{'rate': 0.5, 'steps': 3}", {"rate": 0.5, "steps": 3}, False)
    assert static_values.describe(list(range(20))).shortened


def test_whose_code_it_is():
    for theirs in (
        np.sin,
        np,
        np.ndarray,
        nx.sum,
        nx.Tensor,
        nx.defn(nx.sum),
        len,
        int,
        types,
        datetime.date,
        pytest,
        [1],
        2,
    ):
        assert static_values.installed(theirs), theirs
    for users in (
        Plain,
        Plain(),
        test_whose_code_it_is,
        lambda: 0,
        Plain().__init__ and (lambda self: 0).__get__(Plain()),
    ):
        assert not static_values.installed(users), users
    assert static_values.installed_file("<frozen importlib._bootstrap>")
    assert static_values.installed_file("/somewhere/lib/python3.11/site-packages/other/module.py")
    assert not static_values.installed_file("/home/someone/project/module.py")
    assert not static_values.installed_file("<stdin>")


def test_keys_that_stay_the_same():
    mapping = {(0, 1): "a", 1: "b"}
    same = static_values.SameKeys(tuple(mapping))
    assert same == tuple(mapping)
    assert same == ((0, 1), 1)
    for other in [((0, 1),), (1, (0, 1)), ((0, 1), 1.0), ((0.0, 1), 1)]:
        assert same != other
