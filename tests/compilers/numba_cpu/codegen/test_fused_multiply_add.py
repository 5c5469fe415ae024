"""Products and sums with one rounding, without the processor's help: exact numbers of Python say what is right."""

import math
from fractions import Fraction

import numpy as np
import pytest

from native_code import handwritten_kernels
from nxkernel.compilers.numba_cpu.codegen import fused_multiply_add
from nxkernel.compilers.numba_cpu.target import target_processor

SPECIAL = [0.0, 1.0, 1.5, math.inf, math.nan, 2.0**-1074, 1e-310, 2.0**-1022, 2.0**-540, 2.0**600, 1.7e308, 2.0**-149]
SPECIAL += [2.0**-126, 3e38, 2.0**-75, 1 + 2.0**-52, 1 + 2.0**-23]
SPECIAL += [-number for number in SPECIAL]
ELEMENTS = {"float": np.float32, "double": np.float64}


@pytest.fixture(autouse=True)
def unhelped(monkeypatch):
    monkeypatch.setattr(target_processor, "has", lambda feature: False)


def computed(element, lanes, *operands):
    made = np.empty_like(operands[0])

    def write(frame, pointers, scalars):
        b, steps = frame.b, frame.loop(frame.begin, frame.end)
        far = b.integer("mul", steps.index, b.constant("i64", lanes))
        values = [b.load(element, b.offset(pointer, element, far), lanes=lanes) for pointer in pointers[:3]]
        b.store(fused_multiply_add.fused(b, *values), b.offset(pointers[3], element, far))
        steps.end()

    handwritten_kernels.run(write, [*operands, made], steps=made.size // lanes)
    return made


def rounded(number, sign, dtype):
    """A fraction rounded once, half to even; of a zero the sign is given."""
    if not number:
        return dtype(math.copysign(0.0, sign))
    digits, least, most = (24, -149, 128) if dtype is np.float32 else (53, -1074, 1024)
    exponent = max(math.floor(math.log2(abs(number.numerator)) - math.log2(number.denominator)) - digits, least - 2)
    for unit in range(exponent - 1, exponent + 4):
        unit = max(unit, least)
        whole = round(number / Fraction(2) ** unit)
        if abs(whole) <= 2**digits:
            break
    # Integers of so few digits and their products with powers of two are exact.
    value = math.inf if abs(whole) * Fraction(2) ** unit >= Fraction(2) ** most else math.ldexp(abs(whole), unit)
    return dtype(value if number > 0 else -value)


def expected(left, right, third):
    dtype = type(left)
    with np.errstate(all="ignore"):
        if not (np.isfinite(left) and np.isfinite(right)):
            return left * right + third
        if not np.isfinite(third):
            return third
        product, sign = Fraction(float(left)) * Fraction(float(right)), np.copysign(1, left) * np.copysign(1, right)
        both = sign == np.copysign(1, third)
        # A sum of zeros of different signs, or of numbers that cancel, is a positive zero.
        return rounded(product + Fraction(float(third)), sign if both and not product else 1.0, dtype)


def drawn(dtype, count, seed):
    """Operands: of all exponents, that nearly cancel, that are halfway between two numbers, and special ones."""
    rng = np.random.default_rng(seed)
    width, most = (np.uint32, 1 << 32) if dtype is np.float32 else (np.uint64, 1 << 63)
    chosen = [rng.integers(0, most, (3, count), width).view(dtype)]
    with np.errstate(all="ignore"):
        left, right = rng.standard_normal((2, count)).astype(dtype)
        product = left * right
        chosen.append([left, right, -product + (rng.integers(-3, 4, count) * np.spacing(product)).astype(dtype)])
        short = [np.ldexp(rng.integers(1, 4096, count), rng.integers(-60, 60, count)).astype(dtype) for _ in range(2)]
        part = rng.choice([1, -1, 2.0**-24, -(2.0**-25), 2.0**-53, -(2.0**-54), 2.0**53], count)
        chosen.append([*short, (short[0] * short[1] * part).astype(dtype)])
        chosen.append(rng.choice(np.array(SPECIAL, dtype), (3, count)))
    return [np.ascontiguousarray(np.concatenate([each[place] for each in chosen])) for place in range(3)]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("element", ELEMENTS)
def test_one_rounding(element, lanes):
    dtype = ELEMENTS[element]
    operands = drawn(dtype, 800, 11)
    found = computed(element, lanes, *operands)
    for left, right, third, result in zip(*operands, found, strict=True):
        wanted = expected(left, right, third)
        same = np.isnan(result) and np.isnan(wanted)
        assert same or result.tobytes() == wanted.tobytes(), (left, right, third, result, wanted)


def test_no_function_of_the_c_library_is_called_for_a_lane_of_common_numbers():
    from nxkernel.compilers.numba_cpu.codegen.object_code import assembly
    from nxkernel.compilers.numba_cpu.routines.kernel_builder import KernelBuilder

    frame = KernelBuilder("kernel")
    pointers, _ = frame.table(2, 0)
    value = frame.b.load("float", pointers[0], lanes=16)
    frame.b.store(fused_multiply_add.fused(frame.b, value, value, value), pointers[1])
    assert "fmaf" not in assembly(frame.finish())
