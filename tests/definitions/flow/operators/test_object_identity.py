"""``is`` of what only the running program knows: truth values of Python's, and arrays that loops and choices made."""

import operator

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import TracedValueError


def asked_by_a_name(n, m):
    yes = True
    return (1 if (n > 3) is yes else 2) + (10 if yes is not (m > 3) else 20)


def asked_of_each_other(n, m):
    return 1 if (n > 3) is (m > 3) else 2


def asked_by_functions(n, m):
    return (1 if operator.is_(n > 3, True) else 2) + (10 if operator.is_not(n > 3, m > 3) else 20)


def asked_of_an_elements_truth(n, m):
    yes, x = True, np.arange(5)
    return (1 if (x[2] > 1) is yes else 2) + n + m


@pytest.mark.parametrize(
    "function", [asked_by_a_name, asked_of_each_other, asked_by_functions, asked_of_an_elements_truth]
)
def test_truth_values_of_python_are_two_objects(function):
    definition = nx.defn(function, promotion="numpy")
    for n, m in ((1, 1), (1, 5), (5, 1), (5, 5)):
        assert int(definition(n, m)) == function(n, m)


def test_a_loop_that_asks_for_an_array_that_it_replaces_is_written_out():
    def total(a, b):
        found = 0.0
        for _ in range(3):
            if a is b:
                found += a.sum()
            a = b
        return found

    definition = nx.defn(total, promotion="numpy")
    x = np.arange(3.0)
    for a, b in ((x, x + 1), (x, x)):
        assert float(definition(a, b)) == total(a, b)


def test_a_choice_between_arrays_that_are_asked_for_is_made_while_tracing():
    def chosen(a, b, n):
        c = a if n > 3 else b
        d = a
        if n > 3:
            d = b
        return (1 if c is a else 2) + (10 if d is b else 20)

    definition = nx.defn(chosen, promotion="numpy")
    a, b = np.arange(3.0), np.arange(3.0)
    for n in (5, 1, 5):
        assert int(definition(a, b, n)) == chosen(a, b, n)


def by_is(x, a):
    return 1 if x is a else 2


def by_operator(x, a):
    return 1 if operator.is_(x, a) else 2


def by_id(x, a):
    return 1 if id(x) == id(a) else 2


def by_memory(x, a):
    return 1 if np.shares_memory(x, a) else 2


@pytest.mark.parametrize("ask", [by_is, by_operator, by_id, by_memory])
def test_which_of_several_arrays_one_is_after_a_loop_is_refused(ask):
    def exchanged(a, b, n):
        x = a
        while n > 0:
            a, b = b, a
            n = n - 1
        return ask(x, a)

    with pytest.raises(TracedValueError) as found:
        nx.defn(exchanged, promotion="numpy")(np.arange(3.0), np.arange(3.0), 3)
    lines = str(found.value).splitlines()
    assert lines[0] == "whether `a` is another array is asked: which array it is, only the running program knows."
    assert lines[1].startswith("  test_object_identity.py, line ")
    assert lines[1].endswith(f"return {SAID[ask]}")
    assert lines[2].startswith("  That is decided in test_object_identity.py, line ")
    assert lines[2].endswith(":  while n > 0:")
    assert lines[3] == "  Keep a number beside it that says which one it is, and ask for that."


SAID = {
    by_is: "1 if x is a else 2",
    by_operator: "1 if operator.is_(x, a) else 2",
    by_id: "1 if id(x) == id(a) else 2",
    by_memory: "1 if np.shares_memory(x, a) else 2",
}


def test_arrays_that_change_places_in_a_loop_stay_different_ones():
    def exchanged(a, b, n):
        found = 0
        while n > 0:
            if a is b:
                found = found + 1
            a, b = b, a
            n = n - 1
        return found

    definition = nx.defn(exchanged, promotion="numpy")
    assert int(definition(np.arange(3.0), np.arange(3.0), 4)) == 0
    x = np.arange(3.0)
    assert int(definition(x, x, 4)) == 4
