"""The types of tensors: their names, their widths, and how two of them become one.

The rules are those of Nx (see :func:`merge` and :func:`merge_number`); ``bool`` is added for NumPy's sake and
is the type of predicates, which Nx keeps in ``u8``: in arithmetic among themselves they count as ``s64``. While NumPy's
rules are asked for (:func:`promotion`), all functions here follow those.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from nxkernel import numpy_promotion
from nxkernel.element_types import (
    TYPES,
    Type,
    bf16,
    bool_,
    c64,
    c128,
    f16,
    f32,
    f64,
    greatest,
    least,
    limits,
    normalize,
    refuse_outside,
    s8,
    s16,
    s32,
    s64,
    u8,
    u16,
    u32,
    u64,
)  # fmt: skip
from nxkernel.errors import NxTypeError, message
from nxkernel.scoped_settings import ScopedSetting, kept

__all__ = [
    "TYPES", "Type", "bf16", "bool_", "c64", "c128", "cast_number", "complex", "compute_type", "f16", "f32", "f64",
    "float", "greatest", "infer", "integer", "least", "limits", "merge", "merge_number", "normalize", "s8", "s16",
    "s32", "s64", "to_aggregate", "to_complex", "to_floating", "to_real", "to_string", "u8", "u16", "u32", "u64",
]  # fmt: skip


#: Of two kinds the one of higher rank wins.
_RANK = {"bool": 0, "u": 0, "s": 1, "bf": 2, "f": 3, "c": 4}
#: The types of Python numbers, by NumPy's types of them.
_OF_NUMBERS = {bool_: bool_, s64: s64, f64: f32, c128: c64}


class _Rules(threading.local):
    numpy = False
    #: Whether derivatives are made of a program by NumPy's rules; they themselves are made by Nx's.
    derived = False
    #: What is told of types that NumPy's rules would make others.
    told: Callable[[Type, Type], None] | None = None


_rules = kept(_Rules())


def promotion(rules: str) -> AbstractContextManager[None]:
    """Context manager: follow other promotion rules in this thread.

    Parameters
    ----------
    rules : {"nx", "numpy"}

    Examples
    --------
    >>> with promotion("numpy"):
    ...     infer(1.5), merge(s64, f32), to_floating(s64)
    ('f64', 'f64', 'f64')
    """
    if rules not in ("nx", "numpy"):
        raise NxTypeError(message(f'promotion is "nx" or "numpy", got {rules!r}.', "They name the rules of types."))
    return ScopedSetting(_rules, "numpy", rules == "numpy")


def deriving() -> AbstractContextManager[None]:
    """A context in which derivatives are made of a program by the rules that are in force."""
    return ScopedSetting(_rules, "derived", _rules.numpy or _rules.derived)


def tangent(type_: Type) -> Type:
    """The type of derivatives by values of a type: the type itself; for integers f32, and by NumPy's rules f64.

    Examples
    --------
    >>> with promotion("numpy"):
    ...     numpys = tangent(s64)
    >>> tangent(f16), tangent(s64), numpys
    ('f16', 'f32', 'f64')
    """
    if type_.is_float or type_.is_complex:
        return type_
    return f64 if _rules.numpy or _rules.derived else f32


def comparing(told: Callable[[Type, Type], None] | None) -> AbstractContextManager[None]:
    """A context in which `told` is called with Nx's type and NumPy's, where the two are not one."""
    return ScopedSetting(_rules, "told", told)


def _compared(type_: Type, of_numpy: Type) -> Type:
    if type_ is not of_numpy and _rules.told is not None:
        _rules.told(type_, of_numpy)
    return type_


def follows_numpy() -> bool:
    """Whether NumPy's promotion rules are in force."""
    return _rules.numpy


def infer(number: Any) -> Type:
    """The default type of a Python number: s64, f32, c64, and bool for booleans.

    Parameters
    ----------
    number : bool, int, float or complex

    Returns
    -------
    Type

    Examples
    --------
    >>> infer(1), infer(1.5), infer(True)
    ('s64', 'f32', 'bool')
    """
    type_ = numpy_promotion.type_of(number)
    if not _rules.numpy:
        return _OF_NUMBERS[type_]
    if type_ is s64:
        refuse_outside(s64, number, "A definition's integers have 64 bits: write a float, or np.uint64(n).")
    return type_


