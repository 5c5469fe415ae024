"""The element types: names, NumPy dtypes, limits. For promotion rules see :mod:`nxkernel.types`."""

from __future__ import annotations

import builtins
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from nxkernel.errors import NxOverflowError, NxTypeError, message

if TYPE_CHECKING:
    from nxkernel.tensor import Tensor


class Type(str):
    """The type of a tensor's elements. It is a string, its name, so that ``t.type == "f32"``.

    Attributes
    ----------
    kind : str
        ``"u"``, ``"s"``, ``"f"``, ``"bf"``, ``"c"`` or ``"bool"``.
    bits : int
        The width of one element in bits.
    dtype : numpy.dtype
        How NumPy stores it.
    """

    __slots__ = ("bits", "dtype", "kind")

    kind: str
    bits: int
    dtype: np.dtype

    def __new__(cls, name: str, kind: str, bits: int, dtype: Any) -> Type:
        """Types are made once, here: see :func:`normalize`."""
        self = super().__new__(cls, name)
        self.kind, self.bits, self.dtype = kind, bits, np.dtype(dtype)
        return self

    @property
    def size(self) -> int:
        """The size of one element in bytes."""
        return self.dtype.itemsize

    @property
    def is_integer(self) -> bool:
        """Whether elements are integers; includes ``bool``."""
        return self.kind in ("u", "s", "bool")

    @property
    def is_float(self) -> bool:
        """Whether elements are real floating-point numbers."""
        return self.kind in ("f", "bf")

    @property
    def is_complex(self) -> bool:
        """Whether elements are complex."""
        return self.kind == "c"

    def __call__(self, value: Any, *, names: Any = None) -> Tensor:
        """A tensor of this type: ``nx.f32([1, 2])`` is ``nx.tensor([1, 2], type="f32")``."""
        from nxkernel.ops.tensors.creation import tensor

        return tensor(value, type=self, names=names)

    def __reduce__(self) -> tuple:
        return (normalize, (str(self),))


#: Every type by its name, in the order in which they are documented.
TYPES = {
    name: Type(name, kind, bits, dtype)
    for name, kind, bits, dtype in [
        *((f"u{bits}", "u", bits, f"uint{bits}") for bits in (8, 16, 32, 64)),
        *((f"s{bits}", "s", bits, f"int{bits}") for bits in (8, 16, 32, 64)),
        ("bf16", "bf", 16, ml_dtypes.bfloat16),
        *((f"f{bits}", "f", bits, f"float{bits}") for bits in (16, 32, 64)),
        ("c64", "c", 64, "complex64"),
        ("c128", "c", 128, "complex128"),
        ("bool", "bool", 8, "bool"),
    ]
}
u8, u16, u32, u64 = (TYPES[f"u{bits}"] for bits in (8, 16, 32, 64))
s8, s16, s32, s64 = (TYPES[f"s{bits}"] for bits in (8, 16, 32, 64))
f16, f32, f64, bf16 = TYPES["f16"], TYPES["f32"], TYPES["f64"], TYPES["bf16"]
c64, c128, bool_ = TYPES["c64"], TYPES["c128"], TYPES["bool"]

#: The type of each NumPy dtype.
BY_DTYPE = {type_.dtype: type_ for type_ in TYPES.values()}
_PYTHON = {bool: bool_, int: s64, builtins.float: f32, builtins.complex: c64}
#: NumPy's names of Python's numbers, which are wider there than here.
_NUMBERS = {"float": builtins.float, "complex": builtins.complex}


def normalize(type_: Any) -> Type:
    """The type for a name, a pair such as ``("f", 32)``, a NumPy dtype or a Python number class.

    Parameters
    ----------
    type_ : str, tuple, type or dtype

    Returns
    -------
    Type

    Raises
    ------
    NxTypeError
        When there is no such type.

    Examples
    --------
    >>> normalize("f32"), normalize(("s", 8)), normalize(np.float64)
    ('f32', 's8', 'f64')
    """
    if isinstance(type_, Type):
        return type_
    if isinstance(type_, str) and type_ in TYPES:
        return TYPES[type_]
    if isinstance(type_, tuple) and len(type_) == 2:
        name = f"{type_[0]}{type_[1]}"
        if name in TYPES:
            return TYPES[name]
    if isinstance(type_, type) and type_ in _PYTHON:
        return _PYTHON[type_]
    try:
        dtype = np.dtype(type_ if type_ is not None else object)
        # NumPy's short names count bytes ("f8") where ours count bits, so only its long ones ("float64") are taken.
        if isinstance(type_, str) and type_ != dtype.name:
            raise KeyError(type_)
        return BY_DTYPE[dtype.newbyteorder("=")]
    except (TypeError, KeyError):
        raise NxTypeError(
            message(f"there is no type {type_!r}.", f"The types are {' '.join(TYPES)}.", _meant(type_))
        ) from None


