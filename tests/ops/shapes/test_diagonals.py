"""Diagonals of matrices."""

import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxValueError

X = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize("offset", range(-2, 4))
def test_take(offset):
    found = nx.take_diagonal(nx.tensor(X, names=["a", "b", "c"]), offset=offset)
    np.testing.assert_array_equal(found, np.diagonal(X, offset, 1, 2))
    assert found.names == ("a", None)
    np.testing.assert_array_equal(nx.take_diagonal(X[0].T, offset=-offset), np.diagonal(X[0], offset))


@pytest.mark.parametrize("offset", [-2, 0, 3])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_make(offset, count):
    np.testing.assert_array_equal(
        nx.make_diagonal(np.arange(1, count + 1), offset=offset), np.diag(np.arange(1, count + 1), offset)
    )


@pytest.mark.parametrize("offset", range(-2, 4))
def test_put(offset):
    wanted = X[0].copy()
    count = np.diagonal(wanted, offset).size
    rows, columns = np.arange(count) + max(-offset, 0), np.arange(count) + max(offset, 0)
    wanted[rows, columns] = 100 + np.arange(count)
    found = nx.put_diagonal(nx.tensor(X[0], names=["r", "c"]), 100 + np.arange(count), offset=offset)
    np.testing.assert_array_equal(found, wanted)
    assert found.names == ("r", "c")
    assert nx.put_diagonal(nx.u8([[1, 2]]), [0.5]).to_list() == [[0.5, 2.0]]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nx.take_diagonal([1, 2]), "take_diagonal takes matrices, got s64[2]."),
        (
            lambda: nx.take_diagonal(X, offset=4),
            "take_diagonal: a matrix [3][4] has no diagonal at offset 4.\n  Offsets go from -2 to 3.",
        ),
        (lambda: nx.make_diagonal([[1]]), "make_diagonal takes a vector, got s64[1][1]."),
        (lambda: nx.put_diagonal(X, [1]), "put_diagonal takes a matrix and a vector, got s64[2][3][4] and s64[1]"),
        (
            lambda: nx.put_diagonal(X[0], [1, 2]),
            "put_diagonal: the diagonal s64[2] does not fit s64[3][4] at offset 0.\n  That diagonal has 3 elements.",
        ),
    ],
)
def test_refused(call, text):
    with pytest.raises(NxValueError, match="^" + re.escape(text)):
        call()


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_traced_agrees(compiler):
    run = nx.jit(lambda t: nx.put_diagonal(t, nx.take_diagonal(t, offset=1) * 2), compiler=compiler)
    square = X[0, :, :3]
    with pytest.raises(NxValueError):
        run(square)
    run = nx.jit(lambda t: nx.make_diagonal(nx.take_diagonal(t)), compiler=compiler)
    np.testing.assert_array_equal(run(square), np.diag(np.diag(square)))


def test_vectorized_axes_come_in_the_order_of_the_arguments():
    square, lines = np.zeros((2, 3, 3)), np.arange(12.0).reshape(4, 3)
    found = nx.put_diagonal(nx.vectorize(square, "v"), nx.vectorize(lines, "w"))
    assert (found.vectorized_axes, found.shape) == ((("v", 2), ("w", 4)), (3, 3))
    np.testing.assert_array_equal(nx.devectorize(found)[1, 2], np.diag(lines[2]))
    np.testing.assert_array_equal(nx.devectorize(nx.make_diagonal(nx.vectorize(lines, "w")))[3], np.diag(lines[3]))
