import functools
import math

import mpmath
import numpy as np
import pytest
import scipy.special

from elementary_functions import TYPES, compiled, ulps
from elementary_references import REFERENCES
from nxkernel.compilers.numba_cpu.codegen import elementary
from nxkernel.compilers.numba_cpu.codegen.elementary import great_angles, small_angles
from nxkernel.compilers.numba_cpu.codegen.llvm_ir import FunctionBuilder, IRModule, IRValue

ROUNDING = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint}
UNARY = [name for name, arity in elementary.ARITY.items() if arity == 1 and name not in (*ROUNDING, "round")]


FLOAT64 = {name: row.numpy for name, row in REFERENCES.items()} | {"atan2": np.arctan2, "pow": np.power}
PRECISE = {name: row.precise for name, row in REFERENCES.items()} | {
    "exp2": lambda x: mpmath.mpf(2) ** x,
    "pow": lambda x, y: mpmath.power(x, y),
}
# Where a function varies, beside the samples of all bit patterns and those about 1.
INTERVALS = {name: row.intervals for name, row in REFERENCES.items()} | {"exp2": [(-150, 129), (-1075, 1025)]}


def bit_patterns(type_, size, seed=0):
    width = np.dtype(type_).itemsize
    numbers = np.random.default_rng(seed).integers(0, 256, size * width, dtype=np.uint8).view(type_)
    return np.where(np.isnan(numbers), type_(np.nan), numbers)  # quiet ones only: NumPy warns of the others


