"""Arrays of the caller's that change their variables in a loop: in the end each has what NumPy would leave in it."""

import numpy as np
import pytest

import nxkernel as nx

X = np.arange(8.0)


def smooth(a, b, turns):
    for _ in range(turns):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a, b = b, a
    return a


def ring(a, b, c, turns):
    i = 0
    while i < turns:
        a[i] += b[i]
        a, b, c = b, c, a
        i += 1
    return b


def doubled(a, turns):
    for _ in range(turns):
        a = a * 2
    return a


@pytest.mark.parametrize("turns", range(5))
@pytest.mark.parametrize(("function", "count"), [(smooth, 2), (ring, 3), (doubled, 1)])
def test_exchanged_arrays(function, count, turns):
    mine, numpys = ([X * (k + 1) for k in range(count)] for _ in range(2))
    found, expected = nx.defn(function)(*mine, np.int64(turns)), function(*numpys, turns)
    np.testing.assert_allclose(np.asarray(found), expected)
    for one, other in zip(mine, numpys, strict=True):
        np.testing.assert_allclose(one, other)


def halved_on_one_side(a, turns):
    if a.sum() > 100:
        return np.sum(a)
    while turns > 0:
        a = a / 2
        turns = turns - 1
    return np.sum(a)


def halved_in_a_loop(a, turns):
    total = np.zeros(8)
    for _ in range(turns):
        part = a
        for _ in range(turns):
            part = part * 0.5
        total += part
    return total


@pytest.mark.parametrize("turns", [0, 3])
@pytest.mark.parametrize("function", [doubled, halved_on_one_side, halved_in_a_loop])
def test_a_name_that_is_bound_anew_changes_no_array(function, turns):
    mine = X.copy()
    mine.flags.writeable = False
    found = nx.defn(function, promotion="numpy")(mine, np.int64(turns))
    np.testing.assert_allclose(np.asarray(found), function(X, turns))


@pytest.mark.usefixtures("ahead_of_calls")
def test_an_array_that_is_written_to_and_lost():
    @nx.defn(promotion="numpy")
    def lost(a, turns):
        i = 0
        while i < turns:
            a[0] = 1
            a = a * 2
            i += 1
        return a

    with pytest.raises(TypeError) as error:
        lost(X.copy(), np.int64(3))
    text = str(error.value)
    assert text.startswith(
        "this loop assigns into the array of `a`, which is the caller's, and binds the name to another"
    )
    assert "a = a.copy()" in text


def test_arrays_of_several_shapes_that_are_bound_anew():
    def scale(n, x, y):
        for _ in range(n):
            x = x * 2.0
            y = y * 0.5
        return x, y

    definition = nx.defn(scale, promotion="numpy")
    for n in (0, 3):
        x, y = np.ones(2), np.ones((2, 2))
        found = definition(n, x, y)
        np.testing.assert_array_equal(np.asarray(found[0]), np.full(2, 2.0**n))
        np.testing.assert_array_equal(np.asarray(found[1]), np.full((2, 2), 0.5**n))
        np.testing.assert_array_equal(x, np.ones(2))
        np.testing.assert_array_equal(y, np.ones((2, 2)))


def test_an_array_of_the_function_changes_places_with_one_of_the_callers():
    def heat(u, turns):
        before = np.zeros_like(u)
        for _ in range(turns):
            before, u = u, before
            u[1:-1] = before[1:-1] + 0.1 * (before[2:] + before[:-2])
        return u

    definition = nx.defn(heat)
    for turns in (0, 1, 2, 5):
        ours, theirs = X.copy(), X.copy()
        expected = heat(theirs, turns)
        np.testing.assert_allclose(np.asarray(definition(ours, turns)), expected)
        np.testing.assert_allclose(ours, theirs)
