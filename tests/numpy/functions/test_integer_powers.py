"""Powers of whole numbers, as Python and NumPy give them."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxValueError, TracedValueError


def both(function, *args):
    """What a NumPy program gives, and what plain Python does."""
    found = nx.defn(promotion="numpy")(function)(*args)
    return np.asarray(found), np.asarray(function(*args))


@pytest.mark.parametrize(
    "function",
    [
        lambda n: n**-1,
        lambda n: 2**-n,
        lambda n: 1.0 * n**-2,
        lambda n: pow(n, -3),
        lambda n: n**2,
        lambda n: n ** abs(n),
        lambda n: 2 ** max(n, 0),
        lambda n: np.arange(3, dtype=np.float32) * n**-1,
    ],
)
@pytest.mark.parametrize("number", [3, 1])
def test_of_numbers(function, number):
    found, expected = both(function, number)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def _tens(a):
    for i in range(4):
        a[i] = 10**-i
    return a


def _halves(a, n):
    total = 0.0
    for i in range(n):
        total += a[i] * 2**-i
    return total


@pytest.mark.parametrize("call", [(_tens, np.ones(4)), (_halves, np.ones(4), np.int64(3))])
def test_of_the_counter_of_a_loop(call):
    function, *args = call
    found = np.asarray(nx.defn(promotion="numpy")(function)(*[np.copy(arg) for arg in args]))
    np.testing.assert_allclose(found, function(*args), rtol=1e-15)


def test_a_number_whose_sign_decides_is_static():
    @nx.defn(promotion="numpy")
    def inverse(n):
        return 2**-n

    assert (float(inverse(3)), int(inverse(-3))) == (0.125, 8)
    notes = nx.events("inverse", "miss")[0].notes
    assert notes == ("argument n: its value is needed while tracing, so each new one is traced",)


def test_a_sign_that_nobody_knows():
    @nx.defn(promotion="numpy")
    def f(x, n):
        k = 0
        while x.sum() < n:
            x = x + 1
            k -= 1
        return 10**k

    with pytest.raises(TracedValueError) as raised:
        f(np.ones(3), np.float64(9))
    first, place, *hints = str(raised.value).splitlines()
    assert first == (
        "a whole number to the power of another one is an int or a float in Python, by the sign of the exponent, which "
        "only the running program knows."
    )
    assert place.endswith("return 10**k")
    assert hints == [
        "  A base that is a float makes it one always: 10.0**-i.",
        "  An exponent that is not negative makes it an int: 2 ** max(k, 0).",
    ]


@pytest.mark.parametrize("function", [lambda a: a**-1, lambda a: np.power(a, -1), lambda a: a[0] ** -1])
def test_of_arrays(function):
    with pytest.raises(NxValueError) as raised:
        nx.defn(promotion="numpy")(function)(np.array([1, 2]))
    assert str(raised.value).splitlines()[0] == "integers (s64) to the power -1 would be fractions."
    assert str(raised.value).splitlines()[-1] == "  Write the exponent as a float: x ** -1.0."


def test_signs():
    def series(x, turns):
        total, k = 0.0, 0
        while k < turns:
            total += (-1) ** k * x**k
            k += 1
        return total

    assert float(nx.defn(series, promotion="numpy")(np.float64(0.5), np.int64(4))) == series(0.5, 4)


def test_of_what_a_mask_picks():
    def f(a):
        a[a > 1] = a[a > 1] ** 2
        return a

    found = nx.defn(promotion="numpy")(f)(np.arange(4.0))
    assert found.tolist() == [0.0, 1.0, 4.0, 9.0]