def sample(name, type_, size):
    """Bit patterns at random, numbers about 1, and the intervals of the function; a third or more are from those."""
    rng = np.random.default_rng(1)
    intervals = [*INTERVALS.get(name, [(0, 10)]), (-2, 2), (0.5, 2), (0.95, 1.05), (-0.01, 0.01)]
    parts = [rng.uniform(low, high, size // len(intervals)) for low, high in intervals]
    return np.concatenate([bit_patterns(type_, size), *parts]).astype(type_)


def precise_ulps(name, result, *operands):
    """The same for float64, with mpmath's numbers of 80 bits as the reference."""
    function = PRECISE.get(name) or getattr(mpmath, name)
    worst, where = 0.0, None
    with mpmath.workprec(80):
        for got, *numbers in zip(result.tolist(), *(operand.tolist() for operand in operands), strict=True):
            exact = function(*map(mpmath.mpf, numbers))
            rounded = float(exact)
            if math.isinf(rounded) or math.isinf(got):
                error = 0.0 if rounded == got else math.inf
            else:
                error = float(abs(exact - got) / math.ulp(rounded))
            if error > worst:
                worst, where = error, numbers
    return worst, where


def in_domain(name, x):
    with np.errstate(all="ignore"):
        reference = (FLOAT64.get(name) or getattr(np, name))(x.astype(np.float64))
    # The library's own reductions take mpmath long for huge arguments, and its results there are 0, 1 or infinity.
    return x[np.isfinite(x) & np.isfinite(reference) & (np.abs(x) < 1e15)]


def check_float32(name, size):
    x = sample(name, np.float32, size)
    with np.errstate(all="ignore"):
        reference = (FLOAT64.get(name) or getattr(np, name))(x.astype(np.float64))
    errors = ulps(compiled(name, "float", 16)(x), reference)
    worst = int(np.argmax(errors))
    assert errors[worst] <= 2, f"{name}({x[worst]!r}) is {errors[worst]:.2f} ulp off"


def check_float64(name, size):
    x = in_domain(name, sample(name, np.float64, size))
    worst, where = precise_ulps(name, compiled(name, "double", 8)(x), x)
    assert worst <= 2, f"{name}({where[0]!r}) is {worst:.2f} ulp off"


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", UNARY)
def test_float32_is_within_two_ulp(name):
    check_float32(name, 200_000)


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize("name", UNARY)
def test_float64_is_within_two_ulp(name):
    check_float64(name, 300 if name == "erf_inv" else 3_000)


@pytest.mark.slow
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("name", UNARY)
def test_float32_is_within_two_ulp_on_many(name):
    # What it is compared with takes two microseconds a number.
    check_float32(name, 60_000 if name == "erf_inv" else 400_000)


@pytest.mark.slow
@pytest.mark.sampled(every=4, lane="fuzz")
@pytest.mark.parametrize("name", UNARY)
def test_float64_is_within_two_ulp_on_many(name):
    check_float64(name, 1_000 if name == "erf_inv" else 8_000)


def special_numbers(type_):
    limits = np.finfo(type_)
    positive = [
        0,
        1,
        0.5,
        2,
        3,
        np.inf,
        limits.max,
        limits.tiny,
        limits.smallest_subnormal,
        1.5,
        2.0**limits.nmant,
        1e-10,
    ]
    return np.array([*positive, *(-number for number in positive), np.nan], type_)


def same_kind(result, reference):
    """Equal NaN, infinities and zeros with their signs; finite numbers within two units."""
    return np.all((np.isnan(result) & np.isnan(reference)) | (ulps(result, reference) <= 2))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", UNARY)
def test_special_values(name, element):
    # Cosines and tangents of huge numbers differ from one C library to another; those have their own test.
    x = special_numbers(TYPES[element])
    if name in ("sin", "cos", "tan"):
        x = x[~(np.isfinite(x) & (np.abs(x) > 1e6))]
    with np.errstate(all="ignore"):
        reference = (FLOAT64.get(name) or getattr(np, name))(x.astype(np.float64))
    result = compiled(name, element, 16)(x)
    assert same_kind(result, reference), list(zip(x, result, reference, strict=True))


@pytest.mark.sampled(every=8)
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", elementary.FUNCTIONS)
def test_every_number_of_lanes_gives_the_same_bits(name, element):
    type_ = TYPES[element]
    integer = np.dtype(f"u{np.dtype(type_).itemsize}")
    x = np.concatenate([special_numbers(type_), sample(name, type_, 1500)])
    operands = [x, np.roll(x, 7)][: elementary.ARITY[name]]
    wide, narrow = compiled(name, element, 16)(*operands), compiled(name, element, 1)(*operands)
    other = compiled(name, element, 8, inline=False)(*operands)
    for result in (narrow, other):
        different = (result.view(integer) != wide.view(integer)) & ~(np.isnan(result) & np.isnan(wide))
        assert not different.any(), x[different]


def pairs(type_):
    x, y = np.meshgrid(special_numbers(type_), special_numbers(type_))
    return x.ravel(), y.ravel()


@pytest.mark.parametrize("element", TYPES)
def test_pow_has_the_special_cases_of_c(element):
    x, y = pairs(TYPES[element])
    with np.errstate(all="ignore"):
        reference = np.power(x.astype(np.float64), y.astype(np.float64))
    result = compiled("pow", element, 16)(x, y)
    wrong = ~np.array([same_kind(result[i : i + 1], reference[i : i + 1]) for i in range(x.size)])
    assert not wrong.any(), list(zip(x[wrong], y[wrong], result[wrong], reference[wrong], strict=True))


@pytest.mark.parametrize("element", TYPES)
def test_atan2_has_the_special_cases_of_c(element):
    y, x = pairs(TYPES[element])
    reference = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    assert same_kind(compiled("atan2", element, 16)(y, x), reference)


def powers(type_, size):
    """Bases of every size, with exponents that bring the power across the range of the type, subnormals included."""
    rng, limits = np.random.default_rng(2), np.finfo(type_)
    x = np.exp(rng.uniform(-5, 5, size)).astype(type_).astype(np.float64)
    x[: size // 2] = (1 + rng.uniform(-0.3, 0.4, size // 2)).astype(type_)
    low, high = math.log(limits.smallest_subnormal), math.log(limits.max)
    y = (rng.uniform(low * 0.999, high * 0.999, size) / np.log(x)).astype(type_)
    return x.astype(type_), y


def test_pow_float32_is_within_two_ulp():
    x, y = powers(np.float32, 100_000)
    errors = ulps(compiled("pow", "float", 16)(x, y), np.power(x.astype(np.float64), y.astype(np.float64)))
    assert errors.max() <= 2


def test_pow_float64_is_within_two_ulp():
    x, y = powers(np.float64, 2_000)
    assert precise_ulps("pow", compiled("pow", "double", 8)(x, y), x, y)[0] <= 2


def test_pow_of_negative_bases():
    power = compiled("pow", "double", 8)
    x = np.array([-2.0, -2.0, -2.0, -2.0, -0.0, -0.0, -np.inf, -1.5])
    y = np.array([3.0, 2.0, 0.5, -1.0, 3.0, -3.0, 3.0, 2.0**53])
    expected = [-8.0, 4.0, math.nan, -0.5, -0.0, -math.inf, -math.inf, math.inf]
    np.testing.assert_array_equal(power(x, y), expected)
    np.testing.assert_array_equal(np.signbit(power(x, y))[[4]], [True])


@pytest.mark.parametrize("element", TYPES)
def test_atan2_is_within_two_ulp(element):
    rng = np.random.default_rng(3)
    y, x = rng.normal(size=(2, 100_000 if element == "float" else 2_000)).astype(TYPES[element])
    result = compiled("atan2", element, 16)(y, x)
    if element == "float":
        assert ulps(result, np.arctan2(y.astype(np.float64), x.astype(np.float64))).max() <= 2
    else:
        assert precise_ulps("atan2", result, y, x)[0] <= 2


@pytest.mark.parametrize("element", TYPES)
def test_fmod_is_exact(element):
    type_ = TYPES[element]
    rng = np.random.default_rng(4)
    x, y = (np.concatenate([some, part]) for some, part in zip(pairs(type_), rng.normal(size=(2, 3000)), strict=True))
    x = np.concatenate([x, bit_patterns(type_, 3000), rng.uniform(0, 1e6, 3000)]).astype(type_)
    y = np.concatenate([y, bit_patterns(type_, 3000, 5), rng.uniform(0, 3, 3000)]).astype(type_)
    with np.errstate(all="ignore"):
        reference = np.fmod(x, y)
    result = compiled("fmod", element, 16)(x, y)
    np.testing.assert_array_equal(result, reference)
    np.testing.assert_array_equal(np.signbit(result[reference == 0]), np.signbit(reference[reference == 0]))


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("name", ROUNDING)
def test_rounding(name, element):
    x = np.concatenate([special_numbers(TYPES[element]), np.arange(-8, 8, 0.25), bit_patterns(TYPES[element], 2000)])
    x = x.astype(TYPES[element])
    result = compiled(name, element, 16)(x)
    np.testing.assert_array_equal(result, ROUNDING[name](x))
    np.testing.assert_array_equal(np.signbit(result[result == 0]), np.signbit(x[result == 0]))


@pytest.mark.parametrize("element", TYPES)
def test_round_is_half_away_from_zero(element):
    below_half = np.nextafter(TYPES[element](0.5), TYPES[element](0))
    x = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.25, -0.0, below_half, 3.0, np.inf, 2.0**60]
    expected = [1, 2, 3, -1, -2, -3, 0, 0, 0, 3, np.inf, 2.0**60]
    np.testing.assert_array_equal(compiled("round", element, 16)(x), expected)


ANGLES = ["sin", "cos", "tan"]


def angle_errors(name, x):
    """Units in the last place between compiled results and exact ones, which take 1,200 bits of π."""
    with mpmath.workprec(1300):
        exact = [getattr(mpmath, name)(mpmath.mpf(number)) for number in x.tolist()]
        pairs = zip(compiled(name, "double", 8)(x).tolist(), exact, strict=True)
        return np.array([float(abs(got - want) / math.ulp(float(want))) for got, want in pairs])


@functools.cache
def nearest_to_quarter_turns():
    """For each power of two the float64 that is nearest to a multiple of π/2: the hardest angles that there are.

    These are the numerators of the convergents of ``π/2 / 2^e`` (Kahan 1983; Muller, Elementary functions, 2016).
    """
    found = []
    with mpmath.workprec(2400):
        for exponent in range(-60, 971):
            rest = mpmath.pi / 2 / mpmath.mpf(2) ** exponent
            before, now, last, this = 1, int(mpmath.floor(rest)), 0, 1
            while now < 2**53:
                rest = 1 / (rest - mpmath.floor(rest))
                part = int(mpmath.floor(rest))
                before, now, last, this = now, part * now + before, this, part * this + last
            if before >= 2**52:
                found.append(math.ldexp(before, exponent))
    return np.array(found)


def test_the_bits_of_two_over_pi():
    with mpmath.workprec(1500):
        assert int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** 1216)) == great_angles.TWO_OVER_PI


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", ANGLES)
def test_hard_angles(name):
    x = nearest_to_quarter_turns()
    assert 6381956970095103 * 2.0**797 in x
    assert len(x) > 300
    assert angle_errors(name, np.concatenate([x, -x])).max() <= 2


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", ANGLES)
def test_angles_of_every_size(name):
    rng = np.random.default_rng(8)
    size = 300
    x = np.ldexp(rng.uniform(1, 2, size), rng.integers(-30, 1024, size)) * rng.choice([-1, 1], size)
    x = np.concatenate([x, np.ldexp([1.0, 1 + 2**-52, 2 - 2**-52], 45), [1e22, np.finfo(float).max]])
    assert angle_errors(name, x).max() <= 2


