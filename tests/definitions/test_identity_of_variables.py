"""Functions of functions that are given one array twice: those that tell are refused, all others go on."""

from __future__ import annotations

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from nxkernel.errors import NxTypeError, NxValueError


def told(a, b):
    return (a * b).sum() if a is b else (a + b).sum()


def untold(a, b):
    return (a * b).sum()


WAYS = {
    "grad of told": lambda f, x: nx.value_and_grad(f)(x, x),
    "grad of told, both": lambda f, x: nx.grad(f, argnums=(0, 1))(x, x),
    "vjp of told": lambda f, x: nx.vjp(f, x, x)[0],
    "jvp of told": lambda f, x: nx.jvp(f, (x, x), (x, x)),
    "jacobian of told": lambda f, x: nx.jacobian(f)(x, x),
    "hessian of told": lambda f, x: nx.hessian(f)(x, x),
    "vmap of told": lambda f, x: nx.vmap(f)(x, x),
    "checkpoint(told)": lambda f, x: nx.checkpoint(f)(x, x),
}


@pytest.mark.parametrize("way", WAYS)
def test_one_array_in_two_places_is_refused_where_the_function_tells(way):
    x = np.arange(6.0).reshape(2, 3)
    with pytest.raises(NxValueError) as error:
        WAYS[way](told, x)
    assert (
        f"{way.partition(',')[0]}: an argument is another argument, too, or an array that the function captures, and "
        "the function asks which arrays are the same one, as `a is b` and id(a) do.\n"
        "  For what changes in both places, write a function of one argument that hands it on:\n"
        "  lambda x: f(x, x). For values apart, give a copy in one of the places: x + 0."
    ) in str(error.value)
    WAYS[way](untold, x)


def test_arguments_beside_the_differentiated_one_are_told_apart_too():
    x = np.arange(3.0)
    with pytest.raises(NxValueError, match="an argument is another argument, too"):
        nx.grad(lambda w, a, b: w * told(a, b))(2.0, x, x)


#: Ways in which an array is another one besides: in a container, captured, by name, in a definition around.
BESIDES = {
    "a container": lambda f, x: nx.value_and_grad(lambda v: f(*v))((x, x))[0],
    "a container of variables": lambda f, x: nx.value_and_grad((x, x), lambda v: f(*v))[0],
    "a dict": lambda f, x: nx.value_and_grad(lambda v: f(v["a"], v["b"]))({"a": x, "b": x})[0],
    "captured": lambda f, x: nx.value_and_grad(lambda a: f(a, x))(x)[0],
    "by name": lambda f, x: nx.value_and_grad(lambda a, b=None: f(a, b))(x, b=x)[0],
    "a definition": lambda f, x: nx.defn(lambda a: nx.value_and_grad(lambda b: f(a, b))(a)[0])(x),
    "vjp": lambda f, x: nx.vjp(lambda v: f(*v), (x, x))[0],
    "vjp, captured": lambda f, x: nx.vjp(lambda a: f(a, x), x)[0],
    "checkpoint": lambda f, x: nx.checkpoint(lambda v: f(*v))((x, x)),
}


@pytest.mark.parametrize("way", BESIDES)
def test_an_array_that_is_another_one_besides_is_refused_where_the_function_tells(way):
    x = np.arange(3.0)
    with pytest.raises(NxValueError, match=r"an argument is another argument, too, or an array that the function cap"):
        BESIDES[way](told, x)
    assert float(BESIDES[way](untold, x)) == untold(x, x)


WRITING = """
def first(a, b):
    a[0] = 5.0
    return (a * b).sum()


def second(a, b):
    b[0] = 5.0
    return (a * b).sum()


def neither(a, b):
    a = a * 2
    a[0] = 5.0
    return (a * b).sum()


def pair(v):
    return first(*v)


KEPT = np.arange(3.0)


def captured(a):
    a[0] = 5.0
    return (a * KEPT).sum()
"""
#: How they are called with one array twice, and what the error says then.
SHARED = {
    "grad, the first": (lambda m, x: nx.value_and_grad(m["first"])(x, x), "grad(first) assigns into a, whose memory b"),
    "grad, the second": (lambda m, x: nx.value_and_grad(m["second"])(x, x), "assigns into b, whose memory a shares."),
    "grad, a view": (lambda m, x: nx.value_and_grad(m["first"])(x, x[::-1]), "assigns into a, whose memory b shares."),
    "grad, a pair": (lambda m, x: nx.value_and_grad(m["pair"])((x, x)), "assigns into v[0], whose memory v[1] shares."),
    "grad, captured": (lambda m, x: nx.grad(m["captured"])(m["KEPT"]), "assigns into a, whose memory KEPT shares."),
    "vjp": (lambda m, x: nx.vjp(m["pair"], (x, x)), "assigns into values[0][0], whose memory values[0][1] shares."),
    "jacobian": (lambda m, x: nx.jacobian(m["first"])(x, x), "assigns into a, whose memory b shares."),
    "checkpoint": (lambda m, x: nx.checkpoint(m["pair"])((x, x)), "assigns into v[0], whose memory v[1] shares."),
}


