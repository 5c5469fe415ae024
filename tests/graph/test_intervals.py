"""Intervals of nodes from those of their operands."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel import types
from nxkernel.graph.expr import parameter
from nxkernel.graph.intervals import of_node
from nxkernel.graph.tracing import Trace
from nxkernel.numpy.arrays.array import Scalar
from nxkernel.primitives import Spec

CASES = {
    "a sum in its type": (lambda i: i + 100, "u8", (0, 50), (100, 150)),
    "a sum that may wrap around": (lambda i: i + 100, "u8", (0, 200), None),
    "a conversion that keeps all": (lambda i: nx.as_type(i, "u8"), "s64", (0, 255), (0, 255)),
    "a conversion that cuts": (lambda i: nx.as_type(i, "u8"), "s64", (0, 256), None),
    "a negation that wraps around": (lambda i: nx.negate(i), "s8", (-128, 0), None),
    "a quotient of negatives": (lambda i: nx.quotient(i, 2), "s64", (-7, 5), (-3, 2)),
    "a remainder of negatives": (lambda i: nx.remainder(i, 4), "s64", (-7, 2), (-3, 2)),
    "equal": (lambda i: nx.equal(i, 9), "s64", (0, 5), (0, 0)),
    "not equal": (lambda i: nx.not_equal(i, 5), "s64", (5, 5), (0, 0)),
    "perhaps equal": (lambda i: nx.equal(i, 5), "s64", (0, 5), (0, 1)),
}


def found(function, type_, interval):
    """The interval of what a function gives of a number with an interval."""
    with Trace(lambda value: value):
        number = parameter(0, "i", Spec(types.normalize(type_), (), ()))

        def known(node):
            return interval if node is number else of_node(node, known)

        made = function(number)
        return known(getattr(made, "node", made))


@pytest.mark.parametrize(("function", "type_", "interval", "expected"), CASES.values(), ids=CASES)
def test_arithmetic(function, type_, interval, expected):
    assert found(function, type_, interval) == expected


@pytest.mark.parametrize(("low", "high"), [(-20, 20), (0, 5), (3, 40), (-3, -1)])
@pytest.mark.parametrize("size", [1, 6, 7])
def test_remainders_and_quotients_of_numpy(low, high, size):
    with types.promotion("numpy"):
        rest = found(lambda i: nnp.remainder(Scalar(i), size), "s64", (low, high))
        whole = found(lambda i: nnp.floor_divide(Scalar(i), size), "s64", (low, high))
    numbers = np.arange(low, high + 1)
    assert rest[0] <= (numbers % size).min()
    assert (numbers % size).max() <= rest[1] < size
    assert rest[0] >= 0
    assert whole[0] <= (numbers // size).min() <= whole[0] + 1
    assert whole[1] - 1 <= (numbers // size).max() <= whole[1]


def test_a_remainder_that_another_mask_corrects_may_be_larger():
    def function(i):
        rest = nx.remainder(i, 6)
        return nx.select(nx.greater(i, 2), nx.add(rest, 6), rest)

    assert found(function, "s64", (0, 20)) == (0, 11)
