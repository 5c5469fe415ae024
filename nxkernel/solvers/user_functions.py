"""A person's function as a solver calls it: by its own rules, on the solver's values, arrays or lists as results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import nxkernel as nx
from nxkernel import types
from nxkernel.definitions.calls.definition import Definition
from nxkernel.definitions.keys import callables, containers, default_options
from nxkernel.definitions.tracing import dialects, whose_rules
from nxkernel.errors import NxTypeError, NxValueError, message
from nxkernel.graph import tracing
from nxkernel.messages.grammar import a
from nxkernel.numpy import forwarding
from nxkernel.operand import Operand, Proxy
from nxkernel.ops.machinery.dispatch import convert, operand
from nxkernel.shapes import describe
from nxkernel.types import Type

Function = Callable[..., Any]


def rules_of(function: Function, values: Sequence[Any]) -> str:
    """Whose rules a function follows that a solver calls.

    What its text says; else those of the definition around, or of the values that the solver was given. Python's
    numbers and lists of them count as NumPy's arrays, of 64 bits.
    """
    dialect = whose_rules.of(function, default_options.promotion())
    if dialect is None and tracing.current() is not None:
        dialect = dialects.current()
    return dialect or whose_rules.of_values(values) or whose_rules.NUMPY


def checked(function: Any, solver: str, what: str = "fun") -> Any:
    """A function that was given to a solver.

    Raises
    ------
    NxTypeError
        For what cannot be called.
    """
    if not callable(function):
        raise NxTypeError(f"{solver}: {what} is a function, got {describe(function)}.")
    return function


def called(
    function: Function, rules: str, args: Sequence[Any] = (), options: Mapping[str, Any] | None = None
) -> Function:
    """A function with its further arguments bound, which takes and gives traced values of Nx's rules."""
    if not isinstance(function, Definition):
        function = Definition(forwarding.traceable(function), syntax=True, promotion=rules)
    return lambda *values: function(*values, *args, **(options or {}))


def arguments(args: Any, like: Any) -> tuple[Any, ...]:
    """A function's further arguments as inputs of a program: Python's floats are of the type of the start."""
    type_ = like.dtype.type if isinstance(like, np.ndarray | np.generic) else operand(like).type.dtype.type
    return tuple(_typed(part, type_) for part in (args if isinstance(args, tuple) else (args,)))


def _typed(value: Any, type_: Any) -> Any:
    if type(value) is float:
        return type_(value)
    if type(value) in (tuple, list):
        return type(value)(_typed(part, type_) for part in value)
    return {key: _typed(part, type_) for key, part in value.items()} if type(value) is dict else value


def as_tensor(value: Any, type_: Type, what: str) -> Operand:
    """What a function gives as one tensor: arrays and numbers, or lists of them, in the solver's type.

    Raises
    ------
    NxTypeError
        For what is none of these, or complex where the solver is real.
    """
    if isinstance(value, list | tuple):
        if not value:
            raise NxValueError(f"{what} gives an empty list.")
        return nx.stack([as_tensor(part, type_, what) for part in value])
    if value is None or (not containers.is_leaf(value) and not isinstance(value, Operand | Proxy)):
        hint = "A `return` may be missing." if value is None else "Return an array, a number, or a list of them."
        raise NxTypeError(message(f"{what} gives {a(type(value).__name__) if value is not None else None}.", hint))
    found = operand(value)
    if found.type.is_complex and not type_.is_complex:
        raise NxTypeError(
            message(f"{what} gives complex numbers, {found.spec}.", "Real ones are needed: take nx.real(t).")
        )
    return convert(found, type_)


def scalar(value: Any, type_: Type, what: str) -> Operand:
    """What a function gives as one number."""
    found = as_tensor(value, type_, what)
    if np.prod(found.shape, dtype=int) != 1:
        raise NxValueError(
            message(f"{what} gives one number, got {found.spec}.", "Such as the sum of the elements, or their mean.")
        )
    return nx.reshape(found, ())


def name_of(function: Function) -> str:
    """A function's name for messages."""
    return callables.name(function)


def start(value: Any, what: str, complex_: bool = False) -> Any:
    """A start value as an array or tensor of floats: numbers and lists of them are of 64 bits.

    Raises
    ------
    NxTypeError
        For what holds no real numbers.
    """
    if isinstance(value, list | tuple) and not _has_operands(value):
        value = _array(value, what)
    elif isinstance(value, list | tuple):
        value = nx.stack(list(value))
    elif not isinstance(value, Operand | Proxy):
        value = _array(value, what)
    type_ = types.normalize(value.dtype) if isinstance(value, np.ndarray) else operand(value).type
    if type_.is_complex and complex_:
        return value
    if type_.is_complex:
        raise NxTypeError(
            message(f"{what} is complex, {describe(value)}.", "Real and imaginary parts can be two parts of it.")
        )
    if type_.is_float and type_ not in (types.f16, types.bf16):
        return value
    wide = types.f64 if isinstance(value, np.ndarray) or types.follows_numpy() else types.f32
    return value.astype(wide.dtype) if isinstance(value, np.ndarray) else nx.as_type(operand(value), wide)


def vector(value: Any, what: str, complex_: bool = False) -> Any:
    """A start value of one axis; a number is a vector of one element.

    Raises
    ------
    NxValueError
        For more axes, or for no element.
    """
    found = start(value, what, complex_)
    if len(found.shape) == 0:
        return found.reshape(1) if isinstance(found, np.ndarray) else nx.reshape(operand(found), (1,))
    if len(found.shape) != 1 or found.shape[0] == 0:
        raise NxValueError(
            message(
                f"{what} is a vector of at least one number, got the shape {tuple(found.shape)}.",
                "Flatten it, and give it its shape in the function: x.reshape(shape).",
            )
        )
    return found


def _has_operands(value: Sequence[Any]) -> bool:
    return any(
        isinstance(part, Operand | Proxy) or (isinstance(part, list | tuple) and _has_operands(part)) for part in value
    )


def _array(value: Any, what: str) -> np.ndarray:
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise NxValueError(f"{what} is no array: {error}") from None
    if found.dtype.kind not in "biufc":
        raise NxTypeError(message(f"{what} is an array of numbers, got {describe(value)}."))
    return found
