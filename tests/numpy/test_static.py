"""Numbers that have to be known while tracing become static by themselves."""

import numpy as np
import pytest

import nxkernel as nx

X = np.arange(16.0).reshape(4, 4)

ROWS = {
    "arange": lambda x, n: x[0, :2] + np.arange(n),
    "zeros": lambda x, n: np.zeros((n, 2)),
    "linspace": lambda x, n: np.linspace(0, 1, n),
    "repeat": lambda x, n: np.repeat(x, n),
    "reshape": lambda x, n: x.reshape(n, -1),
    "tile": lambda x, n: np.tile(x, n),
    "eye": lambda x, n: np.eye(n, k=n - 1),
    "axis": lambda x, n: np.sum(x, axis=n - 1),
    "split": lambda x, n: np.split(x, n)[1],
    "grid": lambda x, n: np.mgrid[0:n, 0:3] * 1.0,
    "part": lambda x, n: x[:n],
    "sorted part": lambda x, n: np.sort(x[0, :n])[::-1],
    "joined parts": lambda x, n: np.concatenate([x[:n], x[n:]]),
    "roll": lambda x, n: np.roll(x, n),
    "pad": lambda x, n: np.pad(x, n),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_arguments_that_are_sizes(row):
    found = nx.defn(compiler="evaluator", promotion="numpy")(row)(X, 2)
    np.testing.assert_array_equal(np.asarray(found), row(X, 2))
