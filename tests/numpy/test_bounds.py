"""What is known of traced whole numbers."""

import nxkernel as nx
from nxkernel.graph.expr import parameter
from nxkernel.graph.tracing import BodyTrace, Trace
from nxkernel.numpy import bounds
from nxkernel.primitives import Spec
from nxkernel.types import s64


def _number(place=0):
    return parameter(place, f"n{place}", Spec(s64, (), ()))


def test_intervals():
    with Trace(lambda value: value):
        i, j = _number(0), _number(1)
        bounds.assume(i, 0, 9)
        bounds.assume(j, 1, None)
        try:
            assert bounds.interval(7) == (7, 7)
            assert bounds.interval(i + 3) == (3, 12)
            assert bounds.interval(10 - i) == (1, 10)
            assert bounds.interval(i * 2 + j) == (1, None)
            assert bounds.interval(nx.min(i, 4)) == (0, 4)
            assert bounds.interval(nx.max(i, 4)) == (4, 9)
            assert bounds.interval(nx.quotient(i, 2)) == (0, 4)
            assert bounds.interval(nx.remainder(i, 4)) == (0, 3)
            assert bounds.interval(nx.negate(i)) == (-9, 0)
            assert bounds.interval(nx.select(i > 3, i, 20)) == (0, 20)
            assert bounds.interval(_number(2)) == (None, None)
        finally:
            bounds.forget()
        assert bounds.interval(i) == (None, None)


def test_differences():
    with Trace(lambda value: value):
        i, j = _number(0), _number(1)
        assert bounds.difference(i + 4, i) == 4
        assert bounds.difference(i + j + 1, j + i) == 1
        assert bounds.difference(i * 2 + 1, i * 2) == 1
        assert bounds.difference(i, j) is None
        assert bounds.same(i + 1, 1 + i)
        assert not bounds.same(i, i + 1)


def test_values_from_outside_of_a_body_are_the_same_inside():
    with Trace(lambda value: value):
        i = _number()
        bounds.assume(i, 0, 5)
        try:
            with BodyTrace() as body:
                inside = body.node(i)
                assert inside is not i
                assert bounds.same(inside + 1, i + 1)
                assert bounds.interval(inside + 1) == (1, 6)
        finally:
            bounds.forget()
