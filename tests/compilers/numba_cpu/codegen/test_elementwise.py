"""Each element-wise primitive with each type: instructions give what it means, special values included."""

import inspect
import itertools
import math

import ml_dtypes
import numpy as np
import pytest

import nxkernel as nx
from elementary_references import BY_PRIMITIVE
from graph_comparison.compiled_graphs import both, compiled, graph_of, make, spec
from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.numba_cpu.codegen import elementwise
from nxkernel.errors import CompilationError
from nxkernel.ops.machinery.dispatch import apply

FLOATS = [types.bf16, types.f16, types.f32, types.f64]
WHOLE = [type_ for type_ in types.TYPES.values() if type_.kind in ("u", "s")]
REAL = [*WHOLE, types.bool_, *FLOATS]

#: Primitives whose results alone are complex: see the tests of complex numbers.
COMPLEX_ONLY = {"complex"}

ELEMENTWISE = [primitive for primitive in p.TABLE.values() if primitive.family == "elementwise"]
OF_WHOLE = {
    p.bitwise_and, p.bitwise_or, p.bitwise_xor, p.bitwise_not, p.left_shift, p.right_shift, p.quotient,
    p.population_count, p.count_leading_zeros,
}  # fmt: skip
OF_ANY = {
    p.add, p.subtract, p.multiply, p.power, p.remainder, p.maximum, p.minimum, p.equal, p.not_equal, p.greater, p.less,
    p.greater_equal, p.less_equal, p.logical_and, p.logical_or, p.logical_xor, p.logical_not, p.is_nan, p.is_infinity,
    p.negate, p.sign, p.floor, p.ceil, p.round_half_away, p.round_half_even, p.truncate, p.absolute,
}  # fmt: skip
#: Primitives that a bool has too; arithmetic makes it a number first.
OF_BOOL = {
    p.equal, p.not_equal, p.greater, p.less, p.greater_equal, p.less_equal, p.logical_and, p.logical_or, p.logical_xor,
    p.logical_not, p.is_nan, p.is_infinity, p.bitwise_and, p.bitwise_or, p.bitwise_xor, p.bitwise_not, p.maximum,
    p.minimum,
}  # fmt: skip
BY_PARAMETERS = {p.select, p.as_type, p.bitcast, p.make_complex, p.threefry2x32}
OPERANDS = {
    p.add: 2, p.subtract: 2, p.multiply: 2, p.divide: 2, p.power: 2, p.remainder: 2, p.quotient: 2, p.atan2: 2,
    p.maximum: 2, p.minimum: 2, p.bitwise_and: 2, p.bitwise_or: 2, p.bitwise_xor: 2, p.left_shift: 2, p.right_shift: 2,
    p.equal: 2, p.not_equal: 2, p.greater: 2, p.less: 2, p.greater_equal: 2, p.less_equal: 2, p.logical_and: 2,
    p.logical_or: 2, p.logical_xor: 2,
}  # fmt: skip
#: Results that are not rounded correctly: within so many units in the last place of the type.
ULPS = {primitive: row.ulps[0] for primitive, row in BY_PRIMITIVE.items() if row.ulps[0]} | {p.power: 3, p.atan2: 3}


def types_of(primitive):
    if primitive in OF_WHOLE:
        return WHOLE + ([types.bool_] if primitive in OF_BOOL else [])
    if primitive in OF_ANY:
        return [*WHOLE, *FLOATS] + ([types.bool_] if primitive in OF_BOOL else [])
    return FLOATS


def samples(type_):
    """Numbers of a type: special ones, the ends of its range, and what lies between."""
    if type_ is types.bool_:
        return np.array([False, True])
    if type_.is_integer:
        low, high = types.limits(type_)
        numbers = {low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 8, 31, 63, 64, 100}
        numbers |= {-n for n in (1, 2, 5, 8, 33)} if low < 0 else set()
        return np.array(sorted(n for n in numbers if low <= n <= high), dtype=type_.dtype)
    info = ml_dtypes.finfo(type_.dtype)
    edges = [info.max, info.smallest_normal, info.smallest_subnormal, 1 + float(info.eps), 1 - float(info.eps) / 2]
    numbers = [0, 0.5, 1, 1.5, 2, 2.5, 3, 0.3, 1e-3, 10.75, 77, 200.5, math.inf, *map(float, edges)]
    with np.errstate(all="ignore"):
        return np.array([*numbers, *[-n for n in numbers], math.nan]).astype(type_.dtype)


def distance(found, expected, type_):
    """Units in the last place between two arrays of floats; NaN equals NaN, and zeros have a sign."""
    kind = f"i{type_.size}"
    low = np.iinfo(kind).min

    def order(x):
        bits = np.where(np.isnan(x.astype(np.float64)), type_.dtype.type(math.nan).view(kind) & ~low, x.view(kind))
        bits = bits.astype(object)
        return np.where(bits < 0, low - bits - 1, bits)

    return np.max(np.abs(order(found) - order(expected)), initial=0)


CASES = [
    (primitive, type_)
    for primitive in OPERANDS | ULPS | dict.fromkeys(OF_ANY | OF_WHOLE | {p.sqrt})
    for type_ in types_of(primitive)
]


