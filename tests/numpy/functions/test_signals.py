"""Convolutions, interpolation and polynomials, compared with NumPy's."""

import numpy as np
import pytest

from numpy_comparison.traced_functions import check

V, W = np.array([1, 2, 4, 7, 11]), np.array([2, 1, 3])

ROWS = {
    "convolve": lambda np, v, w: (
        np.convolve(v, w),
        np.convolve(v, w, "same"),
        np.convolve(v, w, "valid"),
        np.convolve(w, v),
    ),
    "correlate": lambda np, v, w: (np.correlate(v, w), np.correlate(v, w, "full"), np.correlate(v, w, "same")),
    "interp": lambda np, v, w: (
        np.interp([0.5, 9, 2.5], v, v * 2),
        np.interp(1.5, v, v),
        np.interp(w, v, v, left=-1, right=7),
    ),
    "polynomials": lambda np, v, w: (
        np.polyval(w, v),
        np.polyadd(v, w),
        np.polymul(v, w),
        np.polyder(v),
        np.polyint(w),
        np.polysub(w, v),
    ),
}


@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, V.astype(kind), W.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)
