"""NumPy's constants, types and their limits, which are numbers and objects of NumPy's."""

from __future__ import annotations

import numpy as np

_TYPES = [
    "bool",
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "intp",
    "uintp",
    "single",
    "double",
    "csingle",
    "cdouble",
    "integer",
    "floating",
    "complexfloating",
    "number",
    "generic",
    "inexact",
    "signedinteger",
    "unsignedinteger",
    "byte",
    "ubyte",
    "short",
    "ushort",
    "intc",
    "uintc",
    "long",
    "ulong",
    "longlong",
    "ulonglong",
    "half",
    "int_",
    "uint",
]
_NUMBERS = ("pi", "e", "inf", "nan", "euler_gamma", "newaxis", "little_endian")
_FUNCTIONS = [
    "dtype",
    "isdtype",
    "issubdtype",
    "promote_types",
    "errstate",
    "geterr",
    "seterr",
    "printoptions",
    "set_printoptions",
]

__all__ = sorted([*_TYPES, *_NUMBERS, *_FUNCTIONS])
globals().update({name: getattr(np, name) for name in __all__})

#: The classes of NumPy's scalars that are conversions when they are called.
SCALARS = {getattr(np, name): np.dtype(getattr(np, name)).name for name in _TYPES[:15]}
