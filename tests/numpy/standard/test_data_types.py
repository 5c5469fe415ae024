"""Limits of types, and questions about them."""

import numpy as np
import pytest

import nxkernel as nx
import nxkernel.numpy as nnp


@pytest.mark.parametrize("kind", ["float32", "float64", "complex64", "complex128"])
def test_finfo_gives_pythons_numbers(kind):
    wanted = np.finfo(kind)
    for given in (getattr(nnp, kind), np.dtype(kind), nnp.zeros(1, dtype=kind)):
        found = nnp.finfo(given)
        for name in ("eps", "max", "min", "smallest_normal"):
            assert type(getattr(found, name)) is float
            assert getattr(found, name) == getattr(wanted, name)
        assert (found.bits, found.dtype) == (wanted.bits, wanted.dtype)


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_iinfo(kind):
    wanted = np.iinfo(kind)
    for given in (getattr(nnp, kind), nnp.zeros(1, dtype=kind)):
        found = nnp.iinfo(given)
        assert (found.bits, found.min, found.max, found.dtype) == (wanted.bits, wanted.min, wanted.max, wanted.dtype)


def test_predicates_are_bools():
    x = nnp.asarray([1.0, 2.0])
    for found in (x > 1, nnp.isnan(x), nnp.isfinite(x), nnp.logical_not(x), nnp.any(x), nnp.all(x), nnp.signbit(x)):
        assert found.dtype == nnp.bool
    assert nnp.isdtype(x.dtype, "real floating")
    assert nnp.can_cast(nnp.int8, nnp.int16)
    assert nnp.result_type(nnp.int8, nnp.uint8) == nnp.int16
    assert nnp.result_type(x, 1) == nnp.float64


def test_numbers_of_numpys_finfo_are_of_the_type():
    def limits(x):
        return np.finfo(x.dtype).eps, x * np.finfo(np.float64).eps, x[0] + np.finfo(np.float32).tiny

    x = np.ones(2, np.float32)
    for transform in (nx.defn, nx.jit):
        for result, expected in zip(transform(limits)(x), limits(x), strict=True):
            np.testing.assert_array_equal(result, expected)
            assert result.dtype == expected.dtype
