"""Orders, places in an order, and counts, compared with NumPy's."""

import numpy as np
import pytest

from numpy_face import check

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])

ROWS = {
    "sort": lambda np, m: (
        np.sort(m),
        np.sort(m, axis=0),
        np.sort(m, axis=None),
        np.sort(m)[:, ::-1],
        m[0][np.argsort(m[0])],
    ),
    "argsort": lambda np, m: (np.argsort(m, kind="stable"), m.argsort(axis=0, kind="stable"), np.lexsort((m[0], m[1]))),
    "partition": lambda np, m: np.partition(m, 1)[:, 1],
    "searchsorted": lambda np, m: (
        np.searchsorted(np.sort(m[0]), 2),
        np.searchsorted(np.sort(m[1]), m[2], side="right"),
    ),
    "digitize": lambda np, m: np.digitize(m, np.array([2, 5])),
    "histogram": lambda np, m: np.histogram(m, bins=4, range=(0, 8))[0],
    "isin": lambda np, m: (np.isin(m, [1, 5]), np.isin(m[0], m[1])),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)
