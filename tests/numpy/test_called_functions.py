"""Functions of NumPy's that the running program calls NumPy for."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp
from nxkernel.numpy import called_functions

X = np.array([0.5, -3.7, 12.0, 0.0])
BITS = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1], np.uint8)
CALLS = {
    "frexp": lambda x, b: np.frexp(x),
    "ldexp": lambda x, b: np.ldexp(x, np.array([1, 2, -1, 0])),
    "spacing": lambda x, b: np.spacing(x),
    "packbits": lambda x, b: (np.packbits(b), np.packbits(np.stack([b, b]), axis=1, bitorder="little")),
    "unpackbits": lambda x, b: (np.unpackbits(b), np.unpackbits(b, count=10, bitorder="little")),
    "histogramdd": lambda x, b: np.histogramdd(np.stack([x, x * x], axis=1), bins=3)[0],
    "histogram2d": lambda x, b: np.histogram2d(x, x * 2, bins=[2, 3], weights=np.abs(x)),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_numpy(name):
    expected, result = CALLS[name](X, BITS), nx.jit(CALLS[name])(X, BITS)
    for one, other in zip(
        *((each if isinstance(each, tuple) else (each,)) for each in (result, expected)), strict=True
    ):
        assert np.asarray(one).dtype == other.dtype
        np.testing.assert_array_equal(one, other)


def test_each_is_called():
    assert sorted(CALLS) == called_functions.__all__


def test_at_once():
    assert np.asarray(nnp.packbits(BITS)).tolist() == [178, 128]
