"""The random bits of Threefry-2x32 (twenty rounds) in NumPy.

After J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

import numpy as np

from nxkernel import primitives as p
from nxkernel.backends.numpy_primitives import Meaning
from nxkernel.primitives import Primitive, Spec

#: What the third word of the key has besides the two others.
PARITY = 0x1BD11BDA
#: By how many bits the second word turns in each round; after every four rounds the key is added again.
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24), (13, 15, 26, 6), (17, 29, 16, 24), (13, 15, 26, 6))
#: Elements that go through all rounds together, few enough to stay in a processor's cache.
_PIECE = 1 << 15
#: Elements up to which Python's own numbers are faster than a hundred calls of NumPy.
_FEW = 16
_MASK = 0xFFFFFFFF


def _word(out: Spec, /, *operands: np.ndarray, word: int) -> np.ndarray:
    result = np.empty(out.shape, np.uint32)
    flat, operands = result.reshape(-1), [operand.reshape(-1) for operand in operands]
    if flat.size <= _FEW:
        flat[:] = [_single(*numbers)[word] for numbers in zip(*[operand.tolist() for operand in operands], strict=True)]
        return result
    for start in range(0, flat.size, _PIECE):
        piece = slice(start, start + _PIECE)
        flat[piece] = _block(*[operand[piece] for operand in operands])[word]
    return result


def _block(k0: np.ndarray, k1: np.ndarray, x0: np.ndarray, x1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both words of each Threefry block; the four operands are vectors."""
    keys = (k0, k1, k0 ^ k1 ^ np.uint32(PARITY))
    first, second = x0 + k0, x1 + k1
    turned = np.empty_like(second)
    for number, rotations in enumerate(ROTATIONS, start=1):
        for bits in rotations:
            first += second
            np.right_shift(second, np.uint32(32 - bits), out=turned)
            second <<= np.uint32(bits)
            second |= turned
            second ^= first
        first += keys[number % 3]
        second += keys[(number + 1) % 3]
        second += np.uint32(number)
    return first, second


def _single(k0: int, k1: int, x0: int, x1: int) -> tuple[int, int]:
    """Both words of one block; see :func:`_block`."""
    keys = (k0, k1, k0 ^ k1 ^ PARITY)
    first, second = (x0 + k0) & _MASK, (x1 + k1) & _MASK
    for number, rotations in enumerate(ROTATIONS, start=1):
        for bits in rotations:
            first = (first + second) & _MASK
            second = (second << bits & _MASK | second >> (32 - bits)) ^ first
        first = (first + keys[number % 3]) & _MASK
        second = (second + keys[(number + 1) % 3] + number) & _MASK
    return first, second


#: What the primitive of random bits does to NumPy arrays.
MEANING: dict[Primitive, Meaning] = {p.threefry2x32: _word}
