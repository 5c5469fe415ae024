"""Tests of finding functions whose text has exceptions or makes text."""

import contextlib

import pytest

from nxkernel.definitions.flow.operators import call_dispatch
from nxkernel.definitions.syntax import runtime_text


def plain(x):
    return x + 1


def _tried(x):
    try:
        return x.foo
    except AttributeError:
        return x


def names_one(x):
    return _tried(x)


def says(x):
    return f"{x}"


def prints(x):
    print(x)


def raises(x):
    raise ValueError(x)


def enters(x):
    with contextlib.nullcontext():
        return x


def has_one(x):
    return (lambda: f"{x}")()


@pytest.mark.parametrize("function", [_tried, names_one, says, prints, raises, enters, has_one])
def test_it_is_found(function):
    assert call_dispatch.has_to_be_dispatched(function)


@pytest.mark.parametrize("function", [plain, len, lambda x: plain(x)])
def test_others(function):
    assert not call_dispatch.has_to_be_dispatched(function)


def test_without_source():
    space = {}
    exec("def f(x): print(x)", space)
    assert not runtime_text.is_in(space["f"].__code__)
