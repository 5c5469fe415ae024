"""Instructions as Python expressions, and the functions that they call."""

import ast
import math
import re

import ml_dtypes
import numpy as np
import pytest
from scipy import special

from nxkernel import primitives, types
from nxkernel.backends import threefry
from nxkernel.compilers.display.operation_text import FUNCTIONS, grouped, literal, phrase, with_definitions
from nxkernel.compilers.schedule.loop_nest import Op

F32, S32, U8, C64 = types.f32, types.normalize("s32"), types.u8, types.c64
A, B, C, D = (Op("load", F32, (), number) for number in range(4))


def say(name, *texts, type_=F32, attribute=None):
    return phrase(Op(name, type_, attribute=attribute), texts, (A, B, C, D)[: len(texts)])


def test_brackets_stand_where_a_reader_needs_them():
    assert say("add", "a * b", "c + d") == "a * b + (c + d)"
    assert say("subtract", "a - b", "c / d") == "a - b - c / d"
    assert say("divide", "a / b", "c * d") == "(a / b) / (c * d)"
    assert say("pow", "-a", "b") == "(-a) ** b"
    assert say("less", "a + b", "c") == "a + b < c"
    assert say("equal", "a < b", "c") == "(a < b) == c"
    assert say("negate", "a[i] * b") == "-(a[i] * b)"
    assert say("max", "a + b", "c if d else e") == "maximum(a + b, c if d else e)"


@pytest.mark.parametrize("text", ["a", "a[i + 1]", "f(a, b)", "f(a)[0]", "a.real", "2.5"])
def test_what_holds_together_needs_none(text):
    assert grouped(text) == text


@pytest.mark.parametrize("text", ["-a", "-a[i]", "a + b", "f(a) + f(b)", "a if b else c", "not a", "a[i] < a[j]"])
def test_what_does_not_hold_together_gets_them(text):
    assert grouped(text) == f"({text})"


def test_numbers_become_conditions_by_a_comparison():
    less = Op("less", F32)
    assert phrase(Op("logical_and", U8), ("a < b", "c"), (less, C)) == "(a < b) and (c != 0)"
    assert phrase(Op("logical_not", U8), ("a < b",), (less,)) == "not (a < b)"
    assert phrase(Op("logical_not", U8), ("a",), (A,)) == "a == 0"
    assert phrase(Op("select", F32), ("t", "b", "c"), (A, B, C)) == "b if t != 0 else c"


def test_narrow_integers_wrap():
    assert say("add", "a", "b", type_=S32) == "np.int32(a + b)"
    assert say("add", "a", "b", type_=types.s64) == "a + b"
    assert say("remainder", "a", "b + c", type_=types.s64) == "remainder(a, b + c)"
    assert say("quotient", "a", "b", type_=types.u64) == "np.uint64(a // b if b != 0 else b)"


def test_types_and_bits():
    assert say("as_type", "a", type_=types.u8, attribute=F32) == "np.uint8(whole(a, 0, 255))"
    assert say("as_type", "a", type_=F32, attribute=C64) == "np.float32(a.real)"
    assert say("as_type", "a", type_=types.bf16, attribute=F32) == "bfloat16(a)"
    assert say("bitcast", "a", type_=types.u32, attribute=F32) == "np.float32(a).view(np.uint32)"
    assert say("bitcast", "a", type_=types.u16, attribute=types.bf16) == "bfloat16_bits(a)"


def test_functions_of_complex_numbers_are_numpys():
    assert say("asin", "z", type_=C64) == "np.arcsin(z)"
    assert say("asin", "x") == "math.asin(x)"
    assert say("abs", "z", type_=F32, attribute=C64) == "abs(z)"
    assert say("imag", "z + w", type_=F32, attribute=C64) == "(z + w).imag"


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", [p.name for p in primitives.TABLE.values() if p.family == "elementwise"])
def test_every_instruction_is_an_expression(name):
    count = 4 if name == "threefry2x32" else 3 if name == "select" else 2 if name in TWO else 1
    for type_ in map(types.normalize, ("f32", "f64", "bf16", "s32", "u8", "s64", "u64", "bool", "c64")):
        op = Op(name, type_, attribute=0 if name == "threefry2x32" else type_)
        ast.parse(phrase(op, "abcd"[:count], (A, B, C, D)[:count]), mode="eval")


TWO = [
    "add", "subtract", "multiply", "divide", "pow", "remainder", "quotient", "atan2", "max", "min", "bitwise_and",
    "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "equal", "not_equal", "greater", "less", "greater_equal",
    "less_equal", "logical_and", "logical_or", "logical_xor", "complex", "after",
]  # fmt: skip


def function(name):
    scope = {}
    source = with_definitions(f"def user(x):\n    return {name}(x)\n")
    exec(re.sub(r"@numba.njit.*\n|import numba\n", "", source), scope)
    return scope[name]


