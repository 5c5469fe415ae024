"""``min``, ``max`` and ``sorted`` with keys that the program computes give what Python gives."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

X = np.array([0.3, -0.7, 0.7, 0.1, 0.3])
ROWS = np.array([[3.0, 1.0], [-2.0, 5.0], [2.0, 2.0]])


def nearest(x):
    return min(x[:4], key=lambda v: abs(v - 0.2))


def farthest_place(x):
    return x[max([0, 1, 2, 3, 4], key=lambda i: abs(x[i]))]


def first_of_equal_ones(x):
    places = [int(i) for i in np.argsort(x)]
    return max(places, key=lambda i: x[i] ** 2) + min(places, key=lambda i: x[i] ** 2)


def pair_of_the_least(x):
    return min(zip(x, range(5), strict=True), key=lambda pair: pair[0])


def row_of_a_known_key(rows):
    row = max([rows[0], rows[1], rows[2]], key=lambda row: len(row))
    row[...] = 7.0
    return rows


def by_size(x):
    return sorted([x[0], x[1], x[2], x[3]], key=lambda v: abs(v))


def by_size_down(x):
    return sorted([x[0], x[1], x[2], x[4]], key=abs, reverse=True)


def pairs_in_order(x):
    return [place * 10 + value for value, place in sorted(zip(x, range(5), strict=True), key=lambda pair: -pair[0])]


def rows_by_known_keys(rows):
    for row in sorted(rows, key=lambda row: 0):
        row += 1.0
    return rows


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (nearest, X), (farthest_place, X), (first_of_equal_ones, X), (pair_of_the_least, X), (by_size, X),
        (by_size_down, X), (pairs_in_order, X), (row_of_a_known_key, ROWS), (rows_by_known_keys, ROWS),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_answer_is_pythons(function, given, sign):
    compiled = nx.jit(function)
    expected, found = function(sign * given), compiled(sign * given)
    assert type(found) is type(expected) or np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(np.array(found), np.array(expected))


def test_a_key_is_asked_once_for_each_value():
    asked = []

    def key(place):
        asked.append(place)
        return -place

    @nx.jit
    def f(x):
        return x[min([2, 0, 1], key=key)] + sorted([1, 3, 2], key=key)[0]

    assert f(X) == X[2] + 3
    assert asked == [2, 0, 1, 1, 3, 2]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: min(["a", "b"], key=lambda name: x[ord(name) - 97]), "got a str."),
        (lambda x: max([x[:2], x[2:4]], key=lambda part: part[0]), "got an array."),
    ],
)
def test_what_cannot_be_chosen_among(function, text):
    with pytest.raises(NxTypeError) as caught:
        nx.jit(function)(X)
    first, _, hint = str(caught.value).split("\n")
    assert first.endswith(text)
    assert hint == "  Choose among places instead, as by np.argsort of the keys."


def test_long_arrays_are_put_in_order_by_arrays_of_keys():
    with pytest.raises(NxTypeError) as caught:
        nx.jit(lambda x: max(x, key=lambda v: v * v))(np.ones(65))
    first, _, hint = str(caught.value).split("\n")
    assert first == (
        "max() with a key takes 64 elements of an array at most, got 65: the text of the key would be written out for "
        "each."
    )
    assert hint == "  x[np.argsort(keys)] puts in the order of keys."
