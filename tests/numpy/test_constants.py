"""NumPy's constants, types and their limits, in programs that are traced."""

import numpy as np

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel.numpy import constants


def test_they_are_numpys():
    assert all(getattr(nnp, name) is getattr(np, name) for name in constants.__all__ if name != "newaxis")
    assert nnp.newaxis is None


def test_in_a_program():
    def f(x):
        low, high = np.iinfo(np.int16).min, np.finfo(np.float32).eps
        made = np.full(2, np.inf, dtype=np.float32)
        made[0] = x[0] * np.pi
        return made, x[:, np.newaxis] * high + low, np.float32(x[1]) + np.int8(1), x.astype(np.uint16), np.e**x

    x = np.array([1.5, 2.0])
    for found, expected in zip(nx.defn(f)(x), f(x), strict=True):
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12 if expected.dtype == np.float64 else 1e-6)
        assert np.asarray(found).dtype == expected.dtype
