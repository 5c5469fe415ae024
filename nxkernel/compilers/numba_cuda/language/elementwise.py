"""The lowering of each element-wise primitive to kernel source, as :mod:`nxkernel.backends.numpy_primitives` defines
it.

Half-width floats are held as ``f32`` and rounded after each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nxkernel import primitives as p
from nxkernel import types
from nxkernel.compilers.display.operation_text import COMPARISONS, INFIX
from nxkernel.compilers.numba_cuda.language import element_types
from nxkernel.compilers.numba_cuda.language.element_types import ComplexText, Value
from nxkernel.compilers.numba_cuda.language.intrinsics import FUNCTIONS
from nxkernel.compilers.numba_cuda.language.source_writer import SourceWriter
from nxkernel.compilers.schedule.loop_nest import Op
from nxkernel.errors import CompilationError, message
from nxkernel.types import Type

__all__ = ["LOGIC", "SourceWriter", "converted", "emit", "lowered", "number", "truth"]

#: By the name of each operation of truth values its sign: kernels compute both sides, where words of Python choose one.
LOGIC = {f"logical_{word}": INFIX[f"bitwise_{word}"] for word in ("and", "or", "xor")}
Lower = Callable[[SourceWriter, Op, Sequence[Value], Sequence[Op]], Value]
_TABLE: dict[str, Lower] = {}
_COMPLEX: dict[str, Lower] = {}


def lowered(complex: bool = False) -> frozenset[str]:
    """The names of the element-wise primitives with a lowering, for real or complex numbers.

    Functions of the user's that Numba compiled are not among them: they are for the processor.
    """
    return frozenset(_COMPLEX if complex else _TABLE)


def emit(writer: SourceWriter, op: Op, values: Sequence[Value], operands: Sequence[Op]) -> Value:
    """Write an element-wise instruction; its value.

    Parameters
    ----------
    writer : SourceWriter
    op : Op
    values : sequence of Value
        Its operands.
    operands : sequence of Op
        The instructions that gave them, for their types.

    Returns
    -------
    Value
        Of the type of the instruction, under names; it holds in the block that is being written.

    Raises
    ------
    CompilationError
        For what has no code on a GPU.
    """
    of_complex = op.type.is_complex or any(operand.type.is_complex for operand in operands)
    table = _COMPLEX if of_complex else _TABLE
    if op.name not in table:
        what = f"{op.name} of {'complex' if of_complex else 'real'} numbers"
        if op.name == "njit":
            what = f"{op.attribute.name}, {op.attribute.origin} for the processor,"
        raise CompilationError(message(f"{what} has no code on a GPU.", 'The compiler "numba_cpu" runs it.'))
    return table[op.name](writer, op, values, operands)


# Values ----------------------------------------------------------------------------------------------------------


def number(value: str, type_: Type) -> str:
    """A real value as a number: a truth value becomes 0 or 1 of type u8."""
    return f"u8({value})" if type_ is types.bool_ else value


def truth(value: Value, type_: Type) -> str:
    """Whether a value is not zero, as a truth value."""
    if isinstance(value, ComplexText):
        return f"truth({value.re}) | truth({value.im})"
    if type_ is types.bool_:
        return value
    return f"truth({value})"


def converted(writer: SourceWriter, value: Value, source: Type, target: Type) -> Value:
    """A value converted to another type."""
    return emit(writer, Op("as_type", target, (0,), source), [value], [Op("", source)])


def _rounded(writer: SourceWriter, text: str, type_: Type) -> str:
    """The name of a float; rounded to half width if its type is that."""
    if not element_types.is_half(type_):
        return writer.let(text)
    return writer.from_memory(element_types.to_memory(text, type_), type_)


def _wrapped(writer: SourceWriter, text: str, type_: Type) -> str:
    """The name of an integer, wrapped to its type where Python or Numba may have widened it."""
    return writer.let(f"{type_}({text})")


def _numbers(values: Sequence[str], operands: Sequence[Op], type_: Type) -> list[str]:
    """Real values as numbers, those that are truth values converted to the type."""
    return [
        f"{element_types.register_type(type_)}({value})"
        if operand.type is types.bool_ and type_ is not types.bool_
        else value
        for value, operand in zip(values, operands, strict=True)
    ]


def _row(*names: str) -> Callable[[Lower], Lower]:
    def add(lower: Lower) -> Lower:
        _TABLE.update(dict.fromkeys(names, lower))
        return lower

    return add


# Arithmetic ------------------------------------------------------------------------------------------------------


def _infix(name: str, sign: str) -> None:
    def lower(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
        left, right = _numbers(values, operands, op.type)
        if op.type is types.bool_:
            return w.let(f"truth(u8({left}) {sign} u8({right}))")
        text = f"{left} {sign} {right}"
        if name == "multiply" and op.attribute and op.type.is_float:
            text = f"times({left}, {right})"
        return _rounded(w, text, op.type) if op.type.is_float else _wrapped(w, text, op.type)

    _TABLE[name] = lower


for _name in ("add", "subtract", "multiply"):
    _infix(_name, INFIX[_name])


def _bits(name: str, sign: str) -> None:
    def lower(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
        left, right = _numbers(values, operands, op.type)
        text = f"{left} {sign} {right}"
        return w.let(text) if op.type is types.bool_ else _wrapped(w, text, op.type)

    _TABLE[name] = lower


for _name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    _bits(_name, INFIX[_name])


def _call(name: str, for_floats: str, for_integers: str = "") -> None:
    """A lowering as a call of a kernel function, which may differ between floats and integers; ""
    returns the operand.
    """

    def lower(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
        numbers = _numbers(values, operands, op.type)
        function = for_floats if op.type.is_float else for_integers
        if not function:
            return values[0]
        if op.type is types.bool_:
            return w.let(f"truth({function}({', '.join(f'u8({number})' for number in numbers)}))")
        text = f"{function}({', '.join(numbers)})"
        return _rounded(w, text, op.type) if op.type.is_float else w.let(text)

    _TABLE[name] = lower


_call("divide", "divide")
_call("remainder", "fmod", "remainder")
_call("quotient", "", "quotient")
_call("pow", "pow", "whole_power")
_call("max", "maximum", "maximum")
_call("min", "minimum", "minimum")
_call("left_shift", "", "shift_left")
_call("right_shift", "", "shift_right")
_call("population_count", "", "population_count")
_call("count_leading_zeros", "", "leading_zeros")
_call("abs", "absolute", "absolute")
_call("sign", "sign", "sign")
_call("truncate", "trunc")
_call("round", "round_away")
_call("round_half_even", "round_even")
_call("atan2", "atan2")
for _name in p.TABLE.keys() & FUNCTIONS:
    _call(_name, _name)


@_row("negate")
def _negate(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
    (value,) = _numbers(values, operands, op.type)
    return w.let(f"-{value}") if op.type.is_float else _wrapped(w, f"-{value}", op.type)


@_row("bitwise_not")
def _bitwise_not(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
    if op.type is types.bool_:
        return w.let(f"not {values[0]}")
    return _wrapped(w, f"~{_numbers(values, operands, op.type)[0]}", op.type)


@_row("stop_grad", "after", "conjugate", "real")
def _itself(w: SourceWriter, op: Op, values: Sequence[Value], operands: Sequence[Op]) -> Value:
    return values[0]


@_row("imag")
def _imag(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> Value:
    return element_types.literal(0, op.type)


# Predicates ------------------------------------------------------------------------------------------------------


def _compare(name: str, sign: str) -> None:
    def lower(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
        left, right = (number(value, operand.type) for value, operand in zip(values, operands, strict=True))
        return w.let(f"{left} {sign} {right}")

    _TABLE[name] = lower


for _name in COMPARISONS:
    _compare(_name, INFIX[_name])


def _logic(name: str, sign: str) -> None:
    def lower(w: SourceWriter, op: Op, values: Sequence[Value], operands: Sequence[Op]) -> str:
        facts = [w.let(truth(value, operand.type)) for value, operand in zip(values, operands, strict=True)]
        return w.let(f"{facts[0]} {sign} {facts[1]}")

    _TABLE[name] = _COMPLEX[name] = lower


for _name, _sign in LOGIC.items():
    _logic(_name, _sign)


@_row("logical_not")
def _logical_not(w: SourceWriter, op: Op, values: Sequence[Value], operands: Sequence[Op]) -> str:
    return w.let(f"not {w.let(truth(values[0], operands[0].type))}")


@_row("is_nan")
def _is_nan(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
    value = values[0]
    return w.let(f"{value} != {value}" if operands[0].type.is_float else "False")


@_row("is_infinity")
def _is_infinity(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
    return w.let(f"is_infinite({values[0]})" if operands[0].type.is_float else "False")


@_row("select")
def _select(w: SourceWriter, op: Op, values: Sequence[Value], operands: Sequence[Op]) -> Value:
    mask = w.let(truth(values[0], operands[0].type))
    if isinstance(values[1], ComplexText):
        return ComplexText(*(w.let(f"select({mask}, {x}, {y})") for x, y in zip(*values[1:], strict=True)))
    then, otherwise = _numbers(values[1:], operands[1:], op.type)
    return w.let(f"select({mask}, {then}, {otherwise})")


# Conversions and bits --------------------------------------------------------------------------------------------


@_row("as_type")
def _as_type(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
    value, source, target = values[0], operands[0].type, op.type
    if source is target:
        return value
    if target is types.bool_:
        return w.let(truth(value, source))
    if element_types.is_half(target):
        # Doubles are rounded once; what is half as wide already is a float.
        wide = value if source.is_float else f"f32({value})"
        return _rounded(w, wide, target)
    if element_types.register_type(source) == str(target):
        return value
    return w.let(f"{target}({value})")


@_row("bitcast")
def _bitcast(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
    source, target = operands[0].type, op.type
    if source is target:
        return values[0]
    bits = w.to_memory(values[0], source)
    if source in (types.f32, types.f64):
        bits = f"float_bits({bits})"
    if target in (types.f32, types.f64):
        return w.let(f"bits_float({bits})")
    if target.is_integer and target is not types.bool_:
        return w.let(f"{target}({bits})")
    return w.from_memory(bits if source is not types.s16 else f"u16({bits})", target)


@_row("threefry2x32")
def _threefry(w: SourceWriter, op: Op, values: Sequence[str], operands: Sequence[Op]) -> str:
    key = ("threefry", *values)
    if key not in w.known:
        first, second = w.name(), w.name()
        w.line(f"{first}, {second} = threefry({', '.join(values)})")
        w.known[key] = (first, second)
    return w.known[key][op.attribute]


# Complex numbers -------------------------------------------------------------------------------------------------


def _each(text: Callable[..., str]) -> Lower:
    """A lowering applied to the real and imaginary parts separately."""

    def lower(w: SourceWriter, op: Op, values: Sequence[ComplexText], operands: Sequence[Op]) -> ComplexText:
        return ComplexText(*(w.let(text(*parts)) for parts in zip(*values, strict=True)))

    return lower


def _complex_multiply(w: SourceWriter, op: Op, values: Sequence[ComplexText], operands: Sequence[Op]) -> ComplexText:
    """A complex product whose real products are rounded separately, so that a number times its conjugate is real."""
    x, y = values
    re = f"times({x.re}, {y.re}) - times({x.im}, {y.im})"
    return ComplexText(w.let(re), w.let(f"times({x.re}, {y.im}) + times({x.im}, {y.re})"))


def _complex_as_type(w: SourceWriter, op: Op, values: Sequence[Value], operands: Sequence[Op]) -> Value:
    """A conversion: real to complex takes the number as real part; complex to real drops the imaginary part, but for
    bool.
    """
    value, source, target = values[0], operands[0].type, op.type
    if target is types.bool_:
        return w.let(truth(value, source))
    if not isinstance(value, ComplexText):
        part = types.to_real(target)
        return ComplexText(converted(w, value, source, part), element_types.literal(0, part))
    own = types.to_real(source)
    if not target.is_complex:
        return converted(w, value.re, own, target)
    return ComplexText(*(converted(w, part, own, types.to_real(target)) for part in value))


def _facts(test: str, join: str) -> Lower:
    """A predicate that tests both parts and joins the results."""

    def lower(w: SourceWriter, op: Op, values: Sequence[ComplexText], operands: Sequence[Op]) -> str:
        real, imag = (test.format(*parts) for parts in zip(*values, strict=True))
        return w.let(f"({real}) {join} ({imag})")

    return lower


_COMPLEX |= {
    "add": _each("{} + {}".format),
    "subtract": _each("{} - {}".format),
    "negate": _each("-{}".format),
    "multiply": _complex_multiply,
    "conjugate": lambda w, op, values, operands: ComplexText(values[0].re, w.let(f"-{values[0].im}")),
    "real": lambda w, op, values, operands: values[0].re,
    "imag": lambda w, op, values, operands: values[0].im,
    "complex": lambda w, op, values, operands: ComplexText(*values),
    "as_type": _complex_as_type,
    "equal": _facts("{} == {}", "&"),
    "not_equal": _facts("{} != {}", "|"),
    "is_nan": _facts("{0} != {0}", "|"),
    "is_infinity": _facts("is_infinite({})", "|"),
    "logical_not": _logical_not,
    "select": _select,
    "stop_grad": _itself,
    "after": _itself,
}
