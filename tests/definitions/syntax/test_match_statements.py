"""``match``: cases are chosen while a definition is traced, as Python chooses them."""

import dataclasses
import enum
from typing import NamedTuple

import numpy as np
import pytest

import nxkernel as nx


class Kind(enum.Enum):
    RELU = 1
    TANH = 2


class Affine(NamedTuple):
    w: object
    b: object


@dataclasses.dataclass
class Scale:
    w: object


def activated(x, *, kind):
    match kind:
        case "sin" | "sine":
            return np.sin(x)
        case Kind.RELU:
            y = np.maximum(x, 0)
        case ("scale", by):
            y = x * by
        case {"power": n, **rest} if n > 1:
            y = x**n + len(rest)
        case None:
            y = x
        case True:
            y = -x
        case [first, *more]:
            y = first(x)
            for function in more:
                y = function(y)
        case str(text):
            y = x + len(text)
        case other:
            y = x * 0 + len(str(other))
    return y + 1


KINDS = ["sin", "sine", Kind.RELU, Kind.TANH, ("scale", 3.0), {"power": 3, "a": 1}, {"power": 1}, None, True, 12345,
         (np.sin, np.cos), "abc", ()]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_options_are_matched_as_python_does(kind):
    x = np.array([-1.0, 2.0])
    np.testing.assert_allclose(nx.defn(activated)(x, kind=kind), activated(x, kind=kind), rtol=1e-14)
    np.testing.assert_allclose(nx.jit(activated)(x, kind=kind), activated(x, kind=kind), rtol=1e-14)


def applied(p, x):
    match p:
        case Affine(w=w, b=b) | {"w": w, "b": b}:
            return x * w + b
        case Scale(w) | {"w": w}:
            return x * w
        case (w, _, b):
            return x * w - b
        case []:
            return x
        case _:
            return x * p


PARAMETERS = [Affine(2.0, 1.0), {"w": 2.0, "b": 1.0}, {"w": 2.0}, (2.0, 5.0, 1.0), [2.0, 5.0, 1.0], (), 2.0,
              np.array([2.0, 3.0])]  # fmt: skip


@pytest.mark.parametrize("p", PARAMETERS, ids=str)
def test_the_structure_of_containers_is_matched(p):
    x = np.array([3.0, 4.0])
    np.testing.assert_array_equal(nx.defn(applied)(p, x), applied(p, x))
    of_tensors = nx.defn(applied, promotion="nx")(p, nx.tensor(x))
    np.testing.assert_allclose(of_tensors, applied(p, x), rtol=1e-6)


def test_fields_of_a_dataclass():
    class_of = nx.defn(lambda p, x: applied(p, x))
    assert class_of(Scale(2.0), 3.0).to_number() == 6.0
    assert nx.grad(lambda p: applied(p, 3.0))(Affine(2.0, 1.0)) == Affine(3.0, 1.0)


def stepped(x, *, modes):
    total = 0 * x
    for mode in modes:
        match mode:
            case "skip":
                continue
            case "stop":
                break
            case "back":
                return total - 1
            case "add" | "more" as name:
                total = total + x * len(name)
        total = total * 2
    else:
        total = total + 100
    return total


@pytest.mark.parametrize("modes", ["add skip", "add stop add", "add back add", "more other add", ""])
def test_jumps_leave_what_is_around(modes):
    modes = tuple(modes.split())
    assert float(nx.defn(stepped)(1.5, modes=modes)) == stepped(1.5, modes=modes)


def test_cases_hold_any_statement_and_values_of_the_program():
    @nx.defn
    def nested(x, *, a, b):
        match a:
            case "x":
                match b:
                    case "y":
                        r = x * 2 if x > 0 else x * 5
                    case _:
                        r = x
                        while r < 10:
                            r = r * 3
            case _:

                def inner(q):
                    match b:
                        case "y" if len(a) == 1:
                            return q * 4
                    return q

                r = inner(x)
        return r

    given = [("x", "y", 1.0), ("x", "y", -1.0), ("x", "z", 1.0), ("z", "y", 1.0), ("zz", "y", 1.0)]
    assert [float(nested(x, a=a, b=b)) for a, b, x in given] == [2.0, -5.0, 27.0, 4.0, 1.0]


def test_nothing_matches():
    @nx.defn
    def f(x, mode="a"):
        y = x
        match mode:
            case "b":
                y = x * 2
        return y

    assert [float(f(1.0)), float(f(1.0, "b"))] == [1.0, 2.0]
    assert f.why(1.0, "c").difference == ("argument mode: 'b' → 'c'",)


def test_helpers_and_transforms():
    def helper(x, mode):
        match mode:
            case "first":
                x[0] = 5
            case "last":
                x[-1] = 7
        return x

    def program(x, mode):
        return np.sum(helper(x * 2, mode))

    assert [float(nx.defn(program)(np.ones(3), mode)) for mode in ("first", "last", "none")] == [9.0, 11.0, 6.0]
    np.testing.assert_array_equal(nx.vmap(nx.defn(program))(np.ones((2, 3)), "last"), [11.0, 11.0])
    np.testing.assert_array_equal(nx.grad(nx.defn(program))(np.ones(3), "first"), [0.0, 2.0, 2.0])
