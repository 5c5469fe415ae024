"""Masked arrays of NumPy programs, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError

X, Y = np.array([1.0, -2, np.nan, 4, 0]), np.array([0.0, 2, 3, -1, 5])


def arithmetic(x, y):
    m = np.ma.masked_invalid(np.ma.array(x, copy=False, dtype=float))
    return m + y, m * 2, y - m, m / y, y / m, m**2, -m, m < 1, m == y, m.filled(0)


def functions(x, y):
    m = np.ma.masked_where(x < 0, x)
    return np.sqrt(m), np.log(m), np.maximum(m, 0), np.cos(m), np.atleast_2d(m), np.diff(m), np.asarray(m), m.T


def elements(x, y):
    m = np.ma.masked_less(x, 0)
    m[m > 3] = np.ma.masked
    m[0] = 5
    assert isinstance(m, np.ma.MaskedArray)
    return m, np.ma.getmask(m), np.ma.filled(m, np.nan), m[1:3], m.compressed(), m.reshape(5, 1)


def reductions(x, y):
    m = np.ma.masked_invalid(np.stack([x, y]))
    return m.sum(axis=0), m.mean(axis=1), m.max(axis=0), m.count(), m.sum(), m.std(axis=1), np.ma.min(m), m.any()


def masks(x, y):
    m, other = np.ma.masked_less(x, 0), np.ma.masked_less(y, 0)
    m[m > 1] = 0
    other.mask = y > 2
    return m, np.ma.masked_less(x, 0) % 2, y % np.ma.masked_less(x, 0), other


@pytest.mark.parametrize("function", [arithmetic, functions, elements, reductions, masks], ids=lambda f: f.__name__)
def test_as_numpy_computes_them(function):
    with np.errstate(all="ignore"):
        expected = function(X.copy(), Y.copy())
    for ours, theirs in zip(nx.jit(function)(X.copy(), Y.copy()), expected, strict=True):
        assert isinstance(ours, np.ma.MaskedArray) is isinstance(theirs, np.ma.MaskedArray)
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
        np.testing.assert_array_equal(np.ma.getmaskarray(ours), np.ma.getmaskarray(theirs))


def test_functions_that_would_lose_the_mask_are_refused():
    with pytest.raises(NxTypeError) as raised:
        nx.jit(lambda x: np.median(np.ma.masked_invalid(x)))(X)
    assert str(raised.value).split("\n")[0] == "a masked array does not go here, where its mask would be lost."
    with pytest.raises(NxTypeError, match=r"^a masked array of a program takes no fill_value"):
        nx.jit(lambda x: np.ma.array(x, fill_value=3))(X)

    def function(x):
        m = np.ma.array(x)
        m.fill_value = 3
        return m

    with pytest.raises(NxTypeError, match=r"^a masked array of a program takes no fill_value"):
        nx.jit(function)(X)
