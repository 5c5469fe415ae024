"""Choosing elements by conditions, by indices and between bounds, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as xp
from numpy_comparison.traced_functions import check

X = np.array([[1.5, -2.0, 0.0, 8.25], [5.5, np.nan, -3.5, np.inf]])
N = np.array([[3, 1, 2, 0], [0, 2, 1, 3]])

ROWS = {
    "where": lambda np, x, n: (np.where(x > 0, x, n), np.where(n, 1, 2.5), np.where(x > 0, 1, 0)),
    "clip": lambda np, x, n: (np.clip(x, -1, 5), np.clip(n, 1, None), x.clip(max=2), np.clip(n, n.T[0][:, None], 2)),
    "select": lambda np, x, n: np.select([x > 5, x > 0], [x, n], default=-1),
    "choose": lambda np, x, n: np.choose(n[0], [x[0], x[1], n[0], n[1]]),
    "round": lambda np, x, n: (np.round(x, 1), np.around(x), np.fix(x), np.round(n), np.round(n * 7, -1)),
    "parts of complex numbers": lambda np, x, n: (np.angle(x + 1j), np.angle(n - 1j, deg=True), np.real(x), np.imag(n)),
    "nan_to_num": lambda np, x, n: (np.nan_to_num(x), np.nan_to_num(x, nan=1.0, posinf=2.0)),
    "take": lambda np, x, n: (np.take(x, [0, 5, -1]), np.take(x, n, axis=1), np.take_along_axis(x, n, 1)),
    "take by truth values": lambda np, x, n: (np.take(x, n > 1), np.take(x, [True, False], axis=1), x.take(n == 0)),
}


@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values(function):
    check(function, X, N)


def test_whole_numbers_are_told():
    def f(a, x):
        return [v.is_integer() for v in (a[0, 0], a[0, 1], a[1, 1], a[1, 3], x, x * 2)]

    assert [bool(found) for found in nx.defn(f, promotion="numpy")(X, 2.5)] == f(X, 2.5)


def test_conditions_of_one_element():
    def f(e, x):
        turns = 0
        while e < 5:
            e = e + 1
            turns += 1
        if e > 3 and turns > 1:
            turns += 10
        if not e > 100:
            turns += 20
        return turns + (100 if x[:1] > 1 else 200)

    found = nx.defn(f, promotion="numpy")(np.array([[2.5]]), np.arange(3.0))
    assert int(found) == f(np.array([[2.5]]), np.arange(3.0)) == 233


def test_parts_of_pythons_numbers_are_pythons_numbers():
    def f(a):
        return np.copysign(np.real(4), a), np.imag(2.5) + a

    x = np.array([1, -2], np.float16)
    for found, expected in zip(nx.defn(f, promotion="numpy")(x), f(x), strict=True):
        assert np.asarray(found).dtype == expected.dtype == np.float16
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_indices_with_room_for_a_known_number():
    array = np.array([[0, 3, 0], [4, 0, 5]])

    def found(x):
        return xp.nonzero(x, size=4, fill_value=-1), xp.flatnonzero(x, size=2)

    for (rows, columns), flat in (found(xp.asarray(array)), nx.jit(found, promotion="numpy")(array)):
        assert [np.asarray(each).tolist() for each in (rows, columns, flat)] == [[0, 1, 1, -1], [1, 0, 2, -1], [1, 3]]


def test_places_of_numbers_without_axes_at_once():
    for number in (0.0, 2.5):
        assert np.argwhere(xp.asarray(number)).shape == np.argwhere(np.array(number)).shape
