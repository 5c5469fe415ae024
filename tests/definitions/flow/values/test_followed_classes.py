"""Classes of the user's in definitions: constructors, inheritance, properties, operators, and what is left of them."""

import abc
import copy
import functools
import gc
from dataclasses import dataclass

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.definitions.flow.values import followed_classes
from nxkernel.definitions.keys.static_values import own_class

pytestmark = pytest.mark.usefixtures("little_garbage")

X = np.array([3.0, 4.0])


class Vector:
    """Checks what it is made of."""

    def __init__(self, x, scale=1.0):
        self.x = np.asarray(x, dtype=float)
        if self.x.ndim != 1:
            raise ValueError(f"a vector has one axis, got {self.x.shape}")
        if np.any(np.isnan(self.x)):
            raise ValueError(f"{np.isnan(self.x).sum()} numbers are missing")
        self.scale = scale

    @property
    def norm(self):
        if np.sum(self.x) > 0:
            return self.scale * np.sqrt(np.sum(self.x**2))
        return 0.0

    @functools.cached_property
    def both(self):
        return np.array([self.norm, -self.norm])


class Point(Vector):
    """With operators of its own."""

    def __init__(self, x, **options):
        super().__init__(x, **options)
        self.moved = 0

    def __add__(self, other):
        return Point(self.x + (other.x if isinstance(other, Point) else np.asarray(other)), scale=self.scale)

    def __mul__(self, k):
        return Point(np.array([v * k if k < 2 else v * 2 for v in self.x]))

    __rmul__ = __mul__

    def __getitem__(self, k):
        return self.x[k]

    def __len__(self):
        return len(self.x)

    def __iter__(self):
        yield from self.x

    def __call__(self, t):
        return self.norm * t if t > 0 else -t


@dataclass
class Disc:
    """A dataclass that completes itself."""

    centre: tuple
    radius: float = 1.0

    def __post_init__(self):
        self.centre = np.asarray(self.centre, dtype=float)
        if self.radius <= 0:
            raise ValueError(f"a radius of {self.radius}")

    @property
    def corners(self):
        return np.array([self.centre - self.radius, self.centre + self.radius])


def points(x, k):
    p = Point(x, scale=2.0)
    q = (p + [1, 1]) * k + p
    assert type(q) is Point
    assert q.__class__ is Point
    return q.x, q.norm, q[1], len(q), [v + 1 for v in q], q(k), (3 * p).x, p.both, copy.copy(q).norm


def discs(x, r):
    disc = Disc(x, r)
    return disc.corners, Disc((0, 1)).corners


@pytest.mark.parametrize("function", [points, discs])
@pytest.mark.parametrize("wrap", [nx.jit, nx.defn])
def test_objects_that_a_program_makes(function, wrap):
    for number in (1.5, 2.5):
        for one, other in zip(wrap(function)(X, number), function(X, number), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-15)


@pytest.mark.parametrize(
    ("function", "args", "text"),
    [
        (points, (np.ones((2, 2)), 1.0), "a vector has one axis, got (2, 2)"),
        (points, (np.array([1, np.nan]), 1.0), "1 numbers are missing"),
        (discs, (X, -2.0), "a radius of -2.0"),
    ],
)
def test_checks_of_constructors(function, args, text):
    for called in (function, nx.jit(function)):
        with pytest.raises(ValueError) as raised:
            called(*args)
        assert str(raised.value) == text


class Registry(type):
    known: list = []

    def __init__(cls, name, bases, members):
        super().__init__(name, bases, members)
        Registry.known.append(cls)


class AbstractRegistry(Registry, abc.ABCMeta):
    pass


class Lengths(metaclass=Registry):
    def __init__(self, x):
        self.x = np.asarray(x)

    @property
    def total(self):
        return np.ascontiguousarray(self.x).sum()


class AbstractLengths(Lengths, metaclass=AbstractRegistry):
    @functools.cached_property
    def doubled(self):
        return self.total * 2


def test_classes_with_a_metaclass_are_followed():
    known = list(Registry.known)
    assert nx.jit(lambda x: Lengths(x).total)(X) == Lengths(X).total
    assert nx.jit(lambda x: AbstractLengths(x).doubled)(X) == 2 * Lengths(X).total
    assert Registry.known == known


def test_results_are_of_the_users_class():
    made = nx.jit(lambda x: Disc(x, 2.0))(X)
    assert type(made) is Disc
    assert made.corners.tolist() == [[1.0, 2.0], [5.0, 6.0]]


class Pair:
    def __init__(self, numbers):
        self.numbers = numbers

    @property
    def total(self):
        return sum(self.numbers)


def test_what_a_trace_keeps_of_its_own_ends_with_it():
    kept = []

    def f(x):
        kept.append(Pair((3.0, 4.0)))
        return kept[-1].total * x

    nx.jit(f)(X)
    assert type(kept[0]) is Pair
    gc.collect()
    assert Pair.__subclasses__() == []


def test_classes_that_stay_as_they_are():
    class Counted:
        made = 0

        def __init_subclass__(cls):
            Counted.made += 1

        @property
        def two(self):
            return 2

    with followed_classes.following(lambda function: function):
        assert type(followed_classes.constructed(Counted, lambda function: function)()) is Counted
    assert Counted.made == 0
    assert followed_classes.constructed(dict, lambda function: function) is dict
    assert own_class(Counted) is Counted


def test_an_attribute_that_only_one_class_has_is_told_as_in_python():
    def f(x):
        return Point(x).nowhere

    with pytest.raises(AttributeError, match="'Point' object has no attribute 'nowhere'"):
        nx.jit(f)(X)
