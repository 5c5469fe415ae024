"""The names that kernel source may call besides ``cuda`` and ``np``, for GPUs and for the simulator.

Both tables have the same names. Types are those of the arguments unless the name tells one; nothing raises or traps.

================================  =====================================================================================
``div(i, n)``, ``rem(i, n)``      Quotient and remainder of indices, neither below zero.
``loadN(p, i)``                   A tuple of N elements from `i` on, N of 2, 4, 8, 16; at most 16 bytes, which must be
                                  aligned to their number.
``storeN(p, i, elements)``        The same to memory.
``address(p)``                    Where a pointer points, in bytes.
``further(p, i)``                 The pointer to an element.
``s8(x)`` … ``u64(x)``            A number as an integer: integers wrap, floats are cut and saturate, NaN is 0.
``f32(x)``, ``f64(x)``            A number as a float.
``truth(x)``                      Whether a number is not zero.
``f16_value(bits)``               The float that 16 bits mean, and ``bf16_value``.
``f16_bits(x)``                   The 16 bits nearest to a float, and ``bf16_bits``.
``f16_rounded(x)``                A float rounded to half width, as ``f32``, and ``bf16_rounded``.
``float_bits(x)``                 The bits of a float as an unsigned integer; ``bits_float(x)`` the other way.
``select(mask, x, y)``            One of two values of one type; both are computed.
``times(x, y)``                   The product of floats, rounded before anything is added to it.
``divide(x, y)``                  Of floats.
``quotient``, ``remainder``,      Of integers, by zero 0; the latter two with any exponent and any distance.
``whole_power``, ``shift_left``,
``shift_right``
``maximum``, ``minimum``          NaN where one of two floats is.
``absolute``, ``sign``            Of any number.
``exp(x)`` and so on              Functions of floats: :data:`FUNCTIONS`, and ``atan2``, ``fmod``, ``pow``.
``threefry(k0, k1, x0, x1)``      Both words of a block of random bits.
``atomic_add(p, i, x)``           Adds to an element, whatever the number; ``atomic_add_f16``, ``atomic_add_bf16``.
``atomic_max(p, i, x)``           Leaves the greater of a real number and what is there, and so on: ``atomic_min``,
                                  ``atomic_multiply``; ``atomic_max_f16``.
``inf``, ``nan``                  Numbers, as in ``f32(-inf)``.
================================  =====================================================================================
"""

from __future__ import annotations

import functools
from typing import Any

from nxkernel.primitives import ELEMENTARY

#: Functions of one float that the tables have by these names, which are those of primitives where there is one.
FUNCTIONS = frozenset([*ELEMENTARY, "floor", "ceil", "trunc", "round_away", "round_even", "is_infinite", "phase"])


@functools.cache
def device() -> dict[str, Any]:
    """The names bound to Numba CUDA intrinsics; imports Numba CUDA. Do not change the table."""
    from nxkernel.compilers.numba_cuda.toolchain import device_intrinsics

    return dict(device_intrinsics.TABLE)


@functools.cache
def simulated() -> dict[str, Any]:
    """The names bound to functions on NumPy scalars. Do not change the table."""
    from nxkernel.compilers.numba_cuda.language import simulated_intrinsics

    return dict(simulated_intrinsics.TABLE)
