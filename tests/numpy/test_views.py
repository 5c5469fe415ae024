"""Parts of arrays that share their memory, compared with NumPy's."""

import numpy as np
import pytest

from numpy_face import check

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])


def _written(m, part):
    seen = part(m)
    seen += 10
    seen[..., 0] = 7
    m[2] *= 2
    return m, seen


ROWS = {
    "slices": lambda np, m: _written(m, lambda m: m[1:, ::2]),
    "transposed": lambda np, m: _written(m, lambda m: m.T[1:]),
    "reshaped": lambda np, m: _written(m, lambda m: m.reshape(2, 6)[:, 1:4]),
    "views of views": lambda np, m: _written(m, lambda m: m[::-1][1:].T[::2]),
    "with new axes": lambda np, m: _written(m, lambda m: m[None, :, 1, None]),
    "flat": lambda np, m: _written(m, lambda m: m.ravel()[3:7]),
    "swapped": lambda np, m: _written(m, lambda m: m.swapaxes(0, 1)[0]),
    "copies": lambda np, m: _written(m, lambda m: m[[0, 1]]),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)
