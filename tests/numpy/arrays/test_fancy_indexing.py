"""Elements at indices in arrays, compared with NumPy's."""

import numpy as np
import pytest

from numpy_comparison.traced_functions import check

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])


def _written(m, i):
    m[i] = 1
    m[:, i] += 2
    m[i, i] *= m[i, 3]
    m[[0, 0], 1] = [8, 9]
    return m


ROWS = {
    "rows": lambda np, m, i: (m[i], m[i[None]], m[[2, 0]], m[-i]),
    "elements": lambda np, m, i: (m[i, i + 1], m[i, 2], m[1, i], m[i[:, None], i]),
    "beside slices": lambda np, m, i: (
        m[:, i],
        m[1:, i],
        m[i, 1:],
        m[None][:, i, 1],
        m[None][0, :, i],
        m[None, i][0, :, 1],
    ),
    "written": lambda np, m, i: _written(m, i),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), np.array([2, 0, 1]), rtol=1e-5 if kind == "f4" else 1e-12)