@pytest.mark.sampled(every=16)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize(("primitive", "type_"), sorted(CASES, key=str), ids=str)
def test_instructions_mean_what_the_primitive_means(primitive, type_):
    numbers = samples(type_)
    operands = OPERANDS.get(primitive, 1)
    columns = [
        np.array(column, dtype=type_.dtype) for column in zip(*itertools.product(numbers, repeat=operands), strict=True)
    ]
    found, expected = both(primitive, *columns)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if expected.dtype.kind in "biu":
        np.testing.assert_array_equal(found, expected)
    else:
        far = distance(found, expected, type_)
        assert far <= (ULPS.get(primitive, 0) if type_.bits > 16 else min(ULPS.get(primitive, 0), 1))


@pytest.mark.parametrize("type_", [t for t in WHOLE if t.bits <= 32], ids=str)
@pytest.mark.parametrize("primitive", [p.quotient, p.remainder], ids=str)
def test_division_next_to_whole_quotients(primitive, type_):
    """Just below and above every multiple, of a few, of all sizes of divisors."""
    random = np.random.default_rng(5)
    low, high = types.limits(type_)
    divisors = random.integers(1, 2 ** random.integers(1, type_.bits, 20_000), dtype=np.int64)
    multiples = divisors * (random.random(20_000) * (high // divisors)).astype(np.int64)
    left = np.concatenate([multiples - 1, multiples, multiples + 1]) * random.choice([1, -1 if low < 0 else 1], 60_000)
    left, right = np.clip(left, low, high).astype(type_.dtype), np.tile(divisors, 3).astype(type_.dtype)
    found, expected = both(primitive, left, right)
    np.testing.assert_array_equal(found, expected)


def test_every_elementwise_primitive_is_tested_and_lowered():
    tested = {primitive.name for primitive, _ in CASES} | {primitive.name for primitive in BY_PARAMETERS}
    parts = {"real", "imag", "phase", "conjugate", "njit", "stop_grad", "after"}
    assert {primitive.name for primitive in ELEMENTWISE} - tested == parts
    assert {primitive.name for primitive in ELEMENTWISE} - elementwise.lowered() == COMPLEX_ONLY


@pytest.mark.parametrize("type_", FLOATS)
def test_parts_of_real_numbers(type_):
    numbers = samples(type_)
    for primitive in (p.real, p.imag, p.conjugate, p.phase):
        found, expected = both(primitive, numbers)
        assert distance(found, expected, type_) <= (primitive is p.phase)


@pytest.mark.sampled(every=24)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("type_", REAL)
@pytest.mark.parametrize("source", REAL)
def test_conversions(source, type_):
    found, expected = both(p.as_type, samples(source), type=type_)
    if type_.is_float:
        assert distance(found, expected, type_) == 0
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("type_", FLOATS)
@pytest.mark.parametrize("source", [types.f64, types.f32, types.u64, types.s64])
def test_conversions_round_once(source, type_):
    rng = np.random.default_rng(0)
    if source.is_float:
        # Numbers in the middle between two of the narrower type, and next to the middle.
        halves = rng.integers(-4000, 4000, 500) + 0.5
        numbers = np.concatenate([halves, np.nextafter(halves, 1e9), np.nextafter(halves, -1e9)]) * 2.0**-12
        numbers = numbers.astype(source.dtype)
    else:
        numbers = (rng.integers(1, 2**12, 500, dtype=np.int64) << 50) + rng.integers(-2, 2, 500)
        numbers = numbers.astype(source.dtype)
    found, expected = both(p.as_type, numbers, type=type_)
    assert distance(found, expected, type_) == 0


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize(
    ("source", "type_"),
    [(a, b) for a, b in itertools.product([*WHOLE, *FLOATS], repeat=2) if a.bits == b.bits],
    ids=str,
)
def test_bits_in_another_type(source, type_):
    found, expected = both(p.bitcast, samples(source), type=type_)
    if type_.is_float:
        np.testing.assert_array_equal(found.view(f"u{type_.size}"), expected.view(f"u{type_.size}"))
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.sampled(every=12)
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("mask", REAL)
@pytest.mark.parametrize("type_", REAL)
def test_selection(mask, type_):
    masks, numbers = samples(mask), samples(type_)
    masks = np.resize(masks, len(numbers) * 3)
    then, otherwise = np.resize(numbers, masks.shape), np.resize(numbers[::-1], masks.shape)
    found, expected = both(p.select, masks, then, otherwise)
    if type_.is_float:
        assert distance(found, expected, type_) == 0
    else:
        np.testing.assert_array_equal(found, expected)


def test_what_has_no_instructions_is_refused_clearly():
    with pytest.raises(CompilationError) as error:
        compiled(lambda z: make(p.sign, z), spec("c64", 3))
    assert str(error.value) == (
        'numba_cpu has no code for sign of c64[3].\n  Run this definition with compiler="evaluator".'
    )


def test_what_is_refused_is_shown_with_its_line():
    line = inspect.currentframe().f_lineno + 2
    with pytest.raises(CompilationError) as error:
        compiled(lambda x: apply(p.floor, nx.complex(x, x)), spec("f32", 3))
    assert str(error.value).startswith(f"numba_cpu has no code for floor of c64[3] ({__file__}, line {line}).")


def test_predicates_feed_arithmetic_without_becoming_numbers_in_memory():
    graph = graph_of(lambda x: (x > 0) * 3 + (x < 5), spec("f32", 4))
    assert [node.type for node in graph.outputs] == ["s64"]
    (found,) = compiled(lambda x: (x > 0) * 3 + (x < 5), spec("f32", 4)).run([np.float32([-1, 0, 3, 9])])
    np.testing.assert_array_equal(found, [1, 1, 4, 3])
