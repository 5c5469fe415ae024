"""Conversions by NumPy's rules, compared with NumPy's."""

import warnings

import numpy as np
import pytest

import nxkernel as nx
from numpy_comparison.source_text import forget, module_of
from numpy_comparison.traced_functions import check
from nxkernel.errors import NxTypeError
from nxkernel.numpy.arrays.casting import filled_as
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
    assert found.tolist() == [255, 44, 255, 128, 0]


@pytest.mark.sampled(every=12)
@pytest.mark.parametrize("into", ["i1", "i2", "i4", "i8", "u1", "u2", "u8", "bool"])
@pytest.mark.parametrize("type_", ["f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("compiler", ["evaluator", "numba_cpu"])
def test_floats_beyond_are_what_numpy_gives(type_, into, compiler):
    numbers = [1.5, -1.5, np.nan, np.inf, -np.inf, 300, -300, 7e4, -7e4, 3e9, -3e9, 1e19, -1e19, 1.9e19, 2**31, 2.0**63]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = np.array(numbers).astype(type_)
        wanted = x.astype(into)
    found = nx.defn(lambda x: (x.astype(into), x[2].astype(into)), promotion="numpy", compiler=compiler)(x)
    np.testing.assert_array_equal(found[0], wanted)
    np.testing.assert_array_equal(found[1], wanted[2])


def test_unsigned_ones_of_32_bits_are_the_lower_half_of_longer_ones():
    # In NumPy it depends on where an element stands.
    x = np.array([np.nan, np.inf, -1.5, 3e9, -3e9, 5e9])
    found = nx.defn(lambda x: x.astype(np.uint32), promotion="numpy")(x)
    assert found.tolist() == [0, 0, 2**32 - 1, 3_000_000_000, 2**32 - 3_000_000_000 % 2**32, 5_000_000_000 % 2**32]


def test_known_numbers_are_cut_alike():
    for type_ in ("s8", "u16", "s32", "u64"):
        dtype = normalize(type_).dtype
        for number in (np.nan, np.inf, 1e19, -1e19, 300.5, -2.5):
            with np.errstate(all="ignore"):
                assert filled_as(number, normalize(type_), ()).to_number() == int(np.float64(number).astype(dtype))


@pytest.mark.parametrize("statement", ["x[0] = 200", "x[:] = -129", "x[x > 0] = 200", "x += 200", "x.fill(200)"])
def test_a_python_integer_that_does_not_fit_is_not_assigned(statement):
    names = module_of(f"def f(x):\n    {statement}\n    return x\n")
    x = np.arange(3, dtype=np.int8)
    with pytest.raises(OverflowError):
        names["f"](x.copy())
    with pytest.raises(NxTypeError, match=r"the Python integer -?\d+ is outside of s8, which goes from -128 to 127"):
        nx.defn(names["f"])(x)
    assert x.tolist() == [0, 1, 2]
    forget(names)


COUNTED = """
def f(x, k):
    n = 0
    while n < k:
        n += 1
    return x * ({number}), x * (n {sign} {number}), x * ({number} {sign} n), x * ({number} {sign} k)
"""


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("sign", ["+", "*", "/", "-"])
@pytest.mark.parametrize("number", ["np.cbrt(2.0)", "np.sqrt(2)", "np.float64(1.5)", "np.float32(1.5)", "1.5", "np.pi"])
def test_numbers_that_numpys_functions_give_count_beside_pythons(number, sign):
    names = module_of(COUNTED.format(number=number, sign=sign))
    x = np.ones(3, np.float32)
    for one, other in zip(nx.defn(names["f"])(x, 2), names["f"](x, 2), strict=True):
        assert np.asarray(one).dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)
    forget(names)
