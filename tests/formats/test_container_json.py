"""Containers as JSON and back."""

import dataclasses
import json
import math
from collections import OrderedDict, namedtuple
from enum import IntEnum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError
from nxkernel.formats.container_json import DEPTH, StructureReader, StructureWriter
from nxkernel.formats.file_access import ByteSource

Pair = namedtuple("Pair", "a b")


@dataclasses.dataclass(frozen=True)
class Params:
    weight: object
    rate: float = 0.1

    def __post_init__(self):
        assert self.rate != 13, "reading runs no code"


class Empty:
    pass


def through(value, classes=()):
    writer = StructureWriter()
    node = json.loads(json.dumps(writer.node(value, "value")))
    return StructureReader(ByteSource(b"", "x.nxk"), writer.tensors, classes).value(node)


LEAVES = (
    st.none()
    | st.booleans()
    | st.text(max_size=5)
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.sampled_from(list(nx.types.TYPES.values()))
)
KEYS = (
    st.none()
    | st.booleans()
    | st.text(max_size=3)
    | st.integers(-3, 3)
    | st.tuples(st.integers(0, 3), st.text(max_size=2))
)
CONTAINERS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.builds(Pair, inner, inner)
    ),
    max_leaves=10,
)


def same(left, right):
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    return repr(left) == repr(right)


@given(CONTAINERS)
@settings(max_examples=100, deadline=None)
def test_containers_come_back_as_they_were(value):
    assert same(through(value, [Pair]), value)


def test_numbers_keep_every_bit():
    values = [0.1, -0.0, 5e-324, math.inf, 2**200, -(2**63)]
    assert [repr(v) for v in through(values)] == [repr(v) for v in values]
    assert math.isnan(through(math.nan))
    assert through("\ud800 \0 é") == "\ud800 \0 é"


def test_tensors_and_arrays():
    shared = nx.tensor([1, 2])
    back = through({"a": shared, "b": [shared, np.arange(3)], "c": np.float64(2)})
    assert back["a"] is back["b"][0]
    assert back["b"][1].to_list() == [0, 1, 2]
    assert back["c"].type == "f64"


def test_classes_are_made_without_their_code():
    params = object.__new__(Params)
    object.__setattr__(params, "weight", Pair(nx.eye(2), "text"))
    object.__setattr__(params, "rate", 13)
    back = through(params, [Params, Pair])
    assert type(back) is Params
    assert back.rate == 13
    assert back.weight.b == "text"


def refusal(value, classes=()):
    with pytest.raises((NxTypeError, NxValueError)) as error:
        through(value, classes)
    return str(error.value)


def test_classes_must_be_given():
    assert refusal(Pair(1, 2)) == (
        f"cannot read x.nxk: it holds a 'Pair' of the module '{__name__}', which is not among the classes given.\n"
        "  Pass the class to be made: classes=[Pair]."
    )
    other = namedtuple("Pair", "b a")
    assert refusal(Pair(1, 2), [other]) == (
        "cannot read x.nxk: the Pair in it has the fields ['a', 'b'], the class given has b, a"
    )
    assert "the class given has a, b" in refusal(Pair(1, 2), [dataclasses.make_dataclass("Pair", ["a", "b"])])
    assert refusal(1, [Pair, other]) == "two of the classes are called Pair"
    assert refusal(1, [Empty]).startswith("classes are named tuples, dataclasses and declared ones, got <class ")


@nx.container(static=["mode"])
class Anything:
    def __init__(self, **members):
        self.__dict__.update(members)

    @property
    def total(self):
        raise AssertionError("code runs")

    @total.setter
    def total(self, value):
        raise AssertionError("code runs")


@nx.container(fields=["w"], static=["mode"])
class Layer:
    def __init__(self, w, mode):
        self.w, self.mode = w, mode


@nx.container(static=["label"])
class Labelled(dict):
    pass


def read(node):
    return StructureReader(ByteSource(b"", "x.nxk"), [], ()).value(node)


def test_objects_of_declared_classes():
    value = Anything(w=nx.eye(2), mode=("a", None), parts=[Layer(1, "x")])
    back = through(value)
    assert (type(back), list(vars(back)), back.mode, type(back.parts[0])) == (
        Anything, ["w", "mode", "parts"], ("a", None), Layer,
    )  # fmt: skip
    labelled = Labelled(b=1, a=2)
    labelled.label = "x"
    back = through(labelled)
    assert (type(back), list(back.items()), back.label) == (Labelled, [("b", 1), ("a", 2)], "x")
    named = nx.container(type("Named", (Pair,), {"__module__": __name__}), static=["unit"])(1, 2)
    named.unit = "m"
    back = through(named)
    assert (type(back), tuple(back), back.unit) == (type(named), (1, 2), "m")


@pytest.mark.parametrize(
    ("items", "fields", "text"),
    [
        (None, [["total", 1]], "the Anything in it has the fields ['total'], the class given has other names for its"),
        (None, [["__class__", 1]], "the Anything in it has the fields ['__class__'], the class given has other names"),
        (None, [["a b", 1]], "the Anything in it has the fields ['a b'], the class given has other names"),
        (None, [["a", None], ["a", None]], "the Anything in it has the fields ['a', 'a'], the class given has other"),
        (None, [[None, 1]], "the Anything in it has the fields [None], the class given has other names"),
        (["list", []], [["a", None]], "its structure has ['list', []], which is nothing that version 1"),
        (3, [["a", None]], "its structure has 3, which is nothing that version 1"),
    ],
)
def test_what_a_file_says_of_objects_is_checked(items, fields, text):
    with pytest.raises(NxValueError) as error:
        read(["object", __name__, "Anything", items, fields])
    assert text in str(error.value)


