"""Arguments of random programs: arrays of all types, of small sizes, in all layouts, and whole numbers."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

#: Types, the likelier the more often they are here.
KINDS = ["f8"] * 8 + ["i8"] * 4 + ["f4"] * 2 + ["?"] * 2 + ["i4", "i2", "i1", "u1", "u2", "u4", "f2", "c16", "c8"]
#: Small sizes, which fit together often.
SHAPES = (
    [(5,)] * 4 + [(3, 4)] * 3 + [(4,), (4, 4), (6,), (3,), (2, 3, 4), (1, 4), (3, 1), (), (0,), (0, 4), (1,), (17,)]
)
LAYOUTS = ["C"] * 5 + ["F", "strided", "reversed", "transposed"]


def shape_and_kind(random: Random, is_smooth: bool) -> tuple[tuple[int, ...], str]:
    """The shape and type of an argument."""
    if is_smooth:
        return random.choice([(5,), (5,), (3, 4), (4,), (4, 4), (6,), (2, 3, 4)]), "f8"
    return random.choice(SHAPES), random.choice(KINDS)


def array(random: Random, shape: tuple[int, ...], kind: str, layout: str) -> np.ndarray:
    """Numbers that sums and products of a few are exact of.

    Parameters
    ----------
    random : Random
    shape : tuple of int
    kind : str
        As NumPy's letters.
    layout : {"C", "F", "strided", "reversed", "transposed"}
        How they lie in memory.
    """
    rng = np.random.default_rng(random.getrandbits(32))
    if kind == "?":
        found = rng.random(shape) < 0.5
    elif kind[0] in "iu":
        found = rng.integers(0 if kind[0] == "u" else -4, 9, shape)
    elif kind[0] == "c":
        found = rng.integers(-8, 9, shape) / 4 + 1j * rng.integers(-8, 9, shape) / 4
    else:
        found = rng.integers(-16, 25, shape) / 4
    return laid_out(np.asarray(found).astype(kind), layout)


def laid_out(found: np.ndarray, layout: str) -> np.ndarray:
    """The same elements, lying in memory in another way."""
    if layout == "C" or not found.ndim:
        return found.copy()
    if layout == "F":
        return found.copy(order="F")
    if layout == "strided":
        return np.repeat(found, 2, axis=-1)[..., ::2]
    if layout == "reversed":
        return found[::-1].copy()[::-1]
    return np.ascontiguousarray(found.T).T


def copied(values: list[Any]) -> list[Any]:
    """Arguments once more, in their layouts."""
    return [_again(value) if isinstance(value, np.ndarray) else value for value in values]


def _again(value: np.ndarray) -> np.ndarray:
    room = value if value.base is None else value.base
    if not isinstance(room, np.ndarray) or room.dtype != value.dtype:
        return value.copy()
    made = room.copy()
    offset = value.__array_interface__["data"][0] - room.__array_interface__["data"][0]
    if made.strides != room.strides or not value.size:
        return laid_out(value, "F" if value.flags.f_contiguous else "C")
    return np.ndarray(value.shape, value.dtype, made, offset, value.strides)
