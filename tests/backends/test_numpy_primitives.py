"""What primitives do to arrays, compared with NumPy in f64, with Python, or with loops written out."""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.backends import MEANING
from nxkernel.backends.numpy_primitives import cast, cast_number
from nxkernel.primitives import Spec

FLOATS = [types.bf16, types.f16, types.f32, types.f64]
INTEGERS = [t for t in types.TYPES.values() if t.is_integer and t is not types.bool_]


def run(primitive, *arrays, **params):
    """Apply a primitive's rule and meaning; check what every result promises."""
    arrays = [np.asarray(array) for array in arrays]
    specs = [Spec(types.normalize(a.dtype), a.shape, (None,) * a.ndim) for a in arrays]
    spec = primitive.rule(*specs, **params)
    before = [array.tobytes() for array in arrays]
    result = MEANING[primitive](spec, *arrays, **params)
    assert type(result) is np.ndarray
    assert (result.dtype, result.shape) == (spec.type.dtype, spec.shape)
    assert result.flags.c_contiguous
    assert [array.tobytes() for array in arrays] == before
    return result


SPECIAL = [0.0, -0.0, 0.5, -0.5, 1.5, -2.5, 3.0, 1e-5, -40.0, 100.0, math.inf, -math.inf, math.nan]
UNARY = {
    p.negate: np.negative, p.sign: np.sign, p.floor: np.floor, p.ceil: np.ceil, p.round_half_even: np.rint,
    p.truncate: np.trunc, p.absolute: np.abs, p.exp: np.exp, p.expm1: np.expm1, p.log: np.log, p.log1p: np.log1p,
    p.log2: np.log2, p.log10: np.log10, p.sin: np.sin, p.cos: np.cos, p.tan: np.tan, p.asin: np.arcsin,
    p.acos: np.arccos, p.atan: np.arctan, p.sinh: np.sinh, p.cosh: np.cosh, p.tanh: np.tanh, p.asinh: np.arcsinh,
    p.acosh: np.arccosh, p.atanh: np.arctanh, p.sqrt: np.sqrt, p.cbrt: np.cbrt,
    p.rsqrt: lambda x: 1 / np.sqrt(x), p.sigmoid: lambda x: 1 / (1 + np.exp(-x)),
    p.is_nan: np.isnan, p.is_infinity: np.isinf, p.logical_not: np.logical_not,
}  # fmt: skip
BINARY = {
    p.add: np.add, p.subtract: np.subtract, p.multiply: np.multiply, p.divide: np.divide, p.atan2: np.arctan2,
    p.maximum: np.maximum, p.minimum: np.minimum, p.remainder: np.fmod, p.power: np.power, p.equal: np.equal,
    p.not_equal: np.not_equal, p.greater: np.greater, p.less: np.less, p.greater_equal: np.greater_equal,
    p.less_equal: np.less_equal, p.logical_and: np.logical_and, p.logical_or: np.logical_or,
    p.logical_xor: np.logical_xor,
}  # fmt: skip


def tolerance(type_):
    return 4 * float(ml_dtypes.finfo(type_.dtype).eps)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("primitive", UNARY, ids=str)
def test_unary_functions_of_floats(primitive, type_):
    x = cast(np.array(SPECIAL), type_)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        expected = cast(UNARY[primitive](wide).astype(np.float64), type_).astype(np.float64)
    found = run(primitive, x).astype(np.float64)
    np.testing.assert_allclose(found, expected, rtol=tolerance(type_), atol=tolerance(type_))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("primitive", BINARY, ids=str)
def test_binary_functions_of_floats(primitive, type_):
    pairs = np.array(list(itertools.product(SPECIAL, SPECIAL)))
    x, y = cast(pairs[:, 0].copy(), type_), cast(pairs[:, 1].copy(), type_)
    with np.errstate(all="ignore"):
        wide = BINARY[primitive](x.astype(np.float64), y.astype(np.float64)).astype(np.float64)
        expected = cast(wide, type_).astype(np.float64)
    np.testing.assert_allclose(run(primitive, x, y).astype(np.float64), expected, rtol=tolerance(type_))


@pytest.mark.parametrize(("primitive", "function"), [(p.erf, math.erf), (p.erfc, math.erfc)], ids=str)
def test_error_functions(primitive, function):
    x = np.array([-2.0, 0.0, 0.3, 5.0])
    np.testing.assert_allclose(run(primitive, x), [function(value) for value in x], rtol=1e-14)
    np.testing.assert_allclose(run(p.erf_inv, run(p.erf, x[:3])), x[:3], rtol=1e-12, atol=1e-15)


