"""What element-wise primitives mean: in whole numbers of Python, in fractions, and for functions in those of mpmath."""

import cmath
import dataclasses
import functools
import math
import operator
from fractions import Fraction

import ml_dtypes
import mpmath
import numpy as np

from elementary_references import BY_PRIMITIVE
from nxkernel import primitives as p
from nxkernel import types
from random_primitives.cases import EPSILON
from random_primitives.references import compare_places, held, numbers_of, reference_of, sample

#: Elements that are looked at.
MOST = 30


def elements(case, result):
    """Some elements of the operands, each with what was found for them."""
    flat = [numbers_of(x) for x in (*case.arrays, result)]
    return [tuple(numbers[place] for numbers in flat) for place in sample(result.size, MOST)]


def by_number(case, result, function):
    """Compare elements with what a function gives of them, rounded to their type; zeros have no sign here."""
    found = elements(case, result)
    with np.errstate(all="ignore"):
        want = held([function(*numbers[:-1]) for numbers in found], result.dtype)
    np.testing.assert_array_equal([numbers[-1] for numbers in found], numbers_of(want))


# Numbers as they are ---------------------------------------------------------------------------------------------


def _or_nan(function):
    """A function of floats of which NaN makes NaN."""
    return lambda *x: math.nan if any(n != n for n in x) else function(*x)


def _or_itself(function):
    """A function of finite numbers; others stay what they are."""
    return lambda x: function(x) if math.isfinite(x) else x


def _remainder(x, y):
    if x != x or y != y or y == 0 or math.isinf(x):
        # Of whole numbers it is 0.
        return 0 if isinstance(y, int) else math.nan
    if math.isinf(y):
        return x
    rest = abs(Fraction(x)) % abs(Fraction(y))
    return -rest if x < 0 else rest


def _half_away(x):
    whole = math.floor(abs(Fraction(x)) + Fraction(1, 2))
    return -whole if x < 0 else whole


def _divide(x, y):
    return np.divide(x, y) if y == 0 or not (math.isfinite(x) and math.isfinite(y)) else x / y


#: Of real numbers, whole or not; complex ones where Python can.
EXACT = {
    p.add: operator.add, p.subtract: operator.sub, p.multiply: operator.mul, p.divide: _divide,
    p.remainder: _remainder, p.maximum: _or_nan(max), p.minimum: _or_nan(min), p.negate: operator.neg,
    p.stop_grad: lambda x: x, p.after: lambda x, y: x, p.absolute: abs,
    p.sign: _or_nan(lambda x: (x > 0) - (x < 0)), p.floor: _or_itself(math.floor),
    p.ceil: _or_itself(math.ceil), p.truncate: _or_itself(math.trunc), p.round_half_even: _or_itself(round),
    p.round_half_away: _or_itself(_half_away), p.equal: operator.eq, p.not_equal: operator.ne,
    p.greater: operator.gt, p.less: operator.lt, p.greater_equal: operator.ge, p.less_equal: operator.le,
    p.logical_and: lambda x, y: bool(x) and bool(y), p.logical_or: lambda x, y: bool(x) or bool(y),
    p.logical_xor: lambda x, y: bool(x) != bool(y), p.logical_not: operator.not_, p.is_nan: cmath.isnan,
    p.is_infinity: cmath.isinf, p.conjugate: lambda x: x.conjugate(), p.real: lambda x: x.real,
    p.imag: lambda x: x.imag, p.phase: cmath.phase, p.bitwise_and: operator.and_, p.bitwise_or: operator.or_,
    p.bitwise_xor: operator.xor, p.bitwise_not: lambda x: x ^ -1 if type(x) is int else not x,
}  # fmt: skip


def _quotient(bits, x, y):
    return 0 if y == 0 else int(Fraction(x, y))


def _power(bits, x, y):
    if y >= 0:
        return pow(x, y, 2**bits)
    return x ** (y % 2) if x in (1, -1) else 0


def _left(bits, x, y):
    return x << y if 0 <= y < bits else 0


def _right(bits, x, y):
    return x >> (y if 0 <= y < bits else bits)


#: Of whole numbers with so many bits.
WHOLE = {
    p.quotient: _quotient, p.power: _power, p.left_shift: _left, p.right_shift: _right,
    p.population_count: lambda bits, x: bin(x % 2**bits).count("1"),
    p.count_leading_zeros: lambda bits, x: bits - (x % 2**bits).bit_length(),
}  # fmt: skip


# Functions -------------------------------------------------------------------------------------------------------


#: Of numbers of mpmath, real or complex.
FUNCTIONS = {primitive: row.precise for primitive, row in BY_PRIMITIVE.items()} | {p.power: mpmath.power}
#: Functions of complex numbers besides, which are near and not exact.
OF_COMPLEX = FUNCTIONS | {
    p.multiply: operator.mul, p.divide: operator.truediv, p.absolute: abs, p.phase: mpmath.arg,
}  # fmt: skip


