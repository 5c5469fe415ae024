"""Adjoints and powers of matrices."""

import re

import numpy as np
import pytest

import nxkernel as nx
from nxkernel.errors import NxTypeError, NxValueError

X = np.random.default_rng(0).normal(size=(2, 3, 3))


def test_adjoint():
    z = X + 1j * X[::-1]
    np.testing.assert_array_equal(nx.linalg.adjoint(z), np.conj(np.swapaxes(z, -1, -2)))
    np.testing.assert_array_equal(nx.linalg.adjoint([1j, 2]), np.conj([1j, 2]))
    assert (
        nx.linalg.adjoint(nx.iota((2, 3), names=["a", "b"])).spec == nx.template((3, 2), "s64", names=["b", "a"]).spec
    )
    assert nx.linalg.adjoint(2).to_list() == 2


@pytest.mark.parametrize("power", [0, 1, 2, 5, 8, -1, -3])
def test_matrix_power(power):
    found = nx.linalg.matrix_power(X, power)
    np.testing.assert_allclose(found, np.linalg.matrix_power(X, power), rtol=1e-8)
    assert found.type == "f64"


def test_types_of_powers():
    whole = nx.u8([[1, 1], [0, 1]])
    assert nx.linalg.matrix_power(whole, 3).spec == nx.template((2, 2), "u8").spec
    assert nx.linalg.matrix_power(whole, -1).type == "f32"
    np.testing.assert_array_equal(nx.linalg.matrix_power(nx.bf16([[2.0]]), 3), nx.bf16([[8.0]]))
    assert nx.linalg.matrix_power(nx.iota((1, 1), names=["a", "b"]), 1).names == (None, None)


def test_refused():
    with pytest.raises(NxValueError, match=re.escape("matrix_power takes square matrices, got s64[2][3].")):
        nx.linalg.matrix_power(nx.iota((2, 3)), 2)
    with pytest.raises(NxTypeError, match="the power of a matrix must be a whole number that is known"):
        nx.linalg.matrix_power(X, 0.5)