def test_erfc_far_to_the_right():
    x = np.array([0.5, 0.7, 5.0, 19.32727288435221, 26.0, math.inf, -math.inf, math.nan])
    exact = [math.erfc(value) for value in x]
    np.testing.assert_allclose(run(p.erfc, x), exact, rtol=3e-15)
    # Less than the least normal number, and not yet 0.
    small = run(p.erfc, np.array([26.64855, 27.2, 28.0]))
    np.testing.assert_allclose(small, [8.1902489095946e-311, 1e-323, 0], rtol=1e-12, atol=5e-324)
    narrow = x.astype("f4")
    np.testing.assert_array_equal(run(p.erfc, narrow), np.array([math.erfc(value) for value in narrow], "f4"))


@pytest.mark.parametrize(
    "primitive", [p.exp, p.log, p.sin, p.tanh, p.sqrt, p.cbrt, p.sigmoid, p.rsqrt, p.log1p], ids=str
)
def test_complex_functions_extend_the_real_ones(primitive):
    x = np.array([0.25, 2.0])
    np.testing.assert_allclose(run(primitive, x.astype(complex)), run(primitive, x), rtol=1e-13)


def test_the_sigmoid_of_complex_numbers_far_to_the_left():
    found = run(p.sigmoid, np.array([-800 + 1j, -40 + 1j, 800 + 1j]))
    np.testing.assert_allclose(found, [0, np.exp(-40 + 1j), 1], rtol=1e-15)


def test_complex_numbers_are_true_where_either_part_is():
    z = np.array([0, -0.0j, 2j, 3, complex(0, math.nan)])
    np.testing.assert_array_equal(run(p.as_type, z, type=types.bool_), [False, False, True, True, True])
    assert [bool(cast_number(number, types.bool_)) for number in z.tolist()] == [False, False, True, True, True]


def test_parts_of_complex_numbers():
    x = np.array([3 + 4j, -1j, -2])
    np.testing.assert_array_equal(run(p.real, x), [3, 0, -2])
    np.testing.assert_array_equal(run(p.imag, x), [4, -1, 0])
    np.testing.assert_array_equal(run(p.absolute, x), [5, 1, 2])
    np.testing.assert_array_equal(run(p.conjugate, x), [3 - 4j, 1j, -2])
    np.testing.assert_allclose(run(p.phase, x), [math.atan2(4, 3), -math.pi / 2, math.pi])
    np.testing.assert_array_equal(run(p.make_complex, np.float32([1]), np.float32([-2])), np.complex64([1 - 2j]))


def test_halves_round_away_from_zero():
    x = np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.49999999999999994, -0.2, 4503599627370497.5, 1e300, math.inf, math.nan])
    expected = [1, 2, 3, -1, -3, 0, -0.0, 4503599627370498, 1e300, math.inf, math.nan]
    found = run(p.round_half_away, x)
    np.testing.assert_array_equal(found, expected)
    assert math.copysign(1, found[6]) == -1


def wrap(value, type_):
    low, _ = types.limits(type_)
    return (value - low) % 2**type_.bits + low


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(INTEGERS), st.data())
def test_integers_are_whole_numbers_that_wrap(type_, data):
    low, high = types.limits(type_)
    value = st.one_of(st.integers(low, high), st.sampled_from([low, low + 1, 0, 1, high]))
    a, b = data.draw(value), data.draw(value)
    x, y = np.array([a], type_.dtype), np.array([b], type_.dtype)
    for primitive, function in [
        (p.add, lambda: a + b),
        (p.subtract, lambda: a - b),
        (p.multiply, lambda: a * b),
        (p.quotient, lambda: 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),
        (p.remainder, lambda: 0 if b == 0 else int(math.copysign(1, a)) * (abs(a) % abs(b))),
        (p.bitwise_and, lambda: a & b),
        (p.bitwise_or, lambda: a | b),
        (p.bitwise_xor, lambda: a ^ b),
        (p.maximum, lambda: max(a, b)),
        (p.left_shift, lambda: a << b if 0 <= b < type_.bits else 0),
        (p.right_shift, lambda: a >> b if 0 <= b < type_.bits else (-1 if a < 0 else 0)),
    ]:
        assert run(primitive, x, y)[0] == wrap(function(), type_), (primitive, a, b)
    bits = a % 2**type_.bits
    assert run(p.population_count, x)[0] == bits.bit_count()
    assert run(p.count_leading_zeros, x)[0] == type_.bits - bits.bit_length()
    assert run(p.bitwise_not, x)[0] == wrap(~a, type_)
    assert run(p.negate, x)[0] == wrap(-a, type_)
    assert run(p.absolute, x)[0] == wrap(abs(a), type_)


