"""What arrays are, as NumPy's functions tell it while a program is traced."""

import numpy as np
import pytest

import nxkernel as nx

M = np.arange(6.0, dtype=np.float32).reshape(2, 3)


def test_answers_are_known_while_tracing():
    told = []

    def f(m, n):
        told.append((np.shape(m), np.ndim(m), np.size(m, 1), np.result_type(m, np.float64), np.isscalar(2)))
        told.append((np.result_type(m, 1.5), np.promote_types("i4", "f4"), np.can_cast(np.int8, np.int64)))
        told.append((np.iterable(m), np.shares_memory(m, m[1:]), np.shares_memory(m, m.copy()), np.isfortran(m)))
        told.append((m.dtype, m.nbytes, m.itemsize, len(m), m.T.shape, np.common_type(m)))
        return m * n

    assert nx.defn(f)(M, 2).tolist() == (M * 2).tolist()
    traced = told[:4]
    told.clear()
    f(M, 2)
    assert traced == told


def test_types_of_arrays_that_are_there():
    for x in (nx.numpy.asarray(M), nx.tensor(M)):
        assert np.min_scalar_type(x) == np.float32
        assert np.can_cast(x, np.float64)
    assert np.min_scalar_type(nx.numpy.asarray(3)) == np.uint8
    assert nx.defn(lambda x: x * np.min_scalar_type(x).itemsize)(M).tolist() == (M * 4).tolist()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 if np.ma.isMaskedArray(x) or np.ma.is_masked(x) else x + 1,
        lambda x: x if np.ma.getmask(x) is np.ma.nomask else x + 1,
        lambda x: np.where(np.ma.getmaskarray(x), 0, x),
        lambda x: np.ma.getdata(x) + 1,
        lambda x: np.ma.filled(x * 2, np.nan),
        lambda x: np.ma.masked if x is None else np.negative(x),
    ],
)
@pytest.mark.parametrize("transform", [nx.defn, nx.jit])
def test_traced_arrays_have_no_mask(function, transform):
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(transform(function)(x), function(x))


def test_arrays_of_the_outside_keep_theirs():
    outside = np.ma.array([1.0, 2.0], mask=[False, True])
    function = nx.defn(lambda x: x + (1.0 if np.ma.is_masked(outside) else 0.0))
    assert float(function(np.float64(1))) == 2
    outside.mask = False
    assert float(function(np.float64(1))) == 1