@pytest.mark.parametrize("element", TYPES)
def test_great_angles_among_small_ones(element):
    x = np.array([0.5, 1e22, -1e30, 2.0, 2.0**45 * 3, -0.25, np.inf, 1e15, np.nan, -np.inf], TYPES[element])
    for name in ANGLES:
        result = compiled(name, element, 8)(x)
        alone = [compiled(name, element, 1)(number[None])[0] for number in x]
        np.testing.assert_array_equal(result, alone)
        assert np.isnan(result[~np.isfinite(x)]).all()
        assert np.isfinite(result[np.isfinite(x)]).all()


def test_sines_and_cosines_stay_within_one():
    """Some 2.6 million float32 were beyond."""
    near = [np.float32([6.556688e-07, 1.5707964, 868.58636]), np.linspace(1e-8, 1e-3, 300_000, dtype=np.float32)]
    x = np.concatenate([*near, np.arange(1, 4000, 2, dtype=np.float32) * np.float32(np.pi / 2)])
    for name in ("sin", "cos"):
        assert np.abs(compiled(name, "float", 16)(x)).max() == 1
    x = np.concatenate([[408908.1289949207], np.arange(1, 200_000, 2) * (np.pi / 2), np.linspace(0, 1e-7, 100_000)])
    for name in ("sin", "cos"):
        assert np.abs(compiled(name, "double", 8)(x)).max() == 1


