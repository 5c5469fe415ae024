"""The operations of a loop nest as Python source, and the helper functions that such source needs beside NumPy."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

import numpy as np

from nxkernel import types
from nxkernel.backends.numpy_primitives import number_of
from nxkernel.backends.threefry import PARITY, ROTATIONS
from nxkernel.compilers.schedule.loop_nest import Op
from nxkernel.primitives import ELEMENTARY
from nxkernel.types import Type

#: The comparisons, and by the name of each operation that has one its sign.
COMPARISONS = {
    "equal": "==", "not_equal": "!=", "greater": ">", "less": "<", "greater_equal": ">=", "less_equal": "<=",
}  # fmt: skip
INFIX = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "pow": "**", "bitwise_and": "&", "bitwise_or": "|",
    "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>", **COMPARISONS,
}  # fmt: skip
_MATH = ("atan2", *(name for name, function in ELEMENTARY.items() if not function.python))
_COMPLEX_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}  # fmt: skip
#: Operands stand in braces by number, as they are; ``{bits}`` is the width of the type.
_CALLS: dict[str, str] = {
    "abs": "abs({0})",
    "max": "maximum({0}, {1})",
    "min": "minimum({0}, {1})",
    "sign": "np.sign({0})",
    "floor": "np.floor({0})",
    "ceil": "np.ceil({0})",
    "truncate": "np.trunc({0})",
    "round": "round_away({0})",
    "round_half_even": "np.rint({0})",
    "is_nan": "np.isnan({0})",
    "is_infinity": "np.isinf({0})",
    "remainder": "np.fmod({0}, {1})",
    "sigmoid": "sigmoid({0})",
    "quotient": "quotient({0}, {1})",
    "real": "{0}",
    "stop_grad": "{0}",
    "after": "{0}",
    "conjugate": "{0}",
    "phase": "math.atan2(0, {0})",
    "complex": "complex({0}, {1})",
    "population_count": "population_count({0}, {bits})",
    "count_leading_zeros": "leading_zeros({0}, {bits})",
    "threefry2x32": "threefry2x32({0}, {1}, {2}, {3})[{attribute}]",
}
#: Where operands have to hold together.
_FORMS: dict[str, str] = {
    "negate": "-{0}",
    "bitwise_not": "~{0}",
    "imag": "0 * {0}",
}
#: Those of whole numbers; the width of the type is in ``{bits}``.
_INTEGER_CALLS = {
    "max": "max({0}, {1})",
    "min": "min({0}, {1})",
    "remainder": "remainder({0}, {1})",
    "pow": "whole_power({0}, {1})",
    "left_shift": "shift_left({0}, {1}, {bits})",
    "right_shift": "shift_right({0}, {1}, {bits})",
    "floor": "{0}",
    "ceil": "{0}",
    "truncate": "{0}",
    "round": "{0}",
    "round_half_even": "{0}",
}
#: Of unsigned ones, which Numba would make floats together with signed ones.
_UNSIGNED_FORMS = {
    "quotient": "{0} // {1} if {1} != 0 else {1}",
    "remainder": "{0} % {1} if {1} != 0 else {1}",
    "pow": "whole_power(np.int64({0}), np.int64({1}))",
    "abs": "{0}",
}
#: Those of truth values.
_TRUTH_FORMS = {
    "add": "{0} or {1}", "max": "{0} or {1}", "bitwise_or": "{0} or {1}", "multiply": "{0} and {1}",
    "min": "{0} and {1}", "bitwise_and": "{0} and {1}", "subtract": "{0} != {1}", "bitwise_xor": "{0} != {1}",
    "bitwise_not": "not {0}", "negate": "{0}",
}  # fmt: skip
_COMPLEX_FORMS: dict[str, str] = {
    "real": "{0}.real",
    "imag": "{0}.imag",
    "conjugate": "{0}.conjugate()",
    "phase": "math.atan2({0}.imag, {0}.real)",
    "rsqrt": "1 / np.sqrt({0})",
    "sign": "direction({0})",
    "sigmoid": "1 / (1 + np.exp(-{0}))",
    "cbrt": "{0} ** (1 / 3)",
}
_JOINS = {"logical_and": "and", "logical_or": "or", "logical_xor": "!="}
#: Instructions that give truth values, which need no comparison with zero.
_TRUTH = (
    *COMPARISONS, "logical_and", "logical_or", "logical_xor", "logical_not", "is_nan", "is_infinity",
)  # fmt: skip
#: Instructions whose integers Python and Numba give in another type, or wider, and that have to wrap.
_WRAPPING = (
    "add", "subtract", "multiply", "pow", "negate", "left_shift", "right_shift", "bitwise_not", "bitwise_and",
    "bitwise_or", "bitwise_xor", "quotient", "remainder", "abs", "sign", "population_count", "count_leading_zeros",
)  # fmt: skip
#: Instructions that Numba computes in f64, or c128, whatever they are given.
_WIDENING = ("round", "sigmoid", "rsqrt", "cbrt", "erf_inv", "complex", "sign")


def phrase(op: Op, arguments: Sequence[str], operands: Sequence[Op]) -> str:
    """An element-wise instruction as a Python expression.

    Parameters
    ----------
    op : Op
    arguments : sequence of str
        The texts of its operands.
    operands : sequence of Op
        Their instructions.

    Returns
    -------
    str
    """
    type_ = op.attribute if isinstance(op.attribute, Type) else op.type
    if op.name in ("as_type", "bitcast"):
        return _converted(op, arguments[0], type_)
    if op.type is types.bool_ and op.name in _TRUTH_FORMS:
        return _TRUTH_FORMS[op.name].format(*map(grouped, arguments))
    text = _plain(op, arguments, operands, type_)
    wraps = op.name in _WRAPPING and op.type.is_integer and op.type is not types.s64
    if wraps or (op.name in _WIDENING and op.type in (types.f32, types.c64)):
        return f"{dtype(op.type)}({text})"
    return text


def _plain(op: Op, arguments: Sequence[str], operands: Sequence[Op], type_: Type) -> str:
    name, parts = op.name, [grouped(text) for text in arguments]
    if name == "njit":
        return f"{op.attribute}({', '.join(arguments)})"
    if name == "select":
        return f"{parts[1]} if {truth(arguments[0], operands[0])} else {parts[2]}"
    if name.startswith("logical_"):
        facts = [truth(text, operand) for text, operand in zip(arguments, operands, strict=True)]
        if name == "logical_not":
            return f"not {grouped(facts[0])}" if is_truth(operands[0]) else f"{parts[0]} == 0"
        return _joined(_JOINS[name], *facts)
    of_complex = type_.is_complex or op.type.is_complex
    if op.type.kind == "u" and name in _UNSIGNED_FORMS:
        return _UNSIGNED_FORMS[name].format(*parts)
    if op.type.is_integer and name in _INTEGER_CALLS:
        return _INTEGER_CALLS[name].format(*arguments, bits=op.type.bits)
    if name in ("is_nan", "is_infinity") and not (type_.is_float or of_complex):
        return "False"
    if name == "divide" and of_complex:
        return f"np.divide({arguments[0]}, {arguments[1]})"
    if name in INFIX:
        return _joined(INFIX[name], *arguments)
    if name in _MATH:
        return (
            f"np.{_COMPLEX_NAMES.get(name, name)}({arguments[0]})"
            if of_complex
            else f"math.{name}({', '.join(arguments)})"
        )
    forms = dict(_FORMS)
    if of_complex:
        forms |= _COMPLEX_FORMS
    if name in forms:
        return forms[name].format(*parts)
    if name in _CALLS:
        return _CALLS[name].format(*arguments, bits=type_.bits, attribute=op.attribute)
    return ELEMENTARY[name].python.format(*arguments, x=parts[0])


def _joined(sign: str, left: str, right: str) -> str:
    """Two operands joined by a binary operator, bracketed only where precedence needs it."""
    inside = {"+": ("+-*/", "*/"), "-": ("+-*/", "*/"), "*": ("*", ""), "/": ("*", "")}
    outer = ("+-*/", "+-*/") if sign in COMPARISONS.values() else inside.get(sign, ("", ""))
    sides = [
        text if _operator(text) and _operator(text) in signs else grouped(text)
        for text, signs in zip((left, right), outer, strict=True)
    ]
    return f"{sides[0]} {sign} {sides[1]}"


def _operator(text: str) -> str:
    """The top-level operator of a sum, difference, product or quotient; an empty text for other expressions."""
    tree = ast.parse(text, mode="eval").body
    if not isinstance(tree, ast.BinOp):
        return ""
    return {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}.get(type(tree.op), "")


def _converted(op: Op, text: str, source: Type) -> str:
    """The expression that casts a number, or reinterprets its bits, as another type."""
    if op.name == "as_type":
        if op.type is types.bool_:
            return text if source is types.bool_ else f"{grouped(text)} != 0"
        if source.is_complex and not op.type.is_complex:
            text, source = f"{grouped(text)}.real", types.to_real(source)
        if op.type.is_integer and source.is_float:
            low, high = types.limits(op.type)
            text = f"whole_unsigned({text})" if op.type is types.u64 else f"whole({text}, {low}, {high})"
            return text if op.type in (types.s64, types.u64) else f"{dtype(op.type)}({text})"
        return f"{dtype(op.type)}({text})"
    if source is types.bf16:
        text, source = f"bfloat16_bits({text})", types.u16
    if op.type is types.bf16:
        return f"bits_bfloat16(np.uint16({text}))"
    return text if source is op.type else f"{dtype(source)}({text}).view({dtype(op.type)})"


def update(join: str, name: str, value: str, type_: Type) -> str:
    """The statement that joins a value to the one in the variable `name`.

    Parameters
    ----------
    join : str
        The element-wise primitive that a reduction joins with.
    name, value : str
    type_ : Type
        Of both.

    Returns
    -------
    str
    """
    if join in _JOINS:
        return f"{name} = {name} {_JOINS[join]} {value}"
    if join in INFIX and (type_.is_float or type_.is_complex or type_ is types.s64):
        return f"{name} {INFIX[join]}= {value}"
    own = Op("", type_)
    return f"{name} = {phrase(Op(join, type_), (name, value), (own, own))}"


def is_truth(op: Op) -> bool:
    """Whether the expression of an instruction is a truth value."""
    return op.name in _TRUTH or op.type is types.bool_


def truth(text: str, op: Op) -> str:
    """An instruction's value as a condition of Python."""
    return text if is_truth(op) else f"{grouped(text)} != 0"