def test_only_what_is_called_is_defined():
    assert with_definitions("x = math.exp(y)\n") == "import math\n\n\nx = math.exp(y)\n"
    assert with_definitions("x = quotient(y, 2)\n").count("def ") == 1


@pytest.mark.parametrize(("a", "b"), [(7, 2), (-7, 2), (7, -2), (-7, -2), (-8, 2), (5, 0), (0, 3)])
def test_quotients_go_toward_zero(a, b):
    assert function("quotient")(a, b) == (int(a / b) if b else 0)


@pytest.mark.parametrize("number", [0, 1, -1, 5, 127, -128])
def test_bits_are_counted(number):
    bits = f"{number & 255:08b}"
    assert function("population_count")(np.int8(number), 8) == bits.count("1")
    assert function("leading_zeros")(np.int8(number), 8) == 8 - len(bits.lstrip("0"))


def test_the_inverse_of_the_error_function():
    y = np.linspace(-0.9999, 0.9999, 41)
    np.testing.assert_allclose([function("erf_inv")(each) for each in y], special.erfinv(y), rtol=1e-12, atol=1e-16)
    assert function("erf_inv")(-1.0) == -np.inf


@pytest.mark.parametrize("number", [1.0, 1.00390625, 1.01171875, -3.14159, 0.0, 1e-40, 3.3895e38])
def test_halves_of_floats(number):
    rounded = ml_dtypes.bfloat16(number)
    assert function("bfloat16")(number) == np.float32(rounded)
    assert function("bfloat16_bits")(np.float32(rounded)) == rounded.view(np.uint16)
    assert function("bits_bfloat16")(rounded.view(np.uint16)) == np.float32(rounded)


def test_random_words():
    words = tuple(np.array([number], np.uint32) for number in (3, 1 << 31, 0xFFFFFFFF, 12))
    block = threefry._block(*words)
    assert function("threefry2x32")(*(word[0] for word in words)) == (block[0][0], block[1][0])


#: What functions give where Python and Numba leave something open, or do it otherwise.
EDGES = {
    "maximum": [((1.0, 2.0), 2.0), ((math.nan, 2.0), math.nan), ((2.0, math.nan), math.nan), ((-0.5, -2.0), -0.5)],
    "minimum": [((1.0, 2.0), 1.0), ((math.nan, 2.0), math.nan), ((2.0, math.nan), math.nan), ((-0.5, -2.0), -2.0)],
    "remainder": [((7, 3), 1), ((-7, 3), -1), ((7, -3), 1), ((-7, -3), -1), ((7, 0), 0), ((6, -3), 0)],
    "whole_power": [((3, 4), 81), ((-3, 3), -27), ((2, 0), 1), ((2, -1), 0), ((-1, -3), -1), ((-1, -2), 1)],
    "shift_left": [((3, 2, 32), 12), ((3, 32, 32), 0), ((3, -1, 32), 0)],
    "shift_right": [((12, 2, 32), 3), ((12, 40, 32), 0), ((-12, 40, 32), -1), ((-12, -1, 32), -1), ((-12, 1, 32), -6)],
    "whole": [((2.9, -128, 127), 2), ((-2.9, -128, 127), -2), ((1e9, -128, 127), 127), ((math.nan, -128, 127), 0)],
    "whole_unsigned": [((-1.0,), 0), ((1e30,), 2**64 - 1), ((math.nan,), 0), ((2.9,), 2)],
    "round_away": [((0.5,), 1.0), ((-2.5,), -3.0), ((0.49999999999999994,), 0.0), ((2.4,), 2.0)],
    "sigmoid": [((0.0,), 0.5), ((800.0,), 1.0), ((-800.0,), 0.0)],
    "direction": [((3 + 4j,), 0.6 + 0.8j), ((0j,), 0j)],
    "plus": [((1.5, 2.0), 3.5)],
    "times": [((1.5, 2.0), 3.0)],
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_what_is_left_open(name):
    for arguments, expected in EDGES[name]:
        np.testing.assert_equal(function(name)(*arguments), expected)


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (0.1, F32, "np.float32(0.1)"), (0.1, types.f64, "0.1"), (math.inf, types.f64, "np.inf"),
        (300, U8, "np.uint8(44)"),
        (-3, types.s64, "-3"), (True, types.bool_, "True"), (1 + 2j, types.c128, "complex(1.0, 2.0)"),
        (math.nan, F32, "np.float32(np.nan)"), (1j, C64, "np.complex64(complex(0.0, 1.0))"),
    ],
)  # fmt: skip
def test_numbers_are_of_their_type(value, type_, text):
    assert literal(value, type_) == text


def test_every_function_is_tested_here():
    tested = {"quotient", "population_count", "leading_zeros", "erf_inv", "threefry2x32", *EDGES}
    assert tested | {name for name in FUNCTIONS if "bfloat16" in name} == FUNCTIONS.keys()