@pytest.mark.parametrize("element", TYPES)
def test_sines_near_a_quarter_turn(element):
    """Of float32 all numbers whose sines could be rounded beyond 1."""
    kind = TYPES[element]
    unit = float(np.finfo(kind).epsneg)
    first = kind(math.pi / 2).view(np.uint32 if element == "float" else np.uint64)
    r = (first + np.arange(-40_000, 40_000)).astype(first.dtype).view(kind)
    missing = 1 - compiled("sin", element, 8)(r).astype(np.float64)
    off = (r.astype(np.float64) - math.pi / 2) - 6.123233995736766e-17
    assert missing.min() >= 0
    assert np.abs(missing - off * off * (0.5 - off * off / 24)).max() <= 2 * unit
    assert missing[40_000] == 0
    for name, angles in (("cos", [0, -0.0]), ("sin", [math.pi / 2, math.pi * 5 / 2])):
        assert compiled(name, element, 8)(np.array(angles, kind)).tolist() == [1, 1]


def test_sines_are_cut_where_they_may_be_beyond_one(monkeypatch):
    monkeypatch.setitem(elementary.FUNCTIONS, "sine", elementary._emitter(small_angles.sine))
    monkeypatch.setitem(elementary.ARITY, "sine", 1)
    sine = compiled("sine", "double", 8)
    assert sine(math.pi / 2 - np.linspace(0, 1e-8, 200_000)).max() > 1
    # Rounding changes it by less than 3e-16.
    edge = math.sqrt(small_angles.PEAK)
    below = np.concatenate([edge - np.arange(100_000) * 2.0**-52, edge - np.linspace(0, 1e-6, 100_000)])
    assert 6e-14 < 1 - sine(below[below * below <= small_angles.PEAK]).max() < 7e-14