def test_integer_powers():
    x = np.array([2, 3, -1, -1, 1, 2, 0, -2], np.int64)
    y = np.array([10, 0, -3, -2, -5, -1, -1, 63], np.int64)
    np.testing.assert_array_equal(run(p.power, x, y), [1024, 1, -1, 1, 1, 0, 0, -(2**63)])


@pytest.mark.parametrize("type_", INTEGERS)
def test_floats_become_integers_by_truncation_and_saturate(type_):
    low, high = types.limits(type_)
    x = np.array([1.9, -0.9, math.nan, math.inf, -math.inf, 1e30, -1e30, 100.5])
    assert run(p.as_type, x, type=type_).tolist() == [1, 0, 0, high, low, high, low, 100]


@settings(max_examples=60, deadline=None)
@given(st.floats(width=32), st.sampled_from(INTEGERS))
def test_any_float_becomes_the_nearest_integer_toward_zero(value, type_):
    low, high = types.limits(type_)
    expected = 0 if math.isnan(value) else low if value < low else high if value > high else math.trunc(value)
    assert run(p.as_type, np.array([value], np.float32), type=type_)[0] == expected
    assert cast_number(value, type_) == expected


def test_other_conversions():
    assert run(p.as_type, np.array([300, -1]), type=types.u8).tolist() == [44, 255]
    assert run(p.as_type, np.array([2.5 + 1j]), type=types.s8).tolist() == [2]
    assert run(p.as_type, np.array([0.0, 0.5, math.nan]), type=types.bool_).tolist() == [False, True, True]
    assert run(p.as_type, np.array([True, False]), type=types.f16).tolist() == [1.0, 0.0]
    assert run(p.as_type, np.array([1e30]), type=types.f16).tolist() == [math.inf]
    assert run(p.as_type, np.array([3]), type=types.c64).tolist() == [3 + 0j]
    assert run(p.bitcast, np.array(1.0, np.float32), type=types.u32) == 0x3F800000


def test_numbers_become_elements():
    assert cast_number(300, types.s8) == 44
    assert cast_number(2**64 - 1, types.s64) == -1
    assert cast_number(1e300, types.f32) == np.inf
    assert cast_number(1 + 2j, types.f32) == 1
    assert cast_number(0.1, types.bf16) == ml_dtypes.bfloat16(0.1)
    assert cast_number(5, types.bool_) == True  # noqa: E712


def test_narrow_floats_round_once():
    x = np.full(4097, 1, np.float16)
    assert run(p.sum_, x, axes=(0,), keep_axes=False) == np.float16(4096)
    ones = np.ones((1, 300), ml_dtypes.bfloat16)
    assert run(p.dot, ones, ones.T.copy(), contract=((1,), (0,)), batch=((), ())).item() == 300


def test_select():
    assert run(p.select, np.array([0, 2, 1], np.uint8), np.array([1, 2, 3]), np.array([4, 5, 6])).tolist() == [4, 2, 3]


@pytest.mark.parametrize("axis", [0, 1])
def test_iota(axis):
    spec = Spec(types.f32, (2, 3), (None, None))
    found = MEANING[p.iota](spec, type=types.f32, shape=(2, 3), names=None, axis=axis)
    np.testing.assert_array_equal(found, np.indices((2, 3))[axis])
    assert found.dtype == np.float32


def test_constant():
    spec = Spec(types.s8, (2,), (None,))
    assert MEANING[p.constant](spec, value=300, spec=spec).tolist() == [44, 44]


DATA = np.arange(24).reshape(2, 3, 4)


def test_shapes_of_the_same_elements():
    np.testing.assert_array_equal(run(p.reshape, DATA, shape=(6, 4), names=(None, None)), DATA.reshape(6, 4))
    np.testing.assert_array_equal(run(p.transpose, DATA, axes=(2, 0, 1)), DATA.transpose(2, 0, 1))
    np.testing.assert_array_equal(run(p.reverse, DATA, axes=(0, 2)), np.flip(DATA, (0, 2)))
    np.testing.assert_array_equal(run(p.concatenate, DATA, DATA, axis=1), np.concatenate([DATA, DATA], 1))


def test_broadcast_places_axes():
    x = np.array([[1], [2], [3]])
    found = run(p.broadcast, x, shape=(3, 2, 4), axes=(0, 2), names=(None,) * 3)
    np.testing.assert_array_equal(found, np.broadcast_to(x[:, None, :], (3, 2, 4)))
    turned = run(p.broadcast, DATA[0], shape=(4, 2, 3), axes=(2, 0), names=(None,) * 3)
    np.testing.assert_array_equal(turned, np.broadcast_to(DATA[0].T[:, None, :], (4, 2, 3)))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.data())
