"""Random shapes, names and numbers; an object that chooses makes every choice, so that failures become small."""

import math

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from nxkernel import types

FLOATS = [types.bf16, types.f16, types.f32, types.f64]
WHOLE = [type_ for type_ in types.TYPES.values() if type_.kind in ("u", "s")]
COMPLEX = [types.c64, types.c128]
REAL = [*WHOLE, *FLOATS]
ALL = [*types.TYPES.values()]
#: Sizes at which something changes: no element, one, the edges of vectors.
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100]
LONG = [1000, 1023, 1025, 2049, 8193]
MOST = 9000


class Drawn:
    """Choices by Hypothesis."""

    def __init__(self, draw):
        self._draw = draw

    def integer(self, low, high):
        return self._draw(st.integers(low, high))

    def pick(self, options):
        return self._draw(st.sampled_from(list(options)))

    def chance(self, percent):
        return self._draw(st.integers(0, 99)) >= 100 - percent

    def some(self, options):
        """Some of them, in their order."""
        return tuple(option for option in options if self.chance(50))

    def order(self, count):
        """A permutation of the first numbers."""
        return tuple(self._draw(st.permutations(range(count))))

    def rng(self):
        return np.random.default_rng(self.integer(0, 2**20))


def shape(choose, least=0, most=4, *, empty=True, total=MOST):
    """A shape of `least` to `most` axes with at most `total` elements."""
    rank = choose.integer(least, most)
    sizes, room = [], total
    for _ in range(rank):
        fitting = [n for n in SIZES if n <= room]
        if empty and choose.chance(3):
            size = 0
        elif room >= LONG[0] and choose.chance(8):
            size = choose.pick([n for n in LONG if n <= room])
        else:
            size = choose.pick(fitting)
        sizes.append(size)
        room //= max(size, 1)
    return tuple(sizes[place] for place in choose.order(rank))


def names(choose, rank):
    """A name for some axes."""
    return tuple(f"n{axis}" if choose.chance(40) else None for axis in range(rank))


def array(choose, type_, shape, *, special=True, kind=None):
    """Numbers of a type; sometimes the same along some axes.

    ``kind`` is ``"grid"``, few numbers that add up and multiply exactly, ``"units"``, mostly ones and powers of two,
    ``"wide"``, any magnitude, or ``"tame"``, which functions of complex numbers take without trouble.
    """
    kind = kind or choose.pick(["grid", "wide", "edges"])
    rng = choose.rng()
    same = choose.some(range(len(shape))) if choose.chance(20) and 0 not in shape else ()
    small = tuple(1 if axis in same else n for axis, n in enumerate(shape))
    made = numbers(rng, type_, small, kind, special and choose.chance(60))
    return np.array(np.broadcast_to(made, shape), order="C")


def numbers(rng, type_, shape, kind, special=False):
    """Numbers of a kind, with not-a-number, infinities and zeros of both signs where `special`."""
    if type_.is_complex:
        part = types.to_real(type_)
        made = np.empty(shape, type_.dtype)
        made.real, made.imag = (numbers(rng, part, shape, kind, special) for _ in range(2))
        return made
    if type_ is types.bool_:
        return np.asarray(rng.integers(0, 2, shape)).astype(bool)
    if type_.is_integer:
        return _whole(rng, type_, shape, kind)
    if kind == "grid":
        made = np.asarray(rng.integers(-12, 13, shape)) / 4
    elif kind == "units":
        made = rng.choice([1.0] * 12 + [-1.0, 2.0, 0.5], shape)
    elif kind == "tame":
        made = rng.choice([-1.0, 1.0], shape) * rng.uniform(0.05, 3, shape)
    elif kind == "edges":
        made = rng.choice(_edges(type_), shape)
    else:
        reach = 30 if type_ is types.f64 else 10 if type_ is types.f16 else 20
        made = rng.normal(size=shape) * 2.0 ** rng.integers(-reach // 2, reach // 2 + 1, shape)
    if special:
        odd = rng.integers(0, 30, shape)
        for number, value in enumerate((math.nan, math.inf, -math.inf, 0.0, -0.0)):
            made = np.where(odd == number, value, made)
    with np.errstate(all="ignore"):
        return np.asarray(made).astype(type_.dtype)


def _edges(type_):
    info = ml_dtypes.finfo(type_.dtype)
    edges = [info.max, info.smallest_normal, info.smallest_subnormal, 1 + float(info.eps), 1 - float(info.eps) / 2]
    edges = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 1e-3, 10.75, 77.0, *map(float, edges)]
    return np.array([*edges, *[-edge for edge in edges]])


def _whole(rng, type_, shape, kind):
    low, high = types.limits(type_)
    if kind in ("grid", "units", "tame"):
        return np.asarray(rng.integers(max(low, -9), 10, shape)).astype(type_.dtype)
    if kind == "edges":
        edges = {low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100, -1, -2, -5, -8}
        edges = np.array([n for n in edges if low <= n <= high], type_.dtype)
        return np.asarray(edges[rng.integers(0, len(edges), shape)])
    return np.asarray(rng.integers(low, high, shape, type_.dtype, endpoint=True))


def indices(choose, shape, size):
    """Whole numbers of some type, most of them places in an axis, some outside of it."""
    type_ = choose.pick(WHOLE)
    low, high = types.limits(type_)
    rng, reach = choose.rng(), choose.pick([0, 2, 100])
    made = np.asarray(rng.integers(max(low, -reach), min(high, size - 1 + reach) + 1, shape)).astype(type_.dtype)
    if choose.chance(20):
        edges = np.array([low, high], type_.dtype)
        made = np.where(rng.integers(0, 8, shape) == 0, edges[rng.integers(0, 2, shape)], made)
    return np.asarray(made)
