"""Conditions that change objects, assign into arrays, say something or raise: they do it as often as in Python."""

import numpy as np
import pytest

import nxkernel as nx


class Counter:
    """Counts how often it is asked."""

    def __init__(self):
        self.count = 0

    def goes_on(self, x):
        self.count += 1
        return x * self.count < 20


def added(a, x):
    a[0] += x
    return a[0] < 10


def checked(x):
    if x > 5:
        raise ValueError(f"{x} is too large")
    return x > 2


def said(x):
    print("asked", x)
    return x > 2.5


def behind_and(x):
    a, hits = np.zeros(2), 0
    if x[0] > 1 and added(a, x[0]):
        hits += 1
    for v in x:
        if v > 1 and added(a, v) and said(v):
            hits += 10
    return a, hits, x[1] > 0 or added(a, 100)


def in_while(x):
    counter, a, turns = Counter(), np.zeros(2), 0
    while counter.goes_on(x[0]):
        x = x + 1
    while added(a, x[0]):
        turns += 1
    while said(x[1]) and x[1] > 1:
        x = x - 1
    return x, counter.count, a, turns


def known_in_while(x):
    left, counter, numbers = [1, 2, 3, 4, 5], Counter(), iter([1, 2, 3])
    while left.pop() > 2:
        x = x + 1
    while counter.goes_on(4):
        x = x * 2
    while next(numbers) < 3:
        x = x - 1
    return x, len(left), counter.count


@pytest.mark.parametrize("make", [nx.jit, nx.defn])
@pytest.mark.parametrize("function", [behind_and, in_while, known_in_while])
def test_conditions_act_as_often_as_in_python(function, make, capsys):
    traced = make(function)
    for x in ([1.0, 2.0], [3.0, 8.0], [3.0, -8.0], [0.5, 0.5]):
        expected, output = function(np.array(x)), capsys.readouterr().out
        found = traced(np.array(x))
        assert capsys.readouterr().out == output
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("make", [nx.jit, nx.defn])
def test_checks_of_conditions_raise(make):
    @make
    def behind(x):
        return np.where(True, 1 if x[0] > 1 and checked(x[0]) else 0, 0)

    @make
    def turns(x):
        n = 0
        while checked(x[n]):
            n += 1
        return np.abs(n)

    assert (behind(np.array([0.0])), behind(np.array([3.0]))) == (0, 1)
    assert turns(np.array([3.0, 4, 1])) == 2
    for function in (behind, turns):
        with pytest.raises(ValueError, match=r"7\.0 is too large"):
            function(np.array([7.0]))