@pytest.fixture
def writing():
    names = module_of(WRITING)
    yield names | {name: nx.defn(names[name]) for name in ("first", "second", "neither", "pair", "captured")}
    forget(names)


@pytest.mark.parametrize("way", SHARED)
def test_what_is_assigned_into_one_of_two_places_is_refused(writing, way):
    call, text = SHARED[way]
    for _ in range(2):
        with pytest.raises(NxTypeError) as error:
            call(writing, np.arange(3.0))
        assert text in str(error.value)
    assert writing["KEPT"].tolist() == [0.0, 1.0, 2.0]


def test_what_is_assigned_where_nobody_else_sees_it_is_not_refused(writing):
    x = np.arange(3.0)
    value, slope = nx.value_and_grad(writing["neither"])(x, x)
    assert float(value) == 10.0
    assert slope.tolist() == [0.0, 2.0, 4.0]
    value, slope = nx.value_and_grad(writing["first"], argnums=(0, 1))(x, x.copy())
    assert float(value) == 5.0
    assert [one.tolist() for one in slope] == [[0.0, 1.0, 2.0], [5.0, 1.0, 2.0]]
    assert x.tolist() == [0.0, 1.0, 2.0]


INSIDE = """
def around(x):
    def inner(v):
        v[0] = 5.0
        return (v * x).sum()
    return grad(inner)(x)
"""


def test_an_array_of_the_function_around_is_not_assigned_into_in_its_copy():
    names = module_of(INSIDE)
    names["grad"] = lambda function: nx.value_and_grad(nx.defn(function, promotion="numpy"))
    with pytest.raises(NxTypeError) as error:
        nx.defn(names["around"], promotion="numpy")(np.arange(3.0))
    assert str(error.value).startswith(f"grad of inner: {_SHARED}")
    forget(names)


#: Functions that differentiate by an array that has its memory in another place, too, and what NumPy gives of 1, 2, 3:
VIEWS = {
    "a view": ("def around(x):\n    return grad(first)(x, x[::-1])", 34),
    "the second": ("def around(x):\n    return grad(second)(x, x[::-1])", 14),
    "a captured view": ("def around(x):\n    y = x[::-1]\n    return grad(lambda v: first(v, y))(x)", 34),
    "in a list": ("def around(x):\n    kept = [x]\n    return grad(lambda v: first(v, kept[0]))(x)", 38),
    "in another function": ("def around(x):\n    return grad(lambda a, b: grad(first)(a, b))(x, x)", 38),
    "mapped": ("def around(x):\n    return vmap(first)(x[None], x[None, ::-1])[0]", 34),
}


@pytest.mark.parametrize("way", VIEWS)
def test_views_of_one_array_and_copies_of_copies_are_told_of(way):
    text, python = VIEWS[way]
    names = module_of(WRITING + text)
    names |= {"grad": lambda function: function, "vmap": lambda function: lambda a, b: [function(a[0], b[0])]}
    x = np.arange(1.0, 4.0)
    assert names["around"](x.copy()) == python
    names["grad"] = lambda function: lambda *a: nx.value_and_grad(nx.defn(function, promotion="numpy"))(*a)[0]
    names["vmap"] = lambda function: nx.vmap(nx.defn(function, promotion="numpy"))
    with pytest.raises(NxTypeError) as error:
        nx.defn(names["around"], promotion="numpy")(x)
    assert _SHARED in str(error.value)
    assert x.tolist() == [1.0, 2.0, 3.0]
    forget(names)


_SHARED = "an array is assigned into whose memory is also that of another argument or captured array."


def test_a_copy_of_an_argument_of_a_copy_is_told_of():
    @nx.defn(promotion="numpy")
    def first(a, b):
        a[0] = 5.0
        return (a * b).sum()

    x = np.ones((2, 3))
    with pytest.raises(NxTypeError, match=r"vmap of grad\(first\) assigns into a, whose memory b shares."):
        nx.vmap(nx.grad(first))(x, x)
    assert nx.vmap(nx.value_and_grad(first))(x, x.copy())[0].tolist() == [7.0, 7.0]


def test_what_the_error_says_to_write_gives_what_python_gives():
    x = np.arange(3.0)
    value, slope = nx.value_and_grad(lambda x: told(x, x))(x)
    assert float(value) == told(x, x) == 5.0
    assert slope.tolist() == [0.0, 2.0, 4.0]
    value, slope = nx.value_and_grad(told)(x, x + 0)
    assert float(value) == told(x, x + 0) == 6.0
    assert slope.tolist() == [1.0, 1.0, 1.0]
