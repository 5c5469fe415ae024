"""Constants encoded as 64-bit words, as kernels and programs read them."""

from __future__ import annotations

import struct

import numpy as np

from nxkernel.backends.numpy_primitives import cast_number
from nxkernel.types import Type


def bits(number: complex, type_: Type) -> int:
    """A constant as a word; half-width floats as the float in which they compute.

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
