"""What objects hold beside attributes, by a closed list of kinds."""

import array
import collections
import contextvars
import ctypes
import datetime
import decimal
import io
import itertools
import threading
import types
import weakref

import numpy as np
import pytest

from nxkernel.definitions.captures import object_contents


class Text(str):
    pass


class Plain:
    pass


@pytest.mark.parametrize(
    ("kind", "origin"),
    [
        (Text, str),
        (Plain, object),
        (type("Error", (ValueError,), {}), ValueError),
        (type("Array", (np.ndarray,), {}), np.ndarray),
        (types.SimpleNamespace, types.SimpleNamespace),
        (collections.UserDict, object),
        (type(threading.Lock()), type(threading.Lock())),
        (type(iter([])), type(iter([]))),
    ],
)
def test_the_class_in_c_that_a_class_comes_from(kind, origin):
    assert object_contents.origin(kind) is origin


@pytest.mark.parametrize(
    "value",
    [
        iter([1]), itertools.count(), (n for n in [1]), io.StringIO("a"), threading.Lock(), weakref.ref(Plain),
        ctypes.pointer(ctypes.c_double(1.0)), np.array([([1],)], [("k", "O")]), np.frompyfunc(len, 1, 1),
        threading.Thread(), OSError(1, "a"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_cannot_be_compared(value):
    assert object_contents.held(value) is None


@pytest.mark.parametrize(
    ("value", "change"),
    [
        (bytearray(b"ab"), lambda value: value.append(1)),
        (array.array("d", [1.0]), lambda value: value.__setitem__(0, 2.0)),
        ((ctypes.c_double * 2)(), lambda value: value.__setitem__(0, 2.0)),
        (np.array(["a", "b"]), lambda value: value.__setitem__(0, "b")),
        (np.array([(1, 2.0)], "i4,f8")[0], lambda value: value.__setitem__(0, 5)),
        (np.array(["2020"], "M8[Y]"), lambda value: value.__setitem__(0, "2021")),
        (types.SimpleNamespace(k=1), lambda value: value.__setattr__("j", 1)),
        (decimal.Decimal(1), lambda value: decimal.getcontext().__setattr__("prec", decimal.getcontext().prec + 1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_change_is_seen(value, change):
    before = object_contents.held(value)
    for read, expected in before.watched:
        assert read() == expected
    change(value)
    after = object_contents.held(value)
    assert (before.state, before.inside) != (after.state, after.inside)
    assert any(read() != expected for read, expected in before.watched)
    decimal.getcontext().prec = 28


def test_what_is_inside_is_read_later():
    variable = contextvars.ContextVar("variable")
    ((suffix, value, read),) = object_contents.held(variable).inside
    variable.set(5)
    assert (suffix, value is not read(), read()) == (".get()", True, 5)
    numbers = {"k": 1}
    ((suffix, value, read),) = object_contents.held(types.MappingProxyType(numbers)).inside
    numbers["k"] = 7
    assert (suffix, value, read()) == ("['k']", 1, 7)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
        (range(0, 3, 2), range(0, 4, 2)),
        (
            datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC),
            datetime.datetime(2020, 1, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
        ),
        (Text("a"), Text("b")),
    ],
)
def test_what_is_equal_is_not_always_the_same(one, other):
    assert object_contents.held(one).state == object_contents.held(one).state
    assert object_contents.held(one).state != object_contents.held(other).state


def test_functions_in_c_hold_their_object():
    numbers = [1]
    assert object_contents.held(numbers.append).inside == ((".__self__", numbers, None),)
    assert object_contents.held(len).inside == ()


def test_what_is_held_includes_attributes_where_the_kind_is_known():
    assert object_contents.is_all_held(types.SimpleNamespace)
    assert not object_contents.is_all_held(Plain)
