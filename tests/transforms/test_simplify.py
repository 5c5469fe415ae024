"""Each rule of simplification, by the printed graph, and what must not be simplified."""

import numpy as np
import pytest

import nxkernel as nx


def lines(function, *arrays):
    """The nodes of a simplified graph, without types."""
    graph = repr(nx.debug_expr(function)(*arrays)).splitlines()
    return [line.strip().rsplit("  ", 1)[0].strip() for line in graph if " = " in line]


X = np.ones((3, 4), dtype=np.float32)
I = np.ones(3, dtype=np.int64)  # noqa: E741


@pytest.mark.parametrize(
    ("function", "array", "expected"),
    [
        (lambda x: x * 1, X, []),
        (lambda x: 1 * x, X, []),
        (lambda x: x / 1, X, []),
        (lambda x: x - 0, X, []),
        (lambda x: x + 0, I, []),
        (lambda x: x**1, X, []),
        (lambda x: x**2, X, ["b = multiply a, a"]),
        (lambda x: x / 4, X, ["b = multiply a, 0.25"]),
        (lambda x: nx.negate(nx.negate(x)), X, []),
        (lambda x: nx.exp(x) + nx.exp(x), X, ["b = exp a", "c = add b, b"]),
        (lambda x: x * (nx.as_type(2.0, "f32") + 3), X, ["b = multiply a, 5.0"]),
        (lambda x: nx.transpose(nx.transpose(x)), X, []),
        (lambda x: nx.select(True, x, nx.exp(x)), X, []),
        (lambda x: nx.as_type(x, "f32"), X, []),
    ],
)
def test_rules(function, array, expected):
    assert lines(function, array) == expected


@pytest.mark.parametrize(
    "function",
    [lambda x: x + 0.0, lambda x: x * 0, lambda x: x - x, lambda x: x / 3, lambda x: x**0.5, lambda x: x / x],
)
def test_what_would_change_nan_infinity_or_a_sign_stays(function):
    assert len(lines(function, X)) == 1


def test_equal_divisions_are_one():
    assert lines(lambda x: x / 2 + x / 2, X) == ["b = multiply a, 0.5", "c = add b, b"]


def test_negative_zero_is_not_zero():
    assert len(lines(lambda x: x - (-0.0), X)) == 1


def test_constants_that_are_equal_but_differ_stay_apart():
    result = nx.jit(lambda x: (x * 0.0, x * -0.0))(np.ones(1, dtype=np.float32))
    assert [bool(np.signbit(part.to_numpy()[0])) for part in result] == [False, True]


def test_reshapes_of_reshapes_are_one():
    assert lines(lambda x: nx.reshape(nx.reshape(x, (12,)), (2, 6)), X) == ["b = reshape a, shape=(2, 6)"]


def test_broadcasts_of_broadcasts_are_one():
    found = lines(lambda x: nx.broadcast(nx.broadcast(x, (2, 3, 4)), (5, 2, 3, 4)), X)
    assert found == ["b = broadcast a, shape=(5, 2, 3, 4), axes=[2, 3]"]
