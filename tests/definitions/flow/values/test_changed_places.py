"""Attributes and items that branches and loops of a program change."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.values.changed_places import changed_places, unknown
from nxkernel.definitions.flow.values.object_changes import ObjectWatch
from nxkernel.errors import NxTypeError

X = np.array([1.0, -2.0, 3.0])


class Tracker:
    """Has attributes that its methods change."""

    def __init__(self, x, best=None):
        self.x = np.array(x)
        self.count, self.hits, self.best = 0, [0, 0], best
        self.marks = {"low": 0.0, "high": 0.0}

    def step(self, k):
        self.count += 1
        self.x = self.x * k
        if self.x[0] > 2:
            self.hits[0] += 1
            self.marks["high"] = self.x[0]
            return True
        self.hits[1] += 1
        self.x[1] += 1
        return False


class Slotted:
    """Has slots."""

    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


def tracked(x, k, n):
    t = Tracker(x)
    hit = 0
    for _ in range(6):
        if t.step(k):
            hit += 1
    while t.count < n:
        t.step(1 / k)
    return t.x, t.count, t.hits, t.marks, hit


def nested(x, k, n):
    t = Tracker(x)
    s = Slotted(x[0])
    for i in range(4):
        inner = Tracker(t.x)
        for _ in range(3):
            inner.step(k)
            s.x = s.x + inner.x[0]
        t.x = t.x + inner.x
        t.count = t.count + inner.count * i
    return t.x, t.count, s.x


def settled(x, k, n):
    t = Tracker(x)
    for _ in range(5):
        if t.best is None:
            t.best = 0.0
        t.best = max(t.best, (t.x * k).sum())
        t.x = t.x + 1
    return t.best, t.x


def behind(x, k, n):
    t = Tracker(x)
    a = 1.0 if t.step(k) else 2.0
    b = (k > 1) and t.step(k)
    return t.x, t.count, a, b, t.hits


class Mean:
    """Begins with what its class has, and gets attributes on the way."""

    n, total = 0, 0.0

    def add(self, v):
        self.n += 1
        self.total += v
        self.last = v

    @property
    def mean(self):
        return self.total / self.n if self.n > 0 else 0.0


def of_the_class(x, k, n):
    m = Mean()
    for v in x:
        if v * k > 0:
            m.n += 1
            m.total += v
    other = Mean()
    for i in range(20):
        other.add(x[i % 3] * k)
    return m.mean, m.n, other.mean, other.last


def by_another_name(x, k, n):
    t = Tracker(x)
    other = t
    before = t.x
    if k > 1:
        t.x = t.x * 2
        t.marks["low"] = k
    return other.x, other.marks, before


@pytest.mark.parametrize("function", [tracked, nested, settled, behind, of_the_class, by_another_name])
@pytest.mark.parametrize("k", [1.5, 0.5])
def test_as_in_python(function, k):
    for one, other in zip(nx.defn(function)(X, k, 9), function(X, k, 9), strict=True):
        if isinstance(other, dict):
            assert list(one) == list(other)
            one, other = list(one.values()), list(other.values())
        np.testing.assert_allclose(one, other, rtol=1e-15)


def test_loops_stay_loops():
    graph = str(nx.debug_expr(nx.defn(tracked))(X, 1.5, 9)[0])
    assert graph.count("= while ") == 2


@pytest.mark.usefixtures("ahead_of_calls")
def test_what_has_more_or_fewer_parts_afterwards():
    def f(x):
        t = Tracker(x)
        if x[0] > 0:
            t.extra = 1.0
        return t.x

    with pytest.raises(NxTypeError) as raised:
        nx.defn(f)(X)
    assert str(raised.value).startswith(
        "this `if` changes `t`, a Python Tracker, and only the running program knows its condition."
    )


@pytest.mark.usefixtures("ahead_of_calls")
def test_sides_that_give_different_things():
    def f(x):
        t = Tracker(x, best="none")
        if x[0] > 0:
            t.best = 1.0
        return t.x

    with pytest.raises(NxTypeError) as raised:
        nx.defn(f)(X)
    assert str(raised.value).startswith("the branches of this `if` disagree about `t.best`.")


def test_places_by_their_names():
    t = Tracker(X)
    slotted = Slotted(1)
    watch = ObjectWatch((), [("t", t), ("s", slotted)])
    t.count, t.hits[1], t.marks["high"], slotted.x = 5, 7, 2.0, 3
    places, others = changed_places(watch)
    assert sorted(place.name for place in places) == ["s.x", "t.count", "t['high']", "t[1]"]
    assert others == []
    assert sorted(str(place.read()) for place in places) == ["2.0", "3", "5", "7"]
    assert unknown(places, places[1:]) == places[:1]
    watch.undo()
    places[0].write(8)
    assert [place.name for place in changed_places(watch)[0]] == [places[0].name]
    t.new = 1
    assert changed_places(watch)[1] == [("t", t, True)]


OUTSIDE = Tracker(X)


def test_what_was_there_before_is_changed_at_every_call():
    def f(x):
        for _ in range(3):
            OUTSIDE.count += 1
            x = x + OUTSIDE.count
        return x

    OUTSIDE.count, compiled = 0, nx.defn(f)
    assert compiled(X).tolist() == [7.0, 4.0, 9.0]
    assert compiled(X).tolist() == [16.0, 13.0, 18.0]
    assert OUTSIDE.count == 6


@pytest.mark.usefixtures("ahead_of_calls")
def test_what_was_there_before_does_not_change_by_data():
    def f(x):
        if x[0] > 0:
            OUTSIDE.count += 1
        return x

    with pytest.raises(NxTypeError, match=r"^this `if` changes `OUTSIDE`, a Python Tracker, and only the running"):
        nx.defn(f)(X)
