"""The bits of constants: those of a number as the registers of its type have them."""

import math
import struct

import numpy as np
import pytest

from nxkernel import types
from nxkernel.compilers.numba_cpu.codegen.constant_bits import bits


@pytest.mark.parametrize(
    ("number", "type_", "scalar"),
    [
        (0, types.s64, 0),
        (-1, types.s64, -1),
        (2**63 - 1, types.s64, 2**63 - 1),
        (2**64 - 1, types.u64, -1),
        (-1, types.s8, 0xFF),
        (300, types.u16, 300),
        (1.0, types.f64, 0x3FF0000000000000),
        (-0.0, types.f64, -(1 << 63)),
        (1.0, types.f32, 0x3F800000),
        (math.inf, types.f32, 0x7F800000),
    ],
)
def test_bits(number, type_, scalar):
    assert bits(number, type_) == scalar


@pytest.mark.parametrize("type_", [types.f16, types.bf16], ids=str)
def test_halves_are_the_floats_in_which_they_compute(type_):
    for number in (1.0, -2.5, 0.1):
        rounded = float(np.asarray(number, type_.dtype))
        assert struct.pack("<q", bits(number, type_)) == struct.pack("<f", rounded) + bytes(4)


def test_constants_fit_the_table():
    for type_ in types.TYPES.values():
        if not type_.is_complex:
            assert -(1 << 63) <= bits(1, type_) < 1 << 63