def test_great_angles_and_such_near_a_quarter_turn_in_one_vector():
    x = np.array([0.0, 1e22, math.pi / 2, 0.3, -(2.0**60), 1e-9, math.nan, -math.pi / 2])
    for name in ("sin", "cos"):
        alone = [compiled(name, "double", 1)(number[None])[0] for number in x]
        np.testing.assert_array_equal(compiled(name, "double", 8)(x), alone)
        np.testing.assert_allclose(alone, getattr(np, name)(x), rtol=1e-15, atol=1e-16)


def test_subnormal_results():
    exp = compiled("exp", "float", 16)(np.array([-100.0, -103.9, -104.0]))
    assert exp.tolist() == np.exp(np.array([-100.0, -103.9, -104.0])).astype(np.float32).tolist()
    assert 0 < exp[0] < np.finfo(np.float32).tiny
    assert compiled("sigmoid", "float", 16)(np.array([-100.0]))[0] == np.float32(math.exp(-100))
    assert compiled("erfc", "float", 16)(np.array([10.0]))[0] == np.float32(scipy.special.erfc(10.0))


def test_a_function_is_defined_once_in_a_module():
    module = IRModule()
    assert elementary.define(module, "exp", "float", 16) == "nx.exp.v16f32"
    assert elementary.define(module, "exp", "float", 16) == "nx.exp.v16f32"
    assert elementary.define(module, "exp", "double", 1, inline=False) == "nx.exp.f64"
    assert len(module.functions) == 2
    assert module.functions[0].startswith("define internal <16 x float> @nx.exp.v16f32(<16 x float> %x0) alwaysinline ")
    assert module.functions[1].startswith("define internal double @nx.exp.f64(double %x0) noinline ")


def test_functions_of_single_numbers_bring_their_loops_along():
    module = IRModule()
    elementary.define(module, "sin", "float", 8)
    assert {"nx.rare.sinf.8", "nx.sin.v8f32"} <= module.defined
    assert module.declarations["sinf"] == "declare float @sinf(float) cold nounwind willreturn readnone"
    module = IRModule()
    elementary.define(module, "sin", "double", 8)
    assert {"nx.rare.nx.angle.sin.8", "nx.angle.sin", "nx.sin.v8f64"} <= module.defined


def test_emitters_write_into_the_caller():
    module = IRModule()
    b = FunctionBuilder(module, "f", "<8 x double>", [("x", "<8 x double>")])
    value = elementary.FUNCTIONS["rsqrt"](b, IRValue("double", 8, "%x"))
    assert (value.element, value.lanes) == ("double", 8)
    b.do(f"ret {value}")
    b.finish()
    assert module.functions[0].splitlines()[2:] == [
        "  %v1 = call <8 x double> @llvm.sqrt.v8f64(<8 x double> %x)",
        f"  %v2 = fdiv {b.constant('double', 1.0, 8)}, %v1",
        "  ret <8 x double> %v2",
        "}",
    ]