def _meant(name: Any) -> str:
    """The hint for a type of another library."""
    if isinstance(name, str):
        if re.fullmatch(r"i(16|32|64)", name):
            return f'Write "s{name[1:]}": s is for signed.'
        try:
            counterpart = BY_DTYPE.get(np.dtype(name).newbyteorder("="))
        except TypeError:
            counterpart = None
        if counterpart is not None:
            wide = f'; the default is "{_PYTHON[_NUMBERS[name]]}"' if name in _NUMBERS else ""
            return f'Write "{counterpart}", which is what NumPy calls {name!r}{wide}.'
    return 'Write one as "f32".'


@dataclass(frozen=True)
class FloatFormat:
    """A binary interchange format of IEEE 754, or bfloat16.

    Parameters
    ----------
    width : int
        Bits of a number.
    digits : int
        Bits of the significand that are stored.
    bias : int
        What is added to an exponent to store it.
    """

    width: int
    digits: int
    bias: int

    @property
    def sign(self) -> int:
        """The bit pattern of the sign bit."""
        return 1 << (self.width - 1)

    @property
    def infinity(self) -> int:
        """The bit pattern of infinity."""
        return (2 * self.bias + 1) << self.digits

    @property
    def nan(self) -> int:
        """The bit pattern of a quiet NaN."""
        return self.infinity | 1 << (self.digits - 1)

    @property
    def smallest_normal(self) -> builtins.float:
        """The smallest normal number."""
        return 2.0 ** (1 - self.bias)

    @property
    def shifter(self) -> builtins.float:
        """A number whose unit in the last place is 1: adding and subtracting it rounds to an integer, half to even."""
        return 1.5 * 2.0**self.digits


#: The formats of floats, by the names of their types.
FORMATS = {
    "f16": FloatFormat(16, 10, 15),
    "bf16": FloatFormat(16, 7, 127),
    "f32": FloatFormat(32, 23, 127),
    "f64": FloatFormat(64, 52, 1023),
}


def limits(type_: Type) -> tuple[int, int]:
    """The smallest and largest value of an integer type.

    Parameters
    ----------
    type_ : type
        Of integers.

    Returns
    -------
    tuple of two ints

    Examples
    --------
    >>> limits(s8), limits(u16)
    ((-128, 127), (0, 65535))
    """
    if type_.kind == "bool":
        return 0, 1
    if type_.kind == "u":
        return 0, 2**type_.bits - 1
    return -(2 ** (type_.bits - 1)), 2 ** (type_.bits - 1) - 1


def least(type_: Type) -> int | builtins.float:
    """The identity of the maximum: minus infinity, or the smallest integer.

    Parameters
    ----------
    type_ : type
        Real.

    Returns
    -------
    int or float

    Examples
    --------
    >>> least(s8), least(f32)
    (-128, -inf)
    """
    return -math.inf if type_.is_float else limits(type_)[0]


def greatest(type_: Type) -> int | builtins.float:
    """The identity of the minimum: infinity, or the largest integer.

    Parameters
    ----------
    type_ : type
        Real.

    Returns
    -------
    int or float

    Examples
    --------
    >>> greatest(s8), greatest(f32)
    (127, inf)
    """
    return math.inf if type_.is_float else limits(type_)[1]


def refuse_outside(type_: Type, number: int, hint: str) -> None:
    """Raise an error for a Python int out of range of an integer type.

    Raises
    ------
    NxOverflowError
    """
    low, high = limits(type_)
    if not low <= number <= high:
        raise outside(type_, number, hint)


def outside(type_: Type, number: int, hint: str) -> NxOverflowError:
    """The error for a Python int out of range of an integer type."""
    low, high = limits(type_)
    return NxOverflowError(
        message(f"the Python integer {number} is outside of {type_}, which goes from {low} to {high}.", hint)
    )
