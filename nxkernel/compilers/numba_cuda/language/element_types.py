"""How elements of each type are held in kernels: in registers, in memory, and conversions between these.

A half-width float is an ``f32`` in registers and 16 bits in memory; a truth value is one in registers and a byte in
memory; a complex number is a pair of floats in both.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nxkernel import types
from nxkernel.backends.numpy_primitives import number_of
from nxkernel.errors import NxTypeError, message
from nxkernel.types import Type


class ComplexText(NamedTuple):
    """A complex value as the texts of its two parts."""

    re: str
    im: str


#: What stands for an element in a kernel's text.
Value = str | ComplexText

_HALF = (types.f16, types.bf16)


def is_half(type_: Type) -> bool:
    """Whether a type is f16 or bf16, which is f32 in registers."""
    return type_ in _HALF


def register_type(type_: Type) -> str:
    """The type of a register that holds an element, or a part of a complex one: ``"f32"``, ``"s64"``, ``"bool"``."""
    return "f32" if type_ in _HALF else str(types.to_real(type_) if type_.is_complex else type_)


def memory_type(type_: Type) -> str:
    """The type of a parameter that points to elements: a complex element is two floats there.

    Examples
    --------
    >>> memory_type(types.f32), memory_type(types.bf16), memory_type(types.bool_), memory_type(types.c128)
    ('f32*', 'u16*', 'u8*', 'f64*')
    """
    if type_ is types.bool_:
        return "u8*"
    return "u16*" if type_ in _HALF else f"{register_type(type_)}*"


def parameter_types(type_: Type) -> tuple[str, ...]:
    """The types of the scalar parameters that hold a constant: one, or two if complex.

    Examples
    --------
    >>> parameter_types(types.f16), parameter_types(types.bool_), parameter_types(types.c64)
    (('f32',), ('u8',), ('f32', 'f32'))
    """
    name = "u8" if type_ is types.bool_ else register_type(type_)
    return (name, name) if type_.is_complex else (name,)


def constant(names: tuple[str, ...] | list[str], type_: Type) -> Value:
    """The value of a constant, given the names of its scalar parameters."""
    if type_.is_complex:
        return ComplexText(*names)
    return f"truth({names[0]})" if type_ is types.bool_ else names[0]


def numpy_type(parameter: str) -> np.dtype:
    """The NumPy type of a scalar parameter, or of a pointer's elements.

    Examples
    --------
    >>> numpy_type("u16*"), numpy_type("s64")
    (dtype('uint16'), dtype('int64'))
    """
    return types.normalize(parameter.rstrip("*")).dtype


def numba_type(parameter: str) -> Any:
    """Numba's type of a parameter; imports Numba CUDA."""
    from numba.cuda import types as numba_types

    type_ = getattr(numba_types, str(numpy_type(parameter)))
    return numba_types.CPointer(type_) if parameter.endswith("*") else type_


def literal(number: complex, type_: Type) -> Value:
    """A number as the text of a value.

    Examples
    --------
    >>> literal(-1, types.s32), literal(float("-inf"), types.bf16), literal(1, types.bool_)
    ('s32(-1)', 'f32(-inf)', 'True')
    >>> literal(2j, types.c64)
    ComplexText(re='f32(0.0)', im='f32(2.0)')
    """
    exact = number_of(number, type_)
    if type_.is_complex:
        part = types.to_real(type_)
        return ComplexText(literal(exact.real, part), literal(exact.imag, part))
    if type_ is types.bool_:
        return str(exact)
    if type_ is types.u64 and exact > types.limits(types.s64)[1]:
        return f"u64({exact - 2**64})"
    return f"{register_type(type_)}({exact})"


# To and from memory ----------------------------------------------------------------------------------------------


def from_memory(text: str, type_: Type) -> str:
    """The text of a real element, as loaded, converted to its form in registers."""
    if type_ is types.bool_:
        return f"truth({text})"
    return f"{type_}_value({text})" if type_ in _HALF else text


def to_memory(text: str, type_: Type) -> str:
    """The text of a register value converted to the form that memory holds."""
    if type_ is types.bool_:
        return f"u8({text})"
    return f"{type_}_bits({text})" if type_ in _HALF else text


def load(pointer: str, index: str, type_: Type) -> Value:
    """The text of a load at an index: one expression, or two for complex types."""
    if type_.is_complex:
        return ComplexText(f"{pointer}[2 * ({index})]", f"{pointer}[2 * ({index}) + 1]")
    return from_memory(f"{pointer}[{index}]", type_)


def store(pointer: str, index: str, value: Value, type_: Type) -> list[str]:
    """The statements that store a value at an index."""
    if isinstance(value, ComplexText):
        return [f"{pointer}[2 * ({index})] = {value.re}", f"{pointer}[2 * ({index}) + 1] = {value.im}"]
    return [f"{pointer}[{index}] = {to_memory(value, type_)}"]


def atomically(name: str, pointer: str, index: str, value: Value, type_: Type) -> list[str]:
    """The statements that atomically join a value with an element, by the primitive of a name.

    Raises
    ------
    NxTypeError
        For products of complex numbers, both parts of which would change at once.
    """
    if isinstance(value, ComplexText) and name != "add":
        raise NxTypeError(
            message(
                f"products of complex numbers at indices ({type_}) have no code for GPUs.",
                'compiler="numba_cpu" has it; products of the parts in a loop do without.',
            )
        )
    if isinstance(value, ComplexText):
        parts = (f"2 * ({index})", value.re), (f"2 * ({index}) + 1", value.im)
        return [f"atomic_add({pointer}, {position}, {part})" for position, part in parts]
    return [f"atomic_{name}{f'_{type_}' if type_ in _HALF else ''}({pointer}, {index}, {value})"]
