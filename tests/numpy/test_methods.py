"""Operators and methods of arrays and scalars, compared with NumPy's."""

import numpy as np
import pytest

from numpy_face import check

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])


def _in_place(np, m):
    m += 1
    m *= 2
    m[0] -= m[1]
    m[:, 1] //= 2
    m.sort()
    other = m.copy()
    other.fill(3)
    return m, other


ROWS = {
    "operators": lambda np, m: (
        m + 1,
        2 - m,
        m * 1.5,
        m / 2,
        m // 2,
        m % 3,
        m**2,
        -m,
        abs(m),
        divmod(m, 2),
        m @ m.T,
        +m,
    ),
    "comparisons": lambda np, m: (m > 2, m == 5, m != m.T[0][:, None], m <= 2.5, m > 3),
    "in place": lambda np, m: _in_place(np, m),
    "scalars": lambda np, m: (
        m[0, 0] + 1,
        m[0, 0] / 2,
        m[0, 0] ** 2,
        m[0, 0] > 1,
        m[0, 0] * m,
        m[0, 0].astype(int),
        m[0, 0].item() * 1,
    ),
    "methods": lambda np, m: (
        m.sum(),
        m.T,
        m.clip(2, 4),
        m.dot(m.T),
        m.take([0, 3]),
        m.repeat(2),
        m.round(),
        m.conj(),
        m.diagonal(),
    ),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)
