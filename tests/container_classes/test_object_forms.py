"""Objects are taken apart, and made again of other values without their constructors."""

import functools
import types
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field

import pytest

import nxkernel as nx
from nxkernel.container_classes.object_forms import attributes, data_of, opened
from nxkernel.errors import NxAttributeError

Point = namedtuple("Point", "x y")


@dataclass(frozen=True, slots=True)
class Frozen:
    w: object
    mode: str = field(default="sin", metadata={"static": True})


@nx.container
class Open:
    def __init__(self, **members):
        if not members:
            raise TypeError("made by its constructor")
        self.__dict__.update(members)

    @functools.cached_property
    def total(self):
        return sum(vars(self).values())


@nx.container(static=["_Slotted__mode"])
class Slotted:
    __slots__ = ("__mode", "late", "w")

    def __init__(self, w, mode):
        self.w, self.__mode = w, mode


@nx.container(static=["unit"])
class Row(tuple):
    pass


@nx.container(fields=["scale"])
class Rows(list):
    pass


@nx.container(static=["label"])
class Labelled(defaultdict):
    pass


@nx.container(static=["unit"])
class Named(Point):
    pass


class Attributed(OrderedDict):
    __getattr__ = OrderedDict.__getitem__


def with_attributes(value, **members):
    vars(value).update(members)
    return value


@pytest.mark.parametrize(
    ("value", "suffixes", "static"),
    [
        (Point(1, 2), [".x", ".y"], []),
        (Frozen(1, "cos"), [".w", ".mode"], ["mode"]),
        (Open(b=1, a=2), [".b", ".a"], []),
        (Slotted(1, "m"), ["._Slotted__mode", ".w"], ["_Slotted__mode"]),
        (with_attributes(Row([1, 2]), unit="m"), ["[0]", "[1]", ".unit"], ["unit"]),
        (with_attributes(Rows([1, 2]), scale=3), ["[0]", "[1]", ".scale"], []),
        (with_attributes(Labelled(list, b=1, a=2), label="x"), ["['b']", "['a']", ".label"], ["label"]),
        (with_attributes(Named(1, 2), unit="m"), [".x", ".y", ".unit"], ["unit"]),
        (with_attributes(Rows(), scale=3), [".scale"], []),
    ],
)
def test_there_and_back(value, suffixes, static):
    form, parts = opened(value)
    hash(form)
    assert form.suffixes == suffixes
    assert sorted(form.static) == static
    assert len(data_of(form, parts)) == len(parts) - len(static)
    made = form.filled(parts)
    assert made is not value
    assert type(made) is type(value)
    assert opened(made) == (form, parts)
    if isinstance(value, tuple | list | dict):
        assert made == value
    others = [part if is_static else 10 for part, is_static in zip(parts, form.static_flags, strict=True)]
    assert opened(form.filled(others)) == (form, others)


def test_what_a_dict_gives_for_missing_keys_is_kept():
    form, parts = opened(with_attributes(Labelled(list, b=1), label="x"))
    assert form.filled(parts)["new"] == []


def test_what_is_computed_of_others_is_not_carried_over():
    value = Open(a=1, b=2)
    assert value.total == 3
    assert attributes(value) == ("a", "b")
    made = opened(value)[0].filled([10, 20])
    assert made.total == 30


def test_one_object_is_given_the_parts_of_another():
    for one, other in [
        (Open(a=1), Open(a=2)),
        (with_attributes(Rows([1]), scale=1), with_attributes(Rows([2, 3]), scale=4)),
        (with_attributes(Labelled(None, a=1), label=1), with_attributes(Labelled(None, b=2), label=3)),
    ]:
        opened(one)[0].write(one, other)
        assert opened(one) == opened(other)


def test_what_is_no_object_of_a_container_class():
    for value in (
        1,
        [1],
        (1,),
        {"a": 1},
        OrderedDict(a=1),
        Attributed(a=1),
        object(),
        Open,
        types.SimpleNamespace(a=1),
    ):
        assert opened(value) is None, value
    # It would lose them.
    assert opened(with_attributes(type("Extra", (Point,), {})(1, 2), more=3)) is None
    assert opened(with_attributes(type("Items", (list,), {})([1]), more=3)) is None


def test_a_field_that_is_missing_is_named():
    @nx.container(fields=["w", "b"])
    class Layer:
        w = 1

    with pytest.raises(NxAttributeError) as error:
        opened(Layer())
    assert str(error.value) == (
        "a Layer has no 'b', which is one of its fields.\n"
        "  Set it before the object is passed, or declare the class with the fields that its objects have: "
        "nx.container(Layer, fields=[…])."
    )
