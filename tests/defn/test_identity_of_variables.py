"""Functions of functions that are given one array twice: those that tell are refused, all others go on."""

from __future__ import annotations

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxValueError


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
        f"{way.partition(',')[0]}: one array is in two places of the arguments, and the function asks which arrays are "
        "the same one, as `a is b` and id(a) do.\n"
        "  For what changes in both places, write a function of one argument that hands it on:\n"
        "  lambda x: f(x, x). For values apart, give a copy in one of the places: x + 0."
    ) in str(error.value)
    WAYS[way](untold, x)


def test_arguments_beside_the_differentiated_one_are_told_apart_too():
    x = np.arange(3.0)
    with pytest.raises(NxValueError, match="one array is in two places of the arguments"):
        nx.grad(lambda w, a, b: w * told(a, b))(2.0, x, x)


def test_what_the_error_says_to_write_gives_what_python_gives():
    x = np.arange(3.0)
    value, slope = nx.value_and_grad(lambda x: told(x, x))(x)
    assert float(value) == told(x, x) == 5.0
    assert slope.to_list() == [0.0, 2.0, 4.0]
    value, slope = nx.value_and_grad(told)(x, x + 0)
    assert float(value) == told(x, x + 0) == 6.0
    assert slope.to_list() == [1.0, 1.0, 1.0]
