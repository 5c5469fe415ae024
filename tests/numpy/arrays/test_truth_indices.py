"""One truth value as an index, and numbers that have no elements: NumPy's results, and Python's errors."""

import numpy as np
import pytest

import nxkernel as nx


def picked(x, c):
    return x[c]


def put(x, c):
    x = x * 1.0
    x[c] = -1.0
    return x


def put_what_it_picks(x, c):
    x = x + 0.0
    x[c] = np.sign(x[c]) * 2.0
    return x


ARRAYS = [np.array(1.5), np.arange(3.0), np.arange(6.0).reshape(2, 3), np.zeros((0, 2))]


@pytest.mark.parametrize("wrapped", [nx.jit, nx.defn])
@pytest.mark.parametrize("x", ARRAYS, ids=lambda x: str(x.shape))
@pytest.mark.parametrize("truth", [True, False])
def test_it_picks_all_or_nothing(wrapped, x, truth):
    for function in (picked, put, put_what_it_picks):
        if function is not picked and not x.shape:
            continue  # x * 1.0 is a number
        expected = function(x.copy(), np.bool_(truth))
        for given in (np.bool_(truth), np.array(truth)):
            found = wrapped(function, promotion="numpy")(x.copy(), given)
            assert found.shape == expected.shape
            np.testing.assert_array_equal(found, expected)
        known = wrapped(lambda x, function=function: function(x, truth), promotion="numpy")(x.copy())
        np.testing.assert_array_equal(known, expected)


def limited(power, most):
    power = np.minimum(power, most)
    try:
        power[power > 1] = 1.0
    except TypeError:
        if power > 1:
            power = 1.0
    return power


def nudged(x):
    x = np.cos(x)
    near = abs(x - 1) < 1e-9
    try:
        x[near] = np.sign(x[near]) * 0.5
    except TypeError:
        if near:
            x = np.sign(x) * 0.5
    return x


@pytest.mark.parametrize("wrapped", [nx.jit, nx.defn])
@pytest.mark.parametrize("x", [0.0, 0.3, np.float64(0.0), np.array([0.0, 0.3])], ids=repr)
def test_a_number_is_picked_from_before_it_is_assigned_into(wrapped, x):
    np.testing.assert_allclose(wrapped(nudged)(x), nudged(x), rtol=1e-15)


def first_of(x):
    try:
        return x[0]
    except TypeError:
        return x - 1.0
    except IndexError:
        return x - 2.0


@pytest.mark.parametrize("wrapped", [nx.jit, nx.defn])
@pytest.mark.parametrize("power", [0.5, 2.0, np.float64(2.0), np.float32(0.25), np.array([0.5, 3.0])], ids=repr)
def test_handlers_of_what_numbers_cannot_do_run(wrapped, power):
    expected = limited(np.copy(power) if isinstance(power, np.ndarray) else power, 2.5)
    np.testing.assert_array_equal(wrapped(limited)(power, 2.5), expected)


@pytest.mark.parametrize("wrapped", [nx.jit, nx.defn])
@pytest.mark.parametrize("x", [1.5, np.float64(1.5), np.array(1.5), np.arange(3.0)], ids=repr)
def test_a_number_has_no_first_element(wrapped, x):
    assert wrapped(first_of, promotion="numpy")(x) == first_of(x)
