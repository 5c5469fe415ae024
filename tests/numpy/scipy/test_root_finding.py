"""Roots of functions of one number, compared with SciPy's."""

import numpy as np
import pytest
import scipy.optimize

import nxkernel as nx


def roots(x, level):
    def polynomial(t):
        return np.sum(x) * t**3 - level

    return scipy.optimize.brentq(polynomial, 0.0, 4.0), scipy.optimize.bisect(lambda t: t * t - x[0], 0, 3)


def test_roots_and_signs_that_do_not_differ():
    compiled, x = nx.jit(roots), np.array([2.0, 1, 3])
    for level in (5.0, 384.0):
        np.testing.assert_allclose(compiled(x, level), roots(x, level), rtol=1e-12)
    with pytest.raises(ValueError, match=r"^f\(a\) and f\(b\) must have different signs$"):
        compiled(x, -5.0)