def cast_number(type_: Any, number: Any) -> Any:
    """A Python number converted to the kind (int, float, complex) of a type.

    Parameters
    ----------
    type_ : type
    number : bool, int, float or complex

    Returns
    -------
    int, float or complex

    Raises
    ------
    NxTypeError
        When that would lose something: a fraction, a sign or an imaginary part.

    Examples
    --------
    >>> cast_number("f32", 10), cast_number("c64", 10)
    (10.0, (10+0j))
    """
    type_ = normalize(type_)
    if infer(number).is_integer:
        if type_.is_integer and (number >= 0 or type_.kind == "s"):
            return int(number)
        if not type_.is_integer:
            return builtins.complex(number) if type_.is_complex else builtins.float(number)
    elif type_.is_complex or (type_.is_float and not isinstance(number, builtins.complex)):
        return builtins.complex(number) if type_.is_complex else number
    raise NxTypeError(
        message(f"{type_} does not hold numbers such as {number!r}.", "nx.as_type(number, type) cuts to what fits.")
    )


def merge(left: Type, right: Type) -> Type:
    """The promoted type of two tensors.

    Complex wins over float, float over brain float, any float over any integer (and keeps its width); of one kind the
    wider wins; a signed and an unsigned integer meet in the signed type that holds both, at most s64.

    Parameters
    ----------
    left, right : type

    Returns
    -------
    Type

    Examples
    --------
    >>> merge(s64, f16), merge(u8, s8), merge(f64, c64)
    ('f16', 's16', 'c128')
    """
    left, right = normalize(left), normalize(right)
    if left is right:
        return left
    if _rules.numpy:
        return numpy_promotion.merge(left, right)
    type_ = _nx_merge(left, right)
    return type_ if _rules.told is None else _compared(type_, numpy_promotion.merge(left, right))


def _nx_merge(left: Type, right: Type) -> Type:
    if _RANK[left.kind] < _RANK[right.kind]:
        left, right = right, left
    if left.kind == right.kind:
        return left if left.bits >= right.bits else right
    if right.kind == "bool":
        return left
    if left.kind == "bool":
        return right
    if left.kind == "s":
        return TYPES[f"s{max(min(2 * right.bits, 64), left.bits)}"]
    if left.kind == "c":
        return TYPES[f"c{max(2 * right.bits, left.bits)}"] if right.kind == "f" else left
    if left.kind == "f" and right.kind == "bf":
        return left
    return left


def merge_number(type_: Type, number: Any) -> Type:
    """The promoted type of a tensor and a Python number, which is weak: it widens only if it must.

    Parameters
    ----------
    type_ : type
        Of the tensor.
    number : bool, int, float or complex

    Returns
    -------
    Type

    Examples
    --------
    >>> merge_number(u8, 255), merge_number(u8, 256), merge_number(u8, -1), merge_number(s8, 1.5)
    ('u8', 'u16', 's16', 'f32')
    """
    type_ = normalize(type_)
    if _rules.numpy:
        return numpy_promotion.merge_number(type_, number)
    result = _nx_merge_number(type_, number)
    if _rules.told is None:
        return result
    return _compared(result, numpy_promotion.merge_weak(type_, numpy_promotion.type_of(number)))


def _nx_merge_number(type_: Type, number: Any) -> Type:
    if isinstance(number, builtins.complex):
        return merge(type_, c64)
    if isinstance(number, builtins.float):
        return f32 if type_.is_integer else type_
    if not type_.is_integer or numpy_promotion.type_of(number) is bool_:
        return type_
    if type_.kind == "bool":
        type_ = s64
    for candidate in _widening(type_, number):
        low, high = limits(candidate)
        if low <= number <= high:
            return candidate
    raise NxTypeError(
        message(f"the integer {number} fits no type.", "Integers go from -2**63 to 2**64 - 1; write it as a float.")
    )


