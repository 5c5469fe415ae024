"""Quantiles and covariances, compared with NumPy's."""

import numpy as np
import pytest

from numpy_comparison.traced_functions import check

M = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])

ROWS = {
    "median": lambda np, m: (np.median(m), np.median(m, axis=0), np.median(m, axis=1, keepdims=True)),
    "quantiles": lambda np, m: (
        np.quantile(m, 0.3),
        np.percentile(m, [10, 50], axis=1),
        np.percentile(m[0], 25, method="lower"),
    ),
    "without nan": lambda np, m: (
        np.nanmedian(m * 1.0),
        np.nanpercentile(m * 1.0, 40),
        np.nanquantile(m * 1.0, 0.5, axis=0),
    ),
    "covariance": lambda np, m: (np.cov(m), np.corrcoef(m), np.cov(m[0], m[1]), np.cov(m, rowvar=False, ddof=0)),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("kind", ["f8", "f4", "i4"])
@pytest.mark.parametrize("function", ROWS.values(), ids=ROWS)
def test_values_and_types(function, kind):
    check(function, M.astype(kind), rtol=1e-5 if kind == "f4" else 1e-12)
