"""What is known of traced whole numbers."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError
from nxkernel.graph.expr import parameter
from nxkernel.graph.tracing import BodyTrace, Trace
from nxkernel.numpy.base import integer_bounds
from nxkernel.primitives import Spec
from nxkernel.types import s64, u8


def _number(place=0, type_=s64):
    return parameter(place, f"n{place}", Spec(type_, (), ()))


def test_intervals():
    with Trace(lambda value: value):
        i, j = _number(0), _number(1)
        integer_bounds.assume(i, 0, 9)
        integer_bounds.assume(j, 1, None)
        try:
            assert integer_bounds.interval(7) == (7, 7)
            assert integer_bounds.interval(i + 3) == (3, 12)
            assert integer_bounds.interval(10 - i) == (1, 10)
            assert integer_bounds.interval(i * 2 + j) == (1, None)
            assert integer_bounds.interval(nx.min(i, 4)) == (0, 4)
            assert integer_bounds.interval(nx.max(i, 4)) == (4, 9)
            assert integer_bounds.interval(nx.quotient(i, 2)) == (0, 4)
            assert integer_bounds.interval(nx.remainder(i, 4)) == (0, 3)
            assert integer_bounds.interval(nx.negate(i)) == (-9, 0)
            assert integer_bounds.interval(nx.select(i > 3, i, 20)) == (0, 20)
            assert integer_bounds.interval(_number(2)) == (None, None)
        finally:
            integer_bounds.forget()
        assert integer_bounds.interval(i) == (None, None)


def test_differences():
    with Trace(lambda value: value):
        i, j = _number(0), _number(1)
        assert integer_bounds.difference(i + 4, i) == 4
        assert integer_bounds.difference(i + j + 1, j + i) == 1
        assert integer_bounds.difference(i * 2 + 1, i * 2) == 1
        assert integer_bounds.difference(i, j) is None
        assert integer_bounds.same(i + 1, 1 + i)
        assert not integer_bounds.same(i, i + 1)


def test_values_from_outside_of_a_body_are_the_same_inside():
    with Trace(lambda value: value):
        i = _number()
        integer_bounds.assume(i, 0, 5)
        try:
            with BodyTrace() as body:
                inside = body.node(i)
                assert inside is not i
                assert integer_bounds.same(inside + 1, i + 1)
                assert integer_bounds.interval(inside + 1) == (1, 6)
        finally:
            integer_bounds.forget()


def test_narrow_types_wrap_around():
    with Trace(lambda value: value):
        i, k = _number(0), _number(1, u8)
        integer_bounds.assume(i, 8, 10)
        try:
            assert integer_bounds.interval(nx.as_type(i * 32, "u8")) == (0, 255)
            assert integer_bounds.interval(nx.as_type(i, "u8") + 3) == (11, 13)
            assert integer_bounds.interval(k) == (0, 255)
            assert integer_bounds.interval(nx.as_type(k, "s64") + 1) == (1, 256)
            assert integer_bounds.difference(nx.as_type(k + 200, "s64"), nx.as_type(k, "s64")) is None
            assert integer_bounds.difference(nx.as_type(k, "s64") + 2, nx.as_type(k, "s64")) == 2
            assert integer_bounds.interval(i * (1 << 62)) == (None, None)
        finally:
            integer_bounds.forget()


def test_ends_that_are_open_stay_on_their_side():
    with Trace(lambda value: value):
        i = _number()
        integer_bounds.assume(i, 0, None)
        try:
            assert integer_bounds.interval(i * 8 + 1) == (1, None)
            assert integer_bounds.interval(-i) == (None, 0)
        finally:
            integer_bounds.forget()


def _wrapped(a):
    total = 0.0
    for i in range(8, 11):
        k = np.asarray(i * 32).astype(np.uint8).astype(np.int64)
        total += a[k : k + 2].sum()
    return total


def _rests(a):
    out = np.zeros(100)
    for i in range(100):
        out[i] = a[i % 6 : i % 6 + 1].sum() + a[i // 20 : i // 20 + 1][0] + a[(i - 3) % 7 : (i - 3) % 7 + 2][1]
    return out


@pytest.mark.parametrize("function", [_wrapped, _rests])
def test_slices(function):
    a = np.arange(100.0)
    np.testing.assert_array_equal(nx.defn(promotion="numpy")(function)(a), function(a))
    assert nx.events(function.__name__, "miss")[-1].notes == ()


@pytest.mark.usefixtures("ahead_of_calls")
def test_a_number_that_a_choice_gives_is_one_of_its_own():
    @nx.defn(promotion="numpy")
    def f(h):
        k = np.argmax(h)
        if k < 2:
            k = h.size - k - 1
        return np.arange(k).sum()

    with pytest.raises(NxTypeError) as raised:
        f(np.arange(6.0))
    lines = [line.strip() for line in str(raised.value).split("\n") if "test_integer_bounds.py" not in line]
    assert lines == [
        "arange with traced bounds gives as many numbers as only the running program knows.",
        "np.arange(n) with the greatest n, and a mask: np.where(k < count, x, 0).",
    ]