def merge_weak(type_: Type, weak: Type) -> Type:
    """The promoted type of a tensor and a traced value that stands for a Python number.

    Examples
    --------
    >>> merge_weak(f64, s64), merge_weak(s8, s64), merge_weak(s8, f32)
    ('f64', 's8', 'f32')
    """
    if _rules.numpy:
        return numpy_promotion.merge_weak(type_, weak)
    if weak.is_complex:
        return merge(type_, c64)
    if weak.is_float:
        return f32 if type_.is_integer else type_
    return weak if type_ is bool_ else type_


def _widening(type_: Type, number: int) -> list[Type]:
    """The integer types to try for a number beside `type_`, narrowest first."""
    signed = [t for t in (s8, s16, s32, s64) if t.bits >= type_.bits]
    if type_.kind == "s":
        return signed
    if number < 0:
        return [t for t in signed if t.bits > type_.bits] or [s64]
    return [t for t in (u8, u16, u32, u64) if t.bits >= type_.bits]


def to_floating(type_: Type) -> Type:
    """The type of a function that gives fractions: integers become f32, by NumPy's rules f64.

    Parameters
    ----------
    type_ : type

    Returns
    -------
    Type

    Examples
    --------
    >>> to_floating("s8"), to_floating("f16"), to_floating("c64")
    ('f32', 'f16', 'c64')
    """
    type_ = normalize(type_)
    if type_.is_integer:
        return f64 if _rules.numpy else _compared(f32, f64)
    return type_


def to_aggregate(type_: Type) -> Type:
    """The type of a sum or product: integers take 64 bits and keep their sign.

    Parameters
    ----------
    type_ : type

    Returns
    -------
    Type

    Examples
    --------
    >>> to_aggregate("u8"), to_aggregate("s8"), to_aggregate("f16")
    ('u64', 's64', 'f16')
    """
    type_ = normalize(type_)
    if type_.kind in ("s", "bool"):
        return s64
    return u64 if type_.kind == "u" else type_


def to_complex(type_: Type) -> Type:
    """The complex type that holds `type_`.

    Parameters
    ----------
    type_ : type

    Returns
    -------
    Type

    Examples
    --------
    >>> to_complex("f32"), to_complex("f64"), to_complex("s64")
    ('c64', 'c128', 'c64')
    """
    type_ = normalize(type_)
    if type_.is_complex:
        return type_
    return c128 if type_ is f64 or (_rules.numpy and type_.is_integer) else c64


def to_real(type_: Type) -> Type:
    """The type of the real part; integers become f32.

    Parameters
    ----------
    type_ : type

    Returns
    -------
    Type

    Examples
    --------
    >>> to_real("c128"), to_real("f16"), to_real("u8")
    ('f64', 'f16', 'f32')
    """
    type_ = normalize(type_)
    if type_.is_complex:
        return f64 if type_ is c128 else f32
    return to_floating(type_)


def compute_type(type_: Type) -> Type:
    """The type that arithmetic runs in: bf16 and f16 compute in f32 and round once.

    Parameters
    ----------
    type_ : type

    Returns
    -------
    Type

    Examples
    --------
    >>> compute_type(bf16), compute_type(f64)
    ('f32', 'f64')
    """
    return f32 if type_ in (f16, bf16) else type_


def integer(type_: Any) -> bool:
    """Whether a type is an integer type.

    Parameters
    ----------
    type_ : type

    Returns
    -------
    bool

    Examples
    --------
    >>> integer("u8"), integer("f32")
    (True, False)
    """
    return normalize(type_).is_integer


def float(type_: Any) -> bool:
    """Whether a type is a real floating-point type.

    Parameters
    ----------
    type_ : type

    Returns
    -------
    bool

    Examples
    --------
    >>> float("bf16"), float("c64")
    (True, False)
    """
    return normalize(type_).is_float


def complex(type_: Any) -> bool:
    """Whether a type is complex.

    Parameters
    ----------
    type_ : type

    Returns
    -------
    bool

    Examples
    --------
    >>> complex("c64"), complex("f32")
    (True, False)
    """
    return normalize(type_).is_complex


def to_string(type_: Any) -> str:
    """The name of a type.

    Parameters
    ----------
    type_ : type

    Returns
    -------
    str

    Examples
    --------
    >>> to_string(("f", 32))
    'f32'
    """
    return str(normalize(type_))


def __dir__() -> list[str]:
    return __all__