def _near(case, result):
    """Compare functions of floats where they are finite and their numbers, too."""
    type_ = types.normalize(result.dtype)
    limits = ml_dtypes.finfo(result.dtype)
    unit, greatest = float(limits.smallest_subnormal), float(limits.max)
    off = max(case.ulps, 1) * EPSILON[type_]
    with mpmath.workprec(200):
        for *numbers, got in elements(case, result):
            if not all(map(math.isfinite, numbers)):
                continue
            try:
                # Zeros of mpmath have no sign, but angles depend on it.
                angle = case.primitive is p.atan2
                want = math.atan2(*numbers) if angle else FUNCTIONS[case.primitive](*map(mpmath.mpf, numbers))
            except (ValueError, ZeroDivisionError):
                want = mpmath.inf
            if isinstance(want, mpmath.mpc) or mpmath.isnan(want) or mpmath.isinf(want):
                # Outside of the real numbers, or at a pole.
                assert not math.isfinite(got), numbers
            elif abs(want) > greatest * (1 - off):
                assert abs(got) >= greatest * (1 - 2 * off), numbers
            else:
                assert abs(got - want) <= off * abs(want) + unit, (numbers, got, want)


def _near_of_complex(case, result):
    with mpmath.workprec(100):
        for *numbers, got in elements(case, result):
            want = OF_COMPLEX[case.primitive](*map(mpmath.mpmathify, numbers))
            assert abs(got - want) <= 2 * case.error + EPSILON[types.to_real(types.normalize(result.dtype))] * abs(want)


@reference_of(*EXACT, *WHOLE, *OF_COMPLEX, p.atan2)
def _element(case, result):
    primitive, type_ = case.primitive, types.normalize(case.arrays[0].dtype)
    if case.error is not None:
        _near_of_complex(case, result)
    elif type_.is_integer and primitive in WHOLE:
        by_number(case, result, functools.partial(WHOLE[primitive], type_.bits))
    elif primitive in EXACT:
        by_number(case, result, EXACT[primitive])
    else:
        _near(case, result)


# Types, bits and choices -----------------------------------------------------------------------------------------


@reference_of(p.as_type)
def _as_type(case, result):
    target = types.normalize(result.dtype)
    if target.is_float:
        source, got = (x.real.reshape(-1) for x in (case.arrays[0], result))
        for place in sample(got.size, MOST):
            _nearest(source[place], got[place])
    elif target.is_complex:
        parts = types.to_real(target).dtype
        _as_type(dataclasses.replace(case, arrays=(case.arrays[0].real,)), result.real.astype(parts))
        imag = np.imag(case.arrays[0])
        _as_type(dataclasses.replace(case, arrays=(imag,)), result.imag.astype(parts))
    elif target is types.bool_:
        by_number(case, result, bool)
    else:
        by_number(case, result, functools.partial(_to_whole, *types.limits(target)))


def _nearest(number, found):
    """A float is no farther from a number than its neighbours."""
    (number,), (got,) = numbers_of(np.array(number)), numbers_of(np.array(found))
    if not (math.isfinite(number) and math.isfinite(got)):
        over = abs(number) > float(ml_dtypes.finfo(found.dtype).max) and got * number == math.inf
        assert got == number or over or (got != got and number != number)
        return
    near = [numbers_of(np.nextafter(found, found.dtype.type(way)))[0] for way in (-math.inf, math.inf)]
    # What is rounded twice on its way to a narrow type may miss its middle by a little.
    slack = 1 + Fraction(1, 1000)
    distance = abs(Fraction(got) - Fraction(number))
    assert all(distance <= slack * abs(Fraction(n) - Fraction(number)) for n in near if math.isfinite(n)), (number, got)


def _to_whole(low, high, x):
    """Whole numbers wrap, floats are cut and stop at the limits."""
    if isinstance(x, int):
        return x
    x = x.real
    return 0 if x != x else low if x < low else high if x > high else int(x)


@reference_of(p.select)
def _select(case, result):
    mask, then, otherwise = case.arrays
    compare_places(result, lambda place: (then if bool(mask[place]) else otherwise)[place])


@reference_of(p.bitcast)
def _bitcast(case, result):
    assert result.tobytes() == case.arrays[0].tobytes()


@reference_of(p.make_complex)
def _make_complex(case, result):
    assert result.tobytes() == np.stack(case.arrays, axis=-1).tobytes()


@reference_of(p.threefry2x32)
def _threefry(case, result):
    by_number(case, result, lambda *words: threefry(*words)[case.params["word"]])


def threefry(k0, k1, x0, x1):
    """The two words of a block after twenty rounds, by section 3.3 of Salmon and others' paper of 2011."""
    keys, rotations = (k0, k1, k0 ^ k1 ^ 0x1BD11BDA), (13, 15, 26, 6, 17, 29, 16, 24)
    for turn in range(21):
        if turn % 4 == 0:
            # A fourth of the rounds has passed, or none: the key goes in, with its number.
            step = turn // 4
            x0, x1 = x0 + keys[step % 3], x1 + keys[(step + 1) % 3] + step
        if turn < 20:
            x0, x1 = (x0 + x1) % 2**32, x1 % 2**32
            bits = rotations[turn % 8]
            x1 = (x1 << bits | x1 >> (32 - bits)) % 2**32 ^ x0
    return x0 % 2**32, x1 % 2**32
