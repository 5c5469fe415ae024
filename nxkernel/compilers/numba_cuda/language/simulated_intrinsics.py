"""The names that kernel source may call, for the simulator: Python on NumPy scalars, with a GPU's results.

See :mod:`~nxkernel.compilers.numba_cuda.language.intrinsics`. Callers keep NumPy's warnings away.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from nxkernel import fork_safety, types
from nxkernel import primitives as p
from nxkernel.backends import threefry
from nxkernel.backends.numpy_primitives import MEANING, cast
from nxkernel.compilers.numba_cuda.language.intrinsics import FUNCTIONS
from nxkernel.element_types import BY_DTYPE
from nxkernel.primitives import Primitive, Spec

TABLE: dict[str, Any] = {}


def _of(primitive: Primitive, *numbers: Any) -> Any:
    """A function that applies a primitive's reference implementation to scalars of one type."""
    # NumPy takes shortcuts for powers by arrays without axes, which have another root of minus infinity.
    arrays = [np.array([number]) for number in numbers]
    return MEANING[primitive](Spec(BY_DTYPE[arrays[0].dtype], (1,), (None,)), *arrays)[0]


def _by_meaning(primitive: Primitive) -> Callable[..., Any]:
    return lambda *numbers: _of(primitive, *numbers)


def _cast(type_: types.Type) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return cast(np.asarray(x), type_)[()]

    return function


TABLE |= {"inf": math.inf, "nan": math.nan}
TABLE |= {"div": lambda i, n: i // n if n else 0, "rem": lambda i, n: i % n if n else 0}
TABLE |= {name: _cast(types.normalize(name)) for name in ("s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64")}
TABLE |= {"f32": _cast(types.f32), "f64": _cast(types.f64), "truth": lambda x: bool(x != 0)}
TABLE["select"] = lambda mask, x, y: x if mask else y


# Memory ----------------------------------------------------------------------------------------------------------

#: Threads of the simulator are threads of Python.
_lock = fork_safety.rlock()


class _Further:
    """The memory of a pointer advanced by some elements, with negative indices for those before."""

    __slots__ = ("_first", "_memory", "itemsize")

    def __init__(self, memory: Any, first: Any) -> None:
        self._memory, self._first, self.itemsize = memory, int(first), memory.itemsize

    def __getitem__(self, i: Any) -> Any:
        return self._memory[self._first + i]

    def __setitem__(self, i: Any, x: Any) -> None:
        self._memory[self._first + i] = x

    @property
    def address(self) -> int:
        return _address(self._memory) + self._first * self.itemsize


def _address(p: Any) -> int:
    return p.address if isinstance(p, _Further) else p.ctypes.data


def _check(p: Any, i: Any, count: int) -> None:
    """Raise a fault for a vector access that is not aligned, as a GPU does."""
    if (_address(p) + int(i) * p.itemsize) % (count * p.itemsize):
        raise IndexError(f"{count} elements of {p.itemsize} bytes from {i} on are not aligned to their number")


def _loads(count: int) -> Callable[[Any, Any], tuple]:
    def function(p: Any, i: Any) -> tuple:
        _check(p, i, count)
        return tuple(p[i + n] for n in range(count))

    return function


def _stores(count: int) -> Callable[[Any, Any, Sequence[Any]], None]:
    def function(p: Any, i: Any, elements: Sequence[Any]) -> None:
        _check(p, i, count)
        for n in range(count):
            p[i + n] = elements[n]

    return function


TABLE |= {"address": _address, "further": _Further}
for _count in (2, 4, 8, 16):
    TABLE |= {f"load{_count}": _loads(_count), f"store{_count}": _stores(_count)}


def _atomically(combined: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], None]:
    def function(p: Any, i: Any, x: Any) -> None:
        with _lock:
            p[i] = combined(p[i], x)

    return function


#: What joins an element and a number, which is of the element's type.
_JOINING = {"add": lambda old, x: old + x, "multiply": lambda old, x: old * x, "max": np.maximum, "min": np.minimum}


# Bits ------------------------------------------------------------------------------------------------------------


def _half(name: str, half: Any) -> None:
    """The conversions between the bits of a half-width float and f32."""

    def bits(x: Any) -> Any:
        return np.asarray(x).astype(half).view(np.uint16)[()]

    def value(x: Any) -> Any:
        return np.asarray(x, np.uint16).view(half).astype(np.float32)[()]

    TABLE[f"{name}_bits"], TABLE[f"{name}_value"] = bits, value
    TABLE[f"{name}_rounded"] = lambda x: value(bits(x))
    for joining, function in _JOINING.items():
        TABLE[f"atomic_{joining}_{name}"] = _atomically(lambda old, x, join=function: bits(join(value(old), x)))


_half("f16", np.float16)
_half("bf16", ml_dtypes.bfloat16)
TABLE |= {f"atomic_{joining}": _atomically(function) for joining, function in _JOINING.items()}
TABLE["float_bits"] = lambda x: x.view(f"u{x.itemsize}")
TABLE["bits_float"] = lambda x: x.view(f"f{x.itemsize}")


def _threefry(*words: Any) -> tuple[Any, Any]:
    arrays = [np.asarray(word, np.uint32) for word in words]
    reference = threefry.MEANING[p.threefry2x32]
    first, second = (reference(Spec(types.u32, (), ()), *arrays, word=word)[()] for word in (0, 1))
    return first, second


TABLE["threefry"] = _threefry


# Arithmetic ------------------------------------------------------------------------------------------------------

TABLE |= {
    "times": np.multiply,
    "divide": np.divide,
    "sqrt": np.sqrt,
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "is_infinite": lambda x: bool(np.isinf(x)),
}
TABLE |= {
    name: _by_meaning(primitive)
    for name, primitive in {
        "quotient": p.quotient,
        "remainder": p.remainder,
        "pow": p.power,
        "whole_power": p.power,
        "shift_left": p.left_shift,
        "shift_right": p.right_shift,
        "population_count": p.population_count,
        "leading_zeros": p.count_leading_zeros,
        "maximum": p.maximum,
        "minimum": p.minimum,
        "absolute": p.absolute,
        "sign": p.sign,
        "trunc": p.truncate,
        "round_away": p.round_half_away,
        "round_even": p.round_half_even,
        **{name: p.TABLE[name] for name in p.TABLE.keys() & FUNCTIONS - TABLE.keys()},
    }.items()
}
