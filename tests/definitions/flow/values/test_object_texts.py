"""Texts of objects that hold values which only the running program knows."""

import dataclasses

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError


class Vector:
    """Says its elements."""

    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Vector({self.x})"


class Named(Vector):
    """Has a text of each kind."""

    def __str__(self):
        return "named " + str(self.x.sum())

    def __format__(self, spec):
        return f"{self.x[0]:{spec}}"


@dataclasses.dataclass
class Point:
    """Has the text of a dataclass."""

    x: float
    name: str = "p"


class Odd(Vector):
    """Has a text that is no Python code."""

    __str__ = str.__call__


def function(x):
    vector, named, point = Vector(x), Named(x + 1), Point(x[0])
    print(vector, named, repr(named), str(point))
    print(f"{vector} {vector!r} {named:.2f} {named!s} {point!r:>30} {3!r}")
    for k in range(2):
        print(k, Vector(x[k]))
    return x


@pytest.mark.parametrize("make", [nx.jit, nx.defn])
def test_objects_say_what_the_program_computes(make, capsys):
    traced = make(function)
    for x in ([1.0, 2.0], [3.0, -1.0]):
        traced(np.array(x))
        output = capsys.readouterr().out
        function(np.array(x))
        assert output == capsys.readouterr().out


def test_what_is_no_code_is_refused():
    @nx.defn
    def odd(x):
        print(Odd(np.abs(x)))
        return x

    with pytest.raises(NxTypeError, match=r"^an Odd makes text of traced values"):
        odd(np.ones(2))