def grouped(text: str) -> str:
    """An expression in brackets, unless it is a name, a number, a call or a subscript."""
    tree = ast.parse(text, mode="eval").body
    is_atom = isinstance(tree, ast.Name | ast.Call | ast.Subscript | ast.Attribute | ast.Constant)
    return text if is_atom else f"({text})"


def term(text: str) -> str:
    """An expression as a summand: in brackets, unless it is a sum or product itself."""
    return text if _operator(text) in ("+", "*") else grouped(text)


def dtype(type_: Type) -> str:
    """The NumPy constructor of a type, as text."""
    if type_ is types.bool_:
        return "bool"
    return "bfloat16" if type_ is types.bf16 else f"np.{type_.dtype.name}"


def array_dtype(type_: Type) -> str:
    """The NumPy type of an array of elements of a type, as text; floats of half width are held as f32."""
    held = types.compute_type(type_)
    return "np.bool_" if held is types.bool_ else f"np.{held.dtype.name}"


def literal(value: complex, type_: Type) -> str:
    """A number of a type as text, which Numba and NumPy take to be of that type.

    Examples
    --------
    >>> literal(0.1, types.f32), literal(2, types.s64), literal(float("inf"), types.f64), literal(1, types.u8)
    ('np.float32(0.1)', '2', 'np.inf', 'np.uint8(1)')
    """
    value = number_of(value, type_)
    if type_ is types.bool_:
        return str(bool(value))
    if type_.is_complex:
        text = f"complex({_real(value.real)}, {_real(value.imag)})"
        return text if type_ is types.c128 else f"{dtype(type_)}({text})"
    if type_.is_float:
        return _real(value) if type_ is types.f64 else f"{dtype(type_)}({_shortest(value)})"
    return str(value) if type_ is types.s64 else f"{dtype(type_)}({value})"


