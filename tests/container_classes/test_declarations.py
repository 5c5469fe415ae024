"""Which classes are containers, which can be declared as such, and what a declaration says."""

import enum
import types
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.container_classes.declarations import declaration_of, declared_class, hint, is_declared
from nxkernel.errors import NxTypeError

Point = namedtuple("Point", "x y")


@dataclass
class Config:
    w: object
    n: int = field(default=3, metadata={"static": True})
    note: str = field(default="", metadata={"unit": "m"})


class Items(list):
    pass


class Plain:
    pass


def told(cls):
    found = declaration_of(cls)
    return found and (found.fields, sorted(found.static), found.items, found.by_name)


def declared(**options):
    cls = type("Anything", (), {})
    assert nx.container(cls, **options) is cls
    return told(cls)


def test_what_is_a_container_by_itself():
    assert told(Config) == (("w", "n", "note"), ["n"], None, False)
    assert told(Point) == (("x", "y"), [], None, False)
    assert told(Items) == ((), [], list, False)
    assert told(type("Row", (tuple,), {})) == ((), [], tuple, False)
    for cls in (Plain, list, tuple, dict, OrderedDict, defaultdict, types.SimpleNamespace, int, np.ndarray, type):
        assert told(cls) is None, cls
    values = (Config(1), Point(1, 2), Items(), Plain(), nx.container(type("Any", (), {}))(), 1)
    assert [is_declared(value) for value in values] == [True, False, False, False, True, False]


def test_what_a_declaration_says():
    assert declared() == (None, [], None, True)
    assert declared(static=["mode"]) == (None, ["mode"], None, True)
    assert declared(fields=["w", "b"], static={"mode"}) == (("w", "b", "mode"), ["mode"], None, True)
    assert declared(fields=[]) == ((), [], None, True)
    assert told(nx.container(type("Rows", (list,), {}), fields=["scale"])) == (("scale",), [], list, True)
    assert told(nx.container(type("Table", (Counter,), {}), static=["name"])) == (None, ["name"], dict, True)
    assert told(nx.container(type("Named", (Point,), {}), static=["unit"])) == (
        ("x", "y", "unit"),
        ["unit"],
        None,
        True,
    )
    assert told(nx.container(type("Of", (Config,), {}))) == (("w", "n", "note"), ["n"], None, True)
    assert told(nx.container(type("All", (Config,), {}), fields=["w", "n", "note"])) == (
        ("w", "n", "note"), [], None, True,
    )  # fmt: skip
    assert told(nx.container(type("Less", (Config,), {}), static=["note"])) == (
        ("w", "n", "note"), ["n", "note"], None, True,
    )  # fmt: skip


def test_a_decorator_and_a_call_give_the_class():
    @nx.container
    class One:
        pass

    @nx.container(fields=["w"])
    class Two:
        pass

    assert (told(One), told(Two)) == ((None, [], None, True), (("w",), [], None, True))
    nx.container(One, static=["mode"])
    assert told(One) == (None, ["mode"], None, True)
    # A subclass may have attributes that it would lose.
    assert told(type("Three", (One,), {})) is None


def test_the_last_class_of_a_name_is_found():
    first = nx.container(type("Layer", (), {"__module__": "cell"}))
    assert declared_class("cell", "Layer") is first
    second = nx.container(type("Layer", (), {"__module__": "cell"}))
    assert declared_class("cell", "Layer") is second
    assert declared_class("cell", "Other") is None


def test_classes_of_attrs():
    attrs = pytest.importorskip("attrs")

    @nx.container
    @attrs.define
    class Layer:
        kernel: object
        size: int = attrs.field(default=3, metadata={"static": True})
        _bias: object = None

    assert told(Layer) == (("kernel", "size", "_bias"), ["size"], None, True)


class WithProperty:
    @property
    def total(self):
        return 1


@pytest.mark.parametrize(
    ("cls", "options", "text"),
    [
        (3, {}, "nx.container takes a class, got an int.\n"
         '  Write @nx.container above the class, or nx.container(Class, static=["name"]).'),
        (list[int], {}, "nx.container takes a class, got a GenericAlias."),
        (float, {}, "nx.container(float): a float is a value, and holds no others."),
        (str, {}, "nx.container(str): a str is a value, and holds no others."),
        (np.ndarray, {}, "nx.container(ndarray): a ndarray is a value, and holds no others."),
        (nx.Tensor, {}, "nx.container(Tensor): a Tensor is a value, and holds no others."),
        (object, {}, "nx.container(object): an object is a value, and holds no others."),
        (enum.Enum("Mode", "A"), {}, "nx.container(Mode): a Mode is a value, and holds no others."),
        (types.FunctionType, {}, "nx.container(function): a function is a value, and holds no others."),
        (dict, {}, "nx.container(dict): a dict is a container by itself."),
        (deque, {}, "nx.container(deque): a deque is a value, and holds no others."),
        (type("Text", (str,), {}), {}, "nx.container(Text): a Text holds what a str keeps in C.\n"
         "  Declare a class of your own that has it as an attribute."),
        (Plain, {"fields": "w"}, "nx.container(Plain): fields takes names of attributes, got 'w'.\n"
         '  Write fields=["name"].'),
        (Plain, {"static": [3]}, "nx.container(Plain): static takes names of attributes, got [3].\n"
         '  Write static=["name"].'),
        (Plain, {"fields": 3}, "nx.container(Plain): fields takes names of attributes, got 3."),
        (Plain, {"fields": ["w"], "static": ["w"]}, "nx.container(Plain): 'w' is in fields and in static.\n"
         "  fields are for tensors; what is static is for options, sizes and functions."),
        (WithProperty, {"fields": ["total"]},
         "nx.container(WithProperty): 'total' is a property, which cannot be set.\n"
         "  Name the attributes that it is computed from."),
        (Config, {"fields": ["w"]},
         "nx.container(Config): its field 'n' is neither in fields nor in static, and would be lost.\n"
         "  Without fields= all of them are."),
    ],
)  # fmt: skip
def test_what_cannot_be_declared(cls, options, text):
    with pytest.raises(NxTypeError) as error:
        nx.container(cls, **options)
    assert str(error.value).startswith(text)
    assert not isinstance(cls, type) or not getattr(declaration_of(cls), "by_name", False)


def test_how_to_declare_is_said_of_what_can_be():
    assert hint(Plain()) == ("nx.container(Plain) declares that its objects are containers of their attributes.",)
    for value in (None, "text", {1}, range(3), len, np.ones(2), nx.jit(lambda x: x), enum.Enum("Mode", "A").A):
        assert hint(value) == (), value
