"""Conversions by NumPy's rules, compared with NumPy's."""

import numpy as np
import pytest

import nxkernel as nx
from numpy_face import check
from nxkernel.numpy.casting import filled_as
from nxkernel.types import normalize

NUMBERS = np.array([-1.5, 300.7, 255.0, -128.9, 0.2, 70000.5, -40000.0, 3e9])


@pytest.mark.parametrize("into", ["u1", "i1", "u2", "i2", "u4", "bool", "f4", "i8"])
@pytest.mark.parametrize("type_", ["f8", "f4"])
def test_floats_wrap_around_in_narrow_integers(into, type_):
    numbers = NUMBERS[:7] if into in ("i2", "u2", "i1", "u1") else NUMBERS
    check(lambda np, x: x.astype(into), numbers.astype(type_))


@pytest.mark.parametrize("into", ["u1", "i1", "i4"])
def test_integers_wrap_around(into):
    check(lambda np, x: (x.astype(into), np.asarray(x, dtype=into)), np.array([-1, 300, 2**33 + 5]))


def test_assignments_convert_alike():
    def f(np, x):
        made, signed = np.zeros(3, np.uint8), np.zeros(2, np.int8)
        made[:2], made[2], signed[:] = -x[:2], x[2], 200 * x[:2]
        return made, signed

    with np.errstate(invalid="ignore"):
        check(f, np.array([1.0, 2.5, 300.0]))


def test_numbers():
    assert filled_as(-1.5, normalize("u8"), ()).to_number() == 255
    assert filled_as(200.7, normalize("s8"), ()).to_number() == -56
    assert filled_as(2.5, normalize("f32"), (2,)).to_list() == [2.5, 2.5]
    assert filled_as(2.5, normalize("bool"), ()).to_number() is True


@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_compiled(compiler):
    found = nx.defn(lambda x: x.astype(np.uint8), promotion="numpy", compiler=compiler)(NUMBERS[:5])
    assert found.to_list() == [255, 44, 255, 128, 0]
