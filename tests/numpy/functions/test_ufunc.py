"""NumPy's element-wise functions as objects."""

import numpy as np
import pytest

import nxkernel as nx

BYTES = np.array([1, 200, 255], np.uint8)
WORDS = np.array([0, 1, 2**32 - 1], np.uint32)
SIGNED = np.array([-128, 0, 127], np.int8)

BEYOND = {
    "greater": lambda b, w, s: (b > 300, b > -1, b < 300, w > 2**40, s > 127, s > 128),
    "less": lambda b, w, s: (b < 300, b < -1, b > 300, w < 2**40, s < -129),
    "equal": lambda b, w, s: (b == -1, b == 256, -1 == w, s == 200),  # noqa: SIM300
    "not equal": lambda b, w, s: (b != -1, b != 256, w != -1, s != 200),
    "or equal": lambda b, w, s: (b >= 256, b <= 256, w >= -1, s >= -129),
    "quotients": lambda b, w, s: (w / 4294967296, b / 300, 1000 / (s + 3.0), 70000 / b),
    "one element": lambda b, w, s: (b[0] > 300, w[1] / 4294967296),
}


@pytest.mark.parametrize("function", BEYOND.values(), ids=BEYOND)
def test_whole_numbers_beyond_the_type(function):
    found = nx.defn(promotion="numpy")(function)(BYTES, WORDS, SIGNED)
    for one, other in zip(found, function(BYTES, WORDS, SIGNED), strict=True):
        assert np.asarray(one).dtype == other.dtype
        np.testing.assert_array_equal(np.asarray(one), other)


def test_whole_numbers_beyond_the_type_of_a_number_in_a_loop():
    def generator(turns):
        state, small, total = np.uint32(12345), 0, 0.0
        for _ in range(turns):
            state = state * np.uint32(1664525) + np.uint32(1013904223)
            total += state / 4294967296
            if state < 4294967296 // 3 or state == -1 or state > 2**40:
                small += 1
        return state, small, total

    with np.errstate(over="ignore"):
        expected = generator(50)
    found = nx.defn(generator, promotion="numpy")(np.int64(50))
    assert (int(found[0]), int(found[1])) == expected[:2]
    assert float(found[2]) == pytest.approx(expected[2], rel=1e-14)


def test_arrays_for_several_results():
    def f(x):
        whole, rest, part = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
        return np.divmod(x, 2, whole, rest), np.modf(x, part), np.divmod(x, 3, out=(None, rest)), whole, rest, part

    x = np.array([1.5, 2.25, 7.0])
    for one, other in zip(nx.defn(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(nx.errors.NxTypeError, match="divmod has 2 results: out= is a tuple of arrays"):
        nx.defn(lambda x: np.divmod(x, 2, out=np.zeros_like(x)))(x)
    with pytest.raises(nx.errors.NxTypeError, match="sqrt has 1 results, got 2 arrays for them"):
        nx.defn(lambda x: np.sqrt(x, x, x))(x)


@pytest.mark.parametrize("name", ["divide", "sqrt", "add"])
def test_out_takes_no_other_kind_of_numbers(name):
    def f(x, y):
        function, into = getattr(np, name), x.copy()
        return function(*(x, y)[: function.nin], out=into)

    with pytest.raises(TypeError):
        f(np.arange(3), 0.5)
    with pytest.raises(
        TypeError, match=rf"^{name}\(out=\.\.\.\) of an array s64 does not take the result, which is f64"
    ):
        nx.jit(f)(np.arange(3), 0.5)


def test_out_takes_what_casting_allows():
    def f(x):
        narrow, whole = np.zeros(3, np.float32), np.zeros(3, int)
        return np.sqrt(x, out=narrow), np.multiply(x, 2.5, out=whole, casting="unsafe")

    for one, other in zip(nx.jit(f)(np.arange(3.0)), f(np.arange(3.0)), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
