"""Arithmetic, parts, predicates, choices and conversions of complex numbers."""

import itertools
import math

import numpy as np
import pytest

import nxkernel as nx
from elementary_references import OF_COMPLEX, OF_REAL
from graph_comparison.compiled_graphs import agree, both
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.codegen import elementwise
from nxkernel.errors import NxTypeError

COMPLEX = [types.c64, types.c128]
REAL = [type_ for type_ in types.TYPES.values() if not type_.is_complex]
POINTS = [0.0, -0.0, 1.5, -2.0, 0.75, math.inf, -math.inf, math.nan]
GRID = [complex(*pair) for pair in itertools.product(POINTS, repeat=2)]

#: What functions of `nxkernel` let through to primitives with complex operands or results.
TAKEN = [
    "add", "subtract", "multiply", "divide", "pow", "negate", "conjugate", "abs", "real", "imag", "phase", "complex",
    "as_type", "select", "equal", "not_equal", "logical_and", "logical_or", "logical_xor", "logical_not", "is_nan",
    "is_infinity", *OF_COMPLEX,
]  # fmt: skip
#: What they refuse, of one operand and of two.
REFUSED_ONE = [
    "floor", "ceil", "round", "sign", *OF_REAL, "bitwise_not", "population_count",
    "count_leading_zeros",
]  # fmt: skip
REFUSED_TWO = [
    "remainder", "quotient", "atan2", "max", "min", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift",
    "right_shift", "greater", "less", "greater_equal", "less_equal",
]  # fmt: skip


def pairs_of(type_):
    return [np.array(column, type_.dtype) for column in zip(*itertools.product(GRID, repeat=2), strict=True)]


def test_every_primitive_that_takes_complex_numbers_has_code():
    # Functions of Numba have tests of their own; the others compute nothing.
    assert set(TAKEN) == elementwise.lowered(complex=True) - {"njit", "stop_grad", "after"}


@pytest.mark.parametrize("name", [*REFUSED_ONE, *REFUSED_TWO])
def test_the_others_are_refused_before(name):
    z = nx.c64([1j, 2])
    with pytest.raises(NxTypeError):
        getattr(nx, name)(*[z] * (2 if name in REFUSED_TWO else 1))


def same_bits(found, expected):
    """Equal numbers, zeros of equal sign, NaN at the same places."""
    np.testing.assert_array_equal(found, expected)
    for part in (np.real, np.imag):
        left, right = part(found), part(expected)
        zero = right == 0
        np.testing.assert_array_equal(np.signbit(left[zero]), np.signbit(right[zero]))


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("primitive", [p.add, p.subtract, p.multiply], ids=str)
def test_arithmetic(primitive, type_):
    found, expected = both(primitive, *pairs_of(type_))
    same_bits(found, expected)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("primitive", [p.negate, p.conjugate, p.real, p.imag], ids=str)
def test_parts_and_signs(primitive, type_):
    found, expected = both(primitive, np.array(GRID, type_.dtype))
    same_bits(found, expected)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_products_are_within_rounding(type_):
    rng = np.random.default_rng(0)
    left, right = ((rng.normal(size=500) + 1j * rng.normal(size=500)).astype(type_.dtype) for _ in range(2))
    found, _ = both(p.multiply, left, right)
    exact = left.astype(np.clongdouble) * right
    assert (np.abs(found - exact) <= 2 * np.finfo(type_.dtype).eps * np.abs(exact)).all()


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize(
    "primitive", [p.equal, p.not_equal, p.logical_and, p.logical_or, p.logical_xor, p.is_nan, p.is_infinity], ids=str
)
def test_predicates(primitive, type_):
    operands = pairs_of(type_) if primitive not in (p.is_nan, p.is_infinity) else [np.array(GRID, type_.dtype)]
    found, expected = both(primitive, *operands)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("type_", COMPLEX, ids=str)
def test_zero_alone_is_false(type_):
    found, expected = both(p.logical_not, np.array(GRID, type_.dtype))
    np.testing.assert_array_equal(found, expected)
    assert found.sum() == 4


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", [*REAL, *COMPLEX], ids=str)
def test_choices(type_):
    rng = np.random.default_rng(0)
    mask = rng.integers(0, 2, 60).astype(type_.dtype)
    then, otherwise = (rng.integers(-9, 9, 60) + 1j * rng.integers(-9, 9, 60) for _ in range(2))
    for chosen in COMPLEX:
        found, expected = both(p.select, mask, then.astype(chosen.dtype), otherwise.astype(chosen.dtype))
        np.testing.assert_array_equal(found, expected)
    found, expected = both(p.select, then.astype("c8"), mask, mask[::-1])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", COMPLEX, ids=str)
@pytest.mark.parametrize("source", REAL, ids=str)
def test_from_real_numbers(source, type_):
    numbers = np.arange(100).astype(source.dtype)
    if source.is_float:
        numbers = (np.arange(-50, 50) / 7).astype(source.dtype)
    found, expected = both(p.as_type, numbers, type=type_)
    same_bits(found, expected)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("type_", [*REAL, *COMPLEX], ids=str)
@pytest.mark.parametrize("source", COMPLEX, ids=str)
def test_to_other_types(source, type_):
    more = np.linspace(-300, 300, 61) * (1 + 0.3j)
    found, expected = both(p.as_type, np.concatenate([GRID, more]).astype(source.dtype), type=type_)
    # NaN of bf16 is nothing special to NumPy.
    wide = "f8" if type_.is_float else type_.dtype
    np.testing.assert_array_equal(found.astype(wide), expected.astype(wide))


@pytest.mark.parametrize("type_", [types.f32, types.f64], ids=str)
def test_from_two_parts(type_):
    real, imag = (np.array(column, type_.dtype) for column in zip(*itertools.product(POINTS, repeat=2), strict=True))
    found, expected = both(p.make_complex, real, imag)
    same_bits(found, expected)


@pytest.mark.parametrize("type_", [types.f16, types.bf16, types.s32, types.u8], ids=str)
def test_narrow_numbers_beside_complex_ones(type_):
    x = np.arange(40).astype(type_.dtype)
    agree(lambda x: (nx.complex(x, 1) * x, x * 1j, nx.conjugate(x)), x)


def test_predicates_become_complex_numbers():
    agree(lambda z: nx.as_type(z == 1j, "c64") * z + (z != 0), np.array([1j, 0, 2, 1j], "c8"))
