"""By the rules of Nx, too: which of several values a choice or a loop left in a variable is not told."""

from __future__ import annotations

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import TracedValueError

_SAID = "which of several values this is, is asked: a choice or a loop made it, and only the running program knows.\n"
_HINT = "\n  Keep a number beside it that says which one it is, and ask for that."


@nx.defn
def swapped(a, b, n):
    x = a
    while n > 0:
        a, b = b, a
        n = n - 1
    return 1 if x is a else 0


@nx.defn
def followed(a, b):
    t = 0.0
    for _ in range(3):
        if a is b:
            t = t + a.sum()
        a = b
    return t


@nx.defn
def chosen(a, b, n):
    x = a if n > 0 else b
    return 1 if x is a else 0


@nx.defn
def numbered(a, b, n):
    x = a
    if n > 0:
        x = b
    return id(x) == id(a)


@pytest.mark.parametrize("function", [swapped, chosen, numbered])
def test_what_only_the_running_program_knows_is_refused(function):
    one, other = nx.tensor([1.0, 2.0]), nx.tensor([3.0, 4.0])
    with pytest.raises(TracedValueError) as error:
        function(one, other, 2)
    assert str(error.value).startswith(_SAID)
    assert str(error.value).endswith(_HINT)


def test_turns_of_a_known_number_are_told_one_by_one():
    one, other = nx.tensor([1.0, 2.0]), nx.tensor([3.0, 4.0])
    assert float(followed(one, other)) == 14.0
    assert float(followed(other, other)) == 21.0


@nx.defn
def untouched(a, b, n):
    total = 0.0
    while n > 0:
        total = total + (1.0 if a is b else 2.0)
        n = n - 1
    return total if total is not None else a


def test_what_no_loop_and_no_choice_made_is_told():
    a = np.arange(3.0)
    assert float(untouched(a, a, 3)) == 3.0
    assert float(untouched(a, a + 1, 3)) == 6.0
