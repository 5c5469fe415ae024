"""The 64 bits of a constant, as kernels and programs read it from their tables of scalar parameters."""

from __future__ import annotations

import struct

import numpy as np

from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.types import Type


def bits(number: complex, type_: Type) -> int:
    """The 64 bits of a number of a type; half-width floats are encoded as the f32 that kernels compute in.

    Examples
    --------
    >>> from nxkernel.types import f32, s64
    >>> bits(-1, s64), hex(bits(1.5, f32))
    (-1, '0x3fc00000')
    """
    value = cast_number(number, type_)
    if type_.bits == 16 and type_.is_float:
        value = value.astype(np.float32)
    return struct.unpack("<q", value.tobytes().ljust(8, b"\0"))[0]