def test_declared_classes_are_found_by_module_and_name():
    assert read(["object", __name__, "Anything", None, [["a", None]]]).a is None
    for node in (
        ["object", "elsewhere", "Anything", None, [["a", None]]],
        ["object", __name__, "Unknown", None, [["a", None]]],
        ["object", __name__, "Empty", None, []],
    ):
        with pytest.raises(NxValueError, match="which is not among the classes given"):
            read(node)
    with pytest.raises(NxValueError, match="the Layer in it has the fields"):
        read(["dataclass", __name__, "Layer", [["w", None], ["mode", "x"]]])
    with pytest.raises(NxValueError, match=r"the Layer in it has the fields \['w'\], the class given has w, mode"):
        read(["object", __name__, "Layer", None, [["w", None]]])


class Level(IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            {"a": [Empty()]},
            "a Empty cannot be written: value['a'][0].\n"
            "  Write tensors, arrays, numbers, texts, and containers of them, whose classes nx.container declares.",
        ),
        (
            OrderedDict(a=1),
            "a OrderedDict cannot be written: value.\n  Its class would be lost: write dict(x) in its place, or "
            "declare it: nx.container(OrderedDict).",
        ),
        (
            Pair(Level.LOW, 1),
            "a Level cannot be written: value.a.\n  Its class would be lost: write int(x) in its place.",
        ),
        (
            {Pair(1, 2): 1},
            f"a Pair cannot be written as the key of a dict: value[{Pair(1, 2)!r}].\n"
            "  Keys are texts, numbers, booleans, None and tuples of them.",
        ),
        (
            [np.array(["a"])],
            'an array of dtype <U1 is no tensor (argument value[0]).\n  x.astype("float64") reads numbers out of text.',
        ),
        ([nx.template((2,), "f32")], "template f32[2] has no data (value[0])"),
        ([10**5000], "value[0] has more digits than Python writes: 16610 bits"),
    ],
)
def test_what_cannot_be_written(value, text):
    assert refusal(value) == text


def test_depth():
    value = 1
    for _ in range(DEPTH):
        value = [value]
    assert through(value) == value
    assert refusal([value]).startswith("containers are nested more than 100 deep, or hold themselves: value[0][0]")
    circle = []
    circle.append(circle)
    assert "hold themselves" in refusal(circle)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (3, "its structure has 3, which is nothing that version 1 of the format has"),
        (["set", []], "its structure has ['set', []], which"),
        (["list", 3], "its structure has 3, which"),
        (["list"], "its structure has ['list'], which"),
        (["dict", [["a"]]], "its structure has ['a'], which"),
        (["dict", [["a", 1, 2]]], "its structure has ['a', 1, 2], which"),
        (["dict", [["a", None], ["a", None]]], "the key 'a' of a dict is there twice"),
        (["dict", [[["int", "1"], None], [True, None]]], "the key True of a dict is there twice"),
        (["dict", [[["list", []], None]]], "['list', []] is the key of a dict"),
        (["tensor", 1], "its structure has ['tensor', 1], which"),
        (["tensor", -1], "its structure has ['tensor', -1], which"),
        (["tensor", True], "its structure has ['tensor', True], which"),
        (["type", "f31"], "its structure has ['type', 'f31'], which"),
        (["int", "1_0"], "its structure has '1_0', which"),
        (["int", " 1"], "its structure has ' 1', which"),
        (["int", 1], "its structure has 1, which"),
        (["int", "1.5"], "'1.5' is no int"),
        (["int", "9" * 5000], "is no int"),
        (["float", "e"], "'e' is no float"),
        (["complex", "1"], "its structure has ['complex', '1'], which"),
        (["named", "m", 3, []], "its structure has ['named', 'm', 3], which"),
        (["named", "m", "Pair", [["a", None]]], "the Pair in it has the fields ['a'], the class given has a, b"),
        (["named", "m", "Pair", [[[], None]]], "the Pair in it has the fields [[]], the class given has a, b"),
    ],
)
def test_what_is_no_structure(node, text):
    with pytest.raises(NxValueError) as error:
        StructureReader(ByteSource(b"", "x.nxk"), [nx.eye(2)], [Pair]).value(node)
    assert str(error.value).startswith("cannot read x.nxk: ")
    assert text in str(error.value)


def test_a_structure_that_is_too_deep():
    node = None
    for _ in range(DEPTH + 2):
        node = ["list", [node]]
    with pytest.raises(NxValueError, match="its containers are nested more than 100 deep"):
        StructureReader(ByteSource(b"", "x.nxk"), [], []).value(node)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.sampled_from(["int", "list", "dict", "tensor", "1", "nan", "Pair"]),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
@settings(max_examples=120, deadline=None)
def test_any_structure_is_an_error_or_a_container(node):
    try:
        StructureReader(ByteSource(b"", "x.nxk"), [nx.eye(2)], [Pair]).value(node)
    except NxValueError as error:
        text = str(error)
        assert text.startswith("cannot read x.nxk: ")