def _real(value: float) -> str:
    """A float as text."""
    return repr(float(value)).replace("inf", "np.inf").replace("nan", "np.nan")


def _shortest(value: float) -> str:
    """The text with the fewest digits that is a number of f32; those of half width are held as such."""
    return _real(float(str(np.float32(value))))


def with_definitions(source: str) -> str:
    """Source preceded by its imports and by the helpers of :data:`FUNCTIONS` that it calls."""
    called: list[str] = []
    for name in reversed(FUNCTIONS):
        if any(re.search(rf"\b{name}\(", text) for text in [source, *(FUNCTIONS[other] for other in called)]):
            called.insert(0, name)
    body = "\n\n".join(["", *(f"{_decorator(name)}\n{FUNCTIONS[name]}" for name in called), source])
    modules = {"math": "math", "numba": "numba", "np": "numpy as np"}
    imports = [f"import {name}\n" for short, name in modules.items() if re.search(rf"\b{short}\.", body)]
    return "".join(imports) + body


def _decorator(name: str) -> str:
    """What stands above a function."""
    # Where the order is free, a loop adds the elements of vectors.
    return '@numba.njit(fastmath={"reassoc", "nsz"})' if name in ("plus", "times") else "@numba.njit"


#: Functions that neither `math` nor NumPy has; those that others call come first.
FUNCTIONS: dict[str, str] = {
    "plus": '''\
def plus(total, value):
    """Their sum, of which the compiler may choose the order."""
    return total + value
''',
    "times": '''\
def times(product, value):
    """Their product, of which the compiler may choose the order."""
    return product * value
''',
    "maximum": '''\
def maximum(x, y):
    """The greater one; NaN where one of them is."""
    return x if x >= y or x != x else y
''',
    "minimum": '''\
def minimum(x, y):
    """The smaller one; NaN where one of them is."""
    return x if x <= y or x != x else y
''',
    "quotient": '''\
def quotient(a, b):
    """Toward zero; 0 where the divisor is."""
    if b == 0:
        return b
    whole = a // b
    return whole + 1 if whole < 0 and whole * b != a else whole
''',
    "remainder": '''\
def remainder(a, b):
    """With the sign of the first one; 0 where the divisor is."""
    if b == 0:
        return b
    rest = a % b
    return rest - b if rest != 0 and (rest < 0) != (a < 0) else rest
''',
    "whole_power": '''\
def whole_power(x, n):
    """By squaring; toward zero where the exponent is negative."""
    if n < 0:
        return x if x == 1 or (x == -1 and n % 2 != 0) else x * x if x == -1 else x - x
    result = x - x + 1
    while n > 0:
        if n & 1:
            result = result * x
        x = x * x
        n = n >> 1
    return result
''',
    "shift_left": '''\
def shift_left(x, places, bits):
    """0 for a negative distance, and for one that is not below the width."""
    return x << places if 0 <= places < bits else x - x
''',
    "shift_right": '''\
def shift_right(x, places, bits):
    """Only the sign is left for a negative distance, and for one that is not below the width."""
    return x >> places if 0 <= places < bits else x >> (bits - 1) >> 1
''',
    "whole": '''\
def whole(x, low, high):
    """Toward zero, and the nearest of the limits beyond them; 0 for NaN."""
    if x != x:
        return np.int64(0)
    return np.int64(low) if x <= low else np.int64(high) if x >= high else np.int64(x)
''',
    "whole_unsigned": '''\
def whole_unsigned(x):
    """Toward zero, and the nearest of the limits beyond them; 0 for NaN."""
    if not x > 0:
        return np.uint64(0)
    return np.uint64(0xFFFFFFFFFFFFFFFF) if x >= 18446744073709551616.0 else np.uint64(x)
''',
    "round_away": '''\
def round_away(x):
    """To the nearest whole number, halves away from zero."""
    nearest = np.trunc(x)
    return nearest + math.copysign(1.0, x) if abs(x - nearest) >= 0.5 else nearest
''',
    "sigmoid": """\
def sigmoid(x):
    e = math.exp(-abs(x))
    return 1 / (1 + e) if x >= 0 else e / (1 + e)
""",
    "direction": '''\
def direction(z):
    """The number of size 1 in the direction of another one; 0 of 0."""
    return z / abs(z) if z != 0 else z
''',
    "population_count": """\
def population_count(x, bits):
    count = 0
    for place in range(bits):
        count += (x >> place) & 1
    return count
""",
    "leading_zeros": """\
def leading_zeros(x, bits):
    count = 0
    while count < bits and not (x >> (bits - 1 - count)) & 1:
        count += 1
    return count
""",
    "erf_inv": '''\
def erf_inv(y):
    """Winitzki's approximation, then Newton's method."""
    if abs(y) >= 1:
        return y * np.inf
    log = math.log((1 - y) * (1 + y))
    half = 2 / (math.pi * 0.147) + log / 2
    x = math.copysign(math.sqrt(max(math.sqrt(half * half - log / 0.147) - half, 0.0)), y)
    for _ in range(3):
        x -= (math.erf(x) - y) * math.sqrt(math.pi) / 2 * math.exp(x * x)
    return x
''',
    "bfloat16": '''\
def bfloat16(x):
    """A float32 whose lower half is rounded off, to even."""
    bits = int(np.float32(x).view(np.uint32))
    return np.uint32((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)
''',
    "bfloat16_bits": """\
def bfloat16_bits(x):
    return np.uint16(np.float32(x).view(np.uint32) >> 16)
""",
    "bits_bfloat16": """\
def bits_bfloat16(bits):
    return np.uint32(int(bits) << 16).view(np.float32)
""",
    "threefry2x32": f'''\
def threefry2x32(k0, k1, x0, x1):
    """Two words of random bits from a key and a counter, 20 rounds."""
    keys = (np.int64(k0), np.int64(k1), np.int64(k0 ^ k1 ^ 0x{PARITY:X}))
    first, second = (np.int64(x0) + keys[0]) & 0xFFFFFFFF, (np.int64(x1) + keys[1]) & 0xFFFFFFFF
    for turn in range(1, {len(ROTATIONS) + 1}):
        for bits in {ROTATIONS[0]} if turn % 2 else {ROTATIONS[1]}:
            first = (first + second) & 0xFFFFFFFF
            second = ((second << bits | second >> (32 - bits)) & 0xFFFFFFFF) ^ first
        first = (first + keys[turn % 3]) & 0xFFFFFFFF
        second = (second + keys[(turn + 1) % 3] + turn) & 0xFFFFFFFF
    return np.uint32(first), np.uint32(second)
''',
}