def test_slices_walk_both_ways(size, data):
    x = np.arange(size)
    start = data.draw(st.integers(0, size - 1))
    stride = data.draw(st.sampled_from([-3, -2, -1, 1, 2, 3]))
    length = data.draw(st.integers(0, size - start if stride > 0 else start + 1))
    found = run(p.slice_, x, starts=(start,), lengths=(length,), strides=(stride,))
    step = 1 if stride > 0 else -1
    assert found.tolist() == [start + step * i for i in range(0, length, abs(stride))]


@pytest.mark.parametrize(("start", "expected"), [(-5, [0, 1]), (1, [1, 2]), (9, [2, 3])])
def test_dynamic_slices_stay_inside(start, expected):
    found = run(p.dynamic_slice, np.arange(4), np.array(start), lengths=(2,), strides=(1,))
    assert found.tolist() == expected


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 4), st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 2))
def test_pad(size, low, high, interior):
    spread = [9] * (size + max(size - 1, 0) * interior)
    for i in range(size):
        spread[i * (interior + 1)] = i
    whole = [9] * max(low, 0) + spread[max(-low, 0) :] + [9] * max(high, 0)
    length = len(spread) + low + high
    if length < 0 or len(spread) + min(low, 0) < 0:
        return
    expected = whole[: len(whole) + min(high, 0)]
    found = run(p.pad, np.arange(size), np.array(9), config=((low, high, interior),))
    assert found.tolist() == expected[:length]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axes", [(), (0,), (1, 2), (0, 1, 2)])
@pytest.mark.parametrize(
    ("primitive", "function"),
    [
        (p.sum_, np.sum), (p.product, np.prod), (p.reduce_max, np.max), (p.reduce_min, np.min), (p.all_, np.all),
        (p.any_, np.any),
    ],
    ids=lambda each: str(getattr(each, "__name__", each)),
)  # fmt: skip
def test_reductions(primitive, function, axes, keep):
    found = run(primitive, DATA, axes=axes, keep_axes=keep)
    np.testing.assert_array_equal(found, function(DATA, axis=axes, keepdims=keep).astype(found.dtype))


@pytest.mark.parametrize("type_", FLOATS)
def test_nan_wins(type_):
    x = cast(np.array([[1.0, math.nan, 3.0], [1.0, 2.0, 2.0]]), type_)
    assert run(p.reduce_max, x, axes=(1,), keep_axes=False).astype(float).tolist()[1:] == [2.0]
    assert np.isnan(run(p.reduce_min, x, axes=(1,), keep_axes=False)[0].astype(float))
    for primitive, low, high in [(p.argmax, [1, 1], [1, 2]), (p.argmin, [1, 0], [1, 0])]:
        for tie_break, expected in [("low", low), ("high", high)]:
            found = run(primitive, x, axis=1, keep_axis=False, tie_break=tie_break, type=types.s32)
            assert found.tolist() == expected


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("type_", [types.f32, types.f64, types.s16, types.u8, types.c64, types.bf16, types.f16])
@pytest.mark.parametrize(
    ("left", "right", "contract", "batch", "formula"),
    [
        ((2, 3), (3, 4), ((1,), (0,)), ((), ()), "ij,jk->ik"),
        ((3, 2), (4, 3), ((0,), (1,)), ((), ()), "ji,kj->ik"),
        ((2, 3, 4), (2, 4, 5), ((2,), (1,)), ((0,), (0,)), "bij,bjk->bik"),
        ((2, 3, 4), (4, 3), ((1, 2), (1, 0)), ((), ()), "ijk,kj->i"),
        ((3,), (3,), ((0,), (0,)), ((), ()), "i,i->"),
        ((2,), (3,), ((), ()), ((), ()), "i,j->ij"),
        ((0, 3), (3, 2), ((1,), (0,)), ((), ()), "ij,jk->ik"),
    ],
)
def test_dot(left, right, contract, batch, formula, type_):
    generator = np.random.default_rng(0)
    a, b = (cast(generator.integers(0, 5, shape), type_) for shape in (left, right))
    wide = np.complex128 if type_.is_complex else np.int64
    expected = np.einsum(formula, a.astype(wide), b.astype(wide))
    np.testing.assert_array_equal(run(p.dot, a, b, contract=contract, batch=batch).astype(wide), expected)


def test_integer_products_wrap():
    x = np.full((1, 2), 16, np.uint8)
    assert run(p.dot, x, x.T.copy(), contract=((1,), (0,)), batch=((), ())) == 0
