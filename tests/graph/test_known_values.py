"""Sizes, shifts, widths and indices that a program computes with arrays, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx

X = np.arange(12.0).reshape(3, 4)
WORD = np.array([2, 3])

USES = {
    "shapes": lambda x: (
        np.zeros(np.array(x.shape) * 2), np.ones(np.asarray(x.shape)[::-1]), np.full(np.array([2, 3]) * 1, 7.0),
    ),
    "other shapes": lambda x: (x.reshape(np.array([4, 3])), np.broadcast_to(x, np.array([2, 3, 4]))),
    "repetitions": lambda x: (np.tile(x, np.array([2, 1])), np.repeat(x, np.array([1, 2, 1]), axis=0)),
    "resized": lambda x: np.resize(x, np.array([2, 2])),
    "shifts": lambda x: (
        np.roll(x, np.array([1, 2]), axis=(0, 1)), np.roll(x, np.array([1, 2])), np.roll(x, (1, 2)),
        np.roll(x, np.array([1, 1], np.uint8), axis=0),
    ),
    "widths": lambda x: np.pad(x, np.array([[1, 1], [0, 2]])),
    "a number": lambda x: (
        np.zeros(np.array(x.shape).max()), np.arange(np.prod(np.array(x.shape))), np.eye(np.array([2, 3])[0]),
    ),
    "what is left out": lambda x: np.delete(x, np.array([0, 2]), axis=0),
    "within a loop": lambda x: sum(np.zeros(np.array(x.shape) + 1).sum() + x[0, k] for k in range(3)),
}  # fmt: skip


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_known_while_tracing(use):
    found, expected = nx.defn(use, promotion="numpy")(X), use(X)
    for one, other in zip(*((r,) if not isinstance(r, tuple) else r for r in (found, expected)), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_array_equal(one, other)


def test_shifts_that_are_traced():
    def f(x, shifts):
        return np.roll(x, shifts, axis=(0, 1)), np.roll(x, shifts)

    for shifts in (np.array([1, 2]), np.array([-1, 5])):
        for one, other in zip(nx.defn(f)(X, shifts), f(X, shifts), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("ahead_of_calls")
def test_what_is_traced_is_no_size():
    with pytest.raises(nx.errors.TracedValueError, match="asks for the data of a traced value"):
        nx.defn(lambda x, word: np.zeros(word) + x[0, 0])(X, WORD)
